/* SPDX-License-Identifier: MIT */
/*
 * Writing the kernel's files of a data directory: pages of its ring buffers as they are, a CPU's in
 * a file, and what explains them.  How they are read: read_kernel.h.
 */
#ifndef FTR_FORMAT_UFTRACE_WRITE_KERNEL_H
#define FTR_FORMAT_UFTRACE_WRITE_KERNEL_H

#include <stddef.h>

#include "utils/base/strbuf.h"

struct ftr_uftrace_dir;

#define FTR_KERNEL_HEADER_FILE "kernel_header"
/*
 * uftrace has room for so much of a file of tracefs, and cuts what is longer.  So does
 * kernel_header; whole ones are in a file that uftrace ignores.
 */
#define FTR_KERNEL_CUT_BYTES 4096
#define FTR_KERNEL_FORMATS_FILE "kernel_formats"
#define FTR_KERNEL_BLOCK_PREFIX "TRACEFS: "
#define FTR_KERNEL_SYMBOL_FILE "kallsyms"

/* The texts of kernel_header and kernel_formats. */
struct ftr_uftrace_kernel_header {
	struct ftr_strbuf text, formats;
};

/* Begin them, add a file of tracefs, write them.  0 or -errno. */
void ftr_uftrace_kernel_header_init(struct ftr_uftrace_kernel_header *header, size_t page_bytes,
				    unsigned long_bytes);
void ftr_uftrace_kernel_header_fini(struct ftr_uftrace_kernel_header *header);
void ftr_uftrace_kernel_header_add(struct ftr_uftrace_kernel_header *header, const char *path,
				   const char *content, size_t len);

/* Write a file.  0 or -errno. */
int ftr_uftrace_kernel_store(const struct ftr_uftrace_dir *dir, const char *name,
			     const char *content, size_t len);

/* kernel-cpuN.dat: a descriptor (owned by the caller), or -errno. */
int ftr_uftrace_kernel_open(const struct ftr_uftrace_dir *dir, unsigned cpu);
/*
 * Move @bytes, whole pages, from a pipe to the end of the file.  0, or -errno: then the file is as
 * it was, and the pipe has some of them left.
 */
int ftr_uftrace_kernel_move(int fd, int pipe_fd, size_t bytes);

#endif /* FTR_FORMAT_UFTRACE_WRITE_KERNEL_H */
