/* SPDX-License-Identifier: MIT */
/* Compressed chunks of a trace.dat of version 7, by zstd and zlib. */
#define ZSTD_STATIC_LINKING_ONLY	/* frames without their magic number */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>

#include "utils/format/tracedat/read.h"

#define CHUNK_BYTES_MAX FTR_BIT(26)

/* Fill @to, which has room for exactly what @from stands for. */
typedef bool unpack_fn(uint8_t *to, uint32_t to_bytes, struct ftr_slice from);

static bool unpack_zstd(uint8_t *to, uint32_t to_bytes, struct ftr_slice from)
{
	bool has_magic = from.len >= 4 && memcmp(from.s, "\x28\xb5\x2f\xfd", 4) == 0;
	ZSTD_DCtx *context = ZSTD_createDCtx();
	size_t ret = 0;

	if (context == NULL)
		return false;
	if (!has_magic)
		ret = ZSTD_DCtx_setParameter(context, ZSTD_d_format, ZSTD_f_zstd1_magicless);
	if (!ZSTD_isError(ret))
		ret = ZSTD_decompressDCtx(context, to, to_bytes, from.s, from.len);
	ZSTD_freeDCtx(context);
	return !ZSTD_isError(ret) && ret == to_bytes;
}

static bool unpack_zlib(uint8_t *to, uint32_t to_bytes, struct ftr_slice from)
{
	uLongf bytes = to_bytes;

	return uncompress(to, &bytes, (const Bytef *)from.s, from.len) == Z_OK &&
	       bytes == to_bytes;
}

static bool unpack_none(uint8_t *to, uint32_t to_bytes, struct ftr_slice from)
{
	if (to_bytes != from.len)
		return false;
	memcpy(to, from.s, from.len);
	return true;
}

static const struct {
	const char *name;
	unpack_fn *unpack;
} packers[] = {
	{ TDAT_PACKER_NONE, unpack_none },
	{ "zstd", unpack_zstd },
	{ "zlib", unpack_zlib },
};

static unpack_fn *packer_find(struct ftr_slice name)
{
	for (size_t i = 0; i < sizeof(packers) / sizeof(packers[0]); i++) {
		if (ftr_slice_eq(name, packers[i].name))
			return packers[i].unpack;
	}
	return NULL;
}

bool tdat_can_unpack(struct ftr_slice packer)
{
	return packer_find(packer) != NULL;
}

/* What is left to be unpacked, and of the chunk at hand what is left to be read. */
struct chunks {
	unpack_fn *unpack;
	struct tdat_part part;
	uint32_t left_nr;
	uint8_t *bytes;			/* (owned, nullable) */
	size_t pos, size;
};

static int chunk_next(struct chunks *self)
{
	uint64_t packed_bytes = tdat_number(&self->part, 4);
	uint64_t bytes = tdat_number(&self->part, 4);
	struct ftr_slice packed = tdat_bytes(&self->part, packed_bytes);

	self->left_nr--;
	free(self->bytes);
	self->pos = self->size = 0;
	self->bytes = NULL;
	if (self->part.is_short || bytes == 0 || bytes > CHUNK_BYTES_MAX)
		return -EBADMSG;
	self->bytes = malloc(bytes);
	if (self->bytes == NULL)
		return -ENOMEM;
	if (!self->unpack(self->bytes, (uint32_t)bytes, packed))
		return -EBADMSG;
	self->size = (size_t)bytes;
	return 0;
}

static ssize_t chunks_read(void *arg, void *to, size_t bytes)
{
	struct chunks *self = arg;
	int ret;

	if (self->pos == self->size && self->left_nr == 0)
		return 0;
	ret = self->pos == self->size ? chunk_next(self) : 0;
	if (ret < 0)
		return ret;
	if (bytes > self->size - self->pos)
		bytes = self->size - self->pos;
	memcpy(to, self->bytes + self->pos, bytes);
	self->pos += bytes;
	return (ssize_t)bytes;
}

static void chunks_close(void *arg)
{
	struct chunks *self = arg;

	free(self->bytes);
	free(self);
}

int tdat_unpack(struct ftr_istream *out, struct ftr_slice packer, const struct tdat_part *packed,
		uint32_t chunk_nr, struct ftr_err *err)
{
	struct ftr_istream_feed feed = { .read = chunks_read, .close = chunks_close };
	struct chunks *self = calloc(1, sizeof(*self));
	int ret;

	if (self == NULL)
		return ftr_err_set(err, ENOMEM, "out of memory");
	self->unpack = packer_find(packer);
	self->part = *packed;
	self->left_nr = chunk_nr;
	feed.arg = self;
	ret = ftr_istream_from_feed(out, "unpacked", &feed, err);
	if (ret == 0)
		ret = ftr_istream_spool(out, err);
	if (ret == 0 && out->code != 0)
		return ftr_err_set(err, out->code == ENOMEM ? ENOMEM : EBADMSG,
				   "compressed data are damaged");
	return ret;
}
