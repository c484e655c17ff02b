/* SPDX-License-Identifier: MIT */
/* See vfork.h.  Parent and child never run at the same time, so nothing here needs to be atomic. */
#include "libmcount/vfork.h"

#include <sys/mman.h>

#include "libmcount/channel.h"
#include "libmcount/gated.h"
#include "libmcount/looking.h"
#include "libmcount/stacks.h"
#include "libmcount/state.h"
#include "utils/base/rt/sys.h"

#define PAGE 4096u

static_assert(sizeof(struct ftr_slot) + sizeof(struct ftr_vfork) <= PAGE, "both in one page");

/* The slot has room for one; a child that calls vfork itself needs another. */
static struct ftr_vfork *vfork_new(const struct ftr_slot *slot)
{
	struct ftr_vfork *vfork;
	long mem;

	if (slot != NULL && slot->vfork != NULL) {
		slot->vfork->slot.producer = (struct ftr_producer *)((char *)slot + 2 * PAGE);
		return slot->vfork;
	}
	if (ftr_is_silent())
		return NULL;
	mem = ftr_sys_map(0, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
		       -1, 0);
	if (ftr_sys_map_failed(mem))
		return NULL;
	vfork = (struct ftr_vfork *)mem;
	vfork->bytes = 2 * PAGE;
	vfork->slot.producer = (struct ftr_producer *)(mem + PAGE);
	ftr_sys3(SYS_madvise, vfork->slot.producer, PAGE, MADV_WIPEONFORK);
	return vfork;
}

static void child_slot_init(struct ftr_vfork *vfork, const struct ftr_slot *parent)
{
	struct ftr_producer *producer = vfork->slot.producer;

	*producer = (struct ftr_producer){ 0 };	/* no ring: the first record asks for one */
	vfork->slot = (struct ftr_slot){
		.producer = producer,
		.parent_pid = parent->pid != 0 ? parent->pid : parent->parent_pid,
		.is_vforked = true,
		.frames = parent->frames,
		.frame_nr = parent->frame_nr,
		.gate = parent->gate,
		.returns = parent->returns,
		.return_nr = parent->return_nr,
		.home_low = parent->home_low,
		.home_high = parent->home_high,
		.stub = parent->stub,
	};
}

static void frames_keep(struct ftr_vfork *vfork)
{
	const struct ftr_thread *self = &vfork->self;
	size_t nr = (size_t)(self->top - self->frames), i;

	if (self->frames == NULL)
		nr = 0;
	vfork->kept_nr = nr < FTR_VFORK_KEPT ? (uint32_t)nr : FTR_VFORK_KEPT;
	for (i = 0; i < vfork->kept_nr; i++)
		vfork->kept[i] = self->top[(ptrdiff_t)i - (ptrdiff_t)vfork->kept_nr];
	vfork->gated_nr = self->gate == NULL ? 0 :
			  vfork->kept_nr < FTR_VFORK_GATED ? vfork->kept_nr : FTR_VFORK_GATED;
	for (i = 0; i < vfork->gated_nr; i++)
		vfork->gated[i] = *ftr_gate_frame(self, self->top - 1 - i);
}

/* What one of them has said about stacks the other's ring does not know. */
static void stacks_forget(const struct ftr_thread *self)
{
	if (self->stacks != NULL)
		self->stacks->told = FTR_STACK_NONE;
}

struct ftr_vfork *ftr_vfork_begin(void)
{
	struct ftr_thread *self = &ftr_self;
	struct ftr_vfork *vfork;
	uint64_t all = UINT64_MAX;

	if (ftr_state.control == NULL)
		return NULL;
	vfork = vfork_new(self->slot);
	if (vfork == NULL)
		return NULL;
	vfork->is_blocked = !ftr_is_silent();
	if (vfork->is_blocked)
		ftr_sys4(SYS_rt_sigprocmask, 0 /* SIG_BLOCK */, &all, &vfork->signals, sizeof(all));
	ftr_gated_flush(self);
	vfork->self = *self;
	frames_keep(vfork);
	if (self->slot != NULL)
		child_slot_init(vfork, self->slot);
	stacks_forget(self);
	return vfork;
}

static void signals_restore(const struct ftr_vfork *vfork)
{
	if (vfork->is_blocked)
		ftr_sys4(SYS_rt_sigprocmask, 2 /* SIG_SETMASK */, &vfork->signals, NULL,
			 sizeof(vfork->signals));
}

void ftr_vfork_child(struct ftr_vfork *vfork)
{
	struct ftr_thread *self = &ftr_self;

	if (vfork == NULL)
		return;
	self->is_vforked = true;	/* until the parent has its own state again */
	if (self->slot != NULL) {
		self->slot = &vfork->slot;
		self->producer = vfork->slot.producer;
	}
	signals_restore(vfork);
}

/* The child's calls, and those of the parent's that it returned from. */
static void frames_restore(const struct ftr_vfork *vfork)
{
	const struct ftr_thread *old = &vfork->self;
	struct ftr_frame *frame;
	size_t i;

	for (frame = old->top; old->frames != NULL && frame < ftr_self.top; frame++) {
		frame->loc = NULL;
		frame->is_begun = false;
	}
	for (i = 0; i < vfork->kept_nr; i++)
		old->top[(ptrdiff_t)i - (ptrdiff_t)vfork->kept_nr] = vfork->kept[i];
	for (i = 0; i < vfork->gated_nr; i++)
		*ftr_gate_frame(old, old->top - 1 - i) = vfork->gated[i];
}

static void child_ring_unmap(const struct ftr_slot *slot)
{
	if (slot->ring_id == 0)
		return;
	ftr_sys2(SYS_munmap, slot->producer->header, PAGE);
	ftr_sys2(SYS_munmap, slot->ring_data, 2 * (uint64_t)slot->ring_bytes);
}

void ftr_vfork_parent(struct ftr_vfork *vfork)
{
	uint64_t bytes;

	if (vfork == NULL)
		return;
	ftr_looking_restore(vfork->self.looking_nr);
	frames_restore(vfork);
	ftr_self = vfork->self;
	stacks_forget(&ftr_self);
	child_ring_unmap(&vfork->slot);
	signals_restore(vfork);
	bytes = vfork->bytes;
	if (bytes != 0)
		ftr_sys2(SYS_munmap, vfork, bytes);
}
