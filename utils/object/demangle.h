/* SPDX-License-Identifier: MIT */
/* Names as people read them: C++, Rust (legacy and v0) and D, by libiberty. */
#ifndef FTR_OBJECT_DEMANGLE_H
#define FTR_OBJECT_DEMANGLE_H

#include <stdbool.h>

enum ftr_demangle {
	FTR_DEMANGLE_SIMPLE,	/* no parameters, no template arguments, as in uftrace (default) */
	FTR_DEMANGLE_FULL,
	FTR_DEMANGLE_NO,
};

/* A new string (free(3)), equal to @name when it is not mangled; NULL when out of memory. */
char *ftr_demangle(const char *name, enum ftr_demangle style);

/*
 * Is @text a whole name of @mangled as the language writes it: with template arguments, and perhaps
 * with parameters and what it returns?  Blanks and ABI tags ("[abi:cxx11]") do not count.
 */
bool ftr_demangle_is(const char *mangled, const char *text);

#endif /* FTR_OBJECT_DEMANGLE_H */
