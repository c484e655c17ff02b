/* SPDX-License-Identifier: MIT */
/* How C++ objects are passed, from DWARF. */
#ifndef FTR_OBJECT_DWARF_CLASS_H
#define FTR_OBJECT_DWARF_CLASS_H

#include <elfutils/libdw.h>
#include <stdbool.h>

/*
 * Is an object of @type passed by its address, because copying, moving or destroying it takes code
 * of its own (Itanium C++ ABI, "non-trivial for the purposes of calls")?  Compilers that do not say
 * so (gcc) describe the functions that make it so.
 */
bool ftr_dwarf_is_by_reference(Dwarf_Die *type);

#endif /* FTR_OBJECT_DWARF_CLASS_H */
