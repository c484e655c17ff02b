/* SPDX-License-Identifier: MIT */
/* See read_match.h. */
#include "utils/format/uftrace/read_match.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "utils/base/bytes.h"

#define SLOT_BITS 12
#define SLOTS	  FTR_BIT(SLOT_BITS)
#define SUMS_MAX  (SLOTS / 2)
#define BLOCK	  1024u		/* records for which there is room on the stack */
#define MADE_MAX  (BLOCK / 6)	/* frames made in a block: with more, each call is settled */
#define KEY_SHIFT 48		/* addresses have fewer bits */
#define BASE	  1u		/* the frame of the base; [0] stands for none */
#define NO_WORD	  1u		/* no entry's: of a frame that was not made for any */

struct record {
	uint64_t time_ns, addr;
	uint32_t depth;
	bool is_exit, is_plain;
};

static inline struct record record_at(const uint8_t *p, bool is_big)
{
	const uint64_t mask = FTR_RECORD_MAGIC_MASK | FTR_RECORD_MORE | 2;	/* 2: LOST, EVENT */
	uint64_t word = ftr_get_u64(p + 8, is_big);

	return (struct record){
		.time_ns = ftr_get_u64(p, is_big),
		.addr = ftr_record_addr(word),
		.depth = ftr_record_depth(word),
		.is_exit = word & 1,
		.is_plain = (word & mask) == FTR_RECORD_MAGIC,
	};
}

/* ---- sums ---- */

/* The place in slots[] of a sum, or a free one, which has 0.  By func, parent is always 0. */
static inline size_t slot_find(const struct uft_match *self, uint32_t parent, uint64_t addr)
{
	const uint16_t *slots = self->chunk->slots;
	uint64_t hash = (addr ^ (uint64_t)parent << KEY_SHIFT) * FTR_HASH_FACTOR;
	size_t at = ftr_high_bits(hash, SLOT_BITS);

	while (slots[at] != 0 && (self->sums[slots[at]].addr != addr ||
				  self->sums[slots[at]].parent != parent))
		at = (at + 1) % SLOTS;
	return at;
}

/* A new sum; its index, or -ENOMEM.  Moves self->sums. */
static int sum_add(struct uft_match *self, uint32_t parent, uint64_t addr, uint64_t first_ns)
{
	struct uft_chunk *chunk = self->chunk;
	size_t at = chunk->sums.nr - self->sum_nr;
	struct ftr_run_sum sum = { .addr = addr, .parent = parent, .first_ns = first_ns,
				   .counted_ns = UINT64_MAX };

	if (ftr_vec_push(&chunk->sums, sum) < 0) {
		chunk->is_out_of_memory = true;
		return -ENOMEM;
	}
	self->sums = chunk->sums.v + at;
	return (int)self->sum_nr++;
}

/* The sum of calls of what is at @record's address, below @parent; -ENOMEM or -ENOSPC. */
static int sum_get(struct uft_match *self, uint32_t parent, const struct record *record)
{
	size_t slot = slot_find(self, parent, record->addr);
	int sum = self->chunk->slots[slot];

	if (sum != 0)
		return sum;
	if (self->sum_nr >= SUMS_MAX)
		return -ENOSPC;
	sum = sum_add(self, parent, record->addr, record->time_ns);
	if (sum > 0)
		self->chunk->slots[slot] = (uint16_t)sum;
	return sum;
}

/* ---- frames ---- */

static inline struct uft_frame *base_of(const struct uft_match *self)
{
	return self->chunk->frames.v + BASE;
}

static inline uint64_t nested_mask(const struct uft_frame *frame)
{
	return 0 - (uint64_t)frame->is_nested;
}

static inline void frame_settle(struct uft_match *self, struct uft_frame *frame)
{
	struct ftr_run_sum *sum = &self->sums[frame->sum];
	uint64_t total_ns = frame->self_ns + frame->below_ns;

	if (frame->calls > 0 && frame->counted_ns < sum->counted_ns)
		sum->counted_ns = frame->counted_ns;
	sum->calls += frame->calls;
	sum->total_ns += total_ns;
	sum->nested_ns += total_ns & nested_mask(frame);
	sum->self_ns += frame->self_ns;
	frame[-1].below_ns += total_ns;
	frame->word = NO_WORD;
}

/* Add what the frames above @nr, all of them ended, have counted to their sums. */
static inline void frames_settle(struct uft_match *self, size_t nr)
{
	struct uft_frame *frame = base_of(self) + self->frame_nr;

	for (; self->frame_nr > nr; self->frame_nr--, frame--) {
		frame_settle(self, frame);
		self->sums[frame->sum].open_nr--;
	}
}

/*
 * The same of frame @nr, whose last call is open: that is in no sum, so what was counted of it is
 * taken out again.  Its open callee, if there is one, began at @until_ns.
 */
static struct ftr_run_open open_settle(struct uft_match *self, size_t nr, uint64_t until_ns)
{
	struct uft_frame *frame = base_of(self) + nr;
	struct ftr_run_sum *sum = &self->sums[frame->sum];
	uint64_t self_ns = frame->self_ns - frame->before_ns;
	uint64_t total_ns = self->last_ns - frame->start_ns;

	frame_settle(self, frame);
	sum->total_ns -= total_ns;
	sum->nested_ns -= total_ns & nested_mask(frame);
	sum->self_ns -= self_ns;
	return (struct ftr_run_open){
		.start_ns = frame->start_ns,
		.child_ns = until_ns - frame->start_ns - self_ns,
		.sum = frame->sum,
	};
}

/* ---- each call settled: a frame has its open call alone, with below_ns in callees ---- */

static uint64_t base_child_ns(const struct uft_match *self, uint64_t until_ns)
{
	const struct uft_frame *base = base_of(self);

	return self->settles_each ? base->below_ns : until_ns - base->start_ns - base->self_ns;
}

static void each_begin(struct uft_match *self)
{
	uint64_t until_ns = self->last_ns;

	frames_settle(self, self->open_nr);
	for (size_t i = self->open_nr; i > 0; i--) {
		struct ftr_run_open open = open_settle(self, i, until_ns);

		until_ns = open.start_ns;
		base_of(self)[i].below_ns = open.child_ns;
	}
	base_of(self)->below_ns = base_child_ns(self, until_ns);
	self->frame_nr = 0;
	self->settles_each = true;
}

static void each_end(struct uft_match *self)
{
	uint64_t until_ns = self->last_ns;

	if (!self->settles_each)
		return;
	for (size_t i = self->open_nr + 1; i > 0; i--) {
		struct uft_frame *frame = base_of(self) + i - 1;

		frame->self_ns = until_ns - frame->start_ns - frame->below_ns;
		frame->before_ns = frame->calls = 0;
		frame->is_nested = false;
		until_ns = frame->start_ns;
	}
	self->frame_nr = self->open_nr;
	self->settles_each = false;
}

static enum uft_stop stop_of(int ret)
{
	return ret == -ENOSPC ? UFT_STOP_FULL : UFT_STOP_OTHER;
}

/* A call of something else than the last one there, at p, or of what has no sum yet. */
static enum uft_stop frame_make(struct uft_match *self, const struct record *record)
{
	struct uft_frame *frame = base_of(self) + self->open_nr + 1;
	bool by_callers = self->chunk->wish.kind == FTR_RUN_BY_CALLERS;
	int sum;

	if (record->depth != self->base_depth + self->open_nr &&
	    record->depth != FTR_RECORD_DEPTH_MAX)
		return UFT_STOP_OTHER;
	sum = sum_get(self, by_callers ? frame[-1].sum : 0, record);
	if (sum < 0)
		return stop_of(sum);
	if (self->settles_each)
		return UFT_STOP_END;
	frames_settle(self, self->open_nr);
	self->made_nr++;
	*frame = (struct uft_frame){
		.word = ftr_get_u64(self->p + 8, self->is_big),
		.sum = (uint32_t)sum,
		.is_nested = self->sums[sum].open_nr++ > 0,
	};
	self->frame_nr = self->open_nr + 1;
	return UFT_STOP_END;
}

/* ---- calls that began before the run ---- */

/* Its sum: by callers, one that stands for its caller from here on. */
static int base_sum(struct uft_match *self, const struct record *record)
{
	if (self->chunk->wish.kind == FTR_RUN_BY_FUNC)
		return sum_get(self, 0, record);
	if (self->sum_nr >= SUMS_MAX)
		return -ENOSPC;
	return sum_add(self, 0, FTR_RUN_BASE, record->time_ns);
}

static enum uft_stop base_end(struct uft_match *self, const struct record *record)
{
	struct uft_frame *base = base_of(self);
	struct ftr_run_end end = { .time_ns = record->time_ns, .addr = record->addr,
				   .child_ns = base_child_ns(self, self->last_ns) };
	int sum;

	if (self->base_depth == 0 || (record->depth != self->base_depth - 1 &&
				      record->depth != FTR_RECORD_DEPTH_MAX))
		return UFT_STOP_OTHER;
	sum = base_sum(self, record);
	if (sum < 0)
		return stop_of(sum);
	frames_settle(self, 0);
	if (self->chunk->wish.kind == FTR_RUN_BY_CALLERS) {
		end.base = base->sum = (uint32_t)sum;
	} else {
		end.sum = (uint32_t)sum;
		end.outer_ns = self->sums[sum].total_ns - self->sums[sum].nested_ns;
	}
	if (ftr_vec_push(&self->chunk->ends, end) < 0) {
		self->chunk->is_out_of_memory = true;
		return UFT_STOP_OTHER;
	}
	base->start_ns = self->last_ns = record->time_ns;
	base->self_ns = base->below_ns = 0;
	self->base_depth--;
	self->p += UFT_RECORD_BYTES;
	return UFT_STOP_END;
}

/* ---- records: entries and exits alike, since a branch between them would be mispredicted ---- */

/*
 * Calls up to @end, as far as each is one of what its frame was made for, and each end that of the
 * innermost: that is one comparison, since the frame has the word of the record.  The lowest bit,
 * an exit's, is not compared: a frame's word that has it matches nothing, whatever a file has.
 *
 * A call that is too short for @threshold_ns is not counted, nor are those in it: all of its time,
 * which is the frame's since it began, becomes its caller's, with the time that passes next.
 */
static inline __attribute__((always_inline)) void
calls_match(struct uft_match *self, const uint8_t *end, bool is_big, uint64_t threshold_ns)
{
	struct uft_frame *base = base_of(self), *top = base + self->open_nr;
	uint64_t last_ns = self->last_ns, short_ns = 0;
	const uint8_t *p = self->p;

	for (; p < end; p += UFT_RECORD_BYTES) {
		uint64_t time_ns = ftr_get_u64(p, is_big), word = ftr_get_u64(p + 8, is_big);
		uint64_t is_exit = word & 1, step_ns = time_ns - last_ns, is_short;
		struct uft_frame *frame = top + 1 - is_exit;

		if (__builtin_expect((word - is_exit != frame->word) | (step_ns > UFT_JUMP_NS), 0))
			break;
		is_short = (time_ns - frame->start_ns < threshold_ns) & is_exit;
		step_ns += short_ns;	/* of the callee that has just ended */
		short_ns = (time_ns - frame->start_ns) & (0 - is_short);
		top->self_ns += step_ns - short_ns;
		if (threshold_ns > 0 && (is_exit & (top->calls == 0)))
			top->counted_ns = frame->start_ns;
		top->calls += is_exit - is_short;
		frame->before_ns = frame->self_ns;
		frame->start_ns = time_ns;
		top = frame - is_exit;
		last_ns = time_ns;
	}
	top->self_ns += short_ns;
	self->p = p;
	self->open_nr = (size_t)(top - base);
	self->last_ns = last_ns;
}

/*
 * The same of calls that have a sum, where hardly one is of what was called there before: each end
 * counts, and a frame has its open call alone, with below_ns in callees.
 */
static inline __attribute__((always_inline)) void
calls_match_each(struct uft_match *self, const uint8_t *end, bool is_big, bool by_callers,
		 uint64_t threshold_ns)
{
	struct uft_frame *frames = base_of(self) + 1;
	const uint16_t *slots = self->chunk->slots;
	size_t open_nr = self->open_nr, base_depth = self->base_depth;
	struct ftr_run_sum *sums = self->sums;
	uint64_t last_ns = self->last_ns;
	const uint8_t *p = self->p;

	for (; p < end; p += UFT_RECORD_BYTES) {
		struct record record = record_at(p, is_big);
		size_t above_nr = open_nr - record.is_exit;
		struct uft_frame *frame = &frames[(ptrdiff_t)above_nr];
		size_t slot = slot_find(self, by_callers ? frame[-1].sum : 0, record.addr);
		uint32_t sum = slots[slot];
		struct ftr_run_sum *count = &sums[sum];
		uint64_t duration_ns = record.time_ns - frame->start_ns;
		uint64_t counts = record.is_exit & (duration_ns >= threshold_ns);
		uint64_t mask = 0 - counts, total_ns = duration_ns & mask;

		if (__builtin_expect(!record.is_plain | (record.time_ns - last_ns > UFT_JUMP_NS) |
				     (sum == 0) | (record.is_exit & (frame->sum != sum)) |
				     ((record.depth != base_depth + above_nr) &
				      (record.depth != FTR_RECORD_DEPTH_MAX)), 0))
			break;
		count->open_nr += 1 - 2 * (uint32_t)record.is_exit;
		if (threshold_ns > 0 && counts && frame->start_ns < count->counted_ns)
			count->counted_ns = frame->start_ns;
		count->calls += counts;
		count->total_ns += total_ns;
		count->nested_ns += total_ns & (0 - (uint64_t)(count->open_nr != 0));
		count->self_ns += total_ns - (frame->below_ns & mask);
		frame[-1].below_ns += total_ns;
		frame->start_ns = record.time_ns;
		frame->below_ns = 0;
		frame->sum = sum;
		open_nr = above_nr + 1 - record.is_exit;
		last_ns = record.time_ns;
	}
	self->p = p;
	self->open_nr = open_nr;
	self->last_ns = last_ns;
}

/* What the record at p is that calls_match() does not know yet. */
static enum uft_stop other_match(struct uft_match *self)
{
	struct record record = record_at(self->p, self->is_big);

	if (!record.is_plain || record.time_ns - self->last_ns > UFT_JUMP_NS)
		return UFT_STOP_OTHER;
	if (!record.is_exit)
		return frame_make(self, &record);
	return self->open_nr == 0 ? base_end(self, &record) : UFT_STOP_OTHER;
}

/* How many of @nr records from p on are before the limit, if their times ascend. */
static size_t records_before(const struct uft_match *self, size_t nr)
{
	size_t low = 0, high = nr;

	if (nr > 0 && ftr_get_u64(self->p + (nr - 1) * UFT_RECORD_BYTES, self->is_big) <
			      self->limit_ns)
		return nr;
	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (ftr_get_u64(self->p + mid * UFT_RECORD_BYTES, self->is_big) < self->limit_ns)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

/* Room for @nr frames; new ones were made for no calls. */
static int frames_reserve(struct uft_chunk *chunk, size_t nr)
{
	size_t had = chunk->frames.cap;

	if (ftr_vec_reserve(&chunk->frames, nr) < 0) {
		chunk->is_out_of_memory = true;
		return -ENOMEM;
	}
	for (; had < chunk->frames.cap; had++)
		chunk->frames.v[had] = (struct uft_frame){ .word = NO_WORD };
	return 0;
}

/* Constants, of which there is a loop each. */
static inline __attribute__((always_inline)) void
known_match_as(struct uft_match *self, const uint8_t *end, bool is_big, uint64_t threshold_ns)
{
	if (!self->settles_each)
		calls_match(self, end, is_big, threshold_ns);
	else if (self->chunk->wish.kind == FTR_RUN_BY_CALLERS)
		calls_match_each(self, end, is_big, true, threshold_ns);
	else
		calls_match_each(self, end, is_big, false, threshold_ns);
}

static void known_match(struct uft_match *self, const uint8_t *end)
{
	uint64_t threshold_ns = self->chunk->wish.threshold_ns;

	if (self->is_big)
		known_match_as(self, end, true, threshold_ns);
	else if (threshold_ns > 0)
		known_match_as(self, end, false, threshold_ns);
	else
		known_match_as(self, end, false, 0);
}

enum uft_stop uft_match_block(struct uft_match *self)
{
	size_t left = (size_t)(self->end - self->p) / UFT_RECORD_BYTES;
	size_t nr = left < BLOCK ? left : BLOCK, before = records_before(self, nr);
	const uint8_t *end = self->p + before * UFT_RECORD_BYTES;
	enum uft_stop stop = UFT_STOP_END;

	if (frames_reserve(self->chunk, BASE + self->open_nr + BLOCK + 1) < 0)
		return UFT_STOP_OTHER;
	if (self->made_nr > MADE_MAX)
		each_begin(self);
	self->made_nr = 0;
	while (self->p < end && stop == UFT_STOP_END) {
		known_match(self, end);
		if (self->p < end)
			stop = other_match(self);
	}
	return stop == UFT_STOP_END && before < nr ? UFT_STOP_LIMIT : stop;
}

bool uft_match_begin(struct uft_match *self, uint64_t limit_ns)
{
	struct record record;

	if ((size_t)(self->end - self->p) < UFT_RECORD_BYTES)
		return false;
	record = record_at(self->p, self->is_big);
	if (!record.is_plain || record.depth == FTR_RECORD_DEPTH_MAX ||
	    frames_reserve(self->chunk, BASE + 1) < 0)
		return false;
	self->last_ns = record.time_ns;
	self->limit_ns = limit_ns;
	self->base_depth = record.depth + record.is_exit;
	self->open_nr = self->frame_nr = self->sum_nr = self->made_nr = 0;
	self->settles_each = false;
	memset(self->chunk->slots, 0, SLOTS * sizeof(*self->chunk->slots));
	*base_of(self) = (struct uft_frame){ .word = NO_WORD, .start_ns = record.time_ns };
	return sum_add(self, 0, FTR_RUN_BASE, record.time_ns) == 0;
}

int uft_match_end(struct uft_match *self, uint64_t *outside_ns)
{
	struct uft_chunk *chunk = self->chunk;
	uint64_t until_ns = self->last_ns;
	struct ftr_run_open *opens;

	if (ftr_vec_reserve(&chunk->opens, chunk->opens.nr + self->open_nr) < 0)
		return -ENOMEM;
	opens = chunk->opens.v + chunk->opens.nr;
	chunk->opens.nr += self->open_nr;
	each_end(self);
	frames_settle(self, self->open_nr);
	for (size_t i = self->open_nr; i > 0; i--) {
		opens[i - 1] = open_settle(self, i, until_ns);
		until_ns = opens[i - 1].start_ns;
	}
	*outside_ns = base_child_ns(self, until_ns);
	return 0;
}

bool uft_match_room(struct uft_chunk *chunk)
{
	if (chunk->slots == NULL)
		chunk->slots = malloc(SLOTS * sizeof(*chunk->slots));
	return chunk->slots != NULL;
}
