/* SPDX-License-Identifier: MIT */
/* Values to the bytes of a payload. */
#include <string.h>

#include "utils/base/bytes.h"
#include "utils/format/swap/codec.h"

struct encoder {
	const struct swap_value *next, *end;
	const struct swap_layout *layout;
	struct ftr_strbuf *to;
	uint32_t selected;	/* bit of the selector's value; 0 = none of 0..31 */
	uint64_t number;	/* the last one */
};

static const struct swap_value *take(struct encoder *e)
{
	return e->next < e->end ? e->next++ : NULL;
}

static void put_number(struct encoder *e, uint64_t number, size_t bytes)
{
	uint8_t raw[8];

	ftr_put_u64(raw, number, false);
	ftr_strbuf_put(e->to, raw, bytes);
}

static int number_field(struct encoder *e, const struct swap_field *field, size_t bytes)
{
	const struct swap_value *value = take(e);

	if (value == NULL || value->type != '\0')
		return -EINVAL;
	if (field->is_selector)
		e->selected = swap_selector_bit(value->u);
	e->number = value->u;
	put_number(e, value->u, bytes);
	return 0;
}

static int time_field(struct encoder *e)
{
	const struct swap_value *value = take(e);
	uint8_t raw[8];

	if (value == NULL)
		return -EINVAL;
	swap_time_put(raw, value->u, e->layout->time_form);
	ftr_strbuf_put(e->to, raw, sizeof(raw));
	return 0;
}

/* Up to a NUL within it, if it has one: that would end it for a reader. */
static void put_text(struct encoder *e, const struct swap_value *value)
{
	size_t len = value->s == NULL ? 0 : strnlen(value->s, value->len);

	ftr_strbuf_put(e->to, value->s == NULL ? "" : value->s, len);
	ftr_strbuf_putc(e->to, '\0');
}

static int bytes_field(struct encoder *e, const struct swap_field *field)
{
	const struct swap_value *value = take(e);

	if (value == NULL || value->type != '\0' ||
	    (field->kind == SWAP_BYTES && value->len != e->number))
		return -EINVAL;
	if (field->kind == SWAP_STR)
		put_text(e, value);
	else if (value->len > 0)
		ftr_strbuf_put(e->to, value->s, value->len);
	return 0;
}

static int arg_value(struct encoder *e)
{
	const struct swap_value *value = take(e);
	int bytes = value == NULL ? -2 : swap_arg_bytes(value->type);

	if (bytes < -1)
		return -EINVAL;
	ftr_strbuf_putc(e->to, value->type);
	if (bytes >= 0)
		put_number(e, value->u, (size_t)bytes);
	else if (value->type == 's')
		put_text(e, value);
	else
		ftr_strbuf_put(e->to, value->s, value->len);
	return 0;
}

static int args_field(struct encoder *e)
{
	const struct swap_value *value = take(e);
	int ret = 0;

	if (value == NULL || value->type != '\0')
		return -EINVAL;
	put_number(e, value->u, 4);
	for (uint64_t i = 0; ret == 0 && i < value->u; i++)
		ret = arg_value(e);
	return ret;
}

static int words_field(struct encoder *e, const struct swap_field *field)
{
	const struct swap_value *value = take(e);
	int ret = value == NULL ? -EINVAL : 0;

	for (uint64_t i = 0; ret == 0 && i < value->u; i++)
		ret = number_field(e, field, 4);
	return ret;
}

/* A field that is no list. */
static int plain_field(struct encoder *e, const struct swap_field *field)
{
	switch ((enum swap_kind)field->kind) {
	case SWAP_U8:
		return number_field(e, field, 1);
	case SWAP_U32:
	case SWAP_FLOAT:
		return number_field(e, field, 4);
	case SWAP_U64:
	case SWAP_ADDR:
	case SWAP_DOUBLE:
		return number_field(e, field, 8);
	case SWAP_TIME:
		return time_field(e);
	case SWAP_STR:
	case SWAP_BYTES:
	case SWAP_REST:
		return bytes_field(e, field);
	case SWAP_ARG:
		return arg_value(e);
	case SWAP_ARGS:
		return args_field(e);
	case SWAP_PER_CPU:
	case SWAP_PER_DEVICE:
		return words_field(e, field);
	case SWAP_LIST:
	case SWAP_MORE:
		break;
	}
	return -EINVAL;
}

static int encode_rows(struct encoder *e, const struct swap_field *field, uint32_t nr);

static int list_field(struct encoder *e, const struct swap_field *field)
{
	const struct swap_value *value = take(e);
	int ret = value == NULL || (field->kind == SWAP_MORE && value->u > 1) ? -EINVAL : 0;

	if (ret == 0 && field->kind == SWAP_LIST)
		put_number(e, value->u, 4);
	for (uint64_t i = 0; ret == 0 && i < value->u; i++)
		ret = encode_rows(e, field + 1, field->rows);
	return ret;
}

static int encode_rows(struct encoder *e, const struct swap_field *field, uint32_t nr)
{
	int ret = 0;

	for (uint32_t i = 0; ret == 0 && i < nr; i += 1u + field[i].rows) {
		if (field[i].when != 0 && !(field[i].when & e->selected))
			continue;
		ret = field[i].rows > 0 ? list_field(e, &field[i]) : plain_field(e, &field[i]);
	}
	return ret;
}

int swap_encode(const struct swap_message *message, const struct swap_values *values,
		const struct swap_layout *layout, struct ftr_strbuf *to)
{
	struct encoder e = { .next = values->all.v, .end = values->all.v + values->all.nr,
			     .layout = layout, .to = to };
	int ret = encode_rows(&e, message->fields, message->field_nr);

	if (ret == 0 && e.next != e.end)
		return -EINVAL;
	return ret == 0 && to->failed ? -ENOMEM : ret;
}
