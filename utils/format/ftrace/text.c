/* SPDX-License-Identifier: MIT */
/*
 * Tracepoints as text: by the steps of their print fmt (print.h), or by libtraceevent, which
 * follows a print fmt wherever it leads, so what could lead out of the record is not followed, and
 * the record is copied to where zeros are behind it.
 */
#include <errno.h>
#include <event-parse.h>
#include <stdlib.h>
#include <string.h>
#include <trace-seq.h>

#include "utils/base/bits.h"
#include "utils/base/text.h"
#include "utils/format/ftrace/ftrace.h"
#include "utils/format/ftrace/print.h"

#define RECORD_BYTES_MAX FTR_BIT(16)	/* fields lie in as many */
#define BEYOND_BYTES FTR_BIT(19)	/* 65535 elements of 8 bytes */
#define COUNT_MAX 65535
#define DEPTH_MAX 64				/* of a print fmt's terms */

struct ftr_ftrace_text {
	struct trace_seq seq;
	uint32_t used;			/* bytes of the record before: to be zeroed */
	uint8_t record[RECORD_BYTES_MAX + BEYOND_BYTES];
};

static bool term_is_constant(const struct tep_print_arg *arg, uint64_t min, uint64_t max)
{
	uint64_t value;
	char *end;

	if (arg == NULL || arg->type != TEP_PRINT_ATOM || arg->atom.atom == NULL)
		return false;
	value = strtoull(arg->atom.atom, &end, 0);
	return end != arg->atom.atom && value >= min && value <= max;
}

/*
 * How many elements: a constant, the length of a field, perhaps divided, or a number of two bytes.
 */
static bool count_is_safe(const struct tep_event *event, const struct tep_print_arg *arg)
{
	const struct tep_format_field *field;

	if (arg == NULL)
		return true;
	if (arg->type == TEP_PRINT_OP && arg->op.op != NULL && arg->op.op[0] == '/' &&
	    term_is_constant(arg->op.right, 1, COUNT_MAX))
		arg = arg->op.left;
	if (arg->type == TEP_PRINT_DYNAMIC_ARRAY_LEN)
		return true;
	if (arg->type == TEP_PRINT_FIELD && arg->field.name != NULL) {
		field = tep_find_any_field((struct tep_event *)(uintptr_t)event, arg->field.name);
		return field != NULL && field->size <= 2 && !(field->flags & TEP_FIELD_IS_SIGNED);
	}
	return term_is_constant(arg, 0, COUNT_MAX);
}

static bool term_is_safe(const struct tep_event *event, const struct tep_print_arg *arg, int depth);

static bool index_is_safe(const struct tep_event *event, const struct tep_print_arg *array,
			  const struct tep_print_arg *index)
{
	while (array != NULL && array->type == TEP_PRINT_TYPE)
		array = array->typecast.item;
	return array != NULL &&
	       (array->type == TEP_PRINT_FIELD || array->type == TEP_PRINT_DYNAMIC_ARRAY) &&
	       term_is_constant(index, 0, COUNT_MAX);
}

static bool operation_is_safe(const struct tep_event *event, const struct tep_print_arg *arg,
			      int depth)
{
	const char *op = arg->op.op;

	if (op == NULL)
		return false;
	if (op[0] == '[')
		return index_is_safe(event, arg->op.left, arg->op.right);
	if ((op[0] == '/' || op[0] == '%') && !term_is_constant(arg->op.right, 1, INT32_MAX))
		return false;
	return (arg->op.left == NULL || term_is_safe(event, arg->op.left, depth)) &&
	       (arg->op.right == NULL || term_is_safe(event, arg->op.right, depth));
}

static bool terms_are_safe(const struct tep_event *event, const struct tep_print_arg *arg,
			   int depth)
{
	for (; arg != NULL; arg = arg->next) {
		if (!term_is_safe(event, arg, depth))
			return false;
	}
	return true;
}

static bool term_is_safe(const struct tep_event *event, const struct tep_print_arg *arg, int depth)
{
	if (arg == NULL || depth++ >= DEPTH_MAX)
		return false;
	switch (arg->type) {
	case TEP_PRINT_FLAGS:
		return term_is_safe(event, arg->flags.field, depth);
	case TEP_PRINT_SYMBOL:
		return term_is_safe(event, arg->symbol.field, depth);
	case TEP_PRINT_HEX:
	case TEP_PRINT_HEX_STR:
		return term_is_safe(event, arg->hex.field, depth) &&
		       count_is_safe(event, arg->hex.size);
	case TEP_PRINT_INT_ARRAY:
		return term_is_safe(event, arg->int_array.field, depth) &&
		       count_is_safe(event, arg->int_array.count) &&
		       term_is_constant(arg->int_array.el_size, 1, 8);
	case TEP_PRINT_TYPE:
		return term_is_safe(event, arg->typecast.item, depth);
	case TEP_PRINT_OP:
		return operation_is_safe(event, arg, depth);
	case TEP_PRINT_FUNC:
		return terms_are_safe(event, arg->func.args, depth);
	case TEP_PRINT_DYNAMIC_ARRAY:
		return arg->dynarray.index == NULL ||
		       term_is_constant(arg->dynarray.index, 0, COUNT_MAX);
	case TEP_PRINT_BSTRING:
		return false;
	default:
		return true;
	}
}

bool ftr_ftrace_is_printable(const struct tep_event *event)
{
	const int special = TEP_EVENT_FL_ISBPRINT | TEP_EVENT_FL_ISFUNCENT |
			    TEP_EVENT_FL_ISFUNCRET | (int)TEP_EVENT_FL_FAILED;

	return (event->flags & special) == 0 && terms_are_safe(event, event->print_fmt.args, 0);
}

static struct ftr_ftrace_text *text_new(void)
{
	struct ftr_ftrace_text *text = calloc(1, sizeof(*text));

	if (text != NULL)
		trace_seq_init(&text->seq);
	return text;
}

void ftr_ftrace_text_free(struct ftr_ftrace_text *text)
{
	if (text == NULL)
		return;
	trace_seq_destroy(&text->seq);
	free(text);
}

static void record_take(struct ftr_ftrace_text *text, const struct ftr_ftrace_page *page)
{
	uint32_t bytes = page->bytes < RECORD_BYTES_MAX ? page->bytes : RECORD_BYTES_MAX;

	memcpy(text->record, page->data, bytes);
	if (bytes < text->used)
		memset(text->record + bytes, 0, text->used - bytes);
	text->used = bytes;
}

/* A payload holds no more than 64 KiB. */
static struct ftr_slice line_of(const char *text, size_t len)
{
	struct ftr_slice line = ftr_slice_trim(ftr_slice_make(text, len));

	if (line.len > UINT16_MAX)
		line.len = UINT16_MAX;
	return line;
}

/* Records of trace_printk have a print fmt of their own, which is somewhere in the kernel. */
static bool record_is_printable(const struct ftr_ftrace *ftrace,
				const struct ftr_ftrace_page *page,
				const struct ftr_ftrace_event *event)
{
	if (event->printk.bytes == 0)
		return event->is_printable;
	return ftr_hashmap_find(&ftrace->printks, ftr_ftrace_number(page, event->printk)) != NULL;
}

int ftr_ftrace_text_by_library(struct ftr_ftrace *ftrace, const struct ftr_ftrace_page *page,
			       const struct ftr_ftrace_event *event, struct ftr_strbuf *out)
{
	struct tep_record record = { .ts = page->time_ns };
	struct ftr_slice line;
	struct trace_seq *seq;

	if (ftrace->text == NULL)
		ftrace->text = text_new();
	if (ftrace->text == NULL)
		return -ENOMEM;
	record_take(ftrace->text, page);
	record.data = ftrace->text->record;
	record.size = (int)(ftrace->text->used > event->rest_offset ? ftrace->text->used :
								      event->rest_offset);
	record.record_size = record.size;
	seq = &ftrace->text->seq;
	trace_seq_reset(seq);
	if (record_is_printable(ftrace, page, event))
		tep_print_event(ftrace->tep, seq, &record, "%s", TEP_PRINT_INFO);
	else
		tep_record_print_fields(seq, &record, event->tep);
	if (seq->state != TRACE_SEQ__GOOD)	/* its buffer is gone */
		return -ENOMEM;
	line = line_of(seq->buffer, seq->len);
	ftr_strbuf_put(out, line.s, line.len);
	return out->failed ? -ENOMEM : 0;
}

int ftr_ftrace_text(struct ftr_ftrace *ftrace, const struct ftr_ftrace_page *page,
		    const struct ftr_ftrace_event *event, struct ftr_strbuf *out)
{
	size_t start = out->len;
	struct ftr_slice line;

	if (event->print == NULL)
		return ftr_ftrace_text_by_library(ftrace, page, event, out);
	if (!ftr_ftrace_print_run(event->print, ftrace, page, out))
		return -ENOMEM;
	line = line_of(out->s + start, out->len - start);
	if (line.len > 0 && line.s != out->s + start)
		memmove(out->s + start, line.s, line.len);
	out->len = start + line.len;
	out->s[out->len] = '\0';
	return 0;
}
