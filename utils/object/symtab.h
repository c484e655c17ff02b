/* SPDX-License-Identifier: MIT */
/* The functions of one module, by address relative to its first mapping, sorted. */
#ifndef FTR_OBJECT_SYMTAB_H
#define FTR_OBJECT_SYMTAB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "utils/base/arena.h"
#include "utils/base/err.h"
#include "utils/base/istream.h"
#include "utils/base/ostream.h"

struct ftr_symbol {
	uint64_t addr;		/* relative to the module's first mapping */
	uint32_t size;		/* bytes; 0 = unknown: reaches up to the next symbol */
	char     type;		/* as nm(1): t T w P(LT) K(ernel) d D v u ? */
	const char *name;	/* mangled */
};

/* Is there code, or a library call, at its address? */
bool ftr_symbol_is_function(const struct ftr_symbol *symbol);

/* For qsort(3): by address, at one address the best name first. */
int ftr_symbol_compare(const void *left, const void *right);

struct ftr_symtab {
	struct ftr_symbol *symbols;	/* sorted by addr; one per address */
	size_t nr;
	const char *path;		/* of the module (nullable) */
	const char *build_id;		/* hex (nullable) */
	struct ftr_arena arena;		/* (owned) names, path, build_id, symbols */
};

void ftr_symtab_init(struct ftr_symtab *tab);
void ftr_symtab_fini(struct ftr_symtab *tab);

/* The symbol that covers @addr (of nested ones the innermost), or NULL. */
const struct ftr_symbol *ftr_symtab_find(const struct ftr_symtab *tab, uint64_t addr);

/*
 * Read a module's ELF file into an initialised table: .symtab, else that of its separate debug file
 * (build-id, debuglink), else .dynsym and .gnu_debugdata; on x86-64 PLT slots get type P.  No other
 * section is read or inflated.  Of several names at an address one is kept: code before data,
 * global and weak before local, fewer leading underscores, global before weak, shorter. -ENOENT,
 * -ENOEXEC (not ELF), -ENODATA (no symbols at all) ...; the table must be finished in any case.
 */
int ftr_symtab_load_elf(struct ftr_symtab *tab, const char *path, struct ftr_err *err);

/*
 * The NAME.sym text of the uftrace format.  Read: with and without size column, kallsyms; damaged
 * lines are warned about and skipped; 0 or -ENOMEM.  Written: without the size column, which
 * uftrace 0.13 cannot read, and the sizes in comments; 0 or the stream's -errno.  Do not announce
 * FTR_FEATURE_SYM_SIZE.
 */
int ftr_symtab_load_text(struct ftr_symtab *tab, struct ftr_istream *in, struct ftr_diag *diag,
			 struct ftr_err *err);
int ftr_symtab_store_text(const struct ftr_symtab *tab, struct ftr_ostream *out);

#endif /* FTR_OBJECT_SYMTAB_H */
