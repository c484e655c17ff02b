/* SPDX-License-Identifier: MIT */
/* Any trace as a uftrace directory: records of calls. */
#include "utils/format/uftrace/export.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "utils/format/uftrace/stacks.h"
#include "utils/format/uftrace/system.h"
#include "utils/format/uftrace/uftrace.h"

int ufx_no_memory(struct ufx *x)
{
	return ftr_err_set(x->base.err, ENOMEM, "uftrace: out of memory");
}

static int write_all(int fd, const void *bytes, size_t len)
{
	const char *p = bytes;

	while (len > 0) {
		ssize_t nr = write(fd, p, len);

		if (nr < 0 && errno == EINTR)
			continue;
		if (nr <= 0)
			return nr < 0 ? -errno : -ENOSPC;
		p += nr;
		len -= (size_t)nr;
	}
	return 0;
}

/* Files are opened for each append: there may be more tasks than descriptors. */
int ufx_file_append(struct ufx *x, const char *name, const void *bytes, size_t len)
{
	int fd = openat(ftr_uftrace_dir_fd(x->dir), name,
			O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
	int ret = fd < 0 ? -errno : write_all(fd, bytes, len);

	if (fd >= 0 && close(fd) < 0 && ret == 0)
		ret = -errno;
	if (ret < 0)
		return ftr_err_set(x->base.err, -ret, "%s: %s%s", name, strerror(-ret),
				   ftr_err_remedy(-ret));
	return 0;
}

static int bytes_flush(struct ufx *x, struct ufx_task *task, struct ufx_bytes *bytes)
{
	char name[32];
	int ret;

	snprintf(name, sizeof(name), bytes == &task->aside ? FTR_UFTRACE_EVENT_NAME :
							     FTR_UFTRACE_DAT_NAME, task->task->tid);
	ret = ufx_file_append(x, name, bytes->p, bytes->nr);
	bytes->nr = 0;
	return ret;
}

static int bytes_put(struct ufx *x, struct ufx_task *task, struct ufx_bytes *bytes,
		     const struct ftr_record *record, struct ftr_slice payload)
{
	int ret = 0;

	if (bytes->p == NULL)
		bytes->p = malloc(UFX_BUFFER_BYTES);
	if (bytes->p == NULL)
		return ufx_no_memory(x);
	if (bytes->nr + sizeof(*record) + payload.len > UFX_BUFFER_BYTES)
		ret = bytes_flush(x, task, bytes);
	if (ret < 0)
		return ret;
	memcpy(bytes->p + bytes->nr, record, sizeof(*record));
	bytes->nr += sizeof(*record);
	if (payload.len > 0)
		memcpy(bytes->p + bytes->nr, payload.s, payload.len);
	bytes->nr += payload.len;
	return 0;
}

int ufx_put(struct ufx *x, struct ufx_task *task, const struct ftr_record *record,
	    const uint8_t *payload, size_t len)
{
	int ret = task->left.nr == 0 ? 0 : ufx_jump_flush(x, task);

	return ret < 0 ? ret : bytes_put(x, task, &task->own, record,
					 ftr_slice_make((const char *)payload, len));
}

int ufx_put_aside(struct ufx *x, struct ufx_task *task, const struct ftr_record *record,
		  const uint8_t *payload, size_t len)
{
	return bytes_put(x, task, &task->aside, record,
			 ftr_slice_make((const char *)payload, len));
}

/* The symbol of a call, for its exit too: index into funcs, or -1 (no memory). */
static int64_t call_func(struct ufx *x, struct ufx_task *task, const struct ftr_event *ev)
{
	int64_t func;

	if (ev->type == FTR_EVENT_EXIT && task->open.nr > 0)
		return task->open.v[--task->open.nr];
	func = ufx_func_of_entry(x, ev);
	if (func >= 0 && ev->type == FTR_EVENT_ENTRY &&
	    ufx_jump_entry(x, task, (uint32_t)func) < 0)
		return -1;
	if (func >= 0 && ev->type == FTR_EVENT_ENTRY &&
	    ftr_vec_push(&task->open, (uint32_t)func) < 0) {
		ufx_no_memory(x);
		return -1;
	}
	return func;
}

/* As a record of the task's own. */
static int write_record(struct ufx *x, struct ufx_task *task, const struct ftr_event *ev,
			uint32_t func)
{
	uint32_t hidden = ufx_syscall_depth(x, ev->task);
	uint32_t depth = ev->depth > hidden ? ev->depth - hidden : 0;
	uint8_t payload[UFX_PAYLOAD_MAX];
	struct ftr_record record;
	int len = -ENOENT;

	if (ev->payload != NULL)
		len = ufx_payload(x, ev, func, payload);
	if (len == -ENOMEM)
		return len;
	if (depth > FTR_RECORD_DEPTH_MAX)
		depth = FTR_RECORD_DEPTH_MAX;
	record.time = ev->time_ns;
	record.word = ftr_record_word(ev->type == FTR_EVENT_ENTRY ? FTR_RECORD_ENTRY :
				      FTR_RECORD_EXIT, depth, ufx_call_addr(x, ev, func));
	if (ev->flags & FTR_EVENT_LEFT)
		return ufx_jump_exit(x, task, ev, &record);
	if (len >= 0)
		record.word |= FTR_RECORD_MORE;
	return ufx_put(x, task, &record, payload, len < 0 ? 0 : (size_t)len);
}

/* Inferred events are not written: readers infer them again. */
static int write_call(struct ufx *x, const struct ftr_event *ev)
{
	struct ufx_task *task = ufx_task_get(x, ev->task, ev->time_ns);
	int64_t func = task == NULL ? -1 : call_func(x, task, ev);
	bool is_kernel = func >= 0 && x->funcs.v[func].module == UFX_KERNEL;
	bool is_said = !(ev->flags & (FTR_EVENT_INFERRED | FTR_EVENT_UNFINISHED));
	int ret = 0;

	if (func < 0)
		return -ENOMEM;
	if (is_kernel && ev->type == FTR_EVENT_EXIT && task->kernel_depth > 0)
		task->kernel_depth--;
	if (is_said)
		ret = is_kernel ? ufx_kernel_call(x, task, ev, x->funcs.v[func].addr) :
				  write_record(x, task, ev, (uint32_t)func);
	if (is_kernel && ev->type == FTR_EVENT_ENTRY)
		task->kernel_depth++;
	return ret;
}

static int write_lost(struct ufx *x, const struct ftr_event *ev)
{
	struct ufx_task *task = ufx_task_get(x, ev->task, ev->time_ns);
	uint64_t nr = ev->lost.nr < FTR_RECORD_ADDR_MASK ? ev->lost.nr : FTR_RECORD_ADDR_MASK;
	const struct ftr_record record = { .word = ftr_record_word(FTR_RECORD_LOST, 0, nr) };

	if (task == NULL)
		return -ENOMEM;
	if (ev->lost.source == FTR_LOST_OF_PERF)
		return ufx_perf_lost(x, ev);
	if (ev->lost.source == FTR_LOST_OF_KERNEL)
		return ufx_kernel_lost(x, ev->time_ns, ev->lost.cpu_nr == 0 ? 0 :
				       ev->lost.cpu_nr - 1u, ev->lost.nr);
	return ufx_put(x, task, &record, NULL, 0);
}

static int write_fork(struct ufx *x, const struct ftr_event *ev)
{
	struct ufx_task *child;

	if (ufx_task_get(x, ev->task, ev->time_ns) == NULL)
		return -ENOMEM;
	child = ufx_task_get(x, ev->fork.peer, ev->time_ns);
	if (child == NULL)
		return -ENOMEM;
	child->fork_ns = ev->time_ns;
	child->parent = ev->task;
	return 0;
}

static int ufx_event(struct ftr_sink *sink, const struct ftr_event *ev)
{
	struct ufx *x = (struct ufx *)sink;
	int ret = ufx_syscall(x, ev);

	if (ret != 0)
		return ret < 0 ? ret : 0;
	switch ((enum ftr_event_type)ev->type) {
	case FTR_EVENT_ENTRY:
	case FTR_EVENT_EXIT:
		return write_call(x, ev);
	case FTR_EVENT_POINT:
		return ufx_point(x, ev);
	case FTR_EVENT_LOST:
		return write_lost(x, ev);
	case FTR_EVENT_FORK:
		return write_fork(x, ev);
	case FTR_EVENT_MESSAGE:
		return ufx_message(x, ev);
	case FTR_EVENT_TYPES:
		break;
	}
	return 0;
}

static int ufx_begin(struct ftr_sink *sink, const struct ftr_trace *trace)
{
	struct ufx *x = (struct ufx *)sink;

	x->trace = trace;
	return 0;
}

static void describe_cuts(struct ufx *x)
{
	const struct {
		uint64_t nr;
		const char *what;
	} rows[] = {
		{ x->layout_cut_nr, "lists of arguments unlike earlier ones of the function" },
		{ x->name_cut_nr, "names of arguments" },
		{ x->data_cut_nr, "data of events" },
		{ x->text_cut_nr, "texts of tracepoints cut at 4 KB" },
		{ x->kernel_cut_nr, "arguments and source lines of kernel functions" },
		{ x->late_nr, "times of kernel events, raised to the previous event's" },
		{ x->syscall_cut_nr, "system calls without a record" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		ftr_sink_cut(&x->base, &x->cut_text, rows[i].nr, rows[i].what);
}

/* @what-cpuN.dat of each CPU. */
static int perf_flush(struct ufx *x, const char *what, const struct ufx_perf *perf, size_t nr)
{
	int ret = 0;

	for (size_t cpu = 0; ret == 0 && cpu < nr; cpu++) {
		char name[40];

		snprintf(name, sizeof(name), "%s-cpu%zu.dat", what, cpu);
		if (perf[cpu].bytes.nr > 0)
			ret = ufx_file_append(x, name, perf[cpu].bytes.v, perf[cpu].bytes.nr);
	}
	return ret;
}

static int stacks_write(struct ufx *x, const char *name, const struct ftr_stacks *stacks)
{
	struct ftr_strbuf text;
	int ret;

	ftr_strbuf_init(&text);
	ret = ftr_uftrace_stacks_text(stacks, &text) < 0 ? ufx_no_memory(x) : 0;
	if (ret == 0 && text.len > 0)
		ret = ufx_file_append(x, name, text.s, text.len);
	ftr_strbuf_fini(&text);
	return ret;
}

static int ufx_end(struct ftr_sink *sink)
{
	struct ufx *x = (struct ufx *)sink;
	int ret = ufx_write_tasks(x);

	for (size_t i = 0; ret == 0 && i < x->tasks.nr; i++) {
		if (x->tasks.v[i].task != NULL)
			ret = ufx_jump_flush(x, &x->tasks.v[i]);
		if (ret == 0 && x->tasks.v[i].task != NULL)
			ret = bytes_flush(x, &x->tasks.v[i], &x->tasks.v[i].own);
		if (ret == 0 && x->tasks.v[i].aside.nr > 0)
			ret = bytes_flush(x, &x->tasks.v[i], &x->tasks.v[i].aside);
	}
	if (ret == 0)
		ret = perf_flush(x, "perf", x->perf.v, x->perf.nr);
	if (ret == 0)
		ret = perf_flush(x, "sample", x->samples.v, x->samples.nr);
	if (ret == 0 && x->system.bytes.nr > 0)
		ret = ufx_file_append(x, FTR_UFTRACE_SYSTEM_NAME, x->system.bytes.v,
				      x->system.bytes.nr);
	if (ret == 0)
		ret = ufx_kernel_end(x);
	if (ret == 0 && x->extern_text.len > 0)
		ret = ufx_file_append(x, "extern.dat", x->extern_text.s, x->extern_text.len);
	if (ret == 0 && x->trace->info.note != NULL)
		ret = ufx_file_append(x, FTR_UFTRACE_NOTE, x->trace->info.note,
				      strlen(x->trace->info.note));
	if (ret == 0)
		ret = ufx_syscalls_flush(x);
	if (ret == 0)
		ret = stacks_write(x, FTR_STACKS_FILE, x->trace->stacks);
	if (ret == 0)
		ret = stacks_write(x, FTR_CALL_STACKS_FILE, x->trace->call_stacks);
	if (ret == 0)
		ret = ufx_write_modules(x);
	if (ret == 0)
		ret = ufx_write_info(x);
	describe_cuts(x);
	return ret;
}

static void ufx_fini(struct ftr_sink *sink)
{
	struct ufx *x = (struct ufx *)sink;

	for (size_t i = 0; i < x->tasks.nr; i++) {
		free(x->tasks.v[i].own.p);
		free(x->tasks.v[i].aside.p);
		ftr_vec_fini(&x->tasks.v[i].open);
		ftr_vec_fini(&x->tasks.v[i].setjmps);
		ftr_vec_fini(&x->tasks.v[i].left);
	}
	for (size_t i = 0; i < x->funcs.nr; i++) {
		free(x->funcs.v[i].layouts[0]);
		free(x->funcs.v[i].layouts[1]);
	}
	ftr_vec_fini(&x->tasks);
	ftr_vec_fini(&x->first);
	ftr_vec_fini(&x->funcs);
	ftr_vec_fini(&x->modules);
	ftr_vec_fini(&x->placed);
	ftr_hashmap_fini(&x->placed_addrs);
	for (size_t i = 0; i < x->perf.nr; i++)
		ftr_vec_fini(&x->perf.v[i].bytes);
	ftr_vec_fini(&x->perf);
	for (size_t i = 0; i < x->samples.nr; i++)
		ftr_vec_fini(&x->samples.v[i].bytes);
	ftr_vec_fini(&x->samples);
	ftr_vec_fini(&x->system.bytes);
	ufx_kernel_free(x->kernel);
	ftr_hashmap_fini(&x->module_index);
	ftr_hashmap_fini(&x->by_name);
	ftr_hashmap_fini(&x->events);
	ftr_type_names_fini(&x->types);
	ftr_strbuf_fini(&x->extern_text);
	ufx_syscalls_fini(x);
	ftr_strbuf_fini(&x->cut_text);
	ftr_arena_fini(&x->arena);
	ftr_uftrace_dir_close(x->dir);
}

static const struct ftr_sink_ops ufx_ops = {
	.size	 = sizeof(struct ufx),
	.accepts = FTR_BIT(FTR_EVENT_ENTRY) | FTR_BIT(FTR_EVENT_EXIT) | FTR_BIT(FTR_EVENT_POINT) |
		   FTR_BIT(FTR_EVENT_LOST) | FTR_BIT(FTR_EVENT_FORK) | FTR_BIT(FTR_EVENT_MESSAGE),
	.begin	 = ufx_begin,
	.event	 = ufx_event,
	.end	 = ufx_end,
	.fini	 = ufx_fini,
};

struct ftr_sink *ftr_uftrace_export_new(const char *path, struct ftr_err *err)
{
	struct ftr_sink *sink = ftr_sink_new(&ufx_ops, NULL, err);
	struct ufx *x = (struct ufx *)sink;

	if (sink == NULL) {
		ftr_err_set(err, ENOMEM, "%s: out of memory", path);
		return NULL;
	}
	ftr_arena_init(&x->arena);
	ftr_type_names_init(&x->types);
	if (ftr_uftrace_dir_open(&x->dir, path, err) == 0)
		return sink;
	ftr_sink_free(sink);
	return NULL;
}
