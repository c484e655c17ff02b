/* SPDX-License-Identifier: MIT */
/* See dwarf_enum.h. */
#include "utils/object/dwarf_enum.h"

#include <dwarf.h>
#include <string.h>

#include "utils/base/closest.h"
#include "utils/object/dwarf_leaves.h"

#define DEPTH_MAX 10			/* of scopes in scopes */

struct search {
	const char *name;
	struct ftr_closest *closest;
};

static bool is_scope(Dwarf_Die *die)
{
	switch (dwarf_tag(die)) {
	case DW_TAG_namespace:
	case DW_TAG_structure_type:
	case DW_TAG_class_type:
	case DW_TAG_union_type:
		return true;
	default:
		return false;
	}
}

/* Is @die it?  *found becomes the enumeration; a declaration has no names of values. */
static bool is_it(const struct search *search, Dwarf_Die *die, Dwarf_Die *found)
{
	const char *there = dwarf_diename(die);
	int tag = dwarf_tag(die);

	if (there == NULL || (tag != DW_TAG_typedef && tag != DW_TAG_enumeration_type))
		return false;
	*found = *die;
	if (tag == DW_TAG_typedef && !ftr_dwarf_type(die, found, NULL))
		return false;
	if (dwarf_tag(found) != DW_TAG_enumeration_type ||
	    ftr_dwarf_is_flag(found, DW_AT_declaration))
		return false;
	ftr_closest_try(search->closest, search->name, there);
	return strcmp(there, search->name) == 0;
}

static bool find(const struct search *search, Dwarf_Die *scope, unsigned depth, Dwarf_Die *found)
{
	Dwarf_Die die;
	int ret = depth == DEPTH_MAX ? 1 : dwarf_child(scope, &die);

	for (; ret == 0; ret = dwarf_siblingof(&die, &die)) {
		if (is_it(search, &die, found) ||
		    (is_scope(&die) && find(search, &die, depth + 1, found)))
			return true;
	}
	return false;
}

bool ftr_dwarf_enum_find(Dwarf_Die *scope, const char *name, struct ftr_closest *closest,
			 Dwarf_Die *found)
{
	const struct search search = { name, closest };

	return find(&search, scope, 0, found);
}
