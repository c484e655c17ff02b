/* SPDX-License-Identifier: MIT */
/* How a module calls other modules: its procedure linkage table and the GOT entries behind it. */
#ifndef FTR_OBJECT_PLT_H
#define FTR_OBJECT_PLT_H

#include "utils/base/vec.h"
#include "utils/object/elf_file.h"
#include "utils/object/symtab_build.h"

/* One way out of the module.  Addresses as in the file: add the load address. */
struct ftr_plt_entry {
	uint64_t plt;		/* of the code that jumps; without a PLT: of the GOT entry */
	uint64_t got;		/* of the GOT entry it jumps through */
	uint64_t unbound;	/* what that holds before lazy binding; 0 = bound when loaded */
	uint32_t size;		/* bytes at plt */
	bool	 is_shared;	/* code reads the entry's value too: it may be compared */
	const char *name;	/* (borrowed from the file) */
	const char *version;	/* (borrowed from the file) "" = none */
};

struct ftr_plt {
	FTR_VEC(struct ftr_plt_entry) entries;
};

/*
 * Find the entries: slots of .plt, .plt.sec, .plt.got that jump through a GOT entry which a
 * relocation fills with a named symbol (lazy, -z now, IBT, of any linker), and calls through such
 * entries without a PLT (-fno-plt).  None of a machine whose code is not known.  Valid while
 * @file is open. 0 or -ENOMEM.
 */
int  ftr_plt_load(struct ftr_plt *plt, const struct ftr_elf_file *file);
void ftr_plt_fini(struct ftr_plt *plt);

/* Add a symbol of type P for each entry.  0 or -ENOMEM. */
int ftr_plt_add_symbols(struct ftr_symtab_build *build, const struct ftr_elf_file *file);

#endif /* FTR_OBJECT_PLT_H */
