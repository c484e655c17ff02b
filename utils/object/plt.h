/* SPDX-License-Identifier: MIT */
/* The slots of a module's procedure linkage table, named. */
#ifndef FTR_OBJECT_PLT_H
#define FTR_OBJECT_PLT_H

#include "utils/object/elf_file.h"
#include "utils/object/symtab_build.h"

/*
 * Add a symbol of type P for each slot of .plt, .plt.sec and .plt.got that jumps through a GOT entry
 * which a relocation fills with a named symbol: lazy, -z now, IBT, of any linker.  x86-64 only; of other
 * machines nothing is added.  0 or -ENOMEM.
 */
int ftr_plt_load(struct ftr_symtab_build *build, const struct ftr_elf_file *file);

#endif /* FTR_OBJECT_PLT_H */
