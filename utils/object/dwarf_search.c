/* SPDX-License-Identifier: MIT */
/* See dwarf_search.h. */
#include "utils/object/dwarf_search.h"

#include <dwarf.h>
#include <string.h>

#include "utils/object/dwarf_leaves.h"

#define WORD 8u
#define DEPTH_MAX 10			/* of objects around the member that counts */
#define VISITS_MAX 400
#define OFFSET_MAX FTR_DWARF_OFFSET_MAX

struct search {
	const char *name;
	bool (*is_it)(Dwarf_Die *type);
	unsigned visits;
};

bool ftr_dwarf_is_object(Dwarf_Die *type)
{
	int tag = dwarf_tag(type);

	return tag == DW_TAG_structure_type || tag == DW_TAG_class_type ||
	       tag == DW_TAG_union_type;
}

bool ftr_dwarf_is_pointer(Dwarf_Die *type)
{
	return dwarf_tag(type) == DW_TAG_pointer_type;
}

/* Clang says no sizes of pointers. */
int64_t ftr_dwarf_bytes_of(Dwarf_Die *type)
{
	return ftr_dwarf_is_pointer(type) ? (int64_t)WORD : dwarf_bytesize(type);
}

bool ftr_dwarf_is_array(Dwarf_Die *type)
{
	return dwarf_tag(type) == DW_TAG_array_type;
}

/* Where the member, base or variant @die is in what it belongs to. */
bool ftr_dwarf_offset_of(Dwarf_Die *die, uint32_t *offset)
{
	Dwarf_Attribute attr;
	Dwarf_Word at = 0;

	if (dwarf_attr(die, DW_AT_data_member_location, &attr) != NULL &&
	    dwarf_formudata(&attr, &at) != 0)
		return false;
	*offset = (uint32_t)at;
	return at <= OFFSET_MAX;
}

bool ftr_dwarf_is_part(Dwarf_Die *die)
{
	int tag = dwarf_tag(die);

	return (tag == DW_TAG_member || tag == DW_TAG_inheritance) &&
	       !ftr_dwarf_is_flag(die, DW_AT_external) &&
	       !ftr_dwarf_is_flag(die, DW_AT_declaration);
}

static bool is_named(Dwarf_Die *die, const char *name)
{
	const char *there = dwarf_diename(die);

	return there != NULL && strcmp(there, name) == 0;
}

/* The first member of that name, however deep in members and bases. */
static bool find(struct search *search, Dwarf_Die *type, unsigned depth,
		 struct ftr_dwarf_found *found)
{
	Dwarf_Die die, part;
	uint32_t at;
	int ret = depth == DEPTH_MAX ? 1 : dwarf_child(type, &die);

	for (; ret == 0 && search->visits < VISITS_MAX; ret = dwarf_siblingof(&die, &die)) {
		if (!ftr_dwarf_is_part(&die) || !ftr_dwarf_offset_of(&die, &at) ||
		    !ftr_dwarf_type(&die, &part, NULL))
			continue;
		search->visits++;
		*found = (struct ftr_dwarf_found){ part, at };
		if (is_named(&die, search->name) && search->is_it(&part))
			return true;
		if (ftr_dwarf_is_object(&part) && find(search, &part, depth + 1, found)) {
			found->offset += at;
			return found->offset <= OFFSET_MAX;
		}
	}
	return false;
}

bool ftr_dwarf_member_find(Dwarf_Die *type, const char *name, bool (*is_it)(Dwarf_Die *type),
			struct ftr_dwarf_found *found)
{
	struct search search = { .name = name, .is_it = is_it };

	return find(&search, type, 0, found);
}

/* The first pointer, however deep: that of Rust's RawVec. */
bool ftr_dwarf_pointer_find(Dwarf_Die *type, unsigned depth, struct ftr_dwarf_found *found)
{
	Dwarf_Die die, part;
	uint32_t at;
	int ret = depth == DEPTH_MAX ? 1 : dwarf_child(type, &die);

	for (; ret == 0; ret = dwarf_siblingof(&die, &die)) {
		if (!ftr_dwarf_is_part(&die) || !ftr_dwarf_offset_of(&die, &at) ||
		    !ftr_dwarf_type(&die, &part, NULL))
			continue;
		*found = (struct ftr_dwarf_found){ part, at };
		if (ftr_dwarf_is_pointer(&part))
			return true;
		if (!ftr_dwarf_is_object(&part) || !ftr_dwarf_pointer_find(&part, depth + 1, found))
			continue;
		found->offset += at;
		return found->offset <= OFFSET_MAX;
	}
	return false;
}

bool ftr_dwarf_variant_part(Dwarf_Die *type, Dwarf_Die *part)
{
	int ret = ftr_dwarf_is_object(type) ? dwarf_child(type, part) : 1;

	while (ret == 0 && dwarf_tag(part) != DW_TAG_variant_part)
		ret = dwarf_siblingof(part, part);
	return ret == 0;
}

/* What the container's type calls T, its first type. */
bool ftr_dwarf_first_type(Dwarf_Die *type, Dwarf_Die *first)
{
	Dwarf_Die die;
	int ret = dwarf_child(type, &die);

	while (ret == 0 && dwarf_tag(&die) != DW_TAG_template_type_parameter)
		ret = dwarf_siblingof(&die, &die);
	return ret == 0 && ftr_dwarf_type(&die, first, NULL);
}

/* The strictest of its members and bases; 0: not known. */
static uint32_t members_alignment(Dwarf_Die *type, unsigned depth)
{
	uint32_t most = 1, one;
	Dwarf_Die die, part;
	int ret = dwarf_child(type, &die);

	for (; ret == 0; ret = dwarf_siblingof(&die, &die)) {
		if (!ftr_dwarf_is_part(&die))
			continue;
		one = ftr_dwarf_type(&die, &part, NULL) ? ftr_dwarf_alignment_of(&part, depth + 1) :
							  0;
		if (one == 0)
			return 0;
		most = one > most ? one : most;
	}
	return most;
}

uint32_t ftr_dwarf_alignment_of(Dwarf_Die *type, unsigned depth)
{
	Dwarf_Attribute attr;
	Dwarf_Word said;
	Dwarf_Die inner;
	int64_t bytes = ftr_dwarf_bytes_of(type);

	if (dwarf_attr(type, DW_AT_alignment, &attr) != NULL)
		return dwarf_formudata(&attr, &said) == 0 && said <= OFFSET_MAX ? (uint32_t)said :
										  0;
	if (depth == DEPTH_MAX)
		return 0;
	if (ftr_dwarf_is_object(type))
		return members_alignment(type, depth);
	if (ftr_dwarf_is_array(type))
		return ftr_dwarf_type(type, &inner, NULL) ?
			       ftr_dwarf_alignment_of(&inner, depth + 1) :
			       0;
	return bytes > 0 && bytes <= 2 * (int64_t)WORD ? (uint32_t)bytes : 0;
}
