/* SPDX-License-Identifier: MIT */
/* Writing a data directory in the uftrace format, version 4. */
#include "utils/format/uftrace/write.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "utils/base/strbuf.h"
#include "utils/format/uftrace/pack_file.h"
#include "utils/format/uftrace/task_line.h"
#include "utils/format/uftrace/write_info.h"
#include "utils/format/uftrace/uftrace.h"

#define NSEC_PER_SEC UINT64_C(1000000000)
#define INFO_RESERVE_BYTES 65536	/* so that info can be rewritten on a full disk */
#define INFO_ATOMIC_BYTES 4096
#define MAP_PATH_COLUMN    73 /* as in /proc/PID/maps: the longest line starts its path here */

struct ftr_uftrace_dir {
	int fd;
	int task_fd;		/* task.txt */
	int info_fd;		/* -1 before the first ftr_uftrace_dir_info */
	size_t info_bytes;	/* its size */
	char *path;		/* (owned) for messages */
};

/* Take the last @bytes of a file back: part of a record would spoil what comes after it. */
static void file_take_back(int fd, size_t bytes)
{
	struct stat st;
	off_t end;

	if (bytes == 0 || fstat(fd, &st) < 0 || st.st_size < (off_t)bytes)
		return;
	end = st.st_size - (off_t)bytes;
	(void)!ftruncate(fd, end);
	(void)lseek(fd, end, SEEK_SET);
}

int ftr_uftrace_write_all(int fd, const char *bytes, size_t len)
{
	size_t done = 0;

	while (done < len) {
		ssize_t n = write(fd, bytes + done, len - done);
		int code = errno;

		if (n < 0 && code == EINTR)
			continue;
		if (n < 0) {
			file_take_back(fd, done);
			return -code;
		}
		done += (size_t)n;
	}
	return 0;
}

static int file_create(const struct ftr_uftrace_dir *dir, const char *name, int flags)
{
	int fd = openat(dir->fd, name, O_WRONLY | O_CREAT | O_CLOEXEC | flags, 0644);

	return fd < 0 ? -errno : fd;
}

static int file_store(struct ftr_uftrace_dir *dir, const char *name, const struct ftr_strbuf *sb)
{
	char hidden[32];	/* who reads while it is recorded sees all of it, or nothing */
	int fd, ret;

	if (sb->failed)
		return -ENOMEM;
	snprintf(hidden, sizeof(hidden), ".%d.new", (int)getpid());
	fd = file_create(dir, hidden, O_TRUNC);
	if (fd < 0)
		return fd;
	ret = ftr_uftrace_write_all(fd, ftr_strbuf_str(sb), sb->len);
	close(fd);
	if (ret == 0 && renameat(dir->fd, hidden, dir->fd, name) < 0)
		ret = -errno;
	if (ret < 0)
		unlinkat(dir->fd, hidden, 0);
	return ret;
}

/* One write(2) a line: a reader never sees half of one. */
static int line_append(int fd, struct ftr_strbuf *sb)
{
	int ret = sb->failed ? -ENOMEM : ftr_uftrace_write_all(fd, ftr_strbuf_str(sb), sb->len);

	ftr_strbuf_fini(sb);
	return ret;
}

/* ---- the directory ---- */

int ftr_uftrace_dir_open(struct ftr_uftrace_dir **out, const char *path, struct ftr_err *err)
{
	struct ftr_uftrace_dir *dir = calloc(1, sizeof(*dir));
	size_t len = strlen(path);
	int ret;

	if (dir == NULL)
		return ftr_err_set(err, ENOMEM, "%s: out of memory", path);
	dir->fd = dir->task_fd = dir->info_fd = -1;
	while (len > 1 && path[len - 1] == '/')
		len--;
	dir->path = strndup(path, len);
	ret = dir->path == NULL ? ftr_err_set(err, ENOMEM, "%s: out of memory", path)
				: ftr_uftrace_dir_make_room(dir->path, err);
	if (ret < 0)
		goto out;
	if (mkdir(dir->path, 0755) < 0 && errno != EEXIST) {
		ret = ftr_err_set(err, errno, "%s: cannot create the data directory: %s",
				  dir->path, strerror(errno));
		goto out;
	}
	dir->fd = open(dir->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (dir->fd >= 0)	/* readers see by it that there is more to come */
		(void)flock(dir->fd, LOCK_SH | LOCK_NB);
	if (dir->fd >= 0)
		dir->task_fd = file_create(dir, "task.txt", O_APPEND);
	if (dir->task_fd < 0) {
		ret = ftr_err_set(err, errno, "%s/task.txt: %s", dir->path, strerror(errno));
		goto out;
	}
	*out = dir;
	dir = NULL;
out:
	ftr_uftrace_dir_close(dir);
	return ret;
}

void ftr_uftrace_dir_close(struct ftr_uftrace_dir *dir)
{
	if (dir == NULL)
		return;
	if (dir->info_fd >= 0)
		close(dir->info_fd);
	if (dir->task_fd >= 0)
		close(dir->task_fd);
	if (dir->fd >= 0)
		close(dir->fd);
	free(dir->path);
	free(dir);
}

int ftr_uftrace_dir_fd(const struct ftr_uftrace_dir *dir)
{
	return dir->fd;
}

static int info_create(struct ftr_uftrace_dir *dir)
{
	dir->info_fd = file_create(dir, "info", O_TRUNC);
	if (dir->info_fd < 0)
		return dir->info_fd;
	/* Best effort: without it a disk that fills up may leave the info of the start. */
	(void)!fallocate(dir->info_fd, FALLOC_FL_KEEP_SIZE, 0, INFO_RESERVE_BYTES);
	return 0;
}

/* One write within a page is done or not done, also for a writer that is killed. */
static int info_overwrite(struct ftr_uftrace_dir *dir, const struct ftr_strbuf *sb)
{
	size_t done = 0;

	while (done < sb->len) {	/* what is in the way of the rest, its write says */
		ssize_t n = pwrite(dir->info_fd, ftr_strbuf_str(sb) + done, sb->len - done,
				   (off_t)done);

		if (n <= 0)
			return n < 0 ? -errno : -ENOSPC;
		done += (size_t)n;
	}
	if (sb->len < dir->info_bytes && ftruncate(dir->info_fd, (off_t)sb->len) < 0)
		return -errno;
	dir->info_bytes = sb->len;
	return 0;
}

/*
 * Longer texts get a file of their own; on a full disk, where none can be made, the old one's
 * blocks do.
 */
static int info_replace(struct ftr_uftrace_dir *dir, const struct ftr_strbuf *sb)
{
	int ret, fd;

	if (sb->len <= INFO_ATOMIC_BYTES)
		return info_overwrite(dir, sb);
	ret = file_store(dir, "info.new", sb);
	if (ret == 0 && renameat(dir->fd, "info.new", dir->fd, "info") < 0)
		ret = -errno;
	if (ret < 0) {
		unlinkat(dir->fd, "info.new", 0);
		return info_overwrite(dir, sb);
	}
	fd = file_create(dir, "info", 0);
	if (fd < 0)
		return fd;
	close(dir->info_fd);
	dir->info_fd = fd;
	dir->info_bytes = sb->len;
	return 0;
}

int ftr_uftrace_dir_info(struct ftr_uftrace_dir *dir, const struct ftr_info *info,
			 struct ftr_err *err)
{
	struct ftr_strbuf sb;
	int ret;

	ftr_strbuf_init(&sb);
	ftr_uftrace_info_format(&sb, info);
	ret = sb.failed ? -ENOMEM : dir->info_fd < 0 ? info_create(dir) : 0;
	if (ret == 0)
		ret = info_replace(dir, &sb);
	ftr_strbuf_fini(&sb);
	if (ret < 0)
		return ftr_err_set(err, -ret, "%s/info: %s%s", dir->path, strerror(-ret),
				   ftr_err_remedy(-ret));
	return 0;
}

static void put_map(struct ftr_strbuf *sb, const struct ftr_uftrace_map *map)
{
	size_t start = sb->len;

	ftr_strbuf_printf(sb, "%08" PRIx64 "-%08" PRIx64 " %.4s 00000000 00:00 0 ", map->start,
			  map->end, map->prot);
	while (sb->len - start < MAP_PATH_COLUMN && !sb->failed)
		ftr_strbuf_putc(sb, ' ');
	ftr_strbuf_puts(sb, map->path);
	if (map->build_id != NULL && map->build_id[0] != '\0')
		ftr_strbuf_printf(sb, " build-id:%s", map->build_id);
	ftr_strbuf_putc(sb, '\n');
}

int ftr_uftrace_dir_map(struct ftr_uftrace_dir *dir, const char *sid,
			const struct ftr_uftrace_map *maps, size_t nr, struct ftr_err *err)
{
	struct ftr_strbuf sb;
	char name[32];
	size_t i;
	int ret;

	snprintf(name, sizeof(name), "sid-%.16s.map", sid);
	ftr_strbuf_init(&sb);
	for (i = 0; i < nr; i++)
		put_map(&sb, &maps[i]);
	ret = file_store(dir, name, &sb);
	ftr_strbuf_fini(&sb);
	if (ret < 0)
		return ftr_err_set(err, -ret, "%s/%s: %s", dir->path, name, strerror(-ret));
	return 0;
}

static int task_line_append(struct ftr_uftrace_dir *dir, const struct ftr_task_line *line)
{
	struct ftr_strbuf sb;

	ftr_strbuf_init(&sb);
	ftr_task_line_put(&sb, line);
	return line_append(dir->task_fd, &sb);
}

int ftr_uftrace_dir_session(struct ftr_uftrace_dir *dir, uint64_t time_ns, int32_t pid,
			    const char *sid, const char *exename)
{
	struct ftr_task_line line = { .kind = FTR_TASK_LINE_SESSION, .time_ns = time_ns, .pid = pid,
				      .name = ftr_slice_make(exename, strlen(exename)) };

	strncpy(line.sid, sid, sizeof(line.sid) - 1);
	return task_line_append(dir, &line);
}

int ftr_uftrace_dir_task(struct ftr_uftrace_dir *dir, uint64_t time_ns, int32_t tid, int32_t pid)
{
	return task_line_append(dir, &(struct ftr_task_line){ .kind = FTR_TASK_LINE_TASK,
							      .time_ns = time_ns, .tid = tid,
							      .pid = pid });
}

int ftr_uftrace_dir_fork(struct ftr_uftrace_dir *dir, uint64_t time_ns, int32_t pid, int32_t ppid)
{
	return task_line_append(dir, &(struct ftr_task_line){ .kind = FTR_TASK_LINE_FORK,
							      .time_ns = time_ns, .pid = pid,
							      .ppid = ppid });
}

int ftr_uftrace_dir_dlopen(struct ftr_uftrace_dir *dir, uint64_t time_ns, int32_t tid,
			   const char *sid, uint64_t base, const char *path)
{
	struct ftr_task_line line = { .kind = FTR_TASK_LINE_DLOPEN, .time_ns = time_ns, .tid = tid,
				      .base = base, .name = ftr_slice_make(path, strlen(path)) };

	strncpy(line.sid, sid, sizeof(line.sid) - 1);
	return task_line_append(dir, &line);
}

/* For files that few lines come to. */
static int file_append(const struct ftr_uftrace_dir *dir, const char *name, struct ftr_strbuf *line)
{
	int fd = file_create(dir, name, O_APPEND);
	int ret;

	if (fd < 0) {
		ftr_strbuf_fini(line);
		return fd;
	}
	ret = line_append(fd, line);
	close(fd);
	return ret;
}

int ftr_uftrace_dir_message(struct ftr_uftrace_dir *dir, uint64_t time_ns, const char *text)
{
	struct ftr_strbuf sb;

	ftr_strbuf_init(&sb);
	ftr_strbuf_printf(&sb, "%" PRIu64 ".%09" PRIu64 " %s\n", time_ns / 1000000000u,
			  time_ns % 1000000000u, text);
	return file_append(dir, "extern.dat", &sb);
}

void ftr_uftrace_event_line(struct ftr_strbuf *lines, uint32_t id, const char *name)
{
	ftr_strbuf_printf(lines, "EVENT: %u %s\n", id, name);
}

int ftr_uftrace_dir_events(struct ftr_uftrace_dir *dir, struct ftr_strbuf *lines)
{
	return file_append(dir, "events.txt", lines);
}

int ftr_uftrace_dir_event(struct ftr_uftrace_dir *dir, uint32_t id, const char *name)
{
	struct ftr_strbuf sb;

	ftr_strbuf_init(&sb);
	ftr_uftrace_event_line(&sb, id, name);
	return ftr_uftrace_dir_events(dir, &sb);
}

/* The part of a path after its last slash. */
static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash != NULL ? slash + 1 : path;
}

/* What tells modules of one base name apart: the build-id's start, else a sum of the path. */
static void clash_suffix(char suffix[5], const char *path, const char *build_id)
{
	const unsigned char *p;
	uint16_t sum = 0;

	if (build_id != NULL && strlen(build_id) >= 4) {
		snprintf(suffix, 5, "%.4s", build_id);
		return;
	}
	for (p = (const unsigned char *)path; *p != '\0'; p++)
		sum = (uint16_t)(sum + *p);
	snprintf(suffix, 5, "%04x", sum);
}

static int symbols_store(struct ftr_uftrace_dir *dir, const struct ftr_symtab *tab,
			 const char *name)
{
	int fd = file_create(dir, name, O_EXCL);
	struct ftr_ostream out;
	int ret;

	if (fd < 0)
		return fd;
	ret = ftr_ostream_from_fd(&out, fd, name);
	if (ret == 0) {
		ret = ftr_symtab_store_text(tab, &out);
		if (ftr_ostream_close(&out, NULL) < 0 && ret == 0)
			ret = -EIO;
	}
	close(fd);
	return ret;
}

int ftr_uftrace_dir_symbols(struct ftr_uftrace_dir *dir, const struct ftr_symtab *tab,
			    struct ftr_err *err)
{
	char name[NAME_MAX + 1], suffix[5];
	const char *base = base_name(tab->path);
	int ret;

	snprintf(name, sizeof(name), "%.200s.sym", base);
	ret = symbols_store(dir, tab, name);
	if (ret == -EEXIST) {
		clash_suffix(suffix, tab->path, tab->build_id);
		snprintf(name, sizeof(name), "%.200s-%s.sym", base, suffix);
		ret = symbols_store(dir, tab, name);
	}
	if (ret < 0)
		return ftr_err_set(err, -ret, "%s/%s: %s", dir->path, name, strerror(-ret));
	return 0;
}

static int text_store(struct ftr_uftrace_dir *dir, const char *name, const struct ftr_strbuf *text)
{
	int fd = file_create(dir, name, O_EXCL), ret;

	if (fd < 0)
		return fd;
	ret = ftr_uftrace_write_all(fd, text->s, text->len);
	close(fd);
	if (ret < 0)	/* without it readers look into the module itself */
		unlinkat(dir->fd, name, 0);
	return ret;
}

/* Does the file begin with @head? */
static bool text_begins(const struct ftr_uftrace_dir *dir, const char *name,
			const struct ftr_strbuf *head)
{
	int fd = openat(dir->fd, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	char *start = fd < 0 ? NULL : malloc(head->len);
	bool begins = start != NULL && pread(fd, start, head->len, 0) == (ssize_t)head->len &&
		      memcmp(start, head->s, head->len) == 0;

	free(start);
	if (fd >= 0)
		close(fd);
	return begins;
}

int ftr_uftrace_dir_debug(struct ftr_uftrace_dir *dir, const char *path, const char *build_id,
			  bool is_again, const struct ftr_strbuf *text)
{
	char plain[NAME_MAX + 1], other[NAME_MAX + 1], suffix[5];
	struct ftr_strbuf whole;
	bool had_plain, had_other;
	int ret;

	ftr_strbuf_init(&whole);
	ftr_strbuf_printf(&whole, "# path name: %s\n", path);
	if (build_id != NULL)
		ftr_strbuf_printf(&whole, "# build-id: %s\n", build_id);
	clash_suffix(suffix, path, build_id);
	snprintf(plain, sizeof(plain), "%.200s.dbg", base_name(path));
	snprintf(other, sizeof(other), "%.200s-%s.dbg", base_name(path), suffix);
	had_other = is_again && !whole.failed && text_begins(dir, other, &whole);
	had_plain = is_again && !whole.failed && text_begins(dir, plain, &whole);
	ftr_strbuf_puts(&whole, ftr_strbuf_str(text));
	if (whole.failed)
		ret = -ENOMEM;
	else if (had_other || had_plain)
		ret = file_store(dir, had_other ? other : plain, &whole);
	else
		ret = text_store(dir, plain, &whole);
	if (ret == -EEXIST)
		ret = text_store(dir, other, &whole);
	ftr_strbuf_fini(&whole);
	return ret;
}

int ftr_uftrace_dir_options(struct ftr_uftrace_dir *dir, const char *opts, struct ftr_err *err)
{
	int fd = file_create(dir, "default.opts", O_TRUNC);
	int ret = fd < 0 ? fd : ftr_uftrace_write_all(fd, opts, strlen(opts));

	if (fd >= 0)
		close(fd);
	return ret < 0 ? ftr_err_set(err, -ret, "%s/default.opts: %s", dir->path, strerror(-ret)) :
			 0;
}

int ftr_uftrace_dat_open(const struct ftr_uftrace_dir *dir, int32_t tid, bool is_aside)
{
	char name[32];

	snprintf(name, sizeof(name), is_aside ? FTR_UFTRACE_EVENT_NAME : FTR_UFTRACE_DAT_NAME,
		 tid);
	return file_create(dir, name, O_APPEND);
}

int ftr_uftrace_packed_open(const struct ftr_uftrace_dir *dir, int32_t tid, bool is_aside)
{
	char name[48];

	snprintf(name, sizeof(name),
		 is_aside ? FTR_UFTRACE_EVENT_NAME FTR_PACK_SUFFIX :
			    FTR_UFTRACE_DAT_NAME FTR_PACK_SUFFIX, tid);
	return file_create(dir, name, 0);
}

int ftr_uftrace_file_create(const struct ftr_uftrace_dir *dir, const char *name)
{
	return file_create(dir, name, O_TRUNC);
}

size_t ftr_uftrace_dat_append(int fd, const void *bytes, size_t len, size_t nr, int *code)
{
	size_t step = len == nr * sizeof(struct ftr_record) ? sizeof(struct ftr_record) : len;
	size_t done = 0;

	assert(nr > 0);
	assert(len >= nr * sizeof(struct ftr_record));
	*code = 0;
	while (done < len) {
		ssize_t n = write(fd, (const char *)bytes + done, len - done);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			*code = n < 0 ? errno : ENOSPC;
			file_take_back(fd, done % step);
			return done / step;	/* with a payload: 0, as done < len */
		}
		done += (size_t)n;
	}
	return nr;
}

int ftr_uftrace_perf_open(const struct ftr_uftrace_dir *dir, unsigned cpu)
{
	char name[32];

	snprintf(name, sizeof(name), "perf-cpu%u.dat", cpu);
	return file_create(dir, name, O_APPEND);
}

int ftr_uftrace_perf_append(int fd, const struct iovec *parts, unsigned nr)
{
	size_t written = 0;
	unsigned i;

	for (i = 0; i < nr; i++) {
		size_t done = 0;

		while (done < parts[i].iov_len) {
			ssize_t n = write(fd, (char *)parts[i].iov_base + done,
					  parts[i].iov_len - done);
			int code = n < 0 ? errno : ENOSPC;

			if (n < 0 && code == EINTR)
				continue;
			if (n <= 0) {
				file_take_back(fd, written);
				return -code;
			}
			done += (size_t)n;
			written += (size_t)n;
		}
	}
	return 0;
}
