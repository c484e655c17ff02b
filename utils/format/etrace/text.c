/* SPDX-License-Identifier: MIT */
/* Texts of the etrace text, put together from their lines (doc/ftr-etrace.5, "Texts"). */
#include "utils/format/etrace/load.h"

#include <inttypes.h>
#include <string.h>

#define MISSING_ARGUMENTS_MAX 4096 /* empty ones may be left out; more are damage */
#define MISSING_FREE 1000u	/* so many in all, and one for each byte of text */

static struct ftr_slice keep_text(struct ftr_etrace_loader *loader,
				  struct ftr_etrace_assembly *task)
{
	const struct ftr_strbuf *text = &task->builder;
	char *copy = ftr_arena_strndup(ftr_etrace_arena(loader, task), ftr_strbuf_str(text),
				       text->len);

	if (copy == NULL || text->failed)
		loader->has_failed = true;
	return ftr_slice_make(copy != NULL ? copy : "", copy != NULL ? text->len : 0);
}

static void push_argument(struct ftr_etrace_loader *loader, struct ftr_etrace_assembly *task,
			  struct ftr_slice text)
{
	if (ftr_vec_push(&task->argv, text) < 0)
		loader->has_failed = true;
}

/* The text being read is whole. */
void ftr_etrace_text_close(struct ftr_etrace_loader *loader, struct ftr_etrace_assembly *task)
{
	struct ftr_slice text;

	if (task->text == FTR_ETRACE_NO_TEXT)
		return;
	if (task->in_cont)
		ftr_etrace_violate(loader, loader->in->lineno,
				   "Cont_end is missing before this line");
	text = keep_text(loader, task);
	if (task->text == FTR_ETRACE_ARGUMENT)
		push_argument(loader, task, text);
	else
		*ftr_etrace_text(&task->call, (unsigned)task->text) = text;
	task->text = FTR_ETRACE_NO_TEXT;
	task->in_cont = false;
}

static void text_start(struct ftr_etrace_loader *loader, struct ftr_etrace_assembly *task,
		       int index, bool is_long)
{
	ftr_etrace_text_close(loader, task);
	task->text = index;
	task->is_long = is_long;
	task->part = is_long ? 1 : 0;
	ftr_strbuf_clear(&task->builder);
}

/* Damage must not ask for more memory than the text before it, whose end is not known here. */
bool ftr_etrace_push_empty(struct ftr_etrace_loader *loader, struct ftr_etrace_assembly *task,
			   uint64_t nr)
{
	if (nr > MISSING_ARGUMENTS_MAX ||
	    nr > MISSING_FREE + ftr_istream_offset(loader->in) - loader->made_up_nr)
		return false;
	loader->made_up_nr += nr;
	for (; nr > 0 && !loader->has_failed; nr--)
		push_argument(loader, task, (struct ftr_slice){ "", 0 });
	return true;
}

/* Empty arguments may be left out: fill up to the one of this index. */
static bool arguments_fill(struct ftr_etrace_loader *loader, struct ftr_etrace_assembly *task,
			   uint64_t index)
{
	if (index >= task->argv.nr && ftr_etrace_push_empty(loader, task, index - task->argv.nr))
		return true;
	ftr_etrace_violate(loader, loader->in->lineno, "A[%" PRIu64 "] cannot follow %zu arguments",
			   index, task->argv.nr);
	return false;
}

static void argument_line(struct ftr_etrace_loader *loader, struct ftr_etrace_assembly *task,
			  uint64_t index, struct ftr_slice chunk)
{
	if (task->text == FTR_ETRACE_ARGUMENT && task->part == index) {
		ftr_strbuf_put(&task->builder, chunk.s, chunk.len);
		return;
	}
	ftr_etrace_text_close(loader, task);
	if (!arguments_fill(loader, task, index))
		return;
	text_start(loader, task, FTR_ETRACE_ARGUMENT, true);
	task->part = index;
	ftr_strbuf_put(&task->builder, chunk.s, chunk.len);
}

static void part_line(struct ftr_etrace_loader *loader, struct ftr_etrace_assembly *task, int index,
		      uint64_t part, struct ftr_slice chunk)
{
	if (part == 0) {
		text_start(loader, task, index, true);
	} else if (task->text == index && task->is_long) {
		if (part != task->part)
			ftr_etrace_violate(loader, loader->in->lineno,
					   "part %" PRIu64 ", expected part %" PRIu64,
					   part, task->part);
		task->part = part + 1;
	} else {
		ftr_etrace_violate(loader, loader->in->lineno,
				   "part %" PRIu64 " of a text that has no part 0", part);
		text_start(loader, task, index, true);
		task->part = part + 1;
	}
	ftr_strbuf_put(&task->builder, chunk.s, chunk.len);
}

void ftr_etrace_cont_line(struct ftr_etrace_loader *loader, struct ftr_etrace_assembly *task,
			  struct ftr_slice chunk)
{
	if (task->text == FTR_ETRACE_NO_TEXT) {
		ftr_etrace_violate(loader, loader->in->lineno, "Cont without a text to continue");
		return;
	}
	task->in_cont = true;
	ftr_strbuf_putc(&task->builder, '\n');
	ftr_strbuf_put(&task->builder, chunk.s, chunk.len);
}

void ftr_etrace_cont_end_line(struct ftr_etrace_loader *loader, struct ftr_etrace_assembly *task)
{
	if (!task->in_cont)
		ftr_etrace_violate(loader, loader->in->lineno, "Cont_end without a Cont");
	task->in_cont = false;
}

/* The text of this tag in the record being read, or FTR_ETRACE_NO_TEXT. */
static int text_of_tag(const struct ftr_etrace_assembly *task, struct ftr_slice tag)
{
	if (task->head == NULL)
		return FTR_ETRACE_NO_TEXT;
	if (task->call.kind == FTR_SYSCALL_EXEC && ftr_slice_eq(tag, "A"))
		return FTR_ETRACE_ARGUMENT;
	for (const struct ftr_etrace_tag *text = task->head->texts; text->tag[0] != '\0'; text++) {
		if (ftr_slice_eq(tag, text->tag))
			return text->slot;
	}
	return FTR_ETRACE_NO_TEXT;
}

void ftr_etrace_text_end_line(struct ftr_etrace_loader *loader, struct ftr_etrace_assembly *task,
			      struct ftr_slice tag)
{
	int index = text_of_tag(task, ftr_slice_make(tag.s, tag.len - 4));

	if (index == FTR_ETRACE_NO_TEXT || index != task->text || !task->is_long)
		ftr_etrace_violate(loader, loader->in->lineno, "%.*s without a text to end",
				   (int)tag.len, tag.s);
	else
		ftr_etrace_text_close(loader, task);
}

/* "FN|text", "FN[1]text": @rest begins with the bar or the bracket. */
void ftr_etrace_text_line(struct ftr_etrace_loader *loader, struct ftr_etrace_assembly *task,
			  struct ftr_slice tag, struct ftr_slice rest)
{
	int index = text_of_tag(task, tag);
	struct ftr_slice number;
	uint64_t part = 0;

	if (index == FTR_ETRACE_NO_TEXT) {
		ftr_etrace_violate(loader, loader->in->lineno, "%.*s is not part of a record",
				   (int)tag.len, tag.s);
		return;
	}
	if (rest.s[0] == '|' && index != FTR_ETRACE_ARGUMENT) {
		text_start(loader, task, index, false);
		ftr_strbuf_put(&task->builder, rest.s + 1, rest.len - 1);
		return;
	}
	rest = ftr_slice_make(rest.s + 1, rest.len - 1);
	ftr_slice_split(&rest, ']', &number);
	if (ftr_parse_u64(number, 10, &part) < 0)
		ftr_etrace_violate(loader, loader->in->lineno, "%.*s has no part number",
				   (int)tag.len, tag.s);
	else if (index == FTR_ETRACE_ARGUMENT)
		argument_line(loader, task, part, rest);
	else
		part_line(loader, task, index, part, rest);
}
