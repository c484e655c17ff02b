/* SPDX-License-Identifier: MIT */
/* What live shares with replay. */
#ifndef FTR_CMDS_REPLAY_H
#define FTR_CMDS_REPLAY_H

#include "utils/cli/common.h"
#include "utils/view/replay.h"

struct ftr_replay_values {
	struct ftr_common common;
	struct ftr_selection selection;
	struct ftr_replay_opts view;
	bool follows;
};

extern const struct ftr_option ftr_replay_view_options[];	/* fill struct ftr_replay_opts */

/* Show values->common.data; an exit status. */
int ftr_replay_show(const struct ftr_replay_values *values);

#endif /* FTR_CMDS_REPLAY_H */
