/* SPDX-License-Identifier: MIT */
/* What types consist of, and what pointers lead to, from DWARF. */
#ifndef FTR_OBJECT_DWARF_MEMBERS_H
#define FTR_OBJECT_DWARF_MEMBERS_H

#include <elfutils/libdw.h>

#include "utils/object/dwarf_type.h"

/* Before another type of a value is read: has it too many already? */
bool ftr_dwarf_is_enough(struct ftr_dwarf_types *types);

/* What @pointer leads to, as far as types->left allows; NULL: that is not to be known. */
const struct ftr_type *ftr_dwarf_target(struct ftr_dwarf_types *types, Dwarf_Die *pointer);

/* The same of the members of the struct, union, class or array @type, of which *read is known. */
void ftr_dwarf_members(struct ftr_dwarf_types *types, Dwarf_Die *type, struct ftr_type *read);

#endif /* FTR_OBJECT_DWARF_MEMBERS_H */
