/* SPDX-License-Identifier: MIT */
/* Pages of the kernel's ring buffer (page_layout.h), written. */
#include "utils/format/ftrace/page_write.h"

#include <assert.h>
#include <string.h>

#include "utils/base/bytes.h"
#include "utils/format/ftrace/page_layout.h"

static bool is_big(const struct ftr_kbuf *kbuf)
{
	return kbuf->is_swapped != FTR_HOST_IS_BIG;
}

static size_t long_bytes(const struct ftr_kbuf *kbuf)
{
	return kbuf->is_narrow ? sizeof(uint32_t) : sizeof(uint64_t);
}

static void long_put(const struct ftr_kbuf *kbuf, uint8_t *at, uint64_t value)
{
	if (kbuf->is_narrow)
		ftr_put_u32(at, (uint32_t)value, is_big(kbuf));
	else
		ftr_put_u64(at, value, is_big(kbuf));
}

/* Where the next word goes. */
static uint8_t *data_end(struct ftr_kbuf *kbuf)
{
	return kbuf->page + FTR_KPAGE_COMMIT_OFFSET + long_bytes(kbuf) + kbuf->used;
}

static void word_put(struct ftr_kbuf *kbuf, uint32_t word)
{
	ftr_put_u32(data_end(kbuf), word, is_big(kbuf));
	kbuf->used += FTR_KPAGE_WORD_BYTES;
}

static void head_put(struct ftr_kbuf *kbuf, uint32_t type, uint64_t delta)
{
	word_put(kbuf, ftr_kpage_event_head(type, delta, is_big(kbuf)));
}

static void page_begin(struct ftr_kbuf *kbuf, uint64_t time_ns)
{
	ftr_put_u64(kbuf->page, time_ns, is_big(kbuf));
	kbuf->last_ns = time_ns;
	kbuf->has_begun = true;
}

static uint32_t page_room(const struct ftr_kbuf *kbuf)
{
	return FTR_KBUF_DATA_BYTES - (kbuf->has_lost ? (uint32_t)sizeof(uint64_t) : 0) - kbuf->used;
}

bool ftr_kbuf_put(struct ftr_kbuf *kbuf, uint64_t time_ns, const void *record, uint32_t len)
{
	uint32_t words = (uint32_t)ftr_align_up(len, FTR_KPAGE_WORD_BYTES) / FTR_KPAGE_WORD_BYTES;
	bool is_long = words > FTR_KPAGE_WORDS_MAX;
	bool is_extended;
	uint64_t delta;

	assert(len > 0 && len <= FTR_KBUF_RECORD_MAX);
	assert(time_ns >= kbuf->last_ns);
	if (!kbuf->has_begun)
		page_begin(kbuf, time_ns);
	delta = time_ns - kbuf->last_ns;
	is_extended = delta >= FTR_KPAGE_DELTA_END;
	if (delta >= FTR_KPAGE_EXTEND_END ||
	    FTR_KPAGE_WORD_BYTES * (1 + is_long + 2 * is_extended + words) > page_room(kbuf))
		return false;
	if (is_extended) {
		head_put(kbuf, FTR_KPAGE_TYPE_EXTEND, delta % FTR_KPAGE_DELTA_END);
		word_put(kbuf, ftr_kpage_delta_high(delta));
		delta = 0;
	}
	head_put(kbuf, is_long ? FTR_KPAGE_TYPE_LONG : words, delta);
	if (is_long)
		word_put(kbuf, (words + 1) * FTR_KPAGE_WORD_BYTES);
	memcpy(data_end(kbuf), record, len);
	memset(data_end(kbuf) + len, 0, words * FTR_KPAGE_WORD_BYTES - len);
	kbuf->used += words * FTR_KPAGE_WORD_BYTES;
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
	uint8_t *end = data_end(kbuf);

	memset(end, 0, FTR_KBUF_PAGE_BYTES - (size_t)(end - kbuf->page));
	if (kbuf->has_lost)
		commit |= FTR_KPAGE_COMMIT_LOST;
	if (kbuf->lost_nr != 0) {
		commit |= FTR_KPAGE_COMMIT_STORED;
		long_put(kbuf, end, kbuf->lost_nr);
	}
	long_put(kbuf, kbuf->page + FTR_KPAGE_COMMIT_OFFSET, commit);
	kbuf->used = 0;
	kbuf->lost_nr = 0;
	kbuf->has_lost = kbuf->has_begun = false;
	return kbuf->page;
}
