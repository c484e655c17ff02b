/* SPDX-License-Identifier: MIT */
/* What is taken out of a ring. */
#include "utils/record/ring.h"

#include <assert.h>
#include <errno.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

#include "utils/base/bits.h"
#include "utils/trace/event_kind.h"

#define likely(x)   __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)

#define UNIT_BYTES ((uint64_t)sizeof(struct ftr_record))
#define PAGE_BYTES 4096u
#define HOLES_MAX 1024u			/* signals leave no more empty units than this in a row */
#define FUTURE_TICKS_MAX FTR_BIT64(33)	/* a record's tick farther ahead is no tick */

/* An ENTRY or EXIT with the right magic and no payload: what nearly every word is. */
#define CALL_MASK  (FTR_RECORD_MAGIC_MASK | FTR_RECORD_MORE | UINT64_C(2))
#define CALL_WORD  FTR_RECORD_MAGIC
#define ANY_CALL_MASK (CALL_MASK & ~FTR_RECORD_MORE)
#define DEPTH_BITS ((uint64_t)FTR_RECORD_DEPTH_MAX << FTR_RECORD_DEPTH_SHIFT)

static inline struct ftr_record *slot_at(const struct ftr_ring *ring, uint64_t pos)
{
	return ring->data + (pos & (ring->size_bytes - 1)) / UNIT_BYTES;
}

static inline uint64_t clamp_ns(struct ftr_convert *convert, uint64_t ns)
{
	if (ns < convert->last_ns)
		ns = convert->last_ns;
	convert->last_ns = ns;
	return ns;
}

/*
 * The depth of a call.  Open calls are counted, because a signal handler that interrupts a hook
 * sees a frame more than the file does; a smaller depth in the record means that frames were
 * abandoned (longjmp, exceptions) and is believed.  1023 in a record says "or deeper".
 */
static inline uint64_t depth_word(struct ftr_convert *convert, uint64_t word)
{
	uint64_t is_exit = word & 1;
	uint64_t depth = convert->depth - is_exit;
	uint64_t said = ftr_record_depth(word);

	if (said < FTR_RECORD_DEPTH_MAX && said < depth)
		depth = said;
	if (unlikely(depth >= FTR_CONVERT_DEPTH_UNKNOWN - 1))
		depth = said;
	convert->depth = depth + 1 - is_exit;
	if (depth > FTR_RECORD_DEPTH_MAX)
		depth = FTR_RECORD_DEPTH_MAX;
	return (word & ~DEPTH_BITS) | depth << FTR_RECORD_DEPTH_SHIFT;
}

/* A task's events are of few kinds. */
static const struct ftr_event_kind *kind_of(struct ftr_convert *convert, uint64_t id)
{
	const struct ftr_event_kind **kind = &convert->kinds[id % FTR_CONVERT_KINDS];

	if (*kind == NULL || (*kind)->id != id)
		*kind = ftr_event_kind_by_id(id);
	return *kind;
}

/* An event that a runtime records, with as much payload as readers expect. */
static bool is_runtime_event(const struct ftr_event_kind *kind, size_t payload_bytes)
{
	return kind != NULL && (kind->is_runtime || kind->id < FTR_EVENT_ID_PERF_BEGIN) &&
	       ftr_event_kind_fits(kind, payload_bytes);
}

/* What was taken from the tail. */
struct taken {
	uint64_t word;
	const struct ftr_event_kind *kind;	/* (nullable) of an event */
};

/*
 * A word that is no call: LOST, an event of ours, or nonsense (false), such as more lost records
 * than the producer has ever counted.
 */
static __attribute__((noinline)) bool special_word(const struct ftr_ring *ring,
						   struct ftr_convert *convert,
						   struct taken *taken, size_t payload_bytes)
{
	uint64_t depth = convert->depth, addr = ftr_record_addr(taken->word);
	enum ftr_record_type type = ftr_record_type(taken->word);

	if (!ftr_record_is_valid(taken->word))
		return false;
	if (type == FTR_RECORD_EVENT && !is_runtime_event(taken->kind, payload_bytes))
		return false;
	if (type == FTR_RECORD_LOST && (payload_bytes != 0 || addr > ftr_ring_lost(ring)))
		return false;
	if (depth > FTR_RECORD_DEPTH_MAX)
		depth = depth >= FTR_CONVERT_DEPTH_UNKNOWN - 1 ? 0 : FTR_RECORD_DEPTH_MAX;
	if (type == FTR_RECORD_LOST) {
		convert->depth = FTR_CONVERT_DEPTH_UNKNOWN;
		convert->lost += addr;
	} else {
		convert->events++;
		convert->stacks += ftr_record_is_stack_id(addr);
		convert->stack_parts += addr == FTR_RECORD_EVENT_STACK_PART;
	}
	taken->word = ftr_record_word(type, (unsigned)depth, addr) |
		      (taken->word & FTR_RECORD_MORE);
	return true;
}

/*
 * @tick is in no segment looked at so far.  False: it is later than the newest pair by so little
 * that it is a true time which the next pair will cover; a dead producer's cannot be one.
 */
static __attribute__((noinline)) bool segment_find(const struct ftr_tick_map *map, uint64_t tick,
						   bool is_live, struct ftr_tick_segment *segment)
{
	struct ftr_tick_pair last = ftr_tick_map_last(map);

	if (ftr_tick_map_find(map, tick, segment))
		return true;
	if (is_live && tick - last.tick < FUTURE_TICKS_MAX)
		return false;
	*segment = (struct ftr_tick_segment){ .first = tick, .span = 1, .ns = last.ns };
	return true;
}

/*
 * The slot at the tail is reserved and empty.  It will not be filled when its producer is dead, nor
 * when the thread has gone on and now waits for room: then a handler interrupted it right there,
 * and jumped away or filled the ring by itself.
 */
static bool is_hole(const struct ftr_ring *ring)
{
	uint64_t head;

	if (ring->scan_end != FTR_RING_LIVE)
		return true;
	head = atomic_load_explicit(&ring->header->head, memory_order_acquire);
	return head >= ring->tail + ring->size_bytes &&
	       head <= ring->tail + 2 * (uint64_t)ring->size_bytes &&
	       __atomic_load_n(&slot_at(ring, ring->tail)->word, __ATOMIC_ACQUIRE) == 0;
}

/*
 * How many bytes at @pos, the first of a page, nobody has ever written to: there is no memory for
 * them yet, which a look at them would make.
 */
static uint64_t blank_bytes(const struct ftr_ring *ring, uint64_t pos)
{
	uint64_t offset = pos & (ring->size_bytes - 1), blank = ring->size_bytes - offset;
	off_t at = (off_t)(ring->memory_at + offset);
	off_t data = lseek(ring->memory_fd, at, SEEK_DATA);

	if (data < 0)
		return errno == ENXIO ? blank : 0;
	return (uint64_t)(data - at) < blank ? (uint64_t)(data - at) : blank;
}

static bool is_page_start(const struct ftr_ring *ring, uint64_t pos)
{
	return (ring->memory_at + (pos & (ring->size_bytes - 1))) % PAGE_BYTES == 0;
}

/* The next committed slot at or after the tail; false when there is none. */
static bool holes_skip(struct ftr_ring *ring)
{
	bool may_be_blank = ring->scan_end != FTR_RING_LIVE && ring->memory_at != 0;
	uint64_t end = ring->tail + HOLES_MAX * UNIT_BYTES, pos;

	if (end > ring->scan_end)
		end = ring->scan_end;
	for (pos = ring->tail; pos < end; pos += UNIT_BYTES) {
		if (may_be_blank && is_page_start(ring, pos))
			pos += blank_bytes(ring, pos);
		if (pos < end &&
		    __atomic_load_n(&slot_at(ring, pos)->word, __ATOMIC_ACQUIRE) != 0) {
			ring->tail = pos;
			return true;
		}
	}
	return false;
}

/* Nothing but LOST says a time of 0 in a ring: it happened when the record before it did. */
static inline bool is_lost(uint64_t word)
{
	return ftr_record_type(word) == FTR_RECORD_LOST;
}

/*
 * The common run: calls of the expected depth, within one segment.  Stops at anything else, which
 * take_one looks at more closely.  Returns how many were moved to @dst, at most @nr.
 */
static size_t take_calls(struct ftr_ring *ring, struct ftr_convert *convert,
			 const struct ftr_tick_segment *segment, struct ftr_record *dst, size_t nr)
{
	struct ftr_tick_segment seg = *segment;
	struct ftr_record *slot = slot_at(ring, ring->tail), *start = slot;
	struct ftr_record *end = ring->data + ring->size_bytes / UNIT_BYTES;
	uint64_t depth = convert->depth, last_ns = convert->last_ns;

	if ((size_t)(end - slot) > nr)
		end = slot + nr;
	for (; slot < end; slot++, dst++) {
		uint64_t word = __atomic_load_n(&slot->word, __ATOMIC_ACQUIRE);
		uint64_t is_exit = word & 1, tick, ns;

		/* The time of an empty slot may be written right now: it is not to be read. */
		if (unlikely((word & CALL_MASK) != CALL_WORD))
			break;
		tick = slot->time;
		if (unlikely(tick - seg.first >= seg.span ||
			     ftr_record_depth(word) != depth - is_exit ||
			     depth >= FTR_RECORD_DEPTH_MAX))
			break;
		slot->word = 0;
		depth += 1 - 2 * is_exit;
		ns = ftr_tick_segment_ns(&seg, tick);
		last_ns = ns < last_ns ? last_ns : ns;
		*dst = (struct ftr_record){ last_ns, word };
	}
	ring->tail += (uint64_t)(slot - start) * UNIT_BYTES;
	/* Each entry adds one to the depth, each exit takes one off. */
	convert->calls += ((uint64_t)(slot - start) + depth - convert->depth) / 2;
	convert->depth = depth;
	convert->last_ns = last_ns;
	return (size_t)(slot - start);
}

/* Events follow each other, too: each would begin a run of none. */
static inline bool is_call_next(const struct ftr_ring *ring)
{
	uint64_t word = __atomic_load_n(&slot_at(ring, ring->tail)->word, __ATOMIC_RELAXED);

	return (word & CALL_MASK) == CALL_WORD;
}

/* Zeros behind a payload of @bytes up to a multiple of 8; returns its size with them. */
static size_t payload_pad(uint8_t *payload, size_t bytes)
{
	while (bytes % FTR_RECORD_FILE_ALIGN != 0)
		payload[bytes++] = 0;
	return bytes;
}

/*
 * Take the payload units at the tail, and copy what is in them to @dst, which has room for
 * FTR_PAYLOAD_MAX bytes.  Returns how many bytes these are; 0 when they are no payload: too much,
 * or without an end.  Units that are none stay.
 */
static size_t payload_take(struct ftr_ring *ring, uint8_t *dst)
{
	uint8_t bytes[FTR_PAYLOAD_UNIT_BYTES];
	size_t done = 0, last = 0, nr;

	while (last == 0 && ring->tail < ring->scan_end) {
		struct ftr_record *slot = slot_at(ring, ring->tail);
		struct ftr_record unit = { 0, __atomic_load_n(&slot->word, __ATOMIC_ACQUIRE) };

		if (!ftr_payload_is_unit(unit.word))
			return 0;
		unit.time = slot->time;
		slot->word = 0;
		ring->tail += UNIT_BYTES;
		last = ftr_payload_last(unit.word);
		nr = last != 0 ? last : sizeof(bytes);
		if (done + nr > FTR_PAYLOAD_MAX)
			return 0;
		if (done + sizeof(bytes) <= FTR_PAYLOAD_MAX) {
			ftr_payload_unpack(unit, dst + done);
		} else {
			ftr_payload_unpack(unit, bytes);
			memcpy(dst + done, bytes, nr);
		}
		done += nr;
	}
	return last != 0 ? done : 0;
}

/*
 * The payload unit at the tail, of an event whose values are all in it: they become 8 bytes each,
 * at @dst.  0 = it is none.
 */
static size_t small_take(struct ftr_ring *ring, const struct ftr_event_kind *kind, uint8_t *dst)
{
	struct ftr_record *slot = slot_at(ring, ring->tail);
	struct ftr_record unit = { 0, __atomic_load_n(&slot->word, __ATOMIC_ACQUIRE) };
	uint64_t values[3];
	uint32_t nr;

	if (kind == NULL || kind->data != FTR_EVENT_DATA_SPEC || ring->tail >= ring->scan_end ||
	    !ftr_payload_is_unit(unit.word))
		return 0;
	unit.time = slot->time;
	nr = ftr_small_unpack(unit, values);
	if (nr == 0)
		return 0;
	slot->word = 0;
	ring->tail += UNIT_BYTES;
	/* One by one: a copy of all would wait until they are in memory. */
	memcpy(dst, &values[0], sizeof(values[0]));
	memcpy(dst + sizeof(values[0]), &values[1], sizeof(values[1]));
	memcpy(dst + 2 * sizeof(values[0]), &values[2], sizeof(values[2]));
	return nr * sizeof(values[0]);
}

/*
 * The word of a record that was taken from the tail, with what belongs to it in TID.dat.  Returns
 * the bytes of the record at @dst, 0 when it was none.
 */
static size_t record_take(struct ftr_ring *ring, struct ftr_convert *convert, struct taken *taken,
			  struct ftr_record *dst)
{
	uint64_t word = taken->word;
	bool is_event = ftr_record_type(word) == FTR_RECORD_EVENT;
	bool has_payload = ftr_record_is_valid(word) && ftr_record_has_payload(word);
	uint8_t *payload = (uint8_t *)(dst + 1) + (is_event ? sizeof(uint16_t) : 0);
	size_t bytes = 0;
	uint16_t event_bytes;

	if (has_payload) {
		bytes = small_take(ring, taken->kind, payload);
		if (bytes == 0)
			bytes = payload_take(ring, payload);
		if (bytes == 0)
			return 0;
	}
	if ((word & ANY_CALL_MASK) == CALL_WORD)
		taken->word = depth_word(convert, word);
	else if (!special_word(ring, convert, taken, bytes))
		return 0;
	if (has_payload && is_event) {
		event_bytes = (uint16_t)bytes;
		memcpy(dst + 1, &event_bytes, sizeof(event_bytes));
		bytes += sizeof(event_bytes);
	}
	return sizeof(*dst) + payload_pad((uint8_t *)(dst + 1), bytes);
}

/* Where a record belongs: in @dst, or aside. */
static struct ftr_record *place_of(const struct ftr_convert *convert, const struct taken *taken,
				   struct ftr_record *dst)
{
	if (convert->aside == NULL || taken->kind == NULL ||
	    !ftr_event_kind_is_aside(taken->kind, ftr_record_has_payload(taken->word)))
		return dst;
	return (struct ftr_record *)(void *)(convert->aside + convert->aside_len);
}

/* What a program declares is named in events.txt: old readers show at least that it happened. */
static size_t bare_place(struct ftr_convert *convert, const struct ftr_record *full,
			 struct ftr_record *dst)
{
	uint64_t id = ftr_record_addr(full->word);

	if (id < FTR_RECORD_EVENT_SDT || id > FTR_RECORD_EVENT_SDT_LAST)
		return 0;
	dst->time = full->time;
	dst->word = ftr_record_word(FTR_RECORD_EVENT, ftr_record_depth(full->word),
				    id | FTR_RECORD_EVENT_SDT_BARE);
	convert->records++;
	return sizeof(*dst);
}

/* @bytes of a record were taken to @place; returns how many of them are in @dst. */
static size_t record_count(struct ftr_convert *convert, const struct ftr_record *place,
			   struct ftr_record *dst, size_t bytes)
{
	if (place == dst) {
		convert->records++;
		return bytes;
	}
	assert(bytes <= convert->aside_room - convert->aside_len);
	convert->aside_len += bytes;
	convert->aside_records++;
	convert->last_ns = place->time + 1;	/* at one time readers take a record first */
	return bare_place(convert, place, dst);
}

static bool has_room_aside(const struct ftr_convert *convert)
{
	return convert->aside == NULL ||
	       convert->aside_room - convert->aside_len >= FTR_RECORD_FILE_BYTES_MAX;
}

/*
 * Whatever comes next: the bytes of a record at @dst, which has @room; 0 = units passed over, -1 =
 * nothing more now.
 */
static ssize_t take_one(struct ftr_ring *ring, struct ftr_convert *convert,
			const struct ftr_tick_map *map, struct ftr_tick_segment *segment,
			struct ftr_record *dst, size_t room)
{
	bool is_live = ring->scan_end == FTR_RING_LIVE;
	struct ftr_record *slot = slot_at(ring, ring->tail);
	uint64_t word = __atomic_load_n(&slot->word, __ATOMIC_ACQUIRE);
	struct taken taken = { .word = word };
	struct ftr_record *place;
	uint64_t tick;
	size_t bytes;

	if (word == 0)
		return is_hole(ring) && holes_skip(ring) ? 0 : -1;
	if (room < FTR_RECORD_FILE_BYTES_MAX || !has_room_aside(convert))
		return -1;
	tick = slot->time;
	if (ftr_payload_is_unit(word)) {	/* of a record that was never committed */
		slot->word = 0;
		ring->tail += UNIT_BYTES;
		return 0;
	}
	if (tick - segment->first >= segment->span && !is_lost(word) &&
	    !segment_find(map, tick, is_live, segment))
		return -1;
	slot->word = 0;
	ring->tail += UNIT_BYTES;
	if (ftr_record_type(word) == FTR_RECORD_EVENT)
		taken.kind = kind_of(convert, ftr_record_addr(word));
	place = place_of(convert, &taken, dst);
	bytes = record_take(ring, convert, &taken, place);
	if (bytes == 0) {
		convert->bad++;
		return 0;
	}
	place->time = is_lost(word) ? convert->last_ns :
		      clamp_ns(convert, ftr_tick_segment_ns(segment, tick));
	place->word = taken.word;
	convert->calls += ftr_record_type(word) == FTR_RECORD_ENTRY;
	return (ssize_t)record_count(convert, place, dst, bytes);
}

size_t ftr_ring_take(struct ftr_ring *ring, struct ftr_convert *convert,
		     const struct ftr_tick_map *map, void *dst, size_t room)
{
	struct ftr_tick_segment segment = { 0 };
	uint64_t stop = ring->tail + ring->size_bytes;	/* a tracee may write for ever */
	uint8_t *at = dst, *end = at + room;
	ssize_t moved = 0;
	size_t nr, run;

	assert((uintptr_t)dst % FTR_RECORD_FILE_ALIGN == 0);
	assert(room >= FTR_RECORD_FILE_BYTES_MAX);
	if (stop > ring->scan_end)
		stop = ring->scan_end;
	while (moved >= 0 && ring->tail < stop) {
		nr = (size_t)(end - at) / sizeof(struct ftr_record);
		if (nr > (stop - ring->tail) / UNIT_BYTES)
			nr = (stop - ring->tail) / UNIT_BYTES;
		run = is_call_next(ring) ? take_calls(ring, convert, &segment,
						      (struct ftr_record *)at, nr) : 0;
		convert->records += run;
		at += run * sizeof(struct ftr_record);
		if (run > 0 && (ring->tail & (ring->size_bytes - 1)) == 0)
			continue;	/* round the corner */
		if (run == nr)
			break;
		moved = take_one(ring, convert, map, &segment, (struct ftr_record *)at,
				 (size_t)(end - at));
		at += moved > 0 ? moved : 0;
	}
	atomic_store_explicit(&ring->header->tail, ring->tail, memory_order_release);
	return (size_t)(at - (uint8_t *)dst);
}

void ftr_ring_end(struct ftr_ring *ring)
{
	ring->scan_end = ring->tail + ring->size_bytes;
}

/* The time of a unit, UINT64_MAX of one that has none: a payload unit, LOST. */
static uint64_t unit_time(const struct ftr_record *unit)
{
	return ftr_record_is_valid(unit->word) && !is_lost(unit->word) ? unit->time : UINT64_MAX;
}

/* A full ring starts where time falls back farthest from one record to the next. */
static uint64_t oldest_by_time(const struct ftr_ring *ring, uint64_t nr)
{
	uint64_t before = 0, drop_max = 0, start = 0, i;

	for (i = 0; i < 2 * nr; i++) {
		uint64_t tick = unit_time(&ring->data[i % nr]);

		if (tick == UINT64_MAX)
			continue;
		if (before > tick && before - tick > drop_max) {
			drop_max = before - tick;
			start = i % nr;
		}
		before = tick;
	}
	return start;
}

/* A ring that is not full starts behind its longest run of empty slots. */
static uint64_t oldest_by_gap(const struct ftr_ring *ring, uint64_t nr)
{
	uint64_t run = 0, run_max = 0, start = 0, i;

	for (i = 0; i < 2 * nr; i++) {
		if (ring->data[i % nr].word == 0) {
			run++;
			continue;
		}
		if (run > run_max) {
			run_max = run;
			start = i % nr;
		}
		run = 0;
	}
	return start;
}

bool ftr_ring_end_overwritten(struct ftr_ring *ring)
{
	uint64_t nr = ring->size_bytes / UNIT_BYTES, i;

	for (i = 0; i < nr && ring->data[i].word != 0; i++)
		;
	ring->tail = (i == nr ? oldest_by_time(ring, nr) : oldest_by_gap(ring, nr)) * UNIT_BYTES;
	ring->scan_end = ring->tail + ring->size_bytes;
	return i == nr;
}

uint64_t ftr_ring_lost(const struct ftr_ring *ring)
{
	return atomic_load_explicit(&ring->header->lost, memory_order_relaxed);
}

uint64_t ftr_ring_skipped(const struct ftr_ring *ring)
{
	return atomic_load_explicit(&ring->header->skipped, memory_order_relaxed);
}

struct ftr_ring_untraced ftr_ring_untraced(const struct ftr_ring *ring)
{
	const struct ftr_ring_header *header = ring->header;

	return (struct ftr_ring_untraced){
		.tasks = atomic_load_explicit(&header->untraced, memory_order_relaxed),
		.causes = atomic_load_explicit(&header->untraced_causes, memory_order_relaxed),
		.calls = atomic_load_explicit(&header->untraced_calls, memory_order_relaxed),
	};
}

bool ftr_ring_dump_is_reached(struct ftr_ring *ring)
{
	uint64_t at = atomic_load_explicit(&ring->header->dump_at, memory_order_acquire);

	if (at == ring->dump_seen || at > ring->tail + 1)
		return false;
	ring->dump_seen = at;
	atomic_store_explicit(&ring->header->dump_seen, at, memory_order_release);
	return true;
}

void ftr_ring_continue(struct ftr_ring *ring, const struct ftr_ring *old)
{
	atomic_store_explicit(&ring->header->lost, ftr_ring_lost(old), memory_order_relaxed);
	atomic_store_explicit(&ring->header->skipped, ftr_ring_skipped(old), memory_order_relaxed);
}

void ftr_ring_renew(struct ftr_ring *ring)
{
	uint64_t head = atomic_load_explicit(&ring->header->head, memory_order_acquire);

	/* Holes at the very end leave no trace but the producer's own word. */
	if (head > ring->tail && head - ring->tail <= ring->size_bytes && head % UNIT_BYTES == 0)
		ring->tail = head;
	ring->scan_end = FTR_RING_LIVE;
	atomic_store_explicit(&ring->header->tail, ring->tail, memory_order_release);
}
