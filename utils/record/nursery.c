/* SPDX-License-Identifier: MIT */
/* See nursery.h. */
#include "utils/record/nursery.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "utils/base/bits.h"
#include "utils/record/ring_memory.h"

#define ID_FIRST FTR_BIT64(62)	/* other rings are counted from 1 on */
#define KEPT_BYTES 16384u	/* of memory, in a place that is given back */
#define PAGE 4096u

static void nursery_free(struct ftr_record_nursery *nursery)
{
	if (nursery->shared != NULL)
		munmap(nursery->shared, FTR_NURSERY_BYTES);
	if (nursery->fd >= 0)
		close(nursery->fd);
	free(nursery);
}

/* Emulators have the call succeed, and do nothing. */
static bool gives_back(char *page)
{
	volatile char *byte = page;
	bool ret;

	*byte = 1;
	ret = madvise(page, PAGE, MADV_REMOVE) == 0 && *byte == 0;
	*byte = 0;
	return ret;
}

static int memory_open(struct ftr_record_nursery *nursery)
{
	void *mem;

	nursery->fd = memfd_create("ftr-nursery", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (nursery->fd < 0 || ftruncate(nursery->fd, (off_t)FTR_NURSERY_BYTES) < 0 ||
	    fcntl(nursery->fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW) < 0)
		return -errno;
	mem = mmap(NULL, FTR_NURSERY_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, nursery->fd, 0);
	if (mem == MAP_FAILED)
		return -errno;
	madvise(mem, FTR_NURSERY_BYTES, MADV_DONTFORK);	/* as rings */
	nursery->shared = mem;
	nursery->gives_back = gives_back((char *)mem + FTR_NURSERY_BYTES - PAGE);
	return 0;
}

int ftr_record_nursery_new(struct ftr_record_nurseries *nurseries, int32_t pid,
			   uint32_t ring_bytes, struct ftr_record_nursery **out,
			   struct ftr_err *err)
{
	struct ftr_record_nursery *nursery = calloc(1, sizeof(*nursery));
	int ret = -ENOMEM;

	if (nursery == NULL)
		return ftr_err_set(err, ENOMEM, "nursery: out of memory");
	nursery->fd = -1;
	ret = memory_open(nursery);
	if (ret == 0)
		ret = ftr_vec_push(&nurseries->all, nursery);
	if (ret < 0) {
		nursery_free(nursery);
		return ftr_err_set(err, -ret, "nursery: %s", strerror(-ret));
	}
	nursery->pid = pid;
	nursery->ring_bytes = ring_bytes < FTR_NURSERY_RING_BYTES ? ring_bytes :
								    FTR_NURSERY_RING_BYTES;
	nursery->first_id = ID_FIRST + nurseries->last_id;
	nurseries->last_id += FTR_NURSERY_PLACES;
	nursery->shared->magic = FTR_NURSERY_MAGIC;
	nursery->shared->ring_bytes = nursery->ring_bytes;
	nursery->shared->first_id = nursery->first_id;
	*out = nursery;
	return 0;
}

void ftr_record_nurseries_fini(struct ftr_record_nurseries *nurseries)
{
	size_t i;

	for (i = 0; i < nurseries->all.nr; i++)
		nursery_free(nurseries->all.v[i]);
	ftr_vec_fini(&nurseries->all);
}

/* One that was killed right after its claim, before it stored the time, has put nothing there. */
static bool is_abandoned(int32_t pid)
{
	return pid <= 0 || (kill(pid, 0) < 0 && errno == ESRCH);
}

/* 0, also when there is nothing new. */
static int place_look(struct ftr_record_nursery *nursery, unsigned place,
		      struct ftr_record_claims *claims)
{
	struct ftr_nursery_claim *shared = &nursery->shared->claims[place];
	uint64_t who = atomic_load_explicit(&shared->who, memory_order_acquire);
	struct ftr_record_claim claim = {
		.pid = ftr_nursery_pid(who), .parent_pid = ftr_nursery_parent(who),
		.nursery = nursery, .place = place,
	};
	int ret;

	if (who == FTR_NURSERY_FREE || who == FTR_NURSERY_CLOSED)
		return 0;
	claim.time = atomic_load_explicit(&shared->time, memory_order_acquire);
	if (claim.time == 0 || claim.pid <= 0) {
		/* Looked at again: it may have gone on until it ended. */
		if (is_abandoned(claim.pid) &&
		    (claim.pid <= 0 || atomic_load(&shared->time) == 0))
			ftr_record_nursery_give_back(nursery, place, 0);
		return 0;
	}
	ret = ftr_vec_push(&claims->v, claim);
	nursery->is_known[place] = ret == 0;
	return ret;
}

static int claim_compare(const void *a, const void *b)
{
	const struct ftr_record_claim *one = a, *other = b;

	return one->time < other->time ? -1 : one->time > other->time;
}

static void nurseries_sweep(struct ftr_record_nurseries *nurseries)
{
	size_t kept = 0, i;

	for (i = 0; i < nurseries->all.nr; i++) {
		struct ftr_record_nursery *nursery = nurseries->all.v[i];

		if (nursery->closed_nr == FTR_NURSERY_PLACES)
			nursery_free(nursery);
		else
			nurseries->all.v[kept++] = nursery;
	}
	nurseries->all.nr = kept;
}

int ftr_record_nurseries_claims(struct ftr_record_nurseries *nurseries,
				struct ftr_record_claims *claims)
{
	unsigned place;
	int ret = 0;
	size_t i;

	nurseries_sweep(nurseries);
	for (i = 0; i < nurseries->all.nr; i++) {
		for (place = 0; ret == 0 && place < FTR_NURSERY_PLACES; place++) {
			if (!nurseries->all.v[i]->is_known[place])
				ret = place_look(nurseries->all.v[i], place, claims);
		}
	}
	if (claims->v.nr > 1)
		qsort(claims->v.v, claims->v.nr, sizeof(claims->v.v[0]), claim_compare);
	return ret;
}

void ftr_record_nursery_ring(const struct ftr_record_claim *claim, struct ftr_ring *ring,
			     uint64_t *id)
{
	struct ftr_record_nursery *nursery = claim->nursery;
	struct ftr_ring_header *header = ftr_nursery_ring(nursery->shared, claim->place);

	ftr_ring_open_place(ring, header, nursery->ring_bytes, nursery->fd,
			    (uint64_t)((char *)header - (char *)nursery->shared));
	ring->nursery = nursery;
	ring->place = claim->place;
	*id = nursery->first_id + claim->place;
}

bool ftr_record_nursery_name(const struct ftr_record_claim *claim,
			     char name[FTR_NURSERY_NAME_BYTES])
{
	struct ftr_nursery_claim *shared = &claim->nursery->shared->claims[claim->place];
	uint64_t words[FTR_NURSERY_NAME_WORDS];
	unsigned i;

	for (i = 0; i < FTR_NURSERY_NAME_WORDS; i++)
		words[i] = atomic_load_explicit(&shared->name[i], memory_order_acquire);
	if (words[0] == 0)
		return false;
	memcpy(name, words, sizeof(words));
	name[FTR_NURSERY_NAME_BYTES - 1] = '\0';
	return true;
}

static void place_close(struct ftr_record_nursery *nursery, unsigned place, uint64_t from)
{
	if (atomic_compare_exchange_strong(&nursery->shared->claims[place].who, &from,
					   FTR_NURSERY_CLOSED)) {
		nursery->is_known[place] = true;
		nursery->closed_nr++;
	}
}

/*
 * What was taken is 0 again.  A unit that was not, of a child that wrote where it should not, would
 * be taken for the next one's; and memory that few children need is given back.
 */
static void place_clear(struct ftr_record_nursery *nursery, unsigned place, uint64_t used)
{
	struct ftr_ring_header *header = ftr_nursery_ring(nursery->shared, place);
	char *first = (char *)header;

	atomic_store(&header->tail, 0);
	atomic_store(&header->head, 0);
	atomic_store(&header->lost, 0);
	atomic_store(&header->skipped, 0);
	atomic_store(&header->stalls, 0);
	atomic_store(&header->untraced, 0);
	atomic_store(&header->untraced_causes, 0);
	atomic_store(&header->untraced_calls, 0);
	memset(first + FTR_NURSERY_DATA_OFFSET, 0, PAGE - FTR_NURSERY_DATA_OFFSET);
	if (used <= PAGE - FTR_NURSERY_DATA_OFFSET)
		return;
	used -= PAGE - FTR_NURSERY_DATA_OFFSET;
	if (used > FTR_NURSERY_PLACE_BYTES - PAGE)
		used = FTR_NURSERY_PLACE_BYTES - PAGE;
	if (used > KEPT_BYTES && nursery->gives_back)
		madvise(first + PAGE, FTR_NURSERY_PLACE_BYTES - PAGE, MADV_REMOVE);
	else
		memset(first + PAGE, 0, used);
}

void ftr_record_nursery_give_back(struct ftr_record_nursery *nursery, unsigned place,
				  uint64_t used)
{
	struct ftr_nursery_claim *claim = &nursery->shared->claims[place];
	uint64_t who = atomic_load(&claim->who);

	place_clear(nursery, place, used);
	nursery->is_known[place] = false;
	atomic_store(&claim->name[0], 0);
	atomic_store(&claim->time, 0);
	if (nursery->is_closing)
		place_close(nursery, place, who);
	else
		atomic_store_explicit(&claim->who, FTR_NURSERY_FREE, memory_order_release);
}

/* The last one first: by that processes see it (libmcount/nursery.c). */
void ftr_record_nurseries_image_end(struct ftr_record_nurseries *nurseries, int32_t pid)
{
	unsigned place;
	size_t i;

	for (i = 0; i < nurseries->all.nr; i++) {
		struct ftr_record_nursery *nursery = nurseries->all.v[i];

		if (nursery->pid != pid || nursery->is_closing)
			continue;
		nursery->is_closing = true;
		for (place = FTR_NURSERY_PLACES; place-- > 0;)
			place_close(nursery, place, FTR_NURSERY_FREE);
	}
}
