/* SPDX-License-Identifier: MIT */
/* What is looked for in the types of DWARF: members by their names, however deep, and layouts. */
#ifndef FTR_OBJECT_DWARF_SEARCH_H
#define FTR_OBJECT_DWARF_SEARCH_H

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stdint.h>

#define FTR_DWARF_OFFSET_MAX UINT16_MAX

/* A member that was found, and where it is. */
struct ftr_dwarf_found {
	Dwarf_Die type;
	uint32_t offset;
};

bool ftr_dwarf_is_object(Dwarf_Die *type);	/* a struct, a class or a union */
bool ftr_dwarf_is_pointer(Dwarf_Die *type);
bool ftr_dwarf_is_array(Dwarf_Die *type);
/* A member that objects have, or a base. */
bool ftr_dwarf_is_part(Dwarf_Die *die);

/* -1: not known. */
int64_t ftr_dwarf_bytes_of(Dwarf_Die *type);
/* @depth: 0.  0: not known. */
uint32_t ftr_dwarf_alignment_of(Dwarf_Die *type, unsigned depth);
/* Where the member, base or variant @die is in what it belongs to. */
bool ftr_dwarf_offset_of(Dwarf_Die *die, uint32_t *offset);

/* The first member of that name, however deep in members and bases, whose type @is_it. */
bool ftr_dwarf_member_find(Dwarf_Die *type, const char *name, bool (*is_it)(Dwarf_Die *type),
			   struct ftr_dwarf_found *found);
/* The first pointer, however deep: that of Rust's RawVec.  @depth: 0. */
bool ftr_dwarf_pointer_find(Dwarf_Die *type, unsigned depth, struct ftr_dwarf_found *found);

/* What tells the variants of a Rust enum.  False: @type is none. */
bool ftr_dwarf_variant_part(Dwarf_Die *type, Dwarf_Die *part);

/* What the container's type calls T, its first type. */
bool ftr_dwarf_first_type(Dwarf_Die *type, Dwarf_Die *first);

#endif /* FTR_OBJECT_DWARF_SEARCH_H */
