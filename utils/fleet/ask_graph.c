/* SPDX-License-Identifier: MIT */
/* The tree of calls from a fleet's database. */
#include "utils/fleet/ask_graph.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>

#include "utils/fleet/question.h"
#include "utils/trace/session.h"

static const char select_paths[] =
	"SELECT path, any(parent), any(program), any(function), sum(calls), sum(total), sum(self),"
	" min(first) AS begin, min(total_min), max(total_max), min(self_min), max(self_max)";

/* Callers come before their callees. */
static const char order[] = "GROUP BY path ORDER BY begin, any(depth), any(function)";

static uint32_t node_find(const struct ftr_fleet_graph *graph, uint64_t path)
{
	void *found = ftr_hashmap_find(&graph->nodes, path);

	return found == NULL ? FTR_GRAPH_NONE : (uint32_t)((uintptr_t)found - 1);
}

static int node_note(struct ftr_fleet_graph *graph, uint64_t path, uint32_t node)
{
	return ftr_hashmap_set(&graph->nodes, path, (void *)((uintptr_t)node + 1));
}

/* A program's root, which the first of its outermost calls makes. */
static uint32_t root_add(struct ftr_fleet_graph *graph, uint64_t path, const char *program)
{
	struct ftr_session *session = ftr_arena_alloc(&graph->names.arena, sizeof(*session));
	uint32_t root;

	if (session == NULL)
		return FTR_GRAPH_NONE;
	*session = (struct ftr_session){ .sid = "" };
	session->id = (uint32_t)graph->graph.roots.nr;	/* the last one is shown first */
	root = ftr_graph_add_root(&graph->graph, session, program);
	return root == FTR_GRAPH_NONE || node_note(graph, path, root) < 0 ? FTR_GRAPH_NONE : root;
}

static void take_numbers(struct ftr_graph_node *node, struct ftr_answer *answer)
{
	node->total_span.min_ns = ftr_answer_u64(answer);
	node->total_span.max_ns = ftr_answer_u64(answer);
	node->self_span.min_ns = ftr_answer_u64(answer);
	node->self_span.max_ns = ftr_answer_u64(answer);
}

static int take_path(void *arg, struct ftr_answer *answer)
{
	struct ftr_fleet_graph *graph = arg;
	uint64_t path = ftr_answer_u64(answer), above = ftr_answer_u64(answer);
	struct ftr_slice program = ftr_answer_string(answer), name = ftr_answer_string(answer);
	const struct ftr_str *program_str = ftr_strpool_get(&graph->names, program.s, program.len);
	const struct ftr_str *str = ftr_strpool_get(&graph->names, name.s, name.len);
	uint64_t calls = ftr_answer_u64(answer), total_ns = ftr_answer_u64(answer);
	uint64_t self_ns = ftr_answer_u64(answer);
	uint32_t parent = node_find(graph, above), index;
	struct ftr_graph_key key;

	if (str == NULL || program_str == NULL)
		return -ENOMEM;
	key = (struct ftr_graph_key){ .name_id = str->id, .name = str->s,
				      .time_ns = ftr_answer_u64(answer) };
	if (parent == FTR_GRAPH_NONE)
		parent = root_add(graph, above, program_str->s);
	if (parent == FTR_GRAPH_NONE)
		return -ENOMEM;
	index = ftr_graph_child(&graph->graph, parent, &key);
	if (index == FTR_GRAPH_NONE || node_note(graph, path, index) < 0)
		return -ENOMEM;
	graph->graph.nodes.v[index].calls = calls;
	graph->graph.nodes.v[index].total_ns = total_ns;
	graph->graph.nodes.v[index].self_ns = self_ns;
	take_numbers(&graph->graph.nodes.v[index], answer);
	return 0;
}

int ftr_fleet_ask_graph(const struct ftr_asked *asked, struct ftr_fleet_graph *graph,
			struct ftr_err *err)
{
	const struct ftr_question question = {
		.table = ROWS_PATHS, .select = { select_paths, "" }, .tail = order,
		.take = take_path, .arg = graph,
	};
	int ret;

	memset(graph, 0, sizeof(*graph));
	ftr_strpool_init(&graph->names);
	if (ftr_graph_init(&graph->graph) < 0)
		return ftr_err_set(err, ENOMEM, "out of memory");
	ret = ftr_question_ask(&question, asked, err);
	if (ret == 0 && ftr_graph_finish(&graph->graph) < 0)
		ret = ftr_err_set(err, ENOMEM, "out of memory");
	return ret;
}

void ftr_fleet_graph_fini(struct ftr_fleet_graph *graph)
{
	ftr_graph_fini(&graph->graph);
	ftr_strpool_fini(&graph->names);
	ftr_hashmap_fini(&graph->nodes);
}
