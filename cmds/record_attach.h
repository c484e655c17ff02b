/* SPDX-License-Identifier: MIT */
/* record -p: a program that runs already. */
#ifndef FTR_CMDS_RECORD_ATTACH_H
#define FTR_CMDS_RECORD_ATTACH_H

#include "cmds/record.h"
#include "utils/record/program.h"
#include "utils/record/recorder.h"

/* Does -p go with the other options, and with the @argc words of a program?  0 or -EINVAL. */
int ftr_record_attach_check(const struct ftr_record_opts *opts, int argc, struct ftr_err *err);

/* The program that the process runs, if it can be attached to; else -errno with a remedy. */
int ftr_record_attach_find(struct ftr_record_opts *opts, struct ftr_program *program,
			   struct ftr_err *err);

/* The words of the process, each followed by a blank, behind those of ours in @own. */
char *ftr_record_attach_cmdline(const struct ftr_record_opts *opts, char *own);

/* What it took, with -v. */
void ftr_record_attach_report(const struct ftr_record_opts *opts,
			      const struct ftr_recorder_result *result);

#endif /* FTR_CMDS_RECORD_ATTACH_H */
