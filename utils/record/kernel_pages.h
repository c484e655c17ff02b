/* SPDX-License-Identifier: MIT */
/*
 * The ring buffers of an instance of tracefs, one a CPU, on their way to the store: whole pages, as
 * the kernel hands them out.
 */
#ifndef FTR_RECORD_KERNEL_PAGES_H
#define FTR_RECORD_KERNEL_PAGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "utils/base/vec.h"
#include "utils/record/store.h"

struct ftr_kernel_cpu {
	unsigned cpu;
	int fd;				/* (owned) its pages, raw */
};

struct ftr_kernel_pages {
	struct ftr_store *store;	/* (borrowed) */
	int dir;			/* (borrowed) of the instance */
	size_t buffer_bytes;		/* of a CPU */
	FTR_VEC(struct ftr_kernel_cpu) cpus;
	size_t page_bytes;
	int pipe_fds[2];		/* (owned) that they go through */
	size_t batch_bytes;		/* that fit into it */
	char *page;			/* (owned) one that is not full */
	bool has_failed;		/* the store keeps no more, and the instance is off */
};

#define FTR_KERNEL_PAGES_NONE { .pipe_fds = { -1, -1 } }

/* Of all CPUs that may ever be on.  0 or -errno. */
int ftr_kernel_pages_open(struct ftr_kernel_pages *self, struct ftr_store *store, int dir,
			  size_t buffer_bytes);
void ftr_kernel_pages_close(struct ftr_kernel_pages *self);

/* Hand over pages that are full.  Returns how full the fullest buffer was, in percent. */
unsigned ftr_kernel_pages_drain(struct ftr_kernel_pages *self);
/* At the end, with tracing off: hand over all there is, and count what was lost. */
void ftr_kernel_pages_end(struct ftr_kernel_pages *self);

#endif /* FTR_RECORD_KERNEL_PAGES_H */
