/* SPDX-License-Identifier: MIT */
/* See dwarf_class.h. */
#include "utils/object/dwarf_class.h"

#include <dwarf.h>
#include <string.h>

#include "utils/object/dwarf_leaves.h"

#define DEPTH_MAX 16			/* of objects in objects */
#define VISITS_MAX 4096

static Dwarf_Word number(Dwarf_Die *die, unsigned name)
{
	Dwarf_Attribute attr;
	Dwarf_Word value = 0;

	if (dwarf_attr_integrate(die, name, &attr) != NULL)
		dwarf_formudata(&attr, &value);
	return value;
}

/* Without its template's arguments. */
static bool is_named(const char *function, const char *class)
{
	size_t len = strcspn(class, "<");

	return strncmp(function, class, len) == 0 &&
	       (function[len] == '\0' || function[len] == '<');
}

/* Does the constructor take an object of @class, and nothing else? */
static bool is_copying(Dwarf_Die *constructor, Dwarf_Die *class)
{
	Dwarf_Die param, type, target;
	unsigned nr = 0;
	int ret = dwarf_child(constructor, &param);
	bool is_object = false;

	for (; ret == 0; ret = dwarf_siblingof(&param, &param)) {
		if (dwarf_tag(&param) != DW_TAG_formal_parameter ||
		    ftr_dwarf_is_flag(&param, DW_AT_artificial))
			continue;
		nr++;
		is_object = ftr_dwarf_type(&param, &type, NULL) &&
			    (dwarf_tag(&type) == DW_TAG_reference_type ||
			     dwarf_tag(&type) == DW_TAG_rvalue_reference_type) &&
			    ftr_dwarf_type(&type, &target, NULL) &&
			    dwarf_dieoffset(&target) == dwarf_dieoffset(class);
	}
	return nr == 1 && is_object;
}

/* Code of the source: neither the compiler's own nor "= default". */
static bool is_provided(Dwarf_Die *function)
{
	return !ftr_dwarf_is_flag(function, DW_AT_artificial) &&
	       number(function, DW_AT_defaulted) != DW_DEFAULTED_in_class;
}

static bool function_matters(Dwarf_Die *function, Dwarf_Die *class)
{
	const char *name = dwarf_diename(function), *class_name = dwarf_diename(class);

	if (name == NULL || class_name == NULL || !is_provided(function))
		return false;
	if (name[0] == '~')
		return true;
	return is_named(name, class_name) && is_copying(function, class);
}

static bool is_class(Dwarf_Die *type)
{
	int tag = dwarf_tag(type);

	return tag == DW_TAG_class_type || tag == DW_TAG_structure_type || tag == DW_TAG_union_type;
}

static bool class_matters(Dwarf_Die *type, unsigned depth, unsigned *visits);

/* A virtual table's pointer, a virtual base, or an object that has code of its own. */
static bool member_matters(Dwarf_Die *member, unsigned depth, unsigned *visits)
{
	const char *name = dwarf_diename(member);
	Dwarf_Die type, element;

	if ((name != NULL && strncmp(name, "_vptr", 5) == 0) ||
	    number(member, DW_AT_virtuality) != DW_VIRTUALITY_none)
		return true;
	if (ftr_dwarf_is_flag(member, DW_AT_external) ||
	    ftr_dwarf_is_flag(member, DW_AT_declaration) ||
	    !ftr_dwarf_type(member, &type, NULL))
		return false;
	if (dwarf_tag(&type) == DW_TAG_array_type && ftr_dwarf_type(&type, &element, NULL))
		type = element;
	return is_class(&type) && class_matters(&type, depth + 1, visits);
}

static bool class_matters(Dwarf_Die *type, unsigned depth, unsigned *visits)
{
	Dwarf_Word convention = number(type, DW_AT_calling_convention);
	Dwarf_Die child;
	int ret;

	if (convention == DW_CC_pass_by_reference || convention == DW_CC_pass_by_value)
		return convention == DW_CC_pass_by_reference;
	if (depth == DEPTH_MAX || ++*visits > VISITS_MAX)
		return false;
	ret = dwarf_child(type, &child);
	for (; ret == 0; ret = dwarf_siblingof(&child, &child)) {
		int tag = dwarf_tag(&child);

		if (tag == DW_TAG_subprogram && function_matters(&child, type))
			return true;
		if ((tag == DW_TAG_member || tag == DW_TAG_inheritance) &&
		    member_matters(&child, depth, visits))
			return true;
	}
	return false;
}

bool ftr_dwarf_is_by_reference(Dwarf_Die *type)
{
	unsigned visits = 0;

	return is_class(type) && class_matters(type, 0, &visits);
}
