/* SPDX-License-Identifier: MIT */
/* Writing the kernel's files of a data directory. */
#include "utils/format/uftrace/write_kernel.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "utils/base/bytes.h"
#include "utils/format/uftrace/write.h"

#define COPY_BYTES 4096

void ftr_uftrace_kernel_header_init(struct ftr_uftrace_kernel_header *header, size_t page_bytes,
				    unsigned long_bytes)
{
	ftr_strbuf_init(&header->text);
	ftr_strbuf_init(&header->formats);
	ftr_strbuf_printf(&header->text, "PAGE_SIZE: %zu\nLONG_SIZE: %u\nENDIAN: %s\n", page_bytes,
			  long_bytes, FTR_HOST_IS_BIG ? "BE" : "LE");
}

void ftr_uftrace_kernel_header_fini(struct ftr_uftrace_kernel_header *header)
{
	ftr_strbuf_fini(&header->text);
	ftr_strbuf_fini(&header->formats);
}

static void put_block(struct ftr_strbuf *text, const char *path, const char *content, size_t len)
{
	ftr_strbuf_printf(text, FTR_KERNEL_BLOCK_PREFIX "%s: %zu\n", path, len);
	ftr_strbuf_put(text, content, len);
}

void ftr_uftrace_kernel_header_add(struct ftr_uftrace_kernel_header *header, const char *path,
				   const char *content, size_t len)
{
	if (len > FTR_KERNEL_CUT_BYTES) {
		put_block(&header->formats, path, content, len);
		len = FTR_KERNEL_CUT_BYTES;
	}
	put_block(&header->text, path, content, len);
}

int ftr_uftrace_kernel_store(const struct ftr_uftrace_dir *dir, const char *name,
			     const char *content, size_t len)
{
	int fd = openat(ftr_uftrace_dir_fd(dir), name,
			O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	int ret = fd < 0 ? -errno : ftr_uftrace_write_all(fd, content, len);

	if (fd >= 0)
		close(fd);
	return ret;
}

int ftr_uftrace_kernel_open(const struct ftr_uftrace_dir *dir, unsigned cpu)
{
	char name[32];
	int fd;

	snprintf(name, sizeof(name), "kernel-cpu%u.dat", cpu);
	/* Not for appending: splice(2) refuses that. */
	fd = openat(ftr_uftrace_dir_fd(dir), name, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
	return fd < 0 ? -errno : fd;
}

/* For file systems that cannot splice. */
static ssize_t bytes_copy(int fd, int pipe_fd, size_t left)
{
	char bytes[COPY_BYTES];
	ssize_t n = read(pipe_fd, bytes, left < sizeof(bytes) ? left : sizeof(bytes));
	int ret;

	if (n <= 0)
		return n;
	ret = ftr_uftrace_write_all(fd, bytes, (size_t)n);
	errno = -ret;
	return ret < 0 ? -1 : n;
}

/* Part of a page would spoil what comes after it. */
static int take_back(int fd, off_t end, int ret)
{
	(void)!ftruncate(fd, end);
	(void)lseek(fd, end, SEEK_SET);
	return ret;
}

int ftr_uftrace_kernel_move(int fd, int pipe_fd, size_t bytes)
{
	off_t end = lseek(fd, 0, SEEK_END);

	while (bytes > 0) {
		ssize_t n = splice(pipe_fd, NULL, fd, NULL, bytes, SPLICE_F_MOVE);

		if (n < 0 && errno == EINVAL)
			n = bytes_copy(fd, pipe_fd, bytes);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return take_back(fd, end, n < 0 ? -errno : -EIO);
		bytes -= (size_t)n;
	}
	return 0;
}
