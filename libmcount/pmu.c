/* SPDX-License-Identifier: MIT */
/* See pmu.h.  Part of the hook: without libc. */
#include "libmcount/pmu.h"

#include <sys/mman.h>

#include "libmcount/channel.h"
#include "utils/base/rt/sys.h"

/* What is mapped goes on without a descriptor, of which the program shall see none. */
static const struct perf_event_mmap_page *counter_open(enum ftr_pmu_counter counter)
{
	const struct perf_event_attr attr = ftr_pmu_attr(counter, FTR_ARCH_COUNTER_ASKS);
	long fd = ftr_sys6(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC,
			   FTR_OWN_CALL);
	long page;

	if (fd < 0)
		return NULL;
	page = ftr_sys_map(0, FTR_ARCH_PAGE_BYTES, PROT_READ, MAP_SHARED, fd, 0);
	ftr_sys_close_own(fd);
	return ftr_sys_map_failed(page) ? NULL : (const struct perf_event_mmap_page *)page;
}

static void counter_close(const struct perf_event_mmap_page **page)
{
	if (*page != NULL)
		ftr_sys2(SYS_munmap, *page, FTR_ARCH_PAGE_BYTES);
	*page = NULL;
}

static bool pages_read(const struct ftr_pmu *pmu, unsigned kind, uint64_t values[FTR_PMU_PAIR])
{
	for (unsigned i = 0; i < FTR_PMU_PAIR; i++) {
		const struct perf_event_mmap_page *page = pmu->pages[kind * FTR_PMU_PAIR + i];

		if (page == NULL || !ftr_pmu_read(page, ftr_arch_counter, &values[i]))
			return false;
	}
	return true;
}

/* No handler comes in between, which might leave by a jump. */
static bool kind_open(struct ftr_pmu *pmu, unsigned kind)
{
	const struct perf_event_mmap_page **pages = &pmu->pages[kind * FTR_PMU_PAIR];
	uint64_t all = UINT64_MAX, old, values[FTR_PMU_PAIR];
	bool is_open;

	ftr_sys4(SYS_rt_sigprocmask, 0 /* SIG_BLOCK */, &all, &old, sizeof(all));
	for (unsigned i = 0; i < FTR_PMU_PAIR; i++)
		pages[i] = counter_open((enum ftr_pmu_counter)(kind * FTR_PMU_PAIR + i));
	is_open = pages_read(pmu, kind, values);
	for (unsigned i = 0; i < FTR_PMU_PAIR && !is_open; i++)
		counter_close(&pages[i]);
	pmu->states[kind] = is_open ? FTR_PMU_OPEN : FTR_PMU_NONE;
	ftr_sys4(SYS_rt_sigprocmask, 2 /* SIG_SETMASK */, &old, NULL, sizeof(old));
	return is_open;
}

/* The child of a vfork, which is a task of its own, has its parent's memory. */
bool ftr_pmu_read_kind(struct ftr_thread *self, unsigned kind, uint64_t values[FTR_PMU_PAIR])
{
	struct ftr_pmu *pmu = &self->producer->pmu;

	if (self->is_vforked || pmu->states[kind] == FTR_PMU_NONE)
		return false;
	if (pmu->states[kind] == FTR_PMU_OPEN)
		return pages_read(pmu, kind, values);
	if (ftr_is_silent() || ftr_is_blocked(FTR_SECCOMP_COUNT))
		return false;
	if (kind_open(pmu, kind))
		return pages_read(pmu, kind, values);
	ftr_channel_warn("a thread's performance counters cannot be read: others have them, or "
			 "there is a limit of them for each user; there are no values of read=pmu-*");
	return false;
}

void ftr_pmu_close(struct ftr_pmu *pmu)
{
	for (unsigned i = 0; i < FTR_PMU_COUNTERS; i++)
		counter_close(&pmu->pages[i]);
	for (unsigned i = 0; i < FTR_PMU_KINDS; i++)
		pmu->states[i] = FTR_PMU_UNTRIED;
}
