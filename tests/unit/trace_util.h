/* SPDX-License-Identifier: MIT */
/* A trace for streams that are written as words (stream.h), and what comes out of sources. */
#ifndef FTR_TESTS_UNIT_TRACE_UTIL_H
#define FTR_TESTS_UNIT_TRACE_UTIL_H

#include <stdbool.h>

#include "tests/unit/stream.h"

extern struct ftr_trace *trace;		/* made anew for each test */

int trace_setup(void **state);
int trace_teardown(void **state);

/* @source, which is freed, gives what @text says. */
void expect(struct ftr_source *source, bool has_details, const char *text);

#endif /* FTR_TESTS_UNIT_TRACE_UTIL_H */
