/* SPDX-License-Identifier: MIT */
/* Probes that interpose functions (interposers.def): libraries, preloaded where they are on. */
#ifndef FTR_RECORD_INTERPOSERS_H
#define FTR_RECORD_INTERPOSERS_H

#include <stdbool.h>

#include "utils/base/err.h"
#include "utils/base/option.h"
#include "utils/base/strbuf.h"

/*
 * Append what is to be preloaded: @runtime, the path of libmcount.so, and the libraries of the
 * probes that are on by what was @given to the makers of sections.  -errno, described: one is not
 * there.
 */
int ftr_interposers_preload(const struct ftr_option_values *given, const char *runtime,
			    struct ftr_strbuf *list, struct ftr_err *err);

/* Are any of them on? */
bool ftr_interposers_are_asked(const struct ftr_option_values *given);

#endif /* FTR_RECORD_INTERPOSERS_H */
