/* SPDX-License-Identifier: MIT */
/* The start of a recording in this process. */
#ifndef FTR_LIBMCOUNT_SESSION_H
#define FTR_LIBMCOUNT_SESSION_H

/*
 * Ask the recorder at ftr_state.address how to trace, start the probes and arm the hooks, in a
 * program that runs: threads are attached at their next call.  0; -errno: nothing is armed.
 */
int ftr_session_begin(void) __attribute__((visibility("hidden")));

#endif /* FTR_LIBMCOUNT_SESSION_H */
