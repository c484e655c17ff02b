/* SPDX-License-Identifier: MIT */
/* Operands of events (utils/proto/sdt.h), as the assembler of x86-64 writes them. */
#include <string.h>

#include "arch/arch.h"
#include "utils/base/text.h"
#include "utils/proto/sdt.h"

#define REGISTERS 16
#define WIDTHS 4

/* By their numbers in instructions; of 8, 4, 2 and 1 bytes. */
static const char *const registers[WIDTHS][REGISTERS] = {
	{ "rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi", "r8", "r9", "r10", "r11", "r12",
	  "r13", "r14", "r15" },
	{ "eax", "ecx", "edx", "ebx", "esp", "ebp", "esi", "edi", "r8d", "r9d", "r10d", "r11d",
	  "r12d", "r13d", "r14d", "r15d" },
	{ "ax", "cx", "dx", "bx", "sp", "bp", "si", "di", "r8w", "r9w", "r10w", "r11w", "r12w",
	  "r13w", "r14w", "r15w" },
	{ "al", "cl", "dl", "bl", "spl", "bpl", "sil", "dil", "r8b", "r9b", "r10b", "r11b", "r12b",
	  "r13b", "r14b", "r15b" },
};
static const char *const high_halves[] = { "ah", "ch", "dh", "bh" };	/* of the first four */
#define HIGH_FROM_BIT 8

extern ftr_arch_operand_fn ftr_arch_operand_x86_64;

static void value_set(struct ftr_sdt_arg *arg, uint64_t value)
{
	arg->low = (uint32_t)value;
	arg->high = (uint32_t)(value >> 32);
}

static bool register_find(struct ftr_slice name, unsigned widths, uint8_t *nr)
{
	for (unsigned width = 0; width < widths; width++) {
		for (unsigned i = 0; i < REGISTERS; i++) {
			if (!ftr_slice_eq(name, registers[width][i]))
				continue;
			*nr = (uint8_t)i;
			return true;
		}
	}
	return false;
}

static bool vector_find(struct ftr_slice name, uint8_t *nr)
{
	uint64_t number;

	if (!ftr_slice_starts(name, "xmm") ||
	    ftr_parse_u64(ftr_slice_make(name.s + 3, name.len - 3), 10, &number) < 0 ||
	    number >= REGISTERS)
		return false;
	*nr = (uint8_t)number;
	return true;
}

static bool register_operand(struct ftr_slice name, struct ftr_sdt_arg *arg)
{
	arg->where = FTR_SDT_REGISTER;
	if (register_find(name, WIDTHS, &arg->base))
		return true;
	for (unsigned i = 0; i < sizeof(high_halves) / sizeof(high_halves[0]); i++) {
		if (ftr_slice_eq(name, high_halves[i])) {
			arg->base = (uint8_t)i;
			arg->from_bit = HIGH_FROM_BIT;
			return true;
		}
	}
	arg->where = FTR_SDT_VECTOR;
	return vector_find(name, &arg->base);
}

/* "16", "-0x10". */
static bool number_read(struct ftr_slice text, uint64_t *value)
{
	bool is_negative = text.len > 0 && text.s[0] == '-';
	size_t sign = is_negative || (text.len > 0 && text.s[0] == '+');

	if (ftr_parse_u64(ftr_slice_make(text.s + sign, text.len - sign), 0, value) < 0)
		return false;
	if (is_negative)
		*value = -*value;
	return true;
}

/* "", a number, a symbol, or a symbol and a number: "queue+8", "8+queue". */
static bool displacement(struct ftr_slice text, uint64_t *value, struct ftr_slice *symbol)
{
	size_t at;

	*value = 0;
	if (text.len == 0 || number_read(text, value))
		return true;
	for (at = text.len - 1; at > 0 && text.s[at] != '+' && text.s[at] != '-'; at--)
		;
	*symbol = text;
	if (at == 0)
		return true;
	symbol->len = at;
	if (number_read(ftr_slice_make(text.s + at, text.len - at), value))
		return true;
	*symbol = ftr_slice_make(text.s + at + 1, text.len - at - 1);
	return number_read(ftr_slice_make(text.s, at), value);
}

static bool is_scale(struct ftr_slice text, uint8_t *bits)
{
	static const char *const words[] = { "1", "2", "4", "8" };

	for (uint8_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (ftr_slice_eq(text, words[i])) {
			*bits = i;
			return true;
		}
	}
	return false;
}

/* "%rbp", "%rax,%rbx,8", ",%rbx,8". */
static bool addressing(struct ftr_slice inner, struct ftr_sdt_arg *arg)
{
	struct ftr_slice part;

	if (inner.len == 0 || !ftr_slice_split(&inner, ',', &part))
		return false;
	if (part.len > 0 && (part.s[0] != '%' ||
	    !register_find(ftr_slice_make(part.s + 1, part.len - 1), 1, &arg->base)))
		return false;
	if (!ftr_slice_split(&inner, ',', &part))
		return true;
	part = ftr_slice_trim(part);
	if (part.len < 2 || part.s[0] != '%' ||
	    !register_find(ftr_slice_make(part.s + 1, part.len - 1), 1, &arg->index))
		return false;
	return !ftr_slice_split(&inner, ',', &part) || is_scale(ftr_slice_trim(part), &arg->scale);
}

static bool memory_operand(struct ftr_slice text, struct ftr_sdt_arg *arg, struct ftr_slice *symbol)
{
	const char *open = memchr(text.s, '(', text.len);
	struct ftr_slice before = text, inner;
	uint64_t value;

	if (open != NULL)
		before.len = (size_t)(open - text.s);
	if (memchr(text.s, '@', text.len) != NULL || memchr(text.s, ':', text.len) != NULL ||
	    !displacement(before, &value, symbol))
		return false;			/* a GOT's entry, or one of a thread */
	value_set(arg, value);
	arg->where = FTR_SDT_OWN;
	if (open == NULL)
		return symbol->len > 0;
	if (text.s[text.len - 1] != ')')
		return false;
	inner = ftr_slice_make(open + 1, (size_t)(text.s + text.len - 1 - (open + 1)));
	if (ftr_slice_eq(inner, "%rip"))
		return symbol->len > 0;
	arg->where = FTR_SDT_MEMORY;
	return addressing(inner, arg);
}

bool ftr_arch_operand_x86_64(struct ftr_slice text, struct ftr_sdt_arg *arg,
			     struct ftr_slice *symbol)
{
	uint64_t value;

	arg->base = arg->index = FTR_SDT_NO_REGISTER;
	*symbol = ftr_slice_make(text.s, 0);
	if (text.len < 1)
		return false;
	if (text.s[0] == '%' && memchr(text.s, ':', text.len) == NULL)
		return register_operand(ftr_slice_make(text.s + 1, text.len - 1), arg);
	if (text.s[0] != '$')
		return memory_operand(text, arg, symbol);
	arg->where = FTR_SDT_CONSTANT;
	if (text.len < 2 || !displacement(ftr_slice_make(text.s + 1, text.len - 1), &value, symbol))
		return false;
	value_set(arg, value);
	return true;
}
