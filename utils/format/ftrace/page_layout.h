/* SPDX-License-Identifier: MIT */
/*
 * The layout of a page of the kernel's ring buffer.
 *
 *	 0	u64	time of the page
 *	 8	long	commit: bits 0..26: bytes that follow the head; 31: events were lost before
 *			the page; 30: how many stands in a long behind those bytes.  Sign-extended.
 *	12, 16	events:	u32 head: type (5 bits, from the lowest; big-endian: highest) and time
 *			passed (27 bits), then
 *			type 1..28: so many words of data
 *			type 0: u32 length of the data plus 4, data padded to words
 *			type 29: padding: nothing more if no time passed, else u32 length plus 4
 *			type 30: u32: the higher bits of the time passed
 *			type 31: u32: the higher bits of an absolute time of 59 bits
 */
#ifndef FTR_FORMAT_FTRACE_PAGE_LAYOUT_H
#define FTR_FORMAT_FTRACE_PAGE_LAYOUT_H

#include <stdbool.h>
#include <stdint.h>

#define FTR_KPAGE_COMMIT_OFFSET	8u
#define FTR_KPAGE_COMMIT_BYTES	((UINT64_C(1) << 27) - 1)
#define FTR_KPAGE_COMMIT_STORED	(UINT64_C(1) << 30)
#define FTR_KPAGE_COMMIT_LOST	(UINT64_C(1) << 31)

#define FTR_KPAGE_WORD_BYTES	4u
#define FTR_KPAGE_WORDS_MAX	28u	/* of data whose length is the type */
#define FTR_KPAGE_TYPE_LONG	0u
#define FTR_KPAGE_TYPE_PADDING	29u
#define FTR_KPAGE_TYPE_EXTEND	30u
#define FTR_KPAGE_TYPE_STAMP	31u
#define FTR_KPAGE_DELTA_BITS	27
#define FTR_KPAGE_DELTA_END	(UINT64_C(1) << FTR_KPAGE_DELTA_BITS)
#define FTR_KPAGE_EXTEND_END	(UINT64_C(1) << (FTR_KPAGE_DELTA_BITS + 32))
#define FTR_KPAGE_STAMP_KEPT	(UINT64_C(0xf8) << 56)	/* bits that an absolute time lacks */

static inline uint32_t ftr_kpage_event_head(uint32_t type, uint64_t delta, bool is_big)
{
	return is_big ? type << FTR_KPAGE_DELTA_BITS | (uint32_t)delta :
			type | (uint32_t)delta << 5;
}

static inline uint32_t ftr_kpage_head_type(uint32_t head, bool is_big)
{
	return is_big ? head >> FTR_KPAGE_DELTA_BITS : head & 31;
}

static inline uint32_t ftr_kpage_head_delta(uint32_t head, bool is_big)
{
	return is_big ? head & (uint32_t)(FTR_KPAGE_DELTA_END - 1) : head >> 5;
}

/* What an event of type 30 has of a time that the head does not hold. */
static inline uint32_t ftr_kpage_delta_high(uint64_t delta)
{
	return (uint32_t)(delta >> FTR_KPAGE_DELTA_BITS);
}

/* Where the data of a dynamic field lie in a record: u32, offset and length. */
static inline uint32_t ftr_kpage_dynamic(uint32_t offset, uint32_t bytes)
{
	return offset | bytes << 16;
}

static inline uint32_t ftr_kpage_dynamic_offset(uint64_t at)
{
	return at & 0xffff;
}

static inline uint32_t ftr_kpage_dynamic_bytes(uint64_t at)
{
	return at >> 16 & 0xffff;
}

#endif /* FTR_FORMAT_FTRACE_PAGE_LAYOUT_H */
