/* SPDX-License-Identifier: MIT */
/*
 * Pages of the kernel's ring buffer.
 *
 *	 0	u64	time of the first record, or of a loss before it
 *	 8	u64	bits 0..26: bytes of data; 31: records were lost before; 30: how many (u64)
 *	16	words	from the lowest bit (big-endian: highest): type (5 bits), time passed (27)
 *			type 1..28: so many words of a record follow
 *			type 0: a word with its length plus 4, then the record, padded to 4
 *			type 30: the time's higher bits are the next word; no record
 */
#include "utils/format/ftrace/page_write.h"

#include <assert.h>
#include <string.h>

#include "utils/base/bytes.h"

#define WORD_BYTES 4u
#define WORDS_MAX 28u			/* of a record whose length is its type */
#define TYPE_LONG 0u
#define TYPE_EXTEND 30u
#define DELTA_BITS 27
#define DELTA_END (UINT64_C(1) << DELTA_BITS)
#define EXTEND_END (UINT64_C(1) << (DELTA_BITS + 32))
#define LOST_STORED (UINT64_C(1) << 30)
#define LOST_SOME (UINT64_C(1) << 31)

static void word_put(struct ftr_kbuf *kbuf, uint32_t word)
{
	memcpy(kbuf->page + FTR_KBUF_HEAD_BYTES + kbuf->used, &word, sizeof(word));
	kbuf->used += WORD_BYTES;
}

static void head_put(struct ftr_kbuf *kbuf, uint32_t type, uint64_t delta)
{
	word_put(kbuf, FTR_HOST_IS_BIG ? type << DELTA_BITS | (uint32_t)delta :
					 type | (uint32_t)delta << 5);
}

static void page_begin(struct ftr_kbuf *kbuf, uint64_t time_ns)
{
	memcpy(kbuf->page, &time_ns, sizeof(time_ns));
	kbuf->last_ns = time_ns;
	kbuf->has_begun = true;
}

static uint32_t page_room(const struct ftr_kbuf *kbuf)
{
	return FTR_KBUF_DATA_BYTES - (kbuf->has_lost ? (uint32_t)sizeof(uint64_t) : 0) - kbuf->used;
}

bool ftr_kbuf_put(struct ftr_kbuf *kbuf, uint64_t time_ns, const void *record, uint32_t len)
{
	uint32_t padded = (uint32_t)ftr_align_up(len, WORD_BYTES);
	bool is_long = padded > WORDS_MAX * WORD_BYTES;
	bool is_extended;
	uint64_t delta;

	assert(len > 0 && len <= FTR_KBUF_RECORD_MAX);
	assert(time_ns >= kbuf->last_ns);
	if (!kbuf->has_begun)
		page_begin(kbuf, time_ns);
	delta = time_ns - kbuf->last_ns;
	is_extended = delta >= DELTA_END;
	if (delta >= EXTEND_END ||
	    WORD_BYTES + is_long * WORD_BYTES + 2 * is_extended * WORD_BYTES + padded >
		    page_room(kbuf))
		return false;
	if (is_extended) {
		head_put(kbuf, TYPE_EXTEND, delta % DELTA_END);
		word_put(kbuf, (uint32_t)(delta >> DELTA_BITS));
		delta = 0;
	}
	head_put(kbuf, is_long ? TYPE_LONG : padded / WORD_BYTES, delta);
	if (is_long)
		word_put(kbuf, padded + WORD_BYTES);
	memcpy(kbuf->page + FTR_KBUF_HEAD_BYTES + kbuf->used, record, len);
	memset(kbuf->page + FTR_KBUF_HEAD_BYTES + kbuf->used + len, 0, padded - len);
	kbuf->used += padded;
	kbuf->last_ns = time_ns;
	return true;
}

bool ftr_kbuf_lose(struct ftr_kbuf *kbuf, uint64_t time_ns, uint64_t nr)
{
	bool is_known = nr != 0 && (!kbuf->has_lost || kbuf->lost_nr != 0);

	assert(time_ns >= kbuf->last_ns);
	if (kbuf->used > 0)
		return false;
	if (!kbuf->has_begun)
		page_begin(kbuf, time_ns);
	kbuf->has_lost = true;
	kbuf->lost_nr = is_known ? kbuf->lost_nr + nr : 0;
	return true;
}

const uint8_t *ftr_kbuf_take(struct ftr_kbuf *kbuf)
{
	uint64_t commit = kbuf->used;
	uint8_t *end = kbuf->page + FTR_KBUF_HEAD_BYTES + kbuf->used;

	memset(end, 0, FTR_KBUF_DATA_BYTES - kbuf->used);
	if (kbuf->has_lost)
		commit |= LOST_SOME;
	if (kbuf->lost_nr != 0) {
		commit |= LOST_STORED;
		memcpy(end, &kbuf->lost_nr, sizeof(kbuf->lost_nr));
	}
	memcpy(kbuf->page + sizeof(uint64_t), &commit, sizeof(commit));
	kbuf->used = 0;
	kbuf->lost_nr = 0;
	kbuf->has_lost = kbuf->has_begun = false;
	return kbuf->page;
}
