/* SPDX-License-Identifier: MIT */
/*
 * uftrace's options: a command that lacks one reports it as such, not as unknown, or ignores it
 * where uftrace does: it takes all of them with every command.
 */
#ifndef FTR_CLI_UFTRACE_OPTIONS_H
#define FTR_CLI_UFTRACE_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

struct ftr_uftrace_option {
	const char *name;
	char letter;
	bool takes_arg;
	unsigned commands;	/* of uftrace, on which it has an effect: bits of our own */
};

/* Iterate: *pos starts at 0; NULL at the end. */
const struct ftr_uftrace_option *ftr_uftrace_option_next(size_t *pos);

/* False: uftrace takes the option with @command, too, and ignores it. */
bool ftr_uftrace_option_matters(const struct ftr_uftrace_option *option, const char *command);

#endif /* FTR_CLI_UFTRACE_OPTIONS_H */
