/* SPDX-License-Identifier: MIT */
/*
 * The tree of calls that are not short, of a stream that has all of them: open calls have no node
 * until a call in them, or they themselves, turn out to count (utils/trace/threshold_sum.h).  What
 * a call that counts is in counts, too.
 */
#include "utils/analysis/graph_sink.h"

#include <errno.h>
#include <stdlib.h>

#include "utils/trace/func.h"

struct open_call {
	const struct ftr_func *func;
	uint64_t addr, start_ns;
	uint32_t node;			/* or FTR_GRAPH_NONE */
};

struct place {
	FTR_VEC(struct open_call) open;	/* outermost first */
	struct ftr_graph_image image;
};

/* Nodes of the sums of a run, while they are made. */
struct run_nodes {
	struct ftr_graph_sink *sink;
	struct place *place;
	const struct ftr_run *run;
	uint32_t *of_sum;		/* FTR_GRAPH_NONE: none yet */
	uint64_t *open_ns;		/* by sum: when the call of it began that is left open */
};

static struct ftr_graph_sink *graph_of(struct ftr_sink *sink)
{
	return (struct ftr_graph_sink *)sink;
}

static uint32_t child_of(struct ftr_graph_sink *self, uint32_t parent, const struct ftr_func *func,
			 uint64_t addr, uint64_t time_ns)
{
	const struct ftr_graph_key key = { .name_id = func->name_id, .name = func->name,
					   .addr = addr, .time_ns = time_ns };

	return ftr_graph_child(&self->graph, parent, &key);
}

/*
 * The node of the innermost of @nr open calls, or of the image that @task runs at @time_ns;
 * FTR_GRAPH_NONE when out of memory.
 */
static uint32_t node_around(struct ftr_graph_sink *self, struct place *place, size_t nr,
			    const struct ftr_task *task, uint64_t time_ns)
{
	uint32_t node;
	size_t i = nr;

	while (i > 0 && place->open.v[i - 1].node == FTR_GRAPH_NONE)
		i--;
	if (i > 0)
		node = place->open.v[i - 1].node;
	else
		node = ftr_graph_root_at(&self->roots, &self->graph, &place->image, task,
					 nr > 0 ? place->open.v[0].start_ns : time_ns);
	for (; i < nr && node != FTR_GRAPH_NONE; i++) {
		struct open_call *call = &place->open.v[i];

		node = child_of(self, node, call->func, call->addr, call->start_ns);
		call->node = node;
	}
	return node;
}

static int enter(struct place *place, const struct ftr_event *ev)
{
	const struct open_call call = { ev->call.func, ev->call.addr, ev->time_ns,
					FTR_GRAPH_NONE };

	return ftr_vec_push(&place->open, call);
}

/* The innermost call ends, which counts or does not. */
static int leave(struct ftr_graph_sink *self, struct place *place, const struct ftr_event *ev)
{
	uint64_t total_ns = ev->time_ns - ev->call.start_ns;
	struct ftr_graph_node *node;
	uint32_t index;

	if (place->open.nr == 0)
		return 0;
	if (ev->flags & FTR_EVENT_SHORT) {
		place->open.nr--;
		return 0;
	}
	index = node_around(self, place, place->open.nr, ev->task, ev->call.start_ns);
	place->open.nr--;
	if (index == FTR_GRAPH_NONE)
		return -ENOMEM;
	node = &self->graph.nodes.v[index];
	node->calls += !ftr_task_has_inherited(ev->task, ev->flags);
	node->total_ns += total_ns;
	node->self_ns += total_ns > ev->call.child_ns ? total_ns - ev->call.child_ns : 0;
	return 0;
}

/* The time from a sched-out to its sched-in is like a call. */
static int count_schedule(struct ftr_graph_sink *self, struct place *place,
			  const struct ftr_event *ev)
{
	struct ftr_graph_node *node;
	struct ftr_graph_key key;
	uint32_t index;

	if (!ftr_graph_schedule_key(ev, &key))
		return 0;
	index = node_around(self, place, place->open.nr, ev->task, ev->time_ns);
	if (index != FTR_GRAPH_NONE)
		index = ftr_graph_child(&self->graph, index, &key);
	if (index == FTR_GRAPH_NONE)
		return -ENOMEM;
	node = &self->graph.nodes.v[index];
	node->calls++;
	node->total_ns += ev->time_ns - ev->point.start_ns;
	node->self_ns += ev->time_ns - ev->point.start_ns;
	return 0;
}

static int late_event(struct ftr_graph_sink *self, const struct ftr_event *ev)
{
	struct place *place = ftr_per_task_get(&self->places, ev->task);

	if (place == NULL)
		return -ENOMEM;
	switch (ev->type) {
	case FTR_EVENT_ENTRY:
		return enter(place, ev);
	case FTR_EVENT_EXIT:
		return leave(self, place, ev);
	case FTR_EVENT_POINT:
		return count_schedule(self, place, ev);
	default:
		return 0;
	}
}

static int late_batch(struct ftr_sink *sink, const struct ftr_event *evs, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		if (late_event(graph_of(sink), &evs[i]) < 0)
			return ftr_err_set(sink->err, ENOMEM, "graph: out of memory");
	}
	return 0;
}

/* ---- runs: sums of what counts, and what is left open ---- */

/* The node of @sum, whose first call that counts, or is open, began at @time_ns. */
static uint32_t run_node(struct run_nodes *nodes, uint32_t sum, uint64_t time_ns)
{
	const struct ftr_run_sum *sums = nodes->run->sums;
	uint32_t parent;

	if (sums[sum].func == NULL)	/* what was open before the run, and has not ended yet */
		return node_around(nodes->sink, nodes->place, nodes->place->open.nr,
				   nodes->run->task, time_ns);
	if (nodes->of_sum[sum] != FTR_GRAPH_NONE)
		return nodes->of_sum[sum];
	if (nodes->open_ns[sum] != 0 && nodes->open_ns[sum] < time_ns)
		time_ns = nodes->open_ns[sum];
	parent = run_node(nodes, sums[sum].parent, time_ns);
	if (parent == FTR_GRAPH_NONE)
		return parent;
	nodes->of_sum[sum] = child_of(nodes->sink, parent, sums[sum].func, sums[sum].addr, time_ns);
	return nodes->of_sum[sum];
}

static int run_count(struct run_nodes *nodes, uint32_t i)
{
	const struct ftr_run_sum *sum = &nodes->run->sums[i];
	struct ftr_graph_node *node;
	uint32_t index;

	if (sum->calls == 0)
		return 0;
	index = run_node(nodes, i, sum->counted_ns);
	if (index == FTR_GRAPH_NONE)
		return -ENOMEM;
	node = &nodes->sink->graph.nodes.v[index];
	node->calls += sum->calls;
	node->total_ns += sum->total_ns;
	node->self_ns += sum->self_ns;
	return 0;
}

static int run_leave(struct run_nodes *nodes, const struct ftr_run_end *end)
{
	const struct ftr_event ev = {
		.time_ns = end->time_ns,
		.task = nodes->run->task,
		.flags = (uint8_t)(end->flags | (end->is_short ? FTR_EVENT_SHORT : 0)),
		.call = { .start_ns = end->start_ns, .child_ns = end->child_ns },
	};

	return leave(nodes->sink, nodes->place, &ev);
}

static int run_open(struct run_nodes *nodes)
{
	const struct ftr_run *run = nodes->run;

	for (size_t i = 0; i < run->open_nr; i++) {
		const struct ftr_run_open *open = &run->opens[i];
		const struct ftr_run_sum *sum = &run->sums[open->sum];
		const struct open_call call = { sum->func, sum->addr, open->start_ns,
						nodes->of_sum[open->sum] };

		if (ftr_vec_push(&nodes->place->open, call) < 0)
			return -ENOMEM;
	}
	return 0;
}

static int run_take(struct run_nodes *nodes)
{
	const struct ftr_run *run = nodes->run;
	size_t end_pos = 0;
	int ret = 0;

	for (size_t i = 0; i < run->sum_nr; i++)
		nodes->of_sum[i] = FTR_GRAPH_NONE;
	for (size_t i = 0; i < run->open_nr; i++)
		nodes->open_ns[run->opens[i].sum] = run->opens[i].start_ns;
	for (uint32_t i = 1; i < run->sum_nr && ret == 0; i++) {
		if (run->sums[i].func == NULL)
			ret = run_leave(nodes, &run->ends[end_pos++]);
		else
			ret = run_count(nodes, i);
	}
	return ret < 0 ? ret : run_open(nodes);
}

static int late_run(struct ftr_sink *sink, const struct ftr_run *run)
{
	struct run_nodes nodes = {
		.sink = graph_of(sink),
		.place = ftr_per_task_get(&graph_of(sink)->places, run->task),
		.run = run,
		.of_sum = malloc(run->sum_nr * sizeof(*nodes.of_sum)),
		.open_ns = calloc(run->sum_nr, sizeof(*nodes.open_ns)),
	};
	int ret = -ENOMEM;

	if (nodes.place != NULL && nodes.of_sum != NULL && nodes.open_ns != NULL)
		ret = run_take(&nodes);
	free(nodes.of_sum);
	free(nodes.open_ns);
	return ret < 0 ? ftr_err_set(sink->err, ENOMEM, "graph: out of memory") : 0;
}

static void late_fini(struct ftr_sink *sink)
{
	struct place *place;
	size_t pos = 0;

	while ((place = ftr_per_task_next(&graph_of(sink)->places, &pos)) != NULL)
		ftr_vec_fini(&place->open);
	ftr_graph_sink_fini(sink);
}

static const struct ftr_sink_ops late_sink_ops = {
	.size	  = sizeof(struct ftr_graph_sink),
	.accepts  = FTR_BIT(FTR_EVENT_ENTRY) | FTR_BIT(FTR_EVENT_EXIT) | FTR_BIT(FTR_EVENT_POINT),
	.begin	  = ftr_graph_sink_begin,
	.batch	  = late_batch,
	.run	  = late_run,
	.run_kind = FTR_RUN_BY_CALLERS,
	.takes_short = true,
	.end	  = ftr_graph_sink_end,
	.fini	  = late_fini,
};

struct ftr_sink *ftr_graph_new_late(struct ftr_err *err)
{
	return ftr_graph_sink_new(&late_sink_ops, sizeof(struct place), err);
}
