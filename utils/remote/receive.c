/* SPDX-License-Identifier: MIT */
/* See receive.h. */
#include "utils/remote/receive.h"

#include <dirent.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "utils/base/bytes.h"
#include "utils/base/clock.h"
#include "utils/base/vec.h"
#include "utils/format/uftrace/uftrace.h"
#include "utils/format/uftrace/write.h"

#define SAME_NAMES_MAX 1000

struct tids {
	FTR_VEC(int32_t) v;
};

/* One component of a path, of printable characters. */
static bool is_plain_name(const char *name)
{
	if (name[0] == '\0' || name[0] == '.')
		return false;
	for (const char *c = name; *c != '\0'; c++) {
		if (*c == '/' || *c == '\\' || (unsigned char)*c < ' ' || *c == '\177')
			return false;
	}
	return true;
}

static int refuse(struct ftr_err *err, const char *what)
{
	return ftr_err_set(err, EBADMSG, "%s; is it \"ftr record --host\" that sends?", what);
}

/* ---- files ---- */

static void file_close(struct ftr_receive *receive)
{
	if (receive->file >= 0)
		close(receive->file);
	receive->file = -1;
}

static int file_open(struct ftr_receive *receive, int flags, struct ftr_err *err)
{
	file_close(receive);
	receive->file = openat(ftr_uftrace_dir_fd(receive->dir), receive->name,
			       O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW | flags, 0644);
	if (receive->file < 0)
		return ftr_err_set(err, errno, "%s/%s: %s", receive->path, receive->name,
				   strerror(errno));
	return 0;
}

static int file_write(struct ftr_receive *receive, const uint8_t *bytes, size_t len,
		      struct ftr_err *err)
{
	int ret = ftr_uftrace_write_all(receive->file, (const char *)bytes, len);

	if (ret < 0)
		return ftr_err_set(err, -ret, "%s/%s: %s; the sender keeps its data",
				   receive->path, receive->name, strerror(-ret));
	receive->bytes += len;
	return 0;
}

/* ---- parts of messages ---- */

static void want(struct ftr_receive *receive, enum ftr_receive_state state, uint32_t bytes)
{
	receive->state = state;
	receive->wanted = bytes;
	receive->have = 0;
}

static bool is_taken(const struct ftr_receive *receive, const char *path)
{
	return receive->is_taken != NULL && receive->is_taken(receive->arg, path);
}

/* NAME, or NAME.1 and so on while others send of that name.  (owned by the caller) */
static char *path_make(const struct ftr_receive *receive, const char *name)
{
	char *path = strdup(name);
	int nr;

	for (nr = 1; path != NULL && nr < SAME_NAMES_MAX && is_taken(receive, path); nr++) {
		free(path);
		if (asprintf(&path, "%s.%d", name, nr) < 0)
			path = NULL;
	}
	return path;
}

static int dir_start(struct ftr_receive *receive, struct ftr_err *err)
{
	const char *name = (const char *)receive->part, *slash;

	receive->part[receive->wanted] = '\0';
	slash = strrchr(name, '/');
	name = slash != NULL ? slash + 1 : name;
	if (!is_plain_name(name))
		return refuse(err, "the directory's name is no name");
	receive->path = path_make(receive, name);
	if (receive->path == NULL)
		return ftr_err_set(err, ENOMEM, "%s: out of memory", name);
	return ftr_uftrace_dir_open(&receive->dir, receive->path, err);
}

/* The file whose part follows is known by now. */
static int body_start(struct ftr_receive *receive, int flags, struct ftr_err *err)
{
	receive->state = FTR_RECEIVE_BODY;
	return file_open(receive, flags, err);
}

static int info_start(struct ftr_receive *receive, struct ftr_err *err)
{
	int ret;

	ftr_wire_info_from_network(receive->part);
	snprintf(receive->name, sizeof(receive->name), "info");
	ret = body_start(receive, O_TRUNC, err);
	return ret == 0 ? file_write(receive, receive->part, FTR_WIRE_INFO_BYTES, err) : ret;
}

static int number_start(struct ftr_receive *receive, struct ftr_err *err)
{
	uint32_t number = ftr_get_u32(receive->part, true);

	if (receive->head.type == FTR_WIRE_META) {
		if (number == 0 || number > FTR_WIRE_NAME_MAX || number > receive->left)
			return refuse(err, "a file's name has a length that is wrong");
		want(receive, FTR_RECEIVE_NAME, number);
		return 0;
	}
	if (number > INT32_MAX ||
	    ftr_wire_file_name(receive->head.type, (int32_t)number, receive->name) == NULL)
		return refuse(err, "records of no task");
	return body_start(receive, O_APPEND, err);
}

static int name_start(struct ftr_receive *receive, struct ftr_err *err)
{
	receive->part[receive->wanted] = '\0';
	memcpy(receive->name, receive->part, receive->wanted + 1);
	if (strlen(receive->name) != receive->wanted || !is_plain_name(receive->name) ||
	    strcmp(receive->name, "info") == 0)
		return refuse(err, "a file's name is none of a data directory's");
	return body_start(receive, O_APPEND, err);
}

static int head_start(struct ftr_receive *receive, struct ftr_err *err)
{
	uint32_t wanted = FTR_WIRE_NUMBER_BYTES;

	if (!ftr_wire_head_get(receive->part, &receive->head))
		return refuse(err, "no message begins where one should");
	if ((receive->head.type == FTR_WIRE_DIR) != (receive->dir == NULL))
		return refuse(err, "the directory's name is missing, or comes again");
	receive->left = receive->head.bytes;
	switch (receive->head.type) {
	case FTR_WIRE_END:
		receive->state = FTR_RECEIVE_DONE;
		return 0;
	case FTR_WIRE_DIR:
		wanted = receive->left;
		if (wanted == 0 || wanted > FTR_WIRE_NAME_MAX)
			return refuse(err, "the directory's name is empty or too long");
		break;
	case FTR_WIRE_INFO:
		wanted = FTR_WIRE_INFO_BYTES;
		break;
	case FTR_WIRE_DATA:
	case FTR_WIRE_KERNEL:
	case FTR_WIRE_PERF:
	case FTR_WIRE_META:
		break;
	default:
		return refuse(err, "a message of no known type");
	}
	if (wanted > receive->left)
		return refuse(err, "a message is too short");
	want(receive, FTR_RECEIVE_START, wanted);
	return 0;
}

/* What was gathered is whole. */
static int part_take(struct ftr_receive *receive, struct ftr_err *err)
{
	if (receive->state == FTR_RECEIVE_HEAD)
		return head_start(receive, err);
	receive->left -= receive->wanted;
	if (receive->state == FTR_RECEIVE_NAME)
		return name_start(receive, err);
	if (receive->head.type == FTR_WIRE_DIR)
		return dir_start(receive, err);
	return receive->head.type == FTR_WIRE_INFO ? info_start(receive, err) :
						     number_start(receive, err);
}

static bool is_gathering(const struct ftr_receive *receive)
{
	return receive->state == FTR_RECEIVE_HEAD || receive->state == FTR_RECEIVE_START ||
	       receive->state == FTR_RECEIVE_NAME;
}

/* The bytes of @len that were taken, or -errno. */
static ssize_t feed_part(struct ftr_receive *receive, const uint8_t *bytes, size_t len,
			 struct ftr_err *err)
{
	size_t part = receive->wanted - receive->have;
	int ret = 0;

	part = len < part ? len : part;
	memcpy(receive->part + receive->have, bytes, part);
	receive->have += (uint32_t)part;
	if (receive->have == receive->wanted)
		ret = part_take(receive, err);
	return ret < 0 ? ret : (ssize_t)part;
}

static ssize_t feed_body(struct ftr_receive *receive, const uint8_t *bytes, size_t len,
			 struct ftr_err *err)
{
	size_t part = len < receive->left ? len : receive->left;
	int ret = file_write(receive, bytes, part, err);

	receive->left -= (uint32_t)part;
	return ret < 0 ? ret : (ssize_t)part;
}

/* Behind the last byte of a message, which may be that of what was gathered. */
static void message_end(struct ftr_receive *receive)
{
	bool is_named = receive->head.type == FTR_WIRE_DIR && receive->dir != NULL &&
			receive->state == FTR_RECEIVE_START;

	if (receive->left != 0 || (receive->state != FTR_RECEIVE_BODY && !is_named))
		return;
	file_close(receive);
	want(receive, FTR_RECEIVE_HEAD, FTR_WIRE_HEAD_BYTES);
}

int ftr_receive_feed(struct ftr_receive *receive, const uint8_t *bytes, size_t len,
		     struct ftr_err *err)
{
	while (len > 0) {
		ssize_t taken;

		if (receive->state == FTR_RECEIVE_DONE)
			return refuse(err, "more follows the end");
		taken = is_gathering(receive) ? feed_part(receive, bytes, len, err) :
						feed_body(receive, bytes, len, err);
		if (taken < 0)
			return (int)taken;
		message_end(receive);
		bytes += taken;
		len -= (size_t)taken;
	}
	return 0;
}

void ftr_receive_init(struct ftr_receive *receive)
{
	*receive = (struct ftr_receive){ .file = -1 };
	want(receive, FTR_RECEIVE_HEAD, FTR_WIRE_HEAD_BYTES);
}

/* ---- a sender that was not done ---- */

static int tids_find(const struct ftr_receive *receive, struct tids *tids)
{
	int fd = openat(ftr_uftrace_dir_fd(receive->dir), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *entry;
	int ret = 0;

	if (dir == NULL)
		return -errno;
	while (ret == 0 && (entry = readdir(dir)) != NULL) {
		int32_t tid;

		if (ftr_wire_file_type(entry->d_name, &tid) == FTR_WIRE_DATA)
			ret = ftr_vec_push(&tids->v, tid);
	}
	closedir(dir);
	ftr_vec_sort_int32(tids->v.v, tids->v.nr);
	return ret;
}

/* What readers cannot do without: the tasks. */
static void info_make(struct ftr_receive *receive)
{
	struct tids tids = { 0 };
	struct ftr_err err = { 0 };
	struct ftr_info info = {
		.elf_data = ELFDATA2LSB,
		.elf_class = ELFCLASS64,
		.feature_mask = FTR_FEATURE_TASK_SESSION | FTR_FEATURE_SYM_REL_ADDR |
				FTR_FEATURE_MAX_STACK | FTR_FEATURE_EVENT,
		.info_mask = FTR_INFO_TASKINFO,
		.max_stack = UINT16_MAX,
	};

	if (faccessat(ftr_uftrace_dir_fd(receive->dir), "info", F_OK, 0) < 0 &&
	    tids_find(receive, &tids) == 0) {
		info.task_nr = (uint32_t)tids.v.nr;
		info.tids = tids.v.v;
		ftr_uftrace_dir_info(receive->dir, &info, &err);
	}
	ftr_vec_fini(&tids.v);
}

void ftr_receive_close(struct ftr_receive *receive)
{
	file_close(receive);
	if (receive->dir != NULL && receive->state != FTR_RECEIVE_DONE)
		info_make(receive);
	ftr_uftrace_dir_close(receive->dir);
	free(receive->path);
	receive->dir = NULL;
	receive->path = NULL;
}
