/* SPDX-License-Identifier: MIT */
/*
 * fork in a signal handler that interrupted a hook: in the child, the hook goes on where it was,
 * with a position in the ring of the parent, or on its way to one.  That ring is replaced by memory
 * that is not read; the child's next calls go to a ring of its own, as after any fork.
 *
 * The parent goes on, while the child may not record anything for long: so the time of the fork is
 * taken before it.
 */
#include "libmcount/fork.h"

#include <sys/mman.h>

#include "libmcount/clock.h"
#include "libmcount/gated.h"
#include "libmcount/nursery.h"
#include "libmcount/state.h"
#include "utils/base/rt/sys.h"
#include "utils/proto/nursery.h"

#define PAGE 4096u
#define TAIL_FAR (UINT64_C(1) << 62)	/* there is always room */

int __register_atfork(void (*prepare)(void), void (*parent)(void), void (*child)(void), void *dso);

static bool has_interrupted_hook(const struct ftr_thread *self)
{
	const struct ftr_frame *frame;

	for (frame = self->top - 1; frame >= self->frames; frame--) {
		if (frame->loc != NULL && !frame->is_begun)
			return true;
	}
	return false;
}

/* [ a producer for the child ][ a header for the interrupted hooks ] */
static bool producer_renew(struct ftr_thread *self)
{
	struct ftr_producer *old = self->slot->producer;
	uint64_t bytes = self->slot->ring_bytes;
	uint64_t all = self->slot->is_in_nursery ? FTR_NURSERY_PLACE_BYTES : 2 * bytes;
	long mem = ftr_sys_map(0, 2 * PAGE, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	long data = ftr_sys_map(self->slot->ring_data, all, PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
	struct ftr_producer *new = (struct ftr_producer *)mem;
	struct ftr_ring_header *header = (struct ftr_ring_header *)(mem + PAGE);

	if (ftr_sys_map_failed(mem) || ftr_sys_map_failed(data) ||
	    ftr_sys3(SYS_madvise, new, PAGE, MADV_WIPEONFORK) < 0)
		return false;
	atomic_store(&header->tail, TAIL_FAR);
	old->header = header;
	old->data = (uintptr_t)self->slot->ring_data - (uintptr_t)old;
	old->mask = bytes - 1;
	old->limit = old->room = UINT64_MAX;
	self->slot->producer = self->producer = new;
	return true;
}

/*
 * Where fork does not wipe what it was asked to (emulators), the child has its parent's end of the
 * ring until here.
 */
static void producer_wipe(struct ftr_thread *self)
{
	static const struct ftr_producer nothing;

	if (self->producer != NULL && self->producer->header != NULL &&
	    self->slot->pid != (int32_t)ftr_sys0(SYS_getpid))
		*self->producer = nothing;
}

/*
 * What has no ring is no task: what it forks is a child of its own parent's, with the calls that
 * were open there.
 */
static uint64_t fork_tick(const struct ftr_thread *self)
{
	return self->forked_tick != 0 ? self->forked_tick : self->forking_tick;
}

static void in_child(void)
{
	struct ftr_thread *self = &ftr_self;

	producer_wipe(self);
	if (atomic_load(&ftr_state.looking_nr) != 0)	/* what is not written is not copied */
		atomic_store(&ftr_state.looking_nr, 0);	/* other threads are not here */
	self->looking_nr = 0;
	self->forked_tick = fork_tick(self);
	self->forking_tick = 0;
	if (self->producer == NULL || self->producer->header != NULL || !has_interrupted_hook(self))
		return;
	if (!producer_renew(self))
		ftr_thread_disarm(self);
}

/* The child inherits the open calls: those that are recorded have to be in its parent's trace. */
void ftr_fork_begin(void)
{
	struct ftr_thread *self = &ftr_self;

	ftr_gated_flush(self);
	ftr_nursery_before_fork();
	if (self->slot != NULL && !self->is_vforked)
		self->forking_tick = ftr_clock_read();
}

void ftr_fork_end(void)
{
	if (ftr_self.forking_tick != 0)
		ftr_self.forking_tick = 0;
}

uint64_t ftr_fork_tick(struct ftr_thread *self)
{
	uint64_t tick = fork_tick(self);

	self->forking_tick = self->forked_tick = 0;
	return tick != 0 ? tick : ftr_clock_read();
}

void ftr_fork_start(void)
{
	__register_atfork(ftr_fork_begin, ftr_fork_end, in_child, NULL);
}
