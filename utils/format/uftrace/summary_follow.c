/* SPDX-License-Identifier: MIT */
/* See summary_follow.h. */
#include "utils/format/uftrace/summary_follow.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/falloc.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "utils/base/bits.h"
#include "utils/base/bytes.h"

#define BLOCK_BYTES_MAX FTR_MIB(1024)

void ftr_summary_follow_init(struct ftr_summary_follow *self)
{
	self->fd = -1;
	self->pos = 0;
	ftr_strbuf_init(&self->block);
}

void ftr_summary_follow_fini(struct ftr_summary_follow *self)
{
	if (self->fd >= 0)
		close(self->fd);
	ftr_strbuf_fini(&self->block);
}

static int failed(struct ftr_err *err, int code)
{
	return ftr_err_set(err, code, FTR_SUMMARY_FILE ": %s", strerror(code));
}

/* @len bytes at the position, appended to the block.  1, 0: they are not there yet, or -errno. */
static int bytes_read(struct ftr_summary_follow *self, size_t len, struct ftr_err *err)
{
	char *room = ftr_strbuf_room(&self->block, len);
	ssize_t got;

	if (room == NULL)
		return failed(err, ENOMEM);
	got = pread(self->fd, room, len, (off_t)(self->pos + self->block.len));
	if (got < 0)
		return errno == EINTR ? 0 : failed(err, errno);
	if ((size_t)got < len)
		return 0;
	self->block.len += len;
	return 1;
}

/* 1, 0: not there yet, or -errno. */
static int file_open(struct ftr_summary_follow *self, const char *dir, struct ftr_err *err)
{
	char path[PATH_MAX];
	int ret;

	if (self->fd < 0) {
		snprintf(path, sizeof(path), "%s/" FTR_SUMMARY_FILE, dir);
		self->fd = open(path, O_RDWR | O_CLOEXEC);
		if (self->fd < 0)
			return errno == ENOENT ? 0 : failed(err, errno);
	}
	if (self->pos != 0)
		return 1;
	ftr_strbuf_clear(&self->block);
	ret = bytes_read(self, FTR_SUMMARY_HEAD_BYTES, err);
	if (ret <= 0)
		return ret;
	if (ftr_summary_head_get((const uint8_t *)ftr_strbuf_str(&self->block),
				 FTR_SUMMARY_HEAD_BYTES) == 0)
		return failed(err, EBADMSG);
	self->pos = FTR_SUMMARY_HEAD_BYTES;
	return 1;
}

int ftr_summary_follow_next(struct ftr_summary_follow *self, const char *dir,
			    struct ftr_summary_cursor *cursor, struct ftr_err *err)
{
	int ret = file_open(self, dir, err);
	const uint8_t *bytes;
	size_t len, pos = 0;

	if (ret <= 0)
		return ret;
	ftr_strbuf_clear(&self->block);
	ret = bytes_read(self, FTR_SUMMARY_BLOCK_HEAD, err);
	if (ret <= 0)
		return ret;
	len = ftr_get_u32(ftr_strbuf_str(&self->block), false);
	if (len > BLOCK_BYTES_MAX)
		return failed(err, EBADMSG);
	ret = bytes_read(self, len, err);
	if (ret <= 0)
		return ret;
	bytes = (const uint8_t *)ftr_strbuf_str(&self->block);
	if (ftr_summary_block_get(bytes, self->block.len, &pos, cursor) != 1)
		return failed(err, EBADMSG);
	/* Of the summary the head alone, and what is still to come, take room. */
	fallocate(self->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)self->pos,
		  (off_t)self->block.len);
	self->pos += self->block.len;
	return 1;
}
