/* SPDX-License-Identifier: MIT */
/* Text to values: what format_text.c writes. */
#include <stdlib.h>
#include <string.h>

#include "utils/format/swap/codec.h"

struct parser {
	struct ftr_slice text;	/* what is left of it */
	char *room;		/* where strings are put, one behind the other */
	struct swap_values *values;
	uint32_t selected;	/* bit of the selector's value; 0 = none of 0..31 */
};

static int put(struct parser *p, struct swap_value value)
{
	return ftr_vec_push(&p->values->all, value);
}

static void skip(struct parser *p, size_t len)
{
	p->text.s += len;
	p->text.len -= len;
}

static bool take_char(struct parser *p, char c)
{
	if (p->text.len == 0 || p->text.s[0] != c)
		return false;
	skip(p, 1);
	return true;
}

static bool take_text(struct parser *p, const char *s)
{
	if (!ftr_slice_starts(p->text, s))
		return false;
	skip(p, strlen(s));
	return true;
}

/* Up to what ends a value: a blank, a bracket, the name of a number. */
static struct ftr_slice take_word(struct parser *p)
{
	size_t len = 0;
	struct ftr_slice word;

	while (len < p->text.len && strchr(" ]}(", p->text.s[len]) == NULL)
		len++;
	word = ftr_slice_make(p->text.s, len);
	skip(p, len);
	return word;
}

/* A number, perhaps with its name in parentheses. */
static int take_number(struct parser *p, uint64_t *number)
{
	int ret = ftr_parse_u64(take_word(p), 0, number);

	if (ret == 0 && take_char(p, '(')) {
		while (p->text.len > 0 && p->text.s[0] != ')')
			skip(p, 1);
		ret = take_char(p, ')') ? 0 : -EINVAL;
	}
	return ret < 0 ? -EINVAL : 0;
}

static int take_signed(struct parser *p, uint64_t *number)
{
	int64_t value;

	if (ftr_parse_i64(take_word(p), &value) < 0)
		return -EINVAL;
	*number = (uint64_t)value;
	return 0;
}

static int take_bits(struct ftr_slice word, uint64_t *bits)
{
	const size_t prefix = strlen("bits:");

	return ftr_parse_u64(ftr_slice_make(word.s + prefix, word.len - prefix), 16, bits) < 0 ?
		       -EINVAL : 0;
}

#define DIGITS_MAX 40

static int take_float(struct parser *p, bool is_double, uint64_t *bits)
{
	struct ftr_slice word = take_word(p);
	char digits[DIGITS_MAX], *end;
	double number;
	float narrow;

	if (ftr_slice_starts(word, "bits:"))
		return take_bits(word, bits);
	if (word.len == 0 || word.len >= sizeof(digits))
		return -EINVAL;
	memcpy(digits, word.s, word.len);
	digits[word.len] = '\0';
	*bits = 0;
	if (is_double) {
		number = strtod(digits, &end);
		memcpy(bits, &number, sizeof(number));
	} else {
		uint32_t half;

		narrow = strtof(digits, &end);
		memcpy(&half, &narrow, sizeof(narrow));
		*bits = half;
	}
	return *end == '\0' ? 0 : -EINVAL;
}

static int take_time(struct parser *p, uint64_t *time)
{
	struct ftr_slice word = take_word(p), seconds, fraction = word;
	uint64_t s, ns;

	if (ftr_slice_starts(word, "bits:"))
		return take_bits(word, time);
	if (!ftr_slice_split(&fraction, '.', &seconds) || fraction.len != 9 ||
	    ftr_parse_u64(seconds, 10, &s) < 0 || ftr_parse_u64(fraction, 10, &ns) < 0 ||
	    s > UINT32_MAX)
		return -EINVAL;
	*time = s << SWAP_TIME_S_SHIFT | ns;
	return 0;
}

static int hex_digit(char c)
{
	const char *digits = "0123456789abcdef", *at = c == '\0' ? NULL : strchr(digits, c);

	return at == NULL ? -1 : (int)(at - digits);
}

/* Two digits; -1 = there are none. */
static int take_byte(struct parser *p)
{
	int high, low;

	if (p->text.len < 2)
		return -1;
	high = hex_digit(p->text.s[0]);
	low = hex_digit(p->text.s[1]);
	if (high < 0 || low < 0)
		return -1;
	skip(p, 2);
	return high * 16 + low;
}

static int take_hex(struct parser *p, struct swap_value *value)
{
	int byte;

	value->s = p->room;
	while ((byte = take_byte(p)) >= 0)
		*p->room++ = (char)byte;
	value->len = (uint32_t)(p->room - value->s);
	return 0;
}

/* What a backslash stands before; -1 = damaged. */
static int take_escaped(struct parser *p)
{
	if (take_char(p, 'x'))
		return take_byte(p);
	if (take_char(p, '"'))
		return '"';
	return take_char(p, '\\') ? '\\' : -1;
}

static int take_quoted(struct parser *p, struct swap_value *value)
{
	int byte;

	if (!take_char(p, '"'))
		return -EINVAL;
	value->s = p->room;
	while (p->text.len > 0 && p->text.s[0] != '"') {
		if (!take_char(p, '\\')) {
			*p->room++ = p->text.s[0];
			skip(p, 1);
			continue;
		}
		byte = take_escaped(p);
		if (byte < 0)
			return -EINVAL;
		*p->room++ = (char)byte;
	}
	value->len = (uint32_t)(p->room - value->s);
	return take_char(p, '"') ? 0 : -EINVAL;
}

static int arg_value(struct parser *p, struct swap_value *value)
{
	if (p->text.len < 2 || swap_arg_bytes(p->text.s[0]) < -1)
		return -EINVAL;
	value->type = p->text.s[0];
	skip(p, 1);
	if (!take_char(p, ':'))
		return -EINVAL;
	switch (value->type) {
	case 'c':
	case 'b':
	case 'p':
		return take_number(p, &value->u);
	case 'd':
	case 'x':
		return take_signed(p, &value->u);
	case 'f':
	case 'w':
		return take_float(p, value->type == 'w', &value->u);
	case 's':
		return take_quoted(p, value);
	case 'D':
	case 'F':
	case 'W':
		return take_hex(p, value);
	default:
		return 0;
	}
}

static int parse_value(struct parser *p, const struct swap_field *field)
{
	struct swap_value value = { .field = field };
	int ret;

	switch ((enum swap_kind)field->kind) {
	case SWAP_FLOAT:
	case SWAP_PER_CPU:
	case SWAP_DOUBLE:
		ret = take_float(p, field->kind == SWAP_DOUBLE, &value.u);
		break;
	case SWAP_TIME:
		ret = take_time(p, &value.u);
		break;
	case SWAP_STR:
		ret = take_quoted(p, &value);
		break;
	case SWAP_ARG:
	case SWAP_ARGS:
		ret = arg_value(p, &value);
		break;
	case SWAP_BYTES:
	case SWAP_REST:
		ret = take_hex(p, &value);
		break;
	default:
		ret = take_number(p, &value.u);
		if (field->is_selector)
			p->selected = swap_selector_bit(value.u);
		break;
	}
	return ret < 0 ? ret : put(p, value);
}

static int parse_rows(struct parser *p, const struct swap_field *field, uint32_t nr);

static int parse_element(struct parser *p, const struct swap_field *field)
{
	int ret;

	if (field->rows == 0)
		return parse_value(p, field);
	if (!take_char(p, '{'))
		return -EINVAL;
	ret = parse_rows(p, field + 1, field->rows);
	if (ret == 0 && !take_char(p, '}'))
		ret = -EINVAL;
	return ret;
}

static int parse_list(struct parser *p, const struct swap_field *field)
{
	size_t at = p->values->all.nr;
	uint64_t nr = 0;
	int ret = put(p, (struct swap_value){ .field = field });

	if (ret == 0 && !take_char(p, '['))
		ret = -EINVAL;
	while (ret == 0 && p->text.len > 0 && p->text.s[0] != ']') {
		if (nr > 0 && !take_char(p, ' '))
			return -EINVAL;
		ret = parse_element(p, field);
		nr++;
	}
	if (ret == 0) {
		p->values->all.v[at].u = nr;
		ret = take_char(p, ']') ? 0 : -EINVAL;
	}
	return ret;
}

static int parse_rows(struct parser *p, const struct swap_field *field, uint32_t nr)
{
	const char *separator = "";
	int ret = 0;

	for (uint32_t i = 0; ret == 0 && i < nr; i += 1u + field[i].rows) {
		if (field[i].when != 0 && !(field[i].when & p->selected))
			continue;
		if (!take_text(p, separator) || !take_text(p, field[i].name) || !take_char(p, '='))
			return -EINVAL;
		separator = " ";
		ret = swap_is_list(field[i].kind) ? parse_list(p, &field[i]) :
						    parse_value(p, &field[i]);
	}
	return ret;
}

int swap_parse(const struct swap_message *message, struct ftr_slice text,
	       struct swap_values *values, char *room)
{
	struct parser p = { .text = text, .room = room, .values = values };
	int ret;

	values->all.nr = 0;
	ret = parse_rows(&p, message->fields, message->field_nr);
	return ret == 0 && p.text.len > 0 ? -EINVAL : ret;
}
