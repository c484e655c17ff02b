/* SPDX-License-Identifier: MIT */
/* The producer's slow path: no ring yet, or no room in it.  See utils/proto/ring.h. */
#include "libmcount/clock.h"
#include "libmcount/hook.h"
#include "libmcount/state.h"

#define RECORD_BYTES ((uint64_t)sizeof(struct ftr_record))
#define TICKS_PER_MS_GUESS 3000000u

void ftr_ring_update_limit(struct ftr_producer *producer)
{
	uint64_t tail = atomic_load_explicit(&producer->header->tail, memory_order_acquire);

	producer->room = tail + producer->mask + 1;
	if (ftr_state.control->on_full == FTR_ON_FULL_OVERWRITE)
		producer->room = UINT64_MAX;
	producer->limit = ftr_clock_is_slow() ? 0 : producer->room;
}

/* Take over the room the recorder has made.  True when @pos is inside it. */
static bool room_for(struct ftr_producer *producer, uint64_t pos)
{
	ftr_ring_update_limit(producer);
	return pos < producer->room;
}

/*
 * Ticks also where the clock of records is another; the counter clock must not be moved by waiting.
 */
static uint64_t wait_ticks(void)
{
	return ftr_self.stopped_tick != 0 ? ftr_clock_slow() : ftr_arch_ticks();
}

/*
 * The recorder waits at a slot that was reserved and never filled: a handler interrupted the hook
 * there, and jumped away or is still running.  That we wait a ring's size ahead of it tells it to
 * pass on.
 */
static void tell_waiting(struct ftr_producer *producer, uint64_t pos)
{
	atomic_store_explicit(&producer->header->head, pos, memory_order_release);
}

/* Until there is room, the recorder is gone, or wait_ms have passed. */
static bool room_wait(struct ftr_producer *producer, uint64_t pos)
{
	uint64_t per_ms = ftr_state.control->ticks_per_ms;
	uint64_t until = (per_ms != 0 ? per_ms : TICKS_PER_MS_GUESS) * ftr_state.control->wait_ms;
	uint64_t start = wait_ticks();

	while (!room_for(producer, pos)) {
		uint64_t tail = producer->room - producer->mask - 1;

		tell_waiting(producer, pos);
		if (ftr_recorder_is_gone() || producer->hopeless == tail + 1)
			return false;
		if (wait_ticks() - start > until) {
			producer->hopeless = tail + 1;
			return false;
		}
		ftr_arch_relax();
	}
	return true;
}

static void record_write(struct ftr_record *record, uint64_t time, enum ftr_record_type type,
			 uint64_t addr)
{
	record->time = time;
	__atomic_store_n(&record->word, ftr_record_word(type, 0, addr), __ATOMIC_RELEASE);
}

/* Give @pos back; when a signal handler has reserved behind it, there must be room for both. */
static bool position_return(struct ftr_producer *producer, uint64_t pos)
{
	return ftr_arch_local_cas(&producer->head, pos + RECORD_BYTES, pos);
}

/* The next position; none of its slow path's own records is worth waiting for again. */
static bool position_next(struct ftr_producer *producer, uint64_t *pos)
{
	*pos = ftr_arch_local_add(&producer->head, RECORD_BYTES);
	while (*pos >= producer->room && !room_for(producer, *pos)) {
		tell_waiting(producer, *pos);
		if (ftr_recorder_is_gone())
			return false;
		ftr_arch_relax();
	}
	return true;
}

static void count_lost(struct ftr_producer *producer)
{
	producer->lost++;
	atomic_fetch_add_explicit(&producer->header->lost, 1, memory_order_relaxed);
}

/* Drop the record at @pos unless room appears meanwhile. */
static bool drop(struct ftr_producer *producer, uint64_t pos)
{
	while (!room_for(producer, pos)) {
		tell_waiting(producer, pos);
		if (position_return(producer, pos) || ftr_recorder_is_gone()) {
			count_lost(producer);
			return true;
		}
	}
	return false;
}

/* There is room at *@pos: if records were dropped before it, that is told first. */
static bool tell_lost(struct ftr_producer *producer, uint64_t *pos)
{
	uint64_t lost = producer->lost;

	if (lost == 0)
		return true;
	producer->lost = 0;
	record_write(ftr_producer_record(producer, *pos), 0, FTR_RECORD_LOST, lost);
	return position_next(producer, pos);
}

static bool wait_and_tell(struct ftr_thread *self, uint64_t *pos, uint64_t *time)
{
	struct ftr_producer *producer = self->producer;
	uint64_t since = *time;

	if (!room_wait(producer, *pos)) {
		if (ftr_recorder_is_gone())
			return false;
		if (drop(producer, *pos))	/* waited long enough: lost, and counted */
			return false;
	}
	atomic_fetch_add_explicit(&producer->header->stalls, 1, memory_order_relaxed);
	record_write(ftr_producer_record(producer, *pos), since, FTR_RECORD_EVENT,
		     FTR_RECORD_EVENT_STALL_BEGIN);
	if (!position_next(producer, pos))
		return false;
	*time = ftr_clock_read();
	record_write(ftr_producer_record(producer, *pos), *time, FTR_RECORD_EVENT,
		     FTR_RECORD_EVENT_STALL_END);
	return position_next(producer, pos);
}

static bool position_secure(struct ftr_thread *self, uint64_t *pos, uint64_t *time)
{
	struct ftr_producer *producer = self->producer;

	if (!room_for(producer, *pos)) {
		if (ftr_state.control->on_full == FTR_ON_FULL_DROP) {
			if (drop(producer, *pos))
				return false;
		} else if (!wait_and_tell(self, pos, time)) {
			return false;
		}
	}
	return tell_lost(producer, pos);
}

static void recorder_lost(struct ftr_thread *self)
{
	atomic_store_explicit(&ftr_state.arming, FTR_DISARMED, memory_order_relaxed);
	ftr_thread_disarm(self);
}

__attribute__((noinline, cold))
void ftr_ring_put_slow(struct ftr_thread *self, uint64_t pos, uint64_t word)
{
	struct ftr_producer *producer = self->producer;
	struct ftr_record *record;
	uint64_t time;

	if (self->is_refused)
		return;
	/*
	 * A forked child's first record: @pos was reserved in the new ring, whose head began at 0.
	 */
	if (producer->header == NULL && !ftr_thread_attach(self))
		return;
	if (pos >= producer->head) /* the parent's: forked in a handler that interrupted the hook */
		pos = ftr_arch_local_add(&producer->head, RECORD_BYTES);
	time = ftr_clock_read();
	if (pos >= producer->room && !position_secure(self, &pos, &time)) {
		if (ftr_recorder_is_gone())
			recorder_lost(self);
		return;
	}
	record = ftr_producer_record(producer, pos);
	record->time = time;
	__atomic_store_n(&record->word, word, __ATOMIC_RELEASE);
}
