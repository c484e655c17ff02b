/* SPDX-License-Identifier: MIT */
/* ftr record --syscalls --format=etrace: the text itself, written while the program runs. */
#ifndef FTR_CMDS_RECORD_ETRACE_H
#define FTR_CMDS_RECORD_ETRACE_H

#include "utils/format/etrace/etrace.h"

/*
 * Run argv[0] and write what its processes do to @output (NULL: standard output).  An exit status.
 */
int ftr_record_etrace(const struct ftr_etrace_options *options, const char *output, char **argv);

#endif /* FTR_CMDS_RECORD_ETRACE_H */
