/* SPDX-License-Identifier: MIT */
/*
 * The argument of --Event, which collectors share:
 *
 *	linux:schedule,sched:*@kernel,syscalls:sys_enter_openat@kernel if dfd < 0
 *
 * Names with commas or semicolons between.  What ends in @kernel is the kernel's; " if " behind it
 * begins a filter in the kernel's language, which lasts until the end of the argument.
 */
#ifndef FTR_RECORD_EVENT_WORD_H
#define FTR_RECORD_EVENT_WORD_H

#include <stdbool.h>

#include "utils/base/text.h"

struct ftr_event_word {
	struct ftr_slice name;		/* without @kernel */
	struct ftr_slice filter;	/* empty = none */
	bool is_kernel;
};

/* The next word at *@at, which moves behind it; false at the end. */
bool ftr_event_word_next(const char **at, struct ftr_event_word *word);

#endif /* FTR_RECORD_EVENT_WORD_H */
