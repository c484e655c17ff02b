/* SPDX-License-Identifier: MIT */
/* See dwarf_place.h. */
#include "utils/object/dwarf_place.h"

#include <dwarf.h>

#include "utils/object/dwarf_leaves.h"

/* What describes a place. */
struct ops {
	Dwarf_Op *v;
	size_t nr;
};

static bool ops_at_entry(Dwarf_Die *function, Dwarf_Die *die, unsigned name, struct ops *ops)
{
	Dwarf_Attribute attr;
	Dwarf_Addr entry;

	return dwarf_entrypc(function, &entry) == 0 && dwarf_attr(die, name, &attr) != NULL &&
	       dwarf_getlocation_addr(&attr, entry, &ops->v, &ops->nr, 1) == 1 && ops->nr > 0;
}

/* Do offsets count from where arguments on the stack begin? */
static bool counts_from_arguments(Dwarf_Die *function)
{
	struct ops base;

	return ops_at_entry(function, function, DW_AT_frame_base, &base) && base.nr == 1 &&
	       base.v[0].atom == DW_OP_call_frame_cfa;
}

/* The register of arguments that DWARF calls @nr; NULL: it is none. */
static const struct ftr_register_name *register_find(const struct ftr_callconv *callconv,
						     unsigned nr)
{
	const struct ftr_register_name *known = callconv->registers;

	for (; known->name != NULL; known++) {
		struct ftr_place place = { known->kind, known->nr, 0 };

		if (callconv->is_register(&place, nr))
			return known;
	}
	return NULL;
}

/* A register, or several that have a piece each. */
static bool registers_read(const struct ftr_callconv *callconv, const struct ops *ops,
			   struct ftr_places *places)
{
	uint32_t bytes = places->v[0].bytes, wanted = 0, read = 0;
	size_t i = 0, k;

	for (k = 0; k < places->nr; k++)
		wanted += places->v[k].bytes;
	places->nr = 0;
	while (i < ops->nr && places->nr < FTR_PLACES_MAX) {
		const struct ftr_register_name *found =
			register_find(callconv, ops->v[i].atom - DW_OP_reg0);
		bool is_piece = i + 1 < ops->nr && ops->v[i + 1].atom == DW_OP_piece;

		if (found == NULL || (!is_piece && ops->nr != 1))
			return false;
		places->v[places->nr++] = (struct ftr_place){
			found->kind, found->nr,
			is_piece ? (uint32_t)ops->v[i + 1].number : bytes,
		};
		read += places->v[places->nr - 1].bytes;
		i += is_piece ? 2 : 1;
	}
	/* What is behind the last piece may be padding of less than a word. */
	return i == ops->nr && read + callconv->word_bytes > wanted;
}

enum ftr_dwarf_place ftr_dwarf_place(const struct ftr_callconv *callconv, Dwarf_Die *function,
				     Dwarf_Die *param, struct ftr_places *places)
{
	struct ops ops;
	int64_t offset;

	if (!ops_at_entry(function, param, DW_AT_location, &ops))	/* it is not used */
		return ftr_dwarf_is_flag(function, DW_AT_external) ? FTR_DWARF_PLACE_UNTOLD :
								     FTR_DWARF_PLACE_UNKNOWN;
	if (ops.v[0].atom != DW_OP_fbreg)
		return registers_read(callconv, &ops, places) ? FTR_DWARF_PLACE_REGISTERS :
								FTR_DWARF_PLACE_UNKNOWN;
	if (!counts_from_arguments(function) || places->nr != 1)
		return FTR_DWARF_PLACE_UNTOLD;
	offset = (int64_t)ops.v[0].number;
	if (offset < 0 && places->v[0].bytes != callconv->word_bytes)
		return FTR_DWARF_PLACE_UNTOLD;	/* a copy, as all code has that is not optimised */
	if (offset < 0 || offset > UINT16_MAX - callconv->word_bytes)
		return FTR_DWARF_PLACE_UNKNOWN;
	places->v[0].kind = FTR_PLACE_STACK;
	places->v[0].nr = (uint16_t)(offset + callconv->word_bytes);
	return FTR_DWARF_PLACE_STACK;
}
