/* SPDX-License-Identifier: MIT */
/*
 * The fields of a message as values: from bytes, to bytes, as text and back.  All four walk the
 * message's rows (message.h), and a message is the same in all of them.
 */
#ifndef FTR_FORMAT_SWAP_CODEC_H
#define FTR_FORMAT_SWAP_CODEC_H

#include <stdbool.h>
#include <stdint.h>

#include "utils/base/bits.h"
#include "utils/base/strbuf.h"
#include "utils/base/text.h"
#include "utils/base/vec.h"
#include "utils/format/swap/message.h"

/*
 * One value: of a field, or, with a type, one of its arguments.  LIST, MORE, ARGS, PER_CPU and
 * PER_DEVICE have one that says how many follow.
 */
struct swap_value {
	const struct swap_field *field;	/* (borrowed, nullable: of values that are written) */
	uint64_t u;	/* number; bits of a FLOAT or DOUBLE; of a TIME seconds above nanoseconds */
	const char *s;	/* (borrowed) of STR, BYTES, REST, and of an argument of text or an array */
	uint32_t len;	/* of s, without its NUL */
	char type;	/* of an argument; '\0' = none */
};

struct swap_values {
	FTR_VEC(struct swap_value) all;
};

/* Times: as the document has it, or as the original programs wrote it. */
enum swap_time_form {
	SWAP_TIME_DOCUMENT,	/* u64 of seconds << 32 | nanoseconds */
	SWAP_TIME_LEGACY,	/* u32 seconds, u32 nanoseconds */
};

/* What the stream does not say of itself. */
struct swap_layout {
	enum swap_time_form time_form;
	uint32_t cpu_nr;	/* values of a PER_CPU; 0 = to be found out */
	uint32_t device_nr;	/* UINT32_MAX = to be found out */
};

/* Bytes of the value behind an argument's type; -1: of text or an array; -2: no such type. */
int swap_arg_bytes(char type);

/* The two words of a time, 8 bytes; what is read is seconds << 32 | nanoseconds. */
uint64_t swap_time_get(const uint8_t *p, enum swap_time_form form);
void swap_time_put(uint8_t *p, uint64_t time, enum swap_time_form form);
#define SWAP_NS_PER_S	    UINT64_C(1000000000)
#define SWAP_TIME_S_SHIFT   32
static inline uint32_t swap_time_seconds(uint64_t time)
{
	return (uint32_t)(time >> SWAP_TIME_S_SHIFT);
}
static inline uint64_t swap_time_ns(uint64_t time)
{
	return swap_time_seconds(time) * SWAP_NS_PER_S + (uint32_t)time;
}
static inline uint64_t swap_time_of(uint64_t ns)
{
	return ns / SWAP_NS_PER_S << SWAP_TIME_S_SHIFT | ns % SWAP_NS_PER_S;
}
/* The bit of a selector's value; 0 = none of those that fields can ask for. */
static inline uint32_t swap_selector_bit(uint64_t value)
{
	return value < SWAP_SELECTOR_MAX ? (uint32_t)FTR_BIT(value) : 0;
}

/*
 * The values of @message's payload, which must be as long as they are.  Borrow the payload.  0,
 * -ENOMEM, or -EBADMSG.
 */
int swap_decode(const struct swap_message *message, const uint8_t *payload, size_t len,
		const struct swap_layout *layout, struct swap_values *values);
/* How many CPUs a SYSTEM message is about; 0 = that cannot be found out. */
uint32_t swap_cpus_guess(const uint8_t *payload, size_t len, const struct swap_layout *layout);

/* Append the payload.  -EINVAL: the values are not those of the message. */
int swap_encode(const struct swap_message *message, const struct swap_values *values,
		const struct swap_layout *layout, struct ftr_strbuf *to);

/* 'pid=7 command="a" ...': to read, and exact. */
void swap_format(const struct swap_message *message, const struct swap_values *values,
		 struct ftr_strbuf *text);
/* The values back; their strings are put into @room of text.len bytes.  0, -ENOMEM or -EINVAL. */
int swap_parse(const struct swap_message *message, struct ftr_slice text,
	       struct swap_values *values, char *room);

#endif /* FTR_FORMAT_SWAP_CODEC_H */
