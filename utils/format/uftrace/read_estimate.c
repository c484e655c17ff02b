/* SPDX-License-Identifier: MIT */
/*
 * Returns that uftrace estimated (--estimate-return) half-way between a call and the next record.
 * While its task waits for a CPU no call can return: the end goes behind that, half-way to what
 * comes next.
 */
#include "utils/base/bytes.h"
#include "utils/format/uftrace/read.h"
#include "utils/proto/record.h"
#include "utils/trace/event_kind.h"

#define RECORD_BYTES sizeof(struct ftr_record)

/* When the task that leaves its CPU at @side_pos gets one again; 0 = never. */
static uint64_t back_ns(const struct uft_task *task, size_t side_pos)
{
	for (size_t i = side_pos + 1; i < task->side.nr; i++) {
		if (task->side.v[i].kind == FTR_EVENT_ID_SCHED_IN - UFT_SIDE_POINT_BASE)
			return task->side.v[i].time_ns;
	}
	return 0;
}

void uft_estimate_side(struct uft_estimate *self, const struct uft_task *task, size_t side_pos)
{
	uint8_t kind = task->side.v[side_pos].kind;

	if (!self->is_on || kind >= UFT_SIDE_LOST ||
	    !ftr_event_id_is_sched_out((uint64_t)kind + UFT_SIDE_POINT_BASE))
		return;
	self->back_ns = back_ns(task, side_pos);
	self->exit_ns = 0;
}

static bool is_plain(uint64_t word)
{
	return (word & FTR_RECORD_MAGIC_MASK) == FTR_RECORD_MAGIC && !(word & FTR_RECORD_MORE);
}

const uint8_t *uft_estimate_reach(const uint8_t *p, const uint8_t *end, bool is_big)
{
	for (; (size_t)(end - p) >= RECORD_BYTES; p += RECORD_BYTES) {
		uint64_t word = ftr_get_u64(p + 8, is_big);

		if (!is_plain(word) || ftr_record_type(word) != FTR_RECORD_EXIT)
			return p;
	}
	return end;
}

/* The time of the first record from @p on that is no EXIT; 0 = there is none. */
static uint64_t next_ns(const uint8_t *p, const uint8_t *end, bool is_big)
{
	p = uft_estimate_reach(p, end, is_big);
	return p != end && is_plain(ftr_get_u64(p + 8, is_big)) ? ftr_get_u64(p, is_big) : 0;
}

uint64_t uft_estimate_time(struct uft_estimate *self, const uint8_t *p, const uint8_t *end,
			   bool is_big)
{
	uint64_t time_ns = ftr_get_u64(p, is_big);
	uint64_t after_ns;

	if (time_ns >= self->back_ns ||
	    ftr_record_type(ftr_get_u64(p + 8, is_big)) != FTR_RECORD_EXIT)
		return time_ns;
	if (self->exit_ns == 0) {
		after_ns = next_ns(p, end, is_big);
		self->exit_ns = self->back_ns;
		if (after_ns > self->back_ns)
			self->exit_ns += (after_ns - self->back_ns) / 2;
	}
	return self->exit_ns;
}
