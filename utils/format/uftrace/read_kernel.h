/* SPDX-License-Identifier: MIT */
/*
 * The kernel's files of a uftrace directory; for uftrace/read*.c only.  What is in them: ftrace/.
 */
#ifndef FTR_FORMAT_UFTRACE_READ_KERNEL_H
#define FTR_FORMAT_UFTRACE_READ_KERNEL_H

#include "utils/format/ftrace/ftrace.h"
#include "utils/format/uftrace/read.h"

#define UFT_PAGE_LOST (UINT32_C(1) << 31) /* of a page's number: the task reports the loss before */

struct uft_kernel_file {
	struct ftr_istream in;
	uint16_t cpu_nr;		/* plus 1, as events have it */
};

struct uft_kernel {
	struct ftr_trace *trace;
	struct ftr_ftrace ftrace;
	FTR_VEC(struct uft_kernel_file) files;	/* (owned) */
};

/*
 * uftrace/read_kernel_header.c: formats.  0 or -ENOMEM; damage is warned about.
 */
int uft_kernel_header_load(struct uft_kernel *kernel, struct uft_reader *reader);

/*
 * uftrace/read_kernel.c: a walk over the file goes from offset @from to @to: what lies far behind
 * need not stay in memory.
 */
void uft_kernel_file_pass(const struct uft_kernel_file *file, size_t from, size_t to);

/*
 * uftrace/read_kernel.c: the task that the event at hand belongs to; NULL: none that has user data.
 */
struct uft_task *uft_kernel_owner(const struct uft_reader *reader,
				  const struct ftr_ftrace_page *page,
				  const struct ftr_ftrace_event *event);

/*
 * uftrace/read_kernel_source.c: the kernel's events of one task, in order of time.  NULL: out of
 * memory.
 */
struct ftr_source *uft_kernel_source(struct uft_reader *reader, struct uft_task *task);

#endif /* FTR_FORMAT_UFTRACE_READ_KERNEL_H */
