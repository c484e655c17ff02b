/* SPDX-License-Identifier: MIT */
/* See gate.h.  Part of the hook: without libc. */
#include "libmcount/gate.h"

#include "libmcount/clock.h"
#include "libmcount/module.h"
#include "libmcount/rules.h"
#include "libmcount/sections.h"
#include "libmcount/values_decide.h"
#include "libmcount/watch.h"

#define NS_PER_MS 1000000u
#define NS_PER_S UINT64_C(1000000000)

/* Roughly, where the clock counts ticks of the processor. */
static uint64_t ticks_of(uint64_t ns)
{
	uint64_t per_ms = ftr_state.control->ticks_per_ms;

	if (ftr_state.control->clock != FTR_CONTROL_CLOCK_TSC || per_ms == 0)
		return ns;
	return ns < UINT64_MAX / per_ms ? ns * per_ms / NS_PER_MS : ns / NS_PER_MS * per_ms;
}

uint64_t ftr_gate_elapsed_ns(uint64_t from, uint64_t to)
{
	uint64_t per_ms = ftr_state.control->ticks_per_ms, elapsed = to - from;

	if (ftr_state.control->clock != FTR_CONTROL_CLOCK_TSC || per_ms == 0)
		return elapsed;
	return elapsed / per_ms * NS_PER_MS + elapsed % per_ms * NS_PER_MS / per_ms;
}

/* What the image's rules say, as they are now. */
static void gate_start(struct ftr_gate *gate)
{
	const struct ftr_call_rules *rules = ftr_call_rules_image();
	uint32_t depth_max = atomic_load(&ftr_state.control->depth_max);

	*ftr_gate_start(gate) = (struct ftr_gate_state){
		.depth = depth_max != 0 ? depth_max : FTR_GATE_DEEP,
		.time = rules != NULL ? ticks_of(rules->time_ns) : 0,
		.size_min = rules != NULL ? rules->size_min : 0,
	};
	gate->flags = rules != NULL ? rules->flags : 0;
	gate->is_plain = !gate->has_watch && (gate->flags & FTR_CALLS_CALLERS) == 0;
}

static void generations_take(struct ftr_gate *gate)
{
	gate->control_generation = atomic_load(&ftr_state.control->generation);
	gate->module_generation = atomic_load(&ftr_state.module_generation);
	gate->rules_generation = atomic_load(&ftr_state.rules_generation);
}

static uint64_t aligned(uint64_t bytes)
{
	return (bytes + 63) & ~UINT64_C(63);
}

static bool has_values(void)
{
	return atomic_load_explicit(&ftr_state.has_values, memory_order_relaxed);
}

static bool image_has(uint32_t flags)
{
	const struct ftr_call_rules *rules = ftr_call_rules_image();

	return rules != NULL && (rules->flags & flags) != 0;
}

bool ftr_gate_may_have_values(void)
{
	return has_values() || image_has(FTR_CALLS_CHANGE);
}

static uint64_t payloads_wanted(uint64_t frame_nr)
{
	if (!ftr_gate_may_have_values())
		return 0;
	return frame_nr < FTR_GATE_PAYLOADS ? frame_nr : FTR_GATE_PAYLOADS;
}

static uint64_t counters_bytes(void)
{
	return image_has(FTR_CALLS_COUNTED | FTR_CALLS_CHANGE) ?
		       FTR_GATE_COUNTERS * sizeof(struct ftr_gate_counter) : 0;
}

static uint64_t reads_bytes(uint64_t frame_nr)
{
	return image_has(FTR_CALLS_READ | FTR_CALLS_JUDGED | FTR_CALLS_CHANGE) ?
		       frame_nr * sizeof(struct ftr_gate_reads) : 0;
}

uint64_t ftr_gate_bytes(uint64_t frame_nr)
{
	if (ftr_call_rules_image() == NULL && !has_values() && !ftr_watch_is_on())
		return 0;
	return aligned(sizeof(struct ftr_gate)) + (1 + frame_nr) * sizeof(struct ftr_gate_frame) +
	       counters_bytes() + reads_bytes(frame_nr) +
	       payloads_wanted(frame_nr) * FTR_GATE_PAYLOAD;
}

/* [ gate ][ one below all frames ][ frames ][ counters ][ reads ][ payloads ] */
struct ftr_gate *ftr_gate_init(void *mem, uint64_t frame_nr)
{
	struct ftr_gate *gate = mem;
	char *behind;

	gate->frames = (struct ftr_gate_frame *)((char *)mem + aligned(sizeof(*gate))) + 1;
	gate->frames[-1].status = FTR_GATE_UNRECORDED;
	behind = (char *)(gate->frames + frame_nr);
	if (counters_bytes() != 0)
		gate->counters = (struct ftr_gate_counter *)behind;
	behind += counters_bytes();
	if (reads_bytes(frame_nr) != 0)
		gate->reads = (struct ftr_gate_reads *)behind;
	behind += reads_bytes(frame_nr);
	gate->payload_nr = payloads_wanted(frame_nr);
	if (gate->payload_nr != 0)
		gate->payloads = (uint8_t *)behind;
	gate->has_watch = ftr_watch_is_on();
	generations_take(gate);
	gate_start(gate);
	return gate;
}

#define CONDITIONAL (FTR_CALL_IF_FILTER | FTR_CALL_IF_NOTRACE)

/* Are calls recorded in filters alone, and this is in none? */
static inline bool is_outside(const struct ftr_gate *gate, const struct ftr_gate_state *before,
			      uint32_t flags)
{
	return (gate->flags & FTR_CALLS_OPT_IN) != 0 && before->inside == 0 &&
	       (flags & (FTR_CALL_FILTER | FTR_CALL_NOTRACE)) == 0;
}

/* What @rule, with the @flags that are true of the call, lets it and its callees do. */
static void rule_limits(const struct ftr_gate *gate, const struct ftr_call_rule *rule,
			uint32_t flags, struct ftr_gate_state *state)
{
	if ((flags & FTR_CALL_FILTER) != 0) {
		state->inside |= FTR_CALL_FILTER;
		state->depth = ftr_gate_start(gate)->depth;
	}
	if ((rule->flags & FTR_CALL_DEPTH) != 0)
		state->depth = rule->depth;
	if ((rule->flags & FTR_CALL_TIME) != 0)
		state->time = ticks_of(rule->time_ns);
	if ((rule->flags & FTR_CALL_SIZE) != 0)
		state->size_min = rule->size_min;
}

/*
 * What an open call that was left @state by its caller leaves to others by @rule (nullable).
 * Whether it is recorded stays, and whether it was counted out.
 */
static void state_renew(const struct ftr_gate *gate, const struct ftr_call_rule *rule,
			const struct ftr_gate_frame *gated, struct ftr_gate_state *state)
{
	uint32_t flags = rule != NULL ? rule->flags : 0;

	if ((flags & (FTR_CALL_SAMPLE | FTR_CALL_RATE)) != 0)
		flags |= gated->after.inside & FTR_CALL_NOTRACE;
	if ((flags & CONDITIONAL) != 0)		/* its registers are gone: as it was decided */
		flags = (flags & ~(uint32_t)(FTR_CALL_FILTER | FTR_CALL_NOTRACE)) |
			(gated->after.inside & (FTR_CALL_FILTER | FTR_CALL_NOTRACE));
	if ((state->inside & FTR_CALL_NOTRACE) != 0 || is_outside(gate, state, flags))
		flags = 0;
	state->inside |= flags & FTR_CALL_NOTRACE;
	if (flags != 0 && (flags & FTR_CALL_NOTRACE) == 0)
		rule_limits(gate, rule, flags, state);
	if (gated->status > FTR_GATE_UNRECORDED && state->depth != FTR_GATE_DEEP &&
	    state->depth != 0)
		state->depth--;
	state->recorded = gated->after.recorded;
}

/*
 * Rules were replaced: what open calls leave to those that they make is now what the new ones say.
 * With frames of several stacks it stays what it was, since the caller of each is not known here.
 */
static void frames_renew(struct ftr_thread *self)
{
	const struct ftr_call_rule *rule = NULL;
	struct ftr_gate_state state = *ftr_gate_start(self->gate);
	uintptr_t func = 0;
	struct ftr_frame *frame;

	if (self->is_mixed || self->stacks != NULL)
		return;
	for (frame = self->frames; frame < self->top; frame++) {
		struct ftr_gate_frame *gated = ftr_gate_frame(self, frame);

		if (!ftr_gate_is_open(self, frame))
			continue;
		if (frame->func != func)
			rule = ftr_call_rules_find(frame->func);
		func = frame->func;
		gated->is_caller = rule != NULL && (rule->flags & FTR_CALL_CALLER) != 0;
		state_renew(self->gate, rule, gated, &state);
		gated->after = state;
	}
}

/* Modules have come or gone, or rules were replaced. */
static __attribute__((noinline, cold)) void gate_renew(struct ftr_thread *self)
{
	struct ftr_gate *gate = self->gate;
	uint32_t rules_generation = gate->rules_generation;
	unsigned i;

	ftr_sections_refresh();
	generations_take(gate);
	for (i = 0; i < FTR_GATE_KNOWN; i++)
		gate->known[i] = (struct ftr_gate_known){ 0, 0 };
	for (i = 0; i < FTR_GATE_PROGRAMS; i++)
		gate->programs[i].check = gate->programs[i].quick_check = 0;
	gate_start(gate);
	if (gate->rules_generation != rules_generation)
		frames_renew(self);
}

static inline uint64_t captures_of(const struct ftr_values_programs *programs)
{
	return (programs->entry != NULL ? FTR_GATE_ARGUMENTS : 0) |
	       (programs->exit != NULL ? FTR_GATE_RETVAL : 0);
}

static __attribute__((noinline, cold)) uint64_t known_find_slow(struct ftr_thread *self,
								uintptr_t func)
{
	struct ftr_gate *gate = self->gate;
	struct ftr_gate_known *known = ftr_gate_known_at(gate, func);
	struct ftr_values_programs programs;
	uint64_t rule;

	if (!ftr_gate_is_current(gate))
		gate_renew(self);
	if (!ftr_module_is_known(self, func))
		ftr_module_check(self, func);
	rule = (uintptr_t)ftr_call_rules_find(func);
	if (gate->payloads != NULL) {
		programs = ftr_values_find(func);
		rule |= captures_of(&programs);
	}
	known->rule = rule;
	known->check = func ^ rule;
	return rule;
}

/* The word of @func, see struct ftr_gate_known. */
static inline uint64_t known_find(struct ftr_thread *self, uintptr_t func)
{
	const struct ftr_gate_known *known = ftr_gate_known_at(self->gate, func);
	uint64_t rule = known->rule;

	if (likely((known->check ^ rule) == func && ftr_gate_is_current(self->gate)))
		return rule;
	return known_find_slow(self, func);
}

struct ftr_values_programs ftr_gate_programs(struct ftr_thread *self, uintptr_t func)
{
	struct ftr_gate_programs *slot = ftr_gate_programs_at(self->gate, func);
	struct ftr_values_programs programs = slot->programs;

	if (likely(slot->check == ftr_gate_programs_check(&programs, func)))
		return programs;
	programs = ftr_values_find(func);
	slot->programs = programs;
	slot->check = ftr_gate_programs_check(&programs, func);
	slot->quick_check = ftr_gate_quick_check(&programs.quick, func);
	return programs;
}

/* Where there are more functions than places nearby, some share a counter. */
#define COUNTER_TRIES 16u

static struct ftr_gate_counter *counter_of(struct ftr_gate *gate, uintptr_t func)
{
	uint64_t first = func >> 4 ^ func >> 16, i;

	for (i = 0; i < COUNTER_TRIES; i++) {
		struct ftr_gate_counter *counter =
			&gate->counters[(first + i) % FTR_GATE_COUNTERS];

		if (counter->func == func || ftr_arch_local_cas(&counter->func, 0, func))
			return counter;
	}
	return &gate->counters[first % FTR_GATE_COUNTERS];
}

/* Is the call, which counts, one that the rule lets through? */
static __attribute__((noinline, cold)) bool is_counted_in(struct ftr_gate *gate, uintptr_t func,
							  const struct ftr_call_rule *rule)
{
	struct ftr_gate_counter *counter;
	uint64_t now;

	if (gate->counters == NULL)
		return true;
	counter = counter_of(gate, func);
	if ((rule->flags & FTR_CALL_SAMPLE) != 0 &&
	    ftr_arch_local_add(&counter->sampled_nr, 1) % rule->sample_nr != 0)
		return false;
	if ((rule->flags & FTR_CALL_RATE) == 0)
		return true;
	now = ftr_clock_read();
	if (counter->second == 0 || now - counter->second >= ticks_of(NS_PER_S)) {
		counter->second = now;
		counter->rated_nr = 0;
	}
	return ftr_arch_local_add(&counter->rated_nr, 1) < rule->rate_per_s;
}

/* From here on, for all threads. */
static void tracing_switch(uint32_t flags)
{
	uint32_t now = atomic_load(&ftr_state.tracing), next = now;

	if ((flags & FTR_CALL_TRACE_ON) != 0)
		next = FTR_TRACING_ON;
	if ((flags & FTR_CALL_TRACE_OFF) != 0)
		next = FTR_TRACING_OFF;
	if ((flags & FTR_CALL_FINISH) != 0)
		next = FTR_TRACING_FINISHED;
	if (now != FTR_TRACING_FINISHED)
		atomic_compare_exchange_strong(&ftr_state.tracing, &now, next);
}

/* What @rule, with the @flags that are true of the call, changes for it and its callees. */
static void rule_apply(const struct ftr_gate *gate, const struct ftr_call_rule *rule,
		       uint32_t flags, struct ftr_gate_state *state)
{
	rule_limits(gate, rule, flags, state);
	if ((rule->flags & (FTR_CALL_TRACE_ON | FTR_CALL_TRACE_OFF | FTR_CALL_FINISH)) != 0)
		tracing_switch(rule->flags);
}

static inline bool is_recorded(const struct ftr_gate_state *state, uint32_t flags, uint32_t size)
{
	return state->depth != 0 && (flags & FTR_CALL_HIDE) == 0 &&
	       size >= state->size_min &&
	       atomic_load_explicit(&ftr_state.tracing, memory_order_relaxed) == FTR_TRACING_ON;
}

/* Calls with events of their own do not wait: what would be told of could not, either. */
#define EVENTS (FTR_CALL_CALLSITE | FTR_CALL_READ | FTR_CALL_STACK)

static inline bool must_wait(const struct ftr_gate *gate, const struct ftr_gate_state *state,
			     uint32_t flags)
{
	if ((flags & (FTR_CALL_TRACE | EVENTS)) != 0)
		return false;
	return state->time != 0 ||
	       ((gate->flags & FTR_CALLS_CALLERS) != 0 && (flags & FTR_CALL_CALLER) == 0);
}

/* The recorder sees it when it has come so far; a child of fork has no ring yet. */
__attribute__((noinline, cold)) void ftr_gate_dump(const struct ftr_thread *self)
{
	struct ftr_ring_header *header = self->producer->header;

	if (header != NULL && atomic_load(&header->dump_at) == atomic_load(&header->dump_seen))
		atomic_store(&header->dump_at, self->producer->head + 1);
}

#define CHANGES \
	(FTR_CALL_FILTER | FTR_CALL_DEPTH | FTR_CALL_TIME | FTR_CALL_SIZE | FTR_CALL_RECOVER | \
	 FTR_CALL_DUMP_AT_END)

static uint8_t actions_of(uint32_t flags)
{
	return (uint8_t)(((flags & FTR_CALL_CALLSITE) != 0 ? FTR_GATE_CALLSITE : 0) |
			 ((flags & FTR_CALL_READ) != 0 ? FTR_GATE_READ : 0) |
			 ((flags & FTR_CALL_STACK) != 0 ? FTR_GATE_STACK : 0) |
			 ((flags & FTR_CALL_RECOVER) != 0 ? FTR_GATE_RECOVER : 0) |
			 ((flags & FTR_CALL_DUMP_AT_END) != 0 ? FTR_GATE_DUMP : 0));
}

/* What is true of @call, of @flags that depend on a condition. */
static __attribute__((noinline)) uint32_t flags_decide(struct ftr_thread *self,
						       const struct ftr_call *call, uint32_t flags)
{
	struct ftr_values_programs programs = { 0 };
	enum ftr_decision decision;

	if (self->gate->payloads != NULL)
		programs = ftr_gate_programs(self, call->func);
	decision = ftr_values_decide(&programs, call);
	if (decision == FTR_UNDECIDED)
		return flags;
	flags &= ~(uint32_t)(FTR_CALL_FILTER | FTR_CALL_NOTRACE);
	if (decision == FTR_DECIDED_FALSE)
		return flags;
	return flags | ((flags & FTR_CALL_IF_FILTER) != 0 ? FTR_CALL_FILTER : FTR_CALL_NOTRACE);
}

static __attribute__((noinline)) bool asks_dump(struct ftr_thread *self,
						const struct ftr_call *call, uint32_t flags)
{
	struct ftr_values_programs programs = { 0 };
	struct ftr_values_judged judged;

	if ((flags & FTR_CALL_DUMP_AT_END) != 0)
		return false;		/* it is not known yet: see actions.c */
	if ((flags & FTR_CALL_IF_DUMP) == 0)
		return true;
	if (self->gate->payloads != NULL)
		programs = ftr_gate_programs(self, call->func);
	judged = ftr_values_judge(&programs, call);
	return ftr_values_asks_dump(&programs, call, &judged, 0);
}

enum ftr_gate_way ftr_gate_decide(struct ftr_thread *self, const struct ftr_gate_state *before,
				  const struct ftr_call *call, struct ftr_gate_passage *passage)
{
	const struct ftr_gate *gate = self->gate;
	const struct ftr_call_rule *rule;
	uint32_t flags = 0, size = UINT32_MAX;
	uint64_t known;

	passage->asks_dump = false;
	if (unlikely(!ftr_gate_has_rules(gate)))
		gate_renew(self);	/* which may change *before */
	if ((before->inside & FTR_CALL_NOTRACE) != 0)
		return FTR_GATE_PASS;
	known = known_find(self, call->func);
	rule = (const struct ftr_call_rule *)
		(uintptr_t)(known & ~(FTR_GATE_ARGUMENTS | FTR_GATE_RETVAL));
	if (rule != NULL)
		flags = rule->flags;
	if (unlikely((flags & CONDITIONAL) != 0))
		flags = flags_decide(self, call, flags);
	if (is_outside(gate, before, flags))
		return FTR_GATE_PASS;
	if (unlikely((flags & (FTR_CALL_SAMPLE | FTR_CALL_RATE)) != 0) &&
	    !is_counted_in(self->gate, call->func, rule))
		flags |= FTR_CALL_NOTRACE;
	passage->after = *before;
	passage->after.inside |= flags & FTR_CALL_NOTRACE;
	passage->actions = 0;
	passage->is_caller = (flags & FTR_CALL_CALLER) != 0;
	passage->has_arguments = (known & FTR_GATE_ARGUMENTS) != 0;
	passage->has_retval = (known & FTR_GATE_RETVAL) != 0;
	if ((flags & FTR_CALL_NOTRACE) != 0)
		return FTR_GATE_KEEP;
	if (rule != NULL) {
		if (unlikely((flags & FTR_CALL_DUMP) != 0))
			passage->asks_dump = asks_dump(self, call, flags);
		rule_apply(gate, rule, flags, &passage->after);
		passage->actions = actions_of(flags);
		passage->reads = rule->reads;
		size = rule->size != 0 ? rule->size : size;
	}
	if (!is_recorded(&passage->after, flags, size))
		return (flags & CHANGES) != 0 ? FTR_GATE_KEEP : FTR_GATE_PASS;
	if (passage->after.depth != FTR_GATE_DEEP)
		passage->after.depth--;
	passage->after.recorded++;
	return must_wait(gate, &passage->after, flags) ? FTR_GATE_WAIT : FTR_GATE_RECORD;
}
