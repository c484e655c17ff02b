/* SPDX-License-Identifier: MIT */
/*
 * Functions with room for a call at their entry, as compilers record them:
 * -fpatchable-function-entry (__patchable_function_entries), -mrecord-mcount (__mcount_loc),
 * clang's XRay (xray_instr_map).
 */
#ifndef FTR_OBJECT_PATCHABLE_H
#define FTR_OBJECT_PATCHABLE_H

#include <stdint.h>

#include "utils/base/vec.h"
#include "utils/object/elf_file.h"
#include "utils/object/symtab.h"

enum ftr_patchable_state {
	FTR_PATCHABLE_ENTRY,		/* before the function's prologue */
	FTR_PATCHABLE_PROLOGUE,		/* behind it: -pg -mnop-mcount without -mfentry */
	FTR_PATCHABLE_SHORT,		/* less room than a call needs */
	FTR_PATCHABLE_UNKNOWN,		/* where its function starts is not known: no symbols */
	FTR_PATCHABLE_STATES,
};

struct ftr_patchable {
	uint64_t addr;			/* of the room, as in the file */
	uint8_t	 bytes;			/* of whole no-operations; 0 when it is short */
	uint8_t	 state;			/* enum ftr_patchable_state */
};

struct ftr_patchables {
	FTR_VEC(struct ftr_patchable) sites;	/* by ascending address */
};

/* Sections that list entries: FTR_ELF_HOOK_* bits of the file.  0 = it has none. */
unsigned ftr_patchable_kinds(const struct ftr_elf_file *file);

/*
 * Find the entries.  Those that hold a call already (-mrecord-mcount without -mnop-mcount) are left
 * out.  @symbols are the file's; with none, some stay unknown.  None on machines whose code cannot
 * be patched.  0 or -ENOMEM.
 */
int  ftr_patchables_load(struct ftr_patchables *patchables, const struct ftr_elf_file *file,
			 const struct ftr_symtab *symbols);
void ftr_patchables_fini(struct ftr_patchables *patchables);

#endif /* FTR_OBJECT_PATCHABLE_H */
