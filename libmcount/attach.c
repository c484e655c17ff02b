/* SPDX-License-Identifier: MIT */
/*
 * Started in a program that runs already, and ended while it runs on (utils/proto/attach.h).
 * Called in one of its threads, with all signals blocked, on a stack of its own.
 */
#include <dlfcn.h>
#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <time.h>

#include "libmcount/channel.h"
#include "libmcount/clock.h"
#include "libmcount/environ.h"
#include "libmcount/fork.h"
#include "libmcount/frame.h"
#include "libmcount/gate.h"
#include "libmcount/hook.h"
#include "libmcount/late.h"
#include "libmcount/left.h"
#include "libmcount/libraries.h"
#include "libmcount/module.h"
#include "libmcount/plt_bind.h"
#include "libmcount/pmu.h"
#include "libmcount/returns.h"
#include "libmcount/sections.h"
#include "libmcount/semaphores.h"
#include "libmcount/session.h"
#include "libmcount/state.h"
#include "utils/base/rt/sys.h"
#include "utils/proto/attach.h"

#define PAGE 4096ul
#define PAUSE_NS 1000000
#define PAUSES 1000u
#define GUESS_MAX 4096u			/* entries of the list */

FTR_EXPORT void ftr_attach_step(struct ftr_attach *attach);
FTR_EXPORT void ftr_attach_locked(void);

static int *start_result;	/* of the borrowed thread, while it starts */

static enum ftr_attach_state state_now(void)
{
	if (ftr_state.attached != FTR_ATTACH_IDLE)
		return (enum ftr_attach_state)ftr_state.attached;
	return ftr_state.address_bytes != 0 ? FTR_ATTACH_LAUNCHED : FTR_ATTACH_IDLE;
}

static bool address_set(const char *address)
{
	size_t len = strlen(address);

	if (len == 0 || len > FTR_ADDRESS_MAX - 2)
		return false;
	memcpy(ftr_state.address, address, len + 1);
	ftr_state.address_bytes = (uint32_t)len;
	return true;
}

/* Handlers of fork stay: there is one set of them, however often this is attached to. */
static void fork_start_once(void)
{
	if (!ftr_state.has_atfork)
		ftr_fork_start();
	ftr_state.has_atfork = true;
}

/*
 * Other threads open and close libraries: what is hooked and patched here must not be unmapped
 * meanwhile, and its names be somebody else's.  So it is done with the dynamic linker's lock held,
 * see ftr_libraries_locked.
 */
static __attribute__((used)) void (*locked_start(void))(void)	/* by its name alone */
{
	if (start_result != NULL)
		*start_result = ftr_late_hook() ? ftr_session_begin() : -ENOMEM;
	return NULL;
}

void ftr_attach_locked(void) __attribute__((ifunc("locked_start")));

static int start(struct ftr_attach *attach)
{
	int ret = -ENOTSUP;		/* a dynamic linker that does not resolve */

	ftr_real_start_late();
	ftr_libraries_start_late();	/* before it looks as if somebody had launched it */
	if (!address_set(attach->address))
		return -EINVAL;
	ftr_state.attached = FTR_ATTACH_ATTACHED;
	ftr_state.code_plan.is_open = true;
	fork_start_once();
	ftr_module_start();
	start_result = &ret;
	dlsym(ftr_plt_map_of(&ftr_state), "ftr_attach_locked");
	start_result = NULL;
	ftr_state.code_plan.is_open = false;
	attach->hooked_nr = ftr_state.late_nr;
	return ret;
}

/*
 * Other threads go on: one that hooks what it has loaded, or makes an environment for exec, must
 * not do so behind us.  It waits for the recorder, and for nothing that the borrowed thread holds.
 * Not by nanosleep: the kernel would forget what is left of a sleep that the thread was taken from,
 * which would end with EINTR.
 */
static bool looks_end(void)
{
	const struct timespec pause = { .tv_nsec = PAUSE_NS };
	unsigned i;

	for (i = 0; (int32_t)atomic_load(&ftr_state.looking_nr) > 0 && i < PAUSES; i++)
		ftr_sys6(SYS_ppoll, NULL, 0, &pause, NULL, 0, 0);
	return i < PAUSES;
}

static int unhook(void)
{
	atomic_store(&ftr_state.arming, FTR_DISARMED);
	ftr_state.attached = FTR_ATTACH_UNHOOKED;
	if (!looks_end()) {
		ftr_state.attached = FTR_ATTACH_ATTACHED;
		return -EBUSY;
	}
	ftr_late_unhook();
	ftr_semaphores_lower();
	return 0;
}

/*
 * What is listed: as long as there is no memory for it, it is counted.  There may be more the
 * second time: threads run on if the helper dies.
 */
struct list {
	struct ftr_attach_write *writes;	/* NULL: count */
	uint64_t nr, room;
	struct ftr_left *left;
	uint64_t left_nr;
	int32_t pid;
	uint64_t now;			/* a stamp */
	bool is_guess;			/* nobody is asked: there may be less, never more */
	const struct ftr_slot *asked;	/* (nullable) whose thread the kernel was asked for */
	bool is_alive;			/* ... which it is */
};

static void list_add(struct list *list, struct ftr_attach_write write)
{
	write.order = (uint32_t)list->nr;
	if (list->writes != NULL && list->nr == list->room)
		return;
	if (list->writes != NULL)
		list->writes[list->nr] = write;
	list->nr++;
}

/* Through the kernel: a stack may be gone, and so may a dead thread's storage. */
static bool read_word(const struct list *list, const void *addr, uint64_t *value)
{
	struct iovec to = { value, sizeof(*value) }, from = { (void *)addr, sizeof(*value) };

	return ftr_sys6(SYS_process_vm_readv, list->pid, &to, 1, &from, 1, 0) == sizeof(*value);
}

/* Asked once for what is listed of a slot at a time, and only if that matters. */
static bool is_alive(struct list *list, const struct ftr_slot *slot)
{
	int32_t tid = atomic_load(&slot->tid);

	if (list->asked != slot) {
		list->asked = slot;
		list->is_alive = slot->pid == list->pid && tid > 0 &&
				 ftr_sys3(SYS_tgkill, list->pid, tid, 0) == 0;
	}
	return list->is_alive;
}

/* A place that a live thread's own stack is known to have can be read as it is. */
static bool word_at(struct list *list, const struct ftr_slot *slot, const uintptr_t *loc,
		    uint64_t *value)
{
	if ((uintptr_t)loc - slot->home_low < slot->home_high - slot->home_low &&
	    is_alive(list, slot)) {
		*value = *loc;
		return true;
	}
	return read_word(list, loc, value);
}

/*
 * The call at a place may be a dead thread's, left open, and another thread's, which has that stack
 * now: of which two the newer one is there.  Where the address itself is may not be known: it may
 * be in a register.  Then the call returns through us, as what has a copy of it does (left.h).
 */
static void list_return(struct list *list, const struct ftr_slot *slot,
			const struct ftr_return *entry)
{
	const uintptr_t *loc = entry->loc;
	const struct ftr_attach_write write = {
		.addr = (uintptr_t)loc, .value = entry->ret, .bytes = sizeof(entry->ret),
		.age = list->now - entry->stamp,
	};
	uint64_t value = 0;

	if (loc == NULL || ((uintptr_t)loc & FTR_FRAME_BUSY) != 0 || entry->ret == 0 ||
	    ftr_is_stub(entry->ret) || loc == (const uintptr_t *)UINTPTR_MAX)
		return;
	if (list->is_guess) {
		list->nr++;
		list->left_nr++;
		return;
	}
	if (FTR_ARCH_SLOT_STAYS && (!word_at(list, slot, loc, &value) ||
				    (!ftr_is_stub(value) && value != entry->ret)))
		return;
	if (FTR_ARCH_SLOT_STAYS && ftr_is_stub(value))
		list_add(list, write);
	list->left_nr++;
	if (list->left != NULL)
		ftr_left_add(list->left, loc, entry->ret, write.age);
}

static void list_left(struct list *list, const struct ftr_slot *slot)
{
	uint64_t used = ftr_returns_used(slot), i;

	list->asked = NULL;
	for (i = 0; i < used; i++)
		list_return(list, slot, &slot->returns[i]);
}

/* Of tail calls, which share a place, one has an address that is no stub. */
static void list_open(struct list *list, const struct ftr_slot *slot)
{
	const struct ftr_frame *frame;

	list->asked = NULL;
	for (frame = slot->frames; ftr_slot_used(slot, frame); frame++) {
		const struct ftr_return entry = {
			.loc = frame->loc, .ret = frame->ret, .stamp = ftr_frame_stamp(frame),
		};

		if (frame->kind == FTR_FRAME_RETURN)
			list_return(list, slot, &entry);
	}
}

/* Its thread-local storage is what it was before the thread's first call. */
static void list_thread(struct list *list, const struct ftr_slot *slot)
{
	const struct ftr_attach_write write = {
		.addr = (uintptr_t)slot->thread, .bytes = sizeof(struct ftr_thread),
	};
	uint64_t held;

	list->asked = NULL;
	if (slot->thread == NULL)
		return;
	if (list->is_guess ||
	    (is_alive(list, slot) && read_word(list, &slot->thread->slot, &held) &&
	     held == (uintptr_t)slot))
		list_add(list, write);
}

/*
 * Threads come last, and are of no age: a helper that dies on the way leaves calls that return, and
 * can be ended later.
 */
static void list_all(struct list *list)
{
	const struct ftr_slot *first = atomic_load(&ftr_state.slots), *slot;

	for (slot = first; slot != NULL; slot = slot->next)
		list_left(list, slot);
	for (slot = first; slot != NULL; slot = slot->next)
		list_open(list, slot);
	for (slot = first; slot != NULL; slot = slot->next)
		list_thread(list, slot);
	list_add(list, (struct ftr_attach_write){
		.addr = (uintptr_t)&ftr_state.is_forgotten, .value = 1, .bytes = sizeof(uint64_t),
	});
}

/* Who has left its place has written something else there; or its stack is gone. */
static bool is_still(void *arg, uintptr_t loc, uintptr_t ret)
{
	uint64_t value;

	return read_word(arg, (const void *)loc, &value) && (!FTR_ARCH_SLOT_STAYS || value == ret);
}

/*
 * Nobody unwinds, as all are stopped outside of it, and the calls are all that are open: none is
 * begun any more.
 */
static void stubs_leave(struct ftr_left *left)
{
	uint32_t i;

	for (i = 0; i < FTR_STUB_NR; i++)
		ftr_unwind_slots[i].slot = ftr_left_owner(left);
}

/* Nobody uses what the last one has taken the place of: all were stopped since, outside of us. */
static void left_publish(const struct list *list)
{
	struct ftr_left *before = atomic_load(&ftr_state.left);

	ftr_left_free(ftr_state.left_before);
	ftr_left_add_before(list->left, before, is_still, (void *)list);
	ftr_state.left_before = before;
	atomic_store(&ftr_state.left, list->left);
	if (!FTR_ARCH_SLOT_STAYS)
		stubs_leave(list->left);
}

/*
 * Each time that the kernel is asked the helper stops us twice, while all others stand: only what
 * would take too much memory is looked at in order to count it.
 */
static void list_count(struct list *list)
{
	list->is_guess = true;
	list_all(list);
	list->is_guess = false;
	if (list->nr <= GUESS_MAX)
		return;
	list->nr = list->left_nr = 0;
	list_all(list);
}

static int list_make(struct ftr_attach *attach)
{
	struct list list = {
		.pid = (int32_t)ftr_sys0(SYS_getpid),
		.now = ftr_state.control != NULL ? ftr_stamp(ftr_clock_read()) : 0,
	};
	long mem;

	list_count(&list);
	mem = ftr_sys_map(0, (list.nr + 1) * sizeof(*list.writes), PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (ftr_sys_map_failed(mem))
		return (int)mem;
	list.left = ftr_left_new(atomic_load(&ftr_state.left), list.left_nr);
	if (list.left == NULL) {
		ftr_sys2(SYS_munmap, mem, (list.nr + 1) * sizeof(*list.writes));
		return -ENOMEM;
	}
	list.writes = (struct ftr_attach_write *)mem;
	list.room = list.nr;
	list.nr = 0;
	list_all(&list);
	left_publish(&list);
	attach->writes = (uint64_t)mem;
	attach->write_nr = list.nr;
	attach->image = (uintptr_t)&ftr_thread_none;
	return 0;
}

static void unmap(const void *mem, uint64_t bytes)
{
	if (mem != NULL && bytes != 0)
		ftr_sys2(SYS_munmap, mem, bytes);
}

static void slot_free(struct ftr_slot *slot)
{
	ftr_pmu_close(&slot->producer->pmu);
	unmap(slot->ring_data, 2 * (uint64_t)slot->ring_bytes);
	if (slot->ring_data != NULL)
		unmap(slot->producer->header, PAGE);
	unmap((char *)slot - PAGE, PAGE + slot->bytes);
}

/* Code that no function leads to any more. */
static void areas_free(void)
{
	const struct ftr_plain_areas *areas = &ftr_state.plain_areas;
	uint32_t i;

	for (i = 0; i < areas->nr; i++)
		unmap((const void *)areas->v[i].code,
		      areas->v[i].code != 0 ? areas->v[i].mapped_bytes : 0);
}

static void sections_free(void)
{
	uint32_t nr = atomic_load(&ftr_state.kept_nr), i;
	const struct ftr_sections *image = ftr_sections_image();

	for (i = 0; i < nr && i < FTR_KEPT_MAX; i++) {
		const struct ftr_sections *kept = atomic_load(&ftr_state.kept[i]);

		if (kept != NULL)
			ftr_sections_unmap(kept);
	}
	if (image != NULL)
		ftr_sections_unmap(image);
}

/*
 * What lasts is real functions, which wrappers go on to that are called by an address that was
 * kept; and stubs of library calls with what they lead to, as a thread may have been about to use
 * one.
 */
static void state_reset(void)
{
	uint32_t stubs = atomic_load(&ftr_state.stubs);

	atomic_store(&ftr_state.slots, NULL);
	memset(&ftr_state, 0, offsetof(struct ftr_state, scratch));
	ftr_state.plt.call_nr = 0;
	if (FTR_ARCH_SLOT_STAYS)
		memset(ftr_unwind_slots, 0, FTR_STUB_NR * sizeof(ftr_unwind_slots[0]));
	else if (stubs < FTR_STUB_NR / 2)
		atomic_store(&ftr_state.stubs, stubs);	/* those that were left mean others */
}

static void free_all(const struct ftr_attach *attach)
{
	struct ftr_slot *slot = atomic_load(&ftr_state.slots), *next;

	for (; slot != NULL; slot = next) {
		next = slot->next;
		slot_free(slot);
	}
	sections_free();
	unmap(ftr_state.libraries, ftr_libraries_bytes());
	unmap(ftr_state.control, sizeof(struct ftr_control));
	areas_free();
	ftr_code_plan_free(&ftr_state.code_plan);
	ftr_environ_end_late();
	ftr_left_free(ftr_state.left_before);
	unmap((const void *)(uintptr_t)attach->writes,
	      (attach->write_nr + 1) * sizeof(struct ftr_attach_write));
	state_reset();
}

/*
 * A helper that is killed leaves the thread that it had borrowed in the midst of a step, which that
 * finishes by itself.  In a process forked meanwhile there is no such thread.
 */
static bool step_begin(void)
{
	int32_t pid = (int32_t)ftr_sys0(SYS_getpid), tid = (int32_t)ftr_sys0(SYS_gettid);
	int32_t other = 0;

	while (!atomic_compare_exchange_strong(&ftr_state.stepping_tid, &other, tid)) {
		if (ftr_sys3(SYS_tgkill, pid, other, 0) == 0)
			return false;
	}
	return true;
}

/* A recording is not taken away from whoever makes it. */
static bool is_recorded(const struct ftr_attach *attach)
{
	return attach->step == FTR_ATTACH_START && attach->state != FTR_ATTACH_IDLE &&
	       ftr_state.control != NULL && !ftr_recorder_is_gone();
}

static void step_do(struct ftr_attach *attach)
{
	attach->result = 0;
	if (is_recorded(attach))
		attach->state = FTR_ATTACH_RECORDED;
	else if (attach->step == FTR_ATTACH_START && attach->state == FTR_ATTACH_IDLE)
		attach->result = start(attach);
	else if (attach->step == FTR_ATTACH_UNHOOK && attach->state == FTR_ATTACH_ATTACHED)
		attach->result = unhook();
	else if (attach->step == FTR_ATTACH_LIST && attach->state == FTR_ATTACH_UNHOOKED)
		attach->result = list_make(attach);
	else if (attach->step == FTR_ATTACH_FREE && attach->state == FTR_ATTACH_UNHOOKED)
		free_all(attach);
	else
		attach->result = -EINVAL;
	attach->code = (uintptr_t)ftr_state.code_plan.v;
	attach->code_nr = ftr_state.code_plan.nr;
}

void ftr_attach_step(struct ftr_attach *attach)
{
	attach->state = state_now();
	attach->result = -EBUSY;
	if (attach->state == FTR_ATTACH_LAUNCHED)
		return;
	attach->result = -EALREADY;
	if (!step_begin())
		return;
	attach->state = state_now();
	step_do(attach);
	atomic_store(&ftr_state.stepping_tid, 0);
}
