/* SPDX-License-Identifier: MIT */
/*
 * A thread's first call, and a forked child's: memory, ring, and one message to the recorder.
 * System calls are made here and nowhere else on the way of a call.
 */
#include "libmcount/thread.h"

#include <errno.h>
#include <linux/mman.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>

#include "libmcount/channel.h"
#include "libmcount/clock.h"
#include "libmcount/fork.h"
#include "libmcount/gate.h"
#include "libmcount/hook.h"
#include "libmcount/maps.h"
#include "libmcount/nursery.h"
#include "libmcount/pmu.h"
#include "libmcount/sections.h"
#include "libmcount/stacks.h"
#include "libmcount/state.h"
#include "libmcount/task_ring.h"
#include "libmcount/untraced.h"
#include "libmcount/vfork.h"

#define PAGE 4096u
#define STACK_MIN_FRAMES 1024u
#define FRAMES_PER_RETURN 2u
#define FRAME_BYTES (sizeof(struct ftr_frame) + sizeof(struct ftr_return) / FRAMES_PER_RETURN)
#define FRAMES_PER_STACK 16u
#define FIRST_SHARE 64u			/* of the machine's addresses one is for the first thread */
struct ftr_unwind_slot ftr_unwind_slots[FTR_STUB_NR];

#define RECYCLE_LOOKS 8		/* slots asked whether their thread is dead, per attach */

#define OURS (MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE)

/*
 * A limit of data (RLIMIT_DATA) does not count what grows down.  It does not grow: the page below
 * it is a mapping of another kind.
 */
static void *memory_map(uint64_t bytes)
{
	long low = ftr_map_unlocked(0, PAGE + bytes, PROT_NONE, OURS, -1, 0), mem;

	if (ftr_sys_map_failed(low))
		return NULL;
	mem = ftr_map_unlocked((uint64_t)low + PAGE, bytes, PROT_READ | PROT_WRITE,
			       OURS | MAP_GROWSDOWN, -1, 0);
	if (!ftr_sys_map_failed(mem))
		return (void *)mem;
	ftr_sys2(SYS_munmap, low, PAGE + bytes);
	return NULL;
}

static void memory_unmap(void *mem, uint64_t bytes)
{
	ftr_sys2(SYS_munmap, (char *)mem - PAGE, PAGE + bytes);
}

/* A stub of its own for unwinders; the last threads of a huge program have to share. */
static uint32_t stub_take(void)
{
	uint32_t stub = atomic_fetch_add(&ftr_state.stubs, 1) + 2;

	return stub < FTR_STUB_NR ? stub : 0;
}

void ftr_stub_take_aside(struct ftr_slot *slot)
{
	uint32_t none = 0, stub = stub_take();

	if (stub == 0)
		return;
	ftr_unwind_slots[stub].slot = slot;
	atomic_compare_exchange_strong(&slot->stub_aside, &none, stub);
}

/*
 * Leave nearly all of a limited address space to the program.  Where it is the machine's that is
 * small, the first thread gets more of it: it has the largest stack, and is one.
 */
static uint64_t frames_wanted(void)
{
	struct { uint64_t soft, hard; } limit = { 0, 0 };
	uint64_t frame_nr = ftr_state.control->stack_max, share = FTR_CHANNEL_AS_SHARE;

	if (ftr_sys4(SYS_prlimit64, 0, RLIMIT_AS, NULL, &limit) < 0)
		limit.soft = RLIM64_INFINITY;
	if (limit.soft > FTR_ARCH_ADDRESS_BYTES) {
		limit.soft = FTR_ARCH_ADDRESS_BYTES;
		if (atomic_load(&ftr_state.slot_nr) == 0)
			share = FIRST_SHARE;
	}
	if (limit.soft == RLIM64_INFINITY)
		return frame_nr;
	while (frame_nr * FRAME_BYTES + ftr_gate_bytes(frame_nr) >
		       limit.soft / share &&
	       frame_nr > STACK_MIN_FRAMES)
		frame_nr /= 2;
	return frame_nr;
}

/*
 * For one frame in two, whose number is a power of two or nearly so: half a million places of
 * calls, of a stack of 8 MB.
 */
static uint64_t returns_wanted(uint64_t frame_nr)
{
	uint64_t return_nr = FTR_RETURN_WAYS;

	while (return_nr * FRAMES_PER_RETURN < frame_nr)
		return_nr *= 2;
	return return_nr;
}

static uint32_t stacks_wanted(uint64_t frame_nr)
{
	uint64_t nr = frame_nr / FRAMES_PER_STACK;

	return nr < FTR_STACK_MAX ? (uint32_t)nr : FTR_STACK_MAX;
}

/*
 * One mapping: [ slot, vfork ][ producer ][ that of a vfork's child ][ returns ][ sentinel, frames
 * ... ][ gate ][ stacks ]; fork wipes the producers.
 */
static struct ftr_slot *slot_new(void)
{
	uint64_t frame_nr = frames_wanted();
	struct ftr_slot *slot = NULL;
	uint64_t bytes, return_nr;

	do {
		return_nr = returns_wanted(frame_nr);
		bytes = 3 * PAGE + return_nr * sizeof(struct ftr_return) +
			(1 + frame_nr) * sizeof(struct ftr_frame) + ftr_gate_bytes(frame_nr) +
			FTR_STACKS_BYTES(stacks_wanted(frame_nr));
		slot = memory_map(bytes);
	} while (slot == NULL && (frame_nr /= 2) >= STACK_MIN_FRAMES);
	if (slot == NULL)
		return NULL;
	slot->frame_nr = frame_nr;
	slot->return_nr = return_nr;
	slot->bytes = bytes;
	slot->stub = stub_take();
	slot->producer = (struct ftr_producer *)((char *)slot + PAGE);
	slot->vfork = (struct ftr_vfork *)(slot + 1);
	slot->returns = (struct ftr_return *)((char *)slot + 3 * PAGE);
	slot->frames = (struct ftr_frame *)(slot->returns + return_nr) + 1;
	slot->frames_high = slot->frames + frame_nr;
	slot->frames[-1].loc = (uintptr_t *)UINTPTR_MAX; /* above every stack: ends all searches */
	if (ftr_gate_bytes(frame_nr) != 0)
		slot->gate = ftr_gate_init(slot->frames + frame_nr, frame_nr);
	slot->stacks = (struct ftr_stacks *)((char *)(slot->frames + frame_nr) +
					     ftr_gate_bytes(frame_nr));
	slot->stack_nr = stacks_wanted(frame_nr);
	if (ftr_sys3(SYS_madvise, slot->producer, 2 * PAGE, MADV_WIPEONFORK) < 0) {
		memory_unmap(slot, bytes);
		return NULL;
	}
	return slot;
}

/* Each takes mappings, of which the program's threads need some themselves. */
static bool slots_are_used_up(void)
{
	return atomic_load(&ftr_state.slot_nr) >= ftr_state.control->slot_max;
}

static bool cannot_unlock(void)
{
	return atomic_load(&ftr_state.is_locking) && ftr_is_blocked(FTR_SECCOMP_UNLOCK);
}

static void slot_publish(struct ftr_slot *slot)
{
	atomic_fetch_add(&ftr_state.slot_nr, 1);
	slot->next = atomic_load(&ftr_state.slots);
	while (!atomic_compare_exchange_weak(&ftr_state.slots, &slot->next, slot))
		;
}

static bool thread_is_dead(int32_t pid, int32_t tid)
{
	return tid != 0 && ftr_sys3(SYS_tgkill, pid, tid, 0) == -ESRCH;
}

/*
 * The calls that a dead thread left open are gone with its stack; those on other stacks belong to
 * coroutines, which may yet return through them on another thread (leave.c).
 */
static bool has_coroutines(const struct ftr_slot *slot)
{
	const struct ftr_frame *frame;

	for (frame = slot->frames; ftr_slot_used(slot, frame); frame++) {
		if (frame->loc != NULL && frame->kind == FTR_FRAME_RETURN &&
		    (uintptr_t)frame->loc - slot->home_low >= slot->home_high - slot->home_low)
			return true;
	}
	return false;
}

static void frames_clear(struct ftr_slot *slot)
{
	struct ftr_frame *frame;

	for (frame = slot->frames; ftr_slot_used(slot, frame); frame++) {
		frame->loc = NULL;
		frame->is_begun = false;
	}
}

/* A slot whose thread has ended; its ring goes on where it is. */
static struct ftr_slot *slot_recycle(int32_t pid)
{
	struct ftr_slot *slot = atomic_load(&ftr_state.recycle_next);
	unsigned looks;

	for (looks = 0; looks < RECYCLE_LOOKS; slot = slot->next, looks++) {
		int32_t tid;

		if (slot == NULL)		/* round again, from the newest */
			slot = atomic_load(&ftr_state.slots);
		if (slot == NULL)
			break;
		tid = atomic_load(&slot->tid);

		if (slot->pid == pid && slot->ring_id != 0 && thread_is_dead(pid, tid) &&
		    !has_coroutines(slot) && atomic_compare_exchange_strong(&slot->tid, &tid, 0)) {
			frames_clear(slot);
			slot->producer->lost = 0;	/* the recorder reports these */
			ftr_pmu_close(&slot->producer->pmu);
			atomic_store(&ftr_state.recycle_next, slot->next);
			return slot;
		}
	}
	atomic_store(&ftr_state.recycle_next, slot);
	return NULL;
}

/* What decides about calls also knows how deep they may go. */
static void thread_take_gate(struct ftr_thread *self, struct ftr_slot *slot)
{
	struct ftr_frame *end = slot->frames + slot->frame_nr;

	self->gate = slot->gate;
	if (self->gate == NULL)
		return;
	if (self->estimate_end != NULL)
		self->estimate_end = end;
	else
		self->gate_end = end;
}

static void thread_take_slot(struct ftr_thread *self, struct ftr_slot *slot, bool is_main)
{
	uint64_t depth_max = atomic_load(&ftr_state.control->depth_max);

	self->slot = slot;
	self->producer = slot->producer;
	self->frames = slot->frames;
	self->top = slot->frames;
	self->halving_low = slot->frames - 1;
	if (depth_max == 0 || depth_max > slot->frame_nr)
		depth_max = slot->frame_nr;
	self->frames_end = slot->frames + depth_max;
	self->stub = (uintptr_t)ftr_return_stubs +
		     FTR_STUB_BYTES * (slot->stub != 0 ? slot->stub : FTR_STUB_SHARED);
	if ((ftr_state.control->flags & FTR_CONTROL_ESTIMATE_RETURN) != 0) {
		self->estimate_end = self->frames_end;
		self->stub = 0;
	}
	thread_take_gate(self, slot);
	if (self->estimate_end != NULL || self->gate_end != NULL)
		self->frames_end = slot->frames;
	else
		self->hook = self->stub;
	ftr_maps_find_stack(__builtin_frame_address(0), is_main ? ftr_state.main_stack : 0,
			    ftr_arch_thread_pointer(), &self->home_low, &self->home_high);
	slot->home_low = self->home_low;
	slot->home_high = self->home_high;
	slot->thread = self;
	if (slot->stub != 0)
		ftr_unwind_slots[slot->stub].slot = slot;
}

/* In a program that ran before us it was given without our knowledge. */
static void signal_stack_ask(struct ftr_thread *self)
{
	stack_t stack;

	if (ftr_sys2(SYS_sigaltstack, NULL, &stack) == 0 && (stack.ss_flags & SS_DISABLE) == 0) {
		self->signal_low = (uintptr_t)stack.ss_sp;
		self->signal_bytes = stack.ss_size;
	}
}

bool ftr_thread_is_anothers(int32_t tid)
{
	clockid_t clock;		/* of a thread: ~tid << 3, and what it measures */

	return ftr_state.attached != 0 && pthread_getcpuclockid(pthread_self(), &clock) == 0 &&
	       ~(clock >> 3) != tid;
}

static int attach(struct ftr_thread *self)
{
	int32_t pid = (int32_t)ftr_sys0(SYS_getpid);
	int32_t tid = (int32_t)ftr_sys0(SYS_gettid);
	int32_t parent_pid = 0;
	struct ftr_slot *slot = self->slot;
	uint64_t fork_tick = 0;
	bool is_forked = false;
	int ret = 0;

	/*
	 * Forked: the shadow stack is ours, the ring is not.  The slots of the parent's other
	 * threads stay: coroutines that ran there may be resumed here.
	 */
	if (slot != NULL && slot->is_vforked) {
		parent_pid = slot->parent_pid != pid ? slot->parent_pid : 0;
		slot->is_vforked = false;
	} else if (slot != NULL) {
		parent_pid = slot->pid;
		is_forked = true;
		slot->ring_id = 0;
		slot->is_staying = false;
		if (atomic_load(&ftr_state.is_locking))
			atomic_store(&ftr_state.is_locking, false); /* it does not inherit that */
		if (self->stacks != NULL)
			self->stacks->told = FTR_STACK_NONE;
	} else {
		if (ftr_thread_is_anothers(tid))
			return -ECHILD;
		slot = slot_recycle(pid);
		if (slot == NULL) {
			if (slots_are_used_up())
				return -EUSERS;
			if (cannot_unlock())
				return -EPERM;
			slot = slot_new();
			if (slot == NULL)
				return -ENOMEM;
			slot_publish(slot);
		}
		thread_take_slot(self, slot, pid == tid);
		if (ftr_state.attached != 0)
			signal_stack_ask(self);
		ftr_stacks_attach(self);
	}
	slot->pid = pid;
	atomic_store(&slot->tid, tid);
	if (is_forked)
		fork_tick = ftr_fork_tick(self);
	if (!is_forked || !ftr_nursery_take(slot, parent_pid, fork_tick))
		ret = ftr_task_ring_get(slot, parent_pid, fork_tick);
	if (ret == 0)
		ftr_ring_update_limit(slot->producer);
	return ret;
}

/* Counted, and else said: the recorder speaks of what was counted when it ends. */
static void attach_failed(struct ftr_thread *self, int code)
{
	static const struct failure {
		int code;
		enum ftr_untraced_cause cause;
		const char *warning;
	} failures[] = {
		{ -ENOMEM, FTR_UNTRACED_MEMORY,
		  "cannot allocate a ring for a task, which runs untraced; raise ulimit -v or use "
		  "smaller rings (-b)" },
		{ -EUSERS, FTR_UNTRACED_MAPPINGS,
		  "more threads at a time than can be traced: the others run untraced; raise "
		  "sysctl vm.max_map_count" },
		{ -EMFILE, FTR_UNTRACED_DESCRIPTORS, NULL },
		{ -EAGAIN, FTR_UNTRACED_NO_REPLY, NULL },
		{ -EPERM, FTR_UNTRACED_FILTER, NULL },
	};
	const struct failure *failure = failures;

	ftr_thread_disarm(self);
	while (failure->code != code) {
		if (++failure == failures + sizeof(failures) / sizeof(failures[0]))
			return;			/* refused, or there is no recorder */
	}
	if (!ftr_untraced_begin(self, failure->cause) && failure->warning != NULL)
		ftr_channel_warn(failure->warning);
}

bool ftr_thread_attach(struct ftr_thread *self)
{
	uint64_t all = UINT64_MAX, old;
	bool is_attached;
	int ret;

	if (ftr_is_silent()) {
		ftr_thread_disarm(self);
		ftr_untraced_begin(self, FTR_UNTRACED_FILTER);
		return false;
	}
	ftr_sys4(SYS_rt_sigprocmask, 0 /* SIG_BLOCK */, &all, &old, sizeof(all));
	is_attached = self->producer != NULL && self->producer->header != NULL;
	if (!is_attached && !self->is_refused) {
		ret = attach(self);
		if (ret < 0 && ret != -ECHILD)
			attach_failed(self, ret);
		is_attached = ret == 0;
	}
	ftr_sys4(SYS_rt_sigprocmask, 2 /* SIG_SETMASK */, &old, NULL, sizeof(old));
	if (is_attached)
		ftr_sections_refresh();
	return is_attached;
}

void ftr_thread_disarm(struct ftr_thread *self)
{
	self->is_refused = true;
	self->frames_end = self->frames;
	self->estimate_end = NULL;
	self->gate_end = NULL;
	self->stacks_end = NULL;
	if (self->producer != NULL)
		self->producer->limit = 0;	/* ends in ftr_ring_put_slow, which declines */
}

void ftr_thread_pause(struct ftr_thread *self, struct ftr_pause *pause)
{
	pause->frames_end = self->frames_end;
	pause->estimate_end = self->estimate_end;
	pause->gate_end = self->gate_end;
	pause->stacks_end = self->stacks_end;
	pause->is_refused = self->is_refused;
	if (self->frames == NULL)
		self->is_refused = true;	/* nor attach it */
	self->frames_end = self->frames;
	self->estimate_end = NULL;
	self->gate_end = NULL;
	self->stacks_end = NULL;
}

void ftr_thread_resume(struct ftr_thread *self, const struct ftr_pause *pause)
{
	self->frames_end = pause->frames_end;
	self->estimate_end = pause->estimate_end;
	self->gate_end = pause->gate_end;
	self->stacks_end = pause->stacks_end;
	self->is_refused = pause->is_refused;
}
