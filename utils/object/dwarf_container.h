/* SPDX-License-Identifier: MIT */
/*
 * What the users of a container see of it, from DWARF: of a std::vector its elements, of a map how
 * many, of a smart pointer what it leads to, of an optional or a Rust enum what it is.
 */
#ifndef FTR_OBJECT_DWARF_CONTAINER_H
#define FTR_OBJECT_DWARF_CONTAINER_H

#include <elfutils/libdw.h>

#include "utils/object/dwarf_type.h"

/* NULL: the struct or class @type is none, not one that is known, or out of memory. */
const struct ftr_container *ftr_dwarf_container(struct ftr_dwarf_types *types, Dwarf_Die *type);

/* The values of the std::tuple @type, as members without names; 0 = it is none. */
uint32_t ftr_dwarf_tuple(struct ftr_dwarf_types *types, Dwarf_Die *type,
			 struct ftr_member members[], uint32_t room);

#endif /* FTR_OBJECT_DWARF_CONTAINER_H */
