/* SPDX-License-Identifier: MIT */
/* FXT writer: the sink, its window of calls that can still be completed, and its prologue. */
#include <elf.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "utils/base/bytes.h"
#include "utils/base/ostream.h"
#include "utils/format/format.h"
#include "utils/format/fxt/fxt.h"
#include "utils/format/fxt/layout.h"
#include "utils/format/fxt/write.h"
#include "utils/format/uftrace/stacks.h"
#include "utils/format/uftrace/task_line.h"
#include "utils/format/uftrace/write_info.h"
#include "utils/trace/trace.h"

/* ---- the window ---- */

static int window_init(struct fxt_window *window, struct ftr_ostream *out)
{
	*window = (struct fxt_window){ .out = out };
	window->words = malloc(FXT_WINDOW_WORDS * sizeof(*window->words));
	return window->words == NULL ? -ENOMEM : 0;
}

static void window_fini(struct fxt_window *window)
{
	free(window->words);
	window->words = NULL;
}

static bool record_is_open_call(const uint64_t *record, size_t words)
{
	return fxt_record_type(*record) == FXT_EVENT &&
	       fxt_event_type(*record) == FXT_DURATION_COMPLETE &&
	       record[words - 1] == FXT_PENDING;
}

/* Complete becomes Begin: another event type, and one word less. */
static void record_make_begin(uint64_t *record)
{
	*record -= fxt_record_words_bits(1);
	*record -= fxt_event_type_bits(FXT_DURATION_COMPLETE - FXT_DURATION_BEGIN);
}

void fxt_window_flush(struct fxt_window *window)
{
	size_t start = 0;
	size_t pos = 0;

	while (pos < window->nr) {
		uint64_t *record = window->words + pos;
		size_t words = fxt_record_words(*record);

		pos += words;
		if (__builtin_expect(!record_is_open_call(record, words), 1))
			continue;
		record_make_begin(record);
		ftr_ostream_write(window->out, window->words + start,
				  (pos - 1 - start) * sizeof(*record));
		start = pos;
	}
	ftr_ostream_write(window->out, window->words + start,
			  (pos - start) * sizeof(*window->words));
	window->base += window->nr;
	window->nr = 0;
}

/* ---- the prologue ---- */

/* Readers forget strings, threads and ticks where a provider is introduced: so that comes first. */
static void put_provider(struct fxt_writer *w)
{
	static const char name[] = "ftr";
	const uint64_t id = fxt_provider_id_bits(FXT_PROVIDER_ID);
	uint64_t *p = fxt_window_put(&w->window, 6);

	*p++ = FXT_MAGIC;
	*p++ = fxt_header(FXT_METADATA, 2) | fxt_metadata_type_bits(FXT_PROVIDER_INFO) | id |
	       fxt_provider_name_len_bits(strlen(name));
	p = fxt_put_text(p, name, (uint32_t)strlen(name));
	*p++ = fxt_header(FXT_METADATA, 1) | fxt_metadata_type_bits(FXT_PROVIDER_SECTION) | id;
	*p++ = fxt_header(FXT_INIT, 2);
	*p = FXT_TICKS_PER_S;
}

void fxt_write_blob(struct fxt_writer *w, const char *name, const void *data, size_t len)
{
	const char *rest = data;
	uint32_t name_id;

	if (fxt_string_id(w, name, strlen(name), &name_id) < 0)
		return;
	while (len > 0) {
		uint32_t bytes = len > FXT_TEXT_MAX ? FXT_TEXT_MAX : (uint32_t)len;
		uint32_t words = 1 + fxt_text_words(bytes);
		uint64_t ref = fxt_string_ref(w, name_id);
		uint64_t *p = fxt_window_put(&w->window, words);

		p[0] = fxt_header(FXT_BLOB, words) | fxt_blob_name_ref_bits(ref) |
		       fxt_blob_len_bits(bytes) | fxt_blob_type_bits(FXT_BLOB_DATA);
		fxt_put_text(p + 1, rest, bytes);
		rest += bytes;
		len -= bytes;
	}
}

static int put_info(struct fxt_writer *w)
{
	struct ftr_info known = w->trace->info;
	struct ftr_strbuf info;
	bool is_cut;

	known.elf_data = FTR_HOST_IS_BIG ? ELFDATA2MSB : ELFDATA2LSB;	/* of the blob */
	if (w->trace->info.info_mask == 0 && w->trace->info.feature_mask == 0 &&
	    w->trace->info.elf_class == 0)
		return 0;
	ftr_strbuf_init(&info);
	ftr_uftrace_info_format(&info, &known);
	fxt_write_blob(w, FXT_BLOB_INFO, ftr_strbuf_str(&info), info.len);
	is_cut = info.failed;
	ftr_strbuf_fini(&info);
	return is_cut ? fxt_no_memory(w) : 0;
}

bool fxt_session_is_written(const struct ftr_session *session)
{
	const char *exename = session->exename;

	return exename != NULL && exename[0] != '\0' && strchr(exename, '\n') == NULL;
}

static void put_session_line(struct ftr_strbuf *text, const struct ftr_session *session)
{
	struct ftr_task_line line = {
		.kind = FTR_TASK_LINE_SESSION, .time_ns = session->start_ns, .pid = session->pid,
		.name = ftr_slice_make(session->exename, strlen(session->exename)),
	};

	memcpy(line.sid, session->sid, sizeof(line.sid));
	ftr_task_line_put(text, &line);
}

static void put_task_line(struct ftr_strbuf *text, const struct ftr_task *task)
{
	bool is_forked = task->is_forked && task->parent != NULL;
	const struct ftr_task_line line = {
		.kind = is_forked ? FTR_TASK_LINE_FORK : FTR_TASK_LINE_TASK,
		.time_ns = task->start_ns,
		.pid = task->pid,
		.tid = task->tid,
		.ppid = is_forked ? task->parent->tid : 0,
	};

	if (task->start_ns != 0)
		ftr_task_line_put(text, &line);
}

/* Which programs ran when, and the parents of tasks, as far as the trace knows. */
static int put_tasks(struct fxt_writer *w)
{
	struct ftr_strbuf text;
	bool is_cut;

	ftr_strbuf_init(&text);
	for (size_t i = 0; i < w->trace->sessions.nr; i++) {
		if (fxt_session_is_written(w->trace->sessions.v[i]))
			put_session_line(&text, w->trace->sessions.v[i]);
	}
	for (size_t i = 0; i < w->trace->tasks.nr; i++)
		put_task_line(&text, w->trace->tasks.v[i]);
	fxt_write_blob(w, FXT_BLOB_TASKS, ftr_strbuf_str(&text), text.len);
	is_cut = text.failed;
	ftr_strbuf_fini(&text);
	return is_cut ? fxt_no_memory(w) : 0;
}

static int put_stacks(struct fxt_writer *w)
{
	struct ftr_strbuf text;
	int ret;

	ftr_strbuf_init(&text);
	ret = ftr_uftrace_stacks_text(w->trace->call_stacks, &text);
	if (ret == 0 && text.len > 0)
		fxt_write_blob(w, FXT_BLOB_STACKS, text.s, text.len);
	ftr_strbuf_fini(&text);
	return ret < 0 ? fxt_no_memory(w) : 0;
}

static int write_prologue(struct fxt_writer *w)
{
	int ret;

	put_provider(w);
	ret = put_info(w);
	if (ret == 0)
		ret = put_tasks(w);
	if (ret == 0)
		ret = put_stacks(w);
	if (ret == 0)
		ret = fxt_write_maps(w);
	for (size_t i = 0; ret == 0 && i < w->trace->tasks.nr; i++) {
		if (fxt_task_get(w, w->trace->tasks.v[i]) == NULL)
			ret = -ENOMEM;
	}
	return ret;
}

#define VIEWER_DEPTH_MAX 512	/* what the Perfetto UI nests */

int fxt_no_memory(struct fxt_writer *w)
{
	return ftr_err_set(w->base.err, ENOMEM, "fxt: out of memory");
}

static inline const struct fxt_func *func_get(struct fxt_writer *w, const struct ftr_event *ev)
{
	const struct ftr_func *func = ev->call.func;

	if (__builtin_expect(func->id >= w->funcs.nr || !w->funcs.v[func->id].is_known, 0)) {
		if (fxt_func_add(w, ev) < 0)
			return NULL;
	}
	return &w->funcs.v[func->id];
}

/*
 * An entry with arguments, a source line, a name shared with others, or another remark.
 */
static int entry_args(struct fxt_writer *w, const struct ftr_event *ev, struct fxt_shape *shape)
{
	const struct fxt_func *func = &w->funcs.v[ev->call.func->id];
	int ret = 0;

	fxt_args_clear(w);
	if (func->instance_of != FXT_ID_NONE && ev->payload != NULL)
		ret = fxt_write_instance(w, ev, func->instance_of);
	if (ret == 0 && (ev->flags & FTR_EVENT_INFERRED))
		ret = fxt_arg_bool(w, FXT_KEY_INFERRED, true);
	if (ret == 0 && (ev->flags & FTR_EVENT_NO_ENTRY))
		ret = fxt_arg_bool(w, FXT_KEY_NO_ENTRY, true);
	if (ret == 0 && func->loc != FXT_ID_NONE)
		ret = fxt_arg_ref(w, FXT_KEY_LOC, func->loc);
	if (ret == 0 && func->symbol != FXT_ID_NONE)
		ret = fxt_arg_ref(w, FXT_KEY_SYMBOL, func->symbol);
	if (ret == 0 && ev->payload != NULL)
		ret = fxt_args_payload(w, ev);
	if (ret < 0)
		return ret;
	shape->has_extra = true;
	shape->extra = FXT_PENDING;
	return fxt_put_event(w, ev->task, shape);
}

static int open_push(struct fxt_writer *w, const struct ftr_event *ev, uint64_t pos)
{
	struct fxt_task *task = &w->tasks.v[ev->task->id];

	task->last_ns = ev->time_ns;
	if (__builtin_expect(ftr_vec_push(&task->open, pos) < 0, 0))
		return fxt_no_memory(w);
	w->deep_nr += task->open.nr > VIEWER_DEPTH_MAX;
	if (__builtin_expect(task->flow_id != 0, 0))
		return fxt_flow_end(w, ev->task, ev->time_ns);
	return 0;
}

static int write_entry(struct fxt_writer *w, const struct ftr_event *ev)
{
	const struct fxt_func *func = func_get(w, ev);
	struct fxt_shape shape = { .type = FXT_DURATION_COMPLETE, .time_ns = ev->time_ns };
	uint64_t thread;
	uint64_t *p;

	if (func == NULL || fxt_task_get(w, ev->task) == NULL)
		return -ENOMEM;
	shape.category = fxt_string_ref(w, func->category);
	shape.name = fxt_string_ref(w, func->name);
	if (__builtin_expect(ev->payload != NULL || func->has_args || ev->flags != 0, 0)) {
		bool makes_thread = func->makes_thread;
		int ret = entry_args(w, ev, &shape);

		if (ret == 0)
			ret = open_push(w, ev, w->event_pos);
		return ret == 0 && makes_thread ? fxt_flow_thread(w, ev) : ret;
	}
	thread = fxt_thread_ref(w, ev->task);
	p = fxt_window_put(&w->window, 3);
	p[0] = FXT_PLAIN_CALL | fxt_event_thread_ref_bits(thread) |
	       fxt_event_category_ref_bits(shape.category) | fxt_event_name_ref_bits(shape.name);
	p[1] = ev->time_ns;
	p[2] = FXT_PENDING;
	return open_push(w, ev, fxt_window_last(&w->window, 3));
}

/* The other half of a call that was, or will become, a Begin record. */
static int write_end(struct fxt_writer *w, const struct ftr_event *ev)
{
	struct fxt_shape shape = { .type = FXT_DURATION_END, .time_ns = ev->time_ns };
	int ret = 0;

	w->tasks.v[ev->task->id].last_ns = ev->time_ns;
	fxt_args_clear(w);
	if (ev->flags & FTR_EVENT_INFERRED)
		ret = fxt_arg_bool(w, FXT_KEY_INFERRED, true);
	if (ret == 0 && ev->payload != NULL)
		ret = fxt_args_payload(w, ev);
	if (ret == 0)
		ret = fxt_put_event(w, ev->task, &shape);
	return ret < 0 ? ret : fxt_write_syscall(w, ev);
}

/*
 * The end is filled in where a reader cannot mistake what lies inside of the call: a record of the
 * very time at which the call ends could as well follow it.
 */
static int write_exit(struct fxt_writer *w, const struct ftr_event *ev)
{
	struct fxt_task *task = fxt_task_get(w, ev->task);
	uint64_t pos;

	if (task == NULL)
		return -ENOMEM;
	if (__builtin_expect(task->open.nr == 0, 0))
		return write_end(w, ev);
	pos = task->open.v[--task->open.nr];
	if (__builtin_expect(ev->flags & FTR_EVENT_UNFINISHED, 0))
		return 0;	/* a Begin without End is what viewers show as unfinished */
	if (__builtin_expect(ev->payload == NULL && !(ev->flags & FTR_EVENT_INFERRED) &&
			     task->last_ns < ev->time_ns, 1) &&
	    fxt_window_end(&w->window, pos, ev->time_ns))
		return 0;
	return write_end(w, ev);
}

static int fxt_event(struct ftr_sink *sink, const struct ftr_event *ev)
{
	struct fxt_writer *w = fxt_writer_of(sink);

	if (__builtin_expect(sink->out->code != 0, 0))
		return ftr_ostream_flush(sink->out, sink->err);
	switch ((enum ftr_event_type)ev->type) {
	case FTR_EVENT_ENTRY:
		return write_entry(w, ev);
	case FTR_EVENT_EXIT:
		return write_exit(w, ev);
	case FTR_EVENT_POINT:
		return fxt_write_point(w, ev);
	case FTR_EVENT_LOST:
		return fxt_write_lost(w, ev);
	case FTR_EVENT_FORK:
		return fxt_write_fork(w, ev);
	case FTR_EVENT_MESSAGE:
		return fxt_write_message(w, ev);
	case FTR_EVENT_TYPES:
		break;
	}
	return 0;
}

static int fxt_begin(struct ftr_sink *sink, const struct ftr_trace *trace)
{
	struct fxt_writer *w = fxt_writer_of(sink);
	int ret;

	w->trace = trace;
	w->thread_next = 1;
	ftr_type_names_init(&w->types);
	if (window_init(&w->window, sink->out) < 0)
		return fxt_no_memory(w);
	ret = fxt_strings_init(w);
	return ret < 0 ? ret : write_prologue(w);
}

/* What the pump reports about this file. */
static void describe_cuts(struct fxt_writer *w)
{
	const struct {
		uint64_t nr;
		const char *what;
	} rows[] = {
		{ w->text_cut_nr, "texts truncated or repaired (it holds UTF-8, 32000 bytes)" },
		{ w->arg_cut_nr, "arguments dropped for lack of space" },
		{ w->syscall_cut_nr, "records of system calls that end at the same time" },
	};

	ftr_strbuf_clear(&w->cut_text);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		ftr_sink_cut(&w->base, &w->cut_text, rows[i].nr, rows[i].what);
}

static void describe_notes(struct fxt_writer *w)
{
	ftr_strbuf_clear(&w->note_text);
	if (w->split_nr > 0)
		ftr_strbuf_printf(&w->note_text,
				  "%" PRIu64 " argument lists split into several records",
				  w->split_nr);
	if (w->deep_nr > 0)
		ftr_strbuf_printf(
			&w->note_text,
			"%s%" PRIu64 " calls deeper than 512; viewers hide them and may "
			"misattribute their time; omit them with -D 512",
			w->split_nr > 0 ? ", " : "", w->deep_nr);
	if (w->note_text.len > 0)
		w->base.note = ftr_strbuf_str(&w->note_text);
}

static int fxt_end(struct ftr_sink *sink)
{
	struct fxt_writer *w = fxt_writer_of(sink);

	int ret = fxt_syscalls_flush(w);

	fxt_window_flush(&w->window);
	describe_cuts(w);
	describe_notes(w);
	return ret;
}

static void fxt_fini(struct ftr_sink *sink)
{
	struct fxt_writer *w = fxt_writer_of(sink);

	for (size_t i = 0; i < w->tasks.nr; i++)
		ftr_vec_fini(&w->tasks.v[i].open);
	ftr_vec_fini(&w->tasks);
	ftr_vec_fini(&w->funcs);
	fxt_strings_fini(w);
	window_fini(&w->window);
	ftr_hashmap_fini(&w->func_names);
	ftr_hashmap_fini(&w->labels);
	ftr_hashmap_fini(&w->modules);
	ftr_hashmap_fini(&w->mapped);
	ftr_hashmap_fini(&w->processes);
	fxt_makers_fini(w);
	fxt_syscalls_fini(w);
	ftr_hashmap_fini(&w->objects);
	ftr_hashmap_fini(&w->instances);
	ftr_type_names_fini(&w->types);
	ftr_strbuf_fini(&w->text);
	ftr_strbuf_fini(&w->cut_text);
	ftr_strbuf_fini(&w->note_text);
}

static const struct ftr_sink_ops fxt_ops = {
	.size	 = sizeof(struct fxt_writer),
	.accepts = FTR_BIT(FTR_EVENT_ENTRY) | FTR_BIT(FTR_EVENT_EXIT) | FTR_BIT(FTR_EVENT_POINT) |
		   FTR_BIT(FTR_EVENT_LOST) | FTR_BIT(FTR_EVENT_FORK) | FTR_BIT(FTR_EVENT_MESSAGE),
	.begin	 = fxt_begin,
	.event	 = fxt_event,
	.end	 = fxt_end,
	.fini	 = fxt_fini,
};

const struct ftr_format ftr_format_fxt = {
	.name	 = "fxt",
	.summary = "Fuchsia trace format, for the Perfetto UI and magic-trace's viewer",
	.suffix	 = ".fxt",
	.dump_option = FTR_FORMAT_DUMP_OPTION("fxt"),
	.kind	 = FTR_FORMAT_FILE,
	.detect	 = ftr_fxt_detect,
	.read_file = ftr_fxt_read,
	.needs_file = true,
	.write	 = &fxt_ops,
};
