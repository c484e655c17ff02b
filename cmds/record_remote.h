/* SPDX-License-Identifier: MIT */
/* record --host: a process beside the recording sends its data to "ftr recv". */
#ifndef FTR_CMDS_RECORD_REMOTE_H
#define FTR_CMDS_RECORD_REMOTE_H

#include <stdbool.h>
#include <sys/types.h>

struct ftr_record_remote {
	const char *host, *port;
	const char *dir;	/* the data directory, not made yet */
	pid_t pid;
	int ending_fd;		/* closed: the recording has ended */
};

/*
 * Connect and begin; the members up to dir are set.  The exit status: FTR_EXIT_FTR, which was
 * said, when nobody receives.
 */
int ftr_record_remote_start(struct ftr_record_remote *remote);

/*
 * The recording has ended, or did not begin (@was_run is false).  When the receiver has it all the
 * data directory is removed, else it is kept; which of both is said.
 */
void ftr_record_remote_end(struct ftr_record_remote *remote, bool was_run);

#endif /* FTR_CMDS_RECORD_REMOTE_H */
