/* SPDX-License-Identifier: MIT */
/* Scratch files. */
#include "utils/base/scratch.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* File systems without O_TMPFILE: the name lives for a moment. */
static int named_open(const char *dir)
{
	char *path;
	int fd;

	if (asprintf(&path, "%s/ftr-XXXXXX", dir) < 0)
		return -ENOMEM;
	fd = mkostemp(path, O_CLOEXEC);
	if (fd < 0)
		fd = -errno;
	else
		unlink(path);
	free(path);
	return fd;
}

/* A descriptor, or -errno. */
static int nameless_open(const char *dir)
{
	int fd = open(dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

	if (fd >= 0)
		return fd;
	return errno == EOPNOTSUPP || errno == EISDIR || errno == EINVAL ? named_open(dir) : -errno;
}

int ftr_scratch_open(struct ftr_scratch *scratch, struct ftr_err *err)
{
	const char *own[] = { getenv("TMPDIR"), NULL };
	static const char *const usual[] = { "/var/tmp", "/tmp", NULL };
	const char *const *dirs = own[0] != NULL && own[0][0] != '\0' ? own : usual;
	int fd = -ENOENT;

	*scratch = FTR_SCRATCH_CLOSED;
	for (; *dirs != NULL && fd < 0; dirs++) {
		free(scratch->dir);
		scratch->dir = strdup(*dirs);
		fd = scratch->dir == NULL ? -ENOMEM : nameless_open(*dirs);
	}
	if (fd < 0) {
		ftr_err_set(err, -fd,
			    "%s: cannot make a temporary file: %s; name another directory "
			    "in TMPDIR",
			    scratch->dir == NULL ? "?" : scratch->dir, strerror(-fd));
		ftr_scratch_close(scratch);
		return fd;
	}
	scratch->fd = fd;
	return 0;
}

int ftr_scratch_append(struct ftr_scratch *scratch, const void *data, size_t bytes,
		       struct ftr_err *err)
{
	const char *from = data;

	while (bytes > 0) {
		ssize_t nr = pwrite(scratch->fd, from, bytes, (off_t)scratch->bytes);

		if (nr < 0 && errno == EINTR)
			continue;
		if (nr <= 0)
			return ftr_err_set(err, nr < 0 ? errno : ENOSPC,
					   "%s: cannot write to a temporary file of %llu MB: %s; "
					   "name a directory with more space in TMPDIR",
					   scratch->dir, (unsigned long long)scratch->bytes >> 20,
					   strerror(nr < 0 ? errno : ENOSPC));
		from += nr;
		bytes -= (size_t)nr;
		scratch->bytes += (uint64_t)nr;
	}
	return 0;
}

int ftr_scratch_read(const struct ftr_scratch *scratch, uint64_t offset, void *data, size_t bytes,
		     struct ftr_err *err)
{
	char *to = data;

	while (bytes > 0) {
		ssize_t nr = pread(scratch->fd, to, bytes, (off_t)offset);

		if (nr < 0 && errno == EINTR)
			continue;
		if (nr <= 0)
			return ftr_err_set(err, nr < 0 ? errno : EIO,
					   "%s: cannot read a temporary file: %s",
					   scratch->dir, strerror(nr < 0 ? errno : EIO));
		to += nr;
		bytes -= (size_t)nr;
		offset += (uint64_t)nr;
	}
	return 0;
}

void ftr_scratch_close(struct ftr_scratch *scratch)
{
	if (scratch->fd >= 0)
		close(scratch->fd);
	free(scratch->dir);
	*scratch = FTR_SCRATCH_CLOSED;
}
