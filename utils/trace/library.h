/* SPDX-License-Identifier: MIT */
/* Which library a library call leads to. */
#ifndef FTR_TRACE_LIBRARY_H
#define FTR_TRACE_LIBRARY_H

#include "utils/trace/trace.h"

/* Load the symbols of @module, unless that was done before. */
void ftr_trace_module_load(struct ftr_trace *trace, struct ftr_module *module);

/*
 * The module of @session that the dynamic linker finds a function's @name in, as far as the symbol
 * tables tell: the program, then libraries as they were loaded, which is from high addresses to low
 * ones.  NULL = none.  All symbol tables of the session are loaded for the first answer.
 */
const struct ftr_module *ftr_library_find(struct ftr_trace *trace, struct ftr_session *session,
					  const char *name);

#endif /* FTR_TRACE_LIBRARY_H */
