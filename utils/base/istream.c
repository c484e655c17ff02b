/* SPDX-License-Identifier: MIT */
/* Bounded input streams: regular files are mapped, pipes are read through a window. */
#include "utils/base/istream.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "utils/base/scratch.h"

#define WINDOW_BYTES ((size_t)64 << 10)
#define SLURP_MIN ((size_t)64 << 10)
#define SLURP_MAX ((size_t)64 << 20)	/* what is no file to map may have no end: /dev/zero */

struct ftr_istream_window {
	struct ftr_istream_feed feed;
	size_t cap;		/* bytes at in->owned_heap */
	bool is_ended;
	bool skips_line;	/* the line before was cut: its rest comes next */
};

static int istream_map(struct ftr_istream *in, int fd, size_t size)
{
	void *map = mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0);

	if (map == MAP_FAILED)
		return -errno;
	in->owned_map = map;
	in->owned_map_bytes = size;
	in->data = map;
	in->size = size;
	return 0;
}

static int istream_slurp(struct ftr_istream *in, int fd)
{
	size_t cap = 0;

	for (;;) {
		ssize_t nr;

		if (in->size == SLURP_MAX)
			return -EFBIG;
		if (in->size == cap) {
			size_t larger = cap == 0 ? SLURP_MIN : cap * 2;
			void *heap = realloc(in->owned_heap, larger);

			if (heap == NULL)
				return -ENOMEM;
			in->owned_heap = heap;
			in->data = heap;
			cap = larger;
		}
		nr = read(fd, (char *)in->owned_heap + in->size, cap - in->size);
		if (nr == 0)
			return 0;
		if (nr < 0 && errno != EINTR)
			return -errno;
		if (nr > 0)
			in->size += (size_t)nr;
	}
}

#define HOLE_MIN ((off_t)1 << 20)	/* a shorter one costs nothing to read */
#define EXTENTS_MAX 64			/* a file in more pieces is read as it is */

/* Where a file of @size bytes ends without the hole at its end; moves the position. */
static off_t data_end(int fd, off_t size)
{
	off_t end = 0;

	for (int i = 0; i < EXTENTS_MAX && end < size; i++) {
		off_t data = lseek(fd, end, SEEK_DATA);

		if (data < 0)
			return errno == ENXIO && size - end >= HOLE_MIN ? end : size;
		end = lseek(fd, data, SEEK_HOLE);
		if (end < 0)
			return size;
	}
	return size;
}

/* Files of /proc report a size of 0; standard input may be partly read already. */
static bool can_be_mapped(int fd, const struct stat *st)
{
	return S_ISREG(st->st_mode) && st->st_size > 0 && lseek(fd, 0, SEEK_CUR) == 0 &&
	       (uintmax_t)st->st_size <= SIZE_MAX;
}

/* Map the file if it can be: 1 = done, 0 = it must be read, or -errno. */
static int istream_try_map(struct ftr_istream *in, int fd)
{
	struct stat st;
	off_t size;

	if (fstat(fd, &st) < 0)
		return -errno;
	if (S_ISDIR(st.st_mode))
		return -EISDIR;
	if (!can_be_mapped(fd, &st))
		return 0;
	size = data_end(fd, st.st_size);
	lseek(fd, 0, SEEK_SET);
	in->data = (const uint8_t *)"";
	in->hole_bytes = (uint64_t)(st.st_size - size);
	return size == 0 || istream_map(in, fd, (size_t)size) == 0;
}

int ftr_regular_open(int dirfd, const char *path)
{
	int fd = openat(dirfd, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct stat st;
	int ret = fd;

	if (fd < 0)
		return errno == ENXIO ? -ENODEV : -errno;	/* a socket */
	if (fstat(fd, &st) < 0)
		ret = -errno;
	else if (S_ISDIR(st.st_mode))
		ret = -EISDIR;
	else if (!S_ISREG(st.st_mode))
		ret = -ENODEV;
	if (ret < 0)
		close(fd);
	return ret;
}

/* The descriptor of a path; standard input is duplicated, because a socket cannot be reopened. */
static int path_open(int dirfd, const char *path)
{
	int fd = strcmp(path, "-") == 0 || strcmp(path, "/dev/stdin") == 0 ?
			 fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3) :
			 openat(dirfd, path, O_RDONLY | O_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

static const char *reason_of(int code)
{
	switch (code) {
	case ENODEV:
		return "a FIFO, device or socket where a regular file is expected";
	case EFBIG:
		return "more than 64 MB that cannot be mapped; is it a device?";
	default:
		return strerror(code);
	}
}

static int described(struct ftr_istream *in, int ret, struct ftr_err *err)
{
	if (ret < 0) {
		ftr_err_set(err, -ret, "%s: %s", in->name, reason_of(-ret));
		ftr_istream_close(in);
	}
	return ret;
}

/* Open @path; what can be mapped is.  *fd is what is still to be read, or -1.  0 or -errno. */
static int istream_begin(struct ftr_istream *in, int dirfd, const char *path, int *fd,
			 struct ftr_err *err)
{
	int ret;

	ftr_istream_from_memory(in, strcmp(path, "-") == 0 ? "standard input" : path, NULL, 0);
	if (in->name == NULL)
		return ftr_err_set(err, ENOMEM, "%s: out of memory", path);
	*fd = path_open(dirfd, path);
	ret = *fd < 0 ? *fd : istream_try_map(in, *fd);
	if (*fd >= 0 && ret != 0) {
		close(*fd);
		*fd = -1;
	}
	return described(in, ret < 0 ? ret : 0, err);
}

int ftr_istream_open(struct ftr_istream *in, int dirfd, const char *path, struct ftr_err *err)
{
	int fd, ret = istream_begin(in, dirfd, path, &fd, err);

	if (ret < 0 || fd < 0)
		return ret;
	ret = istream_slurp(in, fd);
	close(fd);
	return described(in, ret, err);
}

int ftr_istream_open_file(struct ftr_istream *in, int dirfd, const char *path, struct ftr_err *err)
{
	int fd, ret;

	ftr_istream_from_memory(in, path, NULL, 0);
	if (in->name == NULL)
		return ftr_err_set(err, ENOMEM, "%s: out of memory", path);
	fd = ftr_regular_open(dirfd, path);
	ret = fd < 0 ? fd : istream_try_map(in, fd);
	if (ret == 0)
		ret = istream_slurp(in, fd);
	if (fd >= 0)
		close(fd);
	return described(in, ret < 0 ? ret : 0, err);
}

static ssize_t fd_read(void *arg, void *to, size_t bytes)
{
	int fd = (int)(intptr_t)arg;

	for (;;) {
		ssize_t nr = read(fd, to, bytes);

		if (nr >= 0)
			return nr;
		if (errno == EAGAIN)	/* others may have made it non-blocking */
			poll(&(struct pollfd){ .fd = fd, .events = POLLIN }, 1, -1);
		else if (errno != EINTR)
			return -errno;
	}
}

static void fd_close(void *arg)
{
	close((int)(intptr_t)arg);
}

int ftr_istream_open_refilled(struct ftr_istream *in, int dirfd, const char *path,
			      struct ftr_err *err)
{
	int fd, ret = istream_begin(in, dirfd, path, &fd, err);
	char *name = in->name;

	if (ret < 0 || fd < 0)
		return ret;
	ret = ftr_istream_from_feed(in, name,
				    &(struct ftr_istream_feed){ .read = fd_read, .close = fd_close,
								.arg = (void *)(intptr_t)fd },
				    err);
	free(name);
	return ret;
}

static void feed_close(const struct ftr_istream_feed *feed)
{
	if (feed->close != NULL)
		feed->close(feed->arg);
}

int ftr_istream_from_feed(struct ftr_istream *in, const char *name,
			  const struct ftr_istream_feed *feed, struct ftr_err *err)
{
	struct ftr_istream_window *window = malloc(sizeof(*window));

	assert(feed->read != NULL);
	ftr_istream_from_memory(in, name, NULL, 0);
	if (window != NULL)
		*window = (struct ftr_istream_window){ .feed = *feed };
	in->window = window;
	if (in->name == NULL || window == NULL) {
		if (window == NULL)
			feed_close(feed);
		ftr_istream_close(in);
		return ftr_err_set(err, ENOMEM, "%s: out of memory", name);
	}
	if (window->feed.item_max == 0)
		window->feed.item_max = FTR_ISTREAM_ITEM_MAX;
	if (window->feed.window_bytes == 0)
		window->feed.window_bytes = WINDOW_BYTES;
	return 0;
}

void ftr_istream_from_memory(struct ftr_istream *in, const char *name, const void *data,
			     size_t size)
{
	*in = (struct ftr_istream){ .data = data, .size = size, .name = strdup(name) };
}

static void window_free(struct ftr_istream *in)
{
	if (in->window == NULL)
		return;
	feed_close(&in->window->feed);
	free(in->window);
	in->window = NULL;
}

void ftr_istream_close(struct ftr_istream *in)
{
	window_free(in);
	free(in->name);
	free(in->owned_heap);
	if (in->owned_map != NULL)
		munmap(in->owned_map, in->owned_map_bytes);
	*in = (struct ftr_istream){ 0 };
}

/* Make room for @bytes behind the position: what was stepped over goes, then the window grows. */
static bool window_make_room(struct ftr_istream *in, size_t bytes)
{
	struct ftr_istream_window *window = in->window;
	size_t cap = window->cap == 0 ? window->feed.window_bytes : window->cap;
	void *heap;

	if (in->pos > 0) {
		memmove(in->owned_heap, in->data + in->pos, in->size - in->pos);
		in->start += in->pos;
		in->size -= in->pos;
		in->pos = 0;
	}
	while (cap < bytes)
		cap *= 2;
	if (cap == window->cap)
		return true;
	heap = realloc(in->owned_heap, cap);
	if (heap == NULL)
		return false;
	in->owned_heap = heap;
	in->data = heap;
	window->cap = cap;
	return true;
}

/* Append one read to the window.  False at the end. */
static bool window_read(struct ftr_istream *in)
{
	struct ftr_istream_window *window = in->window;
	ssize_t nr;

	assert(in->size < window->cap);
	if (window->is_ended)
		return false;
	nr = window->feed.read(window->feed.arg, (char *)in->owned_heap + in->size,
			       window->cap - in->size);
	assert(nr <= (ssize_t)(window->cap - in->size));
	if (nr > 0) {
		in->size += (size_t)nr;
		return true;
	}
	if (nr < 0)
		in->code = (int)-nr;
	window->is_ended = true;
	return false;
}

static void window_fill(struct ftr_istream *in, size_t bytes)
{
	if (bytes > in->window->feed.item_max)
		bytes = in->window->feed.item_max;
	if (in->window->is_ended)
		return;
	if ((in->window->cap - in->pos < bytes || in->pos == in->size) &&
	    !window_make_room(in, bytes)) {
		in->code = ENOMEM;
		in->window->is_ended = true;
	}
	while (in->size - in->pos < bytes && window_read(in))
		;
}

size_t ftr_istream_peek(struct ftr_istream *in, size_t bytes, const uint8_t **p)
{
	if (in->window != NULL && in->size - in->pos < bytes)
		window_fill(in, bytes);
	*p = in->data == NULL ? (const uint8_t *)"" : in->data + in->pos;
	return in->size - in->pos;
}

const uint8_t *ftr_istream_take(struct ftr_istream *in, size_t bytes)
{
	const uint8_t *p;

	if (bytes > ftr_istream_peek(in, bytes, &p))
		return NULL;
	in->pos += bytes;
	return p;
}

/* Step over the rest of a line that was cut. */
static void line_skip(struct ftr_istream *in)
{
	const uint8_t *p, *end = NULL;
	size_t nr;

	while (end == NULL && (nr = ftr_istream_peek(in, 1, &p)) > 0) {
		end = memchr(p, '\n', nr);
		in->pos += end == NULL ? nr : (size_t)(end - p) + 1;
	}
	in->window->skips_line = false;
}

static bool line_refilled(struct ftr_istream *in, const char **line, size_t *len)
{
	size_t item_max = in->window->feed.item_max, left = 0, seen, want;
	const uint8_t *start, *end = NULL;

	if (in->window->skips_line)
		line_skip(in);
	do {
		seen = left;
		want = left + 1;
		left = ftr_istream_peek(in, want, &start);
		end = memchr(start + seen, '\n', left - seen);
	} while (end == NULL && left >= want && left < item_max);
	if (left == 0)
		return false;
	*line = (const char *)start;
	*len = end == NULL ? left : (size_t)(end - start);
	in->window->skips_line = *len > item_max || (*len == item_max && end == NULL);
	if (in->window->skips_line)
		*len = item_max;
	in->pos += *len + (end != NULL && !in->window->skips_line);
	in->lineno++;
	in->is_line_cut = end == NULL && !in->window->skips_line;
	return true;
}

bool ftr_istream_line(struct ftr_istream *in, const char **line, size_t *len)
{
	const uint8_t *start, *end;
	size_t left;

	if (in->window != NULL)
		return line_refilled(in, line, len);
	left = ftr_istream_left(in);
	if (left == 0)
		return false;
	start = in->data + in->pos;
	end = memchr(start, '\n', left);
	*line = (const char *)start;
	*len = end == NULL ? left : (size_t)(end - start);
	in->pos += *len + (end != NULL);
	in->lineno++;
	in->is_line_cut = end == NULL;
	return true;
}

bool ftr_istream_whole_line(struct ftr_istream *in, const char **line, size_t *len,
			    struct ftr_diag *diag)
{
	if (!ftr_istream_line(in, line, len))
		return false;
	if (in->is_line_cut)
		ftr_diag_warn(diag, "%s:%u: the file ends inside this line: " FTR_CUT_WHY, in->name,
			      in->lineno);
	return !in->is_line_cut;
}

void ftr_istream_warn_hole(const struct ftr_istream *in, struct ftr_diag *diag)
{
	if (in->hole_bytes > 0)
		ftr_diag_warn(diag, "%s: the file ends in a hole of %llu MB, which is skipped",
			      in->name, (unsigned long long)in->hole_bytes >> 20);
}

int ftr_istream_check(const struct ftr_istream *in, struct ftr_err *err)
{
	if (in->code == 0)
		return 0;
	return ftr_err_set(err, in->code, "%s+0x%llx: read failed: %s", in->name,
			   (unsigned long long)(in->start + in->size), strerror(in->code));
}

/* Append all that the feed has to the scratch file. */
static int spool_to(struct ftr_istream *in, struct ftr_scratch *scratch, struct ftr_err *err)
{
	const uint8_t *p;
	size_t nr;

	while ((nr = ftr_istream_peek(in, 1, &p)) > 0) {
		int ret = ftr_scratch_append(scratch, p, nr, err);

		if (ret < 0)
			return ret;
		in->pos += nr;
	}
	return 0;
}

/* The input is what the scratch file holds. */
static int spooled_map(struct ftr_istream *in, const struct ftr_scratch *scratch,
		       struct ftr_err *err)
{
	int ret;

	window_free(in);
	free(in->owned_heap);
	in->owned_heap = NULL;
	in->data = NULL;
	in->size = in->pos = 0;
	in->start = 0;
	ret = scratch->bytes == 0 ? 0 : istream_map(in, scratch->fd, (size_t)scratch->bytes);
	return ret < 0 ? ftr_err_set(err, -ret, "%s: cannot map a temporary file: %s",
				     in->name, strerror(-ret)) : 0;
}

int ftr_istream_spool(struct ftr_istream *in, struct ftr_err *err)
{
	struct ftr_scratch scratch;
	int ret;

	if (in->window == NULL)
		return 0;
	ret = ftr_scratch_open(&scratch, err);
	if (ret == 0)
		ret = spool_to(in, &scratch, err);
	if (ret == 0)
		ret = spooled_map(in, &scratch, err);
	ftr_scratch_close(&scratch);
	return ret < 0 ? ftr_err_prefix(err, "%s", in->name) : 0;
}
