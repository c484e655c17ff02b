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

struct ftr_record_syscalls;

/* How signals were that are ignored. */
struct ftr_launch_ignored {
	struct sigaction file_size, pipe;
};

struct ftr_launch {
	const char *path;
	char *const *argv;
	const char *runtime;		/* for LD_PRELOAD, before the user's own (nullable) */
	const char *channel;		/* for FTR_CHANNEL */
	bool no_pltbind;		/* LD_BIND_NOT */
	bool no_randomize;		/* no address space layout randomisation */
	bool keep_pid; /* the program gets our pid, the recorder becomes another process */

	struct ftr_record_syscalls *syscalls; /* (nullable) observes the program from its exec on */

	const struct ftr_launch_ignored *ignored;	/* what the program gets back, with these */
	sigset_t old_mask;
	struct sigaction old_chld;
};

/* Block the signals that the recorder reads from a signalfd (@set) and remember how they were. */
void ftr_launch_signals(struct ftr_launch *launch, sigset_t *set);

/*
 * A limit, a reader that is gone: writes that fail, and no more.  Before anything is written, which
 * files in memory are, too.
 */
void ftr_launch_ignore(struct ftr_launch_ignored *old);

/*
 * Start the program.  *pid is its number.  With keep_pid the caller returns as the recorder, which
 * is nobody's child, and *ready must get one byte (then be closed) once the recorder is ready; else
 * *ready is -1. -errno of the exec, with a description.
 */
int ftr_launch_start(struct ftr_launch *launch, pid_t *pid, int *ready, struct ftr_err *err);

#endif /* FTR_RECORD_LAUNCH_H */
