/* SPDX-License-Identifier: MIT */
/*
 * mlockall: what the runtime has mapped is reserved address space, most of which is never used.
 * Locked, all of it would be filled, and counted against the program's limit (RLIMIT_MEMLOCK).  So
 * it is left out, by locking what is the program's, mapping by mapping.
 */
#include <errno.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "libmcount/channel.h"
#include "libmcount/hook.h"
#include "libmcount/maps.h"
#include "libmcount/nursery.h"
#include "libmcount/state.h"
#include "utils/base/rt/sys.h"

#define PAGE 4096u

long ftr_syscall_failed(long ret) FTR_HIDDEN;	/* wrap_prctl.c */

static bool is_within(uint64_t address, const void *low, uint64_t bytes)
{
	return address - (uint64_t)(uintptr_t)low < bytes;
}

/* The shadow stacks and rings; the rest of what is ours is small. */
static bool is_ours(uint64_t address)
{
	const struct ftr_slot *slot = atomic_load(&ftr_state.slots);

	for (; slot != NULL; slot = slot->next) {
		if (is_within(address, (const char *)slot - PAGE, PAGE + slot->bytes) ||
		    (!slot->is_in_nursery &&
		     is_within(address, slot->ring_data, 2 * (uint64_t)slot->ring_bytes)))
			return true;
	}
	return ftr_nursery_has(address);
}

static void add_up(void *arg, uint64_t low, uint64_t high)
{
	uint64_t *bytes = arg;

	if (!is_ours(low))
		*bytes += high - low;
}

static bool fits_without_ours(void)
{
	struct { uint64_t soft, hard; } limit = { 0, 0 };
	uint64_t bytes = 0;

	return ftr_sys4(SYS_prlimit64, 0, RLIMIT_MEMLOCK, NULL, &limit) == 0 &&
	       ftr_maps_each(add_up, &bytes) && bytes <= limit.soft;
}

static void lock_theirs(void *arg, uint64_t low, uint64_t high)
{
	const int *flags = arg;

	if (!is_ours(low))
		ftr_sys3(SYS_mlock2, low, high - low, *flags);
	else
		ftr_sys2(SYS_munlock, low, high - low);
}

/*
 * The kernel is asked first, without having it fill anything: privileges and other limits are its
 * to judge.
 */
static long lock_all(int flags)
{
	int on_fault = (flags & MCL_ONFAULT) != 0 ? MLOCK_ONFAULT : 0;
	long ret = ftr_sys2(SYS_mlockall, flags | MCL_ONFAULT, 0);

	if (ret == -ENOMEM && fits_without_ours())
		ret = 0;
	if (ret < 0)
		return ret;
	if (!ftr_maps_each(lock_theirs, &on_fault))
		return ftr_sys2(SYS_mlockall, flags, 0);
	if ((flags & MCL_FUTURE) != 0)
		ret = ftr_sys2(SYS_mlockall, flags & ~MCL_CURRENT, 0);
	return ret;
}

FTR_EXPORT int mlockall(int flags)
{
	bool is_known = flags != 0 && (flags & ~(MCL_CURRENT | MCL_FUTURE | MCL_ONFAULT)) == 0;
	bool has_ours = atomic_load(&ftr_state.slots) != NULL && !ftr_is_silent() &&
			!ftr_is_blocked(FTR_SECCOMP_UNLOCK);
	long ret;

	if (is_known && has_ours && (flags & MCL_CURRENT) != 0)
		ret = lock_all(flags);
	else
		ret = ftr_sys2(SYS_mlockall, flags, 0);
	if (ret < 0)
		return (int)ftr_syscall_failed(ret);
	atomic_store(&ftr_state.is_locking, (flags & MCL_FUTURE) != 0);
	return 0;
}

FTR_EXPORT int munlockall(void)
{
	long ret = ftr_sys0(SYS_munlockall);

	if (ret < 0)
		return (int)ftr_syscall_failed(ret);
	atomic_store(&ftr_state.is_locking, false);
	return 0;
}
