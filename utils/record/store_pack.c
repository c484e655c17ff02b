/* SPDX-License-Identifier: MIT */
/* Files of records that are packed while they are recorded. */
#include "utils/record/store_pack.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "utils/base/bits.h"
#include "utils/format/uftrace/pack_block.h"
#include "utils/format/uftrace/pack_file.h"
#include "utils/format/uftrace/write.h"

#define HELD_NS_MAX    UINT64_C(1000000000)
#define HELD_BYTES_MAX FTR_MIB(64)	/* of all files */

struct ftr_store_pack {
	int32_t tid;
	bool is_aside;
	bool has_begun;
	uint64_t since_ns;	/* of the first batch that is held */
	struct ftr_pack_writer writer;	/* its fd: -1 = closed */
};

void ftr_store_packs_init(struct ftr_store_packs *packs)
{
	*packs = (struct ftr_store_packs){ .held_bytes = 0 };
	pthread_mutex_init(&packs->lock, NULL);
}

void ftr_store_packs_fini(struct ftr_store_packs *packs)
{
	for (size_t i = 0; i < packs->idle.nr; i++)
		ftr_packer_free(packs->idle.v[i]);
	ftr_vec_fini(&packs->idle);
	pthread_mutex_destroy(&packs->lock);
}

static struct ftr_packer *packer_take(struct ftr_store_packs *packs)
{
	struct ftr_packer *packer = NULL;

	pthread_mutex_lock(&packs->lock);
	if (packs->idle.nr > 0)
		packer = packs->idle.v[--packs->idle.nr];
	pthread_mutex_unlock(&packs->lock);
	return packer != NULL ? packer : ftr_packer_new(FTR_PACK_FAST);
}

static void packer_give(struct ftr_store_packs *packs, struct ftr_packer *packer)
{
	pthread_mutex_lock(&packs->lock);
	if (packer != NULL && ftr_vec_push(&packs->idle, packer) < 0)
		ftr_packer_free(packer);
	pthread_mutex_unlock(&packs->lock);
}

/* One file holds @more bytes, or fewer.  True when all hold too much. */
static bool held_count(struct ftr_store_packs *packs, int64_t more)
{
	bool is_too_much;

	pthread_mutex_lock(&packs->lock);
	packs->held_bytes += (uint64_t)more;
	is_too_much = packs->held_bytes > HELD_BYTES_MAX;
	pthread_mutex_unlock(&packs->lock);
	return is_too_much;
}

static void file_close(struct ftr_store_pack *pack)
{
	if (pack->writer.fd >= 0)
		close(pack->writer.fd);
	pack->writer.fd = -1;
}

/* 0 or -errno. */
static int file_open(struct ftr_store_pack *pack, const struct ftr_uftrace_dir *dir)
{
	int fd, ret;

	if (pack->writer.fd >= 0 && pack->has_begun)
		return 0;
	file_close(pack);
	fd = ftr_uftrace_packed_open(dir, pack->tid, pack->is_aside);
	if (fd < 0)
		return fd;
	pack->writer.fd = fd;
	if (pack->has_begun)
		return 0;
	ret = ftr_pack_writer_init(&pack->writer, fd);
	pack->has_begun = ret == 0;
	return ret;
}

struct ftr_store_pack *ftr_store_pack_new(const struct ftr_uftrace_dir *dir, int32_t tid,
					  bool is_aside)
{
	struct ftr_store_pack *pack = calloc(1, sizeof(*pack));

	if (pack == NULL)
		return NULL;
	pack->tid = tid;
	pack->is_aside = is_aside;
	pack->writer.fd = -1;
	file_open(pack, dir);
	return pack;
}

/* @batch comes to what is held.  Where none does (NULL), or it is much or old, it is written. */
static int pack_put(struct ftr_store_packs *packs, struct ftr_store_pack *pack,
		    struct ftr_packer *packer, const struct ftr_record_batch *batch)
{
	struct ftr_pack_writer *writer = &pack->writer;
	size_t held = ftr_pack_writer_held(writer);
	bool is_due = batch == NULL;
	int ret = 0;

	if (batch != NULL) {
		if (held == 0)
			pack->since_ns = batch->last_ns;
		ret = ftr_pack_writer_put(writer, packer, batch->bytes, batch->len,
					  batch->record_nr);
		is_due = batch->last_ns - pack->since_ns > HELD_NS_MAX;
		is_due |= held_count(packs, (int64_t)ftr_pack_writer_held(writer) - (int64_t)held);
		held = ftr_pack_writer_held(writer);
	}
	if (ret == 0 && is_due)
		ret = ftr_pack_writer_flush(writer, packer);
	held_count(packs, (int64_t)ftr_pack_writer_held(writer) - (int64_t)held);
	return ret;
}

/* ... with a packer and the file open. */
static struct ftr_store_packed pack_work(struct ftr_store_packs *packs, struct ftr_store_pack *pack,
					 const struct ftr_uftrace_dir *dir,
					 const struct ftr_record_batch *batch)
{
	struct ftr_packer *packer = packer_take(packs);
	int ret = packer == NULL ? -ENOMEM : file_open(pack, dir);
	uint64_t file_at = pack->writer.file_at;
	struct ftr_store_packed done;

	if (ret == 0)
		ret = pack_put(packs, pack, packer, batch);
	else if (batch != NULL)
		pack->writer.lost_records += batch->record_nr;
	packer_give(packs, packer);
	done = (struct ftr_store_packed){
		.file_bytes = pack->writer.file_at - file_at,
		.lost_records = pack->writer.lost_records,
		.code = ret < 0 ? -ret : 0,
	};
	pack->writer.lost_records = 0;
	return done;
}

struct ftr_store_packed ftr_store_pack_append(struct ftr_store_packs *packs,
					      struct ftr_store_pack *pack,
					      const struct ftr_uftrace_dir *dir,
					      const struct ftr_record_batch *batch)
{
	return pack_work(packs, pack, dir, batch);
}

struct ftr_store_packed ftr_store_pack_rest(struct ftr_store_packs *packs,
					    struct ftr_store_pack *pack,
					    const struct ftr_uftrace_dir *dir)
{
	struct ftr_store_packed done = { 0 };

	if (ftr_pack_writer_held(&pack->writer) > 0)
		done = pack_work(packs, pack, dir, NULL);
	file_close(pack);
	return done;
}

void ftr_store_pack_end(struct ftr_store_pack *pack, const struct ftr_uftrace_dir *dir)
{
	if (pack == NULL)
		return;
	/* Without it readers look for the blocks. */
	if (pack->has_begun && ftr_pack_writer_held(&pack->writer) == 0 &&
	    file_open(pack, dir) == 0)
		(void)!ftr_pack_writer_index(&pack->writer);
	file_close(pack);
	ftr_pack_writer_fini(&pack->writer);
	free(pack);
}
