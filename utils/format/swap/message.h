/* SPDX-License-Identifier: MIT */
/* What a SWAP stream consists of (doc/swap.md): messages, each with fields in a fixed order. */
#ifndef FTR_FORMAT_SWAP_MESSAGE_H
#define FTR_FORMAT_SWAP_MESSAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The header: id, sequence number, time (two words), bytes of the payload. */
#define SWAP_HEADER_BYTES 20
#define SWAP_ID_MAX	  0xffffu
#define SWAP_SELECTOR_MAX 32u
#define SWAP_HEADER_SEQUENCE_SHIFT 32	/* of the header's first eight bytes */

/* On the wire all is little-endian, without padding. */
enum swap_kind {
	SWAP_U8,
	SWAP_U32,
	SWAP_U64,
	SWAP_ADDR,		/* u64 */
	SWAP_FLOAT,		/* of 4 bytes */
	SWAP_DOUBLE,
	SWAP_TIME,		/* u64, in one of two forms: enum swap_time_form */
	SWAP_STR,		/* bytes and a NUL */
	SWAP_ARG,		/* a character that says of which type, and the value */
	SWAP_ARGS,		/* u32, and so many of them */
	SWAP_LIST,		/* u32, and so often the next .rows fields */
	SWAP_MORE,		/* the next .rows fields once more, if any bytes are left */
	SWAP_PER_CPU,		/* a float of each CPU; how many is not on the wire */
	SWAP_PER_DEVICE,	/* a u32 of each device; how many is not on the wire */
	SWAP_BYTES,		/* as many as the number before says */
	SWAP_REST,		/* the rest of the payload */
};

/* Is a field of this kind any number of values, in brackets where it is text? */
static inline bool swap_is_list(enum swap_kind kind)
{
	return kind == SWAP_LIST || kind == SWAP_MORE || kind == SWAP_ARGS ||
	       kind == SWAP_PER_CPU || kind == SWAP_PER_DEVICE;
}

struct swap_field {
	const char *name;
	const char *words;	/* (nullable) names of 0, 1 ... of a number, separated by blanks */
	uint8_t  kind;		/* enum swap_kind */
	uint8_t  rows;		/* of LIST and MORE */
	uint8_t  is_selector;	/* fields with a .when look at this number */
	uint32_t when; /* 0, or bits of the selector's values with which the field is there */
};

enum swap_message_id {
#define SWAP_MESSAGE(id_, name_, what_, ...) SWAP_MSG_##name_ = (id_),
#include "utils/format/swap/messages.def"
#undef SWAP_MESSAGE
};

struct swap_message {
	uint32_t id;
	const char *name;		/* "PROCESS_INFO" */
	const char *event_name;		/* "swap:PROCESS_INFO", of a POINT that shows it */
	const char *what;
	const struct swap_field *fields;
	uint32_t field_nr;
};

/* NULL = none. */
const struct swap_message *swap_message_find(uint32_t id);
const struct swap_message *swap_message_by_name(const char *name, size_t len);
/* Iterate, by id: *pos starts at 0; NULL at the end. */
const struct swap_message *swap_message_next(size_t *pos);
const char *swap_message_next_name(size_t *pos);

/* A message that is not in the table, or not as its row says: its id and its bytes. */
extern const struct swap_message swap_message_unknown;

/* The name of @value among @words, and its length; NULL = it has none. */
const char *swap_word_find(const char *words, uint64_t value, size_t *len);

#endif /* FTR_FORMAT_SWAP_MESSAGE_H */
