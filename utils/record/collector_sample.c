/* SPDX-License-Identifier: MIT */
/*
 * The collector of CPU samples (record --sample): each thread of the program has a clock of its CPU
 * time in the kernel, which notes its stack whenever it has run for so long.  Nothing of it is in
 * the program, no signal and no timer.  How the program gets the clocks: doc/adr/0015, 0084.
 */
#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "utils/base/bits.h"
#include "utils/base/vec.h"
#include "utils/record/collector.h"
#include "utils/record/perf_cpus.h"

#define PERIOD_NS     UINT64_C(10000000)
#define PERIOD_MIN_NS UINT64_C(100000)	/* what is asked more often measures itself */
#define PERIOD_MAX_NS UINT64_C(10000000000)
#define RING_BYTES    FTR_KIB(64)	/* at 1 kHz, 60 of the longest samples are 60 ms */

struct sample_values {
	uint64_t period_ns;	/* 0 = no samples */
};

struct sample_collector {
	const struct ftr_recording *recording;
	uint64_t period_ns;
	struct ftr_perf_cpus cpus;
};

static int parse_sample(const struct ftr_option *opt, void *value, const char *arg,
			struct ftr_err *err)
{
	if (arg != NULL)
		return ftr_opt_time(opt, value, arg, err);
	*(uint64_t *)value = PERIOD_NS;
	return 0;
}

static const struct ftr_option sample_options[] = {
	FTR_OPTION("sample", 0, "PERIOD",
		   "Note each thread's stack whenever it has run for PERIOD of CPU time (default: 10ms)",
		   parse_sample, struct sample_values, period_ns, .is_arg_optional = true,
		   .min = PERIOD_MIN_NS, .max = PERIOD_MAX_NS),
	{ 0 }
};

/*
 * Time in the kernel counts for the function that went there, where we may see it; the stack is the
 * program's alone.
 */
static struct perf_event_attr sample_attr(const struct sample_collector *self, bool has_kernel)
{
	struct perf_event_attr attr =
		ftr_perf_attr((clockid_t)self->recording->control->clock_id,
			      self->recording->running_nr != 0 ? FTR_PERF_SINCE_NOW :
								 FTR_PERF_SINCE_EXEC);

	attr.type = PERF_TYPE_SOFTWARE;
	attr.config = PERF_COUNT_SW_TASK_CLOCK;
	attr.sample_period = self->period_ns;
	attr.sample_type |= PERF_SAMPLE_IP | PERF_SAMPLE_CALLCHAIN;
	attr.exclude_callchain_kernel = 1;
	attr.exclude_kernel = !has_kernel;
	attr.exclude_hv = 1;
	attr.wakeup_watermark = RING_BYTES / 4;
	return attr;
}

static int ring_map(struct ftr_perf_ring *ring)
{
	size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE), bytes = RING_BYTES;
	int ret;

	while ((ret = ftr_perf_ring_map(ring, bytes)) < 0 && (ret == -EPERM || ret == -ENOMEM) &&
	       bytes > page_bytes)
		bytes /= 2;
	return ret;
}

static int cpu_open(struct sample_collector *self, pid_t pid, unsigned nr, bool has_kernel)
{
	struct perf_event_attr attr = sample_attr(self, has_kernel);
	struct ftr_perf_cpu cpu = { .ring.fd = ftr_perf_open(&attr, pid, nr), .cpu = nr };
	int ret = cpu.ring.fd;

	if (ret < 0)
		return ret == -ENODEV ? 0 : ret;
	ret = ring_map(&cpu.ring);
	if (ret == 0)
		ret = ftr_vec_push(&self->cpus.v, cpu);
	if (ret < 0)
		ftr_perf_ring_close(&cpu.ring);
	return ret;
}

/* On each CPU that is on.  0 or -errno. */
static int cpus_open(struct sample_collector *self, pid_t pid, bool has_kernel)
{
	long nr = sysconf(_SC_NPROCESSORS_CONF);
	int ret = 0;

	for (long i = 0; ret == 0 && i < (nr > 0 ? nr : 1); i++)
		ret = cpu_open(self, pid, (unsigned)i, has_kernel);
	if (ret == 0 && self->cpus.v.nr == 0)
		ret = -ENODEV;
	if (ret < 0)
		ftr_perf_cpus_close(&self->cpus);
	return ret;
}

/* Likewise, and for the other threads of a program that runs. */
static int threads_open(struct sample_collector *self, pid_t pid, bool has_kernel)
{
	const struct perf_event_attr attr = sample_attr(self, has_kernel);
	int ret = cpus_open(self, pid, has_kernel), joined;

	if (ret < 0)
		return ret;
	joined = ftr_perf_cpus_join(&self->cpus, &attr, self->recording->running,
				    self->recording->running_nr);
	if (joined < 0)
		ftr_diag_warn(self->recording->diag, "--sample: some threads are not sampled: %s%s",
			      strerror(-joined), joined == -EMFILE ?
			      "; raise the limit of open files (ulimit -n)" : "");
	return 0;
}

static void samples_start(struct sample_collector *self, pid_t pid)
{
	int ret = threads_open(self, pid, true);
	char why[160];

	if (ret == -EACCES || ret == -EPERM)
		ret = threads_open(self, pid, false);
	if (ret == 0)
		return;
	ftr_perf_ring_refusal(why, sizeof(why), -ret);
	ftr_diag_warn(self->recording->diag, "--sample: no samples are taken: perf_event_open: %s",
		      why);
}

static bool samples_put(struct ftr_store *store, unsigned cpu, const struct iovec *parts,
			unsigned nr)
{
	char name[FTR_STORE_NAME_MAX];

	snprintf(name, sizeof(name), "sample-cpu%u.dat", cpu);
	return store->ops->extra(store, name, parts, nr);
}

/* Why there can be none; NULL = there can. */
static const char *refusal(const struct ftr_recording *recording)
{
	const char *why = recording->why_no_events;

	return why == NULL ? NULL : why + strlen("none: ");
}

static void *sample_open(const struct ftr_recording *recording, const void *values,
			 struct ftr_err *err)
{
	const struct sample_values *given = values;
	struct sample_collector *self = calloc(1, sizeof(*self));

	if (self == NULL) {
		ftr_err_set(err, ENOMEM, "sample collector: out of memory");
		return NULL;
	}
	self->recording = recording;
	self->cpus = (struct ftr_perf_cpus){
		.store = recording->store, .put = samples_put,
		.clock = (clockid_t)recording->control->clock_id,
	};
	self->period_ns = given == NULL ? 0 : given->period_ns;
	if (self->period_ns == 0)
		return self;
	if (refusal(recording) != NULL) {
		ftr_err_set(err, EINVAL, "--sample: there can be no samples: %s",
			    refusal(recording));
		free(self);
		return NULL;
	}
	if (!recording->is_program_self && recording->running_nr == 0)
		samples_start(self, 0);
	return self;
}

static void sample_started(void *arg, int32_t pid)
{
	struct sample_collector *self = arg;

	if ((self->recording->is_program_self || self->recording->running_nr != 0) &&
	    self->period_ns != 0)
		samples_start(self, pid);
}

static void sample_watch(void *arg, int epoll_fd)
{
	ftr_perf_cpus_watch(&((struct sample_collector *)arg)->cpus, epoll_fd);
}

static unsigned sample_drain(void *arg)
{
	return ftr_perf_cpus_drain(&((struct sample_collector *)arg)->cpus);
}

static void sample_close(void *arg)
{
	struct sample_collector *self = arg;

	ftr_perf_cpus_end(&self->cpus);
	free(self);
}

const struct ftr_collector ftr_collector_sample = {
	.name	      = "sample",
	.options      = sample_options,
	.values_bytes = sizeof(struct sample_values),
	.open	      = sample_open,
	.started      = sample_started,
	.watch	      = sample_watch,
	.close	      = sample_close,
	.drain	      = sample_drain,
};
