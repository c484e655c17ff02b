/* SPDX-License-Identifier: MIT */
/*
 * Records to runs in one pass: decoding, matching and adding up (doc/adr/0054).  Only plain calls
 * become part of a run; whatever else there is ends it, and is for read_data.c.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "utils/base/bytes.h"
#include "utils/format/uftrace/read_data.h"

#define SLOT_BITS  12
#define SLOTS	   FTR_BIT(SLOT_BITS)
#define SUMS_MAX   (SLOTS / 2)
#define BLOCK	   4096u		/* records for which there is room on the stack */
#define KEY_SHIFT  48			/* addresses have fewer bits */

enum stop {
	STOP_END,	/* of the block */
	STOP_SUM,	/* a call that has no sum yet */
	STOP_BASE,	/* the end of a call that began before the run */
	STOP_LIMIT,
	STOP_FULL,
	STOP_OTHER,	/* no plain call, or it does not fit */
};

struct maker {
	struct uft_chunk *chunk;
	const struct uft_task *task;
	const uint8_t *p, *end;
	bool is_big;
	uint64_t last_ns;
	uint64_t limit_ns;
	struct ftr_run_sum *sums;	/* of this run */
	size_t sum_nr;
	size_t open_nr;
	uint32_t base_depth;		/* now: less by one with each end */
	size_t slot;			/* STOP_SUM: a free one */
};

struct record {
	uint64_t time_ns, addr;
	uint32_t depth, is_exit;
};

static inline struct record record_at(const uint8_t *p, bool is_big)
{
	uint64_t word = ftr_get_u64(p + 8, is_big);

	return (struct record){
		.time_ns = ftr_get_u64(p, is_big),
		.addr = ftr_record_addr(word),
		.depth = ftr_record_depth(word),
		.is_exit = (uint32_t)word & 1,
	};
}

static inline bool record_is_plain(const uint8_t *p, bool is_big)
{
	const uint64_t mask = FTR_RECORD_MAGIC_MASK | FTR_RECORD_MORE | 2;	/* 2: LOST, EVENT */

	return (ftr_get_u64(p + 8, is_big) & mask) == FTR_RECORD_MAGIC;
}

/* The place in slots[] of a sum, or a free one, which has 0.  By func, parent is always 0. */
static inline size_t slot_find(const struct ftr_run_sum *sums, const uint16_t *slots,
			       uint32_t parent, uint64_t addr, bool by_callers)
{
	uint64_t hash = (addr ^ (uint64_t)parent << KEY_SHIFT) * FTR_HASH_FACTOR;
	size_t at = ftr_high_bits(hash, SLOT_BITS);

	while (__builtin_expect((sums[slots[at]].addr != addr) |
				(by_callers & (sums[slots[at]].parent != parent)), 0)) {
		if (slots[at] == 0)
			break;
		at = (at + 1) % SLOTS;
	}
	return at;
}

/* Entries and exits alike: a branch between them would be mispredicted. */
static inline void sum_count(struct ftr_run_sum *sum, struct ftr_run_open *frame, uint64_t time_ns,
			     uint32_t is_exit)
{
	uint64_t mask = 0 - (uint64_t)is_exit;
	uint64_t total_ns = (time_ns - frame->start_ns) & mask;

	sum->open_nr += 1 - 2 * is_exit;
	sum->calls += is_exit;
	sum->total_ns += total_ns;
	sum->nested_ns += total_ns & (0 - (uint64_t)(sum->open_nr != 0));
	sum->self_ns += total_ns - (frame->child_ns & mask);
	frame[-1].child_ns += total_ns;
	frame->start_ns = time_ns;
	frame->child_ns = 0;
}

/*
 * Why the record at @p is no part of the run yet.  @open_nr calls of the run are open; where the
 * record is a call it found @sum, 0 = none.
 */
static enum stop stop_why(const struct maker *self, const uint8_t *p, uint64_t last_ns,
			  size_t open_nr, uint32_t sum)
{
	struct record record = record_at(p, self->is_big);

	if (!record_is_plain(p, self->is_big) || record.time_ns - last_ns > UFT_JUMP_NS)
		return STOP_OTHER;
	if (record.is_exit)
		return open_nr == 0 ? STOP_BASE : STOP_OTHER;
	if (record.depth != self->base_depth + open_nr && record.depth != FTR_RECORD_DEPTH_MAX)
		return STOP_OTHER;
	return sum == 0 ? STOP_SUM : STOP_OTHER;
}

/*
 * Calls up to @end, where there is room on the stack, or what stops them.  An exit without an entry
 * finds what stands for none, frames[0], whose sum is never that of a call.
 */
static inline enum stop block_make(struct maker *self, const uint8_t *end, bool is_big,
				   bool by_callers)
{
	struct ftr_run_open *frames = self->chunk->frames.v + 1;
	const uint16_t *slots = self->chunk->slots;
	struct ftr_run_sum *sums = self->sums;
	uint64_t last_ns = self->last_ns;
	size_t open_nr = self->open_nr, base_depth = self->base_depth, slot = 0;
	const uint8_t *p = self->p;
	uint32_t sum = 0;

	for (; p < end; p += UFT_RECORD_BYTES) {
		struct record record = record_at(p, is_big);
		size_t above_nr = open_nr - record.is_exit;
		struct ftr_run_open *frame = &frames[(ptrdiff_t)above_nr + 1];

		if (__builtin_expect(!record_is_plain(p, is_big) |
				     (record.time_ns - last_ns > UFT_JUMP_NS), 0))
			break;
		slot = slot_find(sums, slots, by_callers ? frame[-1].sum : 0, record.addr,
				 by_callers);
		sum = slots[slot];
		if (__builtin_expect((sum == 0) | (record.is_exit & (frame->sum != sum)) |
				     ((record.depth != base_depth + above_nr) &
				      (record.depth != FTR_RECORD_DEPTH_MAX)), 0))
			break;
		sum_count(&sums[sum], frame, record.time_ns, record.is_exit);
		frame->sum = sum;
		open_nr = above_nr + 1 - record.is_exit;
		last_ns = record.time_ns;
	}
	self->p = p;
	self->open_nr = open_nr;
	self->last_ns = last_ns;
	self->slot = slot;
	return p < end ? stop_why(self, p, last_ns, open_nr, sum) : STOP_END;
}

static enum stop block_make_any(struct maker *self, const uint8_t *end)
{
	bool by_callers = self->chunk->kind == FTR_RUN_BY_CALLERS;

	if (self->is_big)
		return block_make(self, end, true, by_callers);
	return by_callers ? block_make(self, end, false, true) :
			    block_make(self, end, false, false);
}

/* A new sum; its index, or -ENOMEM.  Moves self->sums. */
static int sum_add(struct maker *self, uint32_t parent, uint64_t addr, uint64_t first_ns)
{
	struct uft_chunk *chunk = self->chunk;
	size_t at = chunk->sums.nr - self->sum_nr;
	struct ftr_run_sum sum = { .addr = addr, .parent = parent, .first_ns = first_ns };

	if (ftr_vec_push(&chunk->sums, sum) < 0)
		return -ENOMEM;
	self->sums = chunk->sums.v + at;
	return (int)self->sum_nr++;
}

/* A sum for the record at p, in the free slot that was found. */
static enum stop sum_make(struct maker *self)
{
	struct record record = record_at(self->p, self->is_big);
	bool by_callers = self->chunk->kind == FTR_RUN_BY_CALLERS;
	uint32_t parent = by_callers ? self->chunk->frames.v[self->open_nr + 1].sum : 0;
	int sum;

	if (self->sum_nr >= SUMS_MAX)
		return STOP_FULL;
	sum = sum_add(self, parent, record.addr, record.time_ns);
	if (sum < 0)
		self->chunk->is_out_of_memory = true;
	else
		self->chunk->slots[self->slot] = (uint16_t)sum;
	return sum < 0 ? STOP_OTHER : STOP_END;
}

/* The sum of a call that ends, by func: a call may be the first that is seen of its function. */
static int end_sum(struct maker *self, const struct record *record)
{
	self->slot = slot_find(self->sums, self->chunk->slots, 0, record->addr, false);
	if (self->chunk->slots[self->slot] != 0)
		return self->chunk->slots[self->slot];
	return sum_make(self) == STOP_END ? (int)self->sum_nr - 1 : -1;
}

/* A call ends that began before the run. */
static enum stop base_make(struct maker *self)
{
	struct record record = record_at(self->p, self->is_big);
	struct ftr_run_open *base = self->chunk->frames.v + 1;
	bool by_callers = self->chunk->kind == FTR_RUN_BY_CALLERS;
	struct ftr_run_end end = { .time_ns = record.time_ns, .child_ns = base->child_ns,
				   .addr = record.addr };
	int sum;

	if (self->base_depth == 0 || (record.depth != self->base_depth - 1 &&
				      record.depth != FTR_RECORD_DEPTH_MAX))
		return STOP_OTHER;
	if (self->sum_nr >= SUMS_MAX)
		return STOP_FULL;
	sum = by_callers ? sum_add(self, 0, FTR_RUN_BASE, record.time_ns) : end_sum(self, &record);
	if (sum < 0) {
		self->chunk->is_out_of_memory = true;
		return STOP_OTHER;
	}
	if (by_callers) {
		end.base = base->sum = (uint32_t)sum;
	} else {
		end.sum = (uint32_t)sum;
		end.outer_ns = self->sums[sum].total_ns - self->sums[sum].nested_ns;
	}
	if (ftr_vec_push(&self->chunk->ends, end) < 0) {
		self->chunk->is_out_of_memory = true;
		return STOP_OTHER;
	}
	base->child_ns = 0;
	self->base_depth--;
	self->last_ns = record.time_ns;
	self->p += UFT_RECORD_BYTES;
	return STOP_END;
}

/* How many of @nr records from p on are before the limit, if their times ascend. */
static size_t records_before(const struct maker *self, size_t nr)
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

/* One block, and what stopped it. */
static enum stop records_make(struct maker *self)
{
	size_t left = (size_t)(self->end - self->p) / UFT_RECORD_BYTES;
	size_t nr = left < BLOCK ? left : BLOCK, before = records_before(self, nr);
	const uint8_t *end = self->p + before * UFT_RECORD_BYTES;
	enum stop stop = STOP_END;

	if (ftr_vec_reserve(&self->chunk->frames, self->open_nr + BLOCK + 3) < 0) {
		self->chunk->is_out_of_memory = true;
		return STOP_OTHER;
	}
	while (self->p < end && stop == STOP_END) {
		stop = block_make_any(self, end);
		if (stop == STOP_SUM)
			stop = sum_make(self);
		else if (stop == STOP_BASE)
			stop = base_make(self);
	}
	return stop == STOP_END && before < nr ? STOP_LIMIT : stop;
}

/* When something comes, behind @time_ns, that is no record: a side event, a change of the map. */
static uint64_t limit_behind(const struct uft_task *data, uint64_t time_ns)
{
	const struct ftr_task *task = data->task;
	uint64_t limit_ns = UINT64_MAX, next_ns = UINT64_MAX;
	const struct ftr_session *session = NULL;
	size_t low = 0, high = data->side.nr;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (data->side.v[mid].time_ns <= time_ns)
			low = mid + 1;
		else
			high = mid;
	}
	if (low < data->side.nr)
		limit_ns = data->side.v[low].time_ns;
	for (uint32_t i = 0; i < task->session_nr; i++) {
		if (i > 0 && task->sessions[i]->start_ns > time_ns) {
			next_ns = task->sessions[i]->start_ns;
			break;
		}
		session = task->sessions[i];
	}
	limit_ns = next_ns < limit_ns ? next_ns : limit_ns;
	if (session != NULL)
		ftr_session_epoch(session, time_ns, &next_ns);
	return next_ns < limit_ns ? next_ns : limit_ns;
}

/* An empty run at p.  False where none can begin there. */
static bool run_begin(struct maker *self, struct uft_run *run)
{
	struct uft_chunk *chunk = self->chunk;
	struct record record;

	if ((size_t)(self->end - self->p) < UFT_RECORD_BYTES ||
	    !record_is_plain(self->p, self->is_big))
		return false;
	record = record_at(self->p, self->is_big);
	if (record.depth == FTR_RECORD_DEPTH_MAX)
		return false;
	self->last_ns = record.time_ns;
	self->limit_ns = limit_behind(self->task, record.time_ns);
	self->base_depth = record.depth + record.is_exit;
	self->open_nr = self->sum_nr = 0;
	memset(chunk->slots, 0, SLOTS * sizeof(*chunk->slots));
	chunk->frames.v[0] = chunk->frames.v[1] = (struct ftr_run_open){ 0 };
	*run = (struct uft_run){
		.from = (size_t)(self->p - self->task->in.data),
		.limit_ns = self->limit_ns,
		.first_ns = record.time_ns,
		.base_depth = self->base_depth,
		.sum_at = chunk->sums.nr,
		.end_at = chunk->ends.nr,
		.open_at = chunk->opens.nr,
	};
	return sum_add(self, 0, FTR_RUN_BASE, record.time_ns) == 0;
}

static int run_end(struct maker *self, struct uft_run *run)
{
	struct uft_chunk *chunk = self->chunk;

	run->to = (size_t)(self->p - self->task->in.data);
	run->last_ns = self->last_ns;
	run->outside_ns = chunk->frames.v[1].child_ns;
	run->sum_nr = self->sum_nr;
	run->end_nr = chunk->ends.nr - run->end_at;
	run->open_nr = self->open_nr;
	if (ftr_vec_reserve(&chunk->opens, chunk->opens.nr + self->open_nr) < 0)
		return -ENOMEM;
	for (size_t i = 1; i <= self->open_nr; i++)
		chunk->opens.v[chunk->opens.nr++] = chunk->frames.v[i + 1];
	/* Behind the limit: the times did not ascend. */
	if (run->to == run->from || run->last_ns >= run->limit_ns)
		return 0;
	return ftr_vec_push(&chunk->runs, *run);
}

/* Step over records that are no calls and have no payload: a run may begin behind them. */
static void others_pass(struct maker *self)
{
	for (; (size_t)(self->end - self->p) >= UFT_RECORD_BYTES; self->p += UFT_RECORD_BYTES) {
		uint64_t word = ftr_get_u64(self->p + 8, self->is_big);

		if (!ftr_record_is_valid(word) || ftr_record_has_payload(word) ||
		    ftr_record_type(word) <= FTR_RECORD_EXIT)
			break;
	}
}

static bool chunk_begin(struct uft_chunk *chunk)
{
	chunk->runs.nr = chunk->sums.nr = chunk->ends.nr = chunk->opens.nr = 0;
	if (chunk->slots == NULL)
		chunk->slots = malloc(SLOTS * sizeof(*chunk->slots));
	chunk->is_out_of_memory = chunk->slots == NULL ||
				  ftr_vec_reserve(&chunk->frames, BLOCK + 3) < 0;
	return !chunk->is_out_of_memory;
}

void uft_chunk_make(struct uft_chunk *chunk, const struct uft_task *task, bool is_big, size_t from,
		    size_t to)
{
	struct maker self = { .chunk = chunk, .task = task, .p = task->in.data + from,
			      .end = task->in.data + to, .is_big = is_big };
	const uint8_t *begin;
	struct uft_pins pins = { .packed = task->packed };
	struct uft_run run;
	enum stop stop;

	chunk->from = from;
	chunk->to = to;
	if (!chunk_begin(chunk))
		return;
	if (uft_pins_need(&pins, from, to) < 0)
		chunk->is_out_of_memory = true;
	others_pass(&self);
	do {
		const uint8_t *done;

		begin = self.p;
		if (!run_begin(&self, &run))
			break;
		do
			stop = records_make(&self);
		while (stop == STOP_END && (size_t)(self.end - self.p) >= UFT_RECORD_BYTES);
		if (run_end(&self, &run) < 0)
			chunk->is_out_of_memory = true;
		done = self.p;
		others_pass(&self);
		if (stop == STOP_OTHER && self.p == done)
			break;
	} while (!chunk->is_out_of_memory && self.p > begin);
	uft_pins_release(&pins);
	uft_window_forget(&task->in, from, (size_t)(self.p - task->in.data));
}

void uft_chunk_fini(struct uft_chunk *chunk)
{
	ftr_vec_fini(&chunk->runs);
	ftr_vec_fini(&chunk->sums);
	ftr_vec_fini(&chunk->ends);
	ftr_vec_fini(&chunk->opens);
	ftr_vec_fini(&chunk->frames);
	free(chunk->slots);
	chunk->slots = NULL;
}
