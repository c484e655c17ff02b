/* SPDX-License-Identifier: MIT */
/*
 * What rules say of the events of a stream, in its order (filter.h): which are shown, and at which
 * depth.  Calls that rules concern are on a stack.  Any other call is shown if its depth, less the
 * hidden calls around it, is below a limit: both are the same at its ENTRY and at its EXIT, and
 * change at calls on the stack alone.
 */
#ifndef FTR_TRACE_FILTER_RULES_H
#define FTR_TRACE_FILTER_RULES_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "utils/base/hashmap.h"
#include "utils/base/vec.h"
#include "utils/trace/event.h"
#include "utils/trace/per_task.h"
#include "utils/trace/rule_plan.h"
#include "utils/trace/stack.h"

struct ftr_pipeline_options;

#define FTR_FILTER_NO_DEPTH UINT32_MAX

/* What the calls around it decide of the one that comes next. */
struct ftr_filter_place {
	uint32_t hidden_nr;	/* of them, those that are not shown */
	uint32_t limit;		/* only depths below it, less hidden_nr, are shown */
	uint32_t chosen_nr;	/* open calls of FILTER */
	uint32_t muted_from;	/* depth of the open call of NOTRACE, or FTR_FILTER_NO_DEPTH */
	uint64_t size_min;	/* functions of less code are left out */
};

/*
 * An open call that a rule concerns, or that began while its process was switched off; any where
 * sizes matter, or others are told.
 */
struct ftr_filter_frame {
	struct ftr_filter_place before;	/* it began */
	uint32_t depth;
	uint32_t shown_depth;
	uint64_t given_ns;	/* own time of calls that were left out for their size */
	bool is_shown;
	bool is_small;		/* left out for its size */
};

/* Calls of a function that rules count. */
struct ftr_filter_counter {
	uint64_t sampled_nr;
	uint64_t second_ns;	/* when the second began; valid if rated_nr is not 0 */
	uint64_t rated_nr;	/* of that second */
};

struct ftr_filter_state {
	FTR_VEC(struct ftr_filter_frame) frames;
	uint32_t top_depth;	/* of the innermost of them, or FTR_FILTER_NO_DEPTH */
	struct ftr_filter_place place;
	bool *is_on;		/* of its process; NULL = the task is new */
	struct ftr_task *task;
	struct ftr_stack shown;	/* calls that are shown, where rules may end the stream */
	FTR_VEC(struct ftr_filter_counter) counters;	/* by id of the function */
	FTR_VEC(const struct ftr_func *) open;	/* all calls, where there are backtraces */
	uint32_t stack;		/* number of that of the next call; 0 = not known */
	uint32_t stack_depth;
};

struct ftr_filter_rules {
	struct ftr_rule_plans *plans;	/* (borrowed) */
	struct ftr_per_task states;	/* struct ftr_filter_state */
	struct ftr_hashmap is_on_by_pid;	/* bool (owned) */
	uint32_t depth_max;
	uint64_t size_min;		/* functions of less code are left out */
	bool has_filter;		/* only what FILTER chooses is shown */
	bool starts_off;
	bool event_full;
	bool is_about_all;		/* each call is on the stack */
	bool no_libcall;		/* library calls will be left out elsewhere: no levels */
	bool is_told;			/* what others did: see event.ahead */
	bool is_counted_out;		/* the call at hand */
	bool is_finished;		/* one ended the stream */
};

void ftr_filter_rules_init(struct ftr_filter_rules *rules,
			   const struct ftr_pipeline_options *options);
void ftr_filter_rules_fini(struct ftr_filter_rules *rules);

/* Of a task, which may be new; NULL when out of memory. */
struct ftr_filter_state *ftr_filter_rules_state(struct ftr_filter_rules *rules,
						struct ftr_task *task);

/*
 * Of a call at @depth that begins at @place, where nothing but its function counts: is it shown?
 * *shown_depth becomes at which depth, @place that of what it calls.  @plan has no conditions.
 */
bool ftr_filter_rules_enter(const struct ftr_filter_rules *rules, struct ftr_filter_place *place,
			    const struct ftr_rule_plan *plan, uint32_t depth,
			    uint32_t *shown_depth);

/* Of any event.  Is it shown?  1, 0 or -ENOMEM; its depth is then what it is shown at. */
int  ftr_filter_rules_take_any(struct ftr_filter_rules *rules, struct ftr_event *ev);
/* Of an ENTRY or EXIT of a task that is known. */
int  ftr_filter_rules_take_call(struct ftr_filter_rules *rules, struct ftr_filter_state *state,
				struct ftr_event *ev);

/* At which depth is what happens at @depth shown, if it is? */
static inline uint32_t ftr_filter_shown_depth(const struct ftr_filter_place *place, uint32_t depth)
{
	return depth - place->hidden_nr < place->limit ? depth - place->hidden_nr : place->limit;
}

/* Is @ev, neither ENTRY nor EXIT of a call on the stack, shown?  Then at which depth. */
static inline bool ftr_filter_is_below_limit(const struct ftr_filter_state *state,
					     struct ftr_event *ev)
{
	ev->depth = ftr_filter_shown_depth(&state->place, ev->depth);
	return ev->depth < state->place.limit;
}

/* As ftr_filter_rules_take_any, quickly for calls that no rule concerns. */
static inline int ftr_filter_rules_take(struct ftr_filter_rules *rules, struct ftr_event *ev)
{
	struct ftr_filter_state *state = ftr_per_task_get(&rules->states, ev->task);
	const struct ftr_rule_plan *plan;

	if (__builtin_expect(state == NULL || state->is_on == NULL ||
			     ev->type > FTR_EVENT_EXIT || rules->is_told, 0))
		return ftr_filter_rules_take_any(rules, ev);
	plan = ftr_rule_plans_get(rules->plans, ev->call.func);
	if (__builtin_expect(plan == NULL, 0))
		return -ENOMEM;
	/* No call that begins is as deep as the innermost of the stack. */
	if (__builtin_expect((plan->actions == 0) & (ev->depth != state->top_depth) &
			     *state->is_on & !rules->is_about_all, 1)) {
		ev->color = 0;
		return ftr_filter_is_below_limit(state, ev);
	}
	return ftr_filter_rules_take_call(rules, state, ev);
}

#endif /* FTR_TRACE_FILTER_RULES_H */
