/* SPDX-License-Identifier: MIT */
/* The call tree as text, as uftrace graph prints it. */
#ifndef FTR_VIEW_GRAPH_H
#define FTR_VIEW_GRAPH_H

#include <stdbool.h>
#include <stdint.h>

#include "utils/base/err.h"
#include "utils/base/ostream.h"

struct ftr_graph;
struct ftr_trace;
struct ftr_weight;

struct ftr_graph_opts {
	const char *fields;	/* -f (nullable) */
	const char *sort;	/* -s (nullable): keys that callees are ordered by */
	const char *func;	/* (nullable) backtraces to this function and the tree below it */
	uint64_t levels; /* of a function's tree, 0 = all: -D, which leaves its callers alone */
	bool use_color;
	bool has_no_addr;	/* the graph has no addresses of functions */
	bool has_srcline;	/* show where functions are: */
	const struct ftr_trace *trace;	/* (nullable) those of this */
	const struct ftr_weight *weight; /* (nullable) what the tree will be by: to check fields */
};

/*
 * -EINVAL: there is no such field or key, or not by that weight.  *has_details: does any need
 * ftr_graph_new's details?
 */
int ftr_graph_check_fields(const struct ftr_graph_opts *opts, bool *has_details,
			   struct ftr_err *err);

/*
 * All sessions, one after the other; callees change their order.  -ENOENT: there is no call (of
 * that function), nothing was written; -EINVAL as above; -ENOMEM.
 */
int ftr_graph_print(struct ftr_graph *graph, const struct ftr_graph_opts *opts,
		    struct ftr_ostream *out, struct ftr_err *err);

/* All of it as lines of JSON: nodes by id, each with that of its caller; roots are programs. */
void ftr_graph_print_json(const struct ftr_graph *graph, struct ftr_ostream *out);

/* Only the tree of its first root, without a title; opts->func and levels have no effect. */
int ftr_graph_print_root(struct ftr_graph *graph, const struct ftr_graph_opts *opts,
			 struct ftr_ostream *out, struct ftr_err *err);

#endif /* FTR_VIEW_GRAPH_H */
