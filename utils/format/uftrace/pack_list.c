/* SPDX-License-Identifier: MIT */
/* Which blocks a packed file has: by its index, or by looking for them. */
#include <errno.h>
#include <string.h>
#include <zlib.h>

#include "utils/base/bytes.h"
#include "utils/format/uftrace/pack_block.h"
#include "utils/format/uftrace/pack_layout.h"

#define BLOCK_MARK "blk:"
#define INDEX_MARK "idx:"
#define MARK_CHARS 4u

static uint32_t check_of(const uint8_t *bytes, size_t nr)
{
	return (uint32_t)crc32_z(0, bytes, nr);
}

static void row_put(uint8_t *to, const struct ftr_pack_block *block)
{
	ftr_put_u64(to, block->at, false);
	ftr_put_u64(to + 8, block->file_at, false);
	ftr_put_u64(to + 16, block->first_ns, false);
	ftr_put_u32(to + 24, block->bytes, false);
	ftr_put_u32(to + 28, block->packed_bytes, false);
	ftr_put_u32(to + 32, block->depth, false);
}

static struct ftr_pack_block row_get(const uint8_t *from)
{
	return (struct ftr_pack_block){
		.at = ftr_get_u64(from, false),
		.file_at = ftr_get_u64(from + 8, false),
		.first_ns = ftr_get_u64(from + 16, false),
		.bytes = ftr_get_u32(from + 24, false),
		.packed_bytes = ftr_get_u32(from + 28, false),
		.depth = ftr_get_u32(from + 32, false),
	};
}

static void mark_put(uint8_t *to, const char *mark, size_t row_bytes)
{
	memcpy(to, mark, MARK_CHARS);
	ftr_put_u32(to + MARK_CHARS, check_of(to + PACK_MARK_BYTES, row_bytes), false);
}

static bool is_marked(const uint8_t *from, const char *mark, size_t row_bytes)
{
	return memcmp(from, mark, MARK_CHARS) == 0 &&
	       ftr_get_u32(from + MARK_CHARS, false) == check_of(from + PACK_MARK_BYTES, row_bytes);
}

void pack_head_put(uint8_t head[PACK_HEAD_BYTES], const struct ftr_pack_block *block)
{
	memset(head, 0, PACK_HEAD_BYTES);
	row_put(head + PACK_MARK_BYTES, block);
	mark_put(head, BLOCK_MARK, PACK_ROW_BYTES);
}

size_t pack_index_bytes(size_t nr)
{
	return PACK_MARK_BYTES + nr * PACK_ROW_BYTES + pack_padding(nr * PACK_ROW_BYTES) +
	       PACK_TAIL_BYTES;
}

void pack_index_put(uint8_t *to, const struct ftr_pack_blocks *blocks, uint64_t index_at)
{
	size_t bytes = pack_index_bytes(blocks->nr);

	memset(to, 0, bytes);
	for (size_t i = 0; i < blocks->nr; i++)
		row_put(to + PACK_MARK_BYTES + i * PACK_ROW_BYTES, &blocks->v[i]);
	mark_put(to, INDEX_MARK, blocks->nr * PACK_ROW_BYTES);
	ftr_put_u64(to + bytes - PACK_TAIL_BYTES, index_at, false);
	memcpy(to + bytes - PACK_FILE_MAGIC_BYTES, PACK_FILE_MAGIC, PACK_FILE_MAGIC_BYTES);
}

static bool is_magic(const uint8_t *bytes)
{
	return memcmp(bytes, PACK_FILE_MAGIC, PACK_FILE_MAGIC_BYTES) == 0;
}

/* Is it one of the writer's, even if it is cut? */
static bool is_begun(const uint8_t *file, size_t size)
{
	return size == 0 || memcmp(file, PACK_FILE_MAGIC, size < PACK_FILE_MAGIC_BYTES ?
							  size : PACK_FILE_MAGIC_BYTES) == 0;
}

/* Does it lie before @end, behind a head? */
static bool block_fits(const struct ftr_pack_block *block, uint64_t end)
{
	return block->bytes > 0 && block->bytes <= FTR_PACK_BLOCK_BYTES &&
	       block->file_at >= PACK_FILE_MAGIC_BYTES + PACK_HEAD_BYTES && block->file_at <= end &&
	       block->packed_bytes <= end - block->file_at;
}

/* 1, 0 = there is no index, or -ENOMEM. */
static int index_get(struct ftr_pack_blocks *blocks, const uint8_t *file, size_t size)
{
	uint64_t index_at, at = 0, end = PACK_FILE_MAGIC_BYTES;
	size_t nr;

	if (size < PACK_FILE_MAGIC_BYTES + pack_index_bytes(0) ||
	    !is_magic(file + size - PACK_FILE_MAGIC_BYTES))
		return 0;
	index_at = ftr_get_u64(file + size - PACK_TAIL_BYTES, false);
	if (index_at > size - pack_index_bytes(0) || index_at < PACK_FILE_MAGIC_BYTES)
		return 0;
	nr = (size - (size_t)index_at - pack_index_bytes(0)) / PACK_ROW_BYTES;
	if (pack_index_bytes(nr) != size - index_at ||
	    !is_marked(file + index_at, INDEX_MARK, nr * PACK_ROW_BYTES))
		return 0;
	for (size_t i = 0; i < nr; i++) {
		struct ftr_pack_block block =
			row_get(file + index_at + PACK_MARK_BYTES + i * PACK_ROW_BYTES);

		if (!block_fits(&block, index_at) || block.at != at ||
		    block.file_at != end + PACK_HEAD_BYTES)
			return 0;
		if (ftr_vec_push(blocks, block) < 0)
			return -ENOMEM;
		at += block.bytes;
		end = pack_block_end(&block);
	}
	return end == index_at;
}

/* Are the @left bytes at @from, the file's last, fewer than the @whole ones of what begins so? */
static bool is_cut_mark(const uint8_t *from, size_t left, const char *mark, size_t whole)
{
	return left < whole && memcmp(from, mark, left < MARK_CHARS ? left : MARK_CHARS) == 0;
}

/* Block after block; what is none is passed over, and what follows it moves up. */
static int blocks_find(struct ftr_pack_blocks *blocks, const uint8_t *file, size_t size,
		       struct ftr_pack_damage *damage)
{
	size_t pos = PACK_FILE_MAGIC_BYTES;
	uint64_t at = 0;

	while (pos < size) {
		struct ftr_pack_block block;
		size_t left = size - pos;

		if (is_cut_mark(file + pos, left, BLOCK_MARK, PACK_HEAD_BYTES) ||
		    is_cut_mark(file + pos, left, INDEX_MARK, pack_index_bytes(blocks->nr))) {
			damage->cut_bytes = left;
			break;
		}
		if (left < PACK_HEAD_BYTES || !is_marked(file + pos, BLOCK_MARK, PACK_ROW_BYTES)) {
			damage->bytes += left < PACK_FILE_ALIGN ? left : PACK_FILE_ALIGN;
			pos += PACK_FILE_ALIGN;
			continue;
		}
		block = row_get(file + pos + PACK_MARK_BYTES);
		block.file_at = pos + PACK_HEAD_BYTES;
		if (!block_fits(&block, size)) {
			if (block_fits(&block, UINT64_MAX))
				damage->cut_bytes = left;
			else
				damage->bytes += left;
			break;
		}
		block.at = at;
		at += block.bytes;
		if (ftr_vec_push(blocks, block) < 0)
			return -ENOMEM;
		pos = (size_t)pack_block_end(&block);
	}
	return 0;
}

int ftr_pack_blocks_list(struct ftr_pack_blocks *blocks, const uint8_t *file, size_t size,
			 struct ftr_pack_damage *damage)
{
	int ret;

	*damage = (struct ftr_pack_damage){ 0 };
	ret = index_get(blocks, file, size);
	if (ret != 0)
		return ret < 0 ? ret : 0;
	blocks->nr = 0;
	damage->has_no_index = true;
	ret = blocks_find(blocks, file, size, damage);
	return ret == 0 && blocks->nr == 0 && !is_begun(file, size) ? -EBADMSG : ret;
}
