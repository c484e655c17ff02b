/* SPDX-License-Identifier: MIT */
/* See ring_memory.h. */
#include "utils/record/ring_memory.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "utils/base/err.h"
#include "utils/record/nursery.h"

int ftr_ring_open(struct ftr_ring *ring, uint32_t bytes, struct ftr_err *err)
{
	size_t total = FTR_RING_DATA_OFFSET + (size_t)bytes;
	void *mem;

	*ring = (struct ftr_ring){ .fd = -1, .size_bytes = bytes, .scan_end = FTR_RING_LIVE };
	ring->fd = memfd_create("ftr-ring", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (ring->fd < 0 || ftruncate(ring->fd, (off_t)total) < 0)
		goto failed;
	/* A file that could shrink would end the recorder with SIGBUS. */
	if (fcntl(ring->fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW) < 0)
		goto failed;
	mem = mmap(NULL, total, PROT_READ | PROT_WRITE, MAP_SHARED, ring->fd, 0);
	if (mem == MAP_FAILED)
		goto failed;
	madvise(mem, total, MADV_DONTFORK);	/* helpers must not look like tracees */
	ring->header = mem;
	ring->header->magic = FTR_RING_MAGIC;
	ring->header->size_bytes = bytes;
	ring->data = (struct ftr_record *)((char *)mem + FTR_RING_DATA_OFFSET);
	ring->memory_fd = ring->fd;
	ring->memory_at = FTR_RING_DATA_OFFSET;
	return 0;
failed:
	ftr_err_set(err, errno, "ring of %u bytes: %s%s", bytes, strerror(errno),
		    ftr_err_remedy(errno));
	ftr_ring_close(ring);
	return -err->code;
}

void ftr_ring_open_place(struct ftr_ring *ring, struct ftr_ring_header *header, uint32_t bytes,
			 int memory_fd, uint64_t at)
{
	*ring = (struct ftr_ring){
		.header = header,
		.data = (struct ftr_record *)((char *)header + FTR_NURSERY_DATA_OFFSET),
		.size_bytes = bytes,
		.scan_end = FTR_RING_LIVE,
		.fd = -1,
		.memory_fd = memory_fd,
		.memory_at = at + FTR_NURSERY_DATA_OFFSET,
	};
}

static void ring_unmap(struct ftr_ring *ring)
{
	if (ring->header != NULL)
		munmap(ring->header, FTR_RING_DATA_OFFSET + ring->size_bytes);
	ring->header = NULL;
	ring->data = NULL;
}

/* What it has written, ever, and no more than there is. */
static uint64_t ring_used(const struct ftr_ring *ring)
{
	return ring->tail < ring->size_bytes ? ring->tail : ring->size_bytes;
}

void ftr_ring_close(struct ftr_ring *ring)
{
	if (ring->nursery != NULL) {
		ftr_record_nursery_give_back(ring->nursery, ring->place, ring_used(ring));
		*ring = (struct ftr_ring){ .fd = -1 };
	}
	ring_unmap(ring);
	if (ring->fd >= 0)
		close(ring->fd);
	ring->fd = -1;
}

bool ftr_ring_is_shared(struct ftr_ring *ring)
{
	if (ring->nursery != NULL)
		return false;
	ring_unmap(ring);
	/* The kernel refuses this seal as long as a writable mapping exists anywhere. */
	return fcntl(ring->fd, F_ADD_SEALS, F_SEAL_WRITE) < 0 && errno == EBUSY;
}
