/* SPDX-License-Identifier: MIT */
/* See summary.h. */
#include "utils/format/uftrace/summary.h"

#include <assert.h>
#include <errno.h>
#include <string.h>
#include <zlib.h>

#include "utils/base/bits.h"
#include "utils/base/bytes.h"

#define PLACE_BYTES	 16u
#define CALL_SUM_NUMBERS 5u

uint32_t ftr_summary_check(const void *bytes, size_t len)
{
	return (uint32_t)crc32_z(0, bytes, len);
}

/* ---- writing ---- */

void ftr_summary_head(uint8_t head[FTR_SUMMARY_HEAD_BYTES], uint32_t seconds)
{
	assert(seconds > 0 && seconds <= FTR_SUMMARY_SECONDS_MAX);
	memcpy(head, FTR_SUMMARY_MAGIC, sizeof(FTR_SUMMARY_MAGIC) - 1);
	ftr_put_u32(head + 8, FTR_SUMMARY_VERSION, false);
	ftr_put_u32(head + 12, seconds, false);
}

static void put_number(struct ftr_strbuf *text, uint64_t value)
{
	uint8_t bytes[FTR_LEB128_MAX];

	ftr_strbuf_put(text, (const char *)bytes, ftr_put_leb128(bytes, value));
}

static void put_u64(struct ftr_strbuf *text, uint64_t value)
{
	char bytes[sizeof(value)];

	ftr_put_u64(bytes, value, false);
	ftr_strbuf_put(text, bytes, sizeof(bytes));
}

static void put_span(struct ftr_strbuf *text, const struct ftr_time_span *span)
{
	uint64_t squares;

	assert(span->max_ns >= span->min_ns);
	memcpy(&squares, &span->squares, sizeof(squares));
	put_number(text, span->min_ns);
	put_number(text, span->max_ns - span->min_ns);
	put_u64(text, squares);
}

void ftr_summary_put(struct ftr_summary_block *block, const struct ftr_summary_key *key,
		     const struct ftr_summary_row *row)
{
	struct ftr_strbuf *text = &block->rows;

	assert(key->place < block->places.nr);
	assert(row->used != 0);
	put_number(text, key->place);
	put_number(text, key->addr);
	put_span(text, &row->total);
	put_span(text, &row->self);
	put_u64(text, row->used);
	for (uint64_t left = row->used; left != 0; left &= left - 1) {
		const struct ftr_call_sum *sum = &row->octaves[__builtin_ctzll(left)];

		put_number(text, sum->calls);
		put_number(text, sum->total_ns);
		put_number(text, sum->self_ns);
		put_number(text, sum->nested_ns);
		put_number(text, sum->outermost_ns);
	}
	block->row_nr++;
}

int ftr_summary_block_end(struct ftr_summary_block *block, struct ftr_strbuf *text)
{
	size_t len;

	ftr_strbuf_clear(text);
	put_u64(text, 0);	/* length and check */
	put_number(text, block->begin_ns);
	put_number(text, block->places.nr);
	put_number(text, block->row_nr);
	for (size_t i = 0; i < block->places.nr; i++) {
		put_u64(text, block->places.v[i].sid);
		put_u64(text, block->places.v[i].at_ns);
	}
	ftr_strbuf_put(text, ftr_strbuf_str(&block->rows), block->rows.len);
	if (text->failed || block->rows.failed || text->len - FTR_SUMMARY_BLOCK_HEAD > UINT32_MAX)
		return -ENOMEM;
	len = text->len - FTR_SUMMARY_BLOCK_HEAD;
	ftr_put_u32(text->s, (uint32_t)len, false);
	ftr_put_u32(text->s + 4, ftr_summary_check(text->s + FTR_SUMMARY_BLOCK_HEAD, len), false);
	return 0;
}

void ftr_summary_block_fini(struct ftr_summary_block *block)
{
	ftr_vec_fini(&block->places);
	ftr_strbuf_fini(&block->rows);
}

/* ---- reading ---- */

uint32_t ftr_summary_head_get(const uint8_t *bytes, size_t size)
{
	uint32_t seconds;

	if (size < FTR_SUMMARY_HEAD_BYTES ||
	    memcmp(bytes, FTR_SUMMARY_MAGIC, sizeof(FTR_SUMMARY_MAGIC) - 1) != 0 ||
	    ftr_get_u32(bytes + 8, false) != FTR_SUMMARY_VERSION)
		return 0;
	seconds = ftr_get_u32(bytes + 12, false);
	return seconds <= FTR_SUMMARY_SECONDS_MAX ? seconds : 0;
}

static uint64_t get_number(struct ftr_summary_cursor *cursor)
{
	uint64_t value = 0;
	unsigned shift;

	for (shift = 0; shift < 64 && cursor->p < cursor->end; shift += FTR_LEB128_BITS) {
		uint64_t byte = *cursor->p++;
		uint64_t bits = byte & (FTR_LEB128_CONTINUED - 1);

		if (bits << shift >> shift != bits)
			break;
		value |= bits << shift;
		if (byte < FTR_LEB128_CONTINUED)
			return value;
	}
	cursor->is_bad = true;
	return 0;
}

static uint64_t get_u64(struct ftr_summary_cursor *cursor)
{
	uint64_t value;

	if (cursor->end - cursor->p < (ptrdiff_t)sizeof(value)) {
		cursor->is_bad = true;
		return 0;
	}
	value = ftr_get_u64(cursor->p, false);
	cursor->p += sizeof(value);
	return value;
}

int ftr_summary_block_get(const uint8_t *bytes, size_t size, size_t *pos,
			  struct ftr_summary_cursor *cursor)
{
	const uint8_t *p = bytes + *pos;
	uint32_t len;

	if (*pos == size)
		return 0;
	if (size - *pos < FTR_SUMMARY_BLOCK_HEAD ||
	    ftr_get_u32(p, false) > size - *pos - FTR_SUMMARY_BLOCK_HEAD) {
		*pos = size;
		return -EBADMSG;
	}
	len = ftr_get_u32(p, false);
	*pos += FTR_SUMMARY_BLOCK_HEAD + len;
	*cursor = (struct ftr_summary_cursor){ .p = p + FTR_SUMMARY_BLOCK_HEAD,
					       .end = p + FTR_SUMMARY_BLOCK_HEAD + len };
	if (ftr_get_u32(p + 4, false) != ftr_summary_check(cursor->p, len))
		return -EBADMSG;
	cursor->begin_ns = get_number(cursor);
	cursor->place_nr = get_number(cursor);
	cursor->row_nr = get_number(cursor);
	cursor->places = cursor->p;
	if (cursor->is_bad ||
	    cursor->place_nr > (size_t)(cursor->end - cursor->p) / PLACE_BYTES)
		return -EBADMSG;
	cursor->p += cursor->place_nr * PLACE_BYTES;
	return 1;
}

static void get_span(struct ftr_summary_cursor *cursor, struct ftr_time_span *span)
{
	uint64_t squares;

	span->min_ns = get_number(cursor);
	span->max_ns = span->min_ns + get_number(cursor);
	squares = get_u64(cursor);
	memcpy(&span->squares, &squares, sizeof(squares));
	cursor->is_bad |= span->max_ns < span->min_ns;
}

static void get_sums(struct ftr_summary_cursor *cursor, struct ftr_summary_row *row)
{
	row->calls = 0;
	row->used = get_u64(cursor);
	for (uint64_t left = row->used; left != 0 && !cursor->is_bad; left &= left - 1) {
		uint64_t numbers[CALL_SUM_NUMBERS];

		for (size_t i = 0; i < CALL_SUM_NUMBERS; i++)
			numbers[i] = get_number(cursor);
		row->octaves[__builtin_ctzll(left)] = (struct ftr_call_sum){
			numbers[0], numbers[1], numbers[2], numbers[3], numbers[4],
		};
		row->calls += numbers[0];
	}
}

bool ftr_summary_get(struct ftr_summary_cursor *cursor, struct ftr_summary_place *place,
		     uint64_t *addr, struct ftr_summary_row *row)
{
	uint64_t index;

	if (cursor->row_nr == 0)
		return false;
	cursor->row_nr--;
	index = get_number(cursor);
	*addr = get_number(cursor);
	get_span(cursor, &row->total);
	get_span(cursor, &row->self);
	get_sums(cursor, row);
	row->begin_ns = cursor->begin_ns;
	cursor->is_bad |= index >= cursor->place_nr || row->calls == 0;
	if (cursor->is_bad)
		return false;
	place->sid = ftr_get_u64(cursor->places + index * PLACE_BYTES, false);
	place->at_ns = ftr_get_u64(cursor->places + index * PLACE_BYTES + 8, false);
	return true;
}
