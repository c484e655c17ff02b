/* SPDX-License-Identifier: MIT */
/* Decoding argument and return-value payloads by their layout, and their text. */
#include "utils/trace/args.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "utils/base/bits.h"
#include "utils/base/bytes.h"
#include "utils/trace/shape.h"
#include "utils/trace/trace.h"

#define VALUE_ALIGN 4
#define PAYLOAD_ALIGN 8

/* A d value in this range is shown in decimal; beyond it looks like a pointer. */
#define DECIMAL_MAX 100000
/* Negative numbers of 32 bits in a register of 64. */
#define SMALL_NEGATIVE UINT64_C(0xffff0000)

/* Bytes that a value takes, without padding; -EBADMSG: more than @left. */
static ssize_t value_bytes(const struct ftr_arg *arg, const uint8_t *data, size_t left, bool is_big)
{
	size_t bytes = arg->size;

	if (arg->format == FTR_ARG_STRING || arg->format == FTR_ARG_WORD) {
		if (left < 2)
			return -EBADMSG;
		bytes = 2 + (size_t)ftr_get_u16(data, is_big);
	}
	return bytes > left ? -EBADMSG : (ssize_t)bytes;
}

ssize_t ftr_payload_measure(const struct ftr_argspec *spec, const uint8_t *data, size_t left,
			    bool is_big_endian)
{
	size_t pos = 0;

	for (unsigned i = 0; i < spec->nr; i++) {
		ssize_t bytes = pos > left ? -EBADMSG :
				value_bytes(&spec->args[i], data + pos, left - pos, is_big_endian);

		if (bytes < 0)
			return bytes;
		pos += ftr_align_up((size_t)bytes, VALUE_ALIGN);
	}
	pos = ftr_align_up(pos, PAYLOAD_ALIGN);
	return pos > left ? -EBADMSG : (ssize_t)pos;
}

/* The low eight bytes, where there are more. */
static uint64_t get_unsigned(const uint8_t *p, size_t bytes, bool is_big)
{
	size_t more = bytes > sizeof(uint64_t) ? bytes - sizeof(uint64_t) : 0;

	return ftr_get_unsigned(p + (is_big ? more : 0), bytes - more, is_big);
}

/*
 * x87's 80 bits: a mantissa of 64, one of them before the point, then 15 of exponent and the sign.
 * Not every host has such a type, but all have one that holds the value.
 */
#define X87_BYTES 10u
#define X87_SIGN 0x8000u
#define X87_EXPONENT_MAX 0x7fff
#define X87_BIAS 16383
#define X87_FRACTION_BITS 63
#define X87_INTEGER_BIT FTR_BIT64(X87_FRACTION_BITS)

static long double get_x87(const uint8_t *p)
{
	uint64_t mantissa = ftr_get_unsigned(p, sizeof(mantissa), false);
	unsigned top = (unsigned)ftr_get_unsigned(p + sizeof(mantissa), 2, false);
	int exponent = (int)(top & ~X87_SIGN);
	long double value;

	if (exponent != 0 && (mantissa & X87_INTEGER_BIT) == 0)
		value = (long double)NAN;	/* no number since the 80387: SDM volume 1, 8.2.2 */
	else if (exponent == X87_EXPONENT_MAX)
		value = mantissa == X87_INTEGER_BIT ? HUGE_VALL : (long double)NAN;
	else
		value = ldexpl((long double)mantissa,
			       (exponent == 0 ? 1 : exponent) - X87_BIAS - X87_FRACTION_BITS);
	return (top & X87_SIGN) != 0 ? -value : value;
}

static long double get_float(const uint8_t *p, size_t bytes, bool is_big)
{
	uint64_t raw = get_unsigned(p, bytes, is_big);
	uint32_t half = (uint32_t)raw;
	double middle;
	float narrow;

	if (bytes == sizeof(narrow)) {
		memcpy(&narrow, &half, sizeof(narrow));
		return narrow;
	}
	if (bytes == sizeof(middle)) {
		memcpy(&middle, &raw, sizeof(middle));
		return middle;
	}
	return bytes == X87_BYTES ? get_x87(p) : 0;
}

void ftr_value_decode(struct ftr_value *value, const uint8_t *p, size_t bytes, bool is_big)
{
	switch (value->arg->format) {
	case FTR_ARG_STRING:
	case FTR_ARG_WORD:
		value->str.s = (const char *)p + 2;
		value->str.len = (uint16_t)(bytes - 2);
		break;
	case FTR_ARG_STRUCT:
		value->str.s = (const char *)p;
		value->str.len = (uint16_t)bytes;
		break;
	case FTR_ARG_FLOAT:
		value->f = get_float(p, bytes, is_big);
		break;
	case FTR_ARG_SIGNED:
	case FTR_ARG_CHAR:
		value->i = ftr_sign_extend(get_unsigned(p, bytes, is_big), bytes);
		break;
	default:
		value->u = get_unsigned(p, bytes, is_big);
		break;
	}
}

bool ftr_payload_next(const struct ftr_payload *payload, unsigned *nr, unsigned *pos,
		      struct ftr_value *value)
{
	const struct ftr_argspec *spec = payload->spec;
	ssize_t bytes;

	if (spec == NULL || *nr >= spec->nr || *pos > payload->len)
		return false;
	value->arg = &spec->args[*nr];
	bytes = value_bytes(value->arg, payload->data + *pos, payload->len - *pos,
			    payload->is_big_endian);
	if (bytes < 0)
		return false;
	ftr_value_decode(value, payload->data + *pos, (size_t)bytes, payload->is_big_endian);
	*pos += (unsigned)ftr_align_up((size_t)bytes, VALUE_ALIGN);
	(*nr)++;
	return true;
}

#define WIDE_DIGITS 39			/* of 2^128 */
#define WORD_BITS 64

void ftr_value_put_wide(struct ftr_strbuf *text, enum ftr_arg_format format, uint64_t low,
			uint64_t high)
{
	bool is_negative = format == FTR_ARG_SIGNED && (int64_t)high < 0;
	unsigned __int128 left = ((unsigned __int128)high << WORD_BITS) + low;
	char digits[WIDE_DIGITS + 1];
	size_t at = WIDE_DIGITS;

	if (format == FTR_ARG_HEX) {
		ftr_strbuf_printf(text, high != 0 ? "%#llx%016llx" : "%.0llx%#llx",
				  (unsigned long long)high, (unsigned long long)low);
		return;
	}
	if (is_negative)
		left = -left;
	digits[at] = '\0';
	do {
		digits[--at] = (char)('0' + (unsigned)(left % 10));
		left /= 10;
	} while (left != 0);
	ftr_strbuf_printf(text, "%s%s", is_negative ? "-" : "", digits + at);
}

void ftr_value_put_byte(struct ftr_strbuf *text, unsigned char c)
{
	static const char named[][2] = {
		{ '\0', '0' }, { '\a', 'a' }, { '\b', 'b' }, { '\t', 't' }, { '\n', 'n' },
		{ '\v', 'v' }, { '\f', 'f' }, { '\r', 'r' },
	};

	if (c >= ' ' && c != 0x7f) {
		ftr_strbuf_putc(text, (char)c);
		return;
	}
	for (size_t i = 0; i < sizeof(named) / sizeof(named[0]); i++) {
		if ((unsigned char)named[i][0] == c) {
			ftr_strbuf_printf(text, "\\%c", named[i][1]);
			return;
		}
	}
	ftr_strbuf_printf(text, "\\x%02x", c);
}

/* A single character: one beyond ASCII is no character of its own. */
static void put_char(struct ftr_strbuf *text, unsigned char c)
{
	ftr_strbuf_putc(text, '\'');
	if (c >= 0x80)
		ftr_strbuf_printf(text, "\\x%02x", c);
	else
		ftr_value_put_byte(text, c);
	ftr_strbuf_putc(text, '\'');
}

static void put_string(struct ftr_strbuf *text, const struct ftr_value *value)
{
	ftr_strbuf_putc(text, '"');
	for (unsigned i = 0; i < value->str.len; i++) {
		if (value->str.s[i] == '\0')
			break;
		ftr_value_put_byte(text, (unsigned char)value->str.s[i]);
	}
	ftr_strbuf_putc(text, '"');
	if (value->arg->type_name != NULL)	/* std::string, as a C++ literal of that type */
		ftr_strbuf_putc(text, 's');
}

static void put_hex(struct ftr_strbuf *text, uint64_t value)
{
	ftr_strbuf_printf(text, "%#llx", (unsigned long long)value);
}

/* Numbers in decimal; what looks like a pointer in hexadecimal. */
static void put_auto(struct ftr_strbuf *text, uint64_t value)
{
	int64_t number = (int64_t)value;

	if (value > SMALL_NEGATIVE && value <= UINT32_MAX)
		number = (int32_t)value;
	if (number > DECIMAL_MAX || number < -DECIMAL_MAX)
		put_hex(text, value);
	else
		ftr_strbuf_printf(text, "%lld", (long long)number);
}

/* Do enumerators stand for bits, so that several make a value?  Most lists of names do not. */
static bool are_flags(const struct ftr_arg_enum *values)
{
	unsigned bits_nr = 0;

	for (uint32_t i = 0; i < values->nr; i++) {
		int64_t value = values->values[i].value;

		if (value < 0)
			return false;
		bits_nr += value != 0 && (value & (value - 1)) == 0;
	}
	return bits_nr * 2 >= values->nr;
}

/*
 * The enumerator of this value; else, of flags, the largest ones that add up to it, and what is
 * left.  The values are sorted, the greatest first.
 */
static void put_enum(struct ftr_strbuf *text, const struct ftr_arg_enum *values, int64_t number)
{
	const char *separator = "";
	int64_t left = number;

	for (uint32_t i = 0; values != NULL && i < values->nr; i++) {
		if (values->values[i].value == number) {
			ftr_strbuf_puts(text, values->values[i].name);
			return;
		}
	}
	for (uint32_t i = 0; values != NULL && are_flags(values) && i < values->nr; i++) {
		if (left < values->values[i].value || (left == 0 && separator[0] != '\0'))
			continue;
		ftr_strbuf_printf(text, "%s%s", separator, values->values[i].name);
		left = (int64_t)((uint64_t)left - (uint64_t)values->values[i].value);
		separator = "|";
	}
	if (separator[0] == '\0')
		ftr_strbuf_printf(text, "%lld", (long long)number);
	else if (left != 0)
		ftr_strbuf_printf(text, "+%#llx", (unsigned long long)left);
}

/* Most enumerations have 32 bits, their registers 64. */
static int64_t enum_number(const struct ftr_arg_enum *values, uint64_t value)
{
	bool is_wide = false;

	for (uint32_t i = 0; values != NULL && i < values->nr; i++)
		is_wide |= values->values[i].value > UINT32_MAX ||
			   values->values[i].value < INT32_MIN;
	return is_wide ? (int64_t)value : ftr_sign_extend(value, sizeof(int32_t));
}

static void put_pointer(struct ftr_strbuf *text, struct ftr_trace *trace,
			struct ftr_session *session, uint64_t addr)
{
	const struct ftr_func *func;
	uint64_t offset;

	func = addr == 0 || session == NULL ? NULL : ftr_trace_find(trace, session, UINT64_MAX,
								    addr, &offset);
	if (func == NULL) {
		put_hex(text, addr);
		return;
	}
	ftr_strbuf_printf(text, "&%s", func->name);
	if (offset > 0)
		ftr_strbuf_printf(text, "+%#llx", (unsigned long long)offset);
}

void ftr_value_format(const struct ftr_value *value, struct ftr_trace *trace,
		      struct ftr_session *session, struct ftr_strbuf *text)
{
	const struct ftr_arg *arg = value->arg;

	switch (arg->format) {
	case FTR_ARG_AUTO:
		put_auto(text, value->u);
		break;
	case FTR_ARG_SIGNED:
		ftr_strbuf_printf(text, "%lld", (long long)value->i);
		break;
	case FTR_ARG_UNSIGNED:
		ftr_strbuf_printf(text, "%llu", (unsigned long long)value->u);
		break;
	case FTR_ARG_HEX:
		put_hex(text, value->u);
		break;
	case FTR_ARG_OCTAL:
		ftr_strbuf_printf(text, "%#llo", (unsigned long long)value->u);
		break;
	case FTR_ARG_STRING:
		put_string(text, value);
		break;
	case FTR_ARG_CHAR:
		put_char(text, (unsigned char)value->i);
		break;
	case FTR_ARG_FLOAT:
		ftr_strbuf_printf(text, "%Lf", value->f);
		break;
	case FTR_ARG_POINTER:
		put_pointer(text, trace, session, value->u);
		break;
	case FTR_ARG_ENUM:
		put_enum(text, arg->values, enum_number(arg->values, value->u));
		break;
	case FTR_ARG_STRUCT:
		if (arg->shape != NULL) {
			ftr_shape_format(arg->shape, (const uint8_t *)value->str.s, value->str.len,
					 trace, session, text);
			break;
		}
		ftr_strbuf_printf(text, "%s{%s}", arg->type_name == NULL ? "" : arg->type_name,
				  arg->size == 0 ? "" : "...");
		break;
	case FTR_ARG_BOOL:
		ftr_strbuf_puts(text, value->u & 1 ? "true" : "false");
		break;
	case FTR_ARG_KOID:
		ftr_strbuf_printf(text, "%llu", (unsigned long long)value->u);
		break;
	case FTR_ARG_WORD:
		ftr_strbuf_put(text, value->str.s, value->str.len);
		break;
	case FTR_ARG_NULL:
		ftr_strbuf_puts(text, "null");
		break;
	}
}

void ftr_payload_format(const struct ftr_payload *payload, struct ftr_trace *trace,
			struct ftr_session *session, struct ftr_strbuf *text)
{
	struct ftr_value value;
	unsigned nr = 0;
	unsigned pos = 0;

	while (ftr_payload_next(payload, &nr, &pos, &value)) {
		if (nr > 1)
			ftr_strbuf_puts(text, ", ");
		if (value.arg->name != NULL)
			ftr_strbuf_printf(text, "%s=", value.arg->name);
		ftr_value_format(&value, trace, session, text);
	}
}
