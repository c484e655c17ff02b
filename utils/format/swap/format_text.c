/* SPDX-License-Identifier: MIT */
/* Values as text: all that the bytes say, so that parse_text.c finds them again. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "utils/format/swap/codec.h"

struct formatter {
	const struct swap_value *next, *end;
	struct ftr_strbuf *text;
};

static const struct swap_value *take(struct formatter *f)
{
	static const struct swap_value none = { .s = "" };

	return f->next < f->end ? f->next++ : &none;
}

static void put_quoted(struct ftr_strbuf *text, const char *s, uint32_t len)
{
	ftr_strbuf_putc(text, '"');
	for (uint32_t i = 0; i < len; i++) {
		unsigned char c = (unsigned char)s[i];

		if (c == '"' || c == '\\')
			ftr_strbuf_printf(text, "\\%c", c);
		else if (c < ' ' || c == 0x7f)
			ftr_strbuf_printf(text, "\\x%02x", c);
		else
			ftr_strbuf_putc(text, (char)c);
	}
	ftr_strbuf_putc(text, '"');
}

static void put_hex(struct ftr_strbuf *text, const char *s, uint32_t len)
{
	for (uint32_t i = 0; i < len; i++)
		ftr_strbuf_printf(text, "%02x", (unsigned char)s[i]);
}

/* What digits cannot give back is shown as bits. */
static void put_float(struct ftr_strbuf *text, uint64_t raw)
{
	uint32_t bits = (uint32_t)raw;
	float number;

	memcpy(&number, &bits, sizeof(number));
	if (isfinite(number))
		ftr_strbuf_printf(text, "%.9g", (double)number);
	else
		ftr_strbuf_printf(text, "bits:%" PRIx32, bits);
}

static void put_double(struct ftr_strbuf *text, uint64_t bits)
{
	double number;

	memcpy(&number, &bits, sizeof(number));
	if (isfinite(number))
		ftr_strbuf_printf(text, "%.17g", number);
	else
		ftr_strbuf_printf(text, "bits:%" PRIx64, bits);
}

static void put_time(struct ftr_strbuf *text, uint64_t time)
{
	if ((uint32_t)time < SWAP_NS_PER_S)
		ftr_strbuf_printf(text, "%" PRIu32 ".%09" PRIu32, swap_time_seconds(time),
				  (uint32_t)time);
	else
		ftr_strbuf_printf(text, "bits:%" PRIx64, time);
}

static void put_number(struct ftr_strbuf *text, const struct swap_field *field, uint64_t number)
{
	size_t len = 0;
	const char *word = swap_word_find(field->words, number, &len);

	ftr_strbuf_printf(text, "%" PRIu64, number);
	if (word != NULL)
		ftr_strbuf_printf(text, "(%.*s)", (int)len, word);
}

static void put_arg(struct ftr_strbuf *text, const struct swap_value *value)
{
	ftr_strbuf_printf(text, "%c:", value->type);
	switch (value->type) {
	case 'c':
	case 'b':
		ftr_strbuf_printf(text, "%u", (unsigned)(value->u & 0xff));
		break;
	case 'd':
		ftr_strbuf_printf(text, "%" PRId32, (int32_t)value->u);
		break;
	case 'x':
		ftr_strbuf_printf(text, "%" PRId64, (int64_t)value->u);
		break;
	case 'p':
		ftr_strbuf_printf(text, "0x%" PRIx64, value->u);
		break;
	case 'f':
		put_float(text, value->u);
		break;
	case 'w':
		put_double(text, value->u);
		break;
	case 's':
		put_quoted(text, value->s, value->len);
		break;
	case 'D':
	case 'F':
	case 'W':
		put_hex(text, value->s, value->len);
		break;
	default:
		break;
	}
}

static void put_value(struct formatter *f, const struct swap_field *field)
{
	const struct swap_value *value = take(f);

	switch ((enum swap_kind)field->kind) {
	case SWAP_ADDR:
		ftr_strbuf_printf(f->text, "0x%" PRIx64, value->u);
		break;
	case SWAP_FLOAT:
	case SWAP_PER_CPU:
		put_float(f->text, value->u);
		break;
	case SWAP_DOUBLE:
		put_double(f->text, value->u);
		break;
	case SWAP_TIME:
		put_time(f->text, value->u);
		break;
	case SWAP_STR:
		put_quoted(f->text, value->s, value->len);
		break;
	case SWAP_ARG:
	case SWAP_ARGS:
		put_arg(f->text, value);
		break;
	case SWAP_BYTES:
	case SWAP_REST:
		put_hex(f->text, value->s, value->len);
		break;
	default:
		put_number(f->text, field, value->u);
		break;
	}
}

static void format_rows(struct formatter *f, const struct swap_field *field, uint32_t nr);

static void put_list(struct formatter *f, const struct swap_field *field)
{
	uint64_t nr = take(f)->u;

	ftr_strbuf_putc(f->text, '[');
	for (uint64_t i = 0; i < nr && f->next < f->end; i++) {
		if (i > 0)
			ftr_strbuf_putc(f->text, ' ');
		if (field->rows == 0) {
			put_value(f, field);
			continue;
		}
		ftr_strbuf_putc(f->text, '{');
		format_rows(f, field + 1, field->rows);
		ftr_strbuf_putc(f->text, '}');
	}
	ftr_strbuf_putc(f->text, ']');
}

static void format_rows(struct formatter *f, const struct swap_field *field, uint32_t nr)
{
	const char *separator = "";

	for (uint32_t i = 0; i < nr; i += 1u + field[i].rows) {
		/* A field with a condition is there when its value is. */
		if (field[i].when != 0 && (f->next == f->end || f->next->field != &field[i]))
			continue;
		ftr_strbuf_printf(f->text, "%s%s=", separator, field[i].name);
		separator = " ";
		if (swap_is_list(field[i].kind))
			put_list(f, &field[i]);
		else
			put_value(f, &field[i]);
	}
}

void swap_format(const struct swap_message *message, const struct swap_values *values,
		 struct ftr_strbuf *text)
{
	struct formatter f = { values->all.v, values->all.v + values->all.nr, text };

	format_rows(&f, message->fields, message->field_nr);
}
