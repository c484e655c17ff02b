/* SPDX-License-Identifier: MIT */
/* A perf event with a ring on each CPU: what collectors of such records share. */
#ifndef FTR_RECORD_PERF_CPUS_H
#define FTR_RECORD_PERF_CPUS_H

#include "utils/base/vec.h"
#include "utils/record/perf_ring.h"
#include "utils/record/store.h"

struct ftr_perf_cpu {
	struct ftr_perf_ring ring;
	FTR_VEC(int) joined;	/* (owned) events of other threads, which write to the same ring */
	unsigned cpu;
	uint64_t lost;		/* already reported */
};

struct ftr_perf_cpus {
	FTR_VEC(struct ftr_perf_cpu) v;
	struct ftr_store *store;		/* (borrowed) */
	clockid_t clock;			/* that of the records */
	/* Keep whole records of @cpu.  False: they are not kept. */
	bool (*put)(struct ftr_store *store, unsigned cpu, const struct iovec *parts, unsigned nr);
};

/*
 * Programs that run: give @attr to all threads of @pids but the first of all, whose events the
 * rings are.  One that begins at this moment may go without.  0, or -errno: -EMFILE, too many
 * descriptors.
 */
int ftr_perf_cpus_join(struct ftr_perf_cpus *cpus, const struct perf_event_attr *attr,
		       const int32_t *pids, size_t pid_nr);

/* Add what wakes the recorder to @epoll_fd. */
void ftr_perf_cpus_watch(const struct ftr_perf_cpus *cpus, int epoll_fd);
/* Keep what is there.  Returns how full the fullest ring was, in percent. */
unsigned ftr_perf_cpus_drain(struct ftr_perf_cpus *cpus);
/* Keep the last of it, with a record of what was dropped behind the last, and close. */
void ftr_perf_cpus_end(struct ftr_perf_cpus *cpus);
void ftr_perf_cpus_close(struct ftr_perf_cpus *cpus);

#endif /* FTR_RECORD_PERF_CPUS_H */
