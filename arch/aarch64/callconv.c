/* SPDX-License-Identifier: MIT */
/* Parameter passing of AAPCS64 (6.8.2; registers in DWARF: AADWARF64, 4.1). */
#include "arch/callconv.h"

#define WORD 8u
#define INTEGERS 8u		/* registers of arguments */
#define VECTORS 8u
#define IN_REGISTERS 16u	/* bytes of a value that is no homogeneous one */
#define HOMOGENEOUS_MAX 4u
#define STACK_MAX 0xffffu

static void place_add(struct ftr_places *places, enum ftr_place_kind kind, unsigned nr,
		      uint32_t bytes)
{
	places->v[places->nr++] = (struct ftr_place){ kind, (uint16_t)nr, bytes };
}

/* Up to four floats of one size and nothing else: how many; 0 = it is something else. */
static unsigned homogeneous_nr(const struct ftr_leaves *leaves)
{
	uint32_t i;

	if (leaves->is_by_reference || leaves->nr == 0 || leaves->nr > HOMOGENEOUS_MAX ||
	    leaves->nr * leaves->v[0].bytes != leaves->bytes)
		return 0;
	for (i = 0; i < leaves->nr; i++) {
		if (leaves->v[i].kind == FTR_LEAF_INTEGER ||
		    leaves->v[i].kind != leaves->v[0].kind ||
		    leaves->v[i].bytes != leaves->v[0].bytes ||
		    leaves->v[i].offset != i * leaves->v[0].bytes)
			return 0;
	}
	return leaves->nr;
}

static void put_on_stack(struct ftr_callconv_state *state, uint32_t bytes, uint32_t align,
			 struct ftr_places *places)
{
	uint32_t at;

	align = align > WORD ? 2 * WORD : WORD;
	at = (state->stack_bytes + align - 1) / align * align;
	if (at > STACK_MAX - WORD || bytes > STACK_MAX - WORD - at)
		place_add(places, FTR_PLACE_NOWHERE, 0, bytes);
	else
		place_add(places, FTR_PLACE_STACK, WORD + at, bytes);
	state->stack_bytes = at + (bytes + WORD - 1) / WORD * WORD;
}

/* Of vector registers the lower halves are known alone. */
static void homogeneous_place(const struct ftr_leaves *leaves, unsigned first, unsigned nr,
			      struct ftr_places *places)
{
	unsigned i;

	for (i = 0; i < nr && leaves->v[0].kind == FTR_LEAF_FLOAT; i++)
		place_add(places, FTR_PLACE_VECTOR, first + i, leaves->v[0].bytes);
	if (i < nr)
		place_add(places, FTR_PLACE_NOWHERE, 0, leaves->bytes);
}

static void words_place(enum ftr_place_kind kind, unsigned first, uint32_t bytes,
			struct ftr_places *places)
{
	for (; bytes > WORD; bytes -= WORD)
		place_add(places, kind, first++, WORD);
	place_add(places, kind, first, bytes);
}

static void put_integers(struct ftr_callconv_state *state, uint32_t bytes, uint32_t align,
			 struct ftr_places *places)
{
	unsigned nr = (bytes + WORD - 1) / WORD;

	if (align > WORD)
		state->integers += state->integers % 2;
	if (state->integers + nr > INTEGERS) {
		state->integers = INTEGERS;
		put_on_stack(state, bytes, align, places);
		return;
	}
	words_place(FTR_PLACE_INTEGER, state->integers, bytes, places);
	state->integers += nr;
}

static void argument_place(struct ftr_callconv_state *state, const struct ftr_leaves *leaves,
			   struct ftr_places *places)
{
	unsigned nr = homogeneous_nr(leaves);

	places->nr = 0;
	places->is_pointed = false;
	if (nr != 0 && state->vectors + nr <= VECTORS) {
		homogeneous_place(leaves, state->vectors, nr, places);
		state->vectors += nr;
	} else if (nr != 0) {
		state->vectors = VECTORS;
		put_on_stack(state, leaves->bytes, leaves->align, places);
	} else if (leaves->is_by_reference || leaves->bytes > IN_REGISTERS) {
		places->is_pointed = true;
		put_integers(state, WORD, WORD, places);
	} else if (leaves->bytes == 0) {
		place_add(places, FTR_PLACE_NOWHERE, 0, 0);
	} else {
		put_integers(state, leaves->bytes, leaves->align, places);
	}
}

/* Where a value of many words goes is told in x8, which need not outlive the call: see RESULT. */
static void retval_place(struct ftr_callconv_state *state, const struct ftr_leaves *leaves,
			 struct ftr_places *places)
{
	unsigned nr = homogeneous_nr(leaves);

	places->nr = 0;
	places->is_pointed = false;
	if (nr != 0) {
		homogeneous_place(leaves, 0, nr, places);
	} else if (leaves->is_by_reference || leaves->bytes > IN_REGISTERS) {
		places->is_pointed = true;
		place_add(places, FTR_PLACE_RESULT, 0, WORD);
	} else if (leaves->bytes == 0) {
		place_add(places, FTR_PLACE_NOWHERE, 0, 0);
	} else {
		words_place(FTR_PLACE_RETURN, 0, leaves->bytes, places);
	}
}

#define DWARF_VECTORS 64u	/* v0 */

static bool is_register(const struct ftr_place *place, unsigned nr)
{
	switch (place->kind) {
	case FTR_PLACE_INTEGER:
		return nr == place->nr;
	case FTR_PLACE_VECTOR:
		return nr == DWARF_VECTORS + place->nr;
	default:
		return false;
	}
}

extern const struct ftr_callconv ftr_callconv_aarch64;

static const struct ftr_register_name registers[] = {
	{ "X0", FTR_PLACE_INTEGER, 0 }, { "X1", FTR_PLACE_INTEGER, 1 },
	{ "X2", FTR_PLACE_INTEGER, 2 }, { "X3", FTR_PLACE_INTEGER, 3 },
	{ "X4", FTR_PLACE_INTEGER, 4 }, { "X5", FTR_PLACE_INTEGER, 5 },
	{ "X6", FTR_PLACE_INTEGER, 6 }, { "X7", FTR_PLACE_INTEGER, 7 },
	{ "V0", FTR_PLACE_VECTOR, 0 },	{ "V1", FTR_PLACE_VECTOR, 1 },
	{ "V2", FTR_PLACE_VECTOR, 2 },	{ "V3", FTR_PLACE_VECTOR, 3 },
	{ "V4", FTR_PLACE_VECTOR, 4 },	{ "V5", FTR_PLACE_VECTOR, 5 },
	{ "V6", FTR_PLACE_VECTOR, 6 },	{ "V7", FTR_PLACE_VECTOR, 7 },
	{ 0 }
};

const struct ftr_callconv ftr_callconv_aarch64 = {
	.word_bytes = WORD,
	.integer_nr = INTEGERS,
	.vector_nr = VECTORS,
	.registers = registers,
	.passes_addresses = true,
	.argument = argument_place,
	.retval = retval_place,
	.is_register = is_register,
};
