/* SPDX-License-Identifier: MIT */
/* See dwarf_leaves.h. */
#include "utils/object/dwarf_leaves.h"

#include <dwarf.h>
#include <string.h>

#include "utils/object/dwarf_class.h"

#define ALIASES_MAX 32			/* typedefs and qualifiers around a type */
#define DEPTH_MAX 16			/* of structs in structs */
#define VISITS_MAX 4096			/* of types in one */
#define WORD 8u
#define VECTOR_BYTES 16u
#define REGISTERS_BYTES 16u		/* more is passed in memory, but for floats alone */
#define HOMOGENEOUS_BYTES 64u		/* of these, on 64-bit Arm */

bool ftr_dwarf_type(Dwarf_Die *die, Dwarf_Die *type, const char **alias)
{
	Dwarf_Attribute attr;
	Dwarf_Die here = *die;

	for (unsigned i = 0; i < ALIASES_MAX; i++) {
		if (dwarf_formref_die(dwarf_attr_integrate(&here, DW_AT_type, &attr), type) == NULL)
			return false;
		switch (dwarf_tag(type)) {
		case DW_TAG_typedef:
			if (alias != NULL)
				*alias = dwarf_diename(type);
			break;
		case DW_TAG_const_type:
		case DW_TAG_volatile_type:
		case DW_TAG_restrict_type:
		case DW_TAG_atomic_type:
			break;
		default:
			return true;
		}
		here = *type;
	}
	return false;
}

bool ftr_dwarf_is_void(Dwarf_Die *die)
{
	Dwarf_Attribute attr;
	Dwarf_Die here = *die;

	for (unsigned i = 0; i < ALIASES_MAX; i++) {
		Dwarf_Die type;

		if (dwarf_attr_integrate(&here, DW_AT_type, &attr) == NULL)
			return true;
		if (dwarf_formref_die(&attr, &type) == NULL ||
		    (dwarf_tag(&type) != DW_TAG_typedef && dwarf_tag(&type) != DW_TAG_const_type))
			return false;
		here = type;
	}
	return false;
}

static Dwarf_Word attr_number(Dwarf_Die *die, unsigned name, Dwarf_Word otherwise)
{
	Dwarf_Attribute attr;
	Dwarf_Word value;

	if (dwarf_attr_integrate(die, name, &attr) == NULL || dwarf_formudata(&attr, &value) != 0)
		return otherwise;
	return value;
}

bool ftr_dwarf_is_flag(Dwarf_Die *die, unsigned name)
{
	Dwarf_Attribute attr;
	bool value = false;

	return dwarf_attr_integrate(die, name, &attr) != NULL &&
	       dwarf_formflag(&attr, &value) == 0 && value;
}

bool ftr_dwarf_is_x87(Dwarf_Die *type)
{
	const char *name = dwarf_diename(type);
	int64_t bytes = dwarf_bytesize(type);

	return attr_number(type, DW_AT_encoding, 0) == DW_ATE_float &&
	       (bytes == 16 || bytes == 12) && name != NULL &&
	       (strstr(name, "long double") != NULL || strcmp(name, "__float80") == 0 ||
		strcmp(name, "_Float64x") == 0);
}

bool ftr_dwarf_is_x87_complex(Dwarf_Die *type)
{
	const char *name = dwarf_diename(type);
	int64_t bytes = dwarf_bytesize(type);

	return dwarf_tag(type) == DW_TAG_base_type &&
	       attr_number(type, DW_AT_encoding, 0) == DW_ATE_complex_float &&
	       (bytes == 32 || bytes == 24) && name != NULL &&
	       (strstr(name, "long double") != NULL || strcmp(name, "complex") == 0);
}

bool ftr_dwarf_is_method_pointer(Dwarf_Die *type)
{
	Dwarf_Die target;

	return dwarf_tag(type) == DW_TAG_ptr_to_member_type &&
	       ftr_dwarf_type(type, &target, NULL) && dwarf_tag(&target) == DW_TAG_subroutine_type;
}

static void leaf_add(struct ftr_leaves *leaves, enum ftr_leaf_kind kind, uint32_t offset,
		     uint32_t bytes, uint32_t align)
{
	if (align > leaves->align)
		leaves->align = align;
	if (align == 0 || offset % align != 0 || leaves->nr == FTR_LEAVES_MAX)
		leaves->is_memory = true;
	if (leaves->nr < FTR_LEAVES_MAX)
		leaves->v[leaves->nr++] = (struct ftr_leaf){ kind, offset, bytes };
}

static bool base_leaves(Dwarf_Die *type, struct ftr_leaves *leaves, uint32_t offset, uint32_t bytes)
{
	Dwarf_Word encoding = attr_number(type, DW_AT_encoding, 0);
	uint32_t half = bytes / 2;

	if (encoding == DW_ATE_complex_float && half > WORD) {	/* of long doubles */
		leaf_add(leaves, FTR_LEAF_X87, offset, half, half);
		leaf_add(leaves, FTR_LEAF_X87, offset + half, half, half);
	} else if (encoding == DW_ATE_complex_float) {
		leaf_add(leaves, FTR_LEAF_FLOAT, offset, half, half);
		leaf_add(leaves, FTR_LEAF_FLOAT, offset + half, half, half);
	} else if (encoding == DW_ATE_float && ftr_dwarf_is_x87(type)) {
		leaf_add(leaves, FTR_LEAF_X87, offset, bytes, bytes);
	} else if (encoding == DW_ATE_float && bytes > WORD) {	/* binary128 */
		leaf_add(leaves, FTR_LEAF_VECTOR, offset, bytes, bytes);
	} else {
		leaf_add(leaves, encoding == DW_ATE_float ? FTR_LEAF_FLOAT : FTR_LEAF_INTEGER,
			 offset, bytes, bytes);
	}
	return true;
}

static bool type_leaves(Dwarf_Die *type, struct ftr_leaves *leaves, uint32_t offset,
			unsigned depth);

/* A bit field belongs to the word that its bits are in. */
static bool member_offset(Dwarf_Die *member, uint32_t *offset, bool *is_bits)
{
	Dwarf_Word at = attr_number(member, DW_AT_data_member_location, 0);
	Dwarf_Word bit = attr_number(member, DW_AT_data_bit_offset, 0);

	*is_bits = attr_number(member, DW_AT_bit_size, 0) != 0;
	if (*is_bits)
		at = (at + bit / 8) / WORD * WORD;
	*offset = (uint32_t)at;
	return at < UINT32_MAX;
}

static bool members_leaves(Dwarf_Die *type, struct ftr_leaves *leaves, uint32_t offset,
			   unsigned depth)
{
	Dwarf_Die member, member_type;
	int ret = dwarf_child(type, &member);
	uint32_t at;
	bool is_bits;

	for (; ret == 0; ret = dwarf_siblingof(&member, &member)) {
		int tag = dwarf_tag(&member);

		if (tag == DW_TAG_variant_part)
			return false;
		if ((tag != DW_TAG_member && tag != DW_TAG_inheritance) ||
		    ftr_dwarf_is_flag(&member, DW_AT_external) ||
		    ftr_dwarf_is_flag(&member, DW_AT_declaration))
			continue;
		if (!ftr_dwarf_type(&member, &member_type, NULL) ||
		    !member_offset(&member, &at, &is_bits) || at > leaves->bytes)
			return false;
		if (is_bits)
			leaf_add(leaves, FTR_LEAF_INTEGER, (offset + at) / WORD * WORD, 1, 1);
		else if (!type_leaves(&member_type, leaves, offset + at, depth))
			return false;
	}
	return true;
}

static bool array_leaves(Dwarf_Die *type, struct ftr_leaves *leaves, uint32_t offset,
			 unsigned depth)
{
	Dwarf_Word bytes = 0, one = 0;
	Dwarf_Die element;

	if (dwarf_aggregate_size(type, &bytes) != 0 || !ftr_dwarf_type(type, &element, NULL) ||
	    dwarf_aggregate_size(&element, &one) != 0)
		return false;
	if (ftr_dwarf_is_flag(type, DW_AT_GNU_vector)) {
		leaf_add(leaves, bytes > WORD ? FTR_LEAF_VECTOR : FTR_LEAF_FLOAT, offset,
			 (uint32_t)bytes, (uint32_t)bytes);
		return bytes > 0 && bytes <= 4 * VECTOR_BYTES;
	}
	/* What lies behind the registers is in memory, however much it is. */
	for (Dwarf_Word at = 0; at < bytes && at < HOMOGENEOUS_BYTES && one > 0; at += one) {
		if (!type_leaves(&element, leaves, offset + (uint32_t)at, depth))
			return false;
	}
	return true;
}

static bool type_leaves(Dwarf_Die *type, struct ftr_leaves *leaves, uint32_t offset, unsigned depth)
{
	uint32_t word = leaves->word_bytes;
	int64_t bytes = dwarf_bytesize(type);

	if (depth == DEPTH_MAX || leaves->visited++ == VISITS_MAX)
		return false;
	switch (dwarf_tag(type)) {
	case DW_TAG_base_type:
		return bytes > 0 && bytes <= 2 * VECTOR_BYTES &&
		       base_leaves(type, leaves, offset, (uint32_t)bytes);
	case DW_TAG_enumeration_type:
		if (bytes <= 0 || bytes > WORD)
			return false;
		leaf_add(leaves, FTR_LEAF_INTEGER, offset, (uint32_t)bytes, (uint32_t)bytes);
		return true;
	case DW_TAG_pointer_type:
	case DW_TAG_reference_type:
	case DW_TAG_rvalue_reference_type:
	case DW_TAG_unspecified_type:
		leaf_add(leaves, FTR_LEAF_INTEGER, offset, word, word);
		return true;
	case DW_TAG_ptr_to_member_type:
		leaf_add(leaves, FTR_LEAF_INTEGER, offset, word, word);
		if (ftr_dwarf_is_method_pointer(type))
			leaf_add(leaves, FTR_LEAF_INTEGER, offset + word, word, word);
		return true;
	case DW_TAG_structure_type:
	case DW_TAG_class_type:
	case DW_TAG_union_type:
		return bytes >= 0 && members_leaves(type, leaves, offset, depth + 1);
	case DW_TAG_array_type:
		return array_leaves(type, leaves, offset, depth + 1);
	default:
		return false;
	}
}

/* libdw gives none of pointers when the compiler did not. */
static bool size_of(Dwarf_Die *type, uint32_t word, Dwarf_Word *bytes)
{
	switch (dwarf_tag(type)) {
	case DW_TAG_pointer_type:
	case DW_TAG_reference_type:
	case DW_TAG_rvalue_reference_type:
	case DW_TAG_unspecified_type:
		*bytes = word;
		return true;
	case DW_TAG_ptr_to_member_type:
		*bytes = ftr_dwarf_is_method_pointer(type) ? 2 * word : word;
		return true;
	default:
		return dwarf_aggregate_size(type, bytes) == 0 && *bytes <= INT32_MAX;
	}
}

static bool is_aggregate(Dwarf_Die *type)
{
	switch (dwarf_tag(type)) {
	case DW_TAG_structure_type:
	case DW_TAG_class_type:
	case DW_TAG_union_type:
		return true;
	default:
		return ftr_dwarf_is_method_pointer(type);
	}
}

bool ftr_dwarf_leaves(Dwarf_Die *type, unsigned word_bytes, struct ftr_leaves *leaves)
{
	Dwarf_Word bytes;
	bool is_known;

	*leaves = (struct ftr_leaves){ .align = 1, .word_bytes = word_bytes };
	if (!size_of(type, word_bytes, &bytes))
		return false;
	leaves->bytes = (uint32_t)bytes;
	leaves->is_aggregate = is_aggregate(type);
	leaves->is_by_reference = ftr_dwarf_is_by_reference(type);
	if (leaves->is_by_reference)
		return true;
	leaves->align = (uint32_t)attr_number(type, DW_AT_alignment, 1);
	leaves->is_memory = bytes > REGISTERS_BYTES;
	leaves->is_x87_complex = ftr_dwarf_is_x87_complex(type);
	is_known = type_leaves(type, leaves, 0, 0);
	return is_known || leaves->is_memory;
}
