/* SPDX-License-Identifier: MIT */
/* See operands.h. */
#include "utils/patch/operands.h"

#include <string.h>

#include "utils/base/bits.h"
#include "utils/base/text.h"

#define SIZES 4

/* "-4", "8", "4f": negative with a sign, f of a floating-point number. */
static uint8_t type_of(struct ftr_slice size)
{
	static const uint8_t with_sign[] = { FTR_SDT_S8, FTR_SDT_S16, FTR_SDT_S32, FTR_SDT_S64 };
	static const uint8_t without[] = { FTR_SDT_U8, FTR_SDT_U16, FTR_SDT_U32, FTR_SDT_U64 };
	bool is_signed = size.len > 0 && size.s[0] == '-';
	bool is_float = size.len > 0 && size.s[size.len - 1] == 'f';
	uint64_t bytes;

	size.s += is_signed;
	size.len -= (size_t)is_signed + is_float;
	if (ftr_parse_u64(size, 10, &bytes) < 0)
		return 0;
	if (is_float)
		return bytes == 4 ? FTR_SDT_F32 : bytes == 8 ? FTR_SDT_F64 : 0;
	for (unsigned i = 0; i < SIZES; i++) {
		if (bytes == FTR_BIT64(i))
			return is_signed ? with_sign[i] : without[i];
	}
	return 0;
}

static const struct ftr_symbol *symbol_find(const struct ftr_symtab *symbols, struct ftr_slice name)
{
	for (size_t i = 0; i < symbols->nr; i++) {
		if (ftr_slice_eq(name, symbols->symbols[i].name))
			return &symbols->symbols[i];
	}
	return NULL;
}

/* The value counts from @symbol. */
static bool address_add(struct ftr_sdt_arg *arg, const struct ftr_symbol *symbol)
{
	uint64_t value = (ftr_sdt_value(arg)) + symbol->addr;

	arg->low = arg->high = (uint32_t)value;	/* FTR_PLAIN_LOW, FTR_PLAIN_HIGH */
	return value <= UINT32_MAX;
}

static bool arg_read(struct ftr_sdt_arg *arg, bool *is_address, struct ftr_slice text,
		     ftr_arch_operand_fn *read, const struct ftr_symtab *symbols)
{
	const struct ftr_symbol *symbol;
	struct ftr_slice size, name;

	if (memchr(text.s, '@', text.len) == NULL || !ftr_slice_split(&text, '@', &size))
		return false;
	arg->type = type_of(size);
	if (arg->type == 0 || !read(text, arg, &name))
		return false;
	if (name.len == 0)
		return true;
	symbol = arg->where == FTR_SDT_MEMORY ? NULL : symbol_find(symbols, name);
	*is_address = symbol != NULL;
	return symbol != NULL && address_add(arg, symbol);
}

/* Up to the next blank that is not in brackets: "-4@[sp, 28]". */
static bool next_word(struct ftr_slice *rest, struct ftr_slice *word)
{
	bool is_inside = false;
	size_t at;

	if (rest->len == 0)
		return false;
	for (at = 0; at < rest->len && (is_inside || rest->s[at] != ' '); at++) {
		if (rest->s[at] == '[')
			is_inside = true;
		else if (rest->s[at] == ']')
			is_inside = false;
	}
	*word = ftr_slice_make(rest->s, at);
	at += at < rest->len;
	*rest = ftr_slice_make(rest->s + at, rest->len - at);
	return true;
}

void ftr_operands_read(struct ftr_operands *operands, const char *text, ftr_arch_operand_fn *read,
		       const struct ftr_symtab *symbols)
{
	struct ftr_slice rest = ftr_slice_make(text, strlen(text)), word;

	memset(operands, 0, sizeof(*operands));
	while (operands->nr < FTR_SDT_ARGS_MAX && next_word(&rest, &word)) {
		struct ftr_sdt_arg arg = { 0 };
		bool is_address = false;

		if (word.len == 0)
			continue;
		if (!arg_read(&arg, &is_address, word, read, symbols)) {
			arg = (struct ftr_sdt_arg){ .where = FTR_SDT_NOWHERE };
			is_address = false;
		}
		operands->v[operands->nr] = arg;
		operands->is_address[operands->nr++] = is_address;
	}
}
