/* SPDX-License-Identifier: MIT */
/* Operands of events (utils/proto/sdt.h), as the assembler of 64-bit Arm writes them. */
#include <string.h>

#include "arch/arch.h"
#include "utils/base/text.h"
#include "utils/proto/sdt.h"

#define STACK_POINTER 31
#define INTEGERS 31		/* x0 to x30 */
#define VECTORS 32
#define SCALE_MAX 3

extern ftr_arch_operand_fn ftr_arch_operand_aarch64;

static void value_set(struct ftr_sdt_arg *arg, uint64_t value)
{
	arg->low = (uint32_t)value;
	arg->high = (uint32_t)(value >> 32);
}

/* "x7" with the letter x, a number below @nr. */
static bool numbered(struct ftr_slice name, char letter, unsigned nr, uint8_t *to)
{
	uint64_t number;

	if (name.len < 2 || name.s[0] != letter ||
	    ftr_parse_u64(ftr_slice_make(name.s + 1, name.len - 1), 10, &number) < 0 ||
	    number >= nr)
		return false;
	*to = (uint8_t)number;
	return true;
}

/* Of eight bytes. */
static bool whole_register(struct ftr_slice name, uint8_t *nr)
{
	if (!ftr_slice_eq(name, "sp"))
		return numbered(name, 'x', INTEGERS, nr);
	*nr = STACK_POINTER;
	return true;
}

static bool register_operand(struct ftr_slice name, struct ftr_sdt_arg *arg)
{
	static const char vectors[] = "bhsdqv";

	arg->where = FTR_SDT_REGISTER;
	if (whole_register(name, &arg->base) || numbered(name, 'w', INTEGERS, &arg->base))
		return true;
	arg->where = FTR_SDT_VECTOR;
	for (const char *letter = vectors; *letter != '\0'; letter++) {
		if (numbered(name, *letter, VECTORS, &arg->base))
			return true;
	}
	if (!ftr_slice_eq(name, "xzr") && !ftr_slice_eq(name, "wzr"))
		return false;
	arg->where = FTR_SDT_CONSTANT;
	return true;
}

/* "16", "#-0x10". */
static bool number_read(struct ftr_slice text, uint64_t *value)
{
	size_t hash = text.len > 0 && text.s[0] == '#';
	bool is_negative = text.len > hash && text.s[hash] == '-';
	size_t before = hash + is_negative;

	if (ftr_parse_u64(ftr_slice_make(text.s + before, text.len - before), 0, value) < 0)
		return false;
	if (is_negative)
		*value = -*value;
	return true;
}

/* "lsl 3": others widen a register of four bytes. */
static bool shift_read(struct ftr_slice text, uint8_t *bits)
{
	uint64_t number;

	if (!ftr_slice_starts(text, "lsl ") ||
	    !number_read(ftr_slice_trim(ftr_slice_make(text.s + 4, text.len - 4)), &number) ||
	    number > SCALE_MAX)
		return false;
	*bits = (uint8_t)number;
	return true;
}

/* "sp", "x29, -16", "x0, x1", "x0, x1, lsl 3"; what is known of a symbol alone is not read. */
static bool addressing(struct ftr_slice inner, struct ftr_sdt_arg *arg)
{
	struct ftr_slice part;
	uint64_t value = 0;

	if (!ftr_slice_split(&inner, ',', &part) ||
	    !whole_register(ftr_slice_trim(part), &arg->base))
		return false;
	if (!ftr_slice_split(&inner, ',', &part))
		return true;
	part = ftr_slice_trim(part);
	if (!number_read(part, &value) && !whole_register(part, &arg->index))
		return false;
	value_set(arg, value);
	if (!ftr_slice_split(&inner, ',', &part))
		return true;
	return arg->index != FTR_SDT_NO_REGISTER &&
	       shift_read(ftr_slice_trim(part), &arg->scale);
}

bool ftr_arch_operand_aarch64(struct ftr_slice text, struct ftr_sdt_arg *arg,
			      struct ftr_slice *symbol)
{
	uint64_t value;

	arg->base = arg->index = FTR_SDT_NO_REGISTER;
	*symbol = ftr_slice_make(text.s, 0);
	if (text.len < 1)
		return false;
	if (text.s[0] == '[') {
		arg->where = FTR_SDT_MEMORY;
		return text.s[text.len - 1] == ']' &&
		       addressing(ftr_slice_make(text.s + 1, text.len - 2), arg);
	}
	if (number_read(text, &value)) {
		arg->where = FTR_SDT_CONSTANT;
		value_set(arg, value);
		return true;
	}
	return register_operand(text, arg);
}
