/* SPDX-License-Identifier: MIT */
/* The table of ftr top, on a terminal or as text, of a summary that is being written. */
#ifndef FTR_CMDS_TOP_SHOW_H
#define FTR_CMDS_TOP_SHOW_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "utils/cli/common.h"
#include "utils/view/top.h"

struct ftr_top_show {
	const struct ftr_common *common;	/* (borrowed) */
	const char *dir;		/* that is recorded into */
	struct ftr_top_opts opts;	/* but for ends of lines and colour */
	uint64_t rounds;		/* tables to show; 0 = until the recording ends */
	bool is_left;			/* after these, or on the key q */
	int fd;				/* of the output */
	int ended_fd;			/* readable, or closed by all: the recording ended */
	pid_t recorder;			/* whom SIGINT has leave the program */
};

/* Until the recording has ended, and everything of it was shown.  0 or -1, after reporting why. */
int ftr_top_show(struct ftr_top_show *show);

#endif /* FTR_CMDS_TOP_SHOW_H */
