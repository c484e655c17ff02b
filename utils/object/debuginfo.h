/* SPDX-License-Identifier: MIT */
/* Source lines, parameters and return values of a module's functions, from DWARF. */
#ifndef FTR_OBJECT_DEBUGINFO_H
#define FTR_OBJECT_DEBUGINFO_H

#include <stdbool.h>
#include <stdint.h>

#include "utils/base/err.h"
#include "utils/object/signature.h"

struct ftr_closest;
struct ftr_debuginfo;

/*
 * Open a module's ELF file.  Cheap: debug sections, or those of the separate debug file (found as
 * ftr_symtab_load_elf finds it, never over the network), are read when first asked for, a
 * compilation unit at a time.  0, -ENOENT, -ENOEXEC ... ; a file without debug information opens,
 * and finds nothing.
 */
int ftr_debuginfo_open(struct ftr_debuginfo **out, const char *path, struct ftr_err *err);
void ftr_debuginfo_close(struct ftr_debuginfo *info);	/* NULL is fine */

/*
 * Where the function that begins at @addr (relative to the module's first mapping, as in
 * ftr_symbol) is declared, by DWARF; of another address, or an assembler's function, where its
 * code comes from. *file is as the compiler wrote it, and lives until the close.  False when
 * unknown.
 */
bool ftr_debuginfo_find(struct ftr_debuginfo *info, uint64_t addr, const char **file,
			unsigned *line);

/*
 * Signatures have members and what pointers lead to, @depth of them deep.  Before any is asked for.
 */
void ftr_debuginfo_follow(struct ftr_debuginfo *info, unsigned depth);

/*
 * What the function that begins at @addr takes and gives (ftr_dwarf_signature says how far); lives
 * until the close.  NULL when unknown.
 */
const struct ftr_signature *ftr_debuginfo_signature(struct ftr_debuginfo *info, uint64_t addr);

/*
 * The first enumeration of any unit that has that name, or a typedef of it that has; as long as a
 * signature.  NULL when out of memory, or there is none: @closest considers the names of others.
 */
const struct ftr_enum_type *ftr_debuginfo_enum(struct ftr_debuginfo *info, const char *name,
					       struct ftr_closest *closest);

#endif /* FTR_OBJECT_DEBUGINFO_H */
