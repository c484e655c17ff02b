/* SPDX-License-Identifier: MIT */
/* Containers of libc++, from DWARF.  Each: false, the class @type is not its. */
#ifndef FTR_OBJECT_DWARF_LIBCXX_H
#define FTR_OBJECT_DWARF_LIBCXX_H

#include <elfutils/libdw.h>

#include "utils/object/dwarf_type.h"

bool ftr_libcxx_tree(struct ftr_dwarf_types *types, Dwarf_Die *type, struct ftr_container *read);
bool ftr_libcxx_table(struct ftr_dwarf_types *types, Dwarf_Die *type, struct ftr_container *read);
bool ftr_libcxx_list(struct ftr_dwarf_types *types, Dwarf_Die *type, struct ftr_container *read);
bool ftr_libcxx_forward_list(struct ftr_dwarf_types *types, Dwarf_Die *type,
			     struct ftr_container *read);
bool ftr_libcxx_deque(struct ftr_dwarf_types *types, Dwarf_Die *type, struct ftr_container *read);
bool ftr_libcxx_bits(struct ftr_dwarf_types *types, Dwarf_Die *type, struct ftr_container *read);

/* The values of the std::tuple @type, as members without names; 0 = it is none. */
uint32_t ftr_libcxx_tuple(struct ftr_dwarf_types *types, Dwarf_Die *type,
			  struct ftr_member members[], uint32_t room);

/* Is it a std::string, with the layout that the library's first ABI has? */
bool ftr_libcxx_is_string(Dwarf_Die *type);

#endif /* FTR_OBJECT_DWARF_LIBCXX_H */
