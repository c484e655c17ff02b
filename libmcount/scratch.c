/* SPDX-License-Identifier: MIT */
/*
 * See scratch.h.  A list of mappings, which only grows: at most one for each thread that was ever
 * alive at one time and for each depth of interrupted wrappers, of each power of two.
 *
 * A child of vfork shares its parent's memory and thread-local storage, and gives nothing back when
 * it execs.  Its parent's thread, suspended meanwhile, finds out: such a mapping names that thread
 * as its owner, with the number of a process that the thread is not in.
 */
#include "libmcount/scratch.h"

#include <stdatomic.h>
#include <stdint.h>
#include <sys/mman.h>

#include "libmcount/state.h"
#include "utils/base/rt/sys.h"

#define SCRATCH_MIN_BYTES 16384u

struct ftr_scratch {
	struct ftr_scratch *next;	/* set before it is published */
	size_t bytes;			/* of the mapping */
	_Atomic(const struct ftr_thread *) owner;	/* NULL = free */
	_Atomic int32_t pid;		/* of the taker; 0 = just claimed, or free */
};

/*
 * Interrupted wrappers of this process and, in a vfork child, of its parent still need what they
 * took.
 */
static bool is_left_over(const struct ftr_scratch *scratch, int32_t pid)
{
	int32_t taker = atomic_load(&scratch->pid);

	return atomic_load(&scratch->owner) == &ftr_self && taker != 0 && taker != pid &&
	       taker != (int32_t)ftr_sys0(SYS_getppid);
}

static struct ftr_scratch *scratch_find(size_t bytes, int32_t pid)
{
	struct ftr_scratch *scratch = atomic_load(&ftr_state.scratch);

	for (; scratch != NULL; scratch = scratch->next) {
		const struct ftr_thread *nobody = NULL;

		if (scratch->bytes < bytes)
			continue;
		if (is_left_over(scratch, pid) ||
		    atomic_compare_exchange_strong(&scratch->owner, &nobody, &ftr_self))
			return scratch;
	}
	return NULL;
}

static struct ftr_scratch *scratch_new(size_t bytes)
{
	struct ftr_scratch *scratch;
	size_t mapped = SCRATCH_MIN_BYTES;
	long mem;

	while (mapped < bytes)
		mapped *= 2;
	mem = ftr_sys_map(0, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
		       -1, 0);
	if (ftr_sys_map_failed(mem))
		return NULL;
	scratch = (struct ftr_scratch *)mem;
	scratch->bytes = mapped;
	atomic_store(&scratch->owner, &ftr_self);
	scratch->next = atomic_load(&ftr_state.scratch);
	while (!atomic_compare_exchange_weak(&ftr_state.scratch, &scratch->next, scratch))
		;
	return scratch;
}

void *ftr_scratch_take(size_t bytes)
{
	int32_t pid = (int32_t)ftr_sys0(SYS_getpid);
	struct ftr_scratch *scratch;

	bytes += sizeof(*scratch);
	scratch = scratch_find(bytes, pid);
	if (scratch == NULL)
		scratch = scratch_new(bytes);
	if (scratch == NULL)
		return NULL;
	atomic_store(&scratch->pid, pid);
	return scratch + 1;
}

void ftr_scratch_put(void *memory)
{
	struct ftr_scratch *scratch = memory;

	if (memory == NULL)
		return;
	scratch--;
	atomic_store(&scratch->pid, 0);
	atomic_store(&scratch->owner, NULL);
}
