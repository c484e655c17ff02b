/* SPDX-License-Identifier: MIT */
/* Collecting symbols in any order and making a sorted table of them, one an address. */
#ifndef FTR_OBJECT_SYMTAB_BUILD_H
#define FTR_OBJECT_SYMTAB_BUILD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <gelf.h>

#include "utils/base/vec.h"
#include "utils/object/symtab.h"

struct ftr_symtab_build {
	struct ftr_symtab *tab;	/* (borrowed) its arena gets the names */
	FTR_VEC(struct ftr_symbol) symbols;
};

/* Copies the name.  0 or -ENOMEM. */
int ftr_symtab_build_add(struct ftr_symtab_build *build, struct ftr_symbol symbol,
			 size_t name_len);

/*
 * Add a function or object of an ELF symbol table of a module whose first mapping is at @base;
 * undefined symbols and other kinds are passed over.  0 or -ENOMEM.
 */
int ftr_symtab_build_add_sym(struct ftr_symtab_build *build, uint64_t base, const GElf_Sym *sym,
			     const char *name);

/* Sort, keep the best name of each address, hand over to the table.  0 or -ENOMEM. */
int ftr_symtab_build_finish(struct ftr_symtab_build *build);

void ftr_symtab_build_fini(struct ftr_symtab_build *build);

/* Does the type letter stand for code? */
static inline bool ftr_symbol_is_code(char type)
{
	return type == 'T' || type == 't' || type == 'w' || type == 'W' || type == 'i' ||
	       type == 'P' || type == 'K';
}

#endif /* FTR_OBJECT_SYMTAB_BUILD_H */
