/* SPDX-License-Identifier: MIT */
/* What each line of the etrace text begins with. */
#ifndef FTR_FORMAT_ETRACE_LINE_H
#define FTR_FORMAT_ETRACE_LINE_H

#include <stdbool.h>
#include <stdint.h>

#include "utils/base/text.h"

struct ftr_etrace_log;

/* The parts of a line before its data. */
struct ftr_etrace_line {
	uint64_t upid;
	uint32_t cpu;
	uint64_t time_ns;
};

/* "<upid>,<cpu>,<time>,<timen>!"; *text becomes what follows.  False: the line begins otherwise. */
bool ftr_etrace_line_parse(struct ftr_slice *text, struct ftr_etrace_line *line);

/* Without the "0: " of the original tool. */
struct ftr_slice ftr_etrace_skip_prefix(struct ftr_slice text);

/* By time, in the order of the text where times are equal.  0 or -ENOMEM. */
int ftr_etrace_log_sort(struct ftr_etrace_log *log);

#endif /* FTR_FORMAT_ETRACE_LINE_H */
