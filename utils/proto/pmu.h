/* SPDX-License-Identifier: MIT */
/*
 * The processor's performance counters as a thread reads its own, without a system call:
 * perf_event_open(2), struct perf_event_mmap_page.  Both sides have it: the recorder tries whether
 * that can be done here.
 */
#ifndef FTR_PROTO_PMU_H
#define FTR_PROTO_PMU_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>

/* Of a kind (FTR_CALL_READ_CYCLE ...) there are two, which stand in its events in this order. */
enum ftr_pmu_counter {
	FTR_PMU_CYCLES,
	FTR_PMU_INSTRUCTIONS,
	FTR_PMU_CACHE_REFERENCES,
	FTR_PMU_CACHE_MISSES,
	FTR_PMU_BRANCHES,
	FTR_PMU_BRANCH_MISSES,
	FTR_PMU_COUNTERS
};
#define FTR_PMU_PAIR 2u
#define FTR_PMU_KINDS (FTR_PMU_COUNTERS / FTR_PMU_PAIR)

/*
 * Of what a thread does in user space, which every user may count (perf_event_paranoid 2).  Pinned:
 * the kernel does not have it take turns with others, after which a difference would be too small,
 * but refuses it.  @asks: FTR_ARCH_COUNTER_ASKS.
 */
static inline struct perf_event_attr ftr_pmu_attr(enum ftr_pmu_counter counter, uint64_t asks)
{
	static const uint64_t configs[FTR_PMU_COUNTERS] = {
		[FTR_PMU_CYCLES]	   = PERF_COUNT_HW_CPU_CYCLES,
		[FTR_PMU_INSTRUCTIONS]	   = PERF_COUNT_HW_INSTRUCTIONS,
		[FTR_PMU_CACHE_REFERENCES] = PERF_COUNT_HW_CACHE_REFERENCES,
		[FTR_PMU_CACHE_MISSES]	   = PERF_COUNT_HW_CACHE_MISSES,
		[FTR_PMU_BRANCHES]	   = PERF_COUNT_HW_BRANCH_INSTRUCTIONS,
		[FTR_PMU_BRANCH_MISSES]	   = PERF_COUNT_HW_BRANCH_MISSES,
	};

	return (struct perf_event_attr){
		.type = PERF_TYPE_HARDWARE,
		.size = sizeof(struct perf_event_attr),
		.config = configs[counter],
		.config1 = asks,
		.exclude_kernel = 1,
		.exclude_hv = 1,
		.pinned = 1,
	};
}

/* A counter has so many bits, and begins below zero. */
static inline uint64_t ftr_pmu_extend(uint64_t value, unsigned bits)
{
	unsigned unused = 64 - bits;

	return (uint64_t)((int64_t)(value << unused) >> unused);
}

#define FTR_PMU_TRIES 16	/* the kernel changes a page when the thread is switched, seldom */

/*
 * The value of the counter of @page, which counts the calling thread.  False: it is not counted
 * just now, or may not be read.  @read: ftr_arch_counter.
 */
static inline bool ftr_pmu_read(const volatile struct perf_event_mmap_page *page,
				uint64_t (*read)(uint32_t n), uint64_t *value)
{
	uint32_t index, width, lock;
	uint64_t count;

	for (unsigned i = 0; i < FTR_PMU_TRIES; i++) {
		lock = page->lock;
		__atomic_signal_fence(__ATOMIC_SEQ_CST);	/* of our own processor */
		index = page->index;
		width = page->pmc_width;
		count = page->offset;
		if (!page->cap_user_rdpmc || index == 0 || width == 0 || width > 64)
			return false;
		count += ftr_pmu_extend(read(index - 1), width);
		__atomic_signal_fence(__ATOMIC_SEQ_CST);
		if (page->lock == lock) {
			*value = count;
			return true;
		}
	}
	return false;
}

#endif /* FTR_PROTO_PMU_H */
