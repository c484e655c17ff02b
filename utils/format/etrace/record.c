/* SPDX-License-Identifier: MIT */
/* Records of the etrace text, put together from their heads (doc/ftr-etrace.5, "Records"). */
#include "utils/format/etrace/load.h"

#include <inttypes.h>
#include <string.h>

static void check_texts(struct ftr_etrace_loader *loader, struct ftr_etrace_assembly *task)
{
	for (unsigned slot = 0; slot < FTR_ETRACE_TEXTS; slot++) {
		bool has_size = (task->has_size & FTR_BIT(slot)) != 0;
		bool is_expected = (task->texts_expected & FTR_BIT(slot)) != 0;
		struct ftr_slice text;

		if (!has_size)
			continue;
		text = *ftr_etrace_text(&task->call, slot);
		if (text.s == NULL && is_expected)
			ftr_etrace_violate(loader, task->lineno,
					   "a text of %" PRId64 " bytes is missing",
					   task->sizes[slot]);
		else if (text.s != NULL && task->sizes[slot] != (int64_t)text.len)
			ftr_etrace_violate(loader, task->lineno,
					   "a text has %zu bytes, not the announced %" PRId64,
					   text.len, task->sizes[slot]);
	}
}

static void keep_arguments(struct ftr_etrace_loader *loader, struct ftr_etrace_assembly *task)
{
	size_t bytes = task->argv.nr * sizeof(*task->argv.v);
	struct ftr_slice *copy;

	if (task->argv.nr == 0)
		return;
	copy = ftr_arena_alloc(ftr_etrace_arena(loader, task), bytes);
	if (copy == NULL) {
		loader->has_failed = true;
		return;
	}
	memcpy(copy, task->argv.v, bytes);
	task->call.exec.argv = copy;
	task->call.exec.argc = task->argv.nr;
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
		ftr_etrace_violate(loader, task->lineno, "%s without its end", task->head->tag);
		task->call.is_failed = true;
	}
	if (task->call.kind == FTR_SYSCALL_EXEC)
		keep_arguments(loader, task);
	if (ftr_vec_push(&loader->log->calls, task->call) < 0)
		loader->has_failed = true;
	task->head = NULL;
	task->needs_end = false;
	task->has_size = 0;
	task->texts_expected = 0;
}

static bool text_is_whole(const struct ftr_etrace_assembly *task, unsigned slot)
{
	if ((task->has_size & FTR_BIT(slot)) == 0)
		return false;
	if (task->text == (int)slot)
		return !task->is_long && !task->in_cont &&
		       (int64_t)task->builder.len == task->sizes[slot];
	return ftr_etrace_text((struct ftr_syscall *)&task->call, slot)->s != NULL;
}

bool ftr_etrace_record_is_whole(const struct ftr_etrace_assembly *task)
{
	if (task->head == NULL || task->needs_end || task->call.kind == FTR_SYSCALL_EXEC)
		return false;
	for (unsigned slot = 0; slot < FTR_ETRACE_TEXTS; slot++) {
		if ((task->texts_expected & FTR_BIT(slot)) != 0 && !text_is_whole(task, slot))
			return false;
	}
	return true;
}

bool ftr_etrace_record_lacks(const struct ftr_etrace_assembly *task)
{
	if (task->needs_end || task->call.kind == FTR_SYSCALL_EXEC)	/* End_of_args ends that */
		return true;
	for (unsigned slot = 0; slot < FTR_ETRACE_TEXTS; slot++) {
		if ((task->texts_expected & task->has_size & FTR_BIT(slot)) != 0 &&
		    !text_is_whole(task, slot))
			return true;
	}
	return false;
}

static void record_start(struct ftr_etrace_loader *loader, struct ftr_etrace_assembly *task,
			 const struct ftr_etrace_head *head, const struct ftr_etrace_line *line)
{
	ftr_etrace_record_finish(loader, task);
	task->head = head;
	task->lineno = loader->in->lineno;
	task->call = (struct ftr_syscall){
		.upid = line->upid,
		.cpu = line->cpu,
		.kind = head->kind,
		.id = head->id,
		.start_ns = line->time_ns,
		.end_ns = line->time_ns,
	};
}

static void value_set(struct ftr_etrace_assembly *task, const struct ftr_etrace_field *field,
		      int64_t number)
{
	switch (field->value) {
	case FTR_ETRACE_NUMBER:
		*ftr_etrace_number(&task->call, field->at) = number;
		break;
	case FTR_ETRACE_SIZE:
		task->sizes[field->slot] = number;
		task->has_size |= FTR_BIT(field->slot);
		break;
	default:
		task->argument_bytes = number;
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
					   "%s: \"%.*s\" is not a field of it, or no number", head->tag,
					   (int)(name.len < 40 ? name.len : 40), name.s);
			continue;
		}
		seen |= FTR_BIT(field - head->fields);
		value_set(task, field, number);
	}
	for (field = head->fields; field->name != NULL; field++) {
		if (!field->is_optional && (seen & FTR_BIT(field - head->fields)) == 0)
			ftr_etrace_violate(loader, loader->in->lineno, "%s has no %s", head->tag,
					   field->name);
	}
}

static void set_extended_flags(struct ftr_syscall *call, int64_t flags)
{
	if (call->kind == FTR_SYSCALL_RENAME || call->kind == FTR_SYSCALL_LINK)
		call->rename.flags = flags;
	else if (call->kind == FTR_SYSCALL_MOUNT || call->kind == FTR_SYSCALL_UMOUNT)
		call->mount.flags = flags;
}

/* An Ftr line is about the record whose head comes next. */
static void annotate(struct ftr_etrace_assembly *task)
{
	struct ftr_syscall *call = &task->call;

	if (!task->has_extension)
		return;
	if (task->id != FTR_SYSID_NONE && ftr_sysid_is_of_kind(task->id, call->kind))
		call->id = task->id;
	if (task->flags != 0)
		set_extended_flags(call, task->flags);
	if (call->kind == FTR_SYSCALL_EXIT)
		call->exit.signal = task->signal;
	call->error = task->error;
	call->stack = task->stack;
	call->end_ns = task->done_ns;
	if (task->took_ns <= call->end_ns)
		call->start_ns = call->end_ns - task->took_ns;
	task->has_extension = false;
}

/* Does a To or Failed of @kind end the record that is being read? */
static bool head_ends(const struct ftr_etrace_assembly *task, const struct ftr_etrace_head *head)
{
	if (task->head == NULL || task->call.kind != head->kind)
		return false;
	if (head->kind == FTR_SYSCALL_MOUNT || head->kind == FTR_SYSCALL_UMOUNT)
		return !task->call.is_failed && !task->has_extension; /* else a call of its own */
	return task->needs_end;
}

static void end_line(struct ftr_etrace_loader *loader, struct ftr_etrace_assembly *task,
		     const struct ftr_etrace_head *head, const struct ftr_etrace_line *line,
		     struct ftr_slice fields)
{
	if (head_ends(task, head)) {
		ftr_etrace_text_close(loader, task);
		task->needs_end = false;
		if (head->kind == FTR_SYSCALL_RENAME || head->kind == FTR_SYSCALL_LINK)
			task->call.end_ns = line->time_ns;
	} else {
		if (head->role == FTR_ETRACE_TO || head->kind == FTR_SYSCALL_CLONE)
			ftr_etrace_violate(loader, loader->in->lineno, "%s without its beginning",
					   head->tag);
		record_start(loader, task, head, line);
	}
	fields_parse(loader, task, head, fields);
	annotate(task);
	task->head = head;
	task->call.is_failed = head->role == FTR_ETRACE_FAILED;
	for (const struct ftr_etrace_tag *tag = head->texts; tag->tag[0] != '\0'; tag++)
		task->texts_expected |= FTR_BIT(tag->slot);
	if (head->texts[0].tag[0] == '\0')
		ftr_etrace_record_finish(loader, task);
}

/* A SchedFork that is the second half of a clone. */
static void fork_line(struct ftr_etrace_loader *loader, struct ftr_etrace_assembly *task,
		      const struct ftr_etrace_head *head, const struct ftr_etrace_line *line,
		      struct ftr_slice fields)
{
	struct ftr_etrace_assembly *child;

	if (task->head != NULL && task->needs_end && task->call.kind == FTR_SYSCALL_CLONE)
		task->needs_end = false;
	else
		record_start(loader, task, head, line);
	fields_parse(loader, task, head, fields);
	annotate(task);
	child = ftr_etrace_assembly_get(loader, (uint64_t)task->call.fork.child);
	if (child == NULL) {
		loader->has_failed = true;
		return;
	}
	child->is_announced = true;
	if (child->has_lines)
		ftr_etrace_violate(loader, loader->in->lineno,
				   "lines of the child %" PRIu64 " come before this",
				   task->call.fork.child);
	ftr_etrace_record_finish(loader, task);
}

static void whole_line(struct ftr_etrace_loader *loader, struct ftr_etrace_assembly *task,
		       const struct ftr_etrace_head *head, const struct ftr_etrace_line *line,
		       struct ftr_slice fields, bool is_failed)
{
	record_start(loader, task, head, line);
	fields_parse(loader, task, head, fields);
	if (head->role == FTR_ETRACE_FROM && head->kind != FTR_SYSCALL_CLONE)
		task->needs_end = true;
	else
		annotate(task);
	if (head->kind == FTR_SYSCALL_CLONE)
		task->needs_end = true;
	task->call.is_failed = is_failed;
	for (const struct ftr_etrace_tag *tag = head->texts; !is_failed && tag->tag[0] != '\0';
	     tag++)
		task->texts_expected |= FTR_BIT(tag->slot);
	if (head->texts[0].tag[0] == '\0' && !task->needs_end)
		ftr_etrace_record_finish(loader, task);
	if (head->kind == FTR_SYSCALL_EXIT)
		task->has_exited = true;
}

/* "Ftr|call=openat,took=123,error=2": of the next record. */
void ftr_etrace_extension_line(struct ftr_etrace_loader *loader, struct ftr_etrace_assembly *task,
			       struct ftr_slice rest)
{
	struct ftr_slice item, name;
	int64_t number;

	task->error = task->signal = 0;
	task->stack = 0;
	task->flags = 0;
	task->id = FTR_SYSID_NONE;
	task->took_ns = 0;
	task->done_ns = task->last_ns;
	while (rest.len > 0 && ftr_slice_split(&rest, ',', &item)) {
		ftr_slice_split(&item, '=', &name);
		if (ftr_slice_eq(name, "call")) {
			task->id = (uint8_t)ftr_sysid_find(item);
			task->has_extension = true;
			continue;
		}
		if (ftr_slice_eq(name, "flags") && ftr_parse_i64(item, &number) == 0)
			task->flags = number;
		else if (ftr_parse_i64(item, &number) < 0 || number < 0)
			ftr_etrace_violate(loader, loader->in->lineno,
					   "Ftr: a field is not a number");
		else if (ftr_slice_eq(name, "took"))
			task->took_ns = (uint64_t)number;
		else if (ftr_slice_eq(name, "error"))
			task->error = (int32_t)(number & 0xffff);
		else if (ftr_slice_eq(name, "signal"))
			task->signal = (int32_t)(number & 127);
		else if (ftr_slice_eq(name, "stack"))
			task->stack = (uint32_t)(number & UINT32_MAX);
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
	else if (head->kind == FTR_SYSCALL_FORK)
		fork_line(loader, task, head, line, rest);
	else
		whole_line(loader, task, head, line, rest, is_failed);
	return true;
}

void ftr_etrace_arguments_end(struct ftr_etrace_loader *loader, struct ftr_etrace_assembly *task)
{
	int64_t bytes = 0, left;

	ftr_etrace_text_close(loader, task);
	if (task->head == NULL || task->call.kind != FTR_SYSCALL_EXEC) {
		ftr_etrace_violate(loader, loader->in->lineno, "End_of_args without New_proc");
		return;
	}
	for (size_t i = 0; i < task->argv.nr; i++)
		bytes += (int64_t)task->argv.v[i].len + 1;
	left = task->argument_bytes - bytes;
	/* The last ones may be empty and left out: each is one byte of the announced size. */
	if (!task->call.is_failed &&
	    (left < 0 || !ftr_etrace_push_empty(loader, task, (uint64_t)left)))
		ftr_etrace_violate(loader, task->lineno,
				   "the arguments have %" PRId64 " bytes, %" PRId64
				   " are announced",
				   bytes, task->argument_bytes);
	ftr_etrace_record_finish(loader, task);
}
