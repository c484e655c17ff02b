/* SPDX-License-Identifier: MIT */
/*
 * See nursery.h.  The mapping is inherited and never unmapped, as other threads may be about to use
 * it; there is one in a process, or some more where a parent ended before its child.
 */
#include "libmcount/nursery.h"

#include <errno.h>
#include <sys/mman.h>
#include <sys/prctl.h>

#include "libmcount/channel.h"
#include "libmcount/state.h"
#include "libmcount/task_ring.h"
#include "libmcount/untraced.h"
#include "utils/base/rt/sys.h"
#include "utils/proto/nursery.h"

#define SIG_BLOCK_ALL 0 /* <signal.h> SIG_BLOCK */
#define SIG_RESTORE 2	/* <signal.h> SIG_SETMASK */

#define FORKS_BEFORE 2u		/* it is worth it from then on */
#define FORKS_ENOUGH 1000000u	/* it was asked for and not given: no more of that */
#define ADDRESSES_WANTED (UINT64_C(1) << 40)	/* a machine that has as many has room for it */

/* The last place, which is closed first, is closed: its owner has ended. */
static bool is_closed(struct ftr_nursery *nursery)
{
	return atomic_load(&nursery->claims[FTR_NURSERY_PLACES - 1].who) == FTR_NURSERY_CLOSED;
}

static bool is_wanted(void)
{
	struct ftr_nursery *nursery = atomic_load(&ftr_state.nursery);

	if (FTR_ARCH_ADDRESS_BYTES < ADDRESSES_WANTED || ftr_state.control == NULL ||
	    ftr_state.attached != 0 || ftr_is_silent() || ftr_recorder_is_gone() ||
	    atomic_load(&ftr_state.is_locking))
		return false;
	if (nursery != NULL && !is_closed(nursery))
		return false;
	if (nursery != NULL) {	/* of one that it was forked from: its own forks count now */
		atomic_store(&ftr_state.fork_nr, 0);
		atomic_store(&ftr_state.nursery, NULL);
	}
	return atomic_fetch_add(&ftr_state.fork_nr, 1) == FORKS_BEFORE;
}

static void nursery_open(void)
{
	struct ftr_channel_message message = {
		.magic = FTR_CHANNEL_MAGIC,
		.type = FTR_CHANNEL_NURSERY,
		.pid = (int32_t)ftr_sys0(SYS_getpid),
		.tid = (int32_t)ftr_sys0(SYS_gettid),
	};
	int fds[FTR_CHANNEL_REPLY_FDS] = { -1, -1 };
	struct ftr_nursery *nursery = NULL;
	long mem;

	if (!ftr_channel_turn_take())
		return;
	if (ftr_channel_ask(&message, NULL, fds) == 0 && fds[0] >= 0) {
		mem = ftr_sys_map(0, FTR_NURSERY_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fds[0],
				  0);
		nursery = ftr_sys_map_failed(mem) ? NULL : (struct ftr_nursery *)mem;
		ftr_sys_close_own(fds[0]);
	}
	ftr_channel_turn_give();
	if (nursery == NULL)
		atomic_store(&ftr_state.fork_nr, FORKS_ENOUGH);
	else if (nursery->magic == FTR_NURSERY_MAGIC)
		atomic_store(&ftr_state.nursery, nursery);
}

void ftr_nursery_before_fork(void)
{
	uint64_t all = UINT64_MAX, old;

	if (!is_wanted())
		return;
	ftr_sys4(SYS_rt_sigprocmask, SIG_BLOCK_ALL, &all, &old, sizeof(all));
	nursery_open();
	ftr_sys4(SYS_rt_sigprocmask, SIG_RESTORE, &old, NULL, sizeof(old));
}

/* The lowest one that is free: its pages were in use before. */
static bool place_claim(struct ftr_nursery *nursery, uint64_t who, unsigned *place)
{
	unsigned i;

	for (i = 0; i < FTR_NURSERY_PLACES; i++) {
		uint64_t free = FTR_NURSERY_FREE;

		if (atomic_load_explicit(&nursery->claims[i].who, memory_order_relaxed) == free &&
		    atomic_compare_exchange_strong(&nursery->claims[i].who, &free, who)) {
			*place = i;
			return true;
		}
	}
	return false;
}

/*
 * That the parent has for its child the number that it has for itself says that both are in one
 * PID namespace, and so that the recorder knows the number that the child has for itself.
 */
static bool may_take(const struct ftr_slot *slot, int32_t parent_pid)
{
	return slot->pid == atomic_load(&slot->tid) && !ftr_recorder_is_gone() &&
	       (int32_t)ftr_sys0(SYS_getppid) == parent_pid;
}

bool ftr_nursery_take(struct ftr_slot *slot, int32_t parent_pid, uint64_t fork_tick)
{
	struct ftr_nursery *nursery = atomic_load(&ftr_state.nursery);
	struct ftr_producer *producer = slot->producer;
	struct ftr_ring_header *header;
	unsigned place;

	if (nursery == NULL || parent_pid <= 0 || !may_take(slot, parent_pid) ||
	    !place_claim(nursery, ftr_nursery_who(slot->pid, parent_pid), &place))
		return false;
	atomic_store_explicit(&nursery->claims[place].time, fork_tick, memory_order_release);
	header = ftr_nursery_ring(nursery, place);
	slot->ring_id = nursery->first_id + place;
	slot->ring_bytes = nursery->ring_bytes;
	slot->ring_data = (uint8_t *)header;	/* all of the place, for those that cover it */
	slot->is_in_nursery = true;
	producer->header = header;
	producer->data = (uintptr_t)header + FTR_NURSERY_DATA_OFFSET - (uintptr_t)producer;
	producer->mask = slot->ring_bytes - 1;
	return true;
}

/*
 * What lies between what the recorder has taken and @pos is all committed: no hook of this thread
 * was interrupted, so none will write to the ring when it goes on.
 */
static bool is_all_committed(struct ftr_producer *producer, uint64_t pos)
{
	uint64_t tail = atomic_load_explicit(&producer->header->tail, memory_order_acquire);

	if (pos - tail > producer->mask + 1)
		return false;
	for (; tail < pos; tail += sizeof(struct ftr_record)) {
		if (__atomic_load_n(&ftr_producer_record(producer, tail)->word,
				    __ATOMIC_RELAXED) == 0)
			return false;
	}
	return true;
}

static bool leave(struct ftr_thread *self, uint64_t pos)
{
	struct ftr_producer *producer = self->producer;
	int ret;

	if (!is_all_committed(producer, pos))
		return false;
	ret = ftr_task_ring_grow(self->slot);
	if (ret < 0 && ret != -EMFILE) {
		ftr_thread_disarm(self);	/* it may be another child's by now */
		ftr_untraced_begin(self, ret == -ENOMEM ? FTR_UNTRACED_MEMORY :
							  FTR_UNTRACED_NO_REPLY);
		return false;
	}
	if (self->slot->is_in_nursery) {
		self->slot->is_staying = true;
		return false;
	}
	producer->head = 0;
	producer->hopeless = 0;
	ftr_ring_update_limit(producer);
	return true;
}

bool ftr_nursery_leave(struct ftr_thread *self, uint64_t pos)
{
	uint64_t all = UINT64_MAX, old;
	bool is_done;

	if (!self->slot->is_in_nursery || self->slot->is_staying ||
	    self->slot->ring_bytes >= ftr_state.control->ring_bytes ||
	    ftr_is_silent() || ftr_recorder_is_gone())
		return false;
	ftr_sys4(SYS_rt_sigprocmask, SIG_BLOCK_ALL, &all, &old, sizeof(all));
	is_done = leave(self, pos);
	ftr_sys4(SYS_rt_sigprocmask, SIG_RESTORE, &old, NULL, sizeof(old));
	return is_done;
}

static void claim_name(struct ftr_nursery_claim *claim)
{
	uint64_t name[FTR_NURSERY_NAME_WORDS] = { 0 };
	unsigned i;

	ftr_sys2(SYS_prctl, PR_GET_NAME, name);
	for (i = FTR_NURSERY_NAME_WORDS; i-- > 0;)
		atomic_store_explicit(&claim->name[i], name[i], memory_order_release);
}

/* Only the first thread has the name, and the claim. */
bool ftr_nursery_keep_name(void)
{
	struct ftr_nursery *nursery = atomic_load(&ftr_state.nursery);
	const struct ftr_slot *slot = ftr_self.slot;
	int32_t pid = (int32_t)ftr_sys0(SYS_getpid);
	uint64_t place;

	if (nursery == NULL)
		return true;
	if ((int32_t)ftr_sys0(SYS_gettid) != pid)
		return false;
	if (slot == NULL || slot->pid != pid || !slot->is_in_nursery)
		return true;
	place = slot->ring_id - nursery->first_id;
	if (place < FTR_NURSERY_PLACES)		/* else of one before, and seen since */
		claim_name(&nursery->claims[place]);
	return true;
}

bool ftr_nursery_has(uint64_t address)
{
	struct ftr_nursery *nursery = atomic_load(&ftr_state.nursery);

	return nursery != NULL && address - (uint64_t)(uintptr_t)nursery < FTR_NURSERY_BYTES;
}
