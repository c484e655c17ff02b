/* SPDX-License-Identifier: MIT */
/* Messages of ftr itself: "ftr: text" to standard error, or to --logfile. */
#ifndef FTR_CMDS_MESSAGE_H
#define FTR_CMDS_MESSAGE_H

#include "utils/base/err.h"

struct ftr_common;

/* Set the log file and the verbosity.  0 or -errno. */
int ftr_message_init(const struct ftr_common *common, struct ftr_err *err);

void ftr_error(const char *fmt, ...) __attribute__((format(printf, 1, 2)));	/* "ftr: ..." */
void ftr_warn(const char *fmt, ...)
	__attribute__((format(printf, 1, 2)));             /* "ftr: warning: ..." */
void ftr_verbose(unsigned level, const char *fmt, ...) /* with -v given @level times */
	__attribute__((format(printf, 2, 3)));

/*
 * While the terminal shows something else: failures and warnings are described in @err, the last
 * one replaces those before.  NULL: they are printed again.  A log file gets them in any case.
 */
void ftr_message_capture(struct ftr_err *err);

/* A diag whose warnings are printed. */
struct ftr_diag ftr_message_diag(void);
/* After the work: how many warnings were not printed, if any. */
void ftr_message_diag_end(const struct ftr_diag *diag);

#endif /* FTR_CMDS_MESSAGE_H */
