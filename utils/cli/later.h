/* SPDX-License-Identifier: MIT */
/* The options that uftrace's users know: who gives one to a command without it is told so. */
#ifndef FTR_CLI_LATER_H
#define FTR_CLI_LATER_H

#include <stdbool.h>
#include <stddef.h>

struct ftr_later {
	const char *name;
	char letter;
	bool takes_arg;
};

/* Iterate: *pos starts at 0; NULL at the end. */
const struct ftr_later *ftr_later_next(size_t *pos);

#endif /* FTR_CLI_LATER_H */
