/* SPDX-License-Identifier: MIT */
/*
 * Starting the program: its environment, its signals as they were, and failed execs.
 */
#ifndef FTR_RECORD_LAUNCH_H
#define FTR_RECORD_LAUNCH_H

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

#include "utils/base/err.h"

struct ftr_launch {
	const char *path;
	char *const *argv;
	const char *runtime;		/* for LD_PRELOAD, before the user's own (nullable) */
	const char *channel;		/* for FTR_CHANNEL */
	bool no_pltbind;		/* LD_BIND_NOT */
	bool no_randomize;		/* no address space layout randomisation */
	bool keep_pid; /* the program gets our pid, the recorder becomes another process */

	/* (nullable) In the child, the last thing before its exec: 0 or an errno. */
	int (*in_child)(void *arg);
	/* (nullable) In the recorder, while the child is held in in_child: 0 or -errno. */
	int (*in_parent)(void *arg, pid_t program, struct ftr_err *err);
	void *arg;

	sigset_t old_mask;		/* what the program gets back */
	struct sigaction old_chld;
};

/* Block the signals that the recorder reads from a signalfd (@set) and remember how they were. */
void ftr_launch_signals(struct ftr_launch *launch, sigset_t *set);

/*
 * Start the program.  *pid is its number.  With keep_pid the caller returns as the recorder, which
 * is nobody's child, and *ready must get one byte (then be closed) once the recorder is ready; else
 * *ready is -1. -errno of the exec, with a description.
 */
int ftr_launch_start(struct ftr_launch *launch, pid_t *pid, int *ready, struct ftr_err *err);

#endif /* FTR_RECORD_LAUNCH_H */
