/* SPDX-License-Identifier: MIT */
/* Records as what they add to those before: ops, numbers of addresses, differences of times. */
#include "utils/format/uftrace/pack_words.h"

#include <string.h>

#include "utils/base/bits.h"

#define ADDRESS_BYTES (48 / 8)
/* A greater step is hardly a time: a payload is mistaken for a record. */
#define STEP_NS_MAX   FTR_BIT64(40)

static void state_init(struct pack_state *state)
{
	state->time_ns = 0;
	state->depth = 0;
	state->addresses_nr = 0;
	state->exits[0] = 0;
	for (unsigned depth = 0; depth <= FTR_RECORD_DEPTH_MAX; depth++)
		state->exits[depth + 1] = ftr_record_word(FTR_RECORD_EXIT, depth, 0);
}

/* What a record leaves behind, however it was packed. */
static void state_follow(struct pack_state *state, uint64_t time_ns, uint64_t word)
{
	unsigned depth = ftr_record_depth(word);

	state->time_ns = time_ns;
	if (ftr_record_type(word) == FTR_RECORD_ENTRY) {
		state->depth = depth + 1;
		state->exits[depth + 1] =
			ftr_record_word(FTR_RECORD_EXIT, depth, ftr_record_addr(word));
	} else if (ftr_record_type(word) == FTR_RECORD_EXIT) {
		state->depth = depth;
	}
}

/* Of a call at @depth?  None is at FTR_RECORD_DEPTH_MAX + 1, which would not fit. */
static inline bool is_entry(uint64_t word, unsigned depth)
{
	uint64_t addr = ftr_record_addr(word) << FTR_RECORD_ADDR_SHIFT;

	return word == addr + ftr_record_word(FTR_RECORD_ENTRY, depth, 0);
}

/* Where the next op and the next time come. */
struct pen {
	uint8_t *op;
	uint8_t *time;
};

static inline uint8_t *put_op(uint8_t *to, enum pack_op op, uint64_t value, size_t bytes)
{
	uint8_t whole[PACK_WORD_BYTES];

	ftr_put_u64(whole, value, false);
	*to++ = (uint8_t)op;
	memcpy(to, whole, bytes);
	return to + bytes;
}

/* Most steps take one byte, or two: no branch tells which. */
static inline uint8_t *put_step(uint8_t *to, uint64_t step)
{
	bool is_long = step >= FTR_LEB128_CONTINUED;

	if (__builtin_expect(step >= FTR_LEB128_CONTINUED << FTR_LEB128_BITS, 0))
		return to + ftr_put_leb128(to, step);
	to[0] = (uint8_t)(step | (is_long ? FTR_LEB128_CONTINUED : 0));
	to[1] = (uint8_t)(step >> FTR_LEB128_BITS);
	return to + 1 + is_long;
}

/* The slot of @addr: the number of the address + 1, or 0 where it is new. */
static uint32_t *slot_find(const struct pack_state *state, struct pack_slots *slots, uint64_t addr)
{
	size_t at = ftr_high_bits(addr * FTR_HASH_FACTOR, PACK_SLOTS_BITS);

	while (slots->all[at] != 0 && state->addresses[slots->all[at] - 1] != addr)
		at = (at + 1) & (PACK_SLOTS_NR - 1);
	return &slots->all[at];
}

/* They are many, and few of them are in use. */
static void slots_clear(const struct pack_state *state, struct pack_slots *slots)
{
	for (uint32_t i = state->addresses_nr; i-- > 0;)
		*slot_find(state, slots, state->addresses[i]) = 0;
}

static inline uint8_t *put_recent(uint8_t *to, const struct pack_recent *recent)
{
	memcpy(to, recent->op, sizeof(recent->op));
	return to + recent->op_bytes;
}

static __attribute__((noinline)) uint8_t *put_rare_entry(uint8_t *to, struct pack_state *state,
							 struct pack_slots *slots, uint64_t word,
							 struct pack_recent *recent)
{
	uint64_t addr = ftr_record_addr(word);
	uint32_t *slot = slot_find(state, slots, addr);
	uint8_t op[FTR_LEB128_MAX] = { 0 };
	bool is_new = *slot == 0;

	if (is_new && state->addresses_nr == PACK_ADDRESSES_MAX)
		return put_op(to, PACK_OP_RECORD, word, PACK_WORD_BYTES);
	if (is_new) {
		state->addresses[state->addresses_nr++] = addr;
		*slot = state->addresses_nr;
	}
	recent->addr = addr;
	recent->op_bytes = (uint32_t)ftr_put_leb128(op, *slot - 1 + (uint64_t)PACK_OP_KNOWN);
	memcpy(recent->op, op, sizeof(recent->op));
	return is_new ? put_op(to, PACK_OP_NEW, addr, ADDRESS_BYTES) : put_recent(to, recent);
}

static inline uint8_t *put_entry(uint8_t *to, struct pack_state *state, struct pack_slots *slots,
				 uint64_t word)
{
	uint64_t addr = ftr_record_addr(word);
	size_t at = ftr_high_bits(addr * FTR_HASH_FACTOR, PACK_RECENT_BITS);
	struct pack_recent *recent = &slots->recent[at];

	if (__builtin_expect(recent->addr == addr, 1))
		return put_recent(to, recent);
	return put_rare_entry(to, state, slots, word, recent);
}

/*
 * Entries, and returns from the innermost open call, which nearly all records are: without what
 * others need.  Returns the bytes taken, up to the first other record.
 */
static size_t pack_calls(struct pack_state *state, struct pack_slots *slots, struct pen *pen,
			 const uint8_t *from, size_t nr)
{
	uint8_t *op = pen->op, *time = pen->time;
	uint64_t time_ns = state->time_ns;
	unsigned depth = state->depth;
	size_t at = 0;

	for (; nr - at >= PACK_RECORD_BYTES; at += PACK_RECORD_BYTES) {
		uint64_t next_ns = ftr_get_u64(from + at, false);
		uint64_t word = ftr_get_u64(from + at + PACK_WORD_BYTES, false);

		if (next_ns - time_ns >= STEP_NS_MAX)
			break;
		if (word == state->exits[depth] && depth > 0) {
			*op++ = PACK_OP_RETURN;
			depth--;
		} else if (is_entry(word, depth)) {
			op = put_entry(op, state, slots, word);
			state->exits[++depth] = word - FTR_RECORD_ENTRY + FTR_RECORD_EXIT;
		} else {
			break;
		}
		time = put_step(time, next_ns - time_ns);
		time_ns = next_ns;
	}
	*pen = (struct pen){ op, time };
	state->time_ns = time_ns;
	state->depth = depth;
	return at;
}

static bool looks_like_record(const struct pack_state *state, const uint8_t *from, size_t nr)
{
	if (nr < PACK_RECORD_BYTES)
		return false;
	if (!ftr_record_is_valid(ftr_get_u64(from + PACK_WORD_BYTES, false)))
		return false;
	return state->time_ns == 0 || ftr_get_u64(from, false) - state->time_ns < STEP_NS_MAX;
}

/* Any record. */
static void pack_record(struct pack_state *state, struct pack_slots *slots, struct pen *pen,
			const uint8_t *from)
{
	uint64_t time_ns = ftr_get_u64(from, false);
	uint64_t word = ftr_get_u64(from + PACK_WORD_BYTES, false);

	pen->time = put_step(pen->time, time_ns - state->time_ns);
	if (word == state->exits[state->depth] && state->depth > 0)
		pen->op = put_op(pen->op, PACK_OP_RETURN, 0, 0);
	else if (is_entry(word, state->depth))
		pen->op = put_entry(pen->op, state, slots, word);
	else
		pen->op = put_op(pen->op, PACK_OP_RECORD, word, PACK_WORD_BYTES);
	state_follow(state, time_ns, word);
}

size_t ftr_pack_words(struct pack_state *state, struct pack_slots *slots, struct pack_streams *to,
		      const uint8_t *from, size_t nr)
{
	struct pen pen = { to->ops, to->times };
	size_t at = 0;

	state_init(state);
	memset(slots->recent, 0xff, sizeof(slots->recent));
	while (nr - at >= PACK_WORD_BYTES) {
		if (looks_like_record(state, from + at, nr - at)) {
			pack_record(state, slots, &pen, from + at);
			at += PACK_RECORD_BYTES;
		} else {
			pen.op = put_op(pen.op, PACK_OP_WORD, ftr_get_u64(from + at, false),
					PACK_WORD_BYTES);
			at += PACK_WORD_BYTES;
		}
		at += pack_calls(state, slots, &pen, from + at, nr - at);
	}
	to->ops_nr = (size_t)(pen.op - to->ops);
	to->times_nr = (size_t)(pen.time - to->times);
	slots_clear(state, slots);
	return at;
}

struct cursor {
	const uint8_t *at;
	const uint8_t *end;
};

static bool take_number(struct cursor *cursor, uint64_t *value)
{
	*value = 0;
	for (unsigned shift = 0; shift < 64 && cursor->at < cursor->end; shift += FTR_LEB128_BITS) {
		uint8_t byte = *cursor->at++;

		*value |= (uint64_t)(byte & (FTR_LEB128_CONTINUED - 1)) << shift;
		if (byte < FTR_LEB128_CONTINUED)
			return true;
	}
	return false;
}

static bool take_bytes(struct cursor *cursor, uint64_t *value, size_t bytes)
{
	if ((size_t)(cursor->end - cursor->at) < bytes)
		return false;
	*value = ftr_get_unsigned(cursor->at, bytes, false);
	cursor->at += bytes;
	return true;
}

static bool unpack_entry(struct pack_state *state, uint64_t addr, uint64_t *word)
{
	if (state->depth > FTR_RECORD_DEPTH_MAX)
		return false;
	*word = ftr_record_word(FTR_RECORD_ENTRY, state->depth, addr);
	return true;
}

static bool unpack_new(struct pack_state *state, struct cursor *ops, uint64_t *word)
{
	uint64_t addr;

	if (state->addresses_nr == PACK_ADDRESSES_MAX || !take_bytes(ops, &addr, ADDRESS_BYTES))
		return false;
	state->addresses[state->addresses_nr++] = addr;
	return unpack_entry(state, addr, word);
}

/* The second word of the record that @op begins. */
static bool unpack_record(struct pack_state *state, struct cursor *ops, uint64_t op, uint64_t *word)
{
	switch (op) {
	case PACK_OP_RETURN:
		if (state->depth == 0)
			return false;
		*word = state->exits[state->depth];
		return true;
	case PACK_OP_NEW:
		return unpack_new(state, ops, word);
	case PACK_OP_RECORD:
		return take_bytes(ops, word, PACK_WORD_BYTES);
	default:
		op -= PACK_OP_KNOWN;
		return op < state->addresses_nr && unpack_entry(state, state->addresses[op], word);
	}
}

/* The bytes put at @to, which has room for @nr; 0 = damaged. */
static size_t unpack_next(struct pack_state *state, struct cursor *ops, struct cursor *times,
			  uint8_t *to, size_t nr)
{
	uint64_t op, word, step;

	if (!take_number(ops, &op))
		return 0;
	if (op == PACK_OP_WORD) {
		if (!take_bytes(ops, &word, PACK_WORD_BYTES))
			return 0;
		ftr_put_u64(to, word, false);
		return PACK_WORD_BYTES;
	}
	if (nr < PACK_RECORD_BYTES || !take_number(times, &step))
		return 0;
	if (!unpack_record(state, ops, op, &word))
		return 0;
	state_follow(state, state->time_ns + step, word);
	ftr_put_u64(to, state->time_ns, false);
	ftr_put_u64(to + PACK_WORD_BYTES, word, false);
	return PACK_RECORD_BYTES;
}

bool ftr_unpack_words(struct pack_state *state, const struct pack_streams *from, uint8_t *to,
		      size_t nr)
{
	struct cursor ops = { from->ops, from->ops + from->ops_nr };
	struct cursor times = { from->times, from->times + from->times_nr };

	state_init(state);
	for (size_t at = 0; at < nr;) {
		size_t put = unpack_next(state, &ops, &times, to + at, nr - at);

		if (put == 0)
			return false;
		at += put;
	}
	return ops.at == ops.end && times.at == times.end;
}
