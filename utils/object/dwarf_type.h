/* SPDX-License-Identifier: MIT */
/* Parameters and return values of functions, from DWARF. */
#ifndef FTR_OBJECT_DWARF_TYPE_H
#define FTR_OBJECT_DWARF_TYPE_H

#include <elfutils/libdw.h>

#include "utils/base/arena.h"
#include "utils/base/hashmap.h"
#include "utils/object/signature.h"

/* What was read before, and where it is kept. */
struct ftr_dwarf_types {
	struct ftr_arena *arena;	/* (borrowed) */
	const struct ftr_callconv *callconv;	/* of the machine that the code is for */
	struct ftr_hashmap enums;	/* offset of a type -> const struct ftr_enum_type * */
	/* Of pointers that are followed, where these have 8 bytes; 0 = none, nor members. */
	unsigned depth;
	unsigned left, nesting, visited;	/* while a type is read */
};

/*
 * What @function, a subprogram with code, takes and gives.  A parameter whose place cannot be
 * known is "?": one of an incomplete type, or one that LLVM has changed or left out of a function
 * that only its own file calls; so are those behind it, unless debug info has registers for them.
 * In the arena; NULL: it is in a language whose calls are not known, or out of memory.
 */
const struct ftr_signature *ftr_dwarf_signature(struct ftr_dwarf_types *types, Dwarf_Die *function);

/*
 * What @type is; @alias (nullable) is its name where it has none.  With members and what pointers
 * lead to, as far as types->left says; both end where there is too much of them.
 */
struct ftr_type ftr_dwarf_type_read(struct ftr_dwarf_types *types, Dwarf_Die *type,
				    const char *alias);

/* The characters of an identifier: specs are taken apart at others.  Templates end at their "<". */
const char *ftr_dwarf_plain_name(struct ftr_arena *arena, const char *name);

#endif /* FTR_OBJECT_DWARF_TYPE_H */
