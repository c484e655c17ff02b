/* SPDX-License-Identifier: MIT */
/* Bounded input streams: regular files are mapped, everything else is read to its end. */
#include "utils/base/istream.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define SLURP_MIN ((size_t)64 << 10)

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

static int istream_fill(struct ftr_istream *in, int fd)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return -errno;
	if (S_ISDIR(st.st_mode))
		return -EISDIR;
	/*
	 * Files of /proc say that they are empty; standard input may have been read from already.
	 */
	if (S_ISREG(st.st_mode) && st.st_size > 0 && lseek(fd, 0, SEEK_CUR) == 0 &&
	    (uintmax_t)st.st_size <= SIZE_MAX && istream_map(in, fd, (size_t)st.st_size) == 0)
		return 0;
	return istream_slurp(in, fd);
}

int ftr_istream_open(struct ftr_istream *in, int dirfd, const char *path, struct ftr_err *err)
{
	bool is_stdin = strcmp(path, "-") == 0;
	int fd = STDIN_FILENO;
	int ret;

	ftr_istream_from_memory(in, is_stdin ? "standard input" : path, NULL, 0);
	if (in->name == NULL)
		return ftr_err_set(err, ENOMEM, "%s: out of memory", path);
	if (!is_stdin)
		fd = openat(dirfd, path, O_RDONLY | O_CLOEXEC);
	ret = fd < 0 ? -errno : istream_fill(in, fd);
	if (ret < 0) {
		ret = ftr_err_set(err, -ret, "%s: %s", in->name, strerror(-ret));
		ftr_istream_close(in);
	}
	if (fd >= 0 && !is_stdin)
		close(fd);
	return ret;
}

void ftr_istream_from_memory(struct ftr_istream *in, const char *name, const void *data,
			     size_t size)
{
	*in = (struct ftr_istream){ .data = data, .size = size, .name = strdup(name) };
}

void ftr_istream_close(struct ftr_istream *in)
{
	free(in->name);
	free(in->owned_heap);
	if (in->owned_map != NULL)
		munmap(in->owned_map, in->owned_map_bytes);
	*in = (struct ftr_istream){ 0 };
}

bool ftr_istream_line(struct ftr_istream *in, const char **line, size_t *len)
{
	size_t left = ftr_istream_left(in);
	const uint8_t *start;
	const uint8_t *end;

	if (left == 0)
		return false;
	start = in->data + in->pos;
	end = memchr(start, '\n', left);
	*line = (const char *)start;
	*len = end == NULL ? left : (size_t)(end - start);
	in->pos += *len + (end != NULL);
	in->lineno++;
	return true;
}

const uint8_t *ftr_istream_take(struct ftr_istream *in, size_t bytes)
{
	const uint8_t *p;

	if (bytes > ftr_istream_left(in))
		return NULL;
	if (in->data == NULL)		/* nothing was asked for: NULL would mean "too few" */
		return (const uint8_t *)"";
	p = in->data + in->pos;
	in->pos += bytes;
	return p;
}
