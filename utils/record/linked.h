/* SPDX-License-Identifier: MIT */
/* The libraries that a module is linked with, and which of them its library calls lead to. */
#ifndef FTR_RECORD_LINKED_H
#define FTR_RECORD_LINKED_H

#include <stddef.h>

#include "utils/base/vec.h"
#include "utils/object/needed.h"
#include "utils/object/symtab.h"

struct ftr_linked {
	struct ftr_needed needed;
	FTR_VEC(struct ftr_symtab) tabs;	/* of each */
};

/* 0 or -ENOMEM; to be finished in any case.  What cannot be read has no symbols. */
int  ftr_linked_load(struct ftr_linked *linked, const char *path);
void ftr_linked_fini(struct ftr_linked *linked);

/* The path of the first that defines the function @name; NULL = none. */
const char *ftr_linked_find(const struct ftr_linked *linked, const char *name);

#endif /* FTR_RECORD_LINKED_H */
