/* SPDX-License-Identifier: MIT */
/* FXT reader: the source, for the files that make its events. */
#ifndef FTR_FORMAT_FXT_READ_SOURCE_H
#define FTR_FORMAT_FXT_READ_SOURCE_H

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "utils/base/vec.h"
#include "utils/format/fxt/read.h"
#include "utils/trace/task.h"

/* ---- the open calls of each task, and which of them ends next ---- */

#define FXT_END_OPEN UINT64_MAX		/* no end is known */

struct ftr_func;

struct fxt_frame {
	const struct ftr_func *func;
	uint64_t addr;		/* of its call, in memory */
	uint64_t end_ns; /* its own, or of the call around it that has one: does not grow upwards */
	bool     is_open;	/* has no end of its own */
};

struct fxt_stack {
	struct ftr_task *task;
	FTR_VEC(struct fxt_frame) frames;
	uint32_t open_nr;	/* of the frames: without an end of their own */
	size_t   heap_pos;
};

/*
 * A stack's place in the heap, with what is compared: looking it up would cost more than comparing.
 */
struct fxt_heaped {
	uint64_t end_ns;	/* fxt_stack_end() */
	uint32_t task_id;
	struct fxt_stack *stack;
};

struct fxt_stacks {
	FTR_VEC(struct fxt_stack *) by_task;	/* (owned) by task id; NULL = none yet */
	FTR_VEC(struct fxt_heaped) heap;	/* by the end of the top frame, then by task id */
};

struct fxt_stack *fxt_stack_add(struct fxt_stacks *stacks,
				struct ftr_task *task); /* NULL: no memory */
static inline struct fxt_stack *fxt_stack_of(struct fxt_stacks *stacks, struct ftr_task *task)
{
	if (__builtin_expect(task->id < stacks->by_task.nr && stacks->by_task.v[task->id] != NULL,
			     1))
		return stacks->by_task.v[task->id];
	return fxt_stack_add(stacks, task);
}

void fxt_stacks_fini(struct fxt_stacks *stacks);

/* Only for push and pop: the stack's end came nearer, to the root perhaps; or went away. */
void fxt_heap_up(struct fxt_stacks *stacks, struct fxt_stack *stack);
void fxt_heap_down(struct fxt_stacks *stacks, struct fxt_stack *stack);

/* The top call ends at @end_ns. */
void fxt_stack_cut(struct fxt_stacks *stacks, struct fxt_stack *stack, uint64_t end_ns);

static inline uint64_t fxt_stack_end(const struct fxt_stack *stack)
{
	size_t nr = stack->frames.nr;

	return nr == 0 ? FXT_END_OPEN : stack->frames.v[nr - 1].end_ns;
}

/* The end that comes first, and whose it is; FXT_END_OPEN = none is known. */
static inline uint64_t fxt_stacks_next_end(const struct fxt_stacks *stacks, struct ftr_task **task)
{
	if (stacks->heap.nr == 0)
		return FXT_END_OPEN;
	*task = stacks->heap.v[0].stack->task;
	return stacks->heap.v[0].end_ns;
}

/* Push a call; an end beyond that of the call around it is cut and counted.  0 or -ENOMEM. */
static inline int fxt_stack_push(struct fxt_stacks *stacks, struct fxt_stack *stack,
				 struct fxt_frame frame, uint64_t *cut_nr)
{
	uint64_t around_ns = fxt_stack_end(stack);

	frame.is_open = frame.end_ns == FXT_END_OPEN;
	if (__builtin_expect(frame.end_ns > around_ns, 0)) {
		*cut_nr += !frame.is_open;
		frame.end_ns = around_ns;
	}
	if (__builtin_expect(ftr_vec_push(&stack->frames, frame) < 0, 0))
		return -ENOMEM;
	stack->open_nr += frame.is_open;
	if (frame.end_ns == around_ns)
		return 0;
	stacks->heap.v[stack->heap_pos].end_ns = frame.end_ns;
	if (stack->heap_pos > 0)
		fxt_heap_up(stacks, stack);
	return 0;
}

static inline void fxt_stack_pop(struct fxt_stacks *stacks, struct fxt_stack *stack)
{
	const struct fxt_frame *frame = &stack->frames.v[--stack->frames.nr];

	stack->open_nr -= frame->is_open;
	stacks->heap.v[stack->heap_pos].end_ns = fxt_stack_end(stack);
	if (stacks->heap.nr > 1)
		fxt_heap_down(stacks, stack);
}

static inline bool fxt_stack_has_open(const struct fxt_stack *stack)
{
	return stack->open_nr > 0;
}

static inline bool fxt_stack_top_is_open(const struct fxt_stack *stack)
{
	return stack->frames.nr > 0 && stack->frames.v[stack->frames.nr - 1].is_open;
}

/* ---- the source ---- */

/* What the refs of a call's header stood for, since tables were changed last. */
struct fxt_known {
	uint64_t refs;		/* fxt_event_refs(); 0 = nothing */
	uint64_t age;			/* the source's when it was found out */
	struct ftr_func *func;
	uint64_t addr, until_ns;	/* of its calls, before that time */
	struct fxt_stack *stack;
};

#define FXT_KNOWN_NR 1024u /* slots, by hash: most traces call fewer functions at a time */

/* An operation or an arrow that began and did not end yet. */
struct fxt_span {
	uint64_t begin_ns;
	struct fxt_span
		*next; /* (nullable) the one of the same id around it; or the next spare one */
};

struct fxt_source {
	struct ftr_source base;
	struct fxt_reader *r;
	struct fxt_stacks stacks;
	struct ftr_hashmap
		spans; /* by kind, name and id: struct fxt_span, that of the last begin */
	struct fxt_span *spare_spans;	/* (nullable) */
	struct ftr_err *err;		/* (borrowed) of the call for the next batch */
	uint64_t offset;		/* of the record that comes next in the file */
	struct ftr_sort_pair order[FTR_SOURCE_BATCH]; /* out of order: the records that come next */
	size_t order_pos, settled_nr,
		order_nr; /* those from settled_nr on wait for others of their time */
	bool has_record;
	bool was_shown;	/* by an instant of shown_ns, what a log record repeats */
	uint64_t shown_ns;
	unsigned step;			/* of a record that makes several events */
	struct fxt_decoded record;
	struct fxt_known known[FXT_KNOWN_NR];
	uint64_t known_age; /* of known[]; it changes with each table record */
	uint8_t *payload_bytes;		/* (owned) */
	size_t payload_used;
	_Alignas(FTR_CACHE_LINE) struct ftr_event evs[FTR_SOURCE_BATCH];
	struct ftr_payload payloads[FTR_SOURCE_BATCH];
};

/* An event of the record's task and time, all else zero. */
static inline void fxt_event_begin(const struct fxt_source *self, struct ftr_event *ev,
				   enum ftr_event_type type)
{
	memset(ev, 0, sizeof(*ev));
	ev->time_ns = self->record.time_ns;
	ev->task = self->record.task;
	ev->type = (uint8_t)type;
}

/* fxt/read_source.c: attach the record's arguments to @ev, the event at index @nr of the batch. */
void fxt_event_args(struct fxt_source *self, struct ftr_event *ev, size_t nr,
		    struct fxt_args_out *out);

/* These make the event at index @nr of the batch: 1 = made, 0 = none, or -ENOMEM. */
/* fxt/read_point.c: an event record that is no duration; a log record. */
int fxt_take_other(struct fxt_source *self, size_t nr, enum fxt_event type);
int fxt_take_log(struct fxt_source *self, size_t nr);
/* fxt/read_point.c: @step 0: the task that leaves; 1: the one that comes. */
int fxt_take_scheduling(struct fxt_source *self, size_t nr, unsigned step);

/*
 * fxt/read_syscall.c: give the event, of the batch, the record of the system call that it stands
 * for.
 */
void fxt_syscall_set(struct fxt_source *self, struct ftr_event *ev);

#endif /* FTR_FORMAT_FXT_READ_SOURCE_H */
