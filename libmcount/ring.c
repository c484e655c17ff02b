/* SPDX-License-Identifier: MIT */
/*
 * The producer's end of a ring beyond the hook's fast path: records with a payload, and what to do
 * when there is no ring yet, or no room in it.  See utils/proto/ring.h.
 */
#include <time.h>

#include "libmcount/channel.h"
#include "libmcount/clock.h"
#include "libmcount/hook.h"
#include "libmcount/nursery.h"
#include "libmcount/seccomp.h"
#include "libmcount/state.h"
#include "utils/proto/own_call.h"

#define UNIT_BYTES ((uint64_t)sizeof(struct ftr_record))
#define TICKS_PER_MS_GUESS 3000000u
#define LOOKS 200u			/* a few microseconds */
#define PAUSE_NS 50000
#define PAUSE_RING_BYTES (256u << 10)	/* a smaller ring may be empty before a pause is over */

/* A record on its way into the ring. */
struct put {
	uint64_t pos;			/* of the extent that is reserved for it */
	uint64_t ring_bytes;		/* ... and its size */
	uint64_t time;
	uint64_t word;
	const uint8_t *payload;
	uint32_t payload_bytes;
	const struct ftr_dated_record *dated; /* (nullable) its time is not now */
};

void ftr_ring_update_limit(struct ftr_producer *producer)
{
	uint64_t tail = atomic_load_explicit(&producer->header->tail, memory_order_acquire);

	producer->room = tail + producer->mask + 1;
	if (ftr_state.control->on_full == FTR_ON_FULL_OVERWRITE)
		producer->room = UINT64_MAX;
	producer->limit = ftr_clock_is_slow() ? 0 : producer->room;
}

static bool has_room(const struct ftr_producer *producer, const struct put *put)
{
	return put->pos + put->ring_bytes <= producer->room;
}

/* The same after a look at how far the recorder has come. */
static bool has_room_now(struct ftr_producer *producer, const struct put *put)
{
	ftr_ring_update_limit(producer);
	return has_room(producer, put);
}

/*
 * The recorder may have stopped at a unit that was reserved and never filled: a handler
 * interrupted the hook there, and jumped away or is still running.  That this thread waits for the
 * unit a ring's size ahead of it tells the recorder to pass over it.
 */
static void wait_announce(struct ftr_producer *producer, const struct put *put)
{
	atomic_store_explicit(&producer->header->head, put->pos + put->ring_bytes - UNIT_BYTES,
			      memory_order_release);
}

/*
 * The recorder is behind by more than a moment: it may want this very processor.  Where the ring is
 * small, or a filter forbids to sleep, the thread keeps looking.
 */
static void look_pause(const struct ftr_producer *producer, unsigned *looks)
{
	static const struct timespec time = { .tv_nsec = PAUSE_NS };

	if ((*looks)++ < LOOKS || producer->mask < PAUSE_RING_BYTES - 1 || ftr_is_silent() ||
	    ftr_is_blocked(FTR_SECCOMP_WAIT))
		ftr_arch_relax();
	else
		ftr_sys6(SYS_nanosleep, &time, NULL, 0, 0, 0, FTR_OWN_CALL);
}

/* Until there is room, the recorder is gone, or wait_ms have passed. */
static bool room_wait(struct ftr_producer *producer, const struct put *put)
{
	uint64_t per_ms = ftr_state.control->ticks_per_ms;
	uint64_t until = (per_ms != 0 ? per_ms : TICKS_PER_MS_GUESS) * ftr_state.control->wait_ms;
	uint64_t start = ftr_clock_ticks();
	unsigned looks = 0;

	while (!has_room_now(producer, put)) {
		uint64_t tail = producer->room - producer->mask - 1;

		wait_announce(producer, put);
		if (ftr_recorder_is_gone() || producer->hopeless == tail + 1)
			return false;
		if (ftr_clock_ticks() - start > until) {
			producer->hopeless = tail + 1;
			return false;
		}
		look_pause(producer, &looks);
	}
	return true;
}

/*
 * A record or a payload unit.  Its address is worked out anew for each unit: after a fork in a
 * handler all of them lead to the child's own page (see ftr_producer_record).
 */
static void unit_write(struct ftr_producer *producer, uint64_t pos, uint64_t time, uint64_t word)
{
	struct ftr_record *unit = ftr_producer_record(producer, pos);

	unit->time = time;
	__atomic_store_n(&unit->word, word, __ATOMIC_RELEASE);
}

/*
 * When the ring is overwritten, an old record may still be committed here, and would get our
 * payload units.
 */
static void old_record_void(struct ftr_producer *producer, uint64_t pos)
{
	uint64_t *word = &ftr_producer_record(producer, pos)->word;

	if (__atomic_load_n(word, __ATOMIC_RELAXED) != 0)
		__atomic_store_n(word, FTR_PAYLOAD_TAG, __ATOMIC_RELEASE);
}

static void record_write(struct ftr_producer *producer, const struct put *put)
{
	uint64_t pos = put->pos;
	uint32_t at;

	if (put->payload_bytes != 0)
		old_record_void(producer, pos);
	for (at = 0; at < put->payload_bytes; at += FTR_PAYLOAD_UNIT_BYTES) {
		struct ftr_record unit = ftr_payload_pack(put->payload + at,
							  put->payload_bytes - at);

		pos += UNIT_BYTES;
		unit_write(producer, pos, unit.time, unit.word);
	}
	unit_write(producer, put->pos, put->time, put->word);
}

/*
 * Use the extent of @put for a record of the runtime's own.  The rest of the extent becomes payload
 * units that belong to no record, which the recorder passes over.
 */
static void extent_use(struct ftr_producer *producer, const struct put *put, uint64_t time,
		       enum ftr_record_type type, uint64_t addr)
{
	uint64_t rest;

	for (rest = UNIT_BYTES; rest < put->ring_bytes; rest += UNIT_BYTES)
		unit_write(producer, put->pos + rest, 0, FTR_PAYLOAD_TAG);
	unit_write(producer, put->pos, time, ftr_record_word(type, 0, addr));
}

/* Nothing comes here: payload units that belong to no record. */
static void extent_void(struct ftr_producer *producer, const struct put *put)
{
	uint64_t at;

	for (at = 0; at < put->ring_bytes; at += UNIT_BYTES)
		unit_write(producer, put->pos + at, 0, FTR_PAYLOAD_TAG);
}

/* There is room for @put: write it, unless it is claimed and was put by a handler meanwhile. */
static void commit(struct ftr_producer *producer, const struct put *put)
{
	const struct ftr_dated_record *dated = put->dated;

	if (dated != NULL && dated->claim != NULL &&
	    !ftr_arch_local_cas(dated->claim, dated->claim_from, dated->claim_to))
		extent_void(producer, put);
	else
		record_write(producer, put);
}

/* Give the extent back; not possible when a handler has reserved behind it. */
static bool extent_return(struct ftr_producer *producer, const struct put *put)
{
	return ftr_arch_local_cas(&producer->head, put->pos + put->ring_bytes, put->pos);
}

/* Another extent for @put, whose first was used; the wait for it is not reported again. */
static bool extent_next(struct ftr_producer *producer, struct put *put)
{
	unsigned looks = 0;

	put->pos = ftr_arch_local_add(&producer->head, put->ring_bytes);
	while (!has_room(producer, put) && !has_room_now(producer, put)) {
		wait_announce(producer, put);
		if (ftr_recorder_is_gone())
			return false;
		look_pause(producer, &looks);
	}
	return true;
}

static void lost_count(struct ftr_producer *producer)
{
	struct ftr_ring_header *header = producer->header;

	if (header == NULL)	/* a forked child's, before its first record */
		return;
	atomic_fetch_add_explicit(&header->lost, 1, memory_order_relaxed); /* >= what LOST says */
	producer->lost++;
}

/* Drop the record unless room appears meanwhile. */
static bool drop(struct ftr_producer *producer, const struct put *put)
{
	while (!has_room_now(producer, put)) {
		wait_announce(producer, put);
		if (extent_return(producer, put) || ftr_recorder_is_gone()) {
			lost_count(producer);
			return true;
		}
	}
	return false;
}

/* There is room for @put: records that were dropped before it are reported first. */
static bool lost_report(struct ftr_producer *producer, struct put *put)
{
	uint64_t lost = producer->lost;

	if (lost == 0)
		return true;
	producer->lost = 0;
	extent_use(producer, put, 0, FTR_RECORD_LOST, lost);
	return extent_next(producer, put);
}

static bool wait_and_report(struct ftr_producer *producer, struct put *put)
{
	uint64_t since = put->dated != NULL ? ftr_clock_read() : put->time;

	if (!room_wait(producer, put)) {
		if (ftr_recorder_is_gone())
			return false;
		if (drop(producer, put))	/* waited long enough: lost, and counted */
			return false;
	}
	atomic_fetch_add_explicit(&producer->header->stalls, 1, memory_order_relaxed);
	if (put->dated != NULL) {
		if (producer->stalled == 0)
			producer->stalled = since;
		return true;
	}
	extent_use(producer, put, since, FTR_RECORD_EVENT, FTR_RECORD_EVENT_STALL_BEGIN);
	if (!extent_next(producer, put))
		return false;
	put->time = ftr_clock_read();
	extent_use(producer, put, put->time, FTR_RECORD_EVENT, FTR_RECORD_EVENT_STALL_END);
	return extent_next(producer, put);
}

static bool extent_secure(struct ftr_thread *self, struct put *put)
{
	struct ftr_producer *producer = self->producer;

	if (!has_room_now(producer, put) && ftr_nursery_leave(self, put->pos))
		put->pos = ftr_arch_local_add(&producer->head, put->ring_bytes);
	if (self->is_refused)
		return false;
	if (!has_room_now(producer, put)) {
		if (ftr_state.control->on_full == FTR_ON_FULL_DROP) {
			if (drop(producer, put))
				return false;
		} else if (!wait_and_report(producer, put)) {
			return false;
		}
	}
	return lost_report(producer, put);
}

static void recorder_lost(struct ftr_thread *self)
{
	atomic_store_explicit(&ftr_state.arming, FTR_DISARMED, memory_order_relaxed);
	ftr_thread_disarm(self);
}

static __attribute__((noinline, cold)) void put_slow(struct ftr_thread *self, struct put *put)
{
	struct ftr_producer *producer = self->producer;

	if (self->is_refused)
		return;
	/*
	 * A forked child's first record: the extent was reserved in the new ring, whose head began
	 * at 0.
	 */
	if (producer->header == NULL && !ftr_thread_attach(self))
		return;
	/* The parent's extent: forked in a handler that interrupted the hook. */
	if (put->pos >= producer->head)
		put->pos = ftr_arch_local_add(&producer->head, put->ring_bytes);
	if (put->dated == NULL)
		put->time = ftr_clock_read();
	if (!has_room(producer, put) && !extent_secure(self, put)) {
		if (ftr_recorder_is_gone())
			recorder_lost(self);
		return;
	}
	commit(producer, put);
}

void ftr_ring_put_slow(struct ftr_thread *self, uint64_t pos, uint64_t word)
{
	struct put put = { .pos = pos, .ring_bytes = UNIT_BYTES, .word = word };

	put_slow(self, &put);
}

/* Attached, neither paused nor disarmed? */
bool ftr_record_is_wanted(struct ftr_thread *self)
{
	if (self->frames == NULL && !self->is_refused &&
	    atomic_load_explicit(&ftr_state.arming, memory_order_relaxed) == FTR_ARMED)
		ftr_thread_attach(self);
	return self->producer != NULL &&
	       (self->frames_end != self->frames || self->estimate_end != NULL ||
		self->gate_end != NULL || self->stacks_end != NULL);
}

void ftr_record_put(struct ftr_thread *self, uint64_t word, const void *payload, uint32_t bytes)
{
	if (ftr_record_is_wanted(self))
		ftr_record_put_wanted(self, word, payload, bytes);
}

void ftr_record_put_wanted(struct ftr_thread *self, uint64_t word, const void *payload,
			   uint32_t bytes)
{
	struct put put = { .word = word, .payload = payload, .payload_bytes = bytes };
	struct ftr_producer *producer = self->producer;

	if (unlikely(bytes > FTR_PAYLOAD_MAX)) {
		lost_count(producer);
		return;
	}
	if (bytes != 0)
		put.word |= FTR_RECORD_MORE;
	put.ring_bytes = ftr_record_ring_bytes(bytes);
	put.pos = ftr_arch_local_add(&producer->head, put.ring_bytes);
	if (unlikely(put.pos + put.ring_bytes > producer->limit)) {
		put_slow(self, &put);
		return;
	}
	put.time = ftr_arch_ticks();
	record_write(producer, &put);
}

void ftr_record_put_unit(struct ftr_thread *self, uint64_t word, struct ftr_record unit)
{
	struct ftr_producer *producer = self->producer;
	uint64_t pos = ftr_arch_local_add(&producer->head, 2 * UNIT_BYTES);
	uint8_t bytes[FTR_PAYLOAD_UNIT_BYTES];
	struct put put;

	word |= FTR_RECORD_MORE;
	if (likely(pos + 2 * UNIT_BYTES <= producer->limit)) {
		old_record_void(producer, pos);
		unit_write(producer, pos + UNIT_BYTES, unit.time, unit.word);
		unit_write(producer, pos, ftr_arch_ticks(), word);
		return;
	}
	ftr_payload_unpack(unit, bytes);
	put = (struct put){
		.pos = pos,
		.ring_bytes = 2 * UNIT_BYTES,
		.word = word,
		.payload = bytes,
		.payload_bytes = ftr_payload_last(unit.word),
	};
	put_slow(self, &put);
}

void ftr_record_put_dated(struct ftr_thread *self, const struct ftr_dated_record *record)
{
	struct ftr_producer *producer = self->producer;
	struct put put = {
		.ring_bytes = ftr_record_ring_bytes(record->payload_bytes),
		.time = record->time,
		.word = record->word,
		.payload = record->payload,
		.payload_bytes = record->payload_bytes,
		.dated = record,
	};

	if (record->payload_bytes != 0)
		put.word |= FTR_RECORD_MORE;
	put.pos = ftr_arch_local_add(&producer->head, put.ring_bytes);
	if (unlikely(put.pos + put.ring_bytes > producer->limit))
		put_slow(self, &put);
	else
		commit(producer, &put);
}

void ftr_stall_report(struct ftr_thread *self)
{
	struct ftr_dated_record begin = {
		.time = self->producer->stalled,
		.word = ftr_record_word(FTR_RECORD_EVENT, 0, FTR_RECORD_EVENT_STALL_BEGIN),
	};

	if (likely(begin.time == 0))
		return;
	self->producer->stalled = 0;
	ftr_record_put_dated(self, &begin);
	ftr_record_put(self, ftr_record_word(FTR_RECORD_EVENT, 0, FTR_RECORD_EVENT_STALL_END), NULL,
		       0);
}

/* The 8 bytes at @shift bits of @words. */
static inline uint64_t word_in(const uint64_t *words, uint32_t shift)
{
	return words[0] >> shift | words[1] << 1 << (63 - shift);
}

/*
 * Of @bytes of @words the unit @nth, which the compiler knows, and so what is shifted by.  True: it
 * was the last.
 */
static inline __attribute__((always_inline)) bool words_unit(struct ftr_producer *producer,
							     uint64_t pos, const uint64_t *words,
							     uint32_t bytes, const uint32_t nth)
{
	const uint32_t at = nth * FTR_PAYLOAD_UNIT_BYTES, shift = at % FTR_PAYLOAD_LOW_BYTES * 8;
	const uint64_t *low = words + at / FTR_PAYLOAD_LOW_BYTES;
	bool is_last = bytes <= at + FTR_PAYLOAD_UNIT_BYTES;

	unit_write(producer, pos + nth * UNIT_BYTES, word_in(low, shift),
		   word_in(low + 1, shift) << FTR_PAYLOAD_BYTES_SHIFT | FTR_PAYLOAD_TAG |
			   (is_last ? bytes - at : 0));
	return is_last;
}

/* Eight units are whole words. */
static inline void words_write(struct ftr_producer *producer, uint64_t pos, const uint64_t *words,
			       uint32_t bytes)
{
	while (!words_unit(producer, pos, words, bytes, 0) &&
	       !words_unit(producer, pos, words, bytes, 1) &&
	       !words_unit(producer, pos, words, bytes, 2) &&
	       !words_unit(producer, pos, words, bytes, 3) &&
	       !words_unit(producer, pos, words, bytes, 4) &&
	       !words_unit(producer, pos, words, bytes, 5) &&
	       !words_unit(producer, pos, words, bytes, 6) &&
	       !words_unit(producer, pos, words, bytes, 7)) {
		pos += 8 * UNIT_BYTES;
		words += FTR_PAYLOAD_UNIT_BYTES;
		bytes -= 8 * FTR_PAYLOAD_UNIT_BYTES;
	}
}

static __attribute__((noinline, cold)) void put_words_slow(struct ftr_thread *self,
							   struct put *put)
{
	struct ftr_dated_record dated = { .time = put->time };

	put->dated = &dated;
	put_slow(self, put);
	ftr_stall_report(self);
}

void ftr_record_put_words(struct ftr_thread *self, uint64_t word, uint64_t time,
			  const uint64_t *words, uint32_t bytes)
{
	struct ftr_producer *producer = self->producer;
	uint64_t ring_bytes = ftr_record_ring_bytes(bytes);
	uint64_t pos = ftr_arch_local_add(&producer->head, ring_bytes);

	word |= FTR_RECORD_MORE;
	if (likely(pos + ring_bytes <= producer->limit)) {
		old_record_void(producer, pos);
		words_write(producer, pos + UNIT_BYTES, words, bytes);
		unit_write(producer, pos, time, word);
		return;
	}
	put_words_slow(self, &(struct put){
		.pos = pos, .ring_bytes = ring_bytes, .time = time, .word = word,
		.payload = (const uint8_t *)words, .payload_bytes = bytes,
	});
}
