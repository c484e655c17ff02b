/* SPDX-License-Identifier: MIT */
/*
 * A queue of events in order of time, in which an ENTRY is undecided until its EXIT, a sched-out
 * until its sched-in, or until so much time passed.  Only decided events leave at its head.  What
 * is left out is mostly all that stands behind an ENTRY: the queue is cut there.
 */
#include "utils/trace/threshold.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "utils/base/vec.h"
#include "utils/trace/event_kind.h"
#include "utils/trace/per_task.h"
#include "utils/trace/pipeline.h"
#include "utils/trace/rule_plan.h"
#include "utils/trace/source.h"
#include "utils/trace/stack.h"

/* Flags of events in the queue: what decides waits for start_ns, which ENTRYs do not need. */
#define UNDECIDED (1u << 6)
#define DROPPED (1u << 7)

/* Of a plan. */
#define CONCERNED (FTR_RULE_TIME | FTR_RULE_SIZE | FTR_RULE_TRACE | FTR_RULE_CALLER)

#define NO_PLACE UINT64_MAX

/* A payload in the queue: the source's do not last. */
struct held {
	struct ftr_payload payload;	/* first: events point to it */
	struct held *next;		/* spare */
	size_t cap;
	uint8_t *bytes;			/* (owned, nullable) */
};

/* An open call. */
struct level {
	uint64_t place;			/* of its ENTRY */
	uint64_t threshold_ns;		/* of what it calls, and its own */
	uint64_t size_bytes;
	bool is_small;			/* and left out */
	bool is_kept;			/* however short */
	bool leads;			/* it may stay */
};

struct state {
	struct ftr_stack stack;		/* of calls that are not small */
	FTR_VEC(struct level) levels;	/* of all open calls */
	uint64_t out;			/* place of the sched-out that waits for its sched-in */
	bool is_begun;
};

struct threshold {
	struct ftr_source base;
	struct ftr_source *inner;	/* (owned) */
	struct ftr_rule_plans *plans;	/* (borrowed, nullable) */
	struct level outermost;		/* what holds outside of all calls */
	bool has_callers;		/* only calls that lead somewhere stay */
	struct ftr_per_task states;
	FTR_VEC(struct ftr_event) queue;
	uint64_t first;			/* place of the queue's first event: they count up */
	size_t head;			/* events before it are gone */
	size_t handed_out;		/* from head on: in use until the next call */
	uint64_t lone;			/* from this place on all are of one task */
	struct held *spare;		/* (owned) by next */
	struct held *out;		/* (owned) by next: of events handed out */
	bool is_ended;
};

static const struct ftr_rule_plan nothing;

bool ftr_threshold_is_needed(const struct ftr_pipeline_options *options)
{
	return options->threshold_ns > 0 || options->size_bytes > 0 ||
	       (options->plans != NULL && (ftr_rules_actions(options->plans->rules) &
					   (FTR_RULE_TIME | FTR_RULE_SIZE | FTR_RULE_CALLER)));
}

/* The queue. */

static struct ftr_event *event_at(struct threshold *self, uint64_t place)
{
	return &self->queue.v[place - self->first];
}

/* What went out is decided. */
static bool is_undecided(struct threshold *self, uint64_t place)
{
	return place != NO_PLACE && place >= self->first + self->head &&
	       (event_at(self, place)->flags & UNDECIDED);
}

static void payload_release(struct threshold *self, struct ftr_event *ev)
{
	struct held *held = (struct held *)ev->payload;

	if (held == NULL)
		return;
	held->next = self->spare;
	self->spare = held;
	ev->payload = NULL;
}

static int payload_hold(struct threshold *self, struct ftr_event *ev)
{
	const struct ftr_payload *payload = ev->payload;
	struct held *held = self->spare;

	ev->payload = NULL;
	if (held != NULL)
		self->spare = held->next;
	else
		held = calloc(1, sizeof(*held));
	if (held == NULL)
		return -ENOMEM;
	held->payload = *payload;
	ev->payload = &held->payload;
	if (payload->len > held->cap) {
		uint8_t *bytes = realloc(held->bytes, payload->len);

		if (bytes == NULL)
			return -ENOMEM;
		held->bytes = bytes;
		held->cap = payload->len;
	}
	if (payload->len > 0)
		memcpy(held->bytes, payload->data, payload->len);
	held->payload.data = held->bytes;
	return 0;
}

static int append(struct threshold *self, const struct ftr_event *ev)
{
	struct ftr_event *last = &self->queue.v[self->queue.nr];

	if (self->queue.nr > 0 && last[-1].task != ev->task)
		self->lone = self->first + self->queue.nr;
	*last = *ev;
	self->queue.nr++;
	return ev->payload == NULL ? 0 : payload_hold(self, last);
}

static int append_undecided(struct threshold *self, const struct ftr_event *ev,
			    uint64_t threshold_ns)
{
	struct ftr_event *last = &self->queue.v[self->queue.nr];
	int ret = append(self, ev);

	last->flags |= UNDECIDED;
	if (ev->type == FTR_EVENT_ENTRY)
		last->call.start_ns = threshold_ns;
	else
		last->point.start_ns = threshold_ns;
	return ret;
}

static void decide(struct ftr_event *ev)
{
	ev->flags &= (uint8_t)~UNDECIDED;
	if (ev->type == FTR_EVENT_ENTRY)
		ev->call.start_ns = 0;
	else
		ev->point.start_ns = 0;
}

/* Leave out all of @task from a place on. */
static void drop_from(struct threshold *self, uint64_t place, const struct ftr_task *task)
{
	size_t at = (size_t)(place - self->first);

	for (size_t i = at; i < self->queue.nr; i++) {
		struct ftr_event *ev = &self->queue.v[i];

		if (ev->task == task) {
			payload_release(self, ev);
			ev->flags |= DROPPED;
		}
	}
	if (place >= self->lone)
		self->queue.nr = at;
}

/* What is taken in. */

/* A sched-out without its sched-in stays. */
static void out_keep(struct threshold *self, struct state *state)
{
	if (is_undecided(self, state->out))
		decide(event_at(self, state->out));
	state->out = NO_PLACE;
}

static const struct level *level_inside(const struct threshold *self, const struct state *state)
{
	return state->levels.nr > 0 ? &state->levels.v[state->levels.nr - 1] : &self->outermost;
}

static void level_apply(struct level *level, const struct ftr_rule_plan *plan)
{
	if (plan->actions & FTR_RULE_TIME)
		level->threshold_ns = plan->time_ns;
	if (plan->actions & FTR_RULE_SIZE)
		level->size_bytes = plan->size_bytes;
	level->is_kept = (plan->actions & FTR_RULE_TRACE) != 0;
	level->leads |= (plan->actions & FTR_RULE_CALLER) != 0;
}

static int take_entry(struct threshold *self, struct state *state, struct ftr_event *ev)
{
	const struct ftr_rule_plan *plan = &nothing;
	struct level level = *level_inside(self, state);
	uint32_t size = ev->call.func->size;

	if (self->plans != NULL)
		plan = ftr_rule_plans_get(self->plans, ev->call.func);
	if (plan == NULL)
		return -ENOMEM;
	level.place = self->first + self->queue.nr;
	level.is_kept = false;
	level.leads = !self->has_callers;
	if (plan->actions & CONCERNED)
		level_apply(&level, plan);
	level.is_small = size != 0 && size < level.size_bytes;
	if (ftr_vec_push(&state->levels, level) < 0)
		return -ENOMEM;
	if (level.is_small)
		return 0;
	ev->depth = FTR_DEPTH_UNKNOWN;
	if (ftr_stack_follow(&state->stack, ev) < 0)
		return -ENOMEM;
	return append_undecided(self, ev, level.leads ? level.threshold_ns : NO_PLACE);
}

/* A call that stays is called by calls that stay. */
static void levels_keep(struct threshold *self, struct state *state)
{
	for (size_t i = state->levels.nr; i > 0; i--) {
		const struct level *level = &state->levels.v[i - 1];

		if (level->is_small)
			continue;
		if (!is_undecided(self, level->place))
			break;
		decide(event_at(self, level->place));
	}
}

/* A call that did not return is long enough: how long it would have taken is not known. */
static bool is_worth_it(const struct level *level, const struct ftr_event *ev)
{
	return level->is_kept ||
	       (level->leads && ((ev->flags & FTR_EVENT_UNFINISHED) ||
				 ev->time_ns - ev->call.start_ns >= level->threshold_ns));
}

static int take_exit(struct threshold *self, struct state *state, struct ftr_event *ev)
{
	const struct level *level = &state->levels.v[state->levels.nr - 1];

	if (level->is_small) {
		state->levels.nr--;
		return 0;
	}
	ev->depth = FTR_DEPTH_UNKNOWN;
	if (ftr_stack_follow(&state->stack, ev) < 0)
		return -ENOMEM;
	if (is_undecided(self, level->place)) {
		if (!is_worth_it(level, ev)) {
			drop_from(self, level->place, ev->task);
			ftr_stack_top(&state->stack)->child_ns -= ev->time_ns - ev->call.start_ns;
			state->levels.nr--;
			return 0;
		}
		levels_keep(self, state);
	}
	state->levels.nr--;
	return append(self, ev);
}

/* From its sched-out to its sched-in a task is as in a call. */
static int take_sched(struct threshold *self, struct state *state, struct ftr_event *ev)
{
	bool is_in = ftr_event_is_sched_in(ev);
	uint64_t duration_ns = ev->time_ns - ev->point.start_ns;
	const struct level *level = level_inside(self, state);

	if (is_in && is_undecided(self, state->out) && duration_ns < level->threshold_ns) {
		payload_release(self, event_at(self, state->out));
		event_at(self, state->out)->flags |= DROPPED;
		state->out = NO_PLACE;
		ftr_stack_top(&state->stack)->child_ns -= duration_ns;
		return 0;
	}
	out_keep(self, state);
	if (is_in)
		return append(self, ev);
	state->out = self->first + self->queue.nr;
	return append_undecided(self, ev, level->threshold_ns);
}

static int take_other(struct threshold *self, struct state *state, struct ftr_event *ev)
{
	ev->depth = (uint32_t)state->stack.open_nr;
	if (ftr_stack_follow(&state->stack, ev) < 0)
		return -ENOMEM;
	if (ev->type == FTR_EVENT_POINT && ev->point.kind == FTR_POINT_INSTANT &&
	    (ftr_event_is_sched_out(ev) || ftr_event_is_sched_in(ev)))
		return take_sched(self, state, ev);
	return append(self, ev);
}

static int take(struct threshold *self, struct ftr_event *ev)
{
	struct state *state = ftr_per_task_get(&self->states, ev->task);

	if (state == NULL)
		return -ENOMEM;
	if (!state->is_begun) {
		state->is_begun = true;
		state->out = NO_PLACE;
	}
	if (ev->type > FTR_EVENT_EXIT)
		return take_other(self, state, ev);
	if (state->out != NO_PLACE)
		out_keep(self, state);
	return ev->type == FTR_EVENT_ENTRY ? take_entry(self, state, ev) :
					     take_exit(self, state, ev);
}

/* What goes out. */

/* What is undecided is decided when the stream went on for long enough. */
static bool is_ready(struct threshold *self, struct ftr_event *ev)
{
	uint64_t threshold_ns;

	if (!(ev->flags & UNDECIDED))
		return true;
	threshold_ns = ev->type == FTR_EVENT_ENTRY ? ev->call.start_ns : ev->point.start_ns;
	if (!self->is_ended &&
	    self->queue.v[self->queue.nr - 1].time_ns - ev->time_ns < threshold_ns)
		return false;
	decide(ev);
	return true;
}

/* Who gets the event may move it: what it points to is kept apart. */
static void payload_lend(struct threshold *self, const struct ftr_event *ev)
{
	struct held *held = (struct held *)ev->payload;

	held->next = self->out;
	self->out = held;
}

/* A run of events that are ready; 0 = the first one is not. */
static size_t hand_out(struct threshold *self, struct ftr_event **evs)
{
	size_t nr = 0;

	while (self->head < self->queue.nr && (self->queue.v[self->head].flags & DROPPED))
		self->head++;
	*evs = &self->queue.v[self->head];
	while (nr < FTR_SOURCE_BATCH && self->head + nr < self->queue.nr) {
		struct ftr_event *ev = &(*evs)[nr];

		if ((ev->flags & DROPPED) || !is_ready(self, ev))
			break;
		if (ev->payload != NULL)
			payload_lend(self, ev);
		nr++;
	}
	return nr;
}

/* Forget what was handed out, once it is worth moving the rest. */
static void forget(struct threshold *self)
{
	size_t rest = self->queue.nr - self->head;

	if (self->head < rest)
		return;
	if (rest > 0)
		memmove(self->queue.v, self->queue.v + self->head, rest * sizeof(*self->queue.v));
	self->first += self->head;
	self->queue.nr = rest;
	self->head = 0;
}

static void release_handed_out(struct threshold *self)
{
	while (self->out != NULL) {
		struct held *held = self->out;

		self->out = held->next;
		held->next = self->spare;
		self->spare = held;
	}
	self->head += self->handed_out;
	self->handed_out = 0;
}

static int take_batch(struct threshold *self, struct ftr_err *err)
{
	struct ftr_event *in;
	ssize_t nr = ftr_source_next(self->inner, &in, err);

	if (nr < 0)
		return (int)nr;
	self->is_ended = nr == 0;
	forget(self);
	if (ftr_vec_reserve(&self->queue, self->queue.nr + FTR_SOURCE_BATCH) < 0)
		return ftr_err_set(err, ENOMEM, "out of memory");
	for (ssize_t i = 0; i < nr; i++) {
		if (take(self, &in[i]) < 0)
			return ftr_err_set(err, ENOMEM, "out of memory");
	}
	return 0;
}

static ssize_t threshold_next(struct ftr_source *source, struct ftr_event **evs,
			      struct ftr_err *err)
{
	struct threshold *self = (struct threshold *)source;
	size_t out;

	release_handed_out(self);
	while ((out = hand_out(self, evs)) == 0 && !self->is_ended) {
		int ret = take_batch(self, err);

		if (ret < 0)
			return ret;
	}
	self->handed_out = out;
	return (ssize_t)out;
}

static void threshold_free(struct ftr_source *source)
{
	struct threshold *self = (struct threshold *)source;
	struct state *state;
	size_t pos = 0;

	ftr_source_free(self->inner);
	while ((state = ftr_per_task_next(&self->states, &pos)) != NULL) {
		ftr_stack_fini(&state->stack);
		ftr_vec_fini(&state->levels);
	}
	ftr_per_task_fini(&self->states);
	release_handed_out(self);
	for (size_t i = self->head; i < self->queue.nr; i++)
		payload_release(self, &self->queue.v[i]);
	while (self->spare != NULL) {
		struct held *next = self->spare->next;

		free(self->spare->bytes);
		free(self->spare);
		self->spare = next;
	}
	ftr_vec_fini(&self->queue);
	free(self);
}

static const struct ftr_source_ops threshold_ops = {
	.next = threshold_next,
	.free = threshold_free,
};

struct ftr_source *ftr_threshold_new(struct ftr_source *inner,
				     const struct ftr_pipeline_options *options)
{
	struct threshold *self = calloc(1, sizeof(*self));

	assert(ftr_threshold_is_needed(options));
	if (self == NULL) {
		ftr_source_free(inner);
		return NULL;
	}
	self->base.ops = &threshold_ops;
	self->inner = inner;
	self->plans = options->plans;
	self->outermost.threshold_ns = options->threshold_ns;
	self->outermost.size_bytes = options->size_bytes;
	self->has_callers = self->plans != NULL &&
			    (ftr_rules_actions(self->plans->rules) & FTR_RULE_CALLER);
	self->states.bytes = sizeof(struct state);
	return &self->base;
}
