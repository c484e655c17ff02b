/* SPDX-License-Identifier: MIT */
/*
 * Parameter passing of the System V ABI for i386, as gcc and clang have it on Linux: arguments are
 * on the stack, structures are returned in room of the caller's.  Functions with attributes, and
 * those that only their own file calls, may take arguments in registers: debug info tells.
 */
#include "arch/callconv.h"

#define WORD 4u
#define VECTORS 3u		/* registers of arguments that are vectors */
#define STACK_MAX 0xffffu

static void place_add(struct ftr_places *places, enum ftr_place_kind kind, unsigned nr,
		      uint32_t bytes)
{
	places->v[places->nr++] = (struct ftr_place){ kind, (uint16_t)nr, bytes };
}

static bool is_one(const struct ftr_leaves *leaves, enum ftr_leaf_kind kind)
{
	return !leaves->is_aggregate && !leaves->is_memory && leaves->nr == 1 &&
	       leaves->v[0].kind == kind;
}

static void put_on_stack(struct ftr_callconv_state *state, struct ftr_places *places,
			 uint32_t bytes)
{
	uint32_t at = state->stack_bytes;

	if (at > STACK_MAX - WORD || bytes > STACK_MAX - WORD - at) {
		place_add(places, FTR_PLACE_NOWHERE, 0, bytes);
		return;
	}
	place_add(places, FTR_PLACE_STACK, WORD + at, bytes);
	state->stack_bytes = at + (bytes + WORD - 1) / WORD * WORD;
}

static void argument_place(struct ftr_callconv_state *state, const struct ftr_leaves *leaves,
			   struct ftr_places *places)
{
	places->nr = 0;
	places->is_pointed = leaves->is_by_reference;
	if (leaves->is_by_reference) {
		put_on_stack(state, places, WORD);
	} else if (is_one(leaves, FTR_LEAF_VECTOR) && state->vectors < VECTORS) {
		state->vectors++;
		place_add(places, FTR_PLACE_NOWHERE, 0, leaves->bytes);
	} else {
		put_on_stack(state, places, leaves->bytes);
	}
}

static bool is_on_x87_stack(const struct ftr_leaves *leaves)
{
	return is_one(leaves, FTR_LEAF_FLOAT) || is_one(leaves, FTR_LEAF_X87);
}

static void retval_place(struct ftr_callconv_state *state, const struct ftr_leaves *leaves,
			 struct ftr_places *places)
{
	places->nr = 0;
	places->is_pointed = false;
	if (is_on_x87_stack(leaves)) {
		place_add(places, FTR_PLACE_X87, 0, leaves->bytes);
	} else if (is_one(leaves, FTR_LEAF_VECTOR)) {
		place_add(places, FTR_PLACE_NOWHERE, 0, leaves->bytes);
	} else if (leaves->is_aggregate || leaves->is_by_reference || leaves->bytes > 2 * WORD) {
		places->is_pointed = true;	/* the caller's room: its address comes first */
		place_add(places, FTR_PLACE_RETURN, 0, WORD);
		state->stack_bytes += WORD;
	} else if (leaves->bytes <= WORD) {
		place_add(places, FTR_PLACE_RETURN, 0, leaves->bytes);
	} else {
		place_add(places, FTR_PLACE_RETURN, 0, WORD);
		place_add(places, FTR_PLACE_RETURN, 1, leaves->bytes - WORD);
	}
}

static bool is_register(const struct ftr_place *place, unsigned nr)
{
	static const uint8_t integers[] = { 0, 2, 1 };	/* eax, edx, ecx */

	return place->kind == FTR_PLACE_INTEGER && place->nr < sizeof(integers) &&
	       nr == integers[place->nr];
}

extern const struct ftr_callconv ftr_callconv_i386;

static const struct ftr_register_name registers[] = {
	{ "EAX", FTR_PLACE_INTEGER, 0 },
	{ "EDX", FTR_PLACE_INTEGER, 1 },
	{ "ECX", FTR_PLACE_INTEGER, 2 },
	{ 0 }
};

const struct ftr_callconv ftr_callconv_i386 = {
	.word_bytes = WORD,
	.registers = registers,
	.has_variants = true,
	.has_x87 = true,
	.argument = argument_place,
	.retval = retval_place,
	.is_register = is_register,
};
