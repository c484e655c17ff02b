/* SPDX-License-Identifier: MIT */
/* How functions keep their limits, a line each: text, or lines of JSON. */
#ifndef FTR_VIEW_LIMIT_H
#define FTR_VIEW_LIMIT_H

#include <stddef.h>

#include "utils/base/ostream.h"

struct ftr_limit_result;

/* "parse: longest call 7.201 ms, limit 5.000 ms: EXCEEDED" */
void ftr_limit_print(const struct ftr_limit_result *result, struct ftr_ostream *out);
void ftr_limit_print_json(const struct ftr_limit_result *result, struct ftr_ostream *out);

/* After the last one: how many limits there are, and how often one is not kept. */
void ftr_limits_print_end(size_t limit_nr, int broken_nr, struct ftr_ostream *out);
void ftr_limits_print_end_json(size_t limit_nr, int broken_nr, struct ftr_ostream *out);

#endif /* FTR_VIEW_LIMIT_H */
