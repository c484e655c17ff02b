/* SPDX-License-Identifier: MIT */
/* What the hook is made of: frames that change hands, and records (included by the hook alone). */
#ifndef FTR_LIBMCOUNT_FRAME_H
#define FTR_LIBMCOUNT_FRAME_H

#include <stdatomic.h>

#include "libmcount/clock.h"
#include "libmcount/thread.h"
#include "utils/base/rt/sys.h"

static inline uint64_t record_word_at(uint64_t depth, uintptr_t func, enum ftr_record_type type)
{
	if (unlikely(depth > FTR_RECORD_DEPTH_MAX))
		depth = FTR_RECORD_DEPTH_MAX;
	return ftr_record_word(type, (unsigned)depth, func);
}

static inline uint64_t record_word(const struct ftr_thread *self, const struct ftr_frame *frame,
				   uintptr_t func, enum ftr_record_type type)
{
	uint64_t depth = (uint64_t)((const char *)frame - (const char *)self->frames) /
			 sizeof(struct ftr_frame);

	return record_word_at(depth, func, type);
}

/* Where there is room; answers with its tick. */
static inline uint64_t record_write(struct ftr_producer *producer, uint64_t pos, uint64_t word)
{
	struct ftr_record *record = ftr_producer_record(producer, pos);
	uint64_t tick = ftr_arch_ticks();

	record->time = tick;
	__atomic_store_n(&record->word, word, __ATOMIC_RELEASE);
	return tick;
}

/* A record of now; answers with its tick. */
static inline uint64_t record_put_word(struct ftr_thread *self, uint64_t word)
{
	struct ftr_producer *producer = self->producer;
	uint64_t pos = ftr_arch_local_add(&producer->head, sizeof(struct ftr_record));

	if (likely(pos < producer->limit))
		return record_write(producer, pos, word);
	ftr_ring_put_slow(self, pos, word);
	return ftr_clock_ticks();
}

/*
 * A frame is free, busy or open, and changes hands by one instruction: a handler that interrupts
 * the hook may switch to another coroutine, whose calls claim and close frames before this hook
 * resumes.  A busy frame belongs to its hook alone.  doc/adr/0026
 */

/* Make a free frame busy. */
static inline bool frame_claim_free(struct ftr_frame *frame, const uintptr_t *loc)
{
	return ftr_arch_local_cas_word((uintptr_t *)&frame->loc, 0,
				       (uintptr_t)loc | FTR_FRAME_BUSY);
}

/* Make an open frame busy, to close it.  False: it is not, or no longer, that of @loc. */
static inline bool frame_seize(struct ftr_frame *frame, const uintptr_t *loc)
{
	return ftr_arch_local_cas_word((uintptr_t *)&frame->loc, (uintptr_t)loc,
				       (uintptr_t)loc | FTR_FRAME_BUSY);
}

/* Make a busy frame free. */
static inline void frame_free(struct ftr_frame *frame)
{
	atomic_signal_fence(memory_order_seq_cst);
	frame->loc = NULL;
	atomic_signal_fence(memory_order_seq_cst);
}

/* Move top unless a handler has switched to a coroutine whose frames lie on top now. */
static inline bool frames_set_top(struct ftr_thread *self, const struct ftr_frame *from,
				  const struct ftr_frame *to)
{
	return ftr_arch_local_cas_word((uintptr_t *)&self->top, (uintptr_t)from, (uintptr_t)to);
}

/*
 * Claim @frame, the first above all others unless a handler has switched to another coroutine since
 * top was read.  No open frame lies above top, and of two of one place the upper one is newer: so
 * the frame on top is the one that returns, if its place says so.
 */
static inline bool frame_take(struct ftr_thread *self, struct ftr_frame *frame, uintptr_t *loc)
{
	if (unlikely(!frame_claim_free(frame, loc)))
		return false;
	if (likely(frames_set_top(self, frame, frame + 1)))
		return true;
	frame_free(frame);
	return false;
}

/* As frame_take, of the first frame above all others, but not from @end on; else counted. */
struct ftr_frame *ftr_frame_take_slow(struct ftr_thread *self, const struct ftr_frame *end,
				      uintptr_t *loc) __attribute__((visibility("hidden"), cold));

/* What a busy frame is about. */
static inline void frame_fill(struct ftr_frame *frame, uintptr_t ret, uintptr_t func,
			      enum ftr_frame_kind kind)
{
	frame->ret = ret;
	frame->func = func;
	frame->state = kind;
	atomic_signal_fence(memory_order_seq_cst);
}

/*
 * A busy frame becomes open: from here on another context may take it for left, and another thread
 * that sees it open sees what it is about.
 */
static inline void frame_open(struct ftr_frame *frame, uintptr_t *loc)
{
	__atomic_store_n(&frame->loc, loc, __ATOMIC_RELEASE);
	atomic_signal_fence(memory_order_seq_cst);
}

/* The ENTRY of @frame was recorded at @tick. */
static inline void frame_begun(struct ftr_frame *frame, enum ftr_frame_kind kind, uint64_t tick)
{
	atomic_signal_fence(memory_order_seq_cst);
	__atomic_store_n(&frame->state, ftr_frame_begun(kind, tick), __ATOMIC_RELEASE);
}

/* @frame, busy and on top, has ended; answers with where its call returns to. */
static inline uintptr_t frame_drop(struct ftr_thread *self, struct ftr_frame *frame)
{
	uintptr_t ret = frame->ret;

	frames_set_top(self, frame + 1, frame);
	frame_free(frame);
	return ret;
}

#endif /* FTR_LIBMCOUNT_FRAME_H */
