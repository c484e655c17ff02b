/* SPDX-License-Identifier: MIT */
/* The slowest calls of a function as text: each with a heading, and its tree as graph shows it. */
#ifndef FTR_VIEW_SLOWEST_H
#define FTR_VIEW_SLOWEST_H

#include "utils/base/err.h"
#include "utils/base/ostream.h"

struct ftr_graph_opts;
struct ftr_slowest;
struct ftr_trace;

/* -ENOENT: there was no call, nothing was written; -EINVAL: a wrong field or key; -ENOMEM. */
int ftr_slowest_print(const struct ftr_slowest *slowest, const struct ftr_trace *trace,
		      const struct ftr_graph_opts *opts, struct ftr_ostream *out,
		      struct ftr_err *err);

#endif /* FTR_VIEW_SLOWEST_H */
