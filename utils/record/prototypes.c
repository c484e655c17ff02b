/* SPDX-License-Identifier: MIT */
/* See prototypes.h. */
#include "utils/record/prototypes.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

const struct ftr_prototype ftr_prototypes[] = {
#define FTR_PROTOTYPE_ENUM(text)
#define FTR_PROTOTYPE(name, args, retval) { #name, args, retval },
#include "utils/record/prototypes.def"
#undef FTR_PROTOTYPE
#undef FTR_PROTOTYPE_ENUM
	{ NULL, NULL, NULL },
};

const char ftr_prototype_enums[] =
#define FTR_PROTOTYPE_ENUM(text) text ";"
#define FTR_PROTOTYPE(name, args, retval)
#include "utils/record/prototypes.def"
#undef FTR_PROTOTYPE
#undef FTR_PROTOTYPE_ENUM
	;

static int name_compare(const void *name, const void *prototype)
{
	return strcmp(name, ((const struct ftr_prototype *)prototype)->name);
}

const struct ftr_prototype *ftr_prototype_find(const char *name)
{
	size_t nr = sizeof(ftr_prototypes) / sizeof(ftr_prototypes[0]) - 1;

	return bsearch(name, ftr_prototypes, nr, sizeof(ftr_prototypes[0]), name_compare);
}
