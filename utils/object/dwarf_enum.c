/* SPDX-License-Identifier: MIT */
/* See dwarf_enum.h. */
#include "utils/object/dwarf_enum.h"

#include <dwarf.h>
#include <string.h>

#include "utils/base/closest.h"
#include "utils/object/dwarf_leaves.h"

#define DEPTH_MAX 10			/* of scopes in scopes */
#define ENUMERATORS_MAX 4096

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

static uint32_t enumerator_count(Dwarf_Die *type)
{
	uint32_t nr = 0;
	Dwarf_Die child;
	int ret = dwarf_child(type, &child);

	for (; ret == 0 && nr < ENUMERATORS_MAX; ret = dwarf_siblingof(&child, &child))
		nr += dwarf_tag(&child) == DW_TAG_enumerator;
	return nr;
}

static bool enumerator_read(struct ftr_enumerator *one, Dwarf_Die *die)
{
	Dwarf_Attribute attr;
	Dwarf_Sword value;

	if (dwarf_tag(die) != DW_TAG_enumerator || dwarf_diename(die) == NULL ||
	    dwarf_formsdata(dwarf_attr(die, DW_AT_const_value, &attr), &value) != 0)
		return false;
	*one = (struct ftr_enumerator){ dwarf_diename(die), value };
	return true;
}

static struct ftr_enum_type *enum_read(struct ftr_dwarf_types *types, Dwarf_Die *type,
				       const char *name)
{
	uint32_t nr = enumerator_count(type);
	struct ftr_enum_type *values;
	Dwarf_Die child;
	int ret;

	values = ftr_arena_alloc(types->arena, sizeof(*values) + nr * sizeof(values->values[0]));
	if (values == NULL)
		return NULL;
	*values = (struct ftr_enum_type){ .id = dwarf_dieoffset(type) };
	values->name = ftr_dwarf_plain_name(types->arena, name);
	ret = dwarf_child(type, &child);
	for (; ret == 0 && values->nr < nr; ret = dwarf_siblingof(&child, &child))
		values->nr += enumerator_read(&values->values[values->nr], &child);
	return values;
}

const struct ftr_enum_type *ftr_dwarf_enum_read(struct ftr_dwarf_types *types, Dwarf_Die *type,
						const char *name)
{
	struct ftr_enum_type *values = ftr_hashmap_find(&types->enums, dwarf_dieoffset(type));

	if (values != NULL)
		return values;
	values = enum_read(types, type, name);
	if (values != NULL && ftr_hashmap_set(&types->enums, values->id, values) < 0)
		return NULL;
	return values;
}
