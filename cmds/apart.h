/* SPDX-License-Identifier: MIT */
/* Work in a process of its own, for commands that have something to tidy up after it. */
#ifndef FTR_CMDS_APART_H
#define FTR_CMDS_APART_H

/*
 * Call @work in a child, which a signal may end while this process goes on.  Its exit status, 128 +
 * n for a signal, or FTR_EXIT_FAILED after reporting that there is no child.
 */
int ftr_run_apart(int (*work)(const void *arg), const void *arg);

/* Those that a user, a terminal or an operator ends programs by. */
#define FTR_ENDING_SIGNALS 4
extern const int ftr_ending_signals[FTR_ENDING_SIGNALS];
/* For whom a recorder or what it writes tells when to end: neither these signals nor SIGPIPE do. */
void ftr_ending_signals_ignore(void);

#endif /* FTR_CMDS_APART_H */
