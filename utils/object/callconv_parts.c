/* SPDX-License-Identifier: MIT */
/* See callconv_parts.h. */
#include "utils/object/callconv_parts.h"

#include <stddef.h>

/* A scalar, or the address of a value that is not taken apart. */
static struct ftr_leaves part_of(const struct ftr_leaves *leaves, const struct ftr_leaf *leaf)
{
	struct ftr_leaves part = {
		.bytes = leaf->bytes, .align = leaf->bytes, .word_bytes = leaves->word_bytes,
		.nr = 1, .v = { { leaf->kind, 0, leaf->bytes } },
	};

	return part;
}

/* False: there are too many pieces. */
static bool places_append(struct ftr_places *places, const struct ftr_places *more)
{
	for (uint32_t i = 0; i < more->nr; i++) {
		if (places->nr == FTR_PLACES_MAX)
			return false;
		places->v[places->nr++] = more->v[i];
	}
	return true;
}

static void nowhere_put(struct ftr_places *places, uint32_t bytes)
{
	*places = (struct ftr_places){ .nr = 1, .v = { { FTR_PLACE_NOWHERE, 0, bytes } } };
}

static bool padding_put(struct ftr_places *places, uint32_t bytes)
{
	struct ftr_places padding;

	nowhere_put(&padding, bytes);
	return bytes == 0 || places_append(places, &padding);
}

void ftr_callconv_argument(const struct ftr_callconv *callconv, struct ftr_callconv_state *state,
			   const struct ftr_leaves *leaves, struct ftr_places *places)
{
	uint32_t end = 0;
	bool has_room = true;

	if (!leaves->is_apart || leaves->is_by_reference) {
		callconv->argument(state, leaves, places);
		return;
	}
	*places = (struct ftr_places){ 0 };
	for (uint32_t i = 0; i < leaves->nr; i++) {
		const struct ftr_leaf *leaf = &leaves->v[i];
		struct ftr_leaves part = part_of(leaves, leaf);
		struct ftr_places one = { 0 };

		callconv->argument(state, &part, &one);
		has_room = has_room && padding_put(places, leaf->offset - end) &&
			   places_append(places, &one);
		end = leaf->offset + leaf->bytes;
	}
	if (places->nr == 0 || !has_room)
		nowhere_put(places, leaves->bytes);
}

void ftr_callconv_retval(const struct ftr_callconv *callconv, struct ftr_callconv_state *state,
			 const struct ftr_leaves *leaves, struct ftr_places *places)
{
	uint16_t integers = 0, vectors = 0;
	uint32_t end = 0;
	bool has_room = true;

	if (!leaves->is_apart || leaves->is_by_reference || leaves->nr < 2) {
		callconv->retval(state, leaves, places);
		return;
	}
	*places = (struct ftr_places){ 0 };
	for (uint32_t i = 0; i < leaves->nr; i++) {
		const struct ftr_leaf *leaf = &leaves->v[i];
		bool is_float = leaf->kind == FTR_LEAF_FLOAT;
		struct ftr_places one = { .nr = 1, .v = { {
			.kind = is_float ? FTR_PLACE_VECTOR : FTR_PLACE_RETURN,
			.nr = is_float ? vectors++ : integers++, .bytes = leaf->bytes,
		} } };

		has_room = has_room && padding_put(places, leaf->offset - end) &&
			   places_append(places, &one);
		end = leaf->offset + leaf->bytes;
	}
	if (!has_room)
		nowhere_put(places, leaves->bytes);
}

static bool places_are_same(const struct ftr_places *a, const struct ftr_places *b)
{
	if (a->nr != b->nr || a->is_pointed != b->is_pointed)
		return false;
	for (uint32_t i = 0; i < a->nr; i++) {
		if (a->v[i].kind != b->v[i].kind || a->v[i].nr != b->v[i].nr)
			return false;
	}
	return true;
}

bool ftr_callconv_is_same(const struct ftr_callconv *callconv, const struct ftr_leaves *a,
			  const struct ftr_leaves *b, bool is_retval)
{
	const struct ftr_callconv_state states[] = {
		{ 0 }, { .integers = callconv->integer_nr - 1, .vectors = callconv->vector_nr - 1 },
	};
	bool are_same = true;

	for (size_t i = 0; i < (is_retval ? 1 : 2) && are_same; i++) {
		struct ftr_callconv_state of_a = states[i], of_b = states[i];
		struct ftr_places at_a = { 0 }, at_b = { 0 };

		if (is_retval) {
			ftr_callconv_retval(callconv, &of_a, a, &at_a);
			ftr_callconv_retval(callconv, &of_b, b, &at_b);
		} else {
			ftr_callconv_argument(callconv, &of_a, a, &at_a);
			ftr_callconv_argument(callconv, &of_b, b, &at_b);
		}
		are_same = places_are_same(&at_a, &at_b);
	}
	return are_same;
}
