/* SPDX-License-Identifier: MIT */
/* What was stripped from a file. */
#ifndef FTR_OBJECT_DEBUGFILE_H
#define FTR_OBJECT_DEBUGFILE_H

#include "utils/object/elf_file.h"
#include "utils/object/symtab_build.h"

/*
 * Find by build-id under /usr/lib/debug/.build-id, then by .gnu_debuglink beside @path, in .debug
 * beside it, and under /usr/lib/debug.  A file of another build-id is not taken; without build-ids
 * the debuglink's checksum decides.  0, or -ENOENT.
 */
int ftr_debugfile_open(struct ftr_elf_file *debug, const struct ftr_elf_file *file,
		       const char *path);

/*
 * The symbols of .gnu_debugdata, the compressed ELF file that some distributions leave in stripped
 * ones; libdw unpacks it when it was built with xz.  0, also when there is none, or -ENOMEM.
 */
int ftr_minidebug_load(struct ftr_symtab_build *build, const struct ftr_elf_file *file,
		       const char *path);

#endif /* FTR_OBJECT_DEBUGFILE_H */
