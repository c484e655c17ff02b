/* SPDX-License-Identifier: MIT */
/*
 * judge: finds out which conditions of rules are true of each call, for the sources behind it: an
 * ENTRY's verdict.  Where that depends on the return value or the duration the ENTRY waits for its
 * EXIT, with all that stands behind it.
 */
#ifndef FTR_TRACE_JUDGE_H
#define FTR_TRACE_JUDGE_H

#include <stdbool.h>

struct ftr_rule_plans;
struct ftr_source;

/* @plans nullable */
bool ftr_judge_is_needed(const struct ftr_rule_plans *plans);

/*
 * Wrap @inner, which went through calls and is ordered by time, and take it over (also on failure);
 * @plans live for as long as the source.  NULL = out of memory.
 */
struct ftr_source *ftr_judge_new(struct ftr_source *inner, struct ftr_rule_plans *plans);

#endif /* FTR_TRACE_JUDGE_H */
