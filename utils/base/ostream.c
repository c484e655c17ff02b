/* SPDX-License-Identifier: MIT */
/* Buffered output; the formatting on top of it is in ostream_format.c. */
#include "utils/base/ostream.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FILE_BUFFER_BYTES   ((size_t)128 << 10)
#define MEMORY_BUFFER_BYTES ((size_t)8 << 10)
#define ROOM_GUARANTEED	    ((size_t)4 << 10)

static int ostream_init(struct ftr_ostream *out, int fd, size_t cap, const char *name)
{
	*out = (struct ftr_ostream){ .fd = fd, .cap = cap };
	out->buf = malloc(cap);
	out->name = strdup(name);
	if (out->buf != NULL && out->name != NULL)
		return 0;
	free(out->buf);
	free(out->name);
	*out = (struct ftr_ostream){ .fd = -1, .code = ENOMEM };
	return -ENOMEM;
}

int ftr_ostream_open(struct ftr_ostream *out, const char *path, struct ftr_err *err)
{
	int ret;
	int fd;

	if (strcmp(path, "-") == 0) {
		ret = ftr_ostream_from_fd(out, STDOUT_FILENO, "standard output");
		return ret < 0 ? ftr_err_set(err, -ret, "standard output: out of memory") : 0;
	}
	*out = (struct ftr_ostream){ .fd = -1 };
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	if (fd < 0) {
		out->code = errno;
		return ftr_err_set(err, out->code, "%s: %s", path, strerror(out->code));
	}
	ret = ftr_ostream_from_fd(out, fd, path);
	if (ret < 0) {
		close(fd);
		return ftr_err_set(err, -ret, "%s: out of memory", path);
	}
	out->owns_fd = true;
	return 0;
}

int ftr_ostream_from_fd(struct ftr_ostream *out, int fd, const char *name)
{
	return ostream_init(out, fd, FILE_BUFFER_BYTES, name);
}

int ftr_ostream_to_memory(struct ftr_ostream *out)
{
	return ostream_init(out, -1, MEMORY_BUFFER_BYTES, "memory");
}

static void fail(struct ftr_ostream *out, int code)
{
	if (out->code == 0)
		out->code = code;
	out->len = 0;
}

static void wait_writable(int fd)
{
	struct pollfd pfd = { .fd = fd, .events = POLLOUT };

	poll(&pfd, 1, -1);
}

/* Short writes and signals are normal, and a terminal may have been made non-blocking by others. */
static void write_all(struct ftr_ostream *out, const char *p, size_t len)
{
	while (len > 0 && out->code == 0) {
		ssize_t nr = write(out->fd, p, len);

		if (nr >= 0) {
			p += nr;
			len -= (size_t)nr;
			out->written += (uint64_t)nr;
		} else if (errno == EAGAIN) {
			wait_writable(out->fd);
		} else if (errno != EINTR) {
			fail(out, errno);
		}
	}
}

static void drain(struct ftr_ostream *out)
{
	size_t len = out->len;

	out->len = 0;
	if (out->code == 0 && out->fd >= 0)
		write_all(out, out->buf, len);
}

static bool buffer_grow(struct ftr_ostream *out, size_t need)
{
	size_t cap = out->cap + out->cap / 2;
	char *buf;

	if (cap < need)
		cap = need;
	buf = need > SIZE_MAX / 4 ? NULL : realloc(out->buf, cap);
	if (buf == NULL)
		return false;
	out->buf = buf;
	out->cap = cap;
	return true;
}

char *ftr_ostream_reserve_slow(struct ftr_ostream *out, size_t bytes)
{
	if (out->fd >= 0 || out->code != 0)
		drain(out);
	if (bytes > SIZE_MAX / 4 ||
	    (out->cap - out->len < bytes && !buffer_grow(out, out->len + bytes)))
		fail(out, ENOMEM);
	return out->cap - out->len < bytes ? NULL : out->buf + out->len;
}

void ftr_ostream_write(struct ftr_ostream *out, const void *bytes, size_t len)
{
	char *p;

	if (len > out->cap - out->len && len >= FILE_BUFFER_BYTES && out->fd >= 0) {
		drain(out);
		write_all(out, bytes, len);
		return;
	}
	p = ftr_ostream_reserve(out, len);
	if (p == NULL || len == 0)
		return;
	memcpy(p, bytes, len);
	ftr_ostream_commit(out, len);
}

void ftr_ostream_puts(struct ftr_ostream *out, const char *s)
{
	ftr_ostream_write(out, s, strlen(s));
}

void ftr_ostream_putc(struct ftr_ostream *out, char c)
{
	*ftr_ostream_reserve(out, 1) = c;
	ftr_ostream_commit(out, 1);
}

void ftr_ostream_pad(struct ftr_ostream *out, char c, size_t nr)
{
	while (nr > 0) {
		size_t part = nr < ROOM_GUARANTEED ? nr : ROOM_GUARANTEED;

		memset(ftr_ostream_reserve(out, part), c, part);
		ftr_ostream_commit(out, part);
		nr -= part;
	}
}

int ftr_ostream_flush(struct ftr_ostream *out, struct ftr_err *err)
{
	if (out->fd >= 0)
		drain(out);
	if (out->code == 0)
		return 0;
	return ftr_err_set(err, out->code, "%s: %s%s", out->name == NULL ? "output" : out->name,
			   strerror(out->code), ftr_err_remedy(out->code));
}

int ftr_ostream_close(struct ftr_ostream *out, struct ftr_err *err)
{
	int ret;

	if (out->fd >= 0)
		drain(out);
	if (out->owns_fd && close(out->fd) < 0 && errno != EINTR)
		fail(out, errno);
	out->owns_fd = false;
	ret = ftr_ostream_flush(&(struct ftr_ostream){ .fd = -1, .code = out->code,
						       .name = out->name }, err);
	free(out->buf);
	free(out->name);
	*out = (struct ftr_ostream){ .fd = -1, .code = EBADF };
	return ret;
}
