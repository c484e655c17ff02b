/* SPDX-License-Identifier: MIT */
/* The tree of a call is built while it is open; a call that is not slow enough gives it back. */
#include "utils/analysis/slowest.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "utils/base/vec.h"
#include "utils/trace/func.h"
#include "utils/trace/per_task.h"

/* Of each task. */
struct watch {
	struct ftr_slow_call *call;	/* (owned, nullable) the open call of the function */
	uint32_t node;		/* of its tree, of the innermost level shown */
	uint64_t depth;		/* open calls, itself included */
};

enum match { MATCH_UNKNOWN, MATCH_NO, MATCH_YES };

struct slowest_sink {
	struct ftr_sink base;
	struct ftr_slowest slowest;
	const char *func;	/* (nullable) */
	size_t cap;		/* calls to keep */
	uint64_t levels;	/* of trees */
	size_t least;		/* index of the quickest call kept, when there are cap */
	FTR_VEC(uint8_t) matches;	/* enum match, by name_id */
	struct ftr_per_task watches;
	struct ftr_slow_call *spare;	/* (owned, nullable) */
};

static struct slowest_sink *slowest_of(struct ftr_sink *sink)
{
	return (struct slowest_sink *)sink;
}

/* ---- a call ---- */

static void call_free(struct ftr_slow_call *call)
{
	if (call == NULL)
		return;
	ftr_graph_fini(&call->tree);
	free(call->entry.bytes);
	free(call->exit.bytes);
	free(call);
}

static struct ftr_slow_call *call_new(void)
{
	struct ftr_slow_call *call = calloc(1, sizeof(*call));

	if (call == NULL || ftr_graph_init(&call->tree) == 0)
		return call;
	call_free(call);
	return NULL;
}

static int edge_set(struct ftr_slow_edge *edge, const struct ftr_event *ev)
{
	const struct ftr_payload *payload = ev->payload;
	uint8_t *bytes;

	edge->ev = *ev;
	if (payload == NULL)
		return 0;
	bytes = realloc(edge->bytes, payload->len + 1u);
	if (bytes == NULL)
		return -ENOMEM;
	if (payload->len > 0)
		memcpy(bytes, payload->data, payload->len);
	edge->bytes = bytes;
	edge->payload = *payload;
	edge->payload.data = bytes;
	edge->ev.payload = &edge->payload;
	return 0;
}

/* Negative: @x comes first, being slower. */
static int compare(const struct ftr_slow_call *x, const struct ftr_slow_call *y)
{
	uint64_t of_x = ftr_slow_call_ns(x), of_y = ftr_slow_call_ns(y);

	if (of_x != of_y)
		return of_x > of_y ? -1 : 1;
	of_x = x->entry.ev.time_ns;
	of_y = y->entry.ev.time_ns;
	if (of_x != of_y)
		return of_x < of_y ? -1 : 1;
	return (int)(x->entry.ev.task->id > y->entry.ev.task->id) -
	       (int)(x->entry.ev.task->id < y->entry.ev.task->id);
}

/* ---- those that are kept ---- */

static void least_find(struct slowest_sink *self)
{
	struct ftr_slow_call **calls = self->slowest.calls;

	self->least = 0;
	for (size_t i = 1; i < self->slowest.nr; i++)
		if (compare(calls[self->least], calls[i]) < 0)
			self->least = i;
}

/* Takes @call. */
static void keep(struct slowest_sink *self, struct ftr_slow_call *call)
{
	struct ftr_slowest *slowest = &self->slowest;
	struct ftr_slow_call *loser = call;

	slowest->seen_nr++;
	if (slowest->nr < self->cap) {
		slowest->calls[slowest->nr++] = call;
		if (slowest->nr == self->cap)
			least_find(self);
		return;
	}
	if (compare(call, slowest->calls[self->least]) < 0) {
		loser = slowest->calls[self->least];
		slowest->calls[self->least] = call;
		least_find(self);
	}
	call_free(self->spare);
	self->spare = loser;
}

/* ---- events ---- */

static int matches(struct slowest_sink *self, const struct ftr_func *func, bool *is_match)
{
	if (self->func == NULL) {
		*is_match = true;
		return 0;
	}
	if (ftr_vec_reach(&self->matches, func->name_id) < 0)
		return -ENOMEM;
	if (self->matches.v[func->name_id] == MATCH_UNKNOWN)
		self->matches.v[func->name_id] =
			strcmp(func->name, self->func) == 0 ? MATCH_YES : MATCH_NO;
	*is_match = self->matches.v[func->name_id] == MATCH_YES;
	return 0;
}

static int begin_call(struct slowest_sink *self, struct watch *watch, const struct ftr_event *ev)
{
	struct ftr_slow_call *call = self->spare;

	self->spare = NULL;
	if (call == NULL)
		call = call_new();
	else if (ftr_graph_clear(&call->tree) < 0)
		goto out_of_memory;
	if (call == NULL || edge_set(&call->entry, ev) < 0)
		goto out_of_memory;
	watch->node = ftr_graph_add_root(&call->tree, NULL, ev->call.func->name);
	if (watch->node == FTR_GRAPH_NONE)
		goto out_of_memory;
	call->tree.nodes.v[watch->node].addr = ev->call.addr;
	watch->call = call;
	watch->depth = 1;
	return 0;
out_of_memory:
	call_free(call);
	return -ENOMEM;
}

static int enter(struct slowest_sink *self, struct watch *watch, const struct ftr_event *ev)
{
	struct ftr_graph_key key = {
		.name_id = ev->call.func->name_id, .name = ev->call.func->name,
		.addr = ev->call.addr, .time_ns = ev->time_ns,
	};
	bool is_match;

	if (watch->call != NULL) {
		if (watch->depth++ >= self->levels)
			return 0;
		watch->node = ftr_graph_child(&watch->call->tree, watch->node, &key);
		return watch->node == FTR_GRAPH_NONE ? -ENOMEM : 0;
	}
	if (matches(self, ev->call.func, &is_match) < 0)
		return -ENOMEM;
	return is_match ? begin_call(self, watch, ev) : 0;
}

static int leave(struct slowest_sink *self, struct watch *watch, const struct ftr_event *ev)
{
	uint64_t total_ns = ev->time_ns - ev->call.start_ns;
	uint64_t self_ns = total_ns > ev->call.child_ns ? total_ns - ev->call.child_ns : 0;
	struct ftr_slow_call *call = watch->call;
	struct ftr_graph_node *node;

	if (call == NULL || --watch->depth >= self->levels)
		return 0;
	node = &call->tree.nodes.v[watch->node];
	ftr_graph_node_count(node, total_ns, self_ns);
	watch->node = node->parent;
	if (watch->node != FTR_GRAPH_NONE)
		return 0;
	watch->call = NULL;
	if (edge_set(&call->exit, ev) < 0) {
		call_free(call);
		return -ENOMEM;
	}
	keep(self, call);
	return 0;
}

static int point(const struct slowest_sink *self, struct watch *watch,
		 const struct ftr_event *ev)
{
	uint64_t ns = ev->time_ns - ev->point.start_ns;
	struct ftr_graph_key key;
	uint32_t node;

	if (watch->call == NULL || watch->depth >= self->levels ||
	    !ftr_graph_schedule_key(ev, &key))
		return 0;
	node = ftr_graph_child(&watch->call->tree, watch->node, &key);
	if (node == FTR_GRAPH_NONE)
		return -ENOMEM;
	ftr_graph_node_count(&watch->call->tree.nodes.v[node], ns, ns);
	return 0;
}

static int slowest_batch(struct ftr_sink *sink, const struct ftr_event *evs, size_t nr)
{
	struct slowest_sink *self = slowest_of(sink);
	int ret = 0;

	for (size_t i = 0; i < nr && ret == 0; i++) {
		struct watch *watch = ftr_per_task_get(&self->watches, evs[i].task);

		if (watch == NULL)
			ret = -ENOMEM;
		else if (evs[i].type == FTR_EVENT_EXIT)
			ret = leave(self, watch, &evs[i]);
		else if (evs[i].type == FTR_EVENT_ENTRY)
			ret = enter(self, watch, &evs[i]);
		else if (evs[i].type == FTR_EVENT_POINT)
			ret = point(self, watch, &evs[i]);
	}
	return ret < 0 ? ftr_err_set(sink->err, -ret, "slowest: out of memory") : 0;
}

static int compare_calls(const void *a, const void *b)
{
	return a == b ? 0 : compare(*(struct ftr_slow_call *const *)a,
				    *(struct ftr_slow_call *const *)b);
}

static int slowest_end(struct ftr_sink *sink)
{
	struct ftr_slowest *slowest = &slowest_of(sink)->slowest;

	qsort(slowest->calls, slowest->nr, sizeof(*slowest->calls), compare_calls);
	return 0;
}

static void slowest_fini(struct ftr_sink *sink)
{
	struct slowest_sink *self = slowest_of(sink);
	struct watch *watch;
	size_t pos = 0;

	while ((watch = ftr_per_task_next(&self->watches, &pos)) != NULL)
		call_free(watch->call);
	for (size_t i = 0; i < self->slowest.nr; i++)
		call_free(self->slowest.calls[i]);
	free(self->slowest.calls);
	call_free(self->spare);
	ftr_per_task_fini(&self->watches);
	ftr_vec_fini(&self->matches);
}

static const struct ftr_sink_ops slowest_sink_ops = {
	.size	 = sizeof(struct slowest_sink),
	.accepts = FTR_BIT(FTR_EVENT_ENTRY) | FTR_BIT(FTR_EVENT_EXIT) | FTR_BIT(FTR_EVENT_POINT),
	.batch	 = slowest_batch,
	.end	 = slowest_end,
	.fini	 = slowest_fini,
};

struct ftr_sink *ftr_slowest_new(const char *func, size_t nr, uint64_t levels,
				 struct ftr_err *err)
{
	struct ftr_sink *sink = ftr_sink_new(&slowest_sink_ops, NULL, err);
	struct slowest_sink *self;

	assert(nr > 0);
	if (sink == NULL) {
		ftr_err_set(err, ENOMEM, "slowest: out of memory");
		return NULL;
	}
	self = slowest_of(sink);
	self->func = func;
	self->cap = nr;
	self->levels = levels == 0 ? UINT64_MAX : levels;
	self->watches.bytes = sizeof(struct watch);
	self->slowest.calls = calloc(nr, sizeof(*self->slowest.calls));
	if (self->slowest.calls != NULL)
		return sink;
	ftr_err_set(err, ENOMEM, "slowest: out of memory");
	ftr_sink_free(sink);
	return NULL;
}

const struct ftr_slowest *ftr_slowest_get(const struct ftr_sink *sink)
{
	return &((const struct slowest_sink *)sink)->slowest;
}
