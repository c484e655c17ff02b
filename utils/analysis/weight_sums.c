/* SPDX-License-Identifier: MIT */
/* See weight_sums.h. */
#include "utils/analysis/weight_sums.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "utils/analysis/graph.h"

static bool is_within_itself(const struct ftr_graph *graph, const struct ftr_graph_node *node)
{
	for (uint32_t up = node->parent; up != FTR_GRAPH_NONE; up = graph->nodes.v[up].parent) {
		if (graph->nodes.v[up].name_id == node->name_id)
			return true;
	}
	return false;
}

/* Programs are none, and no kinds of waits. */
static bool is_function(const struct ftr_graph_node *node)
{
	return node->parent != FTR_GRAPH_NONE && node->name_id < FTR_GRAPH_WAITS;
}

static int compare(const void *x, const void *y)
{
	const struct ftr_weight_sum *a = x, *b = y;

	return (a->name_id > b->name_id) - (a->name_id < b->name_id);
}

int ftr_weight_sums_make(struct ftr_weight_sums *sums, const struct ftr_graph *graph)
{
	size_t nr = 0;

	*sums = (struct ftr_weight_sums){ 0 };
	for (size_t i = 0; i < graph->nodes.nr; i++) {
		const struct ftr_graph_node *node = &graph->nodes.v[i];
		const struct ftr_weight_sum sum = { node->name_id, node->name, node->total_ns };

		if (is_function(node) && !is_within_itself(graph, node) &&
		    ftr_vec_push(&sums->v, sum) < 0)
			return -ENOMEM;
	}
	if (sums->v.nr > 0)
		qsort(sums->v.v, sums->v.nr, sizeof(*sums->v.v), compare);
	for (size_t i = 0; i < sums->v.nr; i++) {
		if (nr > 0 && sums->v.v[nr - 1].name_id == sums->v.v[i].name_id)
			sums->v.v[nr - 1].total += sums->v.v[i].total;
		else
			sums->v.v[nr++] = sums->v.v[i];
	}
	sums->v.nr = nr;
	return 0;
}

void ftr_weight_sums_fini(struct ftr_weight_sums *sums)
{
	ftr_vec_fini(&sums->v);
}

uint64_t ftr_weight_sums_of(const struct ftr_weight_sums *sums, uint32_t name_id)
{
	const struct ftr_weight_sum wanted = { .name_id = name_id }, *found = NULL;

	if (sums->v.nr > 0)
		found = bsearch(&wanted, sums->v.v, sums->v.nr, sizeof(wanted), compare);
	return found != NULL ? found->total : 0;
}
