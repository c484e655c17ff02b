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

bool ftr_prototype_has_enum(const char *name)
{
	static const char begin[] = "enum ";
	const char *at = ftr_prototype_enums;
	size_t len = strlen(name);

	while ((at = strstr(at, begin)) != NULL) {
		at += strlen(begin);
		if (strncmp(at, name, len) == 0 && at[len] == ' ')
			return true;
	}
	return false;
}

static int name_compare(const void *name, const void *prototype)
{
	return strcmp(name, ((const struct ftr_prototype *)prototype)->name);
}

const struct ftr_prototype *ftr_prototype_find(const char *name)
{
	size_t nr = sizeof(ftr_prototypes) / sizeof(ftr_prototypes[0]) - 1;

	return bsearch(name, ftr_prototypes, nr, sizeof(ftr_prototypes[0]), name_compare);
}

static bool is_among(const char *name, const char *const *names)
{
	while (*names != NULL && strcmp(*names, name) != 0)
		names++;
	return *names != NULL;
}

bool ftr_prototype_is_wide(const char *name, bool is_signed, bool is_retval)
{
	static const char *const long_longs[] = {
		"atoll", "eventfd_read", "eventfd_write", "imaxabs", "imaxdiv", "llabs", "lldiv",
		"llrint", "llrintf", "llrintl", "llround", "llroundf", "llroundl", "strtoimax",
		"strtoll", "strtoll_l", "strtoq", "strtoull", "strtoull_l", "strtoumax", "strtouq",
		"wcstoimax", "wcstoll", "wcstoq", "wcstoull", "wcstoumax", "wcstouq", NULL,
	};
	static const char *const offsets[] = { "ftello64", "lseek64", NULL };

	if (is_among(name, long_longs))
		return true;
	if (is_retval)
		return is_among(name, offsets);
	return is_signed && strstr(name, "64") != NULL;
}

bool ftr_prototype_returns_struct(const char *name)
{
	static const char *const names[] = { "div", "imaxdiv", "inet_makeaddr", "ldiv", "lldiv",
					     NULL };

	return is_among(name, names);
}
