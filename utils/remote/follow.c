/* SPDX-License-Identifier: MIT */
/* See follow.h. */
#include "utils/remote/follow.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "utils/base/bits.h"
#include "utils/base/bytes.h"
#include "utils/remote/wire.h"

#define PART_BYTES_MAX FTR_MIB(64)	/* of a file in one message */
#define INFO "info"

static int sent_error(const struct ftr_follow *follow, int code, struct ftr_err *err)
{
	if (code == EPIPE || code == ECONNRESET)
		return ftr_err_set(err, code, "the receiver closed the connection; its own "
				   "message says why");
	return ftr_err_set(err, code, "%s: not sent: %s", follow->path, strerror(code));
}

static int send_all(const struct ftr_follow *follow, const void *bytes, size_t len,
		    struct ftr_err *err)
{
	const uint8_t *from = bytes;

	while (len > 0) {
		ssize_t n = send(follow->fd, from, len, MSG_NOSIGNAL);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return sent_error(follow, errno, err);
		from += n;
		len -= (size_t)n;
	}
	return 0;
}

/* The head of a message and what its body begins with; @more bytes follow. */
static int send_head(const struct ftr_follow *follow, enum ftr_wire_type type, const void *start,
		     size_t len, size_t more, struct ftr_err *err)
{
	uint8_t head[FTR_WIRE_HEAD_BYTES];
	int ret;

	ftr_wire_head_put(head, (struct ftr_wire_head){ (uint16_t)type, (uint32_t)(len + more) });
	ret = send_all(follow, head, sizeof(head), err);
	return ret == 0 ? send_all(follow, start, len, err) : ret;
}

/* What the head announced is sent whole, whatever becomes of the file. */
static int send_zeros(const struct ftr_follow *follow, size_t len, struct ftr_err *err)
{
	static const uint8_t zeros[4096];
	int ret = 0;

	while (ret == 0 && len > 0) {
		size_t part = len < sizeof(zeros) ? len : sizeof(zeros);

		ret = send_all(follow, zeros, part, err);
		len -= part;
	}
	return ret;
}

static int send_part(const struct ftr_follow *follow, int file, uint64_t at, size_t len,
		     struct ftr_err *err)
{
	off_t offset = (off_t)at;

	while (len > 0) {
		ssize_t n = sendfile(follow->fd, file, &offset, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return sent_error(follow, errno, err);
		if (n == 0)
			return send_zeros(follow, len, err);
		len -= (size_t)n;
	}
	return 0;
}

static int send_file_head(const struct ftr_follow *follow, const struct ftr_follow_file *file,
			  size_t more, struct ftr_err *err)
{
	uint8_t start[FTR_WIRE_NUMBER_BYTES + FTR_WIRE_NAME_MAX];
	size_t len = 0;

	if (file->type == FTR_WIRE_META) {
		len = strlen(file->name);
		ftr_put_u32(start, (uint32_t)len, true);
		memcpy(start + FTR_WIRE_NUMBER_BYTES, file->name, len);
	} else {
		ftr_put_u32(start, (uint32_t)file->number, true);
	}
	return send_head(follow, (enum ftr_wire_type)file->type, start,
			 FTR_WIRE_NUMBER_BYTES + len, more, err);
}

/* More of a file that has grown to @size. */
static int send_growth(struct ftr_follow *follow, struct ftr_follow_file *file, int fd,
		       uint64_t size, struct ftr_err *err)
{
	int ret = 0;

	while (ret == 0 && (file->sent < size || !file->is_known)) {
		size_t part = size - file->sent < PART_BYTES_MAX ? (size_t)(size - file->sent) :
								   PART_BYTES_MAX;

		ret = send_file_head(follow, file, part, err);
		if (ret == 0)
			ret = send_part(follow, fd, file->sent, part, err);
		file->is_known = true;
		file->sent += part;
		follow->bytes += part;
	}
	return ret;
}

static int send_info(struct ftr_follow *follow, int fd, uint64_t size, struct ftr_err *err)
{
	uint8_t header[FTR_WIRE_INFO_BYTES];
	size_t more = (size_t)size - sizeof(header);
	int ret;

	if (size < sizeof(header) || pread(fd, header, sizeof(header), 0) != sizeof(header))
		return ftr_err_set(err, EINVAL, "%s/" INFO ": is cut off", follow->path);
	ftr_wire_info_to_network(header);
	ret = send_head(follow, FTR_WIRE_INFO, header, sizeof(header), more, err);
	if (ret == 0)
		ret = send_part(follow, fd, sizeof(header), more, err);
	follow->bytes += size;
	return ret;
}

/* Files that the recorder only appends to; all others it stores at once. */
static bool only_grows(const char *name)
{
	static const char *const names[] = { "task.txt", "events.txt", "extern.dat",
					     "syscalls.etrace" };
	static const char *const ends[] = { ".dat", ".event" };
	size_t len = strlen(name), i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (strcmp(name, names[i]) == 0)
			return true;
	}
	for (i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
		size_t end = strlen(ends[i]);

		if (len > end && strcmp(name + len - end, ends[i]) == 0)
			return true;
	}
	return false;
}

static int follow_file(struct ftr_follow *follow, struct ftr_follow_file *file,
		       struct ftr_err *err)
{
	int fd = openat(follow->dir_fd, file->name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	struct stat st;
	int ret = 0;

	if (fd < 0)		/* it was removed */
		return 0;
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode))
		ret = file->type == FTR_WIRE_INFO ?
			      send_info(follow, fd, (uint64_t)st.st_size, err) :
			      send_growth(follow, file, fd, (uint64_t)st.st_size, err);
	close(fd);
	return ret;
}

static int file_add(struct ftr_follow *follow, const char *name)
{
	struct ftr_follow_file file = { 0 };

	if (name[0] == '.' || strlen(name) > FTR_WIRE_NAME_MAX)
		return 0;
	for (size_t i = 0; i < follow->files.nr; i++) {
		if (strcmp(follow->files.v[i].name, name) == 0)
			return 0;
	}
	file.type = (uint16_t)ftr_wire_file_type(name, &file.number);
	file.name = strdup(name);
	if (file.name != NULL && ftr_vec_push(&follow->files, file) == 0)
		return 0;
	free(file.name);
	return -ENOMEM;
}

static int send_name(const struct ftr_follow *follow, struct ftr_err *err)
{
	char *copy = strdup(follow->path), *name;
	int ret;

	if (copy == NULL)
		return ftr_err_set(err, ENOMEM, "%s: out of memory", follow->path);
	name = basename(copy);
	ret = send_head(follow, FTR_WIRE_DIR, name, strlen(name), 0, err);
	free(copy);
	return ret;
}

/* The directory of this recording, not one that is about to be renamed. */
static int dir_open(struct ftr_follow *follow, struct ftr_err *err)
{
	struct stat st;

	if (stat(follow->path, &st) < 0 || st.st_ino == follow->old_ino)
		return 0;
	follow->dir_fd = open(follow->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return follow->dir_fd >= 0 ? send_name(follow, err) : 0;
}

static int files_find(struct ftr_follow *follow, struct ftr_err *err)
{
	const struct dirent *entry;
	int ret = 0, fd;
	DIR *dir;

	fd = openat(follow->dir_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	dir = fd < 0 ? NULL : fdopendir(fd);
	if (dir == NULL)
		return ftr_err_set(err, errno, "%s: %s", follow->path, strerror(errno));
	while (ret == 0 && (entry = readdir(dir)) != NULL)
		ret = file_add(follow, entry->d_name);
	closedir(dir);
	return ret < 0 ? ftr_err_set(err, ENOMEM, "%s: out of memory", follow->path) : 0;
}

/* Of a trace that is there already: it will be renamed.  0 = there is none. */
static uint64_t trace_ino(const char *path)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	uint64_t ino = 0;
	struct stat st;

	if (fd < 0)
		return 0;
	if (faccessat(fd, INFO, F_OK, 0) == 0 && fstat(fd, &st) == 0)
		ino = st.st_ino;
	close(fd);
	return ino;
}

void ftr_follow_init(struct ftr_follow *follow, int fd, const char *path)
{
	*follow = (struct ftr_follow){
		.fd = fd,
		.dir_fd = -1,
		.path = path,
		.old_ino = trace_ino(path),
	};
}

void ftr_follow_fini(struct ftr_follow *follow)
{
	for (size_t i = 0; i < follow->files.nr; i++)
		free(follow->files.v[i].name);
	ftr_vec_fini(&follow->files);
	if (follow->dir_fd >= 0)
		close(follow->dir_fd);
}

int ftr_follow_more(struct ftr_follow *follow, struct ftr_err *err)
{
	int ret = 0;

	if (follow->dir_fd < 0)
		ret = dir_open(follow, err);
	if (ret < 0 || follow->dir_fd < 0)
		return ret;
	ret = files_find(follow, err);
	for (size_t i = 0; ret == 0 && i < follow->files.nr; i++) {
		if (only_grows(follow->files.v[i].name))
			ret = follow_file(follow, &follow->files.v[i], err);
	}
	return ret;
}

/* Receivers close the connection behind the last message, and not before. */
static int wait_for_close(const struct ftr_follow *follow, struct ftr_err *err)
{
	uint8_t byte;
	ssize_t n;

	shutdown(follow->fd, SHUT_WR);
	do
		n = recv(follow->fd, &byte, sizeof(byte), 0);
	while (n > 0 || (n < 0 && errno == EINTR));
	if (n < 0)
		return sent_error(follow, errno == EAGAIN ? ETIMEDOUT : errno, err);
	return 0;
}

int ftr_follow_end(struct ftr_follow *follow, struct ftr_err *err)
{
	struct ftr_follow_file *info = NULL, *file;
	int ret = ftr_follow_more(follow, err);

	if (ret == 0 && follow->dir_fd < 0)
		return ftr_err_set(err, ENOENT, "%s: nothing was recorded", follow->path);
	for (size_t i = 0; ret == 0 && i < follow->files.nr; i++) {
		file = &follow->files.v[i];
		if (file->type == FTR_WIRE_INFO)
			info = file;
		else if (!only_grows(file->name))
			ret = follow_file(follow, file, err);
	}
	if (ret == 0 && info != NULL)
		ret = follow_file(follow, info, err);
	if (ret == 0)
		ret = send_head(follow, FTR_WIRE_END, NULL, 0, 0, err);
	return ret == 0 ? wait_for_close(follow, err) : ret;
}
