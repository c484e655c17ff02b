/* SPDX-License-Identifier: MIT */
/* Write an event's text by the steps of its print fmt. */
#include "utils/format/ftrace/print.h"

#include <string.h>

#include "utils/base/bits.h"
#include "utils/base/bytes.h"
#include "utils/base/ostream.h"
#include "utils/format/ftrace/ftrace.h"
#include "utils/format/ftrace/page_layout.h"

#define ROOM_BYTES 1024u		/* taken at a time */
#define DIGITS_MAX 24			/* octal, 64 bits, and a prefix */
#define HEX_DIGITS_MAX 16

struct writer {
	const struct ftr_ftrace_print *print;
	struct ftr_ftrace *ftrace;
	const uint8_t *data;		/* the record */
	uint32_t bytes;
	bool is_big;
	struct ftr_strbuf *out;
	char *next;			/* in out, whose length is not up to date */
	char *end;
};

/* ---- the text ---- */

static bool room_take_slow(struct writer *self, size_t len)
{
	self->out->len = (size_t)(self->next - self->out->s);
	if (len < ROOM_BYTES)
		len = ROOM_BYTES;
	self->next = ftr_strbuf_room(self->out, len);
	if (self->next == NULL)
		return false;
	self->end = self->next + len;
	return true;
}

/* Room for @len bytes, the NUL not counted. */
static inline bool room_take(struct writer *self, size_t len)
{
	return len <= (size_t)(self->end - self->next) || room_take_slow(self, len);
}

static inline bool put(struct writer *self, const char *text, size_t len)
{
	if (!room_take(self, len))
		return false;
	memcpy(self->next, text, len);
	self->next += len;
	return true;
}

/* As many bytes as it has room for, of which those that count stay. */
static inline bool put_literal(struct writer *self, const struct ftr_print_step *step)
{
	if (!room_take(self, FTR_PRINT_LITERAL_MAX))
		return false;
	memcpy(self->next, step->literal, FTR_PRINT_LITERAL_MAX);
	self->next += step->literal_bytes;
	return true;
}

static bool fill(struct writer *self, char c, size_t len)
{
	if (!room_take(self, len))
		return false;
	memset(self->next, c, len);
	self->next += len;
	return true;
}

/* @text has @max bytes, or a NUL before that ends it. */
static bool put_string(struct writer *self, const struct ftr_print_step *step, const char *text,
		       size_t max)
{
	size_t len = strnlen(text, step->precision == UINT16_MAX || max < step->precision ?
					   max : step->precision);
	size_t gap = step->width > len ? step->width - len : 0;

	return (gap == 0 || step->is_left || fill(self, ' ', gap)) && put(self, text, len) &&
	       (gap == 0 || !step->is_left || fill(self, ' ', gap));
}

static char *digits_before(char *p, uint64_t value, unsigned base, bool is_upper)
{
	const char *digits = is_upper ? "0123456789ABCDEF" : "0123456789abcdef";

	do {
		*--p = digits[value % base];
		value /= base;
	} while (value > 0);
	return p;
}

static bool put_bare_hex(struct writer *self, uint64_t value, unsigned digits)
{
	if (!room_take(self, HEX_DIGITS_MAX))
		return false;
	self->next = ftr_fmt_hex_wide(self->next, value, digits);
	return true;
}

static bool put_hex(struct writer *self, uint64_t value)
{
	return put(self, "0x", 2) && put_bare_hex(self, value, 1);
}

/* As its length modifier has it. */
static inline uint64_t number_cut(const struct ftr_print_step *step, uint64_t value)
{
	unsigned unused = 64 - 8 * step->bytes;

	return value << unused >> unused;
}

static bool put_decimal(struct writer *self, const struct ftr_print_step *step, uint64_t value)
{
	if (!room_take(self, DIGITS_MAX))
		return false;
	value = number_cut(step, value);
	if (step->is_signed && ftr_sign_extend(value, step->bytes) < 0) {
		value = -(uint64_t)ftr_sign_extend(value, step->bytes);
		*self->next++ = '-';
	}
	self->next = ftr_fmt_u64(self->next, value);
	return true;
}

/* The sign and the prefix of a number, whose absolute value becomes *value. */
static size_t sign_make(const struct ftr_print_step *step, uint64_t *value, char sign[3])
{
	size_t len = 0;

	*value = number_cut(step, *value);
	if (step->is_signed && ftr_sign_extend(*value, step->bytes) < 0) {
		*value = -(uint64_t)ftr_sign_extend(*value, step->bytes);
		sign[len++] = '-';
	}
	if (step->is_prefixed && *value != 0) {
		sign[len++] = '0';
		sign[len++] = step->is_upper ? 'X' : 'x';
	}
	return len;
}

static bool put_number(struct writer *self, const struct ftr_print_step *step, uint64_t value)
{
	char buf[DIGITS_MAX], sign[3];
	size_t sign_len = sign_make(step, &value, sign), len, gap;
	char *digits;

	digits = digits_before(buf + sizeof(buf), value, step->base, step->is_upper);
	len = (size_t)(buf + sizeof(buf) - digits);
	gap = step->width > len + sign_len ? step->width - len - sign_len : 0;
	if (gap > 0 && !step->is_left && !step->is_zero_filled && !fill(self, ' ', gap))
		return false;
	if (!put(self, sign, sign_len))
		return false;
	if (gap > 0 && !step->is_left && step->is_zero_filled && !fill(self, '0', gap))
		return false;
	return put(self, digits, len) && (gap == 0 || !step->is_left || fill(self, ' ', gap));
}

/* ---- numbers ---- */

static uint64_t evaluate_slow(const struct writer *self, const struct ftr_print_term *term);

/* Most are fields. */
static inline uint64_t evaluate(const struct writer *self, const struct ftr_print_term *term)
{
	return term->op == FTR_PRINT_FIELD ?
		       ftr_get_word(self->data + term->offset, term->bytes, self->is_big) :
		       evaluate_slow(self, term);
}

static uint64_t evaluate_at(const struct writer *self, uint16_t index)
{
	return evaluate(self, &self->print->terms.v[index]);
}

static uint64_t operate(enum ftr_print_op op, uint64_t left, uint64_t right)
{
	switch (op) {
	case FTR_PRINT_NOT:
		return !right;
	case FTR_PRINT_COMPLEMENT:
		return ~right;
	case FTR_PRINT_BOTH:
		return left && right;
	case FTR_PRINT_EITHER:
		return left || right;
	case FTR_PRINT_AND:
		return left & right;
	case FTR_PRINT_OR:
		return left | right;
	case FTR_PRINT_LESS:
		return left < right;
	case FTR_PRINT_LESS_EQUAL:
		return left <= right;
	case FTR_PRINT_MORE:
		return left > right;
	case FTR_PRINT_MORE_EQUAL:
		return left >= right;
	case FTR_PRINT_EQUAL:
		return left == right;
	case FTR_PRINT_UNEQUAL:
		return left != right;
	case FTR_PRINT_SHIFT_LEFT:
		return left << (right & 63);
	case FTR_PRINT_SHIFT_RIGHT:
		return left >> (right & 63);
	case FTR_PRINT_ADD:
		return left + right;
	case FTR_PRINT_SUBTRACT:
		return left - right;
	case FTR_PRINT_MULTIPLY:
		return left * right;
	default:
		return right == 0 ? 0 : left / right;
	}
}

static uint64_t evaluate_slow(const struct writer *self, const struct ftr_print_term *term)
{
	switch (term->op) {
	case FTR_PRINT_CONSTANT:
		return term->number;
	case FTR_PRINT_DYNAMIC_BYTES:
		return ftr_kpage_dynamic_bytes(ftr_get_u32(self->data + term->offset,
							   self->is_big));
	case FTR_PRINT_MASK:
		return evaluate_at(self, term->left) & term->number;
	case FTR_PRINT_CHOICE:
		return evaluate_at(self, evaluate_at(self, term->condition) != 0 ? term->left :
									     term->right);
	default:
		return operate(term->op, evaluate_at(self, term->left),
			       evaluate_at(self, term->right));
	}
}

/* ---- strings ---- */

static bool put_flags(struct writer *self, const struct ftr_print_step *step,
		      const struct ftr_print_string *string)
{
	const struct ftr_print_row *rows = self->print->rows.v + string->row_first;
	uint64_t value = evaluate_at(self, string->term);
	bool has_delimiter = false;

	for (uint32_t i = 0; i < string->row_nr; i++) {
		const struct ftr_print_row *row = &rows[i];

		if (value == 0 && row->value < 0)
			return put_string(self, step, row->text, row->text_bytes);
		if (row->value <= 0 || (value & (uint64_t)row->value) != (uint64_t)row->value)
			continue;
		if (has_delimiter && string->text != NULL &&
		    !put(self, string->text, strlen(string->text)))
			return false;
		if (!put_string(self, step, row->text, row->text_bytes))
			return false;
		has_delimiter = true;
		value &= ~(uint64_t)row->value;
	}
	if (value == 0)
		return true;
	if (has_delimiter && string->text != NULL &&
	    !put(self, string->text, strlen(string->text)))
		return false;
	return put_hex(self, value);
}

static bool put_symbol(struct writer *self, const struct ftr_print_step *step,
		       const struct ftr_print_string *string)
{
	const struct ftr_print_row *rows = self->print->rows.v + string->row_first;
	uint64_t value = evaluate_at(self, string->term);

	for (uint32_t i = 0; i < string->row_nr; i++) {
		if ((uint64_t)rows[i].value == value)
			return put_string(self, step, rows[i].text, rows[i].text_bytes);
	}
	return put_hex(self, value);
}

/* A step's width is not for them. */
static bool put_pointed(struct writer *self, uint64_t addr)
{
	const char *text = ftr_hashmap_find(&self->ftrace->printks, addr);

	return text == NULL ? put_bare_hex(self, addr, 1) : put(self, text, strlen(text));
}

/* Of a record that is cut, zeros follow. */
static bool put_bytes(struct writer *self, const struct ftr_print_step *step, uint64_t offset,
		      uint64_t bytes)
{
	uint64_t left = offset < self->bytes ? self->bytes - offset : 0;

	return put_string(self, step, (const char *)self->data + (left > 0 ? offset : 0),
			  bytes < left ? bytes : left);
}

static bool put_operand(struct writer *self, const struct ftr_print_step *step, uint16_t index)
{
	const struct ftr_print_string *string = &self->print->strings.v[index];
	uint32_t at;

	switch (string->kind) {
	case FTR_PRINT_TEXT:
		return put_string(self, step, string->text, SIZE_MAX);
	case FTR_PRINT_CHARS:
		return put_bytes(self, step, string->offset,
				 string->bytes > 0 ? string->bytes : UINT32_MAX);
	case FTR_PRINT_DYNAMIC:
		at = ftr_get_u32(self->data + string->offset, self->is_big);
		return put_bytes(self, step, string->base + ftr_kpage_dynamic_offset(at),
				 UINT32_MAX);
	case FTR_PRINT_POINTED:
		return put_pointed(self, evaluate_at(self, string->term));
	case FTR_PRINT_FLAGS:
		return put_flags(self, step, string);
	case FTR_PRINT_SYMBOLS:
		return put_symbol(self, step, string);
	default:
		return put_operand(self, step, evaluate_at(self, string->term) != 0 ? string->left :
										   string->right);
	}
}

/* ---- steps ---- */

/* As the C library writes it. */
static bool put_pointer(struct writer *self, uint64_t value)
{
	static const char nil[] = "(nil)";

	return value == 0 ? put(self, nil, sizeof(nil) - 1) : put_hex(self, value);
}

static bool put_function(struct writer *self, uint64_t addr, bool has_offset)
{
	uint64_t offset = 0;
	const char *name = ftr_ftrace_symbol(self->ftrace, addr, &offset);

	if (name == NULL)
		return put_hex(self, addr);
	return put(self, name, strlen(name)) &&
	       (!has_offset || (put(self, "+", 1) && put_hex(self, offset)));
}

static bool step_take(struct writer *self, const struct ftr_print_step *step)
{
	char c;

	if (!put_literal(self, step))
		return false;
	switch (step->kind) {
	case FTR_PRINT_STEP_NOTHING:
		return true;
	case FTR_PRINT_STEP_DECIMAL:
		return put_decimal(self, step, evaluate(self, &step->term));
	case FTR_PRINT_STEP_HEX:
		return put_bare_hex(self, number_cut(step, evaluate(self, &step->term)),
				    step->width);
	case FTR_PRINT_STEP_NUMBER:
		return put_number(self, step, evaluate(self, &step->term));
	case FTR_PRINT_STEP_CHARACTER:
		c = (char)evaluate(self, &step->term);
		return put(self, &c, 1);
	case FTR_PRINT_STEP_POINTER:
		return put_pointer(self, evaluate(self, &step->term));
	case FTR_PRINT_STEP_FUNCTION:
		return put_function(self, evaluate(self, &step->term), false);
	case FTR_PRINT_STEP_FUNCTION_OFFSET:
		return put_function(self, evaluate(self, &step->term), true);
	default:
		return put_operand(self, step, step->string);
	}
}

bool ftr_ftrace_print_run(const struct ftr_ftrace_print *print, struct ftr_ftrace *ftrace,
			  const struct ftr_ftrace_page *page, struct ftr_strbuf *out)
{
	struct writer writer = {
		.print = print, .ftrace = ftrace, .data = page->data, .bytes = page->bytes,
		.is_big = ftrace->layout.is_big, .out = out,
	};
	size_t start = out->len;

	writer.next = ftr_strbuf_room(out, ROOM_BYTES);
	if (writer.next == NULL)
		return false;
	writer.end = writer.next + ROOM_BYTES;
	for (size_t i = 0; i < print->steps.nr; i++) {
		if (!step_take(&writer, &print->steps.v[i])) {
			out->len = start;
			out->s[start] = '\0';
			return false;
		}
	}
	out->len = (size_t)(writer.next - out->s);
	out->s[out->len] = '\0';
	return true;
}
