/* SPDX-License-Identifier: MIT */
/* One CPU's ring of perf_event_open(2): perf_event_open(2), "MMAP layout". */
#include "utils/record/perf_ring.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "utils/record/sysinfo.h"

#define PARANOID_MAX 2 /* above it, in some distributions, CAP_PERFMON is needed */
#define LOST_NR_OFFSET 16	/* PERF_RECORD_LOST: header, u64 id, u64 lost */

static int event_open(const struct perf_event_attr *attr, pid_t pid, unsigned cpu)
{
	return (int)syscall(SYS_perf_event_open, attr, pid, (int)cpu, -1, PERF_FLAG_FD_CLOEXEC);
}

struct perf_event_attr ftr_perf_attr(clockid_t clock, enum ftr_perf_since since)
{
	return (struct perf_event_attr){
		.size		= sizeof(struct perf_event_attr),
		.sample_type	= PERF_SAMPLE_TID | PERF_SAMPLE_TIME,
		.read_format	= PERF_FORMAT_LOST,
		.disabled	= since == FTR_PERF_SINCE_EXEC,
		.enable_on_exec	= since == FTR_PERF_SINCE_EXEC,
		.watermark	= 1,
		.wakeup_watermark = FTR_PERF_WAKEUP_BYTES,
		.inherit	= 1,
		.sample_id_all	= 1,
		.use_clockid	= 1,
		.clockid	= clock,
	};
}

int ftr_perf_open(const struct perf_event_attr *attr, pid_t pid, unsigned cpu)
{
	struct perf_event_attr older = *attr;	/* before Linux 6.0 nobody counts what is lost */
	int fd = event_open(attr, pid, cpu);

	older.read_format = 0;
	if (fd < 0 && errno == EINVAL)
		fd = event_open(&older, pid, cpu);
	return fd < 0 ? -errno : fd;
}

/*
 * A dummy counts nothing: it is there for the records beside.  Kernel mode is excluded because that
 * is what every user is permitted; it has no influence on these records.
 */
struct perf_event_attr ftr_perf_task_attr(unsigned kinds, clockid_t clock,
					  enum ftr_perf_since since)
{
	struct perf_event_attr attr = ftr_perf_attr(clock, since);

	attr.type = PERF_TYPE_SOFTWARE;
	attr.config = PERF_COUNT_SW_DUMMY;
	attr.exclude_kernel = 1;
	attr.exclude_hv = 1;
	attr.context_switch = (kinds & FTR_PERF_SCHED) != 0;
	attr.task = (kinds & FTR_PERF_TASK) != 0;
	attr.comm = (kinds & FTR_PERF_NAME) != 0;
	return attr;
}

int ftr_perf_ring_open(struct ftr_perf_ring *ring, const struct perf_event_attr *attr, pid_t pid,
		       unsigned cpu)
{
	int fd = ftr_perf_open(attr, pid, cpu);

	*ring = (struct ftr_perf_ring){ .fd = fd < 0 ? -1 : fd };
	return fd < 0 ? fd : 0;
}

int ftr_perf_ring_map(struct ftr_perf_ring *ring, size_t data_bytes)
{
	size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE);
	void *mem = mmap(NULL, page_bytes + data_bytes, PROT_READ | PROT_WRITE, MAP_SHARED,
			 ring->fd, 0);

	if (mem == MAP_FAILED)
		return -errno;
	ring->page = mem;
	ring->data = (const uint8_t *)mem + page_bytes;
	ring->data_bytes = data_bytes;
	return 0;
}

void ftr_perf_ring_unmap(struct ftr_perf_ring *ring)
{
	if (ring->page != NULL)
		munmap(ring->page,
		       (size_t)(ring->data - (const uint8_t *)ring->page) + ring->data_bytes);
	ring->page = NULL;
}

void ftr_perf_ring_close(struct ftr_perf_ring *ring)
{
	ftr_perf_ring_unmap(ring);
	if (ring->fd >= 0)
		close(ring->fd);
	ring->fd = -1;
}

/*
 * Records are multiples of 8 bytes, so neither a header nor a number of 64 bits goes round the end.
 */
static const uint8_t *at(const struct ftr_perf_ring *ring, uint64_t pos)
{
	return ring->data + (pos & (ring->data_bytes - 1));
}

/* Count the records from @tail to @head, as far as they are records. */
static void batch_count(const struct ftr_perf_ring *ring, struct ftr_perf_batch *batch,
			uint64_t tail, uint64_t head)
{
	struct perf_event_header header;
	uint64_t lost;

	while (head - tail >= sizeof(header)) {
		memcpy(&header, at(ring, tail), sizeof(header));
		if (header.size < sizeof(header) || header.size % 8 != 0 ||
		    header.size > head - tail)
			return;
		if (header.type == PERF_RECORD_LOST &&
		    header.size >= LOST_NR_OFFSET + sizeof(lost)) {
			memcpy(&lost, at(ring, tail + LOST_NR_OFFSET), sizeof(lost));
			batch->lost += lost;
		}
		batch->records++;
		tail += header.size;
	}
}

static void batch_part(const struct ftr_perf_ring *ring, struct ftr_perf_batch *batch, uint64_t pos,
		       uint64_t bytes)
{
	if (bytes > 0)
		batch->parts[batch->part_nr++] = (struct iovec){ (void *)at(ring, pos), bytes };
}

bool ftr_perf_ring_peek(const struct ftr_perf_ring *ring, struct ftr_perf_batch *batch)
{
	uint64_t head, tail, to_end;

	*batch = (struct ftr_perf_batch){ 0 };
	if (ring->page == NULL)
		return false;
	head = __atomic_load_n(&ring->page->data_head,
			       __ATOMIC_ACQUIRE); /* the kernel's write barrier */
	tail = ring->page->data_tail;
	if (head == tail || head - tail > ring->data_bytes)
		return false;
	batch->bytes = head - tail;
	batch_count(ring, batch, tail, head);
	to_end = ring->data_bytes - (tail & (ring->data_bytes - 1));
	if (to_end > batch->bytes)
		to_end = batch->bytes;
	batch_part(ring, batch, tail, to_end);
	batch_part(ring, batch, tail + to_end, batch->bytes - to_end);
	return true;
}

void ftr_perf_ring_done(struct ftr_perf_ring *ring, const struct ftr_perf_batch *batch)
{
	/* Everything is read before the kernel may write there again. */
	__atomic_store_n(&ring->page->data_tail, ring->page->data_tail + batch->bytes,
			 __ATOMIC_RELEASE);
}

uint64_t ftr_perf_lost(int fd)
{
	uint64_t values[2] = { 0 };	/* the count, and with PERF_FORMAT_LOST the lost */

	return read(fd, values, sizeof(values)) == sizeof(values) ? values[1] : 0;
}

void ftr_perf_lost_make(struct ftr_perf_lost *record, uint64_t nr, uint64_t time_ns)
{
	*record = (struct ftr_perf_lost){
		.type = PERF_RECORD_LOST, .size = sizeof(*record), .nr = nr, .time_ns = time_ns,
	};
}

void ftr_perf_ring_refusal(char *text, size_t bytes, int code)
{
	int level = ftr_sysinfo_paranoid();

	if (code == ENOSYS)
		snprintf(text, bytes, "this kernel has no perf events (CONFIG_PERF_EVENTS)");
	else if ((code == EACCES || code == EPERM) && level > PARANOID_MAX)
		snprintf(text, bytes,
			 "kernel.perf_event_paranoid is %d: set it to %d with sysctl, or give ftr "
			 "CAP_PERFMON",
			 level, PARANOID_MAX);
	else if (code == EACCES || code == EPERM)
		snprintf(text, bytes,
			 "a container's seccomp filter or a security module forbids it: permit "
			 "perf_event_open there, or give it CAP_PERFMON");
	else
		snprintf(text, bytes, "%s", strerror(code));
}
