/* SPDX-License-Identifier: MIT */
/* The kernel's events by perf: a ring a CPU, into which all of its events write. */
#include "utils/record/kernel_samples.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "utils/base/strbuf.h"
#include "utils/base/text.h"
#include "utils/format/ftrace/page_write.h"
#include "utils/record/collector.h"
#include "utils/record/kernel_events.h"
#include "utils/record/perf_ring.h"
#include "utils/record/tracefs.h"

#define RECORD_MAX UINT16_MAX		/* of perf: its length has 16 bits */
#define RING_MIN   FTR_KIB(16)

/* What stands before the record of a sample, as event_attr asks for it. */
struct sample_head {
	struct perf_event_header header;
	uint32_t pid, tid;
	uint64_t time_ns;
	uint32_t raw_bytes;
} __attribute__((packed));

struct lost_record {
	struct perf_event_header header;
	uint64_t id, nr;
	uint32_t pid, tid;
	uint64_t time_ns;
};

struct ftr_kernel_samples_cpu {
	unsigned cpu;
	struct ftr_perf_ring ring;	/* of the first event, which the others write to */
	FTR_VEC(int) fds;		/* (owned) of the others */
	struct ftr_kbuf kbuf;
	uint64_t dropped_nr;		/* by the kernel, as far as records say */
};

/* ---- opening ---- */

static struct perf_event_attr event_attr(uint64_t id, clockid_t clock)
{
	struct perf_event_attr attr = ftr_perf_attr(clock, FTR_PERF_SINCE_EXEC);

	attr.type = PERF_TYPE_TRACEPOINT;
	attr.config = id;
	attr.sample_type |= PERF_SAMPLE_RAW;
	attr.sample_period = 1;
	return attr;
}

/* The number in the event's file id.  0 or -errno. */
static int event_id(int top, const struct ftr_kernel_event *event, uint64_t *id)
{
	struct ftr_strbuf text;
	char path[600];
	int ret;

	snprintf(path, sizeof(path), "%s/id", event->path);
	ftr_strbuf_init(&text);
	ret = ftr_tracefs_read(top, path, &text);
	if (ret == 0 && ftr_parse_u64(ftr_slice_trim(ftr_slice_make(ftr_strbuf_str(&text),
								    text.len)), 10, id) < 0)
		ret = -EBADMSG;
	ftr_strbuf_fini(&text);
	return ret;
}

static int filter_set(int fd, const struct ftr_kernel_event *event)
{
	char *text = event->filter.len == 0 ? NULL : strndup(event->filter.s, event->filter.len);
	int ret = 0;

	if (event->filter.len > 0 && text == NULL)
		return -ENOMEM;
	if (text != NULL && ioctl(fd, PERF_EVENT_IOC_SET_FILTER, text) < 0)
		ret = -errno;
	free(text);
	return ret;
}

/* The largest ring that we may lock in memory.  0 or -errno. */
static int ring_map(struct ftr_perf_ring *ring, size_t bytes)
{
	int ret;

	while ((ret = ftr_perf_ring_map(ring, bytes)) < 0 && (ret == -EPERM || ret == -ENOMEM) &&
	       bytes > RING_MIN)
		bytes /= 2;
	return ret;
}

/* Into the CPU's ring, which the first event makes.  0 or -errno. */
static int event_join(struct ftr_kernel_samples_cpu *cpu, int fd, size_t ring_bytes)
{
	int ret;

	if (cpu->ring.fd >= 0) {
		if (ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, cpu->ring.fd) < 0)
			return -errno;
		return ftr_vec_push(&cpu->fds, fd);
	}
	cpu->ring.fd = fd;
	ret = ring_map(&cpu->ring, ring_bytes);
	if (ret < 0)
		cpu->ring.fd = -1;
	return ret;
}

struct opening {
	struct ftr_kernel_samples *self;
	pid_t pid;
	clockid_t clock;
	size_t ring_bytes;
	size_t fd_max;			/* the recorder needs the rest */
};

static int event_open_on(const struct opening *opening, struct ftr_kernel_samples_cpu *cpu,
			 const struct ftr_kernel_event *event, uint64_t id)
{
	const struct perf_event_attr attr = event_attr(id, opening->clock);
	int fd = ftr_perf_open(&attr, opening->pid, cpu->cpu), ret;

	if (fd < 0)
		return fd;
	ret = filter_set(fd, event);
	if (ret == 0)
		ret = event_join(cpu, fd, opening->ring_bytes);
	if (ret < 0)
		close(fd);
	return ret;
}

static size_t fds_count(const struct ftr_kernel_samples *self)
{
	size_t nr = 0;

	for (size_t i = 0; i < self->cpus.nr; i++)
		nr += self->cpus.v[i]->fds.nr + (self->cpus.v[i]->ring.fd >= 0);
	return nr;
}

/* Half of what we may have. */
static size_t fds_max(void)
{
	struct rlimit limit;

	return getrlimit(RLIMIT_NOFILE, &limit) < 0 ? 0 : (size_t)limit.rlim_cur / 2;
}

/* On all CPUs that are on. */
static int event_open(const struct opening *opening, int top, const struct ftr_kernel_event *event)
{
	uint64_t id;
	int ret = event_id(top, event, &id), opened = -ENODEV;

	if (fds_count(opening->self) + opening->self->cpus.nr > opening->fd_max)
		return -EMFILE;
	for (size_t i = 0; ret == 0 && i < opening->self->cpus.nr; i++) {
		ret = event_open_on(opening, opening->self->cpus.v[i], event, id);
		if (ret == 0)
			opened = 0;
		else if (ret == -ENODEV)
			ret = 0;
	}
	return ret < 0 ? ret : opened;
}

static int events_open(const struct opening *opening, int top, struct ftr_kernel_events *events,
		       struct ftr_diag *diag, struct ftr_err *err)
{
	const struct ftr_kernel_event *refused = NULL;
	size_t refused_nr = 0;
	int on_nr = 0, code = ENOENT;
	char why[160];

	for (size_t i = 0; i < events->v.nr; i++) {
		struct ftr_kernel_event *event = &events->v.v[i];
		int ret = event_open(opening, top, event);

		event->is_on = ret == 0;
		on_nr += ret == 0;
		if (ret < 0 && refused_nr++ == 0) {
			refused = event;
			code = -ret;
		}
	}
	if (refused == NULL)
		return on_nr;
	if (code == EACCES || code == EPERM)
		snprintf(why, sizeof(why), "perf: tracepoints are for CAP_PERFMON, or for all with "
			 "kernel.perf_event_paranoid=-1");
	else
		snprintf(why, sizeof(why), "perf: %s%s", strerror(code),
			 code == EMFILE ? "; raise ulimit -n, or name fewer events" :
			 code == EINVAL && refused->filter.len > 0 ? "; see its filter" : "");
	if (on_nr > 0)
		ftr_diag_warn(diag, "%zu events are not recorded: %s: %s", refused_nr,
			      refused->path, why);
	return on_nr > 0 ? on_nr : ftr_err_set(err, code, "%s: %s", refused->path, why);
}

static int cpus_make(struct ftr_kernel_samples *self)
{
	long nr = sysconf(_SC_NPROCESSORS_CONF);

	for (long i = 0; i < (nr > 0 ? nr : 1); i++) {
		struct ftr_kernel_samples_cpu *cpu = calloc(1, sizeof(*cpu));

		if (cpu == NULL || ftr_vec_push(&self->cpus, cpu) < 0) {
			free(cpu);
			return -ENOMEM;
		}
		cpu->cpu = (unsigned)i;
		cpu->ring.fd = -1;
	}
	self->record = malloc(RECORD_MAX);
	if (self->record == NULL)
		return -ENOMEM;
	return pipe2(self->pipe_fds, O_CLOEXEC | O_NONBLOCK) < 0 ? -errno : 0;
}

static size_t power_below(size_t bytes)
{
	size_t power = 1;

	while (power <= bytes / 2)
		power *= 2;
	return power;
}

int ftr_kernel_samples_open(struct ftr_kernel_samples *self, struct ftr_store *store, int top,
			    struct ftr_kernel_events *events, pid_t pid, clockid_t clock,
			    size_t buffer_bytes, struct ftr_diag *diag, struct ftr_err *err)
{
	const struct opening opening = {
		.self = self, .pid = pid, .clock = clock, .fd_max = fds_max(),
		.ring_bytes = power_below(buffer_bytes < RING_MIN ? RING_MIN : buffer_bytes),
	};
	int ret;

	*self = (struct ftr_kernel_samples)FTR_KERNEL_SAMPLES_NONE;
	self->store = store;
	ret = cpus_make(self);
	if (ret < 0)
		ftr_err_set(err, -ret, "%s", strerror(-ret));
	else
		ret = events_open(&opening, top, events, diag, err);
	if (ret <= 0)
		ftr_kernel_samples_close(self);
	return ret;
}

void ftr_kernel_samples_close(struct ftr_kernel_samples *self)
{
	for (size_t i = 0; i < self->cpus.nr; i++) {
		struct ftr_kernel_samples_cpu *cpu = self->cpus.v[i];

		for (size_t k = 0; k < cpu->fds.nr; k++)
			close(cpu->fds.v[k]);
		ftr_vec_fini(&cpu->fds);
		ftr_perf_ring_close(&cpu->ring);
		free(cpu);
	}
	ftr_vec_fini(&self->cpus);
	for (size_t i = 0; i < 2; i++) {
		if (self->pipe_fds[i] >= 0)
			close(self->pipe_fds[i]);
	}
	free(self->record);
	*self = (struct ftr_kernel_samples)FTR_KERNEL_SAMPLES_NONE;
}

/* ---- from samples to pages ---- */

static void page_store(struct ftr_kernel_samples *self, struct ftr_kernel_samples_cpu *cpu)
{
	const uint8_t *page = ftr_kbuf_take(&cpu->kbuf);
	struct ftr_store *store = self->store;

	if (self->has_failed)
		return;
	self->has_failed = write(self->pipe_fds[1], page, FTR_KBUF_PAGE_BYTES) !=
				   FTR_KBUF_PAGE_BYTES ||
			   !store->ops->kernel(store, cpu->cpu, self->pipe_fds[0],
					       FTR_KBUF_PAGE_BYTES);
}

static void lost_put(struct ftr_kernel_samples *self, struct ftr_kernel_samples_cpu *cpu,
		     uint64_t time_ns, uint64_t nr)
{
	struct ftr_store *store = self->store;

	if (time_ns < cpu->kbuf.last_ns)
		time_ns = cpu->kbuf.last_ns;
	while (!ftr_kbuf_lose(&cpu->kbuf, time_ns, nr))
		page_store(self, cpu);
	store->ops->lost(store, NULL, nr, FTR_LOST_KERNEL);
}

/* One that is too long for a page counts as lost. */
static void sample_put(struct ftr_kernel_samples *self, struct ftr_kernel_samples_cpu *cpu,
		       const uint8_t *record, size_t bytes)
{
	struct sample_head head;
	uint64_t time_ns;

	memcpy(&head, record, sizeof(head));
	time_ns = head.time_ns < cpu->kbuf.last_ns ? cpu->kbuf.last_ns : head.time_ns;
	if (head.raw_bytes == 0 || head.raw_bytes > bytes - sizeof(head) ||
	    head.raw_bytes > FTR_KBUF_RECORD_MAX) {
		lost_put(self, cpu, time_ns, 1);
		return;
	}
	while (!ftr_kbuf_put(&cpu->kbuf, time_ns, record + sizeof(head), head.raw_bytes))
		page_store(self, cpu);
}

static void record_put(struct ftr_kernel_samples *self, struct ftr_kernel_samples_cpu *cpu,
		       const uint8_t *record, size_t bytes)
{
	struct perf_event_header header;
	struct lost_record lost;

	memcpy(&header, record, sizeof(header));
	if (header.type == PERF_RECORD_SAMPLE && bytes >= sizeof(struct sample_head)) {
		sample_put(self, cpu, record, bytes);
	} else if (header.type == PERF_RECORD_LOST && bytes >= sizeof(lost)) {
		memcpy(&lost, record, sizeof(lost));
		lost_put(self, cpu, lost.time_ns, lost.nr);
		cpu->dropped_nr += lost.nr;
	}
}

/* Bytes of a batch from @at on; in two parts it goes round the ring's end. */
static const uint8_t *batch_bytes(struct ftr_kernel_samples *self,
				  const struct ftr_perf_batch *batch, size_t at, size_t bytes)
{
	size_t first = batch->parts[0].iov_len;
	size_t before = at >= first ? 0 : first - at;

	if (before >= bytes)
		return (const uint8_t *)batch->parts[0].iov_base + at;
	if (before == 0)
		return (const uint8_t *)batch->parts[1].iov_base + (at - first);
	memcpy(self->record, (const uint8_t *)batch->parts[0].iov_base + at, before);
	memcpy(self->record + before, batch->parts[1].iov_base, bytes - before);
	return self->record;
}

/* Returns how full the ring was, in percent. */
static unsigned cpu_drain(struct ftr_kernel_samples *self, struct ftr_kernel_samples_cpu *cpu)
{
	struct perf_event_header header;
	struct ftr_perf_batch batch;
	size_t at = 0;

	if (!ftr_perf_ring_peek(&cpu->ring, &batch))
		return 0;
	while (batch.bytes - at >= sizeof(header)) {
		memcpy(&header, batch_bytes(self, &batch, at, sizeof(header)), sizeof(header));
		if (header.size < sizeof(header) || header.size > batch.bytes - at)
			break;		/* no record: nothing behind it can be found */
		record_put(self, cpu, batch_bytes(self, &batch, at, header.size), header.size);
		at += header.size;
	}
	ftr_perf_ring_done(&cpu->ring, &batch);
	return (unsigned)(batch.bytes * 100 / cpu->ring.data_bytes);
}

unsigned ftr_kernel_samples_drain(struct ftr_kernel_samples *self)
{
	unsigned most = 0;

	for (size_t i = 0; i < self->cpus.nr; i++) {
		unsigned percent = cpu_drain(self, self->cpus.v[i]);

		most = percent > most ? percent : most;
	}
	return most;
}

void ftr_kernel_samples_watch(const struct ftr_kernel_samples *self, int epoll_fd)
{
	struct epoll_event event = { .events = EPOLLIN | EPOLLET,
				     .data.u64 = FTR_COLLECTOR_EPOLL_TAG };

	for (size_t i = 0; i < self->cpus.nr; i++) {
		if (self->cpus.v[i]->ring.fd >= 0)
			epoll_ctl(epoll_fd, EPOLL_CTL_ADD, self->cpus.v[i]->ring.fd, &event);
	}
}

/* The kernel reports drops with the next record; the last ones have none. */
static void last_lost_put(struct ftr_kernel_samples *self, struct ftr_kernel_samples_cpu *cpu)
{
	uint64_t lost_nr = cpu->ring.fd < 0 ? 0 : ftr_perf_lost(cpu->ring.fd);

	for (size_t i = 0; i < cpu->fds.nr; i++)
		lost_nr += ftr_perf_lost(cpu->fds.v[i]);
	if (lost_nr > cpu->dropped_nr)
		lost_put(self, cpu, cpu->kbuf.last_ns, lost_nr - cpu->dropped_nr);
}

void ftr_kernel_samples_end(struct ftr_kernel_samples *self)
{
	for (size_t i = 0; i < self->cpus.nr; i++) {
		struct ftr_kernel_samples_cpu *cpu = self->cpus.v[i];

		cpu_drain(self, cpu);
		last_lost_put(self, cpu);
		while (!ftr_kbuf_is_empty(&cpu->kbuf))
			page_store(self, cpu);
	}
}
