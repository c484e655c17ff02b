/* SPDX-License-Identifier: MIT */
/*
 * stack: the open calls of a task, for what follows a stream call by call.
 *
 * Following an event fills it in: its depth; of an EXIT start_ns, child_ns (callees, and time
 * scheduled out) and the flags of its ENTRY.  A source that drops calls, or lets them begin later,
 * changes the stack accordingly, and durations are right from there on.
 */
#ifndef FTR_TRACE_STACK_H
#define FTR_TRACE_STACK_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "utils/base/vec.h"
#include "utils/trace/event.h"
#include "utils/trace/source.h"

struct ftr_stack_frame {
	const struct ftr_func *func;
	uint64_t addr;
	uint64_t start_ns;
	uint64_t child_ns;
	uint8_t  flags;		/* of its ENTRY */
	uint8_t  verdict;	/* the same */
};

/* All zero = no call is open. */
struct ftr_stack {
	FTR_VEC(struct ftr_stack_frame)
	frames; /* [1] = outermost, [0] = of no function; nr is not used */
	size_t open_nr;
};

int ftr_stack_reserve_slow(struct ftr_stack *stack);

/* Room for as many calls as one batch can open; to be made before anything else.  0 or -ENOMEM. */
static inline int ftr_stack_reserve(struct ftr_stack *stack)
{
	return stack->open_nr + FTR_SOURCE_BATCH + 2 <= stack->frames.cap ?
		       0 : ftr_stack_reserve_slow(stack);
}

/* The innermost call, or what stands for none. */
static inline struct ftr_stack_frame *ftr_stack_top(const struct ftr_stack *stack)
{
	return &stack->frames.v[stack->open_nr];
}

/*
 * Follow ENTRY and EXIT in one, without a branch between them: it would be mispredicted.  *open_nr
 * is the stack's, or a copy that a loop keeps.  False when the event does not fit.
 */
static inline bool ftr_stack_frames_call(struct ftr_stack_frame *frames, size_t *open_nr,
					 struct ftr_event *ev)
{
	size_t is_exit = ev->type;	/* 0 or 1 */
	size_t depth = *open_nr - is_exit;
	struct ftr_stack_frame *frame = &frames[depth + 1];
	uint64_t start_ns = frame->start_ns;
	uint64_t child_ns = frame->child_ns;
	uint64_t mask = 0 - (uint64_t)is_exit;

	static_assert(FTR_EVENT_ENTRY == 0 && FTR_EVENT_EXIT == 1, "is_exit is the type");
	if (__builtin_expect(((ev->depth != depth) & (ev->depth != FTR_DEPTH_UNKNOWN)) |
			     (is_exit & (frame->func != ev->call.func)), 0))
		return false;
	/*
	 * Else the compiler loads both times at once, which waits for the store of child_ns before.
	 */
	__asm__("" : "+r"(child_ns));
	ev->depth = (uint32_t)depth;
	ev->flags |= frame->flags & (uint8_t)mask;
	ev->call.start_ns = start_ns;
	ev->call.child_ns = child_ns;
	frame[-1].child_ns += (ev->time_ns - start_ns) & mask;
	frame->func = ev->call.func;
	frame->addr = ev->call.addr;
	frame->start_ns = ev->time_ns;
	frame->child_ns = 0;
	frame->flags = ev->flags & FTR_EVENT_NO_ENTRY;
	frame->verdict = ev->verdict;
	*open_nr = depth + 1 - is_exit;
	return true;
}

/* Follow an ENTRY or EXIT.  False when it does not fit. */
static inline bool ftr_stack_call(struct ftr_stack *stack, struct ftr_event *ev)
{
	return ftr_stack_frames_call(stack->frames.v, &stack->open_nr, ev);
}

/* Follow a POINT: a pair of sched-out and sched-in is like a call that the innermost one made. */
static inline void ftr_stack_point(struct ftr_stack *stack, const struct ftr_event *ev)
{
	if (ev->point.kind == FTR_POINT_INSTANT && ev->point.start_ns != 0)
		ftr_stack_top(stack)->child_ns += ev->time_ns - ev->point.start_ns;
}

/* Make room and follow an event of any type that went through calls.  0 or -ENOMEM. */
static inline int ftr_stack_follow(struct ftr_stack *stack, struct ftr_event *ev)
{
	bool fits = true;

	if (ftr_stack_reserve(stack) < 0)
		return -ENOMEM;
	if (ev->type <= FTR_EVENT_EXIT)
		fits = ftr_stack_call(stack, ev);
	else if (ev->type == FTR_EVENT_POINT)
		ftr_stack_point(stack, ev);
	assert(fits);
	return 0;
}

/* Turn @made, whose task and time are set, into an inferred event of the open call at @depth. */
void ftr_stack_make(const struct ftr_stack *stack, size_t depth, enum ftr_event_type type,
		    struct ftr_event *made);

/*
 * Nothing more will come: fill @made with unfinished EXITs of @task at @time_ns, innermost first,
 * until no call is open or @room is taken.  Returns how many.
 */
size_t ftr_stack_finish(struct ftr_stack *stack, struct ftr_task *task, uint64_t time_ns,
			struct ftr_event *made, size_t room);

void ftr_stack_fini(struct ftr_stack *stack);

#endif /* FTR_TRACE_STACK_H */
