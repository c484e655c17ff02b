/* SPDX-License-Identifier: MIT */
/* Packed files, written block by block. */
#include "utils/format/uftrace/pack_file.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "utils/base/bytes.h"
#include "utils/format/uftrace/pack_block.h"
#include "utils/format/uftrace/pack_layout.h"
#include "utils/proto/record.h"

#define HELD_MIN   FTR_KIB(16)
#define DIRECT_MIN (FTR_PACK_FILE_BLOCK / 4) /* so much is a block of its own, and is not copied */

/* All of @parts at @at.  0 or -errno. */
static int write_at(int fd, struct iovec *parts, int nr, uint64_t at)
{
	while (nr > 0) {
		ssize_t n = pwritev(fd, parts, nr, (off_t)at);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? -errno : -ENOSPC;
		at += (uint64_t)n;
		for (; nr > 0 && (size_t)n >= parts->iov_len; nr--, parts++)
			n -= (ssize_t)parts->iov_len;
		if (nr > 0) {
			parts->iov_base = (uint8_t *)parts->iov_base + n;
			parts->iov_len -= (size_t)n;
		}
	}
	return 0;
}

int ftr_pack_writer_init(struct ftr_pack_writer *writer, int fd)
{
	struct iovec magic = { (char *)PACK_FILE_MAGIC, PACK_FILE_MAGIC_BYTES };
	int ret = write_at(fd, &magic, 1, 0);

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

static int block_write(struct ftr_pack_writer *writer, struct ftr_packer *packer,
		       const uint8_t *bytes, size_t nr)
{
	static const uint8_t zeros[PACK_FILE_ALIGN];
	struct ftr_pack_block block = { .at = writer->at, .bytes = (uint32_t)nr };
	uint8_t head[PACK_HEAD_BYTES];
	const uint8_t *packed;
	int64_t packed_nr = ftr_packer_pack(packer, bytes, nr, &packed);
	struct iovec parts[3];
	int ret;

	if (packed_nr < 0)
		return (int)packed_nr;
	if (ftr_vec_reserve(&writer->blocks, writer->blocks.nr + 1) < 0)
		return -ENOMEM;
	block.packed_bytes = (uint32_t)packed_nr;
	block.file_at = writer->file_at + PACK_HEAD_BYTES;
	block_look(&block, bytes, nr);
	pack_head_put(head, &block);
	parts[0] = (struct iovec){ head, sizeof(head) };
	parts[1] = (struct iovec){ (void *)packed, (size_t)packed_nr };
	parts[2] = (struct iovec){ (void *)zeros, pack_padding(block.packed_bytes) };
	ret = write_at(writer->fd, parts, 3, writer->file_at);
	if (ret < 0) {
		(void)!ftruncate(writer->fd, (off_t)writer->file_at);
		return ret;
	}
	writer->file_at = pack_block_end(&block);
	writer->at += nr;
	writer->blocks.v[writer->blocks.nr++] = block;
	return 0;
}

int ftr_pack_writer_flush(struct ftr_pack_writer *writer, struct ftr_packer *packer)
{
	int ret = writer->held_bytes == 0 ? 0 :
		  block_write(writer, packer, writer->held, writer->held_bytes);

	if (ret < 0)
		writer->lost_records += writer->held_records;
	writer->held_bytes = 0;
	writer->held_records = 0;
	return ret;
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
	int ret = is_direct ? ftr_pack_writer_flush(writer, packer) : hold(writer, from, nr);

	if (ret == 0 && is_direct)
		ret = block_write(writer, packer, from, nr);
	if (ret < 0)
		writer->lost_records += ending_nr;
	else if (!is_direct)
		writer->held_records += ending_nr;
	if (ret == 0 && writer->held_bytes == FTR_PACK_FILE_BLOCK)
		ret = ftr_pack_writer_flush(writer, packer);
	return ret;
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
	struct iovec part = { index, bytes };
	int ret;

	assert(writer->held_bytes == 0);
	if (index == NULL)
		return -ENOMEM;
	pack_index_put(index, &writer->blocks, writer->file_at);
	ret = write_at(writer->fd, &part, 1, writer->file_at);
	if (ret < 0)
		(void)!ftruncate(writer->fd, (off_t)writer->file_at);
	free(index);
	return ret;
}

void ftr_pack_writer_fini(struct ftr_pack_writer *writer)
{
	free(writer->held);
	ftr_vec_fini(&writer->blocks);
	writer->held = NULL;
}
