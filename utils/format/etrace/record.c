/* SPDX-License-Identifier: MIT */
/* Records of the etrace text, put together from their heads (doc/ftr-etrace.5, "Records"). */
#include "utils/format/etrace/load.h"

#include <inttypes.h>
#include <string.h>

#define BIT(n)        (1u << (n))
#define CALL_NAME_MAX 32

static void check_texts(struct ftr_etrace_loader *loader, const struct ftr_etrace_assembly *task)
{
	for (unsigned i = 0; i <= FTR_ETRACE_SIZE2; i++) {
		struct ftr_slice text = task->rec.text[i];
		bool has_size = (task->has_value & BIT(FTR_ETRACE_SIZE0 + i)) != 0;

		if (text.s == NULL && (task->texts_expected & BIT(i)) != 0 && has_size)
			ftr_etrace_violate(loader, task->lineno,
					   "a text of %" PRId64 " bytes is missing",
					   task->sizes[i]);
		else if (text.s != NULL && has_size && task->sizes[i] != (int64_t)text.len)
			ftr_etrace_violate(loader, task->lineno,
					   "a text has %zu bytes, %" PRId64 " are announced",
					   text.len, task->sizes[i]);
	}
}

static void keep_arguments(struct ftr_etrace_loader *loader, struct ftr_etrace_assembly *task)
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
void ftr_etrace_record_finish(struct ftr_etrace_loader *loader, struct ftr_etrace_assembly *task)
{
	if (task->head == NULL)
		return;
	ftr_etrace_text_close(loader, task);
	check_texts(loader, task);
	if (task->needs_end) {
		ftr_etrace_violate(loader, task->lineno, "%s has no end", task->head->tag);
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

static void record_start(struct ftr_etrace_loader *loader, struct ftr_etrace_assembly *task,
			 const struct ftr_etrace_head *head, const struct ftr_etrace_line *line)
{
	ftr_etrace_record_finish(loader, task);
	task->head = head;
	task->lineno = loader->in->lineno;
	task->rec = (struct ftr_etrace_record){
		.upid = line->upid,
		.cpu = line->cpu,
		.kind = head->kind,
		.start_ns = line->time_ns,
		.time_ns = line->time_ns,
	};
}

static void value_set(struct ftr_etrace_assembly *task, enum ftr_etrace_value value, int64_t number)
{
	struct ftr_etrace_record *rec = &task->rec;

	task->sizes[value] = number;
	task->has_value |= BIT(value);
	switch (value) {
	case FTR_ETRACE_PEER:
		rec->peer = (uint64_t)number;
		break;
	case FTR_ETRACE_FLAGS:
		rec->flags = number;
		break;
	case FTR_ETRACE_MODE:
		rec->mode = number;
		break;
	case FTR_ETRACE_FD:
		rec->fd = number;
		break;
	case FTR_ETRACE_FD2:
		rec->fd2 = number;
		break;
	case FTR_ETRACE_STATUS:
		rec->status = number;
		break;
	default:
		break;
	}
}

/* NAME=NUMBER,NAME=NUMBER of a head into the record. */
static void fields_parse(struct ftr_etrace_loader *loader, struct ftr_etrace_assembly *task,
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
			ftr_etrace_violate(loader, loader->in->lineno,
					   "%s: \"%.*s\" is none of its fields", head->tag,
					   (int)(name.len < 40 ? name.len : 40), name.s);
			continue;
		}
		seen |= BIT(field->value);
		value_set(task, field->value, number);
	}
	for (field = head->fields; field->name != NULL; field++) {
		if (!field->is_optional && (seen & BIT(field->value)) == 0)
			ftr_etrace_violate(loader, loader->in->lineno, "%s has no %s", head->tag,
					   field->name);
	}
}

static void annotate(struct ftr_etrace_assembly *task)
{
	struct ftr_etrace_record *rec = &task->rec;

	if (task->call == NULL)
		return;
	rec->call = task->call;
	if (strcmp(rec->call, "renameat2") == 0 && rec->kind == FTR_ETRACE_RENAME)
		rec->kind = FTR_ETRACE_RENAME2; /* its Failed line does not tell */
	if (strcmp(rec->call, "linkat") == 0 && rec->kind == FTR_ETRACE_LINK)
		rec->kind = FTR_ETRACE_LINKAT;
	if (task->flags != 0)
		rec->flags = task->flags;
	rec->error = task->error;
	rec->signal = task->signal;
	rec->time_ns = task->done_ns;
	if (task->took_ns <= rec->time_ns)
		rec->start_ns = rec->time_ns - task->took_ns;
	task->call = NULL;
}

/* Does a To or Failed of @kind end the record that is being read? */
static bool head_ends(const struct ftr_etrace_assembly *task, const struct ftr_etrace_head *head)
{
	uint8_t kind = task->rec.kind;

	if (task->head == NULL)
		return false;
	if (head->kind == FTR_ETRACE_MOUNT || head->kind == FTR_ETRACE_UMOUNT)
		return kind == head->kind && !task->rec.is_failed &&
		       task->call == NULL; /* else a call of its own */
	if (!task->needs_end)
		return false;
	return kind == head->kind ||
	       (head->kind == FTR_ETRACE_RENAME && kind == FTR_ETRACE_RENAME2) ||
	       (head->kind == FTR_ETRACE_LINK && kind == FTR_ETRACE_LINKAT);
}

static void end_line(struct ftr_etrace_loader *loader, struct ftr_etrace_assembly *task,
		     const struct ftr_etrace_head *head, const struct ftr_etrace_line *line,
		     struct ftr_slice fields)
{
	if (head_ends(task, head)) {
		ftr_etrace_text_close(loader, task);
		task->needs_end = false;
		if (head->kind == FTR_ETRACE_RENAME || head->kind == FTR_ETRACE_LINK)
			task->rec.time_ns = line->time_ns;
	} else {
		if (head->role == FTR_ETRACE_TO || head->kind == FTR_ETRACE_CLONE)
			ftr_etrace_violate(loader, loader->in->lineno, "%s without its beginning",
					   head->tag);
		record_start(loader, task, head, line);
	}
	fields_parse(loader, task, head, fields);
	annotate(task);
	task->head = head;
	task->rec.is_failed = head->role == FTR_ETRACE_FAILED;
	for (const struct ftr_etrace_tag *tag = head->texts; tag->tag[0] != '\0'; tag++)
		task->texts_expected |= BIT(tag->text);
	if (head->texts[0].tag[0] == '\0')
		ftr_etrace_record_finish(loader, task);
}

/* A SchedFork that is the second half of a clone. */
static void fork_line(struct ftr_etrace_loader *loader, struct ftr_etrace_assembly *task,
		      const struct ftr_etrace_head *head, const struct ftr_etrace_line *line,
		      struct ftr_slice fields)
{
	const struct ftr_etrace_assembly *child;

	if (task->head != NULL && task->needs_end && task->rec.kind == FTR_ETRACE_CLONE)
		task->needs_end = false;
	else
		record_start(loader, task, head, line);
	fields_parse(loader, task, head, fields);
	annotate(task);
	child = ftr_hashmap_find(&loader->tasks, task->rec.peer);
	if (child != NULL && child->has_lines)
		ftr_etrace_violate(loader, loader->in->lineno,
				   "lines of the child %" PRIu64 " stand before this",
				   task->rec.peer);
	ftr_etrace_record_finish(loader, task);
}

static void whole_line(struct ftr_etrace_loader *loader, struct ftr_etrace_assembly *task,
		       const struct ftr_etrace_head *head, const struct ftr_etrace_line *line,
		       struct ftr_slice fields, bool is_failed)
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
	for (const struct ftr_etrace_tag *tag = head->texts; !is_failed && tag->tag[0] != '\0';
	     tag++)
		task->texts_expected |= BIT(tag->text);
	if (head->texts[0].tag[0] == '\0' && !task->needs_end)
		ftr_etrace_record_finish(loader, task);
	if (head->kind == FTR_ETRACE_EXIT)
		task->has_exited = true;
}

static const char *call_name(struct ftr_etrace_loader *loader, struct ftr_slice name)
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
void ftr_etrace_extension_line(struct ftr_etrace_loader *loader, struct ftr_etrace_assembly *task,
			       struct ftr_slice rest)
{
	struct ftr_slice item, name;
	int64_t number;

	task->error = task->signal = 0;
	task->flags = 0;
	task->took_ns = 0;
	task->done_ns = task->last_ns;
	while (rest.len > 0 && ftr_slice_split(&rest, ',', &item)) {
		ftr_slice_split(&item, '=', &name);
		if (ftr_slice_eq(name, "call") && item.len > 0 && item.len <= CALL_NAME_MAX)
			task->call = call_name(loader, item);
		else if (ftr_slice_eq(name, "flags") && ftr_parse_i64(item, &number) == 0)
			task->flags = number;
		else if (ftr_parse_i64(item, &number) < 0 || number < 0)
			ftr_etrace_violate(loader, loader->in->lineno,
					   "Ftr: a field that is no number");
		else if (ftr_slice_eq(name, "took"))
			task->took_ns = (uint64_t)number;
		else if (ftr_slice_eq(name, "error"))
			task->error = (int32_t)(number & 0xffff);
		else if (ftr_slice_eq(name, "signal"))
			task->signal = (int32_t)(number & 127);
	}
}

/* Lines with a head's tag.  False: it is none. */
bool ftr_etrace_head_line(struct ftr_etrace_loader *loader, struct ftr_etrace_assembly *task,
			  const struct ftr_etrace_line *line, struct ftr_slice tag,
			  struct ftr_slice rest)
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

void ftr_etrace_arguments_end(struct ftr_etrace_loader *loader, struct ftr_etrace_assembly *task)
{
	int64_t bytes = 0, left;

	ftr_etrace_text_close(loader, task);
	if (task->head == NULL || task->rec.kind != FTR_ETRACE_EXEC) {
		ftr_etrace_violate(loader, loader->in->lineno, "End_of_args without New_proc");
		return;
	}
	for (size_t i = 0; i < task->argv.nr; i++)
		bytes += (int64_t)task->argv.v[i].len + 1;
	left = task->sizes[FTR_ETRACE_ARGSIZE] - bytes;
	/* The last ones may be empty and left out: each is one byte of the announced size. */
	if (!task->rec.is_failed &&
	    (left < 0 || !ftr_etrace_push_empty(loader, task, (uint64_t)left)))
		ftr_etrace_violate(loader, task->lineno,
				   "the arguments have %" PRId64 " bytes, %" PRId64
				   " are announced",
				   bytes, task->sizes[FTR_ETRACE_ARGSIZE]);
	ftr_etrace_record_finish(loader, task);
}
