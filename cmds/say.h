/* SPDX-License-Identifier: MIT */
/* What ftr itself says: "ftr: text" to standard error, or to --logfile. */
#ifndef FTR_CMDS_SAY_H
#define FTR_CMDS_SAY_H

#include "utils/base/err.h"

struct ftr_common;

/* Set the log file and the verbosity.  0 or -errno. */
int ftr_say_init(const struct ftr_common *common, struct ftr_err *err);

void ftr_say_error(const char *fmt, ...) __attribute__((format(printf, 1, 2)));	/* "ftr: ..." */
void ftr_say_warn(const char *fmt, ...)
	__attribute__((format(printf, 1, 2)));             /* "ftr: warning: ..." */
void ftr_say_verbose(unsigned level, const char *fmt, ...) /* when -v stood there @level times */
	__attribute__((format(printf, 2, 3)));

/* A diag whose warnings are said. */
struct ftr_diag ftr_say_diag(void);
/* After the work: how many warnings were not shown, if any. */
void ftr_say_diag_end(const struct ftr_diag *diag);

#endif /* FTR_CMDS_SAY_H */
