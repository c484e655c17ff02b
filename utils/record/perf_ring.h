/* SPDX-License-Identifier: MIT */
/*
 * One CPU's ring of perf_event_open(2): what the kernel reports of the traced tasks there,
 * scheduling and their beginnings, ends and names.  Records are taken as they are
 * (linux/perf_event.h, enum perf_event_type); each ends in { u32 pid, tid; u64 time } by the
 * recording's clock.
 */
#ifndef FTR_RECORD_PERF_RING_H
#define FTR_RECORD_PERF_RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <time.h>

#include "utils/trace/event_kind.h"

struct perf_event_attr;
struct perf_event_mmap_page;

/*
 * With so much in it the ring's descriptor becomes readable, once until it is filled so far again.
 */
#define FTR_PERF_WAKEUP_BYTES 65536u

struct ftr_perf_ring {
	int fd;					/* of the event, -1 = none */
	struct perf_event_mmap_page *page;	/* (owned, nullable) the mapping's first page */
	const uint8_t *data;
	size_t data_bytes;			/* a power of two */
};

/* What lies in a ring: whole records, in one part, or in two where they go round its end. */
struct ftr_perf_batch {
	struct iovec parts[2];
	unsigned part_nr;
	uint64_t bytes;
	uint64_t records;
	uint64_t lost;		/* that the kernel dropped, by the batch's PERF_RECORD_LOST */
};

/* The record that reports drops after the last record of a ring. */
struct ftr_perf_lost {
	uint32_t type;
	uint16_t misc, size;
	uint64_t id, nr;
	uint32_t pid, tid;
	uint64_t time_ns;
};

/* Whose events, and since when. */
enum ftr_perf_since {
	/*
	 * Off until the task, or a child that it forks, execs, with all its children and threads
	 * from then on.  Of several children that exec only the first is sure to be followed: the
	 * kernel may hand it the caller's own event.
	 */
	FTR_PERF_SINCE_EXEC,
	FTR_PERF_SINCE_NOW,	/* of one thread, and what it makes from now on */
};

/* What all our events have: by @clock, with whose task it is. */
struct perf_event_attr ftr_perf_attr(clockid_t clock, enum ftr_perf_since since);
/* An event for the records beside it, @kinds: enum ftr_event_perf bits. */
struct perf_event_attr ftr_perf_task_attr(unsigned kinds, clockid_t clock,
					  enum ftr_perf_since since);
/* A descriptor, which is close-on-exec, or -errno of perf_event_open. */
int ftr_perf_open(const struct perf_event_attr *attr, pid_t pid, unsigned cpu);

/*
 * Open the event for @pid (0 = the caller) on @cpu.  The descriptor is close-on-exec.
 *
 * 0, or -errno of perf_event_open: -ENODEV there is no such CPU, or it is off; -EACCES, -EPERM not
 * permitted; -ENOSYS not in this kernel.
 */
int ftr_perf_ring_open(struct ftr_perf_ring *ring, const struct perf_event_attr *attr, pid_t pid,
		       unsigned cpu);
/*
 * Give it @data_bytes of room, a power of two of at least a page.  0 or -errno: -EPERM, too much
 * locked memory.
 */
int ftr_perf_ring_map(struct ftr_perf_ring *ring, size_t data_bytes);
void ftr_perf_ring_unmap(struct ftr_perf_ring *ring);
void ftr_perf_ring_close(struct ftr_perf_ring *ring);

/*
 * What is there now; false = nothing.  It stays valid until ftr_perf_ring_done, which makes room of
 * it.
 */
bool ftr_perf_ring_peek(const struct ftr_perf_ring *ring, struct ftr_perf_batch *batch);
void ftr_perf_ring_done(struct ftr_perf_ring *ring, const struct ftr_perf_batch *batch);

/*
 * Records of the event @fd dropped since it was opened, reported or not; 0 where the kernel does
 * not count (before 6.0).
 */
uint64_t ftr_perf_lost(int fd);
void ftr_perf_lost_make(struct ftr_perf_lost *record, uint64_t nr, uint64_t time_ns);

/* What to do about the refusal @code (positive) of perf_event_open. */
void ftr_perf_ring_refusal(char *text, size_t bytes, int code);

#endif /* FTR_RECORD_PERF_RING_H */
