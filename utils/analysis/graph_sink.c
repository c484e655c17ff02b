/* SPDX-License-Identifier: MIT */
/* From events to the tree: a task's place in it goes down with an ENTRY and up with an EXIT. */
#include "utils/analysis/graph_sink.h"

#include "utils/trace/event_kind.h"
#include "utils/trace/func.h"

#include <errno.h>
#include <stdlib.h>

struct place {
	uint32_t node;			/* innermost open call; FTR_GRAPH_NONE between calls */
	struct ftr_graph_image image;
};

static struct ftr_graph_sink *graph_of(struct ftr_sink *sink)
{
	return (struct ftr_graph_sink *)sink;
}

/* An outermost call: it belongs to the image that the task runs by now. */
static uint32_t place_root(struct ftr_graph_sink *self, struct place *place,
			   const struct ftr_task *task, uint64_t time_ns)
{
	return ftr_graph_root_at(&self->roots, &self->graph, &place->image, task, time_ns);
}

static struct place *place_get(struct ftr_graph_sink *self, const struct ftr_task *task)
{
	struct place *place = ftr_per_task_get(&self->places, task);

	/* A node that is no root and has 0 is the zeroed state of a new task. */
	if (place != NULL && !place->image.has_root)
		place->node = FTR_GRAPH_NONE;
	return place;
}

static inline void count_call(const struct ftr_graph_sink *self, struct ftr_graph_node *node,
			      uint64_t total_ns, uint64_t self_ns, bool is_inherited)
{
	node->calls += !is_inherited;
	node->total_ns += total_ns;
	node->self_ns += self_ns;
	if (!self->has_details || is_inherited)
		return;
	ftr_graph_span_add(&node->total_span, total_ns);
	ftr_graph_span_add(&node->self_span, self_ns);
}

static inline int enter(struct ftr_graph_sink *self, struct place *place,
			const struct ftr_event *ev)
{
	const struct ftr_func *func = ev->call.func;
	struct ftr_graph_key key = {
		.name_id = func->name_id, .name = func->name,
		.addr = ev->call.addr, .time_ns = ev->time_ns,
	};
	uint32_t parent = place->node;

	if (__builtin_expect(parent == FTR_GRAPH_NONE, 0)) {
		parent = place_root(self, place, ev->task, ev->time_ns);
		if (parent == FTR_GRAPH_NONE)
			return -ENOMEM;
	}
	place->node = ftr_graph_child(&self->graph, parent, &key);
	return place->node == FTR_GRAPH_NONE ? -ENOMEM : 0;
}

static inline void leave(struct ftr_graph_sink *self, struct place *place,
			 const struct ftr_event *ev)
{
	struct ftr_graph_node *nodes = self->graph.nodes.v;
	uint64_t total_ns = ev->time_ns - ev->call.start_ns;
	uint64_t self_ns = total_ns > ev->call.child_ns ? total_ns - ev->call.child_ns : 0;
	struct ftr_graph_node *node;

	if (__builtin_expect(place->node == FTR_GRAPH_NONE, 0))
		return;
	node = &nodes[place->node];
	count_call(self, node, total_ns, self_ns, ftr_task_has_inherited(ev->task, ev->flags));
	place->node = nodes[node->parent].parent == FTR_GRAPH_NONE ? FTR_GRAPH_NONE : node->parent;
}

bool ftr_graph_schedule_key(const struct ftr_event *ev, struct ftr_graph_key *key)
{
	enum ftr_event_id out_id;

	if (!ftr_event_ends_schedule(ev))
		return false;
	out_id = ftr_event_sched_out_id(ev);
	*key = (struct ftr_graph_key){
		.name_id = out_id == FTR_EVENT_ID_SCHED_OUT ? FTR_GRAPH_SCHEDULE :
							      FTR_GRAPH_SCHEDULE_PREEMPTED,
		.name = ftr_event_pair_name(out_id),
		.addr = out_id,
		.time_ns = ev->point.start_ns,
	};
	return true;
}

/*
 * The time from a sched-out to its sched-in is like a call; outside of functions, one of the
 * program.
 */
static int count_schedule(struct ftr_graph_sink *self, struct place *place,
			  const struct ftr_event *ev)
{
	uint64_t ns = ev->time_ns - ev->point.start_ns;
	uint32_t parent = place->node, node;
	struct ftr_graph_key key;

	if (!ftr_graph_schedule_key(ev, &key))
		return 0;
	if (parent == FTR_GRAPH_NONE)
		parent = place_root(self, place, ev->task, ev->time_ns);
	node = parent == FTR_GRAPH_NONE ? parent : ftr_graph_child(&self->graph, parent, &key);
	if (node == FTR_GRAPH_NONE)
		return -ENOMEM;
	count_call(self, &self->graph.nodes.v[node], ns, ns, false);
	return 0;
}

int ftr_graph_sink_begin(struct ftr_sink *sink, const struct ftr_trace *trace)
{
	ftr_graph_roots_init(&graph_of(sink)->roots, trace);
	return 0;
}

static int graph_batch(struct ftr_sink *sink, const struct ftr_event *evs, size_t nr)
{
	struct ftr_graph_sink *self = graph_of(sink);
	const struct ftr_task *task = NULL;
	struct place *place = NULL;
	int ret = 0;

	for (size_t i = 0; i < nr && ret == 0; i++) {
		const struct ftr_event *ev = &evs[i];

		if (__builtin_expect(ev->task != task, 0)) {
			task = ev->task;
			place = place_get(self, task);
		}
		if (__builtin_expect(place == NULL, 0))
			ret = -ENOMEM;
		else if (ev->type == FTR_EVENT_EXIT)
			leave(self, place, ev);
		else if (ev->type == FTR_EVENT_ENTRY)
			ret = enter(self, place, ev);
		else if (ev->type == FTR_EVENT_POINT)
			ret = count_schedule(self, place, ev);
	}
	return ret < 0 ? ftr_err_set(sink->err, -ret, "graph: out of memory") : 0;
}

/* ---- runs: the nodes below the calls that were open, already summed up ---- */

/* A call ends that began before the run. */
static void run_leave(struct ftr_graph_sink *self, struct place *place, const struct ftr_task *task,
		      const struct ftr_run_end *end)
{
	struct ftr_event ev = {
		.time_ns = end->time_ns,
		.task = (struct ftr_task *)(uintptr_t)task,
		.flags = end->flags,
		.call = { .start_ns = end->start_ns, .child_ns = end->child_ns },
	};

	leave(self, place, &ev);
}

/* The node of a sum whose caller's is @parent; FTR_GRAPH_NONE = out of memory. */
static uint32_t run_count(struct ftr_graph_sink *self, struct place *place, uint32_t parent,
			  const struct ftr_task *task, const struct ftr_run_sum *sum)
{
	struct ftr_graph_key key = {
		.name_id = sum->func->name_id, .name = sum->func->name,
		.addr = sum->addr, .time_ns = sum->first_ns,
	};
	struct ftr_graph_node *node;
	uint32_t index;

	if (parent == FTR_GRAPH_NONE)
		parent = place_root(self, place, task, sum->first_ns);
	if (parent == FTR_GRAPH_NONE)
		return FTR_GRAPH_NONE;
	index = ftr_graph_child(&self->graph, parent, &key);
	if (index == FTR_GRAPH_NONE)
		return index;
	node = &self->graph.nodes.v[index];
	node->calls += sum->calls;
	node->total_ns += sum->total_ns;
	node->self_ns += sum->self_ns;
	return index;
}

/* In the order in which the sums began, as the nodes of single calls.  @nodes: by sum. */
static int run_take(struct ftr_graph_sink *self, const struct ftr_run *run, uint32_t *nodes)
{
	struct place *place = place_get(self, run->task);
	size_t end_pos = 0;

	if (place == NULL)
		return -ENOMEM;
	for (size_t i = 0; i < run->sum_nr; i++) {
		const struct ftr_run_sum *sum = &run->sums[i];

		if (sum->func == NULL) {
			if (i > 0)
				run_leave(self, place, run->task, &run->ends[end_pos++]);
			nodes[i] = place->node;
			continue;
		}
		nodes[i] = run_count(self, place, nodes[sum->parent], run->task, sum);
		if (nodes[i] == FTR_GRAPH_NONE)
			return -ENOMEM;
	}
	if (run->open_nr > 0)
		place->node = nodes[run->opens[run->open_nr - 1].sum];
	return 0;
}

static int graph_run(struct ftr_sink *sink, const struct ftr_run *run)
{
	uint32_t *nodes = malloc(run->sum_nr * sizeof(*nodes));
	int ret = nodes == NULL ? -ENOMEM : run_take(graph_of(sink), run, nodes);

	free(nodes);
	return ret < 0 ? ftr_err_set(sink->err, -ret, "graph: out of memory") : 0;
}

int ftr_graph_sink_end(struct ftr_sink *sink)
{
	if (ftr_graph_finish(&graph_of(sink)->graph) < 0)
		return ftr_err_set(sink->err, ENOMEM, "graph: out of memory");
	return 0;
}

void ftr_graph_sink_fini(struct ftr_sink *sink)
{
	struct ftr_graph_sink *self = graph_of(sink);

	ftr_graph_fini(&self->graph);
	ftr_per_task_fini(&self->places);
	ftr_graph_roots_fini(&self->roots);
}

static const struct ftr_sink_ops graph_sink_ops = {
	.size	 = sizeof(struct ftr_graph_sink),
	.accepts = FTR_BIT(FTR_EVENT_ENTRY) | FTR_BIT(FTR_EVENT_EXIT) | FTR_BIT(FTR_EVENT_POINT),
	.begin	 = ftr_graph_sink_begin,
	.batch	 = graph_batch,
	.end	 = ftr_graph_sink_end,
	.fini	 = ftr_graph_sink_fini,
};

/* Without details: least and most are of each call. */
static const struct ftr_sink_ops plain_sink_ops = {
	.size	  = sizeof(struct ftr_graph_sink),
	.accepts  = FTR_BIT(FTR_EVENT_ENTRY) | FTR_BIT(FTR_EVENT_EXIT) | FTR_BIT(FTR_EVENT_POINT),
	.begin	  = ftr_graph_sink_begin,
	.batch	  = graph_batch,
	.run	  = graph_run,
	.run_kind = FTR_RUN_BY_CALLERS,
	.end	  = ftr_graph_sink_end,
	.fini	  = ftr_graph_sink_fini,
};

struct ftr_sink *ftr_graph_sink_new(const struct ftr_sink_ops *ops, size_t place_bytes,
				    struct ftr_err *err)
{
	struct ftr_sink *sink = ftr_sink_new(ops, NULL, err);

	if (sink == NULL || ftr_graph_init(&graph_of(sink)->graph) < 0) {
		ftr_sink_free(sink);
		ftr_err_set(err, ENOMEM, "graph: out of memory");
		return NULL;
	}
	graph_of(sink)->places.bytes = place_bytes;
	return sink;
}

struct ftr_sink *ftr_graph_new(bool has_details, struct ftr_err *err)
{
	struct ftr_sink *sink = ftr_graph_sink_new(has_details ? &graph_sink_ops : &plain_sink_ops,
						   sizeof(struct place), err);

	if (sink != NULL)
		graph_of(sink)->has_details = has_details;
	return sink;
}

struct ftr_graph *ftr_graph_get(struct ftr_sink *sink)
{
	return &graph_of(sink)->graph;
}
