/* SPDX-License-Identifier: MIT */
/* Packed files: which blocks are unpacked when. */
#include "utils/format/uftrace/read_packed.h"

#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "utils/base/bits.h"
#include "utils/format/uftrace/pack_block.h"
#include "utils/format/uftrace/pack_file.h"

#define PAGE_BYTES FTR_KIB(4)

enum block_state {
	BLOCK_ABSENT,
	BLOCK_BUSY,	/* one unpacks it */
	BLOCK_PRESENT,
	BLOCK_DAMAGED,	/* ... as zeros */
};

struct block {
	struct ftr_pack_block of_file;
	unsigned user_nr;
	enum block_state state;
	bool is_reported;
};

struct uft_packed {
	struct ftr_istream file;	/* (owned) the packed one */
	uint8_t *room;			/* (owned) */
	size_t bytes;
	struct block *blocks;		/* (owned) */
	size_t block_nr;
	pthread_mutex_t lock;		/* of what changes in blocks, and of what follows */
	pthread_cond_t was_unpacked;
	FTR_VEC(struct ftr_packer *) idle;	/* (owned) */
};

/* A recorder that is killed leaves all of its files cut: the first one speaks for them. */
static void diag_found(const struct uft_packed *self, const struct ftr_pack_damage *damage,
		       struct ftr_diag *diag, unsigned *cut_nr)
{
	*cut_nr += damage->has_no_index && damage->bytes == 0;
	if (damage->bytes > 0)
		ftr_diag_warn(diag, "%s: damaged: %llu bytes are in no block; the %zu blocks that "
			      "were found are shown", self->file.name,
			      (unsigned long long)damage->bytes, self->block_nr);
	else if (*cut_nr > 1)
		return;
	else if (damage->cut_bytes > 0)
		ftr_diag_warn(diag, "%s: has no index, and %llu bytes at its end are no whole "
			      "block: the recorder was killed, or the file is cut; what was packed "
			      "until then is shown", self->file.name,
			      (unsigned long long)damage->cut_bytes);
	else if (damage->has_no_index)
		ftr_diag_warn(diag, "%s: has no index: the recorder was killed, or the file is "
			      "cut; what was packed until then is shown", self->file.name);
}

static int blocks_load(struct uft_packed *self, struct ftr_diag *diag, unsigned *cut_nr,
		       struct ftr_err *err)
{
	struct ftr_pack_blocks list = { 0 };
	struct ftr_pack_damage damage;
	int ret = ftr_pack_blocks_list(&list, self->file.data, self->file.size, &damage);

	if (ret == 0)
		self->blocks = calloc(list.nr + 1, sizeof(*self->blocks));
	for (size_t i = 0; self->blocks != NULL && i < list.nr; i++)
		self->blocks[i].of_file = list.v[i];
	self->block_nr = list.nr;
	if (list.nr > 0)
		self->bytes = (size_t)(list.v[list.nr - 1].at + list.v[list.nr - 1].bytes);
	ftr_vec_fini(&list);
	if (ret == -EBADMSG)
		return ftr_err_set(err, EBADMSG, "%s: not a packed file, or damaged beyond use",
				   self->file.name);
	if (ret < 0 || self->blocks == NULL)
		return ftr_err_set(err, ENOMEM, "%s: out of memory", self->file.name);
	diag_found(self, &damage, diag, cut_nr);
	return 0;
}

static int room_make(struct uft_packed *self, struct ftr_err *err)
{
	void *room = MAP_FAILED;

	if (self->bytes == 0)
		return 0;
	room = mmap(NULL, self->bytes, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (room == MAP_FAILED)
		return ftr_err_set(err, errno, "%s: no room for %zu bytes of addresses: %s",
				   self->file.name, self->bytes, strerror(errno));
	self->room = room;
	return 0;
}

int uft_packed_open(struct uft_packed **out, struct ftr_istream *in, const char *name,
		    struct ftr_diag *diag, unsigned *cut_nr, struct ftr_err *err)
{
	struct uft_packed *self = calloc(1, sizeof(*self));
	int ret;

	if (self == NULL) {
		ftr_istream_close(in);
		return ftr_err_set(err, ENOMEM, "%s: out of memory", name);
	}
	self->file = *in;
	pthread_mutex_init(&self->lock, NULL);
	pthread_cond_init(&self->was_unpacked, NULL);
	ret = blocks_load(self, diag, cut_nr, err);
	if (ret == 0)
		ret = room_make(self, err);
	if (ret < 0) {
		uft_packed_close(self);
		*in = (struct ftr_istream){ 0 };
		return ret;
	}
	ftr_istream_from_memory(in, name, self->room, self->bytes);
	if (in->name == NULL) {
		uft_packed_close(self);
		return ftr_err_set(err, ENOMEM, "%s: out of memory", name);
	}
	*out = self;
	return 0;
}

void uft_packed_close(struct uft_packed *self)
{
	if (self == NULL)
		return;
	for (size_t i = 0; i < self->idle.nr; i++)
		ftr_packer_free(self->idle.v[i]);
	ftr_vec_fini(&self->idle);
	if (self->room != NULL)
		munmap(self->room, self->bytes);
	pthread_cond_destroy(&self->was_unpacked);
	pthread_mutex_destroy(&self->lock);
	free(self->blocks);
	ftr_istream_close(&self->file);
	free(self);
}

/* The block that @pos is in. */
static size_t block_find(const struct uft_packed *self, size_t pos)
{
	size_t low = 0, high = self->block_nr;

	assert(pos < self->bytes);
	while (high - low > 1) {
		size_t mid = low + (high - low) / 2;

		if (self->blocks[mid].of_file.at <= pos)
			low = mid;
		else
			high = mid;
	}
	return low;
}

static size_t block_end(const struct block *block)
{
	return (size_t)block->of_file.at + block->of_file.bytes;
}

static struct ftr_packer *packer_get(struct uft_packed *self)
{
	struct ftr_packer *packer = self->idle.nr > 0 ? self->idle.v[--self->idle.nr] : NULL;

	return packer;
}

/* Fill the block, which is ours, without the lock. */
static enum block_state block_unpack(struct uft_packed *self, struct ftr_packer *packer,
				     const struct ftr_pack_block *block)
{
	uint8_t *to = self->room + block->at;

	if (ftr_packer_unpack(packer, self->file.data + block->file_at, block->packed_bytes, to,
			      block->bytes) == 0)
		return BLOCK_PRESENT;
	memset(to, 0, block->bytes);
	return BLOCK_DAMAGED;
}

/* With the lock, which is given up meanwhile.  0 or -ENOMEM. */
static int block_fill(struct uft_packed *self, struct block *block)
{
	struct ftr_packer *packer = packer_get(self);
	enum block_state state = BLOCK_ABSENT;

	block->state = BLOCK_BUSY;
	pthread_mutex_unlock(&self->lock);
	if (packer == NULL)
		packer = ftr_packer_new(FTR_PACK_SMALL);
	if (packer != NULL)
		state = block_unpack(self, packer, &block->of_file);
	pthread_mutex_lock(&self->lock);
	block->state = state;
	pthread_cond_broadcast(&self->was_unpacked);
	if (packer != NULL && ftr_vec_push(&self->idle, packer) < 0)
		ftr_packer_free(packer);
	return packer == NULL ? -ENOMEM : 0;
}

static void block_pin(struct uft_packed *self, struct block *block, int *ret)
{
	pthread_mutex_lock(&self->lock);
	block->user_nr++;
	while (block->state == BLOCK_BUSY)
		pthread_cond_wait(&self->was_unpacked, &self->lock);
	if (block->state == BLOCK_ABSENT)
		*ret = block_fill(self, block);
	pthread_mutex_unlock(&self->lock);
}

/* Pages that it shares with its neighbours stay as they are. */
static void block_unpin(struct uft_packed *self, struct block *block)
{
	size_t from = (size_t)block->of_file.at, to = block_end(block);

	pthread_mutex_lock(&self->lock);
	block->user_nr--;
	if (block->user_nr == 0 && block->state != BLOCK_BUSY) {
		from = (from + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES;
		to = to / PAGE_BYTES * PAGE_BYTES;
		if (from < to)
			madvise(self->room + from, to - from, MADV_DONTNEED);
		block->state = BLOCK_ABSENT;
	}
	pthread_mutex_unlock(&self->lock);
}

static void block_report(const struct uft_pins *pins, size_t i)
{
	struct block *block = &pins->packed->blocks[i];

	if (pins->diag == NULL || block->state != BLOCK_DAMAGED || block->is_reported)
		return;
	block->is_reported = true;
	ftr_diag_warn(pins->diag, "%s+0x%llx: block %zu of %zu is damaged: %u bytes of records are "
		      "lost", pins->packed->file.name,
		      (unsigned long long)block->of_file.file_at, i + 1, pins->packed->block_nr,
		      block->of_file.bytes);
}

int uft_pins_need(struct uft_pins *pins, size_t from, size_t to)
{
	struct uft_packed *self = pins->packed;
	int ret = 0;

	if (self == NULL)
		return 0;
	if (to > self->bytes)
		to = self->bytes;
	if (from < pins->from || from > pins->to)
		uft_pins_release(pins);
	if (from >= to)
		return 0;
	if (pins->from == pins->to)	/* none yet */
		pins->from = pins->to =
			(size_t)self->blocks[block_find(self, from)].of_file.at;
	while (pins->to < to && ret == 0) {
		size_t i = block_find(self, pins->to);

		block_pin(self, &self->blocks[i], &ret);
		pins->to = block_end(&self->blocks[i]);
		block_report(pins, i);
	}
	return ret;
}

void uft_pins_pass(struct uft_pins *pins, size_t pos)
{
	struct uft_packed *self = pins->packed;

	while (self != NULL && pins->from < pins->to) {
		struct block *block = &self->blocks[block_find(self, pins->from)];

		if (block_end(block) > pos)
			break;
		pins->from = block_end(block);
		block_unpin(self, block);
	}
}

void uft_pins_release(struct uft_pins *pins)
{
	uft_pins_pass(pins, SIZE_MAX);
}
