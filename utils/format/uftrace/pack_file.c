/* SPDX-License-Identifier: MIT */
/* Packed files, written block by block. */
#include "utils/format/uftrace/pack_file.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "utils/base/bytes.h"
#include "utils/format/uftrace/pack_block.h"
#include "utils/format/uftrace/pack_layout.h"
#include "utils/proto/record.h"

#define HELD_MIN   FTR_KIB(16)
#define OUT_BYTES  FTR_KIB(128) /* so much is written at once */
#define DIRECT_MIN (FTR_PACK_FILE_BLOCK / 4) /* so much is a block of its own, and is not copied */

/* All @nr bytes at @at.  0 or -errno. */
static int write_at(int fd, const uint8_t *bytes, size_t nr, uint64_t at)
{
	while (nr > 0) {
		ssize_t n = pwrite(fd, bytes, nr, (off_t)at);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? -errno : -ENOSPC;
		at += (uint64_t)n;
		bytes += n;
		nr -= (size_t)n;
	}
	return 0;
}

int ftr_pack_writer_init(struct ftr_pack_writer *writer, int fd)
{
	int ret = write_at(fd, (const uint8_t *)PACK_FILE_MAGIC, PACK_FILE_MAGIC_BYTES, 0);

	*writer = (struct ftr_pack_writer){ .fd = fd, .file_at = PACK_FILE_MAGIC_BYTES };
	return ret;
}

/* Its first record, if it begins with one. */
static void block_look(struct ftr_pack_block *block, const uint8_t *bytes, size_t nr)
{
	uint64_t word;

	if (nr < sizeof(struct ftr_record))
		return;
	word = ftr_get_u64(bytes + 8, false);
	if (!ftr_record_is_valid(word))
		return;
	block->first_ns = ftr_get_u64(bytes, false);
	block->depth = ftr_record_depth(word);
}

/* Write the blocks that are packed.  Where that fails they are lost, and have never been. */
static int out_write(struct ftr_pack_writer *writer)
{
	uint64_t from = writer->file_at - writer->out.nr;
	int ret = write_at(writer->fd, writer->out.v, writer->out.nr, from);

	if (ret < 0) {
		(void)!ftruncate(writer->fd, (off_t)from);
		writer->blocks.nr -= writer->out_block_nr;
		writer->at = writer->blocks.v[writer->blocks.nr].at;
		writer->file_at = from;
		writer->lost_records += writer->out_records;
	}
	writer->out.nr = 0;
	writer->out_block_nr = 0;
	writer->out_records = 0;
	return ret;
}

/* Pack @nr bytes into a block of their own, behind those that wait to be written. */
static int block_pack(struct ftr_pack_writer *writer, struct ftr_packer *packer,
		      const uint8_t *bytes, size_t nr)
{
	struct ftr_pack_block block = { .at = writer->at, .bytes = (uint32_t)nr };
	const uint8_t *packed;
	int64_t packed_nr = ftr_packer_pack(packer, bytes, nr, &packed);
	uint8_t *to;
	size_t padding;

	if (packed_nr < 0)
		return (int)packed_nr;
	padding = pack_padding((size_t)packed_nr);
	if (ftr_vec_reserve(&writer->blocks, writer->blocks.nr + 1) < 0 ||
	    ftr_vec_reserve(&writer->out, writer->out.nr + PACK_HEAD_BYTES + (size_t)packed_nr +
						  padding) < 0)
		return -ENOMEM;
	block.packed_bytes = (uint32_t)packed_nr;
	block.file_at = writer->file_at + PACK_HEAD_BYTES;
	block_look(&block, bytes, nr);
	to = writer->out.v + writer->out.nr;
	pack_head_put(to, &block);
	memcpy(to + PACK_HEAD_BYTES, packed, (size_t)packed_nr);
	memset(to + PACK_HEAD_BYTES + packed_nr, 0, padding);
	writer->out.nr += PACK_HEAD_BYTES + (size_t)packed_nr + padding;
	writer->out_block_nr++;
	writer->file_at = pack_block_end(&block);
	writer->at += nr;
	writer->blocks.v[writer->blocks.nr++] = block;
	return 0;
}

/* ... in which @record_nr records end.  Blocks are written when they are many bytes. */
static int block_put(struct ftr_pack_writer *writer, struct ftr_packer *packer,
		     const uint8_t *bytes, size_t nr, uint64_t record_nr)
{
	int ret = block_pack(writer, packer, bytes, nr);

	if (ret < 0) {
		writer->lost_records += record_nr;
		return ret;
	}
	writer->out_records += record_nr;
	return writer->out.nr >= OUT_BYTES ? out_write(writer) : 0;
}

/* What is held becomes a block. */
static int held_put(struct ftr_pack_writer *writer, struct ftr_packer *packer)
{
	int ret = writer->held_bytes == 0 ? 0 :
		  block_put(writer, packer, writer->held, writer->held_bytes, writer->held_records);

	writer->held_bytes = 0;
	writer->held_records = 0;
	return ret;
}

int ftr_pack_writer_flush(struct ftr_pack_writer *writer, struct ftr_packer *packer)
{
	int ret = held_put(writer, packer);
	int written = writer->out.nr == 0 ? 0 : out_write(writer);

	return ret < 0 ? ret : written;
}

/* Room for @bytes more than are held. */
static int held_grow(struct ftr_pack_writer *writer, size_t bytes)
{
	uint32_t cap = writer->held_cap == 0 ? HELD_MIN : writer->held_cap;
	void *held;

	while (cap < writer->held_bytes + bytes)
		cap *= 2;
	if (cap == writer->held_cap)
		return 0;
	held = realloc(writer->held, cap);
	if (held == NULL)
		return -ENOMEM;
	writer->held = held;
	writer->held_cap = cap;
	return 0;
}

static int hold(struct ftr_pack_writer *writer, const uint8_t *from, size_t nr)
{
	int ret = held_grow(writer, nr);

	if (ret < 0)
		return ret;
	memcpy(writer->held + writer->held_bytes, from, nr);
	writer->held_bytes += (uint32_t)nr;
	return 0;
}

/* The next @nr bytes, in which @ending_nr records end: not more than fit into a block. */
static int put_next(struct ftr_pack_writer *writer, struct ftr_packer *packer, const uint8_t *from,
		    size_t nr, size_t ending_nr)
{
	bool is_direct = nr >= DIRECT_MIN;
	int ret = is_direct ? held_put(writer, packer) : hold(writer, from, nr);

	if (ret < 0) {
		writer->lost_records += ending_nr;
		return ret;
	}
	if (is_direct)
		return block_put(writer, packer, from, nr, ending_nr);
	writer->held_records += ending_nr;
	return writer->held_bytes == FTR_PACK_FILE_BLOCK ? held_put(writer, packer) : 0;
}

int ftr_pack_writer_put(struct ftr_pack_writer *writer, struct ftr_packer *packer,
			const void *bytes, size_t len, size_t record_nr)
{
	size_t record_bytes = record_nr == 0 ? 1 : len / record_nr;
	const uint8_t *from = bytes;
	int ret = 0;

	while (len > 0 && ret == 0) {
		size_t room = FTR_PACK_FILE_BLOCK - (len >= DIRECT_MIN ? 0 : writer->held_bytes);
		size_t nr = len < room ? len : room;
		size_t ending_nr = nr == len ? record_nr : nr / record_bytes;

		ret = put_next(writer, packer, from, nr, ending_nr);
		record_nr -= ending_nr;
		from += nr;
		len -= nr;
	}
	writer->lost_records += ret < 0 ? record_nr : 0;
	return ret;
}

int ftr_pack_writer_index(struct ftr_pack_writer *writer)
{
	size_t nr = writer->blocks.nr, bytes = pack_index_bytes(nr);
	uint8_t *index = malloc(bytes);
	int ret;

	assert(ftr_pack_writer_held(writer) == 0);
	if (index == NULL)
		return -ENOMEM;
	pack_index_put(index, &writer->blocks, writer->file_at);
	ret = write_at(writer->fd, index, bytes, writer->file_at);
	if (ret < 0)
		(void)!ftruncate(writer->fd, (off_t)writer->file_at);
	free(index);
	return ret;
}

void ftr_pack_writer_fini(struct ftr_pack_writer *writer)
{
	free(writer->held);
	ftr_vec_fini(&writer->out);
	ftr_vec_fini(&writer->blocks);
	writer->held = NULL;
}
