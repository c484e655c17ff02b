/* SPDX-License-Identifier: MIT */
/*
 * The recorder and the program as one job of a shell: what stops the program stops the recorder,
 * whose parent waits for both, and what continues the one continues the other.
 */
#ifndef FTR_RECORD_JOB_H
#define FTR_RECORD_JOB_H

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

/*
 * The signals that the recorder takes by signalfd: those that are handed on to the program, and
 * SIGCHLD.
 */
void ftr_job_signals(sigset_t *set);

/* Does the signal ask to end? */
bool ftr_job_is_request_to_end(int signo);

/*
 * Our child @program has changed its state: if it has stopped, stop until we are continued or
 * the program, and see that it goes on.  Returns at once when it has not.
 */
void ftr_job_follow(pid_t program);

/* Continue @program if it stands still. */
void ftr_job_continue(pid_t program);

#endif /* FTR_RECORD_JOB_H */
