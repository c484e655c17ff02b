/* SPDX-License-Identifier: MIT */
/* What a forked child inherits of interrupted hooks. */
#ifndef FTR_LIBMCOUNT_FORK_H
#define FTR_LIBMCOUNT_FORK_H

/* From now on, children are looked after.  Called once, before the program runs. */
void ftr_fork_start(void);

#endif /* FTR_LIBMCOUNT_FORK_H */
