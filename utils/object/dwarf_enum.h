/* SPDX-License-Identifier: MIT */
/* Enumerations by their names. */
#ifndef FTR_OBJECT_DWARF_ENUM_H
#define FTR_OBJECT_DWARF_ENUM_H

#include <elfutils/libdw.h>
#include <stdbool.h>

#include "utils/object/dwarf_type.h"

struct ftr_closest;

/*
 * The first enumeration called @name, by itself or by a typedef, in @scope (a unit) and the
 * namespaces and types in it.  False: there is none; @closest considers the names of others.
 */
bool ftr_dwarf_enum_find(Dwarf_Die *scope, const char *name, struct ftr_closest *closest,
			 Dwarf_Die *found);

/*
 * The enumeration @type, which is called @name (nullable): the same each time.  NULL: out of
 * memory.
 */
const struct ftr_enum_type *ftr_dwarf_enum_read(struct ftr_dwarf_types *types, Dwarf_Die *type,
						const char *name);

#endif /* FTR_OBJECT_DWARF_ENUM_H */
