/* SPDX-License-Identifier: MIT */
/* See weights.h. */
#include "utils/analysis/weights.h"

#include <errno.h>
#include <string.h>

#include "utils/analysis/graph_roots.h"
#include "utils/analysis/sample_stack.h"
#include "utils/analysis/waits.h"
#include "utils/trace/event_kind.h"
#include "utils/trace/func.h"
#include "utils/trace/memory_blocks.h"
#include "utils/trace/per_task.h"
#include "utils/trace/sample.h"
#include "utils/trace/trace.h"

/* An open call; its node is made when something happens in it. */
struct frame {
	const struct ftr_func *func;
	uint64_t addr, time_ns;
	uint32_t node;
};

struct state {
	const struct ftr_task *task;
	struct ftr_graph_image image;
	FTR_VEC(struct frame) frames;
	size_t made_nr;			/* the outermost ones, which have nodes */
	struct ftr_waits waits;
	uint64_t last_ns;
};

struct weights {
	struct ftr_sink base;		/* first: ops receive a pointer to it */
	struct ftr_graph graph;
	struct ftr_graph_roots roots;
	struct ftr_trace *trace;	/* (borrowed) functions are found as needed */
	struct ftr_per_task states;
	FTR_VEC(struct ftr_weighed) weighed;	/* by node */
	struct ftr_memory_blocks blocks;	/* an owner is a node */
	struct ftr_sample_stacks stacks;
	uint64_t seen_nr;
	uint32_t depth_max;
};

static struct weights *weights_of(struct ftr_sink *sink)
{
	return (struct weights *)sink;
}

static enum ftr_weight_by by_of(const struct weights *self)
{
	return self->graph.weight->by;
}

/* ---- nodes ---- */

static uint32_t root_of(struct weights *self, struct state *state, uint64_t time_ns)
{
	return ftr_graph_root_at(&self->roots, &self->graph, &state->image, state->task, time_ns);
}

/* Below @parent, at @depth; where that is too deep, @parent. */
static uint32_t child_of(struct weights *self, uint32_t parent, size_t depth,
			 const struct ftr_graph_key *key)
{
	return parent == FTR_GRAPH_NONE || depth >= self->depth_max ?
		       parent : ftr_graph_child(&self->graph, parent, key);
}

static uint32_t child_of_frame(struct weights *self, uint32_t parent, size_t depth,
			       const struct frame *frame)
{
	const struct ftr_graph_key key = {
		.name_id = frame->func->name_id, .name = frame->func->name,
		.addr = frame->addr, .time_ns = frame->time_ns,
	};

	return child_of(self, parent, depth, &key);
}

/* The node of the innermost of the @nr outermost open calls, else of the program. */
static uint32_t node_of_calls(struct weights *self, struct state *state, size_t nr,
			      uint64_t time_ns)
{
	uint32_t node;

	if (nr == 0)
		return root_of(self, state,
			       state->frames.nr > 0 ? state->frames.v[0].time_ns : time_ns);
	if (nr <= state->made_nr)
		return state->frames.v[nr - 1].node;
	node = state->made_nr > 0 ? state->frames.v[state->made_nr - 1].node :
				    root_of(self, state, state->frames.v[0].time_ns);
	while (node != FTR_GRAPH_NONE && state->made_nr < nr) {
		struct frame *frame = &state->frames.v[state->made_nr];

		node = child_of_frame(self, node, state->made_nr, frame);
		frame->node = node;
		state->made_nr += node != FTR_GRAPH_NONE;
	}
	return node;
}

/* Is @func the innermost call, those of library functions left aside that it made? */
static bool is_innermost(const struct state *state, const struct ftr_func *func)
{
	for (size_t i = state->frames.nr; i-- > 0;) {
		const struct ftr_func *open = state->frames.v[i].func;

		if (open->name_id == func->name_id || open->symbol_type != 'P')
			return open->name_id == func->name_id;
	}
	return false;
}

/*
 * How many of the open calls are around a function that is not traced: not those library functions
 * that were called from its own module, by itself.
 */
static size_t frames_around(const struct state *state, const struct ftr_func *func)
{
	size_t nr = state->frames.nr;

	while (nr > 0 && state->frames.v[nr - 1].func->symbol_type == 'P' &&
	       state->frames.v[nr - 1].func->module == func->module)
		nr--;
	return nr;
}

/*
 * Among the open calls there is the function that @caller lies in, if it is not traced.  *depth:
 * how many there are, with it.
 */
static uint32_t node_of_caller(struct weights *self, struct state *state,
			       const struct ftr_event *ev, uint64_t caller, size_t *depth)
{
	const struct ftr_func *func;
	struct ftr_graph_key key;
	uint32_t node;
	size_t nr;

	*depth = state->frames.nr;
	if (caller == 0)
		return node_of_calls(self, state, *depth, ev->time_ns);
	/* The call is before the place that it returns to. */
	func = ftr_sample_func(self->trace, ev, caller - 1);
	if (func == NULL)
		return FTR_GRAPH_NONE;
	if (is_innermost(state, func))
		return node_of_calls(self, state, *depth, ev->time_ns);
	nr = frames_around(state, func);
	key = (struct ftr_graph_key){ .name_id = func->name_id, .name = func->name,
				      .time_ns = ev->time_ns };
	node = child_of(self, node_of_calls(self, state, nr, ev->time_ns), nr, &key);
	for (; nr < state->frames.nr; nr++)
		node = child_of_frame(self, node, nr + 1, &state->frames.v[nr]);
	++*depth;
	return node;
}

/* It has a place in weighed: NULL = out of memory. */
static struct ftr_weighed *weighed_of(struct weights *self, uint32_t node)
{
	if (ftr_vec_reach(&self->weighed, node) < 0)
		return NULL;
	return &self->weighed.v[node];
}

static int weigh(struct weights *self, uint32_t node, uint64_t value)
{
	struct ftr_weighed *weighed = node == FTR_GRAPH_NONE ? NULL : weighed_of(self, node);

	if (weighed == NULL)
		return -ENOMEM;
	weighed->nr++;
	self->graph.nodes.v[node].self_ns += value;
	return 0;
}

/* ---- calls ---- */

static struct state *state_get(struct weights *self, const struct ftr_event *ev)
{
	struct state *state = ftr_per_task_get(&self->states, ev->task);

	if (state != NULL) {
		state->task = ev->task;
		state->last_ns = ev->time_ns;
	}
	return state;
}

static int call_begins(struct state *state, const struct ftr_event *ev)
{
	const struct frame frame = { ev->call.func, ev->call.addr, ev->time_ns, FTR_GRAPH_NONE };

	return ftr_vec_push(&state->frames, frame);
}

static uint32_t node_of_wait(struct weights *self, struct state *state, const struct ftr_event *ev,
			     const struct ftr_wait *wait)
{
	const struct ftr_graph_key key = {
		.name_id = FTR_GRAPH_WAITS + (wait->kind->id - FTR_EVENT_ID_SYNC_MUTEX),
		.name = wait->kind->name, .time_ns = wait->start_ns,
	};
	size_t depth;
	uint32_t node = node_of_caller(self, state, ev, wait->caller, &depth);

	return child_of(self, node, depth, &key);
}

/* Waits in a call that did not end go on until their process does; others are left by a jump. */
static int waits_left(struct weights *self, struct state *state, const struct ftr_event *ev)
{
	struct ftr_waits *waits = &state->waits;
	struct ftr_wait wait;
	uint64_t ns;

	for (unsigned i = waits->nr; i-- > 0 && waits->open[i].depth >= state->frames.nr;) {
		struct ftr_wait *open = &waits->open[i];

		if (open->node == FTR_GRAPH_NONE)
			open->node = node_of_wait(self, state, ev, open);
		if (open->node == FTR_GRAPH_NONE)
			return -ENOMEM;
		if (ev->flags & FTR_EVENT_UNFINISHED)
			continue;
		ftr_waits_end(waits, ev->time_ns, &wait, &ns);
		if (weigh(self, wait.node, ns) < 0)
			return -ENOMEM;
	}
	return 0;
}

static int call_ends(struct weights *self, struct state *state, const struct ftr_event *ev)
{
	int ret = state->waits.nr > 0 ? waits_left(self, state, ev) : 0;

	state->frames.nr -= state->frames.nr > 0;
	if (state->made_nr > state->frames.nr)
		state->made_nr = state->frames.nr;
	return ret;
}

/* ---- events ---- */

static int sample_take(struct weights *self, const struct ftr_event *ev)
{
	int ret = ftr_sample_stacks_take(&self->stacks, ev);
	struct state *state;
	uint32_t node;

	if (ret <= 0)
		return ret;
	state = state_get(self, ev);
	node = state == NULL ? FTR_GRAPH_NONE : root_of(self, state, ev->time_ns);
	for (size_t i = 0; node != FTR_GRAPH_NONE && i < self->stacks.frames.nr; i++) {
		const struct ftr_func *func = self->stacks.frames.v[i];
		const struct ftr_graph_key key = { .name_id = func->name_id, .name = func->name,
						   .time_ns = ev->time_ns };

		node = child_of(self, node, i, &key);
	}
	self->seen_nr++;
	return weigh(self, node, 1);
}

static void block_gone(void *arg, const struct ftr_memory_block *block)
{
	struct weights *self = arg;

	self->graph.nodes.v[block->owner].self_ns -= block->bytes;
	self->weighed.v[block->owner].nr--;
}

static int request_take(struct weights *self, struct state *state, const struct ftr_event *ev,
			const struct ftr_memory_request *request)
{
	bool is_given = request->asks && request->address != 0;
	uint32_t node = 0;
	size_t depth;
	int ret = 0;

	self->seen_nr++;
	if (is_given) {
		node = node_of_caller(self, state, ev, request->caller, &depth);
		ret = weigh(self, node,
			    by_of(self) == FTR_WEIGHT_BLOCKS ? 1 : request->bytes);
	}
	if (ret == 0 && is_given) {
		self->weighed.v[node].blocks++;
		self->weighed.v[node].bytes += request->bytes;
	}
	if (ret == 0 && by_of(self) == FTR_WEIGHT_LEAK)
		ret = ftr_memory_blocks_take(&self->blocks, ev, request, node);
	return ret;
}

static int wait_take(struct weights *self, struct state *state, const struct ftr_event *ev)
{
	struct ftr_wait wait;
	uint64_t ns;

	self->seen_nr++;
	if (!ftr_waits_take(&state->waits, ev, (uint32_t)state->frames.nr, &wait, &ns))
		return 0;
	return weigh(self, node_of_wait(self, state, ev, &wait), ns);
}

static int event_take(struct weights *self, const struct ftr_event *ev)
{
	struct ftr_memory_request request;
	struct state *state;

	if (by_of(self) == FTR_WEIGHT_SAMPLES)
		return sample_take(self, ev);
	state = state_get(self, ev);
	if (state == NULL)
		return -ENOMEM;
	if (ev->type == FTR_EVENT_ENTRY)
		return call_begins(state, ev);
	if (ev->type == FTR_EVENT_EXIT)
		return call_ends(self, state, ev);
	if (by_of(self) == FTR_WEIGHT_WAIT)
		return ftr_waits_has(ev) ? wait_take(self, state, ev) : 0;
	return ftr_memory_request_read(&request, ev) ? request_take(self, state, ev, &request) : 0;
}

static int weights_begin(struct ftr_sink *sink, const struct ftr_trace *trace)
{
	struct weights *self = weights_of(sink);

	self->trace = (struct ftr_trace *)trace;
	ftr_graph_roots_init(&self->roots, trace);
	ftr_sample_stacks_init(&self->stacks, trace);
	if (trace->is_narrowed && by_of(self) == FTR_WEIGHT_LEAK)
		return ftr_err_set(sink->err, EINVAL,
				   "--by=leak has to see everything that is given back: without what "
				   "leaves out calls or events (-F, -N, -D, -r, -t, --tid, --no-event ...)");
	return 0;
}

static int weights_event(struct ftr_sink *sink, const struct ftr_event *ev)
{
	int ret = event_take(weights_of(sink), ev);

	return ret < 0 ? ftr_err_set(sink->err, ENOMEM, "out of memory") : 0;
}

/* ---- the end ---- */

static uint64_t process_end(const struct weights *self, int32_t pid)
{
	const struct state *state;
	uint64_t end_ns = 0;
	size_t pos = 0;

	while ((state = ftr_per_task_next(&self->states, &pos)) != NULL) {
		if (state->task->pid == pid && state->last_ns > end_ns)
			end_ns = state->last_ns;
	}
	return end_ns;
}

/* What is still waited for, a thread that hangs. */
static int waits_finish(struct weights *self)
{
	struct state *state;
	size_t pos = 0;
	int ret = 0;

	while (ret == 0 && (state = ftr_per_task_next(&self->states, &pos)) != NULL) {
		struct ftr_event end = { .task = (struct ftr_task *)(uintptr_t)state->task,
					 .time_ns = state->last_ns };
		uint64_t end_ns = state->waits.nr == 0 ? 0 : process_end(self, state->task->pid);
		struct ftr_wait wait;
		uint64_t ns;

		while (ret == 0 && ftr_waits_end(&state->waits, end_ns, &wait, &ns)) {
			if (wait.node == FTR_GRAPH_NONE)
				wait.node = node_of_wait(self, state, &end, &wait);
			ret = weigh(self, wait.node, ns);
		}
	}
	return ret;
}

/* Children stand behind their parents. */
static int sum_up(struct weights *self)
{
	struct ftr_graph_node *nodes = self->graph.nodes.v;

	if (self->graph.nodes.nr > 0 &&
	    weighed_of(self, (uint32_t)self->graph.nodes.nr - 1) == NULL)
		return -ENOMEM;
	for (size_t i = self->graph.nodes.nr; i-- > 0;) {
		nodes[i].calls += self->weighed.v[i].nr;
		nodes[i].total_ns += nodes[i].self_ns;
		if (nodes[i].parent == FTR_GRAPH_NONE)
			continue;
		nodes[nodes[i].parent].calls += nodes[i].calls;
		nodes[nodes[i].parent].total_ns += nodes[i].total_ns;
	}
	return 0;
}

/* A tree without the nodes where nothing is left, made from the one that has all. */
struct pruning {
	const struct ftr_graph *from;
	struct ftr_graph to;
	FTR_VEC(uint32_t) copies;	/* by node of from; FTR_GRAPH_NONE: left out */
	size_t root_nr;			/* copied */
};

static uint32_t node_copy(struct pruning *pruning, const struct ftr_graph_node *node)
{
	const struct ftr_graph_root *root = &pruning->from->roots.v[pruning->root_nr];
	const struct ftr_graph_key key = { .name_id = node->name_id, .name = node->name,
					   .addr = node->addr, .time_ns = node->first_ns };
	bool is_root = node->parent == FTR_GRAPH_NONE;
	uint32_t copy = is_root ? ftr_graph_add_root(&pruning->to, root->session, node->name) :
				  ftr_graph_child(&pruning->to,
						  pruning->copies.v[node->parent], &key);

	pruning->root_nr += is_root;
	if (copy != FTR_GRAPH_NONE) {
		pruning->to.nodes.v[copy].calls = node->calls;
		pruning->to.nodes.v[copy].total_ns = node->total_ns;
		pruning->to.nodes.v[copy].self_ns = node->self_ns;
	}
	return copy;
}

/* Where all that was given was given back nothing is to be shown. */
static int prune(struct weights *self)
{
	struct pruning pruning = { .from = &self->graph };
	int ret = ftr_graph_init(&pruning.to);

	pruning.to.weight = self->graph.weight;
	for (size_t i = 0; ret == 0 && i < self->graph.nodes.nr; i++) {
		const struct ftr_graph_node *node = &self->graph.nodes.v[i];
		bool is_left = node->parent == FTR_GRAPH_NONE || node->calls > 0;
		uint32_t copy = is_left ? node_copy(&pruning, node) : FTR_GRAPH_NONE;

		if (copy != FTR_GRAPH_NONE)
			self->weighed.v[copy] = self->weighed.v[i];	/* copy <= i */
		ret = is_left && copy == FTR_GRAPH_NONE ? -ENOMEM :
							  ftr_vec_push(&pruning.copies, copy);
	}
	ftr_vec_fini(&pruning.copies);
	ftr_graph_fini(ret == 0 ? &self->graph : &pruning.to);
	if (ret == 0)
		self->graph = pruning.to;
	return ret;
}

static int weights_end(struct ftr_sink *sink)
{
	struct weights *self = weights_of(sink);
	const struct ftr_weight *weight = self->graph.weight;
	int ret;

	if (self->seen_nr == 0)
		return ftr_err_set(sink->err, ENODATA,
				   "no %s in this trace; record them with ftr record %s",
				   weight->events, weight->how);
	ret = waits_finish(self);
	if (ret == 0)
		ret = sum_up(self);
	if (ret == 0)
		ret = prune(self);
	if (ret == 0)
		ret = ftr_graph_sort(&self->graph, NULL);
	return ret < 0 ? ftr_err_set(sink->err, ENOMEM, "out of memory") : 0;
}

static void weights_fini(struct ftr_sink *sink)
{
	struct weights *self = weights_of(sink);
	struct state *state;
	size_t pos = 0;

	while ((state = ftr_per_task_next(&self->states, &pos)) != NULL)
		ftr_vec_fini(&state->frames);
	ftr_per_task_fini(&self->states);
	ftr_graph_fini(&self->graph);
	ftr_graph_roots_fini(&self->roots);
	ftr_vec_fini(&self->weighed);
	ftr_memory_blocks_fini(&self->blocks);
	ftr_sample_stacks_fini(&self->stacks);
}

static const struct ftr_sink_ops weights_ops = {
	.size	 = sizeof(struct weights),
	.accepts = FTR_BIT(FTR_EVENT_TYPES) - 1,	/* what is not weighed is no loss */
	.begin	 = weights_begin,
	.event	 = weights_event,
	.end	 = weights_end,
	.fini	 = weights_fini,
};

struct ftr_sink *ftr_weights_new(enum ftr_weight_by by, uint32_t depth_max, struct ftr_err *err)
{
	struct ftr_sink *sink = ftr_sink_new(&weights_ops, NULL, err);
	struct weights *self = weights_of(sink);

	if (sink == NULL || ftr_graph_init(&self->graph) < 0) {
		ftr_sink_free(sink);
		ftr_err_set(err, ENOMEM, "out of memory");
		return NULL;
	}
	self->graph.weight = ftr_weight_of(by);
	self->depth_max = depth_max == 0 ? UINT32_MAX : depth_max;
	self->states.bytes = sizeof(struct state);
	ftr_memory_blocks_init(&self->blocks, block_gone, self);
	return sink;
}

struct ftr_graph *ftr_weights_graph(struct ftr_sink *sink)
{
	return &weights_of(sink)->graph;
}

const struct ftr_weighed *ftr_weights_of_node(const struct ftr_sink *sink, uint32_t node)
{
	return &((const struct weights *)sink)->weighed.v[node];
}
