/* SPDX-License-Identifier: MIT */
/*
 * The text of tracefs' file trace, which trace-cmd keeps for latency tracers:
 *
 *	            sleep-1234    [001] d..2.  1234.567890: sched_switch: prev_comm=...
 *	   sleep-1234      0d..3    12us+: wake_up <-try_to_wake_up
 *	CPU:1 [LOST 12 EVENTS]
 *
 * Times of the second form count from the text's beginning.  Lines with # are comments.
 */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "utils/format/tracedat/read.h"

#define BATCH 64
#define NAME_FUNCTION "function"
#define LOST_PREFIX "CPU:"

/* What a name in the text stands for. */
struct text_event {
	const char *name;		/* "sched:sched_switch"; without a format: "sched_switch" */
	uint64_t id;			/* 0 = no format has the name */
};

struct text_line {
	struct ftr_slice task;
	struct ftr_slice name;
	struct ftr_slice text;
	uint64_t time_ns, lost_nr;
	int32_t tid;
	uint16_t cpu_nr;
	bool is_lost;
};

struct text_source {
	struct ftr_source base;
	struct tdat_reader *reader;
	struct ftr_slice rest;
	struct ftr_hashmap events;	/* hash of a name -> struct text_event */
	uint64_t last_ns;
	uint64_t unread_nr, line_nr, unread_first;
	struct ftr_task *last;		/* (nullable) */
	struct ftr_event batch[BATCH];
	struct ftr_payload payloads[BATCH];
};

/* ---- lines ---- */

static struct ftr_slice from(struct ftr_slice line, size_t pos)
{
	return ftr_slice_make(line.s + pos, line.len - pos);
}

static struct ftr_slice word_take(struct ftr_slice *line)
{
	struct ftr_slice word;

	*line = ftr_slice_trim(*line);
	word = ftr_slice_make(line->s, 0);
	while (word.len < line->len && !isspace((unsigned char)line->s[word.len]))
		word.len++;
	*line = from(*line, word.len);
	return word;
}

/* Digits at the front. */
static bool number_take(struct ftr_slice *line, uint64_t *value)
{
	size_t len = 0;

	while (len < line->len && isdigit((unsigned char)line->s[len]))
		len++;
	if (len == 0 || ftr_parse_u64(ftr_slice_make(line->s, len), 10, value) < 0)
		return false;
	*line = from(*line, len);
	return true;
}

/* "NAME-TID  ": names may hold blanks and dashes, so the last of these before blanks counts. */
static bool task_take(struct ftr_slice *line, struct text_line *out)
{
	for (size_t i = 1; i < line->len && i < 64; i++) {
		struct ftr_slice rest = from(*line, i);
		uint64_t tid;

		if (line->s[i] != '-')
			continue;
		rest = from(rest, 1);
		if (!number_take(&rest, &tid) || rest.len == 0 || rest.s[0] != ' ' ||
		    tid > INT32_MAX)
			continue;
		out->task = ftr_slice_make(line->s, i);
		out->tid = (int32_t)tid;
		*line = ftr_slice_trim(rest);
		return true;
	}
	return false;
}

/* "(  123) ": the process, where options/record-tgid is on. */
static void process_skip(struct ftr_slice *line)
{
	const char *end = line->len > 0 && line->s[0] == '(' ? memchr(line->s, ')', line->len) :
							       NULL;

	if (end != NULL)
		*line = ftr_slice_trim(from(*line, (size_t)(end + 1 - line->s)));
}

/* "[001] d..2. 12.345678:", "[001] 12.345678:", or "1d..2 12us+:" */
static bool cpu_take(struct ftr_slice *line, struct text_line *out, bool *is_bracketed)
{
	uint64_t cpu;

	*is_bracketed = line->len > 0 && line->s[0] == '[';
	if (*is_bracketed)
		*line = from(*line, 1);
	if (!number_take(line, &cpu) || cpu >= UINT16_MAX)
		return false;
	out->cpu_nr = (uint16_t)(cpu + 1);
	if (!*is_bracketed)
		return true;
	if (line->len == 0 || line->s[0] != ']')
		return false;
	*line = from(*line, 1);
	return true;
}

/* "12.345678:" */
static bool seconds_parse(struct ftr_slice word, struct text_line *out)
{
	return word.len > 1 && word.s[word.len - 1] == ':' &&
	       ftr_parse_timestamp(ftr_slice_make(word.s, word.len - 1), &out->time_ns) == 0;
}

/* "12us+:", perhaps with a blank before the colon, which then is the front of @line. */
static bool microseconds_take(struct ftr_slice word, struct ftr_slice *line,
			      struct text_line *out)
{
	uint64_t us;

	if (!number_take(&word, &us) || us > UINT64_MAX / 1000 || !ftr_slice_starts(word, "us"))
		return false;
	out->time_ns = us * 1000;
	if (word.s[word.len - 1] == ':')
		return true;
	*line = ftr_slice_trim(*line);
	if (line->len == 0 || line->s[0] != ':')
		return false;
	*line = from(*line, 1);
	return true;
}

static bool cpu_and_time_take(struct ftr_slice *line, struct text_line *out)
{
	bool is_bracketed;
	struct ftr_slice word;

	if (!cpu_take(line, out, &is_bracketed))
		return false;
	word = word_take(line);
	if (is_bracketed && seconds_parse(word, out))
		return true;
	word = word_take(line);
	return is_bracketed ? seconds_parse(word, out) : microseconds_take(word, line, out);
}

/* "sched_switch: text", else a call: "func <-caller" */
static void event_take(struct ftr_slice line, struct text_line *out)
{
	const char *colon = line.len > 0 ? memchr(line.s, ':', line.len) : NULL;
	size_t len = colon == NULL ? 0 : (size_t)(colon - line.s);

	out->name = ftr_slice_make(NAME_FUNCTION, strlen(NAME_FUNCTION));
	out->text = line;
	for (size_t i = 0; i < len; i++) {
		if (!isalnum((unsigned char)line.s[i]) && line.s[i] != '_')
			return;
	}
	if (len == 0)
		return;
	out->name = ftr_slice_make(line.s, len);
	out->text = ftr_slice_trim(from(line, len + 1));
}

/* "CPU:1 [LOST 12 EVENTS]" */
static bool lost_take(struct ftr_slice line, struct text_line *out)
{
	uint64_t cpu;

	if (!ftr_slice_starts(line, LOST_PREFIX))
		return false;
	line = from(line, strlen(LOST_PREFIX));
	if (!number_take(&line, &cpu) || cpu >= UINT16_MAX)
		return false;
	line = ftr_slice_trim(line);
	if (!ftr_slice_starts(line, "[LOST "))
		return false;
	line = from(line, strlen("[LOST "));
	if (!number_take(&line, &out->lost_nr))
		out->lost_nr = 0;
	out->cpu_nr = (uint16_t)(cpu + 1);
	out->is_lost = true;
	return true;
}

static bool line_parse(struct ftr_slice line, struct text_line *out)
{
	*out = (struct text_line){ .tid = 0 };
	line = ftr_slice_trim(line);
	if (lost_take(line, out))
		return true;
	if (!task_take(&line, out))
		return false;
	process_skip(&line);
	if (!cpu_and_time_take(&line, out))
		return false;
	event_take(ftr_slice_trim(line), out);
	return true;
}

/* The next line that is an event or a loss. */
static bool line_next(struct text_source *self, struct text_line *out)
{
	struct ftr_slice line;

	while (ftr_slice_split(&self->rest, '\n', &line)) {
		struct ftr_slice text = ftr_slice_trim(line);

		self->line_nr++;
		if (text.len == 0 || text.s[0] == '#')
			continue;
		if (line_parse(text, out))
			return true;
		if (self->unread_nr++ == 0)
			self->unread_first = self->line_nr;
	}
	return false;
}

/* ---- events ---- */

static bool name_ends(const char *full, struct ftr_slice name)
{
	const char *colon = strchr(full, ':');

	return colon != NULL && ftr_slice_eq(name, colon + 1);
}

static const struct ftr_ftrace_event *format_find(const struct ftr_ftrace *ftrace,
						  struct ftr_slice name)
{
	for (size_t i = 0; i < ftrace->events.nr; i++) {
		if (ftrace->events.v[i]->name != NULL && name_ends(ftrace->events.v[i]->name, name))
			return ftrace->events.v[i];
	}
	return NULL;
}

/* NULL = out of memory. */
static const struct text_event *event_get(struct text_source *self, struct ftr_slice name)
{
	uint64_t key = ftr_hash_bytes(name.s, name.len);
	struct text_event *event = ftr_hashmap_find(&self->events, key);
	const struct ftr_ftrace_event *format;

	if (event != NULL && (name_ends(event->name, name) || ftr_slice_eq(name, event->name)))
		return event;
	event = ftr_arena_alloc(&self->reader->trace->arena, sizeof(*event));
	if (event == NULL)
		return NULL;
	format = format_find(&self->reader->ftrace, name);
	event->id = format == NULL ? 0 : format->id;
	event->name = format == NULL ? tdat_strdup(self->reader, name) : format->name;
	if (event->name == NULL || ftr_hashmap_set(&self->events, key, event) < 0)
		return NULL;
	return event;
}

static struct ftr_task *line_task(struct text_source *self, const struct text_line *line)
{
	struct ftr_ftrace_task *task;

	if (line->is_lost && self->last != NULL)
		return self->last;
	task = tdat_task_get(self->reader, line->tid);
	return task == NULL ? NULL : task->task;
}

static int event_fill(struct text_source *self, const struct text_line *line, size_t nr)
{
	struct ftr_event *ev = &self->batch[nr];
	const struct text_event *event;

	*ev = (struct ftr_event){ .task = line_task(self, line) };
	if (ev->task == NULL)
		return -ENOMEM;
	if (line->time_ns > self->last_ns)
		self->last_ns = line->time_ns;
	ev->time_ns = self->last_ns;
	self->last = ev->task;
	if (line->is_lost) {
		ev->type = FTR_EVENT_LOST;
		ev->lost.nr = line->lost_nr;
		ev->lost.cpu_nr = line->cpu_nr;
		ev->lost.source = FTR_LOST_OF_KERNEL;
		return 0;
	}
	event = event_get(self, line->name);
	if (event == NULL)
		return -ENOMEM;
	self->payloads[nr] = (struct ftr_payload){
		.data = (const uint8_t *)line->text.s,
		.len = (uint16_t)(line->text.len > UINT16_MAX ? UINT16_MAX : line->text.len),
	};
	ev->type = FTR_EVENT_POINT;
	ev->point.name = event->name;
	ev->point.id = event->id;
	ev->point.cpu_nr = line->cpu_nr;
	ev->payload = &self->payloads[nr];
	return 0;
}

static ssize_t text_next(struct ftr_source *source, struct ftr_event **evs, struct ftr_err *err)
{
	struct text_source *self = (struct text_source *)source;
	struct text_line line;
	size_t nr = 0;

	while (nr < BATCH && line_next(self, &line)) {
		if (event_fill(self, &line, nr++) < 0)
			return ftr_err_set(err, ENOMEM, "%s: out of memory", self->reader->in.name);
	}
	*evs = self->batch;
	return (ssize_t)nr;
}

static void text_free(struct ftr_source *source)
{
	struct text_source *self = (struct text_source *)source;

	ftr_hashmap_fini(&self->events);
	free(self);
}

static const struct ftr_source_ops text_ops = {
	.next = text_next,
	.free = text_free,
};

/* Who and when, and what cannot be read: known before the events are. */
static int text_scan(struct text_source *self)
{
	struct ftr_trace *trace = self->reader->trace;
	struct ftr_slice all = self->rest;
	struct text_line line;

	while (line_next(self, &line)) {
		struct ftr_ftrace_task *task = tdat_task_get(self->reader, line.tid);

		if (task == NULL)
			return -ENOMEM;
		if (line.is_lost)
			continue;
		if (trace->first_ns == 0 || line.time_ns < trace->first_ns)
			trace->first_ns = line.time_ns;
		tdat_kin_name(self->reader, task->task, line.task);
	}
	if (self->unread_nr > 0)
		ftr_diag_warn(trace->diag, "%s: %llu lines are not events of a task and are "
			      "skipped, the first is line %llu", self->reader->in.name,
			      (unsigned long long)self->unread_nr,
			      (unsigned long long)self->unread_first);
	self->rest = all;
	return self->reader->is_failed ? -ENOMEM : 0;
}

int tdat_text_load(struct tdat_reader *reader, struct ftr_slice text)
{
	struct text_source *self = calloc(1, sizeof(*self));

	if (self == NULL)
		return -ENOMEM;
	self->base.ops = &text_ops;
	self->reader = reader;
	self->rest = text;
	ftr_hashmap_init(&self->events);
	if (text_scan(self) < 0 || ftr_vec_push(&reader->trace->sources, &self->base) < 0) {
		text_free(&self->base);
		return -ENOMEM;
	}
	return 0;
}
