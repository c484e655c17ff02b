/* SPDX-License-Identifier: MIT */
/* What slowest shares with graph. */
#ifndef FTR_CMDS_GRAPH_H
#define FTR_CMDS_GRAPH_H

#include "utils/base/option.h"

extern const struct ftr_option ftr_graph_view_options[];	/* fill struct ftr_graph_opts */

#endif /* FTR_CMDS_GRAPH_H */
