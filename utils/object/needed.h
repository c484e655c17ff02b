/* SPDX-License-Identifier: MIT */
/* The libraries that an ELF file is linked with. */
#ifndef FTR_OBJECT_NEEDED_H
#define FTR_OBJECT_NEEDED_H

#include <stddef.h>

#include "utils/base/vec.h"

struct ftr_needed {
	FTR_VEC(char *) paths;		/* (owned) in the order of the search for symbols */
};

/*
 * Those that the dynamic linker would load with the program at @path, as far as they are found
 * where it would look: in DT_RPATH and DT_RUNPATH, in @dirs (nullable; LD_LIBRARY_PATH), and in the
 * usual directories.  Its cache is not read.  0 or -ENOMEM; a file that cannot be read needs none.
 */
int  ftr_needed_load(struct ftr_needed *needed, const char *path, const char *dirs);
void ftr_needed_fini(struct ftr_needed *needed);

#endif /* FTR_OBJECT_NEEDED_H */
