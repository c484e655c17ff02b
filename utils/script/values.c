/* SPDX-License-Identifier: MIT */
/* See values.h. */
#include "utils/script/values.h"

#include <errno.h>
#include <string.h>

#include "utils/base/bits.h"
#include "utils/trace/args.h"
#include "utils/trace/args_text.h"

/* Below 0 in a register of 32 bits, as replay shows it. */
#define SMALL_NEGATIVE UINT64_C(0xffff0000)

void ftr_script_values_init(struct ftr_script_values *values)
{
	*values = (struct ftr_script_values){ .list = { 0 } };
	ftr_strbuf_init(&values->texts);
}

void ftr_script_values_fini(struct ftr_script_values *values)
{
	ftr_vec_fini(&values->list);
	ftr_strbuf_fini(&values->texts);
}

static int64_t auto_number(const struct ftr_value *value)
{
	size_t bytes = value->arg->size;

	if (bytes < sizeof(uint64_t))
		return ftr_sign_extend(value->u, bytes);
	if (value->u > SMALL_NEGATIVE && value->u <= UINT32_MAX)
		return (int32_t)value->u;
	return (int64_t)value->u;
}

/* A text in values->texts: where it begins, since it may move until all are there. */
static struct ftr_script_value text_from(size_t at)
{
	return (struct ftr_script_value){ .kind = FTR_SCRIPT_TEXT, .text = { NULL, at } };
}

static struct ftr_script_value string_of(const struct ftr_value *value)
{
	const char *s = value->str.s;
	size_t len = value->str.len;

	if (len == sizeof(uint32_t) && memcmp(s, "\xff\xff\xff\xff", len) == 0)
		return (struct ftr_script_value){ .kind = FTR_SCRIPT_TEXT, .text = { "NULL", 4 } };
	return (struct ftr_script_value){ .kind = FTR_SCRIPT_TEXT, .text = { s, strnlen(s, len) } };
}

static struct ftr_script_value value_of(struct ftr_script_values *values,
					const struct ftr_value *value, const struct ftr_event *ev,
					const struct ftr_trace *trace)
{
	size_t at = values->texts.len;

	switch (value->arg->format) {
	case FTR_ARG_AUTO:
		return (struct ftr_script_value){ FTR_SCRIPT_SIGNED, { .i = auto_number(value) } };
	case FTR_ARG_SIGNED:
		return (struct ftr_script_value){ FTR_SCRIPT_SIGNED, { .i = value->i } };
	case FTR_ARG_ENUM:
		return (struct ftr_script_value){ FTR_SCRIPT_SIGNED, {
			.i = ftr_sign_extend(value->u, value->arg->size) } };
	case FTR_ARG_FLOAT:
		return (struct ftr_script_value){ FTR_SCRIPT_FLOAT, { .f = (double)value->f } };
	case FTR_ARG_STRING:
	case FTR_ARG_WORD:
		return string_of(value);
	case FTR_ARG_CHAR:
		ftr_strbuf_putc(&values->texts, (char)value->i);
		return text_from(at);
	case FTR_ARG_STRUCT:
		ftr_event_value_text(ev, value, trace, &values->texts);
		return text_from(at);
	case FTR_ARG_NULL:
		return (struct ftr_script_value){ .kind = FTR_SCRIPT_NOTHING };
	default:
		return (struct ftr_script_value){ FTR_SCRIPT_UNSIGNED, { .u = value->u } };
	}
}

/* Each text ends where the next one begins. */
static void texts_place(struct ftr_script_values *values)
{
	const char *s = ftr_strbuf_str(&values->texts);
	size_t end = values->texts.len;

	for (size_t i = values->list.nr; i-- > 0;) {
		struct ftr_script_value *value = &values->list.v[i];
		size_t at = value->text.len;

		if (value->kind != FTR_SCRIPT_TEXT || value->text.s != NULL)
			continue;
		value->text.s = s + at;
		value->text.len = end - at;
		end = at;
	}
}

int ftr_script_values_decode(struct ftr_script_values *values, const struct ftr_event *ev,
			     const struct ftr_trace *trace)
{
	unsigned nr = 0, pos = 0;
	struct ftr_value value;

	values->list.nr = 0;
	ftr_strbuf_clear(&values->texts);
	while (ev->payload != NULL && ftr_payload_next(ev->payload, &nr, &pos, &value))
		if (ftr_vec_push(&values->list, value_of(values, &value, ev, trace)) < 0)
			return -ENOMEM;
	texts_place(values);
	return values->texts.failed ? -ENOMEM : 0;
}

int ftr_script_values_set_text(struct ftr_script_values *values)
{
	values->list.nr = 0;
	if (ftr_vec_push(&values->list, text_from(0)) < 0)
		return -ENOMEM;
	texts_place(values);
	return values->texts.failed ? -ENOMEM : 0;
}
