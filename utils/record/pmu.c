/* SPDX-License-Identifier: MIT */
#include "utils/record/pmu.h"

#include <errno.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "arch/rt.h"
#include "utils/base/err.h"
#include "utils/proto/pmu.h"
#include "utils/record/perf_ring.h"
#include "utils/trace/rule_actions.h"

#define WHY_BYTES 256

static int denied(const char *asked, int code, struct ftr_err *err)
{
	char why[WHY_BYTES];

	if (code == ENOENT || code == ENODEV || code == EOPNOTSUPP)
		return ftr_err_set(err, code, "%s: this machine has no such performance counters, "
				   "as most virtual ones; read=page-fault and read=proc/statm "
				   "need none", asked);
	ftr_perf_ring_refusal(why, sizeof(why), code);
	return ftr_err_set(err, code, "%s: performance counters: %s", asked, why);
}

static int refused(const char *asked, const struct perf_event_mmap_page *page, struct ftr_err *err)
{
	if (!page->cap_user_rdpmc)
		return ftr_err_set(err, EPERM, "%s: the kernel does not let programs read "
				   "performance counters; %s", asked, FTR_ARCH_COUNTER_REMEDY);
	return ftr_err_set(err, EBUSY, "%s: others have all performance counters; end them, or the "
			   "kernel's own by sysctl kernel.nmi_watchdog=0", asked);
}

static int counter_check(enum ftr_pmu_counter counter, const char *asked, struct ftr_err *err)
{
	struct perf_event_attr attr = ftr_pmu_attr(counter, FTR_ARCH_COUNTER_ASKS);
	size_t bytes = (size_t)sysconf(_SC_PAGESIZE);
	int fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	struct perf_event_mmap_page *page;
	uint64_t value;
	int ret = 0;

	if (fd < 0)
		return denied(asked, errno, err);
	page = mmap(NULL, bytes, PROT_READ, MAP_SHARED, fd, 0);
	if (page == MAP_FAILED)
		ret = denied(asked, errno, err);
	else if (!ftr_pmu_read(page, ftr_arch_counter, &value))
		ret = refused(asked, page, err);
	if (page != MAP_FAILED)
		munmap(page, bytes);
	close(fd);
	return ret;
}

int ftr_pmu_check(uint32_t reads, const char *asked, struct ftr_err *err)
{
	static const uint32_t kinds[FTR_PMU_KINDS] = {
		FTR_READ_PMU_CYCLE, FTR_READ_PMU_CACHE, FTR_READ_PMU_BRANCH,
	};
	int ret = 0;

	for (unsigned i = 0; ret == 0 && i < FTR_PMU_COUNTERS; i++)
		if ((reads & kinds[i / FTR_PMU_PAIR]) != 0)
			ret = counter_check((enum ftr_pmu_counter)i, asked, err);
	return ret;
}
