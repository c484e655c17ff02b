/* SPDX-License-Identifier: MIT */
/* What record --summary cannot be had with. */
#ifndef FTR_CMDS_RECORD_SUMMARY_H
#define FTR_CMDS_RECORD_SUMMARY_H

#include "cmds/record.h"
#include "utils/base/strbuf.h"
#include "utils/record/choice.h"

/*
 * Sums are all that is kept: 0, or -EINVAL with the option that asks for more.  @deferred is what
 * is left to the readers of calls.
 */
int ftr_record_summary_check(const struct ftr_record_opts *opts,
			     const struct ftr_record_choice *choice,
			     const struct ftr_strbuf *deferred, struct ftr_err *err);

#endif /* FTR_CMDS_RECORD_SUMMARY_H */
