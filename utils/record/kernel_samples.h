/* SPDX-License-Identifier: MIT */
/*
 * The kernel's events by perf_event_open(2), where tracefs can be read but gives no instance: the
 * kernel then checks by perf's permissions.  A sample holds the same record, of which pages like
 * those of an instance are made on the way to the store.  doc/adr/0075.
 */
#ifndef FTR_RECORD_KERNEL_SAMPLES_H
#define FTR_RECORD_KERNEL_SAMPLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

#include "utils/base/err.h"
#include "utils/base/vec.h"
#include "utils/record/store.h"

struct ftr_kernel_events;
struct ftr_kernel_samples_cpu;

struct ftr_kernel_samples {
	struct ftr_store *store;	/* (borrowed); NULL = not open */
	FTR_VEC(struct ftr_kernel_samples_cpu *) cpus;	/* (owned) */
	int pipe_fds[2];		/* (owned) that pages go through */
	uint8_t *record;		/* (owned) one that goes round the ring's end */
	bool has_failed;		/* the store keeps no more */
};

#define FTR_KERNEL_SAMPLES_PAGE_BYTES 4096u
#define FTR_KERNEL_SAMPLES_NONE { .pipe_fds = { -1, -1 } }

/*
 * Those of the @events of tracefs, at @top, that are permitted, of @pid (0 = the caller) from its
 * exec on, with all its children; those are marked as on.  @buffer_bytes: of a CPU's ring.  How
 * many are on; what is refused is warned about.  0, or -errno with a description: none can be.
 */
int ftr_kernel_samples_open(struct ftr_kernel_samples *self, struct ftr_store *store, int top,
			    struct ftr_kernel_events *events, pid_t pid, clockid_t clock,
			    size_t buffer_bytes, struct ftr_diag *diag, struct ftr_err *err);
void ftr_kernel_samples_close(struct ftr_kernel_samples *self);

/* Add each CPU's ring to @epoll_fd, as a collector does. */
void ftr_kernel_samples_watch(const struct ftr_kernel_samples *self, int epoll_fd);
/* Hand over what is there.  Returns how full the fullest ring was, in percent. */
unsigned ftr_kernel_samples_drain(struct ftr_kernel_samples *self);
/* At the end: pages that are not full, too, and losses. */
void ftr_kernel_samples_end(struct ftr_kernel_samples *self);

#endif /* FTR_RECORD_KERNEL_SAMPLES_H */
