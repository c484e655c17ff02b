/* SPDX-License-Identifier: MIT */
/* Shell completion scripts, printed from the option tables. */
#ifndef FTR_CLI_COMPLETION_H
#define FTR_CLI_COMPLETION_H

#include <stdbool.h>

#include "utils/base/ostream.h"

struct ftr_option;

struct ftr_completion_command {
	const char *name;
	const char *summary;
	const struct ftr_option *options;
	bool runs_program;	/* the words behind its first operand are a program's */
};

/* @commands end with a row of zeros. */
void ftr_completion_bash(const struct ftr_completion_command *commands, struct ftr_ostream *out);
void ftr_completion_zsh(const struct ftr_completion_command *commands, struct ftr_ostream *out);
void ftr_completion_fish(const struct ftr_completion_command *commands, struct ftr_ostream *out);

#endif /* FTR_CLI_COMPLETION_H */
