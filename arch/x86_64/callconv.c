/* SPDX-License-Identifier: MIT */
/* Parameter passing of the System V ABI for x86-64 (psABI 3.2.3; registers in DWARF: 3.6.2). */
#include "arch/callconv.h"

#define WORD 8u
#define INTEGERS 6u		/* registers of arguments */
#define VECTORS 8u
#define WORDS_MAX 2u		/* of a value in registers */
#define STACK_MAX 0xffffu

enum word_class { CLASS_NONE, CLASS_SSE, CLASS_INTEGER };

struct classes {
	bool is_memory, is_x87, is_vector;
	unsigned nr;
	enum word_class words[WORDS_MAX];
};

static void word_merge(struct classes *classes, const struct ftr_leaf *leaf)
{
	enum word_class class = leaf->kind == FTR_LEAF_FLOAT ? CLASS_SSE : CLASS_INTEGER;
	uint32_t i;

	if (leaf->bytes == 0)
		return;
	for (i = leaf->offset / WORD; i <= (leaf->offset + leaf->bytes - 1) / WORD; i++) {
		if (classes->words[i] < class)
			classes->words[i] = class;
	}
}

static struct classes classify(const struct ftr_leaves *leaves)
{
	struct classes classes = { .nr = (leaves->bytes + WORD - 1) / WORD };
	uint32_t i;

	if (leaves->nr == 1 && leaves->v[0].offset == 0 && !leaves->is_memory) {
		classes.is_x87 = leaves->v[0].kind == FTR_LEAF_X87;
		classes.is_vector = leaves->v[0].kind == FTR_LEAF_VECTOR;
	}
	classes.is_memory = leaves->is_memory || leaves->bytes > WORDS_MAX * WORD;
	if (classes.is_memory)
		classes.nr = 0;
	for (i = 0; i < leaves->nr && !classes.is_memory; i++) {
		const struct ftr_leaf *leaf = &leaves->v[i];

		if (leaf->offset > leaves->bytes || leaf->bytes > leaves->bytes - leaf->offset ||
		    leaf->kind == FTR_LEAF_X87 || leaf->kind == FTR_LEAF_VECTOR)
			classes.is_memory = true;
		else
			word_merge(&classes, leaf);
	}
	return classes;
}

static unsigned words_of(const struct classes *classes, enum word_class class)
{
	unsigned nr = 0, i;

	for (i = 0; i < classes->nr; i++)
		nr += classes->words[i] == class;
	return nr;
}

static void place_add(struct ftr_places *places, enum ftr_place_kind kind, unsigned nr,
		      uint32_t bytes)
{
	places->v[places->nr++] = (struct ftr_place){ kind, (uint16_t)nr, bytes };
}

static uint32_t word_bytes(uint32_t bytes, unsigned word)
{
	uint32_t left = bytes - word * WORD;

	return left < WORD ? left : WORD;
}

static void put_integer(struct ftr_callconv_state *state, struct ftr_places *places, uint32_t bytes)
{
	if (state->integers < INTEGERS) {
		place_add(places, FTR_PLACE_INTEGER, state->integers++, bytes);
		return;
	}
	place_add(places, FTR_PLACE_STACK, WORD + state->stack_bytes, bytes);
	state->stack_bytes += WORD;
}

static void put_on_stack(struct ftr_callconv_state *state, const struct ftr_leaves *leaves,
			 struct ftr_places *places)
{
	uint32_t align = leaves->align > WORD ? leaves->align : WORD, at;

	at = (state->stack_bytes + align - 1) / align * align;
	if (at > STACK_MAX - WORD || leaves->bytes > STACK_MAX - WORD - at) {
		place_add(places, FTR_PLACE_NOWHERE, 0, leaves->bytes);
		return;
	}
	/* Where more than 16 bytes of alignment begin depends on the caller's frame. */
	if (align > 2 * WORD)
		place_add(places, FTR_PLACE_NOWHERE, 0, leaves->bytes);
	else
		place_add(places, FTR_PLACE_STACK, WORD + at, leaves->bytes);
	state->stack_bytes = at + (leaves->bytes + WORD - 1) / WORD * WORD;
}

static void put_vector(struct ftr_callconv_state *state, const struct ftr_leaves *leaves,
		       struct ftr_places *places)
{
	if (state->vectors == VECTORS) {
		put_on_stack(state, leaves, places);
		return;
	}
	state->vectors++;
	place_add(places, FTR_PLACE_NOWHERE, 0, leaves->bytes);	/* only lower halves are kept */
}

/* Each word in the next register of its class; a word of padding alone is not passed. */
static void words_place(const struct classes *classes, struct ftr_places *places, uint32_t bytes,
			enum ftr_place_kind integer, unsigned *integers, unsigned *vectors)
{
	unsigned i;

	for (i = 0; i < classes->nr; i++) {
		uint32_t part = word_bytes(bytes, i);

		if (classes->words[i] == CLASS_SSE)
			place_add(places, FTR_PLACE_VECTOR, (*vectors)++, part);
		else if (classes->words[i] == CLASS_INTEGER)
			place_add(places, integer, (*integers)++, part);
		else
			place_add(places, FTR_PLACE_NOWHERE, 0, part);
	}
}

static void argument_place(struct ftr_callconv_state *state, const struct ftr_leaves *leaves,
			   struct ftr_places *places)
{
	struct classes classes = classify(leaves);
	unsigned integers = words_of(&classes, CLASS_INTEGER);
	unsigned vectors = words_of(&classes, CLASS_SSE);

	places->nr = 0;
	places->is_pointed = leaves->is_by_reference;
	if (leaves->is_by_reference) {
		put_integer(state, places, WORD);
	} else if (classes.is_vector) {
		put_vector(state, leaves, places);
	} else if (leaves->nr == 0 && !classes.is_memory) {	/* an empty class is not passed */
		place_add(places, FTR_PLACE_NOWHERE, 0, leaves->bytes);
	} else if (classes.is_memory || state->integers + integers > INTEGERS ||
		   state->vectors + vectors > VECTORS) {
		put_on_stack(state, leaves, places);
	} else {
		words_place(&classes, places, leaves->bytes, FTR_PLACE_INTEGER, &state->integers,
			    &state->vectors);
	}
}

static void retval_place(struct ftr_callconv_state *state, const struct ftr_leaves *leaves,
			 struct ftr_places *places)
{
	struct classes classes = classify(leaves);
	unsigned integers = 0, vectors = 0;

	places->nr = 0;
	places->is_pointed = false;
	if (leaves->is_x87_complex) {
		place_add(places, FTR_PLACE_X87, 0, leaves->bytes / 2);
		place_add(places, FTR_PLACE_X87, 1, leaves->bytes / 2);
	} else if (leaves->is_by_reference ||
	    (classes.is_memory && !classes.is_x87 && !classes.is_vector)) {
		places->is_pointed = true;	/* the caller's room: its address comes first */
		place_add(places, FTR_PLACE_RETURN, 0, WORD);
		state->integers++;
	} else if (classes.is_x87) {
		place_add(places, FTR_PLACE_X87, 0, leaves->bytes);
	} else if (classes.is_vector || leaves->nr == 0) {
		place_add(places, FTR_PLACE_NOWHERE, 0, leaves->bytes);
	} else {
		words_place(&classes, places, leaves->bytes, FTR_PLACE_RETURN, &integers, &vectors);
	}
}

#define DWARF_VECTORS 17u	/* xmm0 */

static bool is_register(const struct ftr_place *place, unsigned nr)
{
	static const uint8_t integers[INTEGERS] = { 5, 4, 1, 2, 8, 9 };	/* rdi, rsi, rdx ... */

	switch (place->kind) {
	case FTR_PLACE_INTEGER:
		return nr == integers[place->nr];
	case FTR_PLACE_VECTOR:
		return nr == DWARF_VECTORS + place->nr;
	default:
		return false;
	}
}

extern const struct ftr_callconv ftr_callconv_x86_64;

static const struct ftr_register_name registers[] = {
	{ "RDI", FTR_PLACE_INTEGER, 0 }, { "RSI", FTR_PLACE_INTEGER, 1 },
	{ "RDX", FTR_PLACE_INTEGER, 2 }, { "RCX", FTR_PLACE_INTEGER, 3 },
	{ "R8", FTR_PLACE_INTEGER, 4 },	 { "R9", FTR_PLACE_INTEGER, 5 },
	{ "XMM0", FTR_PLACE_VECTOR, 0 }, { "XMM1", FTR_PLACE_VECTOR, 1 },
	{ "XMM2", FTR_PLACE_VECTOR, 2 }, { "XMM3", FTR_PLACE_VECTOR, 3 },
	{ "XMM4", FTR_PLACE_VECTOR, 4 }, { "XMM5", FTR_PLACE_VECTOR, 5 },
	{ "XMM6", FTR_PLACE_VECTOR, 6 }, { "XMM7", FTR_PLACE_VECTOR, 7 },
	{ 0 }
};

const struct ftr_callconv ftr_callconv_x86_64 = {
	.word_bytes = WORD,
	.integer_nr = INTEGERS,
	.vector_nr = VECTORS,
	.has_x87 = true,
	.registers = registers,
	.argument = argument_place,
	.retval = retval_place,
	.is_register = is_register,
};
