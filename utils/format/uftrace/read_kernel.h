/* SPDX-License-Identifier: MIT */
/*
 * The kernel's files of a uftrace directory; for uftrace/read*.c only.  What is in them: ftrace/.
 */
#ifndef FTR_FORMAT_UFTRACE_READ_KERNEL_H
#define FTR_FORMAT_UFTRACE_READ_KERNEL_H

#include "utils/format/ftrace/pages.h"
#include "utils/format/uftrace/read.h"
#include "utils/trace/clocks.h"

struct uft_kernel {
	struct ftr_trace *trace;
	struct ftr_ftrace_side side;		/* in place of ftrace and files; or free is NULL */
	struct ftr_clock_relation clock;	/* of the side */
	struct ftr_istream formats;		/* kernel_formats, while kernel_header is read */
	struct ftr_ftrace ftrace;
	struct ftr_ftrace_pages pages;
	struct uft_task *last;			/* (nullable) whose number was looked for last */
	FTR_VEC(struct ftr_istream) files;	/* (owned) what pages.cpus lie in */
};

/*
 * uftrace/read_kernel_header.c: formats.  0 or -ENOMEM; damage is warned about.
 */
int uft_kernel_header_load(struct uft_kernel *kernel, struct uft_reader *reader);

/*
 * uftrace/read_merge.c: the side that trace-cmd recorded, of trace->kernel_file or of the directory
 * itself.  -errno: it was asked for, and there is none.
 */
bool uft_merge_is_wanted(const struct uft_reader *reader);
int  uft_merge_open(struct uft_reader *reader, struct ftr_err *err);

#endif /* FTR_FORMAT_UFTRACE_READ_KERNEL_H */
