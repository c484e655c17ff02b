/* SPDX-License-Identifier: MIT */
/* The file that holds what was stripped from another. */
#ifndef FTR_OBJECT_DEBUGFILE_H
#define FTR_OBJECT_DEBUGFILE_H

#include "utils/object/elf_file.h"

/*
 * Find by build-id under /usr/lib/debug/.build-id, then by .gnu_debuglink beside @path, in .debug
 * beside it, and under /usr/lib/debug.  A file of another build-id is not taken; without build-ids
 * the debuglink's checksum decides.  0, or -ENOENT.
 */
int ftr_debugfile_open(struct ftr_elf_file *debug, const struct ftr_elf_file *file,
		       const char *path);

#endif /* FTR_OBJECT_DEBUGFILE_H */
