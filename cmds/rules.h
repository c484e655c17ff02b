/* SPDX-License-Identifier: MIT */
/* The rules of a command that shows calls. */
#ifndef FTR_CMDS_RULES_H
#define FTR_CMDS_RULES_H

#include "utils/base/err.h"

struct ftr_filter_opts;
struct ftr_opened;

/* Read @opts into @opened->rules: 0 or -errno. */
int  ftr_opened_parse_rules(struct ftr_opened *opened, const struct ftr_filter_opts *opts,
			    struct ftr_err *err);
/* Apply them to @opened->trace: its options get what the pipeline needs.  0 or -errno. */
int  ftr_opened_plan_rules(struct ftr_opened *opened, const struct ftr_filter_opts *opts,
			   struct ftr_err *err);
/* After all was read: name the rules that are of no function of the trace. */
void ftr_opened_warn_rules(struct ftr_opened *opened);

#endif /* FTR_CMDS_RULES_H */
