/* SPDX-License-Identifier: MIT */
/* Prototypes of well-known library functions, as words of specs. */
#ifndef FTR_RECORD_PROTOTYPES_H
#define FTR_RECORD_PROTOTYPES_H

#include <stdbool.h>

/* Of 64-bit machines; a long, a pointer and a size_t have a word on others. */
struct ftr_prototype {
	const char *name;
	const char *args;	/* "arg1/s,arg2/i32"; "" = none */
	const char *retval;	/* "retval/p"; "" = none */
};

/* Sorted by name; the last has no name. */
extern const struct ftr_prototype ftr_prototypes[];

/* Enumerations that they name: "enum uft_whence {SEEK_SET=0,...};..." */
extern const char ftr_prototype_enums[];

/* Is one of them called so? */
bool ftr_prototype_has_enum(const char *name);

/* NULL: it is not well known. */
const struct ftr_prototype *ftr_prototype_find(const char *name);

/*
 * Has an argument of 64 bits, or the return value, as many where a word has 32?  Those of a long
 * long, and offsets of the functions for large files.
 */
bool ftr_prototype_is_wide(const char *name, bool is_signed, bool is_retval);

/* Does it return a structure? */
bool ftr_prototype_returns_struct(const char *name);

#endif /* FTR_RECORD_PROTOTYPES_H */
