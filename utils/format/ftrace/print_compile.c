/* SPDX-License-Identifier: MIT */
/* Make the steps of a print fmt, as libtraceevent would follow it. */
#include "utils/format/ftrace/print.h"

#include <ctype.h>
#include <event-parse.h>
#include <stdlib.h>
#include <string.h>

#include "utils/base/bits.h"

#define OPERANDS_MAX (UINT16_MAX - 1)
#define WIDTH_MAX 255u			/* more is not for people */
#define DYNAMIC_OFFSET_BYTES 4
#define HEX_DIGITS_MAX 16		/* of 64 bits */

struct compiler {
	struct ftr_ftrace_print *print;
	struct tep_event *tep;
};

/* ---- numbers ---- */

static bool term_add(struct compiler *self, struct ftr_print_term term, uint16_t *index)
{
	if (self->print->terms.nr >= OPERANDS_MAX || ftr_vec_push(&self->print->terms, term) < 0)
		return false;
	*index = (uint16_t)(self->print->terms.nr - 1);
	return true;
}

static bool number_compile(struct compiler *self, const struct tep_print_arg *arg,
			   uint16_t *index);

static bool constant_compile(struct compiler *self, uint64_t number, uint16_t *index)
{
	struct ftr_print_term term = { .op = FTR_PRINT_CONSTANT, .number = number };

	return term_add(self, term, index);
}

static bool bytes_are_number(int bytes)
{
	return bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8;
}

static bool field_compile(struct compiler *self, const char *name, uint16_t *index)
{
	const struct tep_format_field *field = tep_find_any_field(self->tep, name);
	struct ftr_print_term term = { .op = FTR_PRINT_FIELD };

	if (field == NULL || !bytes_are_number(field->size))
		return false;
	term.offset = (uint32_t)field->offset;
	term.bytes = (uint8_t)field->size;
	return term_add(self, term, index);
}

/* An element of an array in the record, by a constant index. */
static bool element_compile(struct compiler *self, const struct tep_print_arg *arg, uint16_t *index)
{
	const struct tep_print_arg *left = arg->op.left, *right = arg->op.right;
	struct ftr_print_term term = { .op = FTR_PRINT_FIELD };
	const struct tep_format_field *field;
	uint64_t at;

	if (left->type != TEP_PRINT_FIELD || right->type != TEP_PRINT_ATOM)
		return false;
	field = tep_find_any_field(self->tep, left->field.name);
	at = strtoull(right->atom.atom, NULL, 0);
	if (field == NULL || (field->flags & TEP_FIELD_IS_DYNAMIC) ||
	    field->elementsize > sizeof(uint64_t) || !bytes_are_number((int)field->elementsize) ||
	    (at + 1) * field->elementsize > (uint64_t)field->size)
		return false;
	term.bytes = (uint8_t)field->elementsize;
	term.offset = (uint32_t)((uint64_t)field->offset + at * field->elementsize);
	return term_add(self, term, index);
}

static bool dynamic_bytes_compile(struct compiler *self, const struct tep_print_arg *arg,
				  uint16_t *index)
{
	const struct tep_format_field *field = arg->dynarray.field;
	struct ftr_print_term term = { .op = FTR_PRINT_DYNAMIC_BYTES };

	if (field == NULL || field->size != DYNAMIC_OFFSET_BYTES)
		return false;
	term.offset = (uint32_t)field->offset;
	return term_add(self, term, index);
}

/* A cast cuts: libtraceevent knows no negative numbers. */
static uint64_t cast_mask(const char *type)
{
	static const struct {
		const char *type;
		uint64_t mask;
	} casts[] = {
		{ "u8", UINT8_MAX },	  { "s8", UINT8_MAX },	   { "char", UINT8_MAX },
		{ "u16", UINT16_MAX },	  { "s16", UINT16_MAX },   { "short", UINT16_MAX },
		{ "u32", UINT32_MAX },	  { "s32", UINT32_MAX },   { "int", UINT32_MAX },
		{ "unsigned char", UINT8_MAX },	  { "unsigned short", UINT16_MAX },
		{ "unsigned int", UINT32_MAX },
	};

	for (size_t i = 0; i < sizeof(casts) / sizeof(casts[0]); i++) {
		if (strcmp(casts[i].type, type) == 0)
			return casts[i].mask;
	}
	return UINT64_MAX;
}

static bool cast_compile(struct compiler *self, const struct tep_print_arg *arg, uint16_t *index)
{
	struct ftr_print_term term = { .op = FTR_PRINT_MASK,
				       .number = cast_mask(arg->typecast.type) };

	if (!number_compile(self, arg->typecast.item, &term.left))
		return false;
	if (term.number == UINT64_MAX) {
		*index = term.left;
		return true;
	}
	return term_add(self, term, index);
}

static bool choice_compile(struct compiler *self, const struct tep_print_arg *arg, uint16_t *index)
{
	const struct tep_print_arg *either = arg->op.right;
	struct ftr_print_term term = { .op = FTR_PRINT_CHOICE };

	return either->type == TEP_PRINT_OP &&
	       number_compile(self, arg->op.left, &term.condition) &&
	       number_compile(self, either->op.left, &term.left) &&
	       number_compile(self, either->op.right, &term.right) && term_add(self, term, index);
}

static bool operation_compile(struct compiler *self, const struct tep_print_arg *arg,
			      uint16_t *index)
{
	static const struct {
		const char *text;
		enum ftr_print_op op;
	} ops[] = {
		{ "!", FTR_PRINT_NOT },		{ "~", FTR_PRINT_COMPLEMENT },
		{ "&&", FTR_PRINT_BOTH },	{ "||", FTR_PRINT_EITHER },
		{ "&", FTR_PRINT_AND },		{ "|", FTR_PRINT_OR },
		{ "<", FTR_PRINT_LESS },	{ "<=", FTR_PRINT_LESS_EQUAL },
		{ ">", FTR_PRINT_MORE },	{ ">=", FTR_PRINT_MORE_EQUAL },
		{ "==", FTR_PRINT_EQUAL },	{ "!=", FTR_PRINT_UNEQUAL },
		{ "<<", FTR_PRINT_SHIFT_LEFT }, { ">>", FTR_PRINT_SHIFT_RIGHT },
		{ "+", FTR_PRINT_ADD },		{ "-", FTR_PRINT_SUBTRACT },
		{ "*", FTR_PRINT_MULTIPLY },	{ "/", FTR_PRINT_DIVIDE },
	};
	struct ftr_print_term term = { 0 };

	for (size_t i = 0; i < sizeof(ops) / sizeof(ops[0]); i++) {
		if (strcmp(ops[i].text, arg->op.op) != 0)
			continue;
		term.op = (uint8_t)ops[i].op;
		return number_compile(self, arg->op.left, &term.left) &&
		       number_compile(self, arg->op.right, &term.right) &&
		       term_add(self, term, index);
	}
	return false;
}

static bool number_compile(struct compiler *self, const struct tep_print_arg *arg, uint16_t *index)
{
	if (arg == NULL || arg->type == TEP_PRINT_NULL)	/* left of - and ! */
		return constant_compile(self, 0, index);
	switch (arg->type) {
	case TEP_PRINT_ATOM:
		return constant_compile(self, strtoull(arg->atom.atom, NULL, 0), index);
	case TEP_PRINT_FIELD:
		return field_compile(self, arg->field.name, index);
	case TEP_PRINT_TYPE:
		return cast_compile(self, arg, index);
	case TEP_PRINT_DYNAMIC_ARRAY_LEN:
		return dynamic_bytes_compile(self, arg, index);
	case TEP_PRINT_OP:
		if (arg->op.op[0] == '[')
			return element_compile(self, arg, index);
		if (arg->op.op[0] == '?')
			return choice_compile(self, arg, index);
		return operation_compile(self, arg, index);
	default:
		return false;
	}
}

/* ---- strings ---- */

static bool string_add(struct compiler *self, struct ftr_print_string string, uint16_t *index)
{
	if (self->print->strings.nr >= OPERANDS_MAX ||
	    ftr_vec_push(&self->print->strings, string) < 0)
		return false;
	*index = (uint16_t)(self->print->strings.nr - 1);
	return true;
}

/* Bytes in the record, or where in the kernel they are. */
static bool chars_compile(struct compiler *self, const char *name, uint16_t *index)
{
	const struct tep_format_field *field = tep_find_any_field(self->tep, name);
	struct ftr_print_string string = { .kind = FTR_PRINT_CHARS };

	if (field != NULL && !(field->flags & TEP_FIELD_IS_ARRAY) &&
	    field->size == tep_get_long_size(self->tep->tep)) {
		string.kind = FTR_PRINT_POINTED;
		return field_compile(self, name, &string.term) && string_add(self, string, index);
	}
	if (field == NULL || !(field->flags & TEP_FIELD_IS_ARRAY) ||
	    (field->flags & TEP_FIELD_IS_DYNAMIC))
		return false;
	string.offset = (uint32_t)field->offset;
	string.bytes = (uint32_t)field->size;
	return string_add(self, string, index);
}

static bool dynamic_compile(struct compiler *self, const char *name, uint16_t *index)
{
	const struct tep_format_field *field = tep_find_any_field(self->tep, name);
	struct ftr_print_string string = { .kind = FTR_PRINT_DYNAMIC };

	if (field == NULL || !(field->flags & TEP_FIELD_IS_DYNAMIC) ||
	    field->size != DYNAMIC_OFFSET_BYTES)
		return false;
	string.offset = (uint32_t)field->offset;
	if (field->flags & TEP_FIELD_IS_RELATIVE)
		string.base = (uint32_t)(field->offset + field->size);
	return string_add(self, string, index);
}

static bool ends_with(const char *text, const char *end)
{
	size_t len = strlen(text), end_len = strlen(end);

	return len >= end_len && strcmp(text + len - end_len, end) == 0;
}

/*
 * What stands for a value: a number, or a name.  libtraceevent knows a few; others, and what begins
 * with a sign, are -1 to it.
 */
static bool row_value(const char *text, int64_t *value)
{
	if (ends_with(text, "_SOFTIRQ") || ends_with(text, "RESTART"))
		return false;
	*value = isdigit((unsigned char)text[0]) ? (int64_t)strtoull(text, NULL, 0) : -1;
	return true;
}

static bool rows_compile(struct compiler *self, const struct tep_print_flag_sym *row,
			 struct ftr_print_string *string)
{
	string->row_first = (uint32_t)self->print->rows.nr;
	for (; row != NULL; row = row->next) {
		struct ftr_print_row made = { .text = row->str };

		if (row->str != NULL)
			made.text_bytes = (uint32_t)strlen(row->str);
		if (row->str == NULL || row->value == NULL || !row_value(row->value, &made.value) ||
		    ftr_vec_push(&self->print->rows, made) < 0)
			return false;
		string->row_nr++;
	}
	return true;
}

static bool either_compile(struct compiler *self, const struct tep_print_arg *arg, uint16_t *index);

static bool string_compile(struct compiler *self, const struct tep_print_arg *arg, uint16_t *index)
{
	struct ftr_print_string string = { 0 };

	switch (arg->type) {
	case TEP_PRINT_ATOM:
		string.kind = FTR_PRINT_TEXT;
		string.text = arg->atom.atom;
		return string_add(self, string, index);
	case TEP_PRINT_FIELD:
		return chars_compile(self, arg->field.name, index);
	case TEP_PRINT_STRING:
		return dynamic_compile(self, arg->string.string, index);
	case TEP_PRINT_FLAGS:
		string.kind = FTR_PRINT_FLAGS;
		string.text = arg->flags.delim;
		return number_compile(self, arg->flags.field, &string.term) &&
		       rows_compile(self, arg->flags.flags, &string) &&
		       string_add(self, string, index);
	case TEP_PRINT_SYMBOL:
		string.kind = FTR_PRINT_SYMBOLS;
		return number_compile(self, arg->symbol.field, &string.term) &&
		       rows_compile(self, arg->symbol.symbols, &string) &&
		       string_add(self, string, index);
	case TEP_PRINT_OP:
		return arg->op.op[0] == '?' && either_compile(self, arg, index);
	default:
		return false;
	}
}

static bool either_compile(struct compiler *self, const struct tep_print_arg *arg, uint16_t *index)
{
	const struct tep_print_arg *either = arg->op.right;
	struct ftr_print_string string = { .kind = FTR_PRINT_EITHER_STRING };

	return either->type == TEP_PRINT_OP && number_compile(self, arg->op.left, &string.term) &&
	       string_compile(self, either->op.left, &string.left) &&
	       string_compile(self, either->op.right, &string.right) &&
	       string_add(self, string, index);
}

/* ---- the format ---- */

/* The last step, if nothing but text stands there yet, and not more than @bytes.  NULL: none. */
static struct ftr_print_step *step_open(struct ftr_ftrace_print *print, size_t bytes)
{
	struct ftr_print_step *last;

	if (print->steps.nr == 0)
		return NULL;
	last = &print->steps.v[print->steps.nr - 1];
	return last->kind == FTR_PRINT_STEP_NOTHING && last->literal_bytes <= bytes ? last : NULL;
}

static bool literal_put(struct compiler *self, char c)
{
	struct ftr_print_step *open = step_open(self->print, FTR_PRINT_LITERAL_MAX - 1);
	struct ftr_print_step step = { .literal = { c }, .literal_bytes = 1,
				       .kind = FTR_PRINT_STEP_NOTHING };

	if (open == NULL)
		return ftr_vec_push(&self->print->steps, step) == 0;
	open->literal[open->literal_bytes++] = c;
	return true;
}

/* Behind the text that stands before it. */
static bool step_put(struct compiler *self, struct ftr_print_step step)
{
	struct ftr_print_step *open = step_open(self->print, FTR_PRINT_LITERAL_MAX);

	if (open == NULL)
		return ftr_vec_push(&self->print->steps, step) == 0;
	memcpy(step.literal, open->literal, sizeof(step.literal));
	step.literal_bytes = open->literal_bytes;
	*open = step;
	return true;
}

/* What follows a backslash.  NULL: unusual. */
static const char *escape_find(char c)
{
	static const char escapes[] = "n\nt\tr\r\\\\";

	for (size_t i = 0; i < sizeof(escapes) - 1; i += 2) {
		if (escapes[i] == c)
			return &escapes[i + 1];
	}
	return NULL;
}

static bool size_parse(const char **p, uint16_t *size)
{
	unsigned long value = strtoul(*p, (char **)(uintptr_t)p, 10);

	*size = (uint16_t)value;
	return value <= WIDTH_MAX;
}

static bool flags_parse(const char **p, struct ftr_print_step *step)
{
	for (;; ++*p) {
		if (**p == '-')
			step->is_left = true;
		else if (**p == '0')
			step->is_zero_filled = true;
		else if (**p == '#')
			step->is_prefixed = true;
		else
			break;
	}
	step->precision = UINT16_MAX;
	if (isdigit((unsigned char)**p) && !size_parse(p, &step->width))
		return false;
	if (**p != '.')
		return true;
	++*p;
	return isdigit((unsigned char)**p) && size_parse(p, &step->precision);
}

/* Bytes of the number that printf takes, by its length modifier.  0: unusual. */
static uint8_t length_parse(const char **p)
{
	int longs = 0;

	for (;; ++*p) {
		if (**p == 'l')
			longs++;
		else if (**p == 'h')
			longs--;
		else if (**p == 'z' && longs == 0)
			longs = 1;
		else if (**p == 'L' && longs == 0)
			longs = 2;
		else
			break;
	}
	if (longs < -2 || longs > 2)
		return 0;
	return longs > 0 ? 8 : longs == 0 ? 4 : longs == -1 ? 2 : 1;
}

static bool step_is_plain(const struct ftr_print_step *step)
{
	return step->width == 0 && step->precision == UINT16_MAX && !step->is_left &&
	       !step->is_zero_filled && !step->is_prefixed;
}

/* The number that the step is about. */
static bool operand_compile(struct compiler *self, const struct tep_print_arg *arg,
			    struct ftr_print_step *step)
{
	uint16_t index;

	if (!number_compile(self, arg, &index))
		return false;
	step->term = self->print->terms.v[index];
	return true;
}

static bool pointer_compile(struct compiler *self, const char **p, struct ftr_print_step *step,
			    const struct tep_print_arg *arg)
{
	char c = **p;

	step->kind = FTR_PRINT_STEP_POINTER;
	if (c == 's' || c == 'f')
		step->kind = FTR_PRINT_STEP_FUNCTION;
	else if (c == 'S' || c == 'F')
		step->kind = FTR_PRINT_STEP_FUNCTION_OFFSET;
	if (step->kind != FTR_PRINT_STEP_POINTER)
		++*p;
	while (step->kind != FTR_PRINT_STEP_POINTER && arg->type == TEP_PRINT_TYPE)
		arg = arg->typecast.item;
	return step_is_plain(step) && !isalnum((unsigned char)**p) &&
	       operand_compile(self, arg, step);
}

static bool string_step_compile(struct compiler *self, struct ftr_print_step *step,
				const struct tep_print_arg *arg)
{
	step->kind = FTR_PRINT_STEP_STRING;
	return !step->is_zero_filled && !step->is_prefixed &&
	       string_compile(self, arg, &step->string);
}

/* What is there for most numbers is faster. */
static enum ftr_print_step_kind number_kind(const struct ftr_print_step *step)
{
	bool has_gap = step->width > 0 && (!step->is_zero_filled || step->is_left);

	if (step->base == 10 && step->width == 0)
		return FTR_PRINT_STEP_DECIMAL;
	if (step->base == 16 && !step->is_upper && !step->is_prefixed && !has_gap &&
	    step->width <= HEX_DIGITS_MAX)
		return FTR_PRINT_STEP_HEX;
	return FTR_PRINT_STEP_NUMBER;
}

static bool number_step_compile(struct compiler *self, char c, struct ftr_print_step *step,
				const struct tep_print_arg *arg)
{
	step->base = c == 'o' ? 8 : c == 'x' || c == 'X' ? 16 : 10;
	step->is_signed = c == 'd' || c == 'i';
	step->is_upper = c == 'X';
	step->kind = c == 'c' ? FTR_PRINT_STEP_CHARACTER : number_kind(step);
	if (c == 'c' && !step_is_plain(step))
		return false;
	return step->precision == UINT16_MAX && (!step->is_prefixed || step->base == 16) &&
	       operand_compile(self, arg, step);
}

/* A conversion, from behind its %. */
static bool conversion_compile(struct compiler *self, const char **p,
			       const struct tep_print_arg *arg)
{
	struct ftr_print_step step = { 0 };
	bool is_fine;
	char c;

	if (arg == NULL || !flags_parse(p, &step))
		return false;
	step.bytes = length_parse(p);
	c = **p;
	if (step.bytes == 0 || c == '\0')
		return false;
	++*p;
	if (c == 'p')
		is_fine = pointer_compile(self, p, &step, arg);
	else if (c == 's')
		is_fine = string_step_compile(self, &step, arg);
	else
		is_fine = strchr("diuoxXc", c) != NULL && number_step_compile(self, c, &step, arg);
	return is_fine && step_put(self, step);
}

static bool format_compile(struct compiler *self, const char *p, const struct tep_print_arg *arg)
{
	const char *escaped;

	while (*p != '\0') {
		char c = *p++;

		if (c == '%' && *p != '%') {
			if (!conversion_compile(self, &p, arg))
				return false;
			arg = arg->next;
			continue;
		}
		if (c == '%')
			p++;
		if (c == '\\') {
			escaped = escape_find(*p++);
			if (escaped == NULL)
				return false;
			c = *escaped;
		}
		if (!literal_put(self, c))
			return false;
	}
	return true;
}

struct ftr_ftrace_print *ftr_ftrace_print_new(struct tep_event *tep)
{
	struct compiler compiler = { .print = calloc(1, sizeof(*compiler.print)), .tep = tep };

	if (compiler.print == NULL)
		return NULL;
	if (tep->print_fmt.format == NULL || tep->handler != NULL ||
	    !format_compile(&compiler, tep->print_fmt.format, tep->print_fmt.args)) {
		ftr_ftrace_print_free(compiler.print);
		return NULL;
	}
	return compiler.print;
}

void ftr_ftrace_print_free(struct ftr_ftrace_print *print)
{
	if (print == NULL)
		return;
	ftr_vec_fini(&print->steps);
	ftr_vec_fini(&print->terms);
	ftr_vec_fini(&print->strings);
	ftr_vec_fini(&print->rows);
	free(print);
}
