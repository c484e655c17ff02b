/* SPDX-License-Identifier: MIT */
/*
 * Flat tables for databases (doc/rows.md): a row a call, written at its end, a row an event, or the
 * sums or lines of callers of each minute, written at its end.  Only open calls and what a minute
 * sums up to are kept.
 */
#include "utils/export/rows.h"
#include "utils/export/rows_columns.h"
#include "utils/export/rows_paths.h"
#include "utils/export/rows_sums.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "utils/base/strbuf.h"
#include "utils/base/vec.h"
#include "utils/trace/args_text.h"
#include "utils/trace/event_text.h"
#include "utils/trace/format.h"
#include "utils/trace/func.h"
#include "utils/trace/per_task.h"
#include "utils/trace/pump.h"
#include "utils/trace/session.h"

#define NSEC_PER_SEC UINT64_C(1000000000)

static const char *const table_words[] = {
	[ROWS_CALLS] = "calls", [ROWS_EVENTS] = "events", [ROWS_SUMS] = "sums",
	[ROWS_PATHS] = "paths", NULL
};

static const struct ftr_option rows_options[] = {
	FTR_OPTION("rows", 0, "TABLE", "A row for each of the calls (default) or events, or sums or paths of calls by minute",
		   ftr_opt_choice, struct rows_values, table, .words = table_words),
	{ 0 }
};

/* Bits of flags. */
enum {
	FLAG_UNFINISHED = 1,	/* had not returned */
	FLAG_BEGAN_BEFORE = 2,	/* its entry is not in the data */
	FLAG_LEFT = 4,		/* by a longjmp */
	FLAG_NESTED = 8,	/* within another call of the function, in its task */
	FLAG_INHERITED = 16,	/* its parent called it, before it was forked */
};

/* ---- the sink ---- */

struct open_call {
	uint64_t id;
	char *args;		/* (owned, nullable) */
};

struct lane {
	FTR_VEC(struct open_call) open;
	FTR_VEC(struct rows_frame) frames;	/* the same, of paths */
	struct rows_program program;	/* that the outermost call is of, of paths */
	uint64_t call_nr;	/* that began so far */
	FTR_VEC(uint32_t) calls_of;	/* by the function's id: those that are open */
};

struct rows_sink {
	struct ftr_sink base;		/* first: ops receive a pointer to it */
	const struct ftr_trace *trace;
	const struct row_encoding *encoding;
	enum rows_table table;
	struct ftr_per_task lanes;
	struct rows_sums sums;
	struct rows_paths paths;
	struct ftr_strbuf text, title;
	struct row_value host, boot, run;
	uint64_t offset_ns;		/* add: UNIX time */
};

static struct rows_sink *rows_of(struct ftr_sink *sink)
{
	return (struct rows_sink *)sink;
}

static int no_memory(struct rows_sink *self)
{
	return ftr_err_set(self->base.err, ENOMEM, "rows: out of memory");
}

static struct row_value number(uint64_t value)
{
	return (struct row_value){ .number = value };
}

static const char *or_empty(const char *s)
{
	return s == NULL ? "" : s;
}

static struct row_value string(const char *s)
{
	s = or_empty(s);
	return (struct row_value){ .s = s, .len = strlen(s) };
}

static struct row_value of_buffer(const struct ftr_strbuf *text)
{
	return (struct row_value){ .s = ftr_strbuf_str(text), .len = text->len };
}

static void put_where(const struct rows_sink *self, struct row_value *values)
{
	values[CALL_HOST] = self->host;
	values[CALL_BOOT] = self->boot;
	values[CALL_RUN] = self->run;
}

static void put_who(const struct rows_sink *self, struct row_value *values,
		    const struct ftr_task *task)
{
	put_where(self, values);
	values[CALL_PID] = number((uint64_t)(int64_t)task->pid);
	values[CALL_TID] = number((uint64_t)(int64_t)task->tid);
	values[CALL_COMM] = string(task->name);
}

static void put_row(struct rows_sink *self, const struct row_value *values)
{
	const struct row_table *table = &row_tables[self->table];

	self->encoding->row(self->base.out, table->columns, values, table->column_nr);
}

static uint64_t self_ns(const struct ftr_event *ev)
{
	uint64_t ns = ev->time_ns - ev->call.start_ns;

	return ns > ev->call.child_ns ? ns - ev->call.child_ns : 0;
}

static void put_function(struct row_value values[3], const struct ftr_func *func)
{
	values[0] = (struct row_value){ .s = func->name, .len = func->name_len };
	values[1] = string(func->module == NULL ? NULL : func->module->path);
	values[2] = string(func->module == NULL ? NULL : func->module->build_id);
}

/* ---- lines of callers ---- */

static const char *build_id_of(const struct ftr_session *session)
{
	for (size_t i = 0; session != NULL && i < session->mappings.nr; i++) {
		const struct ftr_module *module = session->mappings.v[i].module;

		if (module != NULL && session->exename != NULL &&
		    strcmp(or_empty(module->path), session->exename) == 0)
			return or_empty(module->build_id);
	}
	return "";
}

static int frame_begin(struct rows_sink *self, struct lane *lane, const struct ftr_event *ev)
{
	const struct ftr_session *session;
	struct rows_frame frame = { .func = ev->call.func,
				    .start_ns = ev->time_ns + self->offset_ns };

	if (lane->frames.nr == 0) {
		session = ftr_task_session_at(ev->task, ev->time_ns);
		lane->program = rows_program_of(ftr_graph_root_name(self->trace, session),
						build_id_of(session));
		frame.path = rows_path_below(lane->program.path, frame.func->name);
	} else {
		frame.path = rows_path_below(lane->frames.v[lane->frames.nr - 1].path,
					     frame.func->name);
	}
	return ftr_vec_push(&lane->frames, frame) < 0 ? no_memory(self) : 0;
}

static void put_path(struct rows_sink *self, const struct rows_path *path)
{
	struct row_value values[PATH_COLUMNS];

	put_where(self, values);
	values[PATH_MINUTE] = number(self->paths.minute_ns);
	values[PATH_PROGRAM] = string(path->program.name);
	values[PATH_PROGRAM_BUILD_ID] = string(path->program.build_id);
	values[PATH_PATH] = number(path->path);
	values[PATH_PARENT] = number(path->parent);
	values[PATH_DEPTH] = number(path->depth);
	put_function(&values[PATH_FUNCTION], path->func);
	values[PATH_CALLS] = number(path->calls);
	values[PATH_TOTAL] = number(path->total_ns);
	values[PATH_SELF] = number(path->self_ns);
	values[PATH_FIRST] = number(path->first_ns);
	values[PATH_TOTAL_MIN] = number(path->total_span.min_ns);
	values[PATH_TOTAL_MAX] = number(path->total_span.max_ns);
	values[PATH_SELF_MIN] = number(path->self_span.min_ns);
	values[PATH_SELF_MAX] = number(path->self_span.max_ns);
	put_row(self, values);
}

static void put_paths(struct rows_sink *self)
{
	for (size_t i = 0; i < self->paths.all.nr; i++)
		put_path(self, self->paths.all.v[i]);
}

static int add_to_paths(struct rows_sink *self, struct lane *lane, const struct ftr_event *ev)
{
	uint64_t minute_ns = rows_sums_minute(ev->time_ns + self->offset_ns);
	bool is_inherited = ftr_task_has_inherited(ev->task, ev->flags);
	struct rows_path *path;

	if (minute_ns != self->paths.minute_ns || self->paths.all.nr >= ROWS_PATHS_MAX) {
		put_paths(self);
		rows_paths_restart(&self->paths, minute_ns);
	}
	path = rows_paths_get(&self->paths, &lane->program, lane->frames.v, lane->frames.nr);
	if (path == NULL)
		return no_memory(self);
	rows_path_count(path, ev->time_ns - ev->call.start_ns, self_ns(ev), is_inherited);
	lane->frames.nr--;
	return 0;
}

static int call_begin(struct rows_sink *self, struct lane *lane, const struct ftr_event *ev)
{
	struct open_call call = { .id = ++lane->call_nr };
	uint32_t id = ev->call.func->id;

	if (ftr_vec_reach(&lane->calls_of, id) < 0)
		return no_memory(self);
	lane->calls_of.v[id]++;
	if (self->table == ROWS_PATHS && frame_begin(self, lane, ev) < 0)
		return -ENOMEM;
	if (ev->payload != NULL && self->table == ROWS_CALLS) {
		ftr_strbuf_clear(&self->text);
		ftr_event_args_text(ev, self->trace, false, &self->text);
		call.args = strdup(ftr_strbuf_str(&self->text));
		if (call.args == NULL)
			return no_memory(self);
	}
	if (ftr_vec_push(&lane->open, call) == 0)
		return 0;
	free(call.args);
	return no_memory(self);
}

/* After its end: is another call of its function open? */
static bool is_nested(const struct lane *lane, const struct ftr_event *ev)
{
	return lane->calls_of.v[ev->call.func->id] > 0;
}

static uint8_t flags_of(const struct lane *lane, const struct ftr_event *ev)
{
	return (uint8_t)((is_nested(lane, ev) ? FLAG_NESTED : 0) |
			 (ev->flags & FTR_EVENT_UNFINISHED ? FLAG_UNFINISHED : 0) |
			 (ev->flags & FTR_EVENT_NO_ENTRY ? FLAG_BEGAN_BEFORE : 0) |
			 (ftr_task_has_inherited(ev->task, ev->flags) ? FLAG_INHERITED : 0) |
			 (ev->flags & FTR_EVENT_LEFT ? FLAG_LEFT : 0));
}

static void put_call(struct rows_sink *self, const struct lane *lane, const struct ftr_event *ev)
{
	const struct open_call *call = &lane->open.v[lane->open.nr - 1];
	struct row_value values[CALL_COLUMNS];

	put_who(self, values, ev->task);
	values[CALL_CALL] = number(call->id);
	values[CALL_PARENT] = number(lane->open.nr < 2 ? 0 : call[-1].id);
	values[CALL_DEPTH] = number(ev->depth);
	values[CALL_START] = number(ev->call.start_ns + self->offset_ns);
	values[CALL_DURATION] = number(ev->time_ns - ev->call.start_ns);
	values[CALL_SELF] = number(self_ns(ev));
	put_function(&values[CALL_FUNCTION], ev->call.func);
	values[CALL_ARGS] = string(call->args);
	ftr_strbuf_clear(&self->text);
	if (ev->payload != NULL)
		ftr_event_args_text(ev, self->trace, false, &self->text);
	values[CALL_RETVAL] = of_buffer(&self->text);
	values[CALL_FLAGS] = number(flags_of(lane, ev));
	put_row(self, values);
}

/* The minute is over. */
static void put_sums(struct rows_sink *self)
{
	struct row_value values[SUM_COLUMNS];

	put_where(self, values);
	values[SUM_MINUTE] = number(self->sums.minute_ns);
	for (size_t i = 0; i < self->sums.funcs.nr; i++) {
		const struct rows_func_sums *sums = self->sums.funcs.v[i];

		put_function(&values[SUM_FUNCTION], sums->func);
		for (uint64_t left = sums->used; left != 0; left &= left - 1) {
			unsigned bucket = (unsigned)__builtin_ctzll(left);

			values[SUM_BUCKET] = number(bucket);
			values[SUM_CALLS] = number(sums->buckets[bucket].calls);
			values[SUM_TOTAL] = number(sums->buckets[bucket].total_ns);
			values[SUM_SELF] = number(sums->buckets[bucket].self_ns);
			values[SUM_NESTED] = number(sums->buckets[bucket].nested_ns);
			values[SUM_OUTERMOST] = number(sums->buckets[bucket].outermost_ns);
			put_row(self, values);
		}
	}
}

static int add_to_sums(struct rows_sink *self, const struct lane *lane, const struct ftr_event *ev)
{
	uint64_t ns = ev->time_ns - ev->call.start_ns;
	struct ftr_call_sum sum = {
		.calls = !ftr_task_has_inherited(ev->task, ev->flags),
		.total_ns = ns, .self_ns = self_ns(ev),
		.nested_ns = is_nested(lane, ev) ? ns : 0,
		.outermost_ns = ev->depth == 0 ? ns : 0,
	};
	uint64_t minute_ns = rows_sums_minute(ev->time_ns + self->offset_ns);

	if (minute_ns != self->sums.minute_ns) {
		put_sums(self);
		rows_sums_restart(&self->sums, minute_ns);
	}
	return rows_sums_add(&self->sums, ev->call.func, ftr_summary_octave(ns), &sum) < 0 ?
		       no_memory(self) : 0;
}

/* Sums that were made when the calls were recorded: of minutes as their intervals began. */
static int rows_sums(struct ftr_sink *sink, const struct ftr_summary_row *row)
{
	struct rows_sink *self = rows_of(sink);
	uint64_t minute_ns = rows_sums_minute(row->begin_ns + self->offset_ns);

	if (self->table != ROWS_SUMS)
		return ftr_pump_refuse_sums(self->trace, sink->err);
	if (minute_ns != self->sums.minute_ns) {
		put_sums(self);
		rows_sums_restart(&self->sums, minute_ns);
	}
	for (uint64_t left = row->used; left != 0; left &= left - 1) {
		if (rows_sums_add(&self->sums, row->func, (unsigned)__builtin_ctzll(left),
				  &row->octaves[__builtin_ctzll(left)]) < 0)
			return no_memory(self);
	}
	return 0;
}

static int call_end(struct rows_sink *self, struct lane *lane, const struct ftr_event *ev)
{
	int ret = 0;

	if (lane->open.nr == 0)
		return 0;
	lane->calls_of.v[ev->call.func->id]--;
	if (self->table == ROWS_CALLS)
		put_call(self, lane, ev);
	else if (self->table == ROWS_SUMS)
		ret = add_to_sums(self, lane, ev);
	else if (self->table == ROWS_PATHS)
		ret = add_to_paths(self, lane, ev);
	free(lane->open.v[--lane->open.nr].args);
	return ret;
}

static void put_event(struct rows_sink *self, const struct lane *lane, const struct ftr_event *ev)
{
	struct row_value values[EVENT_COLUMNS];

	put_who(self, values, ev->task);
	values[EVENT_CALL] = number(lane->open.nr == 0 ? 0 : lane->open.v[lane->open.nr - 1].id);
	values[EVENT_TIME] = number(ev->time_ns + self->offset_ns);
	values[EVENT_CPU] = number((uint64_t)((int64_t)ev->point.cpu_nr - 1));
	ftr_event_title(ev, &self->title);
	values[EVENT_NAME] = of_buffer(&self->title);
	ftr_strbuf_clear(&self->text);
	ftr_event_data_text(ev, self->trace, true, &self->text);
	values[EVENT_DATA] = of_buffer(&self->text);
	put_row(self, values);
}

static int rows_event(struct ftr_sink *sink, const struct ftr_event *ev)
{
	struct rows_sink *self = rows_of(sink);
	struct lane *lane = ftr_per_task_get(&self->lanes, ev->task);
	int ret = 0;

	if (lane == NULL)
		return no_memory(self);
	if (ev->type == FTR_EVENT_ENTRY)
		ret = call_begin(self, lane, ev);
	else if (ev->type == FTR_EVENT_EXIT)
		ret = call_end(self, lane, ev);
	else if (self->table == ROWS_EVENTS)
		put_event(self, lane, ev);
	return ret < 0 || !self->text.failed ? ret : no_memory(self);
}

static uint64_t utc_offset_s(const struct ftr_trace *trace)
{
	const struct ftr_info *info = &trace->info;

	return (info->info_mask & FTR_INFO_UTC_OFFSET) != 0 ? (uint64_t)info->utc_offset_s : 0;
}

struct rows_origin rows_origin_of(const struct ftr_trace *trace)
{
	return (struct rows_origin){
		.host = or_empty(trace->info.os_hostname),
		.boot = (uint32_t)utc_offset_s(trace),
		.run = or_empty(trace->sessions.nr == 0 ? NULL : trace->sessions.v[0]->sid),
	};
}

static int rows_begin(struct rows_sink *self, const struct ftr_trace *trace,
		      const struct row_encoding *encoding)
{
	const struct rows_values *values = self->base.values;
	struct rows_origin origin = rows_origin_of(trace);

	self->trace = trace;
	self->encoding = encoding;
	self->table = values == NULL ? ROWS_CALLS : (enum rows_table)values->table;
	assert(self->table < ROWS_TABLES);
	self->lanes.bytes = sizeof(struct lane);
	self->host = string(origin.host);
	self->boot = number(origin.boot);
	self->run = string(values != NULL && values->run != NULL ? values->run : origin.run);
	self->offset_ns = utc_offset_s(trace) * NSEC_PER_SEC;
	if (encoding->head != NULL)
		encoding->head(self->base.out, row_tables[self->table].columns,
			       row_tables[self->table].column_nr);
	return 0;
}

static int rows_end(struct ftr_sink *sink)
{
	struct rows_sink *self = rows_of(sink);

	put_sums(self);
	rows_sums_restart(&self->sums, self->sums.minute_ns);
	put_paths(self);
	rows_paths_restart(&self->paths, self->paths.minute_ns);
	return 0;
}

static void rows_fini(struct ftr_sink *sink)
{
	struct rows_sink *self = rows_of(sink);
	struct lane *lane;
	size_t pos = 0;

	while ((lane = ftr_per_task_next(&self->lanes, &pos)) != NULL) {
		for (size_t i = 0; i < lane->open.nr; i++)
			free(lane->open.v[i].args);
		ftr_vec_fini(&lane->open);
		ftr_vec_fini(&lane->frames);
		ftr_vec_fini(&lane->calls_of);
	}
	ftr_per_task_fini(&self->lanes);
	rows_sums_fini(&self->sums);
	rows_paths_fini(&self->paths);
	ftr_strbuf_fini(&self->text);
	ftr_strbuf_fini(&self->title);
}

static int any_begin(struct ftr_sink *sink, const struct ftr_trace *trace)
{
	const struct rows_values *values = sink->values;

	assert(values != NULL && values->encoding != NULL);
	return rows_begin(rows_of(sink), trace, values->encoding);
}

/* ---- a format an encoding ---- */

static int rowbinary_begin(struct ftr_sink *sink, const struct ftr_trace *trace)
{
	return rows_begin(rows_of(sink), trace, &row_encoding_rowbinary);
}

static int csv_begin(struct ftr_sink *sink, const struct ftr_trace *trace)
{
	return rows_begin(rows_of(sink), trace, &row_encoding_csv);
}

static int jsonl_begin(struct ftr_sink *sink, const struct ftr_trace *trace)
{
	return rows_begin(rows_of(sink), trace, &row_encoding_jsonl);
}

#define ROWS_OPS(begin_) { \
	.size	 = sizeof(struct rows_sink), \
	.accepts = FTR_BIT(FTR_EVENT_ENTRY) | FTR_BIT(FTR_EVENT_EXIT) | FTR_BIT(FTR_EVENT_POINT), \
	.begin	 = begin_, \
	.event	 = rows_event, \
	.sums	 = rows_sums, \
	.end	 = rows_end, \
	.fini	 = rows_fini, \
}

const struct ftr_sink_ops rows_ops = ROWS_OPS(any_begin);
static const struct ftr_sink_ops rowbinary_ops = ROWS_OPS(rowbinary_begin);
static const struct ftr_sink_ops csv_ops = ROWS_OPS(csv_begin);
static const struct ftr_sink_ops jsonl_ops = ROWS_OPS(jsonl_begin);

#define ROWS_FORMAT(name_, other_name_, suffix_, summary_, ops_) { \
	.name	      = name_, \
	.other_name   = other_name_, \
	.summary      = summary_, \
	.suffix	      = suffix_, \
	.kind	      = FTR_FORMAT_FILE, \
	.write	      = &ops_, \
	.options      = rows_options, \
	.values_bytes = sizeof(struct rows_values), \
}

const struct ftr_format ftr_format_rowbinary =
	ROWS_FORMAT("rowbinary", NULL, ".rowbinary", "a row a call or event, for ClickHouse",
		    rowbinary_ops);
const struct ftr_format ftr_format_csv =
	ROWS_FORMAT("csv", NULL, ".csv", "a row a call or event, for databases and spreadsheets",
		    csv_ops);
const struct ftr_format ftr_format_jsonl =
	ROWS_FORMAT("jsonl", "json", ".jsonl", "a row a call or event, as JSON objects", jsonl_ops);
