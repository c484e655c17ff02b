/* SPDX-License-Identifier: MIT */
/* Etrace text to records (doc/ftr-etrace.5): one assembly a upid, because lines are interleaved. */
#include "utils/format/etrace.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "utils/base/strbuf.h"
#include "utils/format/etrace_heads.h"
#include "utils/format/etrace_line.h"

#define BIT(n) (1u << (n))
#define NO_TEXT (-1)
#define ARGUMENT FTR_ETRACE_TEXTS	/* as the index of the text being read */
#define MISSING_ARGUMENTS_MAX 4096	/* empty ones may be left out; more are damage */
#define CALL_NAME_MAX 32

/* What is known of a upid, and the record its lines are adding to. */
struct assembly {
	uint64_t last_ns;
	bool	 has_exited;
	bool	 has_lines;

	const struct ftr_etrace_head *head;	/* of the record being read; NULL = none */
	struct ftr_etrace_record rec;
	unsigned lineno;			/* of its head */
	bool	 needs_end;			/* a To, a Failed, a SchedFork must follow */
	int64_t  sizes[FTR_ETRACE_VALUES];
	unsigned has_value;			/* a bit for each */
	unsigned texts_expected;		/* a bit for each text */

	int	 text;				/* being read: NO_TEXT, 0.., ARGUMENT */
	bool	 is_long;			/* in parts */
	bool	 in_cont;
	uint64_t part;				/* the next one; of an argument: its index */
	struct ftr_strbuf builder;
	FTR_VEC(struct ftr_slice) argv;

	/* Of an Ftr line, for the next head. */
	const char *call;
	uint64_t took_ns, done_ns;
	int32_t  error, signal;
};

struct loader {
	struct ftr_etrace_log *log;
	struct ftr_istream *in;
	ftr_etrace_violation_fn *violation;
	void *violation_arg;
	struct ftr_hashmap tasks;		/* upid -> struct assembly */
	FTR_VEC(struct assembly *) all;		/* (owned) */
	FTR_VEC(const char *) call_names;
	bool has_failed;			/* out of memory */
};

__attribute__((format(printf, 3, 4)))
static void violate(struct loader *loader, unsigned lineno, const char *fmt, ...)
{
	char text[400];
	va_list ap;
	int len;

	loader->log->violations++;
	if (loader->violation == NULL)
		return;
	len = snprintf(text, sizeof(text), "%.200s:%u: ", loader->in->name, lineno);
	va_start(ap, fmt);
	vsnprintf(text + len, sizeof(text) - (size_t)len, fmt, ap);
	va_end(ap);
	loader->violation(loader->violation_arg, text);
}

static struct assembly *assembly_get(struct loader *loader, uint64_t upid)
{
	struct assembly *task = ftr_hashmap_find(&loader->tasks, upid);

	if (task != NULL)
		return task;
	task = calloc(1, sizeof(*task));
	if (task == NULL || ftr_vec_push(&loader->all, task) < 0) {
		free(task);
		return NULL;
	}
	task->text = NO_TEXT;
	return ftr_hashmap_set(&loader->tasks, upid, task) < 0 ? NULL : task;
}

/* ---- texts ---- */

static struct ftr_slice keep_text(struct loader *loader, const struct ftr_strbuf *text)
{
	char *copy = ftr_arena_strndup(&loader->log->arena, ftr_strbuf_str(text), text->len);

	if (copy == NULL || text->failed)
		loader->has_failed = true;
	return ftr_slice_make(copy != NULL ? copy : "", copy != NULL ? text->len : 0);
}

static void push_argument(struct loader *loader, struct assembly *task, struct ftr_slice text)
{
	if (ftr_vec_push(&task->argv, text) < 0)
		loader->has_failed = true;
}

/* The text being read is whole. */
static void text_close(struct loader *loader, struct assembly *task)
{
	struct ftr_slice text;

	if (task->text == NO_TEXT)
		return;
	if (task->in_cont)
		violate(loader, loader->in->lineno, "Cont_end is missing before this line");
	text = keep_text(loader, &task->builder);
	if (task->text == ARGUMENT)
		push_argument(loader, task, text);
	else
		task->rec.text[task->text] = text;
	task->text = NO_TEXT;
	task->in_cont = false;
}

static void text_start(struct loader *loader, struct assembly *task, int index, bool is_long)
{
	text_close(loader, task);
	task->text = index;
	task->is_long = is_long;
	task->part = is_long ? 1 : 0;
	ftr_strbuf_clear(&task->builder);
}

/* Empty arguments may be left out: fill up to the one of this index. */
static bool arguments_fill(struct loader *loader, struct assembly *task, uint64_t index)
{
	struct ftr_slice empty = { "", 0 };

	if (index < task->argv.nr || index - task->argv.nr > MISSING_ARGUMENTS_MAX) {
		violate(loader, loader->in->lineno, "A[%" PRIu64 "] cannot follow %zu arguments", index,
			task->argv.nr);
		return false;
	}
	while (task->argv.nr < index && !loader->has_failed)
		push_argument(loader, task, empty);
	return true;
}

static void argument_line(struct loader *loader, struct assembly *task, uint64_t index,
			  struct ftr_slice chunk)
{
	if (task->text == ARGUMENT && task->part == index) {
		ftr_strbuf_put(&task->builder, chunk.s, chunk.len);
		return;
	}
	text_close(loader, task);
	if (!arguments_fill(loader, task, index))
		return;
	text_start(loader, task, ARGUMENT, true);
	task->part = index;
	ftr_strbuf_put(&task->builder, chunk.s, chunk.len);
}

static void part_line(struct loader *loader, struct assembly *task, int index, uint64_t part,
		      struct ftr_slice chunk)
{
	if (part == 0) {
		text_start(loader, task, index, true);
	} else if (task->text == index && task->is_long) {
		if (part != task->part)
			violate(loader, loader->in->lineno, "part %" PRIu64 " where part %" PRIu64
				" must come", part, task->part);
		task->part = part + 1;
	} else {
		violate(loader, loader->in->lineno, "part %" PRIu64 " of a text that has no part 0", part);
		text_start(loader, task, index, true);
		task->part = part + 1;
	}
	ftr_strbuf_put(&task->builder, chunk.s, chunk.len);
}

static void cont_line(struct loader *loader, struct assembly *task, struct ftr_slice chunk)
{
	if (task->text == NO_TEXT) {
		violate(loader, loader->in->lineno, "Cont continues no text");
		return;
	}
	task->in_cont = true;
	ftr_strbuf_putc(&task->builder, '\n');
	ftr_strbuf_put(&task->builder, chunk.s, chunk.len);
}

static void cont_end_line(struct loader *loader, struct assembly *task)
{
	if (!task->in_cont)
		violate(loader, loader->in->lineno, "Cont_end without a Cont");
	task->in_cont = false;
}

/* ---- records ---- */

static void check_texts(struct loader *loader, const struct assembly *task)
{
	for (unsigned i = 0; i < FTR_ETRACE_TEXTS; i++) {
		struct ftr_slice text = task->rec.text[i];
		bool has_size = (task->has_value & BIT(FTR_ETRACE_SIZE0 + i)) != 0;

		if (text.s == NULL && (task->texts_expected & BIT(i)) != 0 && has_size)
			violate(loader, task->lineno, "a text of %" PRId64 " bytes is missing",
				task->sizes[i]);
		else if (text.s != NULL && has_size && task->sizes[i] != (int64_t)text.len)
			violate(loader, task->lineno, "a text has %zu bytes, %" PRId64 " are announced",
				text.len, task->sizes[i]);
	}
}

static void keep_arguments(struct loader *loader, struct assembly *task)
{
	size_t bytes = task->argv.nr * sizeof(*task->argv.v);
	struct ftr_slice *copy;

	if (task->argv.nr == 0)
		return;
	copy = ftr_arena_alloc(&loader->log->arena, bytes);
	if (copy == NULL) {
		loader->has_failed = true;
		return;
	}
	memcpy(copy, task->argv.v, bytes);
	task->rec.argv = copy;
	task->rec.argc = task->argv.nr;
	task->argv.nr = 0;
}

/* The record's lines are all there. */
static void record_finish(struct loader *loader, struct assembly *task)
{
	if (task->head == NULL)
		return;
	text_close(loader, task);
	check_texts(loader, task);
	if (task->needs_end) {
		violate(loader, task->lineno, "%s has no end", task->head->tag);
		task->rec.is_failed = true;
	}
	if (task->rec.kind == FTR_ETRACE_EXEC)
		keep_arguments(loader, task);
	if (ftr_vec_push(&loader->log->records, task->rec) < 0)
		loader->has_failed = true;
	task->head = NULL;
	task->needs_end = false;
	task->has_value = 0;
	task->texts_expected = 0;
}

static void record_start(struct loader *loader, struct assembly *task,
			 const struct ftr_etrace_head *head, const struct ftr_etrace_line *line)
{
	record_finish(loader, task);
	task->head = head;
	task->lineno = loader->in->lineno;
	task->rec = (struct ftr_etrace_record){
		.upid = line->upid, .cpu = line->cpu, .kind = head->kind,
		.start_ns = line->time_ns, .time_ns = line->time_ns,
	};
}

static void value_set(struct assembly *task, enum ftr_etrace_value value, int64_t number)
{
	struct ftr_etrace_record *rec = &task->rec;

	task->sizes[value] = number;
	task->has_value |= BIT(value);
	switch (value) {
	case FTR_ETRACE_PEER:	rec->peer = (uint64_t)number; break;
	case FTR_ETRACE_FLAGS:	rec->flags = number; break;
	case FTR_ETRACE_MODE:	rec->mode = number; break;
	case FTR_ETRACE_FD:	rec->fd = number; break;
	case FTR_ETRACE_FD2:	rec->fd2 = number; break;
	case FTR_ETRACE_STATUS:	rec->status = number; break;
	default:		break;
	}
}

/* NAME=NUMBER,NAME=NUMBER of a head into the record. */
static void fields_parse(struct loader *loader, struct assembly *task,
			 const struct ftr_etrace_head *head, struct ftr_slice rest)
{
	const struct ftr_etrace_field *field;
	struct ftr_slice item, name;
	unsigned seen = 0;
	int64_t number;

	while (rest.len > 0 && ftr_slice_split(&rest, ',', &item)) {
		ftr_slice_split(&item, '=', &name);
		for (field = head->fields; field->name != NULL; field++) {
			if (ftr_slice_eq(name, field->name))
				break;
		}
		if (field->name == NULL || ftr_parse_i64(item, &number) < 0) {
			violate(loader, loader->in->lineno, "%s: \"%.*s\" is none of its fields", head->tag,
				(int)(name.len < 40 ? name.len : 40), name.s);
			continue;
		}
		seen |= BIT(field->value);
		value_set(task, field->value, number);
	}
	for (field = head->fields; field->name != NULL; field++) {
		if (!field->is_optional && (seen & BIT(field->value)) == 0)
			violate(loader, loader->in->lineno, "%s has no %s", head->tag, field->name);
	}
}

static void annotate(struct assembly *task)
{
	struct ftr_etrace_record *rec = &task->rec;

	if (task->call == NULL)
		return;
	rec->call = task->call;
	rec->error = task->error;
	rec->signal = task->signal;
	rec->time_ns = task->done_ns;
	if (task->took_ns <= rec->time_ns)
		rec->start_ns = rec->time_ns - task->took_ns;
	task->call = NULL;
}

/* Does a To or Failed of @kind end the record that is being read? */
static bool head_ends(const struct assembly *task, const struct ftr_etrace_head *head)
{
	uint8_t kind = task->rec.kind;

	if (task->head == NULL)
		return false;
	if (head->kind == FTR_ETRACE_MOUNT || head->kind == FTR_ETRACE_UMOUNT)
		return kind == head->kind && task->call == NULL;	/* else a call of its own */
	if (!task->needs_end)
		return false;
	return kind == head->kind ||
	       (head->kind == FTR_ETRACE_RENAME && kind == FTR_ETRACE_RENAME2) ||
	       (head->kind == FTR_ETRACE_LINK && kind == FTR_ETRACE_LINKAT);
}

static void end_line(struct loader *loader, struct assembly *task, const struct ftr_etrace_head *head,
		     const struct ftr_etrace_line *line, struct ftr_slice fields)
{
	if (head_ends(task, head)) {
		text_close(loader, task);
		task->needs_end = false;
		if (head->kind == FTR_ETRACE_RENAME || head->kind == FTR_ETRACE_LINK)
			task->rec.time_ns = line->time_ns;
	} else {
		if (head->role == FTR_ETRACE_TO || head->kind == FTR_ETRACE_CLONE)
			violate(loader, loader->in->lineno, "%s without its beginning", head->tag);
		record_start(loader, task, head, line);
	}
	fields_parse(loader, task, head, fields);
	annotate(task);
	task->head = head;
	task->rec.is_failed = head->role == FTR_ETRACE_FAILED;
	for (const struct ftr_etrace_tag *tag = head->texts; tag->tag[0] != '\0'; tag++)
		task->texts_expected |= BIT(tag->text);
	if (task->rec.is_failed)
		record_finish(loader, task);
}

/* A SchedFork that is the second half of a clone. */
static void fork_line(struct loader *loader, struct assembly *task, const struct ftr_etrace_head *head,
		      const struct ftr_etrace_line *line, struct ftr_slice fields)
{
	const struct assembly *child;

	if (task->head != NULL && task->needs_end && task->rec.kind == FTR_ETRACE_CLONE)
		task->needs_end = false;
	else
		record_start(loader, task, head, line);
	fields_parse(loader, task, head, fields);
	annotate(task);
	child = ftr_hashmap_find(&loader->tasks, task->rec.peer);
	if (child != NULL && child->has_lines)
		violate(loader, loader->in->lineno, "lines of the child %" PRIu64 " stand before this",
			task->rec.peer);
	record_finish(loader, task);
}

static void whole_line(struct loader *loader, struct assembly *task, const struct ftr_etrace_head *head,
		       const struct ftr_etrace_line *line, struct ftr_slice fields, bool is_failed)
{
	record_start(loader, task, head, line);
	fields_parse(loader, task, head, fields);
	if (head->role == FTR_ETRACE_FROM && head->kind != FTR_ETRACE_CLONE)
		task->needs_end = true;
	else
		annotate(task);
	if (head->kind == FTR_ETRACE_CLONE)
		task->needs_end = true;
	task->rec.is_failed = is_failed;
	for (const struct ftr_etrace_tag *tag = head->texts; !is_failed && tag->tag[0] != '\0'; tag++)
		task->texts_expected |= BIT(tag->text);
	if (head->texts[0].tag[0] == '\0' && !task->needs_end)
		record_finish(loader, task);
	if (head->kind == FTR_ETRACE_EXIT)
		task->has_exited = true;
}

/* ---- lines ---- */

static const char *call_name(struct loader *loader, struct ftr_slice name)
{
	char *copy;

	for (size_t i = 0; i < loader->call_names.nr; i++) {
		if (ftr_slice_eq(name, loader->call_names.v[i]))
			return loader->call_names.v[i];
	}
	copy = ftr_arena_strndup(&loader->log->arena, name.s, name.len);
	if (copy == NULL || ftr_vec_push(&loader->call_names, copy) < 0)
		loader->has_failed = true;
	return copy;
}

/* "Ftr|call=openat,took=123,error=2": of the next record. */
static void extension_line(struct loader *loader, struct assembly *task, struct ftr_slice rest)
{
	struct ftr_slice item, name;
	int64_t number;

	task->error = task->signal = 0;
	task->took_ns = 0;
	task->done_ns = task->last_ns;
	while (rest.len > 0 && ftr_slice_split(&rest, ',', &item)) {
		ftr_slice_split(&item, '=', &name);
		if (ftr_slice_eq(name, "call") && item.len > 0 && item.len <= CALL_NAME_MAX)
			task->call = call_name(loader, item);
		else if (ftr_parse_i64(item, &number) < 0 || number < 0)
			violate(loader, loader->in->lineno, "Ftr: a field that is no number");
		else if (ftr_slice_eq(name, "took"))
			task->took_ns = (uint64_t)number;
		else if (ftr_slice_eq(name, "error"))
			task->error = (int32_t)(number & 0xffff);
		else if (ftr_slice_eq(name, "signal"))
			task->signal = (int32_t)(number & 127);
	}
}

/* Lines with a head's tag.  False: it is none. */
static bool head_line(struct loader *loader, struct assembly *task, const struct ftr_etrace_line *line,
		      struct ftr_slice tag, struct ftr_slice rest)
{
	const struct ftr_etrace_head *head = ftr_etrace_heads;
	bool is_failed = ftr_slice_starts(tag, "Ftr_");

	if (is_failed)
		tag = ftr_slice_make(tag.s + 4, tag.len - 4);
	while (head->tag != NULL && !ftr_slice_eq(tag, head->tag))
		head++;
	if (head->tag == NULL)
		return false;
	if (head->role == FTR_ETRACE_TO || head->role == FTR_ETRACE_FAILED)
		end_line(loader, task, head, line, rest);
	else if (head->kind == FTR_ETRACE_FORK)
		fork_line(loader, task, head, line, rest);
	else
		whole_line(loader, task, head, line, rest, is_failed);
	return true;
}

static void arguments_end(struct loader *loader, struct assembly *task)
{
	struct ftr_slice empty = { "", 0 };
	int64_t bytes = 0, left;

	text_close(loader, task);
	if (task->head == NULL || task->rec.kind != FTR_ETRACE_EXEC) {
		violate(loader, loader->in->lineno, "End_of_args without New_proc");
		return;
	}
	for (size_t i = 0; i < task->argv.nr; i++)
		bytes += (int64_t)task->argv.v[i].len + 1;
	left = task->sizes[FTR_ETRACE_ARGSIZE] - bytes;
	/* The last ones may be empty and left out: each is one byte of the announced size. */
	if (!task->rec.is_failed && (left < 0 || left > MISSING_ARGUMENTS_MAX))
		violate(loader, task->lineno, "the arguments have %" PRId64 " bytes, %" PRId64
			" are announced", bytes, task->sizes[FTR_ETRACE_ARGSIZE]);
	else
		for (; left > 0; left--)
			push_argument(loader, task, empty);
	record_finish(loader, task);
}

/* The text of this tag in the record being read, or NO_TEXT. */
static int text_of_tag(const struct assembly *task, struct ftr_slice tag)
{
	if (task->head == NULL)
		return NO_TEXT;
	if (task->rec.kind == FTR_ETRACE_EXEC && ftr_slice_eq(tag, "A"))
		return ARGUMENT;
	for (const struct ftr_etrace_tag *text = task->head->texts; text->tag[0] != '\0'; text++) {
		if (ftr_slice_eq(tag, text->tag))
			return text->text;
	}
	return NO_TEXT;
}

static void text_end_line(struct loader *loader, struct assembly *task, struct ftr_slice tag)
{
	int index = text_of_tag(task, ftr_slice_make(tag.s, tag.len - 4));

	if (index == NO_TEXT || index != task->text || !task->is_long)
		violate(loader, loader->in->lineno, "%.*s ends no text", (int)tag.len, tag.s);
	else
		text_close(loader, task);
}

/* "FN|text", "FN[1]text": @rest begins with the bar or the bracket. */
static void text_line(struct loader *loader, struct assembly *task, struct ftr_slice tag,
		      struct ftr_slice rest)
{
	int index = text_of_tag(task, tag);
	struct ftr_slice number;
	uint64_t part = 0;

	if (index == NO_TEXT) {
		violate(loader, loader->in->lineno, "%.*s belongs to no record", (int)tag.len, tag.s);
		return;
	}
	if (rest.s[0] == '|' && index != ARGUMENT) {
		text_start(loader, task, index, false);
		ftr_strbuf_put(&task->builder, rest.s + 1, rest.len - 1);
		return;
	}
	rest = ftr_slice_make(rest.s + 1, rest.len - 1);
	ftr_slice_split(&rest, ']', &number);
	if (ftr_parse_u64(number, 10, &part) < 0)
		violate(loader, loader->in->lineno, "%.*s has no part number", (int)tag.len, tag.s);
	else if (index == ARGUMENT)
		argument_line(loader, task, part, rest);
	else
		part_line(loader, task, index, part, rest);
}

static bool slice_ends(struct ftr_slice text, const char *end)
{
	size_t len = strlen(end);

	return text.len > len && memcmp(text.s + text.len - len, end, len) == 0;
}

static void data_line(struct loader *loader, struct assembly *task, const struct ftr_etrace_line *line,
		      struct ftr_slice data)
{
	size_t len = 0;
	struct ftr_slice tag, rest;

	while (len < data.len && (isalnum((unsigned char)data.s[len]) || data.s[len] == '_'))
		len++;
	tag = ftr_slice_make(data.s, len);
	rest = ftr_slice_make(data.s + len, data.len - len);
	if (len == 0 || len > 32 || (rest.len > 0 && rest.s[0] != '|' && rest.s[0] != '[')) {
		violate(loader, loader->in->lineno, "no tag after the \"!\"");
		return;
	}
	if (rest.len > FTR_ETRACE_CHUNK + 24)
		violate(loader, loader->in->lineno, "more than %d bytes of text", FTR_ETRACE_CHUNK);
	if (task->has_exited)
		violate(loader, loader->in->lineno, "a line after the task's Exit");
	if (ftr_slice_eq(tag, "Cont"))
		cont_line(loader, task, ftr_slice_make(rest.s + (rest.len > 0), rest.len - (rest.len > 0)));
	else if (ftr_slice_eq(tag, "Cont_end"))
		cont_end_line(loader, task);
	else if (ftr_slice_eq(tag, "End_of_args"))
		arguments_end(loader, task);
	else if (ftr_slice_eq(tag, "Ftr") && rest.len > 0)
		extension_line(loader, task, ftr_slice_make(rest.s + 1, rest.len - 1));
	else if (slice_ends(tag, "_end"))
		text_end_line(loader, task, tag);
	else if (!head_line(loader, task, line, tag,
			    ftr_slice_make(rest.s + (rest.len > 0), rest.len - (rest.len > 0)))) {
		if (rest.len > 0)
			text_line(loader, task, tag, rest);
		else
			violate(loader, loader->in->lineno, "%.*s is no tag", (int)tag.len, tag.s);
	}
	task->has_lines = true;
}

static void any_line(struct loader *loader, struct ftr_slice text)
{
	struct ftr_etrace_line line;
	struct assembly *task;

	if (ftr_slice_starts(text, "INITCWD=")) {
		loader->log->init_cwd = ftr_arena_strndup(&loader->log->arena, text.s + 8, text.len - 8);
		return;
	}
	if (text.len > FTR_ETRACE_LINE_MAX)
		violate(loader, loader->in->lineno, "longer than %d bytes", FTR_ETRACE_LINE_MAX);
	text = ftr_etrace_skip_prefix(text);
	if (!ftr_etrace_line_parse(&text, &line)) {
		violate(loader, loader->in->lineno, "does not begin with <upid>,<cpu>,<time>,<timen>!");
		return;
	}
	if (line.upid == 0)	/* the original tool's variables */
		return;
	task = assembly_get(loader, line.upid);
	if (task == NULL) {
		loader->has_failed = true;
		return;
	}
	if (line.time_ns <= task->last_ns)
		violate(loader, loader->in->lineno, "not later than the task's line before");
	task->last_ns = line.time_ns;
	data_line(loader, task, &line, text);
}

static void loader_fini(struct loader *loader)
{
	for (size_t i = 0; i < loader->all.nr; i++) {
		ftr_strbuf_fini(&loader->all.v[i]->builder);
		ftr_vec_fini(&loader->all.v[i]->argv);
		free(loader->all.v[i]);
	}
	ftr_vec_fini(&loader->all);
	ftr_vec_fini(&loader->call_names);
	ftr_hashmap_fini(&loader->tasks);
}

int ftr_etrace_load(struct ftr_etrace_log *log, struct ftr_istream *in,
		    ftr_etrace_violation_fn *violation, void *arg)
{
	struct loader loader = { .log = log, .in = in, .violation = violation, .violation_arg = arg };
	const char *line;
	size_t len;

	ftr_hashmap_init(&loader.tasks);
	while (!loader.has_failed && ftr_istream_line(in, &line, &len))
		any_line(&loader, ftr_slice_make(line, len));
	for (size_t i = 0; i < loader.all.nr; i++)
		record_finish(&loader, loader.all.v[i]);
	loader_fini(&loader);
	return loader.has_failed ? -ENOMEM : ftr_etrace_log_sort(log);
}
