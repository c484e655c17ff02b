/* SPDX-License-Identifier: MIT */
/* record's option --Event. */
#ifndef FTR_CMDS_RECORD_EVENT_H
#define FTR_CMDS_RECORD_EVENT_H

#include "utils/base/option.h"

/*
 * Adds FTR_PERF_* bits to an unsigned: of "linux:EVENT" or of what a shell pattern matches; several
 * with commas or semicolons between.
 */
ftr_option_parse_fn ftr_record_opt_event;

#endif /* FTR_CMDS_RECORD_EVENT_H */
