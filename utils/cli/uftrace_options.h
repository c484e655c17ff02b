/* SPDX-License-Identifier: MIT */
/* uftrace's options: a command that lacks one reports it as such, not as unknown. */
#ifndef FTR_CLI_UFTRACE_OPTIONS_H
#define FTR_CLI_UFTRACE_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

struct ftr_uftrace_option {
	const char *name;
	char letter;
	bool takes_arg;
};

/* Iterate: *pos starts at 0; NULL at the end. */
const struct ftr_uftrace_option *ftr_uftrace_option_next(size_t *pos);

#endif /* FTR_CLI_UFTRACE_OPTIONS_H */
