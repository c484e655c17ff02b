/* SPDX-License-Identifier: MIT */
#include "utils/record/budget.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>

#include "utils/base/clock.h"
#include "utils/format/uftrace/write_syscall.h"

#define LOOK_NS 10000000u
#define KEEP_DIVISOR 20			/* 5 % */
#define KEEP_MAX UINT64_C(1073741824)
#define MEGABYTE UINT64_C(1048576)

/* False where the file system does not say. */
static bool disk_look(const struct ftr_budget *budget, uint64_t *free_bytes, uint64_t *all_bytes)
{
	struct statvfs fs;

	if (fstatvfs(budget->dir, &fs) < 0 || fs.f_blocks == 0)
		return false;
	*free_bytes = (uint64_t)fs.f_bavail * fs.f_frsize;
	*all_bytes = (uint64_t)fs.f_blocks * fs.f_frsize;
	return true;
}

static uint64_t keep_default(uint64_t all_bytes)
{
	return all_bytes / KEEP_DIVISOR < KEEP_MAX ? all_bytes / KEEP_DIVISOR : KEEP_MAX;
}

static int reserve_set(struct ftr_budget *budget, uint64_t keep_bytes, struct ftr_err *err)
{
	uint64_t free_bytes, all_bytes;

	if (keep_bytes == 0 || !disk_look(budget, &free_bytes, &all_bytes))
		return 0;
	budget->keep_bytes = keep_bytes == FTR_BUDGET_KEEP_DEFAULT ? keep_default(all_bytes) :
								     keep_bytes;
	if (free_bytes > budget->keep_bytes) {
		budget->look_bytes = (free_bytes - budget->keep_bytes) / 2;
		return 0;
	}
	return ftr_err_set(err, ENOSPC, "the data directory's file system has %llu MB free, and "
			   "%llu MB are to be left; free some, name a directory elsewhere with "
			   "-d, or lower --keep-free", (unsigned long long)(free_bytes / MEGABYTE),
			   (unsigned long long)(budget->keep_bytes / MEGABYTE));
}

int ftr_budget_open(struct ftr_budget *budget, int dir, uint64_t max_bytes, uint64_t keep_bytes,
		    struct ftr_err *err)
{
	void *mem = mmap(NULL, sizeof(*budget->shared), PROT_READ | PROT_WRITE,
			 MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	assert(dir >= 0);
	*budget = (struct ftr_budget){ .dir = dir, .max_bytes = max_bytes,
				       .look_bytes = UINT64_MAX };
	if (mem == MAP_FAILED)
		return ftr_err_set(err, errno, "budget: %s", strerror(errno));
	budget->shared = mem;
	return reserve_set(budget, keep_bytes, err);
}

void ftr_budget_close(struct ftr_budget *budget)
{
	if (budget->shared != NULL)
		munmap(budget->shared, sizeof(*budget->shared));
	budget->shared = NULL;
}

/* What the observer wrote, who is a process of its own. */
static uint64_t syscalls_bytes(const struct ftr_budget *budget)
{
	struct stat st;

	if (fstatat(budget->dir, FTR_SYSCALL_FILE, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return 0;
	return (uint64_t)st.st_size;
}

static bool is_too_large(const struct ftr_budget *budget, uint64_t written, struct ftr_err *why)
{
	if (budget->max_bytes == 0 || written + syscalls_bytes(budget) < budget->max_bytes)
		return false;
	ftr_err_set(why, ENOSPC, "the data have reached --max-size");
	return true;
}

static bool is_disk_short(struct ftr_budget *budget, uint64_t written, struct ftr_err *why)
{
	uint64_t free_bytes, all_bytes;

	if (budget->keep_bytes == 0 || !disk_look(budget, &free_bytes, &all_bytes))
		return false;
	if (free_bytes > budget->keep_bytes) {
		budget->look_bytes = written + (free_bytes - budget->keep_bytes) / 2;
		return false;
	}
	ftr_err_set(why, ENOSPC, "%llu MB are left on the disk (--keep-free)",
		    (unsigned long long)(free_bytes / MEGABYTE));
	return true;
}

bool ftr_budget_is_spent(struct ftr_budget *budget, uint64_t written, struct ftr_err *why)
{
	uint64_t now = ftr_clock_now_ns(CLOCK_MONOTONIC);

	if (atomic_load(&budget->shared->is_spent))
		return true;
	if (now - budget->seen_ns < LOOK_NS && written < budget->look_bytes &&
	    (budget->max_bytes == 0 || written < budget->max_bytes))
		return false;
	budget->seen_ns = now;
	if (!is_too_large(budget, written, why) && !is_disk_short(budget, written, why))
		return false;
	atomic_store(&budget->shared->is_spent, true);
	return true;
}
