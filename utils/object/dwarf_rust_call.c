/* SPDX-License-Identifier: MIT */
/* Is a function of Rust called as those of C are?  See dwarf_rust.h. */
#include <dwarf.h>
#include <string.h>

#include "utils/object/dwarf_leaves.h"
#include "utils/object/dwarf_rust.h"
#include "utils/object/dwarf_search.h"

#define DEPTH_MAX 16
#define REGISTERS_BYTES 16
#define RBP 6			/* as DWARF calls it */
#define ARGUMENTS_AT 16		/* above where it points */

static bool is_of_c(Dwarf_Die *type, unsigned depth);

static bool has_members_of_c(Dwarf_Die *type, unsigned depth)
{
	const char *name = dwarf_diename(type);
	Dwarf_Die die, member;
	int ret = dwarf_child(type, &die);

	if (name == NULL || strpbrk(name, "<(&[{") != NULL)
		return false;
	for (; ret == 0; ret = dwarf_siblingof(&die, &die)) {
		if (dwarf_tag(&die) == DW_TAG_variant_part)
			return false;
		if (ftr_dwarf_is_part(&die) &&
		    (!ftr_dwarf_type(&die, &member, NULL) || !is_of_c(&member, depth + 1)))
			return false;
	}
	return true;
}

/* Would the compiler not warn of it in a function for C? */
static bool is_of_c(Dwarf_Die *type, unsigned depth)
{
	Dwarf_Die element;

	if (depth == DEPTH_MAX)
		return true;
	switch (dwarf_tag(type)) {
	case DW_TAG_structure_type:
	case DW_TAG_union_type:
		return has_members_of_c(type, depth);
	case DW_TAG_array_type:
		return depth > 0 && ftr_dwarf_type(type, &element, NULL) &&
		       is_of_c(&element, depth + 1);
	default:
		return true;
	}
}

static bool is_by_rbp(Dwarf_Die *function)
{
	Dwarf_Attribute attr;
	Dwarf_Op *ops;
	size_t nr;

	return dwarf_attr(function, DW_AT_frame_base, &attr) != NULL &&
	       dwarf_getlocation(&attr, &ops, &nr) == 0 && nr == 1 &&
	       ops[0].atom == DW_OP_reg0 + RBP;
}

/* A large value itself among the arguments on the stack, where Rust would have its address. */
static bool is_passed_by_c(Dwarf_Die *param, Dwarf_Die *type)
{
	Dwarf_Attribute attr;
	Dwarf_Op *ops;
	size_t nr;

	return ftr_dwarf_is_object(type) && dwarf_bytesize(type) > REGISTERS_BYTES &&
	       dwarf_attr(param, DW_AT_location, &attr) != NULL &&
	       dwarf_getlocation(&attr, &ops, &nr) == 0 && nr == 1 &&
	       ops[0].atom == DW_OP_fbreg && (int64_t)ops[0].number >= ARGUMENTS_AT;
}

enum ftr_rust_call ftr_dwarf_rust_call(Dwarf_Die *function)
{
	bool by_rbp = is_by_rbp(function), are_of_c = true;
	Dwarf_Die die, type;
	int ret = dwarf_child(function, &die);

	for (; ret == 0; ret = dwarf_siblingof(&die, &die)) {
		if (dwarf_tag(&die) != DW_TAG_formal_parameter ||
		    !ftr_dwarf_type(&die, &type, NULL))
			continue;
		if (by_rbp && is_passed_by_c(&die, &type))
			return FTR_RUST_CALL_C;
		are_of_c &= is_of_c(&type, 0);
	}
	if (ftr_dwarf_type(function, &type, NULL))
		are_of_c &= is_of_c(&type, 0);
	/* What is called by a name of Rust's is seldom for C. */
	return are_of_c && !dwarf_hasattr_integrate(function, DW_AT_linkage_name) ?
		       FTR_RUST_CALL_EITHER : FTR_RUST_CALL_OWN;
}
