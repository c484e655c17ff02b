/* SPDX-License-Identifier: MIT */
/* The columns of a call tree, and what -f and -s make of them: for its text and the browser. */
#ifndef FTR_VIEW_GRAPH_COLUMNS_H
#define FTR_VIEW_GRAPH_COLUMNS_H

#include <stdbool.h>
#include <stdint.h>

#include "utils/base/err.h"

struct ftr_graph;
struct ftr_graph_node;
struct ftr_ostream;
struct ftr_weight;

#define GRAPH_SORT_KEYS_MAX 11

/* What callees are ordered by, the first key first. */
struct graph_sort {
	int keys[GRAPH_SORT_KEYS_MAX];
	unsigned nr;
};

/* A bit for each column that is to be shown (@fields nullable).  0, or -EINVAL: no such field. */
int graph_columns_parse(const char *fields, uint64_t *mask, struct ftr_err *err);
/* Of these columns, those that a tree by weight has. */
uint64_t graph_columns_of_weight(uint64_t mask);
/* @text nullable: none.  0, or -EINVAL: no such key. */
int graph_columns_parse_sort(const char *text, struct graph_sort *sort, struct ftr_err *err);
/* Without keys the order is left as it is.  0 or -ENOMEM. */
int graph_columns_sort(struct ftr_graph *graph, const struct graph_sort *sort);

/*
 * "    3.195 us : ", nothing without columns.  @node NULL: of a line that shows no node; @weight
 * NULL: of times of calls.
 */
void graph_columns_put(struct ftr_ostream *out, uint64_t mask, const struct ftr_weight *weight,
		       const struct ftr_graph_node *node, bool use_color);
void graph_columns_put_heads(struct ftr_ostream *out, uint64_t mask,
			     const struct ftr_weight *weight);

#endif /* FTR_VIEW_GRAPH_COLUMNS_H */
