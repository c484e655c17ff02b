/* SPDX-License-Identifier: MIT */
/* Rings of perf events, one a CPU, from the kernel to the store. */
#include "utils/record/perf_cpus.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "utils/base/clock.h"
#include "utils/record/collector.h"
#include "utils/record/process.h"

static int thread_join(struct ftr_perf_cpu *cpu, const struct perf_event_attr *attr, pid_t tid)
{
	int fd = ftr_perf_open(attr, tid, cpu->cpu), ret = 0;

	if (fd < 0)
		return fd == -ESRCH || fd == -ENODEV ? 0 : fd;	/* it has ended */
	if (ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, cpu->ring.fd) < 0)
		ret = -errno;
	if (ret == 0)
		ret = ftr_vec_push(&cpu->joined, fd);
	if (ret < 0)
		close(fd);
	return ret;
}

static int process_join(struct ftr_perf_cpus *cpus, const struct perf_event_attr *attr, pid_t pid,
			pid_t first)
{
	size_t nr, i, k;
	int32_t *tids = ftr_process_threads(pid, &nr);
	int ret = 0;

	for (i = 0; i < nr; i++) {
		for (k = 0; ret == 0 && tids[i] != first && k < cpus->v.nr; k++)
			ret = thread_join(&cpus->v.v[k], attr, tids[i]);
	}
	free(tids);
	return ret;
}

int ftr_perf_cpus_join(struct ftr_perf_cpus *cpus, const struct perf_event_attr *attr,
		       const int32_t *pids, size_t pid_nr)
{
	int ret = 0;

	for (size_t i = 0; ret == 0 && i < pid_nr; i++)
		ret = process_join(cpus, attr, pids[i], pids[0]);
	return ret;
}

/*
 * Rings that fill fast call the recorder.  By edges: whatever hangs up because its tasks are gone
 * stays so.
 */
void ftr_perf_cpus_watch(const struct ftr_perf_cpus *cpus, int epoll_fd)
{
	struct epoll_event event = { .events = EPOLLIN | EPOLLET,
				     .data.u64 = FTR_COLLECTOR_EPOLL_TAG };

	for (size_t i = 0; i < cpus->v.nr; i++)
		epoll_ctl(epoll_fd, EPOLL_CTL_ADD, cpus->v.v[i].ring.fd, &event);
}

static void cpu_lost(struct ftr_perf_cpus *cpus, struct ftr_perf_cpu *cpu, uint64_t nr)
{
	cpu->lost += nr;
	if (nr > 0)
		cpus->store->ops->lost(cpus->store, NULL, nr, FTR_LOST_EVENTS);
}

/* Returns how full the ring was, in percent. */
static unsigned cpu_drain(struct ftr_perf_cpus *cpus, struct ftr_perf_cpu *cpu)
{
	struct ftr_perf_batch batch;

	if (!ftr_perf_ring_peek(&cpu->ring, &batch))
		return 0;
	if (!cpus->put(cpus->store, cpu->cpu, batch.parts, batch.part_nr))
		cpus->store->ops->lost(cpus->store, NULL, batch.records, FTR_LOST_DISK);
	cpu_lost(cpus, cpu, batch.lost);
	ftr_perf_ring_done(&cpu->ring, &batch);
	return (unsigned)(batch.bytes * 100 / cpu->ring.data_bytes);
}

unsigned ftr_perf_cpus_drain(struct ftr_perf_cpus *cpus)
{
	unsigned percent_max = 0;

	for (size_t i = 0; i < cpus->v.nr; i++) {
		unsigned percent = cpu_drain(cpus, &cpus->v.v[i]);

		percent_max = percent > percent_max ? percent : percent_max;
	}
	return percent_max;
}

/* The kernel reports dropped records with the next one; the last drops have no next one. */
static void cpu_put_lost(struct ftr_perf_cpus *cpus, struct ftr_perf_cpu *cpu)
{
	uint64_t lost = ftr_perf_lost(cpu->ring.fd);
	struct ftr_perf_lost record;
	struct iovec part = { &record, sizeof(record) };
	size_t i;

	for (i = 0; i < cpu->joined.nr; i++)
		lost += ftr_perf_lost(cpu->joined.v[i]);
	if (lost <= cpu->lost)
		return;
	ftr_perf_lost_make(&record, lost - cpu->lost, ftr_clock_now_ns(cpus->clock));
	cpus->put(cpus->store, cpu->cpu, &part, 1);
	cpu_lost(cpus, cpu, lost - cpu->lost);
}

void ftr_perf_cpus_close(struct ftr_perf_cpus *cpus)
{
	for (size_t i = 0; i < cpus->v.nr; i++) {
		struct ftr_perf_cpu *cpu = &cpus->v.v[i];

		while (cpu->joined.nr > 0)
			close(cpu->joined.v[--cpu->joined.nr]);
		ftr_vec_fini(&cpu->joined);
		ftr_perf_ring_close(&cpu->ring);
	}
	ftr_vec_fini(&cpus->v);
}

void ftr_perf_cpus_end(struct ftr_perf_cpus *cpus)
{
	for (size_t i = 0; i < cpus->v.nr; i++) {
		cpu_drain(cpus, &cpus->v.v[i]);
		cpu_put_lost(cpus, &cpus->v.v[i]);
	}
	ftr_perf_cpus_close(cpus);
}
