/* SPDX-License-Identifier: MIT */
/* What types are made of, from DWARF, for a calling convention. */
#ifndef FTR_OBJECT_DWARF_LEAVES_H
#define FTR_OBJECT_DWARF_LEAVES_H

#include <elfutils/libdw.h>
#include <stdbool.h>

#include "arch/callconv.h"

/*
 * The type that @die has, without typedefs and qualifiers; the last typedef's name to *alias
 * (nullable).  False: it has none, or one that is damaged.
 */
bool ftr_dwarf_type(Dwarf_Die *die, Dwarf_Die *type, const char **alias);

/* Has @die no type, or a typedef's that is none? */
bool ftr_dwarf_is_void(Dwarf_Die *die);

/* Has @die, or what it is an instance of, the flag @name? */
bool ftr_dwarf_is_flag(Dwarf_Die *die, unsigned name);

/* Is the base type @type x87's, in 16 bytes, or 12 of a machine of 32 bits? */
bool ftr_dwarf_is_x87(Dwarf_Die *type);

/* Does the base type @type consist of two of these? */
bool ftr_dwarf_is_x87_complex(Dwarf_Die *type);

/* Is @type a pointer to member functions, which has two words? */
bool ftr_dwarf_is_method_pointer(Dwarf_Die *type);

/*
 * Take @type apart, of a machine whose pointers have @word_bytes.  False: it is incomplete, or is
 * not passed by rules that are known.
 */
bool ftr_dwarf_leaves(Dwarf_Die *type, unsigned word_bytes, struct ftr_leaves *leaves);

#endif /* FTR_OBJECT_DWARF_LEAVES_H */
