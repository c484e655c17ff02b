/* SPDX-License-Identifier: MIT */
/*
 * Any trace as trace.dat, version 6: calls as the kernel's function graph tracer has them, points
 * as events with a text.  What is known to have happened on a CPU is there; all else of a task is
 * on a CPU of its own behind the real ones.  Pages wait in a scratch file, because what stands
 * before them in the file is known at the end.
 */
#include "utils/format/tracedat/write.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "utils/base/bytes.h"
#include "utils/base/ostream.h"
#include "utils/base/text.h"
#include "utils/format/ftrace/ftrace.h"
#include "utils/trace/args.h"
#include "utils/trace/event_kind.h"

#define TASKS_MAX 1024u			/* CPUs of tasks; further ones share them */
#define ADDR_STEP 16

#define NAME_BYTES  128
#define SYSTEM	    "ftr:"		/* of events without one */
#define SYSTEM_OF_TRACERS TDAT_SYSTEM_FTRACE ":"	/* readers know what such events hold */
#define NAME_ARGS   "ftr:args"
#define NAME_RETVAL "ftr:retval"
#define SYS_PREFIX  "sys_"		/* of functions that stand for system calls */
#define NAME_SYS_ENTER "syscalls:sys_enter_"
#define NAME_SYS_EXIT  "syscalls:sys_exit_"

static struct tdat_writer *writer_of(struct ftr_sink *sink)
{
	return (struct tdat_writer *)sink;
}

static int no_memory(struct tdat_writer *w)
{
	return ftr_err_set(w->base.err, ENOMEM, "out of memory");
}

static int trace_begin(struct ftr_sink *sink, const struct ftr_trace *trace)
{
	struct tdat_writer *w = writer_of(sink);

	w->trace = trace;
	w->is_big = trace->record_long_bytes == 0 ? FTR_HOST_IS_BIG : trace->record_is_big;
	w->long_bytes = trace->record_long_bytes == 0 ? sizeof(uint64_t) : trace->record_long_bytes;
	w->has_begun = true;
	w->addr_next = FTR_FTRACE_PROGRAM_FIRST;	/* of functions that are not the kernel's */
	w->scratch = FTR_SCRATCH_CLOSED;
	ftr_krec_names_init(&w->names);
	ftr_hashmap_init(&w->taken);
	ftr_strbuf_init(&w->text);
	ftr_strbuf_init(&w->cut_text);
	if (ftr_vec_push(&w->buffers, (struct tdat_out_buffer){ .name = "" }) < 0)
		return no_memory(w);
	return ftr_scratch_open(&w->scratch, w->base.err);
}

/* ---- CPUs ---- */

static struct tdat_out_buffer *buffer_get(struct tdat_writer *w, const char *name)
{
	for (size_t i = 0; i < w->buffers.nr; i++) {
		if (strcmp(w->buffers.v[i].name, name) == 0)
			return &w->buffers.v[i];
	}
	if (ftr_vec_push(&w->buffers, (struct tdat_out_buffer){ .name = name }) < 0)
		return NULL;
	return &w->buffers.v[w->buffers.nr - 1];
}

static struct tdat_out_cpu *cpu_new(const struct tdat_writer *w)
{
	struct tdat_out_cpu *cpu = calloc(1, sizeof(*cpu));

	if (cpu != NULL) {
		cpu->kbuf.is_swapped = w->is_big != FTR_HOST_IS_BIG;
		cpu->kbuf.is_narrow = w->long_bytes != sizeof(uint64_t);
	}
	return cpu;
}

static struct tdat_out_cpu *real_cpu(struct tdat_writer *w, const char *instance, uint32_t cpu)
{
	struct tdat_out_buffer *buffer = instance == NULL ? &w->buffers.v[0] :
							    buffer_get(w, instance);

	if (buffer == NULL || ftr_vec_reach(&buffer->cpus, cpu) < 0)
		return NULL;
	if (buffer->cpus.v[cpu] == NULL)
		buffer->cpus.v[cpu] = cpu_new(w);
	if (w->cpu_nr <= cpu)
		w->cpu_nr = cpu + 1;
	return buffer->cpus.v[cpu];
}

static struct tdat_out_cpu *task_cpu(struct tdat_writer *w, const struct ftr_task *task)
{
	struct tdat_out_cpu *cpu;
	uint32_t at;

	if (ftr_vec_reach(&w->task_cpus, task->id) < 0)
		return NULL;
	at = w->task_cpus.v[task->id];
	if (at > 0)
		return w->tasks.v[at - 1];
	if (w->tasks.nr == TASKS_MAX) {
		w->task_cpus.v[task->id] = 1 + task->id % TASKS_MAX;
		return w->tasks.v[task->id % TASKS_MAX];
	}
	cpu = cpu_new(w);
	if (cpu == NULL || ftr_vec_push(&w->tasks, cpu) < 0) {
		free(cpu);
		return NULL;
	}
	w->task_cpus.v[task->id] = (uint32_t)w->tasks.nr;
	return cpu;
}

/*
 * Where an event goes that is about to be written.  @cpu_nr: plus 1, 0 = not known.  @instance:
 * NULL = the top buffer.
 */
static struct tdat_out_cpu *cpu_get(struct tdat_writer *w, const struct ftr_task *task,
				    const char *instance, uint16_t cpu_nr,
				    enum tdat_out_has has)
{
	struct tdat_out_cpu *cpu = cpu_nr > 0 ? real_cpu(w, instance, cpu_nr - 1u) :
						task_cpu(w, task);

	if (cpu == NULL || ftr_vec_reach(&w->has_records, task->id) < 0) {
		no_memory(w);
		return NULL;
	}
	w->has_records.v[task->id] |= (uint8_t)has;
	return cpu;
}

static int run_store(struct tdat_writer *w, struct tdat_out_cpu *cpu)
{
	if (ftr_vec_push(&cpu->runs, w->scratch.bytes) < 0)
		return no_memory(w);
	cpu->page_nr = 0;
	return ftr_scratch_append(&w->scratch, cpu->pages, TDAT_OUT_RUN_BYTES, w->base.err);
}

static int page_store(struct tdat_writer *w, struct tdat_out_cpu *cpu)
{
	if (cpu->pages == NULL)
		cpu->pages = malloc(TDAT_OUT_RUN_BYTES);
	if (cpu->pages == NULL)
		return no_memory(w);
	memcpy(cpu->pages + cpu->page_nr++ * FTR_KBUF_PAGE_BYTES, ftr_kbuf_take(&cpu->kbuf),
	       FTR_KBUF_PAGE_BYTES);
	return cpu->page_nr == TDAT_OUT_RUN_PAGES ? run_store(w, cpu) : 0;
}

/* Times of a CPU do not go back. */
static uint64_t cpu_time(struct tdat_writer *w, const struct tdat_out_cpu *cpu, uint64_t time_ns)
{
	if (time_ns >= cpu->kbuf.last_ns)
		return time_ns;
	w->late_nr++;
	return cpu->kbuf.last_ns;
}

static int cpu_put(struct tdat_writer *w, struct tdat_out_cpu *cpu, const struct ftr_event *ev,
		   const struct ftr_krec *rec)
{
	uint64_t time_ns;
	int ret = 0;

	if (cpu == NULL)
		return -ENOMEM;
	time_ns = cpu_time(w, cpu, ev->time_ns);
	while (ret == 0 && !ftr_kbuf_put(&cpu->kbuf, time_ns, rec->bytes, rec->len))
		ret = page_store(w, cpu);
	return ret;
}

static int record_put(struct tdat_writer *w, const struct ftr_event *ev, uint16_t cpu_nr,
		      const struct ftr_krec *rec)
{
	return cpu_put(w, cpu_get(w, ev->task, NULL, cpu_nr, TDAT_OUT_HAS_MADE), ev, rec);
}

static int lost_put(struct tdat_writer *w, const struct ftr_event *ev)
{
	struct tdat_out_cpu *cpu = cpu_get(w, ev->task, NULL, ev->lost.cpu_nr,
					   TDAT_OUT_HAS_KEPT);
	uint64_t time_ns;
	int ret = 0;

	if (cpu == NULL)
		return -ENOMEM;
	time_ns = cpu_time(w, cpu, ev->time_ns);
	while (ret == 0 && !ftr_kbuf_lose(&cpu->kbuf, time_ns, ev->lost.nr))
		ret = page_store(w, cpu);
	return ret;
}

/* ---- events ---- */

/* The kernel's functions stay where they are; others get addresses below, each one its own. */
static int func_addr(struct tdat_writer *w, const struct ftr_func *func, uint64_t *addr)
{
	if (ftr_vec_reach(&w->addrs, func->id) < 0)
		return no_memory(w);
	*addr = w->addrs.v[func->id];
	if (*addr != 0)
		return 0;
	*addr = ftr_func_is_kernel(func) ? func->addr : 0;
	while (*addr == 0 || ftr_hashmap_find(&w->taken, *addr) != NULL)
		*addr = w->addr_next += ADDR_STEP;
	if (ftr_hashmap_set(&w->taken, *addr, w) < 0)
		return no_memory(w);
	w->addrs.v[func->id] = *addr;
	return 0;
}

static int text_put(struct tdat_writer *w, const struct ftr_event *ev, uint16_t cpu_nr,
		    const char *name, uint64_t own_id, struct ftr_slice text)
{
	int id = ftr_krec_id(&w->names, name, own_id);
	struct ftr_slice fit;			/* readers have no blanks around a text */
	struct ftr_krec rec;
	bool is_whole;

	if (id < 0)
		return no_memory(w);
	if (id == 0) {
		w->other_nr++;
		return 0;
	}
	fit = ftr_slice_make(text.s, text.len == 0 ? 0 : strnlen(text.s, text.len));
	is_whole = fit.len == text.len;
	fit = ftr_slice_trim(fit);
	is_whole &= ftr_krec_text(&rec, ev->task->tid, (uint32_t)id, fit.s, fit.len);
	if (w->is_big != FTR_HOST_IS_BIG)
		ftr_krec_swap_text(&rec);
	w->cut_nr += !is_whole;
	return record_put(w, ev, cpu_nr, &rec);
}

/* What a payload holds, as replay prints it; a tracepoint's is its text. */
static struct ftr_slice payload_text(struct tdat_writer *w, const struct ftr_event *ev)
{
	const struct ftr_payload *payload = ev->payload;

	if (payload != NULL && payload->spec == NULL)
		return ftr_slice_make((const char *)payload->data, payload->len);
	ftr_strbuf_clear(&w->text);
	if (payload != NULL)
		ftr_payload_format(payload, (struct ftr_trace *)(uintptr_t)w->trace,
				   ftr_task_session_at(ev->task, ev->time_ns), &w->text);
	return ftr_slice_make(ftr_strbuf_str(&w->text), w->text.len);
}

static int kept_put(struct tdat_writer *w, const struct ftr_event *ev)
{
	const struct ftr_payload *payload = ev->payload;
	int id = ftr_krec_kept_id(&w->names, payload->tracepoint);
	struct ftr_krec rec;

	if (id < 0)
		return no_memory(w);
	if (id == 0) {
		w->other_nr++;
		return 0;
	}
	ftr_krec_keep(&rec, payload->data, payload->len, (uint32_t)id, w->is_big);
	return cpu_put(w,
		       cpu_get(w, ev->task, payload->instance, payload->cpu_nr, TDAT_OUT_HAS_KEPT),
		       ev, &rec);
}

/* What goes with a record of a call; of a system call always, but at an end that it has not. */
static bool has_text(const struct ftr_event *ev)
{
	const struct ftr_payload *payload = ev->payload;

	if (ev->call.func->sysid == 0)
		return payload != NULL && payload->spec != NULL;
	return ev->type == FTR_EVENT_ENTRY ||
	       (payload != NULL && payload->spec != NULL && payload->len > 0);
}

/* What is not known how to read is left out. */
static struct ftr_slice call_text(struct tdat_writer *w, const struct ftr_event *ev)
{
	return ev->payload == NULL || ev->payload->spec == NULL ? ftr_slice_make("", 0) :
								  payload_text(w, ev);
}

/* "sys_openat" is called, "syscalls:sys_enter_openat" what the kernel says of it. */
static void text_name(char *to, size_t room, const struct ftr_event *ev)
{
	bool is_entry = ev->type == FTR_EVENT_ENTRY;
	const char *name = ev->call.func->name;

	if (ev->call.func->sysid == 0)
		snprintf(to, room, "%s", is_entry ? NAME_ARGS : NAME_RETVAL);
	else
		snprintf(to, room, "%s%s", is_entry ? NAME_SYS_ENTER : NAME_SYS_EXIT,
			 strncmp(name, SYS_PREFIX, strlen(SYS_PREFIX)) == 0 ?
				 name + strlen(SYS_PREFIX) : name);
}

static int call_put(struct tdat_writer *w, const struct ftr_event *ev)
{
	char name[NAME_BYTES];
	struct ftr_krec rec;
	uint64_t addr = 0;
	int ret;

	if (ev->payload != NULL && ev->payload->tracepoint != NULL)
		return kept_put(w, ev);
	if (w->trace->record_long_bytes != 0) {		/* the records of all that were there */
		w->other_nr += !(ev->flags & FTR_EVENT_INFERRED); /* readers infer it again */
		return 0;
	}
	ret = func_addr(w, ev->call.func, &addr);
	if (ret < 0)
		return ret;
	ftr_krec_call(&rec, ev, addr, ev->depth);
	if (!has_text(ev))
		return record_put(w, ev, 0, &rec);
	text_name(name, sizeof(name), ev);
	if (ev->type == FTR_EVENT_EXIT) {	/* the value belongs into the call */
		ret = text_put(w, ev, 0, name, UINT64_MAX, call_text(w, ev));
		return ret < 0 ? ret : record_put(w, ev, 0, &rec);
	}
	ret = record_put(w, ev, 0, &rec);
	return ret < 0 ? ret : text_put(w, ev, 0, name, UINT64_MAX, call_text(w, ev));
}

/* "linux:sched-in": "linux:sched_in", as a format can be called.  False: it is too long. */
static bool name_make(char *to, size_t room, const char *name)
{
	bool has_system = strchr(name, ':') > name;
	size_t len = strlen(name), pos = 0;

	if (len + sizeof(SYSTEM) > room)
		return false;
	if (!has_system)
		pos = (size_t)(stpcpy(to, SYSTEM) - to);
	for (size_t i = 0; i < len; i++, pos++) {
		bool is_colon = has_system && name[i] == ':';

		has_system &= !is_colon;
		to[pos] = is_colon || isalnum((unsigned char)name[i]) ? name[i] : '_';
	}
	to[pos] = '\0';
	return true;
}

static int point_put(struct tdat_writer *w, const struct ftr_event *ev)
{
	const size_t len = strlen(SYSTEM_OF_TRACERS);
	const char *own = ev->point.name;
	bool is_of_tracer;
	char name[NAME_BYTES];

	if (ev->payload != NULL && ev->payload->tracepoint != NULL)
		return kept_put(w, ev);
	is_of_tracer = strncmp(own, SYSTEM_OF_TRACERS, len) == 0;
	if (ev->point.kind != FTR_POINT_INSTANT ||
	    !name_make(name, sizeof(name), is_of_tracer ? own + len : own)) {
		w->other_nr++;
		return 0;
	}
	w->renamed_nr += strcmp(name, own) != 0;
	return text_put(w, ev, ev->point.cpu_nr, name,
			ftr_event_is_tracepoint(ev) && !is_of_tracer ? ev->point.id : UINT64_MAX,
			payload_text(w, ev));
}

static int trace_event(struct ftr_sink *sink, const struct ftr_event *ev)
{
	struct tdat_writer *w = writer_of(sink);

	switch (ev->type) {
	case FTR_EVENT_ENTRY:
	case FTR_EVENT_EXIT:
		return call_put(w, ev);
	case FTR_EVENT_POINT:
		return point_put(w, ev);
	default:
		return lost_put(w, ev);
	}
}

/* ---- the file ---- */

static int cpu_flush(struct tdat_writer *w, struct tdat_out_cpu *cpu)
{
	return cpu == NULL || ftr_kbuf_is_empty(&cpu->kbuf) ? 0 : page_store(w, cpu);
}

static int cpus_flush(struct tdat_writer *w)
{
	int ret = 0;

	for (size_t i = 0; i < w->buffers.nr; i++) {
		for (size_t k = 0; ret == 0 && k < w->buffers.v[i].cpus.nr; k++)
			ret = cpu_flush(w, w->buffers.v[i].cpus.v[k]);
	}
	for (size_t i = 0; ret == 0 && i < w->tasks.nr; i++)
		ret = cpu_flush(w, w->tasks.v[i]);
	return ret;
}

static int cpu_write(struct tdat_writer *w, const struct tdat_out_cpu *cpu, uint8_t *run)
{
	int ret = 0;

	for (size_t i = 0; ret == 0 && cpu != NULL && i < cpu->runs.nr; i++) {
		ret = ftr_scratch_read(&w->scratch, cpu->runs.v[i], run, TDAT_OUT_RUN_BYTES,
				       w->base.err);
		if (ret == 0)
			ftr_ostream_write(w->base.out, run, TDAT_OUT_RUN_BYTES);
	}
	if (ret == 0 && cpu != NULL && cpu->page_nr > 0)
		ftr_ostream_write(w->base.out, cpu->pages, cpu->page_nr * FTR_KBUF_PAGE_BYTES);
	return ret;
}

/* In the order that their places have. */
static int cpus_write(struct tdat_writer *w)
{
	uint8_t *run = malloc(TDAT_OUT_RUN_BYTES);
	int ret = run == NULL ? no_memory(w) : 0;

	for (size_t i = 0; i < w->buffers.nr; i++) {
		const struct tdat_out_buffer *buffer = &w->buffers.v[i];

		for (size_t k = 0; ret == 0 && k < buffer->cpus.nr; k++)
			ret = cpu_write(w, buffer->cpus.v[k], run);
		for (size_t k = 0; ret == 0 && i == 0 && k < w->tasks.nr; k++)
			ret = cpu_write(w, w->tasks.v[k], run);
	}
	free(run);
	return ret;
}

/* Threads are tasks to the kernel, whose processes its records do not name. */
static uint64_t threads_count(const struct tdat_writer *w)
{
	uint64_t nr = 0;

	for (size_t i = 0; i < w->has_records.nr; i++)
		nr += (w->has_records.v[i] & TDAT_OUT_HAS_MADE) &&
		      !ftr_task_is_main(w->trace->tasks.v[i]);
	return nr;
}

static void cuts_report(struct tdat_writer *w)
{
	const struct {
		uint64_t nr;
		const char *what;
	} rows[] = {
		{ w->trace->sessions.nr, "images of programs with their modules" },
		{ threads_count(w), "processes of threads" },
		{ w->renamed_nr, "names of events as they were" },
		{ w->cut_nr, "ends of long texts" },
		{ w->other_nr, "counters, async spans, flows, and events with long names" },
		{ w->late_nr, "times before those of others on a CPU" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		ftr_sink_cut(&w->base, &w->cut_text, rows[i].nr, rows[i].what);
}

static int trace_end(struct ftr_sink *sink)
{
	struct tdat_writer *w = writer_of(sink);
	struct ftr_strbuf head;
	int ret = cpus_flush(w);

	if (ret < 0)
		return ret;
	ftr_strbuf_init(&head);
	if (tdat_head_make(w, &head) < 0)
		ret = no_memory(w);
	else
		ftr_ostream_write(w->base.out, head.s, head.len);
	ftr_strbuf_fini(&head);
	if (ret == 0)
		ret = cpus_write(w);
	cuts_report(w);
	return ret;
}

static void cpu_free(struct tdat_out_cpu *cpu)
{
	if (cpu != NULL) {
		ftr_vec_fini(&cpu->runs);
		free(cpu->pages);
	}
	free(cpu);
}

static void trace_fini(struct ftr_sink *sink)
{
	struct tdat_writer *w = writer_of(sink);

	if (!w->has_begun)
		return;
	for (size_t i = 0; i < w->buffers.nr; i++) {
		for (size_t k = 0; k < w->buffers.v[i].cpus.nr; k++)
			cpu_free(w->buffers.v[i].cpus.v[k]);
		ftr_vec_fini(&w->buffers.v[i].cpus);
	}
	for (size_t i = 0; i < w->tasks.nr; i++)
		cpu_free(w->tasks.v[i]);
	ftr_vec_fini(&w->buffers);
	ftr_vec_fini(&w->tasks);
	ftr_vec_fini(&w->task_cpus);
	ftr_vec_fini(&w->has_records);
	ftr_vec_fini(&w->addrs);
	ftr_hashmap_fini(&w->taken);
	ftr_krec_names_fini(&w->names);
	ftr_strbuf_fini(&w->text);
	ftr_strbuf_fini(&w->cut_text);
	ftr_scratch_close(&w->scratch);
}

const struct ftr_sink_ops tdat_sink_ops = {
	.size	 = sizeof(struct tdat_writer),
	.accepts = FTR_BIT(FTR_EVENT_ENTRY) | FTR_BIT(FTR_EVENT_EXIT) | FTR_BIT(FTR_EVENT_POINT) |
		   FTR_BIT(FTR_EVENT_LOST),
	.record_max = FTR_KBUF_RECORD_MAX,
	.begin	 = trace_begin,
	.event	 = trace_event,
	.end	 = trace_end,
	.fini	 = trace_fini,
};
