/* SPDX-License-Identifier: MIT */
/* See values.h.  Called inside hooks, so without libc. */
#include "libmcount/values.h"

#include <stddef.h>
#include <sys/uio.h>

#include "arch/transaction.h"
#include "arch/values.h"
#include "libmcount/channel.h"
#include "libmcount/values_brief.h"
#include "libmcount/values_known.h"
#include "libmcount/values_walk.h"
#include "libmcount/x87.h"
#include "utils/base/rt/sys.h"
#include "utils/proto/record.h"
#include "utils/proto/values.h"

#define PAYLOAD_ALIGN 8u
#define PAYLOAD_BYTES_MAX (FTR_PAYLOAD_MAX / PAYLOAD_ALIGN * PAYLOAD_ALIGN)
#define LENGTH_BYTES 2u			/* in front of a string */
#define WORD_BYTES 8u
#define LIBCXX_BYTES 24u		/* of its std::string */
#define POINTER_TEXT_BYTES 20u		/* "<0x0123456789abcdef>" */
#define DOTS 3u

/* The payload while it grows. */
struct payload {
	uint8_t *bytes;
	uint32_t len;
};

/* Where the values of a call are taken from. */
struct ftr_from {
	const struct ftr_regs *regs;
	uintptr_t result;
	const uintptr_t *slot;
	uintptr_t stack_high;		/* the stack that slot is on ends there; 0 = not known */
	uintptr_t base;
	const struct ftr_values *values, *image;	/* image: nullable */
	uintptr_t at;			/* where the last FOLLOW led */
	const uint8_t *near;		/* copies of the first bytes there */
	uint32_t near_bytes;
	uint8_t *near_room;		/* FTR_VALUE_NEAR_MAX; not cleared for each call */
	uint64_t count;			/* of the next string's characters; UINT64_MAX: not known */
	uintptr_t text;			/* that string, if it is told before: is_text_told */
	bool is_text_told;
};

/* How many bytes at @address are known to be there. */
static uintptr_t known_bytes(const struct ftr_from *from, uintptr_t address)
{
	uintptr_t known = ftr_values_known_stack(from->slot, from->stack_high, address);

	if (address - (uintptr_t)from->near < from->near_bytes)		/* a copy of ours */
		known = from->near_bytes - (address - (uintptr_t)from->near);
	if (known == 0)
		known = ftr_values_known_constant(from->values, from->base, address);
	if (known == 0 && from->image != NULL)
		known = ftr_values_known_constant(from->image, ftr_state.known[0].low, address);
	return known;
}

static void copy(uint8_t *to, const void *from, uint32_t bytes)
{
	const uint8_t *at = from;
	uint32_t i = 0;

	for (; i + WORD_BYTES <= bytes; i += WORD_BYTES) {
		uint64_t word;

		__builtin_memcpy(&word, at + i, WORD_BYTES);
		__asm__ volatile("" : "+r"(word));	/* no loop becomes memcpy */
		__builtin_memcpy(to + i, &word, WORD_BYTES);
	}
	for (; i < bytes; i++) {
		uint8_t byte = at[i];

		__asm__ volatile("" : "+r"(byte));
		to[i] = byte;
	}
}

/* Up to the first NUL. */
static void copy_text(uint8_t *to, const uint8_t *from, uint32_t bytes)
{
	uint32_t i;

	for (i = 0; i < bytes && from[i] != 0; i++)
		to[i] = from[i];
	if (i < bytes)
		to[i] = 0;
}

/* How many of the @nr characters stand before the first NUL. */
static uint32_t length(const uint8_t *text, uint32_t nr)
{
	uint32_t len = 0;

	while (len < nr && text[len] != 0)
		len++;
	return len;
}

/*
 * All of it, or of a text all up to its NUL.  False: something of it is not there, or not in memory
 * yet, or there are no transactions.
 */
static bool copy_by_transaction(uint8_t *to, uintptr_t address, uint32_t bytes, bool is_text)
{
	if (!ftr_state.has_transactions || !ftr_arch_transaction_begin())
		return false;
	if (is_text)
		copy_text(to, (const uint8_t *)address, bytes);
	else
		copy(to, (const void *)address, bytes);
	ftr_arch_transaction_end();
	return true;
}

/* A forked child that has recorded nothing yet finds its parent's number there, but no ring. */
static int32_t process_of(const struct ftr_thread *self)
{
	return self->producer != NULL && self->producer->header != NULL ?
		self->slot->pid : (int32_t)ftr_sys0(SYS_getpid);
}

/* The kernel copies each of the two pieces, which are of one page, or nothing of it. */
static uint32_t copy_by_kernel(uint8_t *to, uintptr_t address, uint32_t bytes)
{
	uint32_t first = FTR_VALUES_PAGE_BYTES - (uint32_t)(address % FTR_VALUES_PAGE_BYTES);
	struct iovec local = { to, bytes };
	struct iovec remote[2] = {
		{ (void *)address, first < bytes ? first : bytes },
		{ (void *)(address + first), bytes - first },
	};
	long ret;

	if (ftr_is_silent() || bytes == 0 || address + bytes < address)
		return 0;
	ret = ftr_sys6(SYS_process_vm_readv, process_of(&ftr_self), &local, 1, remote,
		       first < bytes ? 2 : 1, 0);
	return ret < 0 ? 0 : (uint32_t)ret;
}

uint32_t ftr_from_copy(const struct ftr_from *from, uint8_t *to, uintptr_t address,
		       uint32_t bytes, bool is_text)
{
	uintptr_t known = known_bytes(from, address);
	uint32_t have = known < bytes ? (uint32_t)known : bytes;

	if (is_text)
		copy_text(to, (const uint8_t *)address, have);
	else
		copy(to, (const void *)address, have);
	if (have == bytes || (is_text && length(to, have) < have))
		return have;
	if (copy_by_transaction(to + have, address + have, bytes - have, is_text))
		return bytes;
	return have + copy_by_kernel(to + have, address + have, bytes - have);
}

/* The same of those from @offset on where the last FOLLOW led. */
static uint32_t copy_at(const struct ftr_from *from, uint8_t *to, uint32_t offset, uint32_t bytes)
{
	if (offset + bytes <= from->near_bytes) {
		copy(to, from->near + offset, bytes);
		return bytes;
	}
	return from->at == 0 ? 0 : ftr_from_copy(from, to, from->at + offset, bytes, false);
}

static uint64_t word_at(const struct ftr_from *from, const struct ftr_value_op *op)
{
	switch (op->where) {
	case FTR_VALUE_INTEGER:
		return ftr_arch_argument(from->regs, op->nr);
	case FTR_VALUE_VECTOR:
		return ftr_arch_vector(op->nr);
	case FTR_VALUE_RETURN:
		return ftr_arch_retval(from->regs, op->nr);
	case FTR_VALUE_RESULT:
		return from->result;
	default:
		return 0;
	}
}

static uintptr_t pointer_at(const struct ftr_from *from, const struct ftr_value_op *op)
{
	uint64_t pointer = 0;

	if (op->where == FTR_VALUE_AT)
		copy_at(from, (uint8_t *)&pointer, op->nr, sizeof(pointer));
	else if (op->where == FTR_VALUE_STACK)
		ftr_from_copy(from, (uint8_t *)&pointer, (uintptr_t)from->slot + op->nr,
			      sizeof(pointer), false);
	else
		pointer = word_at(from, op);
	return pointer;
}

static void follow(struct ftr_from *from, const struct ftr_value_op *op)
{
	uint32_t bytes = op->bytes < FTR_VALUE_NEAR_MAX ? op->bytes : FTR_VALUE_NEAR_MAX;

	from->at = pointer_at(from, op);
	from->near = from->near_room;
	from->near_bytes = 0;
	from->near_bytes = copy_at(from, from->near_room, 0, bytes);
}

/* What is asked for of a block is taken from its copy from here on. */
static void put_block(struct payload *payload, struct ftr_from *from, const struct ftr_value_op *op)
{
	uint8_t *to = payload->bytes + payload->len + FTR_VALUE_COUNT_BYTES;
	uint32_t nr = copy_at(from, to, op->nr, op->bytes);

	copy(to - FTR_VALUE_COUNT_BYTES, &nr, FTR_VALUE_COUNT_BYTES);
	if (op->nr == 0) {
		from->near = to;
		from->near_bytes = nr;
	}
	for (; nr < op->bytes; nr++)
		to[nr] = 0;
	payload->len += FTR_VALUE_COUNT_BYTES + op->bytes;
}

/*
 * The layout of libc++'s first ABI: room and 1, number, pointer; or twice the number in a byte, and
 * the characters.  Of an object that is not there, its address is all there is to show.
 */
static void tell_text(struct ftr_from *from, const struct ftr_value_op *op)
{
	uint64_t words[LIBCXX_BYTES / WORD_BYTES];
	bool is_near = op->nr + LIBCXX_BYTES <= from->near_bytes;
	uintptr_t object = is_near ? (uintptr_t)from->near + op->nr : from->at + op->nr;
	bool is_there = copy_at(from, (uint8_t *)words, op->nr, LIBCXX_BYTES) == LIBCXX_BYTES;

	from->is_text_told = true;
	if (!is_there) {
		from->text = from->at;
		from->count = UINT64_MAX;
	} else if ((words[0] & 1) != 0) {
		from->text = words[2];
		from->count = words[1];
	} else {
		from->text = object + 1;
		from->count = (words[0] & UINT8_MAX) / 2;
	}
}

static uintptr_t text_at(struct ftr_from *from, const struct ftr_value_op *op)
{
	if (!from->is_text_told)
		return pointer_at(from, op);
	from->is_text_told = false;
	return from->text;
}

/* Elements that were copied one by one, and how many bytes there are; the rest is zeros. */
static void put_elements(struct payload *payload, struct ftr_from *from,
			 const struct ftr_value_op *op, uint32_t nr)
{
	uint8_t *to = payload->bytes + payload->len + FTR_VALUE_COUNT_BYTES;
	uint32_t bytes = nr & ~FTR_VALUE_ENDED;

	copy(to - FTR_VALUE_COUNT_BYTES, &nr, FTR_VALUE_COUNT_BYTES);
	from->near = to;
	from->near_bytes = bytes;
	from->at = 0;
	for (; bytes < op->bytes; bytes++)
		to[bytes] = 0;
	payload->len += FTR_VALUE_COUNT_BYTES + op->bytes;
}

static void put_nodes(struct payload *payload, struct ftr_from *from, const struct ftr_value_op *op)
{
	uint8_t *to = payload->bytes + payload->len + FTR_VALUE_COUNT_BYTES;
	struct ftr_walk walk = { .from = from, .inner = op + 1, .left = from->count,
				 .room = op->bytes };

	from->count = UINT64_MAX;
	put_elements(payload, from, op, ftr_walk_nodes(&walk, to, pointer_at(from, op)));
}

static void put_pieces(struct payload *payload, struct ftr_from *from,
		       const struct ftr_value_op *op)
{
	uint8_t *to = payload->bytes + payload->len + FTR_VALUE_COUNT_BYTES;
	struct ftr_walk walk = { .from = from, .room = op->bytes };
	struct ftr_walk_place ends[2];
	uint32_t nr = 0;

	if (copy_at(from, (uint8_t *)ends, op->nr, sizeof(ends)) == sizeof(ends))
		nr = ftr_walk_pieces(&walk, to, ends);
	put_elements(payload, from, op, nr);
}

/* Zeros where there is nothing, or not enough. */
static void put_bytes(struct payload *payload, const struct ftr_from *from,
		      const struct ftr_value_op *op)
{
	uint8_t *to = payload->bytes + payload->len;
	uint8_t x87[FTR_ARCH_X87_BYTES];
	uint32_t nr = 0;
	uint64_t word;

	if (op->what == FTR_VALUE_POINTED) {
		nr = ftr_from_copy(from, to, pointer_at(from, op), op->bytes, false);
	} else if (op->where == FTR_VALUE_STACK) {
		nr = ftr_from_copy(from, to, (uintptr_t)from->slot + op->nr, op->bytes,
				   false);
	} else if (op->where == FTR_VALUE_AT) {
		nr = copy_at(from, to, op->nr, op->bytes);
	} else if (op->where == FTR_VALUE_X87) {
		nr = ftr_arch_x87(x87, op->nr) ? ftr_x87_narrow(x87, op->bytes) : 0;
		copy(to, x87, nr);
	} else if (op->where != FTR_VALUE_NOWHERE) {
		word = word_at(from, op);
		nr = op->bytes < WORD_BYTES ? op->bytes : WORD_BYTES;
		copy(to, &word, nr);
	}
	for (; nr < op->bytes; nr++)
		to[nr] = 0;
	payload->len += op->bytes;
}

static void put_sign(struct payload *payload, const struct ftr_value_op *op)
{
	bool is_negative = payload->len > 0 && payload->bytes[payload->len - 1] >> 7 != 0;
	uint32_t i;

	for (i = 0; i < op->bytes; i++)
		payload->bytes[payload->len++] = is_negative ? UINT8_MAX : 0;
}

/* "<0x123>", as uftrace writes a pointer to nothing. */
static uint32_t pointer_text(uint8_t text[POINTER_TEXT_BYTES], uintptr_t pointer)
{
	uint32_t len = 0;
	int shift = 60;

	text[len++] = '<';
	text[len++] = '0';
	text[len++] = 'x';
	while (shift > 0 && pointer >> shift == 0)
		shift -= 4;
	for (; shift >= 0; shift -= 4)
		text[len++] = (uint8_t)"0123456789abcdef"[pointer >> shift & 15];
	text[len++] = '>';
	return len;
}

/*
 * Up to @room characters of the @wanted ones at @pointer; a NUL ends them, and what is cut ends in
 * dots.  There is room for one more.
 */
static uint32_t put_text(const struct ftr_from *from, uint8_t *to, uintptr_t pointer,
			 uint32_t room, uint32_t wanted)
{
	uint32_t nr = wanted < room ? wanted : room + 1, len, i;

	len = ftr_from_copy(from, to, pointer, nr, true);
	if (len == 0 && nr > 0)
		len = room < POINTER_TEXT_BYTES ? 0 : pointer_text(to, pointer);
	len = length(to, len);
	if (len <= room)
		return len;
	for (i = 1; i <= DOTS && i <= room; i++)
		to[room - i] = '.';
	return room;
}

static void put_string(struct payload *payload, struct ftr_from *from,
		       const struct ftr_value_op *op)
{
	uint8_t *to = payload->bytes + payload->len;
	uint32_t room = PAYLOAD_BYTES_MAX - payload->len - LENGTH_BYTES - op->bytes, len;
	uintptr_t pointer = text_at(from, op);
	uintptr_t object[2];
	uint32_t wanted = FTR_VALUE_STRING_MAX + 1;

	room = room < FTR_VALUE_STRING_MAX ? room : FTR_VALUE_STRING_MAX;
	wanted = from->count < wanted ? (uint32_t)from->count : wanted;
	from->count = UINT64_MAX;
	/* a std::string: pointer, number of characters */
	if (op->what == FTR_VALUE_STD_STRING && pointer != 0 &&
	    ftr_from_copy(from, (uint8_t *)object, pointer, sizeof(object), false) ==
		    sizeof(object)) {
		pointer = object[0];
		wanted = object[1] < wanted ? (uint32_t)object[1] : wanted;
	}
	if (wanted == 0) {
		len = 0;
	} else if (pointer == 0) {
		len = room < 4 ? room : 4;
		copy(to + LENGTH_BYTES, "NULL", len);
	} else {
		len = put_text(from, to + LENGTH_BYTES, pointer, room, wanted);
	}
	to[0] = (uint8_t)len;
	to[1] = 0;
	payload->len += LENGTH_BYTES + len;
}

static void put_fixed_text(struct payload *payload, struct ftr_from *from,
			   const struct ftr_value_op *op)
{
	uint8_t *to = payload->bytes + payload->len;
	uintptr_t pointer = text_at(from, op);
	uint32_t wanted = from->count < op->bytes ? (uint32_t)from->count : op->bytes, len = 0;

	from->count = UINT64_MAX;
	if (pointer != 0 && wanted > 0)
		len = put_text(from, to, pointer, op->bytes - 1u, wanted);
	for (; len < op->bytes; len++)
		to[len] = 0;
	payload->len += op->bytes;
}

static void pad(struct payload *payload, uint32_t align)
{
	while (payload->len % align != 0)
		payload->bytes[payload->len++] = 0;
}

static bool is_string(const struct ftr_value_op *op)
{
	return op->what == FTR_VALUE_STRING || op->what == FTR_VALUE_STD_STRING;
}

/* A program says what it needs; should it be wrong, it ends where the room does. */
static bool has_room(const struct payload *payload, const struct ftr_value_op *op)
{
	uint32_t need = op->bytes;

	if (is_string(op))
		need += FTR_VALUE_ALIGN;
	else if (op->what == FTR_VALUE_BLOCK || op->what == FTR_VALUE_NODES ||
		 op->what == FTR_VALUE_PIECES)
		need += FTR_VALUE_COUNT_BYTES;
	else if (op->what == FTR_VALUE_FOLLOW || op->what == FTR_VALUE_COUNT ||
		 op->what == FTR_VALUE_NODE || op->what == FTR_VALUE_LIBCXX)
		need = 0;

	return need <= PAYLOAD_BYTES_MAX - payload->len;
}

static void run_op(struct payload *payload, struct ftr_from *from, const struct ftr_value_op *op)
{
	switch (op->what) {
	case FTR_VALUE_COUNT:
		from->count = pointer_at(from, op);
		break;
	case FTR_VALUE_FOLLOW:
		follow(from, op);
		break;
	case FTR_VALUE_BLOCK:
		put_block(payload, from, op);
		break;
	case FTR_VALUE_NODES:
		put_nodes(payload, from, op);
		break;
	case FTR_VALUE_PIECES:
		put_pieces(payload, from, op);
		break;
	case FTR_VALUE_LIBCXX:
		tell_text(from, op);
		break;
	case FTR_VALUE_NODE:
		break;
	case FTR_VALUE_SIGN:
		put_sign(payload, op);
		break;
	case FTR_VALUE_TEXT:
		put_fixed_text(payload, from, op);
		break;
	case FTR_VALUE_STRING:
	case FTR_VALUE_STD_STRING:
		put_string(payload, from, op);
		break;
	default:
		put_bytes(payload, from, op);
	}
}

uint32_t ftr_values_run(const struct ftr_value_op *program,
			const struct ftr_values_programs *programs, const struct ftr_call *call,
			uint8_t *to)
{
	uint8_t near_room[FTR_VALUE_NEAR_MAX];
	struct payload payload = { .bytes = to };
	const struct ftr_value_op *op;
	struct ftr_from from = {
		.regs = call->regs, .slot = call->slot, .result = call->result,
		.stack_high = ftr_values_stack_end(&ftr_self, call->slot),
		.base = programs->base, .values = programs->values, .image = programs->image,
		.near_room = near_room, .count = UINT64_MAX,
	};

	if (call->regs == NULL)
		return 0;
	for (op = program; op->what != FTR_VALUE_END && has_room(&payload, op); op++) {
		run_op(&payload, &from, op);
		if ((op->flags & FTR_VALUE_JOINED) == 0)
			pad(&payload, FTR_VALUE_ALIGN);
	}
	pad(&payload, PAYLOAD_ALIGN);
	return payload.len;
}

static const struct ftr_values no_values;

/* Of no call that has a program: the stack is known, and nothing else. */
static struct ftr_from from_stack(const struct ftr_thread *self, const uintptr_t *slot)
{
	return (struct ftr_from){
		.slot = slot,
		.stack_high = ftr_values_stack_end(self, slot),
		.values = &no_values,
	};
}

uint32_t ftr_values_text(const struct ftr_thread *self, uint8_t *to, const uintptr_t *slot,
			 uintptr_t pointer, uint32_t room)
{
	const struct ftr_from from = from_stack(self, slot);

	return put_text(&from, to, pointer, room, UINT32_MAX);
}

uint32_t ftr_values_copy(const struct ftr_thread *self, uint8_t *to, const uintptr_t *slot,
			 uintptr_t pointer, uint32_t bytes)
{
	const struct ftr_from from = from_stack(self, slot);

	return ftr_from_copy(&from, to, pointer, bytes, false);
}
