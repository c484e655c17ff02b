/* SPDX-License-Identifier: MIT */
/* graph --task: the tree of processes and threads as text. */
#ifndef FTR_VIEW_GRAPH_TASK_H
#define FTR_VIEW_GRAPH_TASK_H

#include <stdbool.h>

#include "utils/base/err.h"
#include "utils/base/ostream.h"

struct ftr_task_tree;

struct ftr_graph_task_opts {
	const char *fields;	/* -f (nullable) */
	bool use_color;
};

/* -EINVAL: there is no such field. */
int ftr_graph_task_check_fields(const struct ftr_graph_task_opts *opts, struct ftr_err *err);

/* -ENOENT: there is no task, nothing was written; -EINVAL as above; -ENOMEM. */
int ftr_graph_task_print(const struct ftr_task_tree *tree, const struct ftr_graph_task_opts *opts,
			 struct ftr_ostream *out, struct ftr_err *err);

#endif /* FTR_VIEW_GRAPH_TASK_H */
