/* SPDX-License-Identifier: MIT */
/* The way out of a program. */
#ifndef FTR_ATTACH_LEAVE_H
#define FTR_ATTACH_LEAVE_H

#include "utils/attach/attach.h"
#include "utils/attach/runtime.h"

/*
 * Have the loaded runtime of a borrowed thread let go of everything.  0 also when calls that are
 * open had to be left as they are (report->is_partly_left).
 */
int ftr_runtime_leave(struct ftr_runtime *runtime, struct ftr_attach_report *report,
		      struct ftr_err *err);

#endif /* FTR_ATTACH_LEAVE_H */
