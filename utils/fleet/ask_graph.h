/* SPDX-License-Identifier: MIT */
/* Who called whom in a fleet: a tree with a root for each program, summed up by its database. */
#ifndef FTR_FLEET_ASK_GRAPH_H
#define FTR_FLEET_ASK_GRAPH_H

#include "utils/analysis/graph.h"
#include "utils/base/err.h"
#include "utils/base/hashmap.h"
#include "utils/base/strpool.h"

struct ftr_asked;

struct ftr_fleet_graph {
	struct ftr_graph graph;		/* without addresses; with details */
	struct ftr_strpool names;
	struct ftr_hashmap nodes;	/* by the number of the path: indices, from 1 on */
};

/*
 * *@graph is filled also on failure, for _fini.  -EINVAL: a wrong @asked->where.
 */
int  ftr_fleet_ask_graph(const struct ftr_asked *asked, struct ftr_fleet_graph *graph,
			 struct ftr_err *err);
void ftr_fleet_graph_fini(struct ftr_fleet_graph *graph);

#endif /* FTR_FLEET_ASK_GRAPH_H */
