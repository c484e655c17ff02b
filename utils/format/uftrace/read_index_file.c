/* SPDX-License-Identifier: MIT */
/*
 * TID.index: a head, which says of which TID.dat it is, marks, places, and functions, all
 * little-endian words.
 * Whatever is not as it was written makes it none.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "utils/format/uftrace/pack_file.h"
#include "utils/format/uftrace/read_index.h"
#include "utils/format/uftrace/uftrace.h"

#define INDEX_NAME  "%d.index"
#define INDEX_MAGIC "ftridx\2"		/* the last byte is the version of the layout */
#define MAGIC_BYTES 8u
#define HEAD_BYTES  (MAGIC_BYTES + HEAD_WORDS * 8u)
#define MARK_BYTES  32u
#define CALLED_BYTES 16u

/* What follows the magic. */
enum {
	HEAD_CHECK,		/* of all that is behind it */
	HEAD_STAMP,		/* of what else the calls depend on */
	HEAD_SIZE, HEAD_INODE, HEAD_MODIFIED_NS, HEAD_CHANGED_NS,	/* TID.dat */
	HEAD_SEEN_NS, HEAD_INHERITED_NR, HEAD_IS_FINAL,
	HEAD_MARK_NR, HEAD_PLACE_NR, HEAD_CALLED_NR,
	HEAD_WORDS,
};

#define CHECKED_AT (MAGIC_BYTES + 8u)

static uint64_t check_of(const uint8_t *file, size_t size)
{
	return crc32_z(0, file + CHECKED_AT, size - CHECKED_AT);
}

static uint64_t time_of(struct timespec time)
{
	return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

/* Symbols say how long values are, and what a jump leaves; maps which symbols. */
static bool is_depended_on(const char *name)
{
	static const char *const ends[] = { ".map", ".sym", ".dbg" };
	size_t len = strlen(name);

	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
		if (len > 4 && strcmp(name + len - 4, ends[i]) == 0)
			return true;
	}
	return strcmp(name, "info") == 0 || strcmp(name, "task.txt") == 0;
}

/* It is another one where anything that is said of the records changed, or this program. */
static uint64_t stamp_of(const struct uft_reader *reader)
{
	const char *const version = "1 " FTR_VERSION;
	uint64_t stamp = crc32_z(0, (const uint8_t *)version, strlen(version));

	for (size_t i = 0; i < reader->dir->names.nr; i++) {
		const char *name = reader->dir->names.v[i];
		uint64_t facts[2] = { 0 };
		struct stat st;

		if (!is_depended_on(name))
			continue;
		if (fstatat(ftr_dir_fd(reader->dir), name, &st, 0) == 0) {
			facts[0] = (uint64_t)st.st_size;
			facts[1] = time_of(st.st_mtim);
		}
		stamp = crc32_z((uLong)stamp, (const uint8_t *)name, strlen(name));
		stamp = crc32_z((uLong)stamp, (const uint8_t *)facts, sizeof(facts));
	}
	return stamp;
}

/* What identifies TID.dat, or what it was packed into. */
static int identity_get(const struct uft_reader *reader, const struct uft_task *task,
			uint64_t head[HEAD_WORDS], struct stat *st)
{
	char name[48];

	snprintf(name, sizeof(name), FTR_UFTRACE_DAT_NAME "%s", task->task->tid,
		 task->packed != NULL ? FTR_PACK_SUFFIX : "");
	if (fstatat(ftr_dir_fd(reader->dir), name, st, 0) < 0)
		return -errno;
	if (task->packed == NULL && (uint64_t)st->st_size != task->in.size)
		return -ESTALE;		/* it grows */
	head[HEAD_STAMP] = stamp_of(reader);
	head[HEAD_SIZE] = (uint64_t)st->st_size;
	head[HEAD_INODE] = (uint64_t)st->st_ino;
	head[HEAD_MODIFIED_NS] = time_of(st->st_mtim);
	head[HEAD_CHANGED_NS] = time_of(st->st_ctim);
	return 0;
}

static bool is_of_data(const uint64_t head[HEAD_WORDS], const struct uft_reader *reader,
		       const struct uft_task *task)
{
	uint64_t now[HEAD_WORDS] = { 0 };
	struct stat st;

	return identity_get(reader, task, now, &st) == 0 &&
	       memcmp(&now[HEAD_STAMP], &head[HEAD_STAMP],
		      (HEAD_CHANGED_NS - HEAD_STAMP + 1) * sizeof(*now)) == 0;
}

/* Sound, whoever wrote it: every sum is checked before it is relied on. */
static bool mark_fits(const struct uft_index *index, const struct uft_mark *mark, size_t place_nr)
{
	const struct uft_mark *last =
		index->marks.nr > 0 ? &index->marks.v[index->marks.nr - 1] : NULL;
	size_t own_nr = (size_t)mark->open_nr - mark->kept_nr + mark->half_nr;

	return mark->kept_nr <= mark->open_nr &&
	       mark->kept_nr <= (last != NULL ? last->open_nr : 0) &&
	       (last == NULL || (mark->at > last->at && mark->time_ns >= last->time_ns)) &&
	       mark->inherited_nr <= index->inherited_nr && own_nr <= place_nr - mark->own_at;
}

static int marks_get(struct uft_index *index, const uint8_t *from, size_t nr, size_t place_nr)
{
	size_t own_at = 0;

	if (ftr_vec_reserve(&index->marks, nr) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < nr; i++, from += MARK_BYTES) {
		struct uft_mark mark = {
			.at = ftr_get_u64(from, false),
			.time_ns = ftr_get_u64(from + 8, false),
			.own_at = own_at,
			.open_nr = ftr_get_u32(from + 16, false),
			.kept_nr = ftr_get_u32(from + 20, false),
			.inherited_nr = ftr_get_u32(from + 24, false),
			.half_nr = ftr_get_u32(from + 28, false),
		};

		if (!mark_fits(index, &mark, place_nr))
			return -EBADMSG;
		own_at += (size_t)mark.open_nr - mark.kept_nr + mark.half_nr;
		index->marks.v[index->marks.nr++] = mark;
	}
	return own_at == place_nr ? 0 : -EBADMSG;
}

static int index_get(struct uft_index *index, const struct uft_reader *reader,
		     const struct uft_task *task, const struct ftr_istream *in)
{
	uint64_t head[HEAD_WORDS], mark_nr, place_nr, called_nr, left;
	const uint8_t *p = in->data;
	int ret;

	if (in->size < HEAD_BYTES || memcmp(p, INDEX_MAGIC, MAGIC_BYTES) != 0)
		return -EBADMSG;
	for (size_t i = 0; i < HEAD_WORDS; i++)
		head[i] = ftr_get_u64(p + MAGIC_BYTES + i * 8, false);
	left = in->size - HEAD_BYTES;
	mark_nr = head[HEAD_MARK_NR];
	place_nr = head[HEAD_PLACE_NR];
	called_nr = head[HEAD_CALLED_NR];
	if (mark_nr > left / MARK_BYTES || called_nr > left / CALLED_BYTES ||
	    place_nr > left / 8 ||
	    left != mark_nr * MARK_BYTES + place_nr * 8 + called_nr * CALLED_BYTES ||
	    head[HEAD_CHECK] != check_of(p, in->size) || !is_of_data(head, reader, task))
		return -EBADMSG;
	index->seen_ns = head[HEAD_SEEN_NS];
	index->inherited_nr = head[HEAD_INHERITED_NR];
	index->is_final = head[HEAD_IS_FINAL] != 0;
	ret = marks_get(index, p + HEAD_BYTES, (size_t)mark_nr, (size_t)place_nr);
	if (ret == 0)
		ret = ftr_vec_reserve(&index->places, (size_t)place_nr);
	if (ret == 0)
		ret = ftr_vec_reserve(&index->called, (size_t)called_nr);
	if (ret < 0)
		return ret;
	p += HEAD_BYTES + mark_nr * MARK_BYTES;
	for (; index->places.nr < place_nr; p += 8)
		index->places.v[index->places.nr++] = ftr_get_u64(p, false);
	for (; index->called.nr < called_nr; p += CALLED_BYTES)
		index->called.v[index->called.nr++] = (struct uft_called){
			ftr_get_u64(p, false), ftr_get_u64(p + 8, false),
		};
	return 0;
}

int uft_index_load(struct uft_index *index, const struct uft_reader *reader,
		   const struct uft_task *task)
{
	struct ftr_istream in;
	char name[32];
	int ret;

	snprintf(name, sizeof(name), INDEX_NAME, task->task->tid);
	if (ftr_dir_fd(reader->dir) < 0)
		return -ENOENT;
	ret = ftr_istream_open_file(&in, ftr_dir_fd(reader->dir), name, NULL);
	if (ret < 0)
		return ret;
	ret = index_get(index, reader, task, &in);
	ftr_istream_close(&in);
	if (ret < 0)
		uft_index_fini(index);
	return ret;
}

/* ---- writing ---- */

static size_t file_bytes(const struct uft_index *index)
{
	return HEAD_BYTES + index->marks.nr * MARK_BYTES + index->places.nr * 8 +
	       index->called.nr * CALLED_BYTES;
}

static void file_put(uint8_t *file, const struct uft_index *index,
		     const uint64_t identity[HEAD_WORDS])
{
	uint8_t *p = file + HEAD_BYTES;

	memcpy(file, INDEX_MAGIC, MAGIC_BYTES);
	for (size_t i = HEAD_STAMP; i < HEAD_WORDS; i++)
		ftr_put_u64(file + MAGIC_BYTES + i * 8, identity[i], false);
	for (size_t i = 0; i < index->marks.nr; i++, p += MARK_BYTES) {
		const struct uft_mark *mark = &index->marks.v[i];

		ftr_put_u64(p, mark->at, false);
		ftr_put_u64(p + 8, mark->time_ns, false);
		ftr_put_u32(p + 16, mark->open_nr, false);
		ftr_put_u32(p + 20, mark->kept_nr, false);
		ftr_put_u32(p + 24, mark->inherited_nr, false);
		ftr_put_u32(p + 28, mark->half_nr, false);
	}
	for (size_t i = 0; i < index->places.nr; i++, p += 8)
		ftr_put_u64(p, index->places.v[i], false);
	for (size_t i = 0; i < index->called.nr; i++, p += CALLED_BYTES) {
		ftr_put_u64(p, index->called.v[i].addr, false);
		ftr_put_u64(p + 8, index->called.v[i].time_ns, false);
	}
	ftr_put_u64(file + MAGIC_BYTES, check_of(file, file_bytes(index)), false);
}

static bool write_all(int fd, const uint8_t *bytes, size_t nr)
{
	while (nr > 0) {
		ssize_t done = write(fd, bytes, nr);

		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0)
			return false;
		bytes += done;
		nr -= (size_t)done;
	}
	return true;
}

/* Readers see the old one or the new one, whole; who may read TID.dat may read it. */
static void file_write(int dirfd, int32_t tid, mode_t mode, const uint8_t *bytes, size_t nr)
{
	char name[32], beside[64];
	bool is_written;
	int fd;

	snprintf(name, sizeof(name), INDEX_NAME, tid);
	snprintf(beside, sizeof(beside), "." INDEX_NAME ".%d", tid, (int)getpid());
	fd = openat(dirfd, beside, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return;
	is_written = write_all(fd, bytes, nr) && fchmod(fd, mode) == 0;
	is_written &= close(fd) == 0;
	if (!is_written || renameat(dirfd, beside, dirfd, name) < 0)
		unlinkat(dirfd, beside, 0);
}

bool uft_index_can_store(const struct uft_reader *reader)
{
	int dirfd = ftr_dir_fd(reader->dir);

	return dirfd >= 0 && faccessat(dirfd, ".", W_OK, AT_EACCESS) == 0;
}

void uft_index_store(const struct uft_index *index, const struct uft_reader *reader,
		     const struct uft_task *task)
{
	uint64_t head[HEAD_WORDS] = {
		[HEAD_SEEN_NS] = index->seen_ns,
		[HEAD_INHERITED_NR] = index->inherited_nr,
		[HEAD_IS_FINAL] = index->is_final,
		[HEAD_MARK_NR] = index->marks.nr,
		[HEAD_PLACE_NR] = index->places.nr,
		[HEAD_CALLED_NR] = index->called.nr,
	};
	size_t bytes = file_bytes(index);
	uint8_t *file;
	struct stat st;

	if (identity_get(reader, task, head, &st) < 0)
		return;
	file = calloc(1, bytes);
	if (file == NULL)
		return;
	file_put(file, index, head);
	file_write(ftr_dir_fd(reader->dir), task->task->tid, st.st_mode & 0666, file, bytes);
	free(file);
}
