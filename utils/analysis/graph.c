/* SPDX-License-Identifier: MIT */
/* The tree itself: nodes in one array, found by a table of indices, put in order at the end. */
#include "utils/analysis/graph.h"

#include "utils/base/bits.h"
#include "utils/trace/session.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define SLOT_BITS_MIN 10

static int slots_alloc(struct ftr_graph *graph, unsigned bits)
{
	size_t bytes = sizeof(*graph->slots) << bits;
	uint32_t *slots = malloc(bytes);

	if (slots == NULL)
		return -ENOMEM;
	memset(slots, 0xff, bytes);	/* FTR_GRAPH_NONE */
	free(graph->slots);
	graph->slots = slots;
	graph->slot_bits = bits;
	return 0;
}

int ftr_graph_init(struct ftr_graph *graph)
{
	memset(graph, 0, sizeof(*graph));
	return slots_alloc(graph, SLOT_BITS_MIN);
}

void ftr_graph_fini(struct ftr_graph *graph)
{
	ftr_vec_fini(&graph->nodes);
	ftr_vec_fini(&graph->roots);
	free(graph->slots);
	graph->slots = NULL;
}

int ftr_graph_clear(struct ftr_graph *graph)
{
	size_t nr = graph->nodes.nr;

	graph->nodes.nr = 0;
	graph->roots.nr = 0;
	return nr <= 1 ? 0 : slots_alloc(graph, SLOT_BITS_MIN);
}

static void slot_put(struct ftr_graph *graph, uint32_t index)
{
	const struct ftr_graph_node *node = &graph->nodes.v[index];
	size_t mask = FTR_BIT64(graph->slot_bits) - 1;
	size_t at = ftr_graph_slot(graph, node->parent, node->name_id);

	while (graph->slots[at] != FTR_GRAPH_NONE)
		at = (at + 1) & mask;
	graph->slots[at] = index;
}

/* Never more than half full. */
static int slots_reserve(struct ftr_graph *graph)
{
	if (2 * (graph->nodes.nr + 1) <= FTR_BIT64(graph->slot_bits))
		return 0;
	if (slots_alloc(graph, graph->slot_bits + 1) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < graph->nodes.nr; i++)
		if (graph->nodes.v[i].parent != FTR_GRAPH_NONE)
			slot_put(graph, (uint32_t)i);
	return 0;
}

static uint32_t node_add(struct ftr_graph *graph, uint32_t parent, const struct ftr_graph_key *key)
{
	struct ftr_graph_node node = {
		.name_id = key->name_id, .parent = parent, .first_child = FTR_GRAPH_NONE,
		.last_child = FTR_GRAPH_NONE, .next = FTR_GRAPH_NONE, .first_ns = key->time_ns,
		.name = key->name, .addr = key->addr,
		.total_span = { .min_ns = UINT64_MAX }, .self_span = { .min_ns = UINT64_MAX },
	};

	if (graph->nodes.nr >= FTR_GRAPH_NONE || ftr_vec_push(&graph->nodes, node) < 0)
		return FTR_GRAPH_NONE;
	return (uint32_t)(graph->nodes.nr - 1);
}

uint32_t ftr_graph_add_root(struct ftr_graph *graph, const struct ftr_session *session,
			    const char *name)
{
	struct ftr_graph_key key = { .name_id = UINT32_MAX, .name = name };
	struct ftr_graph_root root = { .session = session };

	root.node = node_add(graph, FTR_GRAPH_NONE, &key);
	if (root.node == FTR_GRAPH_NONE || ftr_vec_push(&graph->roots, root) < 0)
		return FTR_GRAPH_NONE;
	return root.node;
}

uint32_t ftr_graph_child_add(struct ftr_graph *graph, uint32_t parent,
			     const struct ftr_graph_key *key)
{
	struct ftr_graph_node *above;
	uint32_t index;

	if (slots_reserve(graph) < 0)
		return FTR_GRAPH_NONE;
	index = node_add(graph, parent, key);
	if (index == FTR_GRAPH_NONE)
		return index;
	slot_put(graph, index);
	above = &graph->nodes.v[parent];
	if (above->last_child == FTR_GRAPH_NONE)
		above->first_child = index;
	else
		graph->nodes.v[above->last_child].next = index;
	above->last_child = index;
	return index;
}

/* ---- order ---- */

struct siblings {
	const struct ftr_graph *graph;
	const struct ftr_graph_order *order;	/* (nullable) */
	FTR_VEC(uint32_t) of;
	bool is_ordered;
};

static bool is_before(const struct siblings *siblings, uint32_t a, uint32_t b)
{
	const struct ftr_graph_node *x = &siblings->graph->nodes.v[a];
	const struct ftr_graph_node *y = &siblings->graph->nodes.v[b];
	const struct ftr_graph_order *order = siblings->order;
	int by_order = order == NULL ? 0 : order->compare(x, y, order->arg);

	if (by_order != 0)
		return by_order < 0;
	return x->first_ns != y->first_ns ? x->first_ns < y->first_ns : a < b;
}

static int compare_siblings(const void *a, const void *b, void *arg)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x == y ? 0 : is_before(arg, x, y) ? -1 : 1;
}

static int siblings_collect(struct siblings *siblings, uint32_t parent)
{
	const struct ftr_graph *graph = siblings->graph;
	uint32_t at = graph->nodes.v[parent].first_child;

	siblings->of.nr = 0;
	siblings->is_ordered = true;
	for (; at != FTR_GRAPH_NONE; at = graph->nodes.v[at].next) {
		size_t nr = siblings->of.nr;

		if (nr > 0 && is_before(siblings, at, siblings->of.v[nr - 1]))
			siblings->is_ordered = false;
		if (ftr_vec_push(&siblings->of, at) < 0)
			return -ENOMEM;
	}
	return 0;
}

static void siblings_relink(struct ftr_graph *graph, uint32_t parent, struct siblings *siblings)
{
	size_t nr = siblings->of.nr;

	qsort_r(siblings->of.v, nr, sizeof(*siblings->of.v), compare_siblings, siblings);
	graph->nodes.v[parent].first_child = siblings->of.v[0];
	graph->nodes.v[parent].last_child = siblings->of.v[nr - 1];
	for (size_t i = 0; i < nr; i++)
		graph->nodes.v[siblings->of.v[i]].next =
			i + 1 < nr ? siblings->of.v[i + 1] : FTR_GRAPH_NONE;
}

static int compare_roots(const void *a, const void *b)
{
	const struct ftr_session *x = ((const struct ftr_graph_root *)a)->session;
	const struct ftr_session *y = ((const struct ftr_graph_root *)b)->session;

	if (x == NULL || y == NULL)
		return (y != NULL) - (x != NULL);
	if (x->pid != y->pid)
		return x->pid < y->pid ? 1 : -1;
	if (x->start_ns != y->start_ns)
		return x->start_ns < y->start_ns ? 1 : -1;
	return x->id < y->id ? 1 : x->id > y->id ? -1 : 0;
}

int ftr_graph_sort(struct ftr_graph *graph, const struct ftr_graph_order *order)
{
	struct siblings siblings = { .graph = graph, .order = order };
	int ret = 0;

	for (uint32_t i = 0; ret == 0 && i < graph->nodes.nr; i++) {
		ret = siblings_collect(&siblings, i);
		if (ret == 0 && !siblings.is_ordered)
			siblings_relink(graph, i, &siblings);
	}
	ftr_vec_fini(&siblings.of);
	if (graph->roots.nr > 1)
		qsort(graph->roots.v, graph->roots.nr, sizeof(*graph->roots.v), compare_roots);
	return ret;
}

/* A root's time is that of what it called, and it was called once. */
static void roots_sum(struct ftr_graph *graph)
{
	for (size_t i = 0; i < graph->roots.nr; i++) {
		struct ftr_graph_node *root = &graph->nodes.v[graph->roots.v[i].node];
		uint32_t at = root->first_child;

		root->calls = 1;
		for (; at != FTR_GRAPH_NONE; at = graph->nodes.v[at].next)
			root->total_ns += graph->nodes.v[at].total_ns;
	}
}

int ftr_graph_finish(struct ftr_graph *graph)
{
	roots_sum(graph);
	return ftr_graph_sort(graph, NULL);
}
