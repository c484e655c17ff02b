/* SPDX-License-Identifier: MIT */
/* ftr record --syscalls --format=etrace: the text itself, written while the program runs. */
#ifndef FTR_CMDS_RECORD_ETRACE_H
#define FTR_CMDS_RECORD_ETRACE_H

#include "utils/cli/option.h"
#include "utils/format/etrace/etrace.h"

extern const struct ftr_option ftr_etrace_opts_options[];

/* They mean nothing to other formats. */
bool ftr_etrace_options_are_given(
	const struct ftr_etrace_options *options); /* fill struct ftr_etrace_options */

/*
 * Run argv[0] and write what its processes do to @output (NULL: standard output).  An exit status.
 */
int ftr_record_etrace(const struct ftr_etrace_options *options, const char *output, char **argv);

#endif /* FTR_CMDS_RECORD_ETRACE_H */
