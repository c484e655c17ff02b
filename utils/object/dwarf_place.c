/* SPDX-License-Identifier: MIT */
/* See dwarf_place.h. */
#include "utils/object/dwarf_place.h"

#include <dwarf.h>
#include <limits.h>

#include "utils/base/bits.h"
#include "utils/object/dwarf_leaves.h"
#include "utils/object/param_count.h"

#define NO_REGISTER UINT_MAX

/* What describes a place. */
struct ops {
	Dwarf_Attribute attr;	/* that has them */
	Dwarf_Op *v;
	size_t nr;
};

static bool ops_at_entry(Dwarf_Die *function, Dwarf_Die *die, unsigned name, struct ops *ops)
{
	Dwarf_Addr entry;

	return dwarf_entrypc(function, &entry) == 0 && dwarf_attr(die, name, &ops->attr) != NULL &&
	       dwarf_getlocation_addr(&ops->attr, entry, &ops->v, &ops->nr, 1) == 1 && ops->nr > 0;
}

/* What describes it first, wherever that begins. */
static bool ops_at_first(Dwarf_Die *variable, struct ops *ops)
{
	Dwarf_Addr base, start, end;

	return dwarf_attr(variable, DW_AT_location, &ops->attr) != NULL &&
	       dwarf_getlocations(&ops->attr, 0, &base, &start, &end, &ops->v, &ops->nr) > 0 &&
	       ops->nr > 0;
}

/* Do offsets count from where arguments on the stack begin? */
static bool counts_from_arguments(Dwarf_Die *function)
{
	struct ops base;

	return ops_at_entry(function, function, DW_AT_frame_base, &base) && base.nr == 1 &&
	       base.v[0].atom == DW_OP_call_frame_cfa;
}

/* The register that @op says it is, by DWARF's numbers; NO_REGISTER: it says another thing. */
static unsigned register_of(const Dwarf_Op *op)
{
	if (op->atom == DW_OP_regx)
		return op->number < NO_REGISTER ? (unsigned)op->number : NO_REGISTER;
	if (op->atom < DW_OP_reg0 || op->atom > DW_OP_reg31)
		return NO_REGISTER;
	return op->atom - DW_OP_reg0;
}

/* At an offset from a register. */
static bool is_based(const Dwarf_Op *op)
{
	return op->atom >= DW_OP_breg0 && op->atom <= DW_OP_breg31;
}

static bool is_register_at(const struct ftr_callconv *callconv, const Dwarf_Op *op,
			   const struct ftr_place *place)
{
	unsigned nr = register_of(op);

	return nr != NO_REGISTER && callconv->is_register(place, nr);
}

static bool keeps_mask(uint64_t mask, uint32_t bytes)
{
	uint64_t wanted = bytes < sizeof(mask) ? FTR_BIT64(CHAR_BIT * bytes) - 1 : UINT64_MAX;

	return (mask & wanted) == wanted;
}

/* Does a conversion to the type that @op names leave the low @bytes as they are? */
static bool keeps_converted(struct ops *ops, const Dwarf_Op *op, uint32_t bytes)
{
	Dwarf_Die type;
	int size;

	if (op->number == 0) /* to the machine's word */
		return true;
	size = dwarf_getlocation_die(&ops->attr, op, &type) == 0 ? dwarf_bytesize(&type) : -1;
	return size >= 0 && (uint32_t)size >= bytes;
}

/*
 * The register whose low @bytes the value is, by DWARF's numbers; NO_REGISTER: it is another thing.
 * LLVM tells so of booleans: their register, without what is above 32 bits, converted to one bit
 * and back.
 */
static unsigned register_of_value(struct ops *ops, uint32_t bytes)
{
	size_t i;

	if (ops->nr == 1)
		return register_of(&ops->v[0]);
	if (!is_based(&ops->v[0]) || ops->v[0].number != 0 ||
	    ops->v[ops->nr - 1].atom != DW_OP_stack_value)
		return NO_REGISTER;
	for (i = 1; i < ops->nr - 1; i++) {
		if (ops->v[i].atom == DW_OP_constu && ops->v[i + 1].atom == DW_OP_and &&
		    keeps_mask(ops->v[i].number, bytes))
			i++;
		else if (ops->v[i].atom != DW_OP_convert ||
			 !keeps_converted(ops, &ops->v[i], bytes))
			return NO_REGISTER;
	}
	return ops->v[0].atom - DW_OP_breg0;
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
static bool registers_read(const struct ftr_callconv *callconv, struct ops *ops, uint32_t end,
			   struct ftr_places *places)
{
	uint32_t bytes = places->v[0].bytes, wanted = 0, read = 0;
	const struct ftr_register_name *whole;
	size_t i = 0, k;

	for (k = 0; k < places->nr; k++)
		wanted += places->v[k].bytes;
	whole = places->nr == 1 ? register_find(callconv, register_of_value(ops, bytes)) : NULL;
	if (whole != NULL) {
		places->v[0] = (struct ftr_place){ whole->kind, whole->nr, bytes };
		return true;
	}
	places->nr = 0;
	while (i < ops->nr && places->nr < FTR_PLACES_MAX) {
		const struct ftr_register_name *found = register_find(callconv,
								      register_of(&ops->v[i]));
		bool is_piece = i + 1 < ops->nr && ops->v[i + 1].atom == DW_OP_piece;

		if (found == NULL || (!is_piece && ops->nr != 1))
			return false;
		places->v[places->nr++] = (struct ftr_place){
			found->kind,
			found->nr,
			is_piece ? (uint32_t)ops->v[i + 1].number : bytes,
		};
		read += places->v[places->nr - 1].bytes;
		i += is_piece ? 2 : 1;
	}
	/* What is behind the last piece may be padding of less than a word. */
	return i == ops->nr && read >= end && read + callconv->word_bytes > wanted;
}

enum ftr_dwarf_place ftr_dwarf_place(const struct ftr_callconv *callconv, Dwarf_Die *function,
				     Dwarf_Die *param, uint32_t end,
				     struct ftr_places *places)
{
	struct ops ops;
	int64_t offset;

	if (!ops_at_entry(function, param, DW_AT_location, &ops)) /* it is not used */
		return ftr_dwarf_is_flag(function, DW_AT_external) ? FTR_DWARF_PLACE_UNTOLD :
								     FTR_DWARF_PLACE_UNKNOWN;
	if (ops.v[0].atom != DW_OP_fbreg)
		return registers_read(callconv, &ops, end, places) ? FTR_DWARF_PLACE_REGISTERS :
								FTR_DWARF_PLACE_UNKNOWN;
	if (!counts_from_arguments(function) || places->nr != 1)
		return FTR_DWARF_PLACE_UNTOLD;
	offset = (int64_t)ops.v[0].number;
	if (offset < 0 && places->v[0].bytes != callconv->word_bytes)
		return FTR_DWARF_PLACE_UNTOLD; /* a copy, as all code has that is not optimised */
	if (offset < 0 || offset > UINT16_MAX - callconv->word_bytes)
		return FTR_DWARF_PLACE_UNKNOWN;
	places->v[0].kind = FTR_PLACE_STACK;
	places->v[0].nr = (uint16_t)(offset + callconv->word_bytes);
	return FTR_DWARF_PLACE_STACK;
}

bool ftr_dwarf_is_changed(Dwarf_Die *function)
{
	Dwarf_Attribute attr;
	Dwarf_Word convention;

	return dwarf_attr_integrate(function, DW_AT_calling_convention, &attr) != NULL &&
	       dwarf_formudata(&attr, &convention) == 0 && convention == DW_CC_nocall;
}

bool ftr_dwarf_has_lost_params(Dwarf_Die *function, int nr)
{
	Dwarf_Attribute attr;
	int named;

	if (dwarf_attr_integrate(function, DW_AT_linkage_name, &attr) == NULL ||
	    dwarf_formstring(&attr) == NULL)
		return false;
	named = ftr_param_count(dwarf_formstring(&attr));
	return named >= 0 && named != nr;
}

/* In memory: code that is not optimised has it on the stack, or where its address was passed. */
static bool is_in_memory(Dwarf_Die *variable)
{
	struct ops ops;

	return ops_at_first(variable, &ops) &&
	       (ops.nr == 1 || (ops.nr == 2 && ops.v[1].atom == DW_OP_deref)) &&
	       (ops.v[0].atom == DW_OP_fbreg || is_based(&ops.v[0]));
}

bool ftr_dwarf_is_optimized(Dwarf_Die *function)
{
	bool is_found = ftr_dwarf_is_flag(function, DW_AT_call_all_calls) ||
			ftr_dwarf_is_flag(function, DW_AT_GNU_all_call_sites);
	Dwarf_Die child;
	int ret;

	for (ret = dwarf_child(function, &child); ret == 0 && !is_found;
	     ret = dwarf_siblingof(&child, &child)) {
		int tag = dwarf_tag(&child);

		is_found = tag == DW_TAG_inlined_subroutine ||
			   (tag == DW_TAG_formal_parameter && !is_in_memory(&child));
	}
	return is_found;
}

static bool is_constant(const Dwarf_Op *op)
{
	return op->atom == DW_OP_implicit_value ||
	       (op->atom >= DW_OP_const1u && op->atom <= DW_OP_consts) ||
	       (op->atom >= DW_OP_lit0 && op->atom <= DW_OP_lit31);
}

bool ftr_dwarf_is_optimized_out(Dwarf_Die *function, Dwarf_Die *param)
{
	Dwarf_Addr entry;
	struct ops ops;

	if (dwarf_entrypc(function, &entry) != 0) /* a declaration */
		return false;
	return !dwarf_hasattr(param, DW_AT_location) ||
	       (ops_at_entry(function, param, DW_AT_location, &ops) && is_constant(&ops.v[0]));
}

/* Each piece in its register: none is left out, or something else. */
static bool are_pieces_at(const struct ftr_callconv *callconv, const struct ops *ops,
			  const struct ftr_places *places)
{
	size_t i;

	for (i = 0; 2 * i + 1 < ops->nr && i < places->nr; i++)
		if (!is_register_at(callconv, &ops->v[2 * i], &places->v[i]) ||
		    ops->v[2 * i + 1].atom != DW_OP_piece)
			return false;
	return 2 * i == ops->nr && i == places->nr;
}

/* Its address is passed, and stays in its register until it is there: clang tells no earlier. */
static bool is_pointed_at(const struct ftr_callconv *callconv, Dwarf_Die *param,
			  const struct ftr_places *places)
{
	struct ops ops;

	return places->is_pointed && ops_at_first(param, &ops) && ops.nr == 1 &&
	       ops.v[0].number == 0 && is_based(&ops.v[0]) &&
	       callconv->is_register(&places->v[0], ops.v[0].atom - DW_OP_breg0);
}

bool ftr_dwarf_is_at(const struct ftr_callconv *callconv, Dwarf_Die *function, Dwarf_Die *param,
		     const struct ftr_places *places)
{
	struct ops ops;

	if (!ops_at_entry(function, param, DW_AT_location, &ops))
		return is_pointed_at(callconv, param, places);
	if (ops.v[ops.nr - 1].atom == DW_OP_piece)
		return are_pieces_at(callconv, &ops, places);
	return register_of(&ops.v[0]) == NO_REGISTER ||
	       is_register_at(callconv, &ops.v[0], &places->v[0]);
}
