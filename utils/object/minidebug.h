/* SPDX-License-Identifier: MIT */
/* Symbols of .gnu_debugdata, the compressed ELF file some distributions leave in stripped ones. */
#ifndef FTR_OBJECT_MINIDEBUG_H
#define FTR_OBJECT_MINIDEBUG_H

#include "utils/object/elf_file.h"
#include "utils/object/symtab_build.h"

/* Unpacked by libdw, when it was built with xz.  0, also when there is none, or -ENOMEM. */
int ftr_minidebug_load(struct ftr_symtab_build *build, const struct ftr_elf_file *file,
		       const char *path);

#endif /* FTR_OBJECT_MINIDEBUG_H */
