/* SPDX-License-Identifier: MIT */
/* Interrupted hooks that a forked child inherits. */
#ifndef FTR_LIBMCOUNT_FORK_H
#define FTR_LIBMCOUNT_FORK_H

/* Install the handler of forks.  Called once, before the program runs. */
void ftr_fork_start(void);

#endif /* FTR_LIBMCOUNT_FORK_H */
