/* SPDX-License-Identifier: MIT */
/* ftr record --syscalls --format=FORMAT: a file of that format, written while the program runs. */
#ifndef FTR_CMDS_RECORD_OBSERVED_H
#define FTR_CMDS_RECORD_OBSERVED_H

struct ftr_observed_ops;

/*
 * Run argv[0] and write what its processes do to the file @path (NULL: standard output).
 * @values: of the format's options, NULL when it has none.  An exit status.
 */
int ftr_record_observed(const struct ftr_observed_ops *ops, const void *values,
			const char *path, char **argv);

#endif /* FTR_CMDS_RECORD_OBSERVED_H */
