/* SPDX-License-Identifier: MIT */
/*
 * Parents stand before their children, so what a node inherits (depth, root, whether the function
 * is among its callers) is known when it is its turn: one pass, however deep the calls are.
 */
#include "utils/analysis/graph_focus.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* What a node of the whole tree has from its parent. */
struct heir {
	uint32_t depth;		/* of outermost calls: 0 */
	uint32_t root;		/* index in roots */
	uint32_t image; /* its node in focus->graph, or that of a caller when it has no levels;
			 * FTR_GRAPH_NONE outside of the function */
	uint64_t levels;	/* so many more are shown, itself included */
};

struct pass {
	struct ftr_graph_focus *focus;
	const struct ftr_graph *whole;
	const char *name;
	uint64_t levels;	/* that each call of the function has */
	struct heir *heirs;	/* (owned) by node of whole */
};

static void span_add(struct ftr_graph_span *to, const struct ftr_graph_span *from)
{
	if (from->min_ns < to->min_ns)
		to->min_ns = from->min_ns;
	if (from->max_ns > to->max_ns)
		to->max_ns = from->max_ns;
}

static void node_merge(struct ftr_graph_node *to, const struct ftr_graph_node *from)
{
	if (to->addr == 0)
		to->addr = from->addr;
	to->calls += from->calls;
	to->total_ns += from->total_ns;
	to->self_ns += from->self_ns;
	span_add(&to->total_span, &from->total_span);
	span_add(&to->self_span, &from->self_span);
}

static int roots_make(struct pass *pass)
{
	const struct ftr_graph *whole = pass->whole;

	for (size_t i = 0; i < whole->roots.nr; i++) {
		const struct ftr_graph_root *root = &whole->roots.v[i];

		if (ftr_graph_add_root(&pass->focus->graph, root->session, pass->name) ==
		    FTR_GRAPH_NONE)
			return -ENOMEM;
		pass->heirs[root->node] = (struct heir){ .root = (uint32_t)i,
							 .image = FTR_GRAPH_NONE };
	}
	return 0;
}

/* The function's outermost call: where a backtrace ends and the tree begins. */
static int outermost_add(struct pass *pass, uint32_t index)
{
	struct heir *heir = &pass->heirs[index];
	struct ftr_graph_backtrace backtrace = { index, heir->depth, heir->root };

	heir->image = pass->focus->graph.roots.v[heir->root].node;
	return ftr_vec_push(&pass->focus->backtraces, backtrace);
}

static int callee_add(struct pass *pass, uint32_t index, uint32_t above)
{
	const struct ftr_graph_node *node = &pass->whole->nodes.v[index];
	struct ftr_graph_key key = {
		.name_id = node->name_id, .name = node->name, .addr = node->addr,
		.time_ns = node->first_ns,
	};

	pass->heirs[index].image = ftr_graph_child(&pass->focus->graph, above, &key);
	return pass->heirs[index].image == FTR_GRAPH_NONE ? -ENOMEM : 0;
}

static int node_pass(struct pass *pass, uint32_t index)
{
	const struct ftr_graph_node *node = &pass->whole->nodes.v[index];
	const struct heir *above = &pass->heirs[node->parent];
	struct heir *heir = &pass->heirs[index];
	bool is_first = pass->whole->nodes.v[node->parent].parent == FTR_GRAPH_NONE;
	bool is_match = strcmp(node->name, pass->name) == 0;
	int ret = 0;

	*heir = (struct heir){ is_first ? 0 : above->depth + 1, above->root, above->image,
			       above->levels > 0 ? above->levels - 1 : 0 };
	if (is_match)
		heir->levels = pass->levels;
	pass->focus->tops.v[index] = heir->depth <= pass->focus->top_depth
					     ? index : pass->focus->tops.v[node->parent];
	if (heir->levels == 0)
		return 0;
	if (above->image != FTR_GRAPH_NONE)
		ret = callee_add(pass, index, above->image);
	else if (is_match)
		ret = outermost_add(pass, index);
	if (ret == 0 && heir->image != FTR_GRAPH_NONE)
		node_merge(&pass->focus->graph.nodes.v[heir->image], node);
	return ret;
}

static int compare_backtraces(const void *a, const void *b, void *arg)
{
	const struct ftr_graph_backtrace *x = a, *y = b;
	const struct ftr_graph *whole = arg;
	uint64_t of_x = whole->nodes.v[x->node].first_ns, of_y = whole->nodes.v[y->node].first_ns;

	if (x->root != y->root)
		return x->root < y->root ? -1 : 1;
	if (of_x != of_y)
		return of_x < of_y ? 1 : -1;
	return x->node < y->node ? 1 : x->node > y->node ? -1 : 0;
}

static int pass_run(struct pass *pass)
{
	const struct ftr_graph *whole = pass->whole;
	struct ftr_graph_focus *focus = pass->focus;
	int ret = roots_make(pass);

	for (uint32_t i = 0; ret == 0 && i < whole->nodes.nr; i++) {
		if (whole->nodes.v[i].parent != FTR_GRAPH_NONE)
			ret = node_pass(pass, i);
	}
	if (ret == 0 && focus->backtraces.nr > 1)
		qsort_r(focus->backtraces.v, focus->backtraces.nr, sizeof(*focus->backtraces.v),
			compare_backtraces, (void *)whole);
	return ret;
}

int ftr_graph_focus_init(struct ftr_graph_focus *focus, const struct ftr_graph *whole,
			 const char *name, uint64_t levels, uint32_t top_depth)
{
	struct pass pass = { .focus = focus, .whole = whole, .name = name,
			     .levels = levels == 0 ? UINT64_MAX : levels };
	int ret = -ENOMEM;

	memset(focus, 0, sizeof(*focus));
	focus->top_depth = top_depth;
	pass.heirs = calloc(whole->nodes.nr + 1, sizeof(*pass.heirs));
	if (ftr_graph_init(&focus->graph) == 0 && pass.heirs != NULL &&
	    ftr_vec_reserve(&focus->tops, whole->nodes.nr + 1) == 0) {
		focus->graph.weight = whole->weight;
		ret = pass_run(&pass);
	}
	if (ret == 0)
		ret = ftr_graph_sort(&focus->graph, NULL);	/* the roots are in order already */
	free(pass.heirs);
	return ret;
}

void ftr_graph_focus_fini(struct ftr_graph_focus *focus)
{
	ftr_graph_fini(&focus->graph);
	ftr_vec_fini(&focus->backtraces);
	ftr_vec_fini(&focus->tops);
}
