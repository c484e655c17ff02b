/* SPDX-License-Identifier: MIT */
/* See task_ring.h. */
#include "libmcount/task_ring.h"

#include <errno.h>
#include <linux/mman.h>
#include <sys/mman.h>

#include "libmcount/channel.h"
#include "libmcount/clock.h"
#include "libmcount/helper.h"
#include "libmcount/state.h"
#include "utils/base/rt/sys.h"

#define PAGE 4096u
#define OURS (MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE)

long ftr_map_unlocked(uint64_t at, uint64_t bytes, int prot, int flags, int fd, uint64_t offset)
{
	bool is_locking = atomic_load_explicit(&ftr_state.is_locking, memory_order_relaxed);
	long seed, mem;

	if (!is_locking)
		return ftr_sys_map(at, bytes, prot, flags | (at != 0 ? MAP_FIXED : 0), fd,
				offset);
	seed = ftr_sys_map(0, PAGE, prot, flags, fd, offset);
	if (ftr_sys_map_failed(seed))
		return seed;
	ftr_sys2(SYS_munlock, seed, PAGE);
	mem = ftr_sys5(SYS_mremap, seed, PAGE, bytes,
		       MREMAP_MAYMOVE | (at != 0 ? MREMAP_FIXED : 0), at);
	if (ftr_sys_map_failed(mem))
		ftr_sys2(SYS_munmap, seed, PAGE);
	return mem;
}

/* The ring's data twice, right behind each other; NULL = no room. */
static uint8_t *data_map(int memfd, uint64_t bytes)
{
	long data = ftr_map_unlocked(0, 2 * bytes, PROT_NONE, OURS, -1, 0);
	int i;

	for (i = 0; i < 2 && !ftr_sys_map_failed(data); i++) {
		if (ftr_sys_map_failed(ftr_map_unlocked((uint64_t)data + i * bytes, bytes,
							PROT_READ | PROT_WRITE, MAP_SHARED, memfd,
							FTR_RING_DATA_OFFSET))) {
			ftr_sys2(SYS_munmap, data, 2 * bytes);
			return NULL;
		}
	}
	return ftr_sys_map_failed(data) ? NULL : (uint8_t *)data;
}

static int ring_map(struct ftr_slot *slot, int memfd)
{
	struct ftr_producer *producer = slot->producer;
	long mem = ftr_sys_map(0, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, memfd, 0);
	struct ftr_ring_header *header = (struct ftr_ring_header *)mem;

	if (ftr_sys_map_failed(mem))
		return -ENOMEM;
	slot->ring_bytes = header->size_bytes;
	slot->ring_data = data_map(memfd, slot->ring_bytes);
	if (slot->ring_data == NULL) {
		ftr_sys2(SYS_munmap, mem, PAGE);
		return -ENOMEM;
	}
	producer->header = header;
	producer->data = (uintptr_t)slot->ring_data - (uintptr_t)producer;
	producer->mask = slot->ring_bytes - 1;
	slot->is_in_nursery = false;
	return 0;
}

/* What ring_open works on, maybe in a helper. */
struct opening {
	struct ftr_slot *slot;
	struct ftr_channel_message message;
	int ret;
};

/*
 * The recorder makes the ring: the program's limits (file size, descriptors) do not apply to
 * it, and the program cannot truncate it while the recorder reads.
 */
static void ring_open(void *arg)
{
	struct opening *opening = arg;
	struct ftr_slot *slot = opening->slot;
	int fds[FTR_CHANNEL_REPLY_FDS] = { -1, -1 };

	if (!ftr_channel_turn_take()) {
		opening->ret = -EAGAIN;
		return;
	}
	opening->ret = ftr_channel_ask(&opening->message, NULL, fds);
	if (fds[0] >= 0) {
		opening->ret = ring_map(slot, fds[0]);
		ftr_sys_close_own(fds[0]);
	} else if (opening->ret == 0 && slot->ring_id == 0) {
		opening->ret = -EPROTO; /* recycled ones need none: they go on where they are */
	}
	ftr_channel_turn_give();
	if (opening->ret == 0)
		slot->ring_id = opening->message.base;
}

static int ring_get(struct ftr_slot *slot, uint32_t flags, int32_t parent_pid, uint64_t fork_tick)
{
	struct opening opening = {
		.slot = slot,
		.message = {
			.magic = FTR_CHANNEL_MAGIC,
			.type = FTR_CHANNEL_TASK | flags,
			.pid = slot->pid,
			.tid = atomic_load(&slot->tid),
			.parent_pid = parent_pid,
			.time = fork_tick != 0 ? fork_tick : ftr_clock_read(),
			.base = slot->ring_id,
		},
	};

	ring_open(&opening);
	if (opening.ret == -EMFILE) {
		opening.message.type |= FTR_CHANNEL_BY_CHILD;
		ftr_helper_run(ring_open, &opening);
	}
	return opening.ret;
}

/* The ring that came with the session. */
static int first_ring_take(struct ftr_slot *slot)
{
	int ret = ring_map(slot, ftr_state.first_ring.fd);

	ftr_sys_close_own(ftr_state.first_ring.fd);
	if (ret == 0)
		slot->ring_id = ftr_state.first_ring.id;
	ftr_state.first_ring.id = 0;
	return ret;
}

int ftr_task_ring_get(struct ftr_slot *slot, int32_t parent_pid, uint64_t fork_tick)
{
	if (ftr_state.first_ring.id != 0)
		return first_ring_take(slot);
	if (slot->ring_id != 0) /* the dead thread may have left holes: this is where we go on */
		atomic_store_explicit(&slot->producer->header->head, slot->producer->head,
				      memory_order_release);
	return ring_get(slot, 0, parent_pid, fork_tick);
}

int ftr_task_ring_grow(struct ftr_slot *slot)
{
	return ring_get(slot, FTR_CHANNEL_GROW, 0, 0);
}
