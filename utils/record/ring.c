/* SPDX-License-Identifier: MIT */
/* The recorder's end of a ring. */
#include "utils/record/ring.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define likely(x)   __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)

#define RECORD_BYTES ((uint64_t)sizeof(struct ftr_record))
#define LIVE UINT64_MAX			/* scan_end of a ring whose producer lives */
#define HOLES_MAX 1024u			/* signals interrupt no more hooks than this in a row */
#define FUTURE_TICKS_MAX (UINT64_C(1) << 33)	/* a record's tick farther ahead is no tick */

/* An ENTRY or EXIT with the right magic and no payload: what nearly every word is. */
#define CALL_MASK  (FTR_RECORD_MAGIC_MASK | FTR_RECORD_MORE | UINT64_C(2))
#define CALL_WORD  FTR_RECORD_MAGIC
#define DEPTH_BITS ((uint64_t)FTR_RECORD_DEPTH_MAX << FTR_RECORD_DEPTH_SHIFT)

int ftr_ring_open(struct ftr_ring *ring, uint32_t bytes, struct ftr_err *err)
{
	size_t total = FTR_RING_DATA_OFFSET + (size_t)bytes;
	void *mem;

	*ring = (struct ftr_ring){ .fd = -1, .size_bytes = bytes, .scan_end = LIVE };
	ring->fd = memfd_create("ftr-ring", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (ring->fd < 0 || ftruncate(ring->fd, (off_t)total) < 0)
		goto failed;
	/* A file that could shrink would end the recorder with SIGBUS. */
	if (fcntl(ring->fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW) < 0)
		goto failed;
	mem = mmap(NULL, total, PROT_READ | PROT_WRITE, MAP_SHARED, ring->fd, 0);
	if (mem == MAP_FAILED)
		goto failed;
	madvise(mem, total, MADV_DONTFORK);	/* helpers must not look like tracees */
	ring->header = mem;
	ring->header->magic = FTR_RING_MAGIC;
	ring->header->size_bytes = bytes;
	ring->data = (struct ftr_record *)((char *)mem + FTR_RING_DATA_OFFSET);
	return 0;
failed:
	ftr_err_set(err, errno, "ring of %u bytes: %s", bytes, strerror(errno));
	ftr_ring_close(ring);
	return -err->code;
}

static void ring_unmap(struct ftr_ring *ring)
{
	if (ring->header != NULL)
		munmap(ring->header, FTR_RING_DATA_OFFSET + ring->size_bytes);
	ring->header = NULL;
	ring->data = NULL;
}

void ftr_ring_close(struct ftr_ring *ring)
{
	ring_unmap(ring);
	if (ring->fd >= 0)
		close(ring->fd);
	ring->fd = -1;
}

bool ftr_ring_is_shared(struct ftr_ring *ring)
{
	ring_unmap(ring);
	/* The kernel refuses this seal as long as a writable mapping exists anywhere. */
	return fcntl(ring->fd, F_ADD_SEALS, F_SEAL_WRITE) < 0 && errno == EBUSY;
}

static inline struct ftr_record *slot_at(const struct ftr_ring *ring, uint64_t pos)
{
	return ring->data + (pos & (ring->size_bytes - 1)) / RECORD_BYTES;
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
	if (unlikely(depth >= FTR_DEPTH_UNKNOWN - 1))
		depth = said;
	convert->depth = depth + 1 - is_exit;
	if (depth > FTR_RECORD_DEPTH_MAX)
		depth = FTR_RECORD_DEPTH_MAX;
	return (word & ~DEPTH_BITS) | depth << FTR_RECORD_DEPTH_SHIFT;
}

static bool is_known_event(uint64_t id)
{
	return id == FTR_RECORD_EVENT_STALL_BEGIN || id == FTR_RECORD_EVENT_STALL_END;
}

/* A word that is no plain call: LOST, an event of ours, or nonsense (false). */
static __attribute__((noinline)) bool special_word(struct ftr_convert *convert, uint64_t *word)
{
	uint64_t depth = convert->depth, addr = ftr_record_addr(*word);
	enum ftr_record_type type = ftr_record_type(*word);

	if ((*word & (FTR_RECORD_MAGIC_MASK | FTR_RECORD_MORE)) != FTR_RECORD_MAGIC)
		return false;
	if (type == FTR_RECORD_EVENT && !is_known_event(addr))
		return false;
	if (depth > FTR_RECORD_DEPTH_MAX)
		depth = depth >= FTR_DEPTH_UNKNOWN - 1 ? 0 : FTR_RECORD_DEPTH_MAX;
	if (type == FTR_RECORD_LOST) {
		convert->depth = FTR_DEPTH_UNKNOWN;
		convert->lost += addr;
	} else {
		convert->events++;
	}
	*word = ftr_record_word(type, (unsigned)depth, addr);
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

	if (ring->scan_end != LIVE)
		return true;
	head = atomic_load_explicit(&ring->header->head, memory_order_acquire);
	return head >= ring->tail + ring->size_bytes &&
	       head <= ring->tail + 2 * (uint64_t)ring->size_bytes &&
	       __atomic_load_n(&slot_at(ring, ring->tail)->word, __ATOMIC_ACQUIRE) == 0;
}

/* The next committed slot at or after the tail; false when there is none. */
static bool holes_skip(struct ftr_ring *ring)
{
	uint64_t end = ring->tail + HOLES_MAX * RECORD_BYTES;
	uint64_t pos;

	if (end > ring->scan_end)
		end = ring->scan_end;
	for (pos = ring->tail; pos < end; pos += RECORD_BYTES) {
		if (__atomic_load_n(&slot_at(ring, pos)->word, __ATOMIC_ACQUIRE) != 0) {
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
	struct ftr_record *end = ring->data + ring->size_bytes / RECORD_BYTES;
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
	ring->tail += (uint64_t)(slot - start) * RECORD_BYTES;
	convert->depth = depth;
	convert->last_ns = last_ns;
	return (size_t)(slot - start);
}

/*
 * Whatever comes next: 1 = a record moved to @dst, 0 = a slot passed over, -1 = nothing more now.
 */
static int take_one(struct ftr_ring *ring, struct ftr_convert *convert,
		    const struct ftr_tick_map *map, struct ftr_tick_segment *segment,
		    struct ftr_record *dst)
{
	bool is_live = ring->scan_end == LIVE;
	struct ftr_record *slot = slot_at(ring, ring->tail);
	uint64_t word = __atomic_load_n(&slot->word, __ATOMIC_ACQUIRE);
	uint64_t tick;

	if (word == 0)
		return is_hole(ring) && holes_skip(ring) ? 0 : -1;
	tick = slot->time;
	if (tick - segment->first >= segment->span && !is_lost(word) &&
	    !segment_find(map, tick, is_live, segment))
		return -1;
	slot->word = 0;
	ring->tail += RECORD_BYTES;
	if ((word & CALL_MASK) == CALL_WORD) {
		word = depth_word(convert, word);
	} else if (!special_word(convert, &word)) {
		convert->bad++;
		return 0;
	}
	dst->time = is_lost(word) ? convert->last_ns :
		    clamp_ns(convert, ftr_tick_segment_ns(segment, tick));
	dst->word = word;
	return 1;
}

size_t ftr_ring_take(struct ftr_ring *ring, struct ftr_convert *convert,
		     const struct ftr_tick_map *map, struct ftr_record *dst, size_t nr)
{
	struct ftr_tick_segment segment = { 0 };
	size_t done = 0, room, run;
	int moved = 0;

	while (done < nr && ring->tail < ring->scan_end && moved >= 0) {
		room = nr - done;
		if (room > (ring->scan_end - ring->tail) / RECORD_BYTES)
			room = (ring->scan_end - ring->tail) / RECORD_BYTES;
		run = take_calls(ring, convert, &segment, dst + done, room);
		done += run;
		if (run == room || (run > 0 && (ring->tail & (ring->size_bytes - 1)) == 0))
			continue;	/* at the end, or round the corner */
		moved = take_one(ring, convert, map, &segment, dst + done);
		done += moved > 0;
	}
	atomic_store_explicit(&ring->header->tail, ring->tail, memory_order_release);
	return done;
}

void ftr_ring_end(struct ftr_ring *ring)
{
	ring->scan_end = ring->tail + ring->size_bytes;
}

/* A full ring starts where time falls back farthest from one slot to the next. */
static uint64_t oldest_by_time(const struct ftr_ring *ring, uint64_t nr)
{
	uint64_t before = ring->data[nr - 1].time, drop_max = 0, start = 0, i;

	for (i = 0; i < nr; i++) {
		uint64_t tick = ring->data[i].time;

		if (before > tick && before - tick > drop_max) {
			drop_max = before - tick;
			start = i;
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
	uint64_t nr = ring->size_bytes / RECORD_BYTES, i;

	for (i = 0; i < nr && ring->data[i].word != 0; i++)
		;
	ring->tail = (i == nr ? oldest_by_time(ring, nr) : oldest_by_gap(ring, nr)) * RECORD_BYTES;
	ring->scan_end = ring->tail + ring->size_bytes;
	return i == nr;
}

uint64_t ftr_ring_lost(const struct ftr_ring *ring)
{
	return atomic_load_explicit(&ring->header->lost, memory_order_relaxed);
}

void ftr_ring_renew(struct ftr_ring *ring)
{
	uint64_t head = atomic_load_explicit(&ring->header->head, memory_order_acquire);

	/* Holes at the very end leave no trace but the producer's own word. */
	if (head > ring->tail && head - ring->tail <= ring->size_bytes && head % RECORD_BYTES == 0)
		ring->tail = head;
	ring->scan_end = LIVE;
	atomic_store_explicit(&ring->header->tail, ring->tail, memory_order_release);
}
