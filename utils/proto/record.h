/* SPDX-License-Identifier: MIT */
/*
 * The record: what the runtime writes into a ring and what stands in TID.dat.
 * Source: doc/ftr-data.5, "Records" (the uftrace data format, version 4).
 *
 *   word 0   time: ring = raw ticks of the control block's clock,
 *                  file = nanoseconds
 *   word 1   63                      16 15       6 5   3  2  1    0
 *           +--------------------------+----------+-----+----+------+
 *           | address / event id / lost |  depth   | 101 |more| type |
 *           +--------------------------+----------+-----+----+------+
 *
 * In a ring, word 1 is written last and is never 0: it commits the record.
 *
 * A record with the bit "more" has a payload.  In a ring it follows in payload units of 16 bytes,
 * 15 bytes of it in each, in order; the rest of the last unit is 0:
 *
 *   word 0   bytes 0..7 of the unit
 *   word 1   63                                  8 7     4 3     0
 *           +-------------------------------------+-------+-------+
 *           | bytes 8..14                         | 0 0 0 1 | last  |
 *           +-------------------------------------+-------+-------+
 *
 * last: 0 = another unit follows, 1..15 = this one ends the payload and holds so many bytes.  Bit 4
 * tells a payload unit from a record, so every unit of a ring says what it is, wherever a reader
 * begins, and there is no length that could be wrong (doc/adr/0025-payload-units.md).
 *
 * In TID.dat the payload stands behind word 1 as it is, padded with zeros to 8 bytes; that of an
 * EVENT has its length, a uint16_t, before it.
 */
#ifndef FTR_PROTO_RECORD_H
#define FTR_PROTO_RECORD_H

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>

enum ftr_record_type {
	FTR_RECORD_ENTRY = 0,
	FTR_RECORD_EXIT  = 1,
	FTR_RECORD_LOST  = 2,
	FTR_RECORD_EVENT = 3,
};

struct ftr_record {
	uint64_t time;
	uint64_t word;
};
static_assert(sizeof(struct ftr_record) == 16, "a record is 16 bytes");

#define FTR_RECORD_TYPE_MASK	UINT64_C(0x03)
#define FTR_RECORD_MORE		UINT64_C(0x04)	/* a payload follows */
#define FTR_RECORD_MAGIC	UINT64_C(0x28)	/* binary 101 in bits 3..5 */
#define FTR_RECORD_MAGIC_MASK	UINT64_C(0x38)
#define FTR_RECORD_DEPTH_SHIFT	6
#define FTR_RECORD_DEPTH_MAX	1023u		/* deeper calls say 1023; readers count */
#define FTR_RECORD_ADDR_SHIFT	16
#define FTR_RECORD_ADDR_MASK	((UINT64_C(1) << 48) - 1)

/* Compose word 1.  @depth must already be at most FTR_RECORD_DEPTH_MAX. */
static inline uint64_t ftr_record_word(enum ftr_record_type type, unsigned depth, uint64_t addr)
{
	return addr << FTR_RECORD_ADDR_SHIFT | (uint64_t)depth << FTR_RECORD_DEPTH_SHIFT |
	       FTR_RECORD_MAGIC | (uint64_t)type;
}

static inline bool ftr_record_is_valid(uint64_t word)
{
	return (word & FTR_RECORD_MAGIC_MASK) == FTR_RECORD_MAGIC;
}

static inline bool ftr_record_has_payload(uint64_t word)
{
	return (word & FTR_RECORD_MORE) != 0;
}

static inline enum ftr_record_type ftr_record_type(uint64_t word)
{
	return (enum ftr_record_type)(word & FTR_RECORD_TYPE_MASK);
}

static inline unsigned ftr_record_depth(uint64_t word)
{
	return (unsigned)(word >> FTR_RECORD_DEPTH_SHIFT) & FTR_RECORD_DEPTH_MAX;
}

static inline uint64_t ftr_record_addr(uint64_t word)
{
	return word >> FTR_RECORD_ADDR_SHIFT;
}

/*
 * The longest payload.  uftrace drops what is longer than 1020 bytes; a record fits several times
 * into the smallest ring, and twice 15 bytes of room make no difference.
 */
#define FTR_PAYLOAD_MAX 1020u

#define FTR_PAYLOAD_UNIT_BYTES	15u	/* of payload in a payload unit */
#define FTR_PAYLOAD_LOW_BYTES	8u	/* ... of them in word 0 */
#define FTR_PAYLOAD_TAG		UINT64_C(0x10)
#define FTR_PAYLOAD_TAG_MASK	UINT64_C(0xf0)
#define FTR_PAYLOAD_LAST_MASK	UINT64_C(0x0f)
#define FTR_PAYLOAD_BYTES_SHIFT 8
static_assert((FTR_PAYLOAD_TAG & FTR_RECORD_MAGIC_MASK & ~FTR_RECORD_MAGIC) != 0,
	      "a payload unit is no record");

/* Payload units of a payload of @bytes. */
static inline uint32_t ftr_payload_units(uint32_t bytes)
{
	return (bytes + FTR_PAYLOAD_UNIT_BYTES - 1) / FTR_PAYLOAD_UNIT_BYTES;
}

/* What a record with a payload of @bytes, 0 = none, takes up in a ring. */
static inline uint64_t ftr_record_ring_bytes(uint32_t bytes)
{
	return (1 + ftr_payload_units(bytes)) * (uint64_t)sizeof(struct ftr_record);
}

/* In TID.dat all begins at a multiple of this. */
#define FTR_RECORD_FILE_ALIGN 8u

/* The longest record in a ring, and in TID.dat. */
#define FTR_RECORD_RING_BYTES_MAX \
	(16u * (1 + (FTR_PAYLOAD_MAX + FTR_PAYLOAD_UNIT_BYTES - 1) / FTR_PAYLOAD_UNIT_BYTES))
#define FTR_RECORD_FILE_BYTES_MAX (16u + (2 + FTR_PAYLOAD_MAX + 7) / 8 * 8)

static inline bool ftr_payload_is_unit(uint64_t word)
{
	return (word & FTR_PAYLOAD_TAG_MASK) == FTR_PAYLOAD_TAG;
}

/* The bytes in the last unit of a payload, 0 for one that another unit follows. */
static inline uint32_t ftr_payload_last(uint64_t word)
{
	return (uint32_t)(word & FTR_PAYLOAD_LAST_MASK);
}

/* One load, where the processor has these bytes in this order. */
static inline uint64_t ftr_payload_word(const uint8_t from[8])
{
	return (uint64_t)from[0] | (uint64_t)from[1] << 8 | (uint64_t)from[2] << 16 |
	       (uint64_t)from[3] << 24 | (uint64_t)from[4] << 32 | (uint64_t)from[5] << 40 |
	       (uint64_t)from[6] << 48 | (uint64_t)from[7] << 56;
}

/* One store. */
static inline void ftr_payload_word_put(uint8_t to[8], uint64_t word)
{
	to[0] = (uint8_t)word;
	to[1] = (uint8_t)(word >> 8);
	to[2] = (uint8_t)(word >> 16);
	to[3] = (uint8_t)(word >> 24);
	to[4] = (uint8_t)(word >> 32);
	to[5] = (uint8_t)(word >> 40);
	to[6] = (uint8_t)(word >> 48);
	to[7] = (uint8_t)(word >> 56);
}

/*
 * The unit that holds the first bytes of the @left bytes of payload at @from.  Nothing is read
 * behind the payload, whose ends are taken byte by byte: the runtime has no memcpy.
 */
static inline struct ftr_record ftr_payload_pack(const uint8_t *from, uint32_t left)
{
	bool is_last = left <= FTR_PAYLOAD_UNIT_BYTES;
	uint32_t bytes = is_last ? left : FTR_PAYLOAD_UNIT_BYTES, i = 0;
	struct ftr_record unit = { 0, FTR_PAYLOAD_TAG | (is_last ? left : 0) };

	if (!is_last) {
		unit.time = ftr_payload_word(from);
		unit.word |= ftr_payload_word(from + FTR_PAYLOAD_LOW_BYTES)
			     << FTR_PAYLOAD_BYTES_SHIFT;
		return unit;
	}
	if (bytes >= FTR_PAYLOAD_LOW_BYTES) {
		unit.time = ftr_payload_word(from);
		i = FTR_PAYLOAD_LOW_BYTES;
	}
	for (; i < bytes && i < FTR_PAYLOAD_LOW_BYTES; i++)
		unit.time |= (uint64_t)from[i] << 8 * i;
	for (; i < bytes; i++)
		unit.word |= (uint64_t)from[i] << (8 * (i - FTR_PAYLOAD_LOW_BYTES) +
						   FTR_PAYLOAD_BYTES_SHIFT);
	return unit;
}

/* The bytes of @unit to @to, which has room for FTR_PAYLOAD_UNIT_BYTES. */
static inline void ftr_payload_unpack(struct ftr_record unit, uint8_t *to)
{
	uint64_t high = unit.time >> 8 * (FTR_PAYLOAD_LOW_BYTES - 1) |
			unit.word >> FTR_PAYLOAD_BYTES_SHIFT << 8;

	ftr_payload_word_put(to, unit.time);
	ftr_payload_word_put(to + FTR_PAYLOAD_LOW_BYTES - 1, high);
}

/* Events that the runtime records; utils/trace/event_kind.c has their names and what they carry. */
enum ftr_record_event {
	/* As uftrace has them. */
	FTR_RECORD_EVENT_READ_STATM  = 100001,
	FTR_RECORD_EVENT_READ_FAULT  = 100002,
	FTR_RECORD_EVENT_DIFF_STATM  = 100003,
	FTR_RECORD_EVENT_DIFF_FAULT  = 100004,
	FTR_RECORD_EVENT_READ_CYCLE  = 100005,	/* and what follows it: in this order */
	FTR_RECORD_EVENT_DIFF_CYCLE  = 100006,
	FTR_RECORD_EVENT_READ_CACHE  = 100007,
	FTR_RECORD_EVENT_DIFF_CACHE  = 100008,
	FTR_RECORD_EVENT_READ_BRANCH = 100009,
	FTR_RECORD_EVENT_DIFF_BRANCH = 100010,
	FTR_RECORD_EVENT_WATCH_CPU   = 100011,
	FTR_RECORD_EVENT_WATCH_VAR   = 100012,
	FTR_RECORD_EVENT_CALLSITE    = 100013,
	/* Only ftr has these. */
	FTR_RECORD_EVENT_STALL_BEGIN = 1000000,	/* the task waits for room in its ring */
	FTR_RECORD_EVENT_STALL_END   = 1000001,
	FTR_RECORD_EVENT_ERRNO	     = 1000010,	/* what a call that ends set errno to: a uint64_t */
	/* The stack of the call that comes next, in parts, and what the recorder makes of them. */
	FTR_RECORD_EVENT_STACK_PART  = 1000020,	/* proto/stack_part.h */
	FTR_RECORD_EVENT_BACKTRACE   = 1000021,	/* its number in calls.stacks: a uint64_t */
	/*
	 * What a module declares, each by its own even id: proto/sdt.h.  Where one has data, which
	 * stand in TID.event, there is a record of the next id in TID.dat, so that old readers see
	 * that it happened.
	 */
	FTR_RECORD_EVENT_SDT	     = 1500000,
	FTR_RECORD_EVENT_SDT_LAST    = 1999999,
	/* A block of memory was given: its address (0 = there was none), its bytes, the caller. */
	FTR_RECORD_EVENT_MALLOC	     = 3000001,
	FTR_RECORD_EVENT_CALLOC	     = 3000002,
	FTR_RECORD_EVENT_MEMALIGN    = 3000003,	/* any function that aligns */
	FTR_RECORD_EVENT_NEW	     = 3000004,
	/* The same, and the address of the block that it replaces (0 = none). */
	FTR_RECORD_EVENT_REALLOC     = 3000005,
	/* A block is given back: its address, the caller. */
	FTR_RECORD_EVENT_FREE	     = 3000006,
	FTR_RECORD_EVENT_DELETE	     = 3000007,
	/* Pages came, went, moved: address, bytes, caller; of mremap also where from. */
	FTR_RECORD_EVENT_MMAP	     = 3000008,
	FTR_RECORD_EVENT_MUNMAP	     = 3000009,
	FTR_RECORD_EVENT_MREMAP	     = 3000010,
	/* The program break was moved: where to, by how many bytes (signed), the caller. */
	FTR_RECORD_EVENT_BRK	     = 3000011,
	/* The thread waits from here on: for what (an address, of JOIN a pthread_t), the caller. */
	FTR_RECORD_EVENT_SYNC_MUTEX  = 3000101,
	FTR_RECORD_EVENT_SYNC_READ   = 3000103,	/* a lock for readers */
	FTR_RECORD_EVENT_SYNC_WRITE  = 3000105,
	FTR_RECORD_EVENT_SYNC_COND   = 3000107,
	FTR_RECORD_EVENT_SYNC_BARRIER = 3000109,
	FTR_RECORD_EVENT_SYNC_SEM    = 3000111,
	FTR_RECORD_EVENT_SYNC_JOIN   = 3000113,
	FTR_RECORD_EVENT_SYNC_LAST   = 3000114,
	/*
	 * A function on files begins: a descriptor, its argument (bytes, an offset, a command, a
	 * mode, another descriptor; none of CLOSE, FLUSH, READDIR and FSTAT), the caller.
	 */
	FTR_RECORD_EVENT_FILE_READ   = 3000201,
	FTR_RECORD_EVENT_FILE_WRITE  = 3000203,
	FTR_RECORD_EVENT_FILE_LOCK   = 3000205,
	FTR_RECORD_EVENT_FILE_UNLOCK = 3000207,
	FTR_RECORD_EVENT_FILE_CLOSE  = 3000209,
	FTR_RECORD_EVENT_FILE_SEEK   = 3000211,
	FTR_RECORD_EVENT_FILE_FLUSH  = 3000213,
	FTR_RECORD_EVENT_FILE_SETSIZE = 3000215,
	FTR_RECORD_EVENT_FILE_SETMODE = 3000217,
	FTR_RECORD_EVENT_FILE_DUP    = 3000219,
	FTR_RECORD_EVENT_FILE_READDIR = 3000221,
	FTR_RECORD_EVENT_FILE_SETOWNER = 3000223,
	FTR_RECORD_EVENT_FILE_FSTAT  = 3000225,
	/* ... a directory's descriptor, its argument (flags, a mode), the caller, and a path. */
	FTR_RECORD_EVENT_FILE_OPEN   = 3000231,
	FTR_RECORD_EVENT_FILE_OPENDIR = 3000233,
	FTR_RECORD_EVENT_FILE_MKDIR  = 3000235,
	FTR_RECORD_EVENT_FILE_CHDIR  = 3000237,
	FTR_RECORD_EVENT_FILE_UNLINK = 3000239,
	FTR_RECORD_EVENT_FILE_CHMOD  = 3000241,
	FTR_RECORD_EVENT_FILE_CHOWN  = 3000243,
	FTR_RECORD_EVENT_FILE_TRUNCATE = 3000245,
	FTR_RECORD_EVENT_FILE_STAT   = 3000247,
	FTR_RECORD_EVENT_FILE_ACCESS = 3000249,
	/* ... and two paths. */
	FTR_RECORD_EVENT_FILE_RENAME = 3000261,
	FTR_RECORD_EVENT_FILE_LINK   = 3000263,
	FTR_RECORD_EVENT_FILE_SYMLINK = 3000265,
	FTR_RECORD_EVENT_FILE_LAST   = 3000266,
	/*
	 * A function on sockets begins: a descriptor (of SOCKET: a domain), its argument (a type,
	 * bytes ...; none of CLOSE), the caller; of BIND, CONNECT and SEND_TO an address' family,
	 * and the address as text.  The ends of ACCEPT and RECEIVE_FROM have the same two of the
	 * peer behind their result.
	 */
	FTR_RECORD_EVENT_NET_SOCKET  = 3000301,
	FTR_RECORD_EVENT_NET_BIND    = 3000303,
	FTR_RECORD_EVENT_NET_CONNECT = 3000305,
	FTR_RECORD_EVENT_NET_LISTEN  = 3000307,
	FTR_RECORD_EVENT_NET_ACCEPT  = 3000309,
	FTR_RECORD_EVENT_NET_RECEIVE = 3000311,
	FTR_RECORD_EVENT_NET_SEND    = 3000313,
	FTR_RECORD_EVENT_NET_RECEIVE_FROM = 3000315,
	FTR_RECORD_EVENT_NET_SEND_TO = 3000317,
	FTR_RECORD_EVENT_NET_SHUTDOWN = 3000319,
	FTR_RECORD_EVENT_NET_CLOSE   = 3000321,
	FTR_RECORD_EVENT_NET_DUP     = 3000323,
	FTR_RECORD_EVENT_NET_WAIT    = 3000325,
	/*
	 * A function on threads begins: where the thread is to begin (of others: which), of CREATE
	 * whether it is detached, and the caller; EXIT has the thread's answer, and no end.  The
	 * end of CREATE has the thread behind the result.
	 */
	FTR_RECORD_EVENT_THREAD_CREATE = 3000401,
	FTR_RECORD_EVENT_THREAD_DETACH = 3000403,
	FTR_RECORD_EVENT_THREAD_CANCEL = 3000405,
	FTR_RECORD_EVENT_THREAD_EXIT = 3000407,
	/* The program says so (libmcount/ftr.h): what stands here, the caller, a name or text. */
	FTR_RECORD_EVENT_USER_MARK   = 3000501,
	FTR_RECORD_EVENT_USER_MESSAGE = 3000502,
	FTR_RECORD_EVENT_USER_COUNTER = 3000503,	/* the value, a double */
	FTR_RECORD_EVENT_USER_CHART  = 3000504,	/* a type, a color */
	FTR_RECORD_EVENT_USER_SPAN_BEGIN = 3000505, /* which */
	FTR_RECORD_EVENT_USER_SPAN_END = 3000506,   /* which, nanoseconds since it began */
	/* The thread goes on on another stack. */
	FTR_RECORD_EVENT_STACK	     = 0x40000000, /* and what ftr_record_stack_id adds */
	FTR_RECORD_EVENT_STACK_LAST  = 0x7fffffff,
};

#define FTR_RECORD_EVENT_SDT_BARE 1u	/* added to the id */

/*
 * The thread goes on: the first value of the event at the begin, and what the function answers.  Of
 * SYNC that is 0, an error, or -1; of others what it gave (bytes, a descriptor, an offset), or an
 * error below 0.
 */
#define FTR_RECORD_EVENT_DONE_OF(id) ((id) + 1)

/*
 * The values of these, each a uint64_t, in their order.  In a ring, where they are all but always
 * small enough, they take one payload unit:
 *
 *   word 0   63           48 47                                   0
 *           +---------------+--------------------------------------+
 *           | caller, 0..15 | address                              |
 *           +---------------+--------------------------------------+
 *   word 1   63           40 39                         8 7       0
 *           +---------------+----------------------------+---------+
 *           | bytes         | caller, 16..47             | 1, last |
 *           +---------------+----------------------------+---------+
 *
 * last: 15, or 12 where an event has an address and a caller alone.
 */
#define FTR_SMALL_GIVEN_BYTES 15u
#define FTR_SMALL_FREED_BYTES 12u
#define FTR_SMALL_ADDRESS_BITS 48
#define FTR_SMALL_SIZE_BITS 24

/* Do the values fit into a unit?  @bytes is 0 of those that have none. */
static inline bool ftr_small_fits(uint64_t address, uint64_t bytes, uint64_t caller)
{
	return (((address | caller) >> FTR_SMALL_ADDRESS_BITS) | (bytes >> FTR_SMALL_SIZE_BITS)) ==
	       0;
}

/* @last is FTR_SMALL_GIVEN_BYTES or, without @bytes, FTR_SMALL_FREED_BYTES. */
static inline struct ftr_record ftr_small_pack(uint64_t address, uint64_t bytes, uint64_t caller,
					       uint32_t last)
{
	uint64_t high = caller >> (64 - FTR_SMALL_ADDRESS_BITS) |
			bytes << (2 * FTR_SMALL_ADDRESS_BITS - 64);

	return (struct ftr_record){
		.time = address | caller << FTR_SMALL_ADDRESS_BITS,
		.word = high << FTR_PAYLOAD_BYTES_SHIFT | FTR_PAYLOAD_TAG | last,
	};
}

/* The values in a payload's first @unit, in their order; how many, 0: it is none of these. */
static inline uint32_t ftr_small_unpack(struct ftr_record unit, uint64_t values[3])
{
	const uint64_t mask = (UINT64_C(1) << FTR_SMALL_ADDRESS_BITS) - 1;
	uint64_t high = unit.word >> FTR_PAYLOAD_BYTES_SHIFT;
	uint64_t caller = unit.time >> FTR_SMALL_ADDRESS_BITS |
			  (high << (64 - FTR_SMALL_ADDRESS_BITS) & mask);

	values[0] = unit.time & mask;
	values[1] = values[2] = caller;
	if (ftr_payload_last(unit.word) == FTR_SMALL_FREED_BYTES)
		return 2;
	values[1] = high >> (2 * FTR_SMALL_ADDRESS_BITS - 64);
	return ftr_payload_last(unit.word) == FTR_SMALL_GIVEN_BYTES ? 3 : 0;
}

/*
 * From here on the thread's records are of calls on stack @nr, 0 = the one that it was born on.
 * @is_new: it is another coroutine's from now on.  @moved: the thread stays where it is; the newest
 * so many open calls there were made on stack @nr.  No payload, which uftrace would refuse:
 *
 *	29         13 12         1 0
 *	+------------+------------+---+
 *	|   moved    |     nr     |new|
 *	+------------+------------+---+
 */
#define FTR_STACK_NR_BITS    12
#define FTR_STACK_MAX	     ((1u << FTR_STACK_NR_BITS) - 1)
#define FTR_STACK_MOVED_BITS 17
#define FTR_STACK_MOVED_MAX  ((1u << FTR_STACK_MOVED_BITS) - 1)

static inline uint64_t ftr_record_stack_id(uint32_t nr, bool is_new, uint32_t moved)
{
	return FTR_RECORD_EVENT_STACK + (moved << (FTR_STACK_NR_BITS + 1) | nr << 1 | is_new);
}

static inline bool ftr_record_is_stack_id(uint64_t id)
{
	return id >= FTR_RECORD_EVENT_STACK && id <= FTR_RECORD_EVENT_STACK_LAST;
}

static inline uint32_t ftr_record_stack_nr(uint64_t id)
{
	return (uint32_t)(id >> 1) & FTR_STACK_MAX;
}

static inline bool ftr_record_stack_is_new(uint64_t id)
{
	return (id & 1) != 0;
}

static inline uint32_t ftr_record_stack_moved(uint64_t id)
{
	return (uint32_t)(id >> (FTR_STACK_NR_BITS + 1)) & FTR_STACK_MOVED_MAX;
}

#endif /* FTR_PROTO_RECORD_H */
