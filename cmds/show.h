/* SPDX-License-Identifier: MIT */
/* From opened data into a sink. */
#ifndef FTR_CMDS_SHOW_H
#define FTR_CMDS_SHOW_H

#include "utils/trace/pump.h"

struct ftr_opened;
struct ftr_output;

/* Pump everything into @sink, and report rules that are of no function.  As ftr_pump. */
int ftr_opened_pump(struct ftr_opened *opened, struct ftr_sink *sink, struct ftr_pump_stats *stats,
		    struct ftr_err *err);

/*
 * Pump everything into @sink, which writes to @output (nullable) and is freed.  Reports what
 * failed, and with @warns_loss what @sink could not hold.  An exit status.
 */
int ftr_show(struct ftr_opened *opened, struct ftr_sink *sink, const struct ftr_output *output,
	     bool warns_loss);

struct ftr_trace;
/* After everything was pumped: there are no calls of @func (nullable: no calls at all). */
void ftr_error_not_called(const struct ftr_trace *trace, const char *func);

#endif /* FTR_CMDS_SHOW_H */
