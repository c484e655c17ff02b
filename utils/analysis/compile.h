/* SPDX-License-Identifier: MIT */
/* Command lines of C-family compilers: which files they translate, and into what. */
#ifndef FTR_ANALYSIS_COMPILE_H
#define FTR_ANALYSIS_COMPILE_H

#include <stdbool.h>
#include <stddef.h>

#include "utils/base/arena.h"
#include "utils/base/text.h"
#include "utils/base/vec.h"

/* What one command translates. */
struct ftr_compile {
	FTR_VEC(const char *) argv;	/* wrappers left out, response files put in */
	FTR_VEC(size_t) sources;	/* indices in argv */
	size_t output;			/* index of what follows -o, 0 = none */
	bool   has_one_step;		/* -c or -S: an output for each source */
	bool   makes_headers;		/* -x c-header and the like */
};

/*
 * Understand the arguments of a program started in @directory.  False: it is no compiler, or
 * translates nothing (only preprocesses, links, answers a question).  Strings are kept in @arena.
 */
bool ftr_compile_parse(struct ftr_compile *compile, const struct ftr_slice *argv, size_t argc,
		       const char *directory, struct ftr_arena *arena);
void ftr_compile_fini(struct ftr_compile *compile);

/* Is argument @index of argv a source other than @source? */
bool ftr_compile_is_other_source(const struct ftr_compile *compile, size_t index, size_t source);

/* Is what is made of argument @source, one of the sources, a precompiled header? */
bool ftr_compile_is_header(const struct ftr_compile *compile, size_t source);

#endif /* FTR_ANALYSIS_COMPILE_H */
