/* SPDX-License-Identifier: MIT */
/* Packing and unpacking a data directory. */
#include "utils/format/uftrace/pack_dir.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "utils/base/istream.h"
#include "utils/format/dir.h"
#include "utils/format/uftrace/pack_block.h"
#include "utils/format/uftrace/pack_file.h"
#include "utils/format/uftrace/uftrace.h"
#include "utils/format/uftrace/write.h"

#define NEW_SUFFIX     ".new"
#define INFO	       "info"
#define INFO_BYTES_MAX FTR_MIB(16)
#define DISK_BLOCK_BYTES FTR_KIB(4)
#define INFO_ELF_DATA  14u	/* byte order */

/* One file that another takes the place of. */
struct change {
	const char *from;		/* (borrowed) */
	char to[NAME_MAX + 1];
	char beside[NAME_MAX + 1];	/* what becomes it; "": it is there already */
};

struct job {
	const char *path;
	struct ftr_dir *names;		/* (owned) */
	int dir;
	bool is_packing;
	struct ftr_packer *packer;	/* (owned) */
	uint8_t *bytes;			/* (owned) a block */
	struct ftr_pack_watch *watch;
	struct ftr_pack_result *result;
	FTR_VEC(struct change) changes;
};

static int failed(const struct job *job, const char *name, int code, struct ftr_err *err)
{
	return ftr_err_set(err, code, "%s/%s: %s; nothing was changed", job->path, name,
			   strerror(code));
}

/* "1234.dat" and "1234.event", with @suffix behind. */
static bool is_of_records(const char *name, const char *suffix)
{
	static const char *const kinds[] = { ".dat", ".event" };
	size_t digits = strspn(name, "0123456789");

	for (size_t i = 0; digits > 0 && i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		size_t len = strlen(kinds[i]);

		if (strncmp(name + digits, kinds[i], len) == 0 &&
		    strcmp(name + digits + len, suffix) == 0)
			return true;
	}
	return false;
}

/* ---- files ---- */

static int read_all(int fd, uint8_t *to, size_t bytes, uint64_t at)
{
	while (bytes > 0) {
		ssize_t n = pread(fd, to, bytes, (off_t)at);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? -errno : -EIO;	/* it became shorter */
		to += n;
		at += (uint64_t)n;
		bytes -= (size_t)n;
	}
	return 0;
}

static int beside_open(const struct job *job, const char *name, mode_t mode)
{
	int fd = openat(job->dir, name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);

	if (fd >= 0)
		(void)!fchmod(fd, mode & (S_IRWXU | S_IRWXG | S_IRWXO));
	return fd < 0 ? -errno : fd;
}

static bool is_interrupted(const struct job *job)
{
	return *job->watch->is_ending != 0;
}

static void done_add(const struct job *job, uint64_t bytes)
{
	job->watch->done += bytes;
	job->watch->tick(job->watch);
}

static bool is_same(const struct stat *a, const struct stat *b)
{
	return a->st_size == b->st_size && a->st_mtim.tv_sec == b->st_mtim.tv_sec &&
	       a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

/* ---- packing one file ---- */

static int blocks_pack(const struct job *job, int from, uint64_t size,
		       struct ftr_pack_writer *writer)
{
	int ret = 0;

	for (uint64_t at = 0; at < size && ret == 0; at += FTR_PACK_FILE_BLOCK) {
		size_t nr = size - at < FTR_PACK_FILE_BLOCK ? (size_t)(size - at) :
							      FTR_PACK_FILE_BLOCK;

		ret = is_interrupted(job) ? -EINTR : read_all(from, job->bytes, nr, at);
		if (ret == 0)
			ret = ftr_pack_writer_put(writer, job->packer, job->bytes, nr, 0);
		done_add(job, nr);
	}
	if (ret == 0)
		ret = ftr_pack_writer_flush(writer, job->packer);
	return ret == 0 ? ftr_pack_writer_index(writer) : ret;
}

/* Whoever gives an original away should have tried the copy. */
static int blocks_check(const struct job *job, int from, const struct ftr_pack_writer *writer)
{
	uint8_t *packed = malloc(2 * FTR_PACK_BLOCK_BYTES);
	uint8_t *back = malloc(FTR_PACK_BLOCK_BYTES);
	int ret = packed == NULL || back == NULL ? -ENOMEM : 0;

	for (size_t i = 0; i < writer->blocks.nr && ret == 0; i++) {
		const struct ftr_pack_block *block = &writer->blocks.v[i];

		ret = read_all(writer->fd, packed, block->packed_bytes, block->file_at);
		if (ret == 0)
			ret = read_all(from, job->bytes, block->bytes, block->at);
		if (ret == 0)
			ret = ftr_packer_unpack(job->packer, packed, block->packed_bytes, back,
						block->bytes);
		if (ret == 0 && memcmp(back, job->bytes, block->bytes) != 0)
			ret = -EIO;
		if (ret == 0 && is_interrupted(job))
			ret = -EINTR;
		done_add(job, block->bytes);
	}
	free(back);
	free(packed);
	return ret;
}

/* What a file takes up on most disks. */
static uint64_t room_of(uint64_t bytes)
{
	return (bytes + DISK_BLOCK_BYTES - 1) / DISK_BLOCK_BYTES;
}

/* 0, 1 = it would take more room, or -errno. */
static int file_pack(const struct job *job, int from, uint64_t size, int to)
{
	struct ftr_pack_writer writer;
	int ret = ftr_pack_writer_init(&writer, to);
	struct stat st;

	if (ret == 0)
		ret = blocks_pack(job, from, size, &writer);
	if (ret == 0 && fstat(to, &st) < 0)
		ret = -errno;
	if (ret == 0 && room_of((uint64_t)st.st_size) > room_of(size))
		ret = 1;
	if (ret == 0)
		ret = blocks_check(job, from, &writer);
	if (ret == 0) {
		job->result->bytes += size;
		job->result->packed_bytes += (uint64_t)st.st_size;
	}
	ftr_pack_writer_fini(&writer);
	return ret;
}

/* ---- unpacking one file ---- */

static int block_unpack(const struct job *job, const struct ftr_istream *in,
			const struct ftr_pack_block *block, int to)
{
	int ret = ftr_packer_unpack(job->packer, in->data + block->file_at, block->packed_bytes,
				    job->bytes, block->bytes);

	return ret < 0 ? ret : ftr_uftrace_write_all(to, (const char *)job->bytes, block->bytes);
}

static int file_unpack(const struct job *job, const struct ftr_istream *in, int to)
{
	struct ftr_pack_blocks blocks = { 0 };
	struct ftr_pack_damage damage;
	int ret = ftr_pack_blocks_list(&blocks, in->data, in->size, &damage);

	if (ret == 0 && damage.bytes > 0)
		ret = -EBADMSG;
	job->result->cut_nr += damage.has_no_index;
	for (size_t i = 0; i < blocks.nr && ret == 0; i++) {
		ret = is_interrupted(job) ? -EINTR : block_unpack(job, in, &blocks.v[i], to);
		job->result->bytes += blocks.v[i].bytes;
		done_add(job, blocks.v[i].packed_bytes);
	}
	job->result->packed_bytes += in->size;
	ftr_vec_fini(&blocks);
	return ret;
}

static int unpacked_make(const struct job *job, const char *name, int to, struct ftr_err *err)
{
	struct ftr_istream in;
	int ret = ftr_dir_file(job->names, name, &in, err);

	if (ret < 0)
		return ret;
	ret = file_unpack(job, &in, to);
	ftr_istream_close(&in);
	if (ret == -EBADMSG)
		return ftr_err_set(err, EBADMSG, "%s/%s: damaged, so that its original cannot be "
				   "given back; the other commands show what is left of it; nothing "
				   "was changed", job->path, name);
	return ret < 0 ? failed(job, name, -ret, err) : 0;
}

/* ---- changes ---- */

static int packed_make(const struct job *job, const char *name, int from, int to,
		       struct ftr_err *err)
{
	struct stat before, after;
	int ret = fstat(from, &before) < 0 ? -errno : 0;

	if (ret == 0)
		ret = file_pack(job, from, (uint64_t)before.st_size, to);
	if (ret >= 0 && (fstat(from, &after) < 0 || !is_same(&before, &after)))
		return ftr_err_set(err, EBUSY, "%s/%s: was written to meanwhile: wait for the end "
				   "of the recording; nothing was changed", job->path, name);
	return ret < 0 ? failed(job, name, -ret, err) : ret;
}

/* Write what @change->from becomes.  0, 1 = it stays as it is, or -errno. */
static int change_make(const struct job *job, const struct change *change, struct ftr_err *err)
{
	int from = ftr_regular_open(job->dir, change->from), to = -1, ret;
	struct stat st;

	if (from < 0 || fstat(from, &st) < 0)
		return failed(job, change->from, from < 0 ? -from : errno, err);
	to = beside_open(job, change->beside, st.st_mode);
	if (to < 0)
		ret = failed(job, change->beside, -to, err);
	else if (job->is_packing)
		ret = packed_make(job, change->from, from, to, err);
	else
		ret = unpacked_make(job, change->from, to, err);
	if (ret == 0 && fsync(to) < 0)
		ret = failed(job, change->beside, errno, err);
	if (to >= 0)
		close(to);
	if (ret != 0)
		unlinkat(job->dir, change->beside, 0);
	close(from);
	return ret;
}

static int change_add(struct job *job, const char *name, struct ftr_err *err)
{
	struct change change = { .from = name };
	int len = (int)strlen(name), ret;

	if (job->is_packing)
		snprintf(change.to, sizeof(change.to), "%s" FTR_PACK_SUFFIX, name);
	else
		snprintf(change.to, sizeof(change.to), "%.*s",
			 len - (int)strlen(FTR_PACK_SUFFIX), name);
	/* An original that is still there is whole: unpacking was interrupted behind its end. */
	if (job->is_packing || !ftr_dir_has(job->names, change.to)) {
		snprintf(change.beside, sizeof(change.beside), "%.*s" NEW_SUFFIX,
			 NAME_MAX - (int)strlen(NEW_SUFFIX), change.to);
		ret = change_make(job, &change, err);
		if (ret != 0) {
			job->result->left_nr += ret > 0;
			return ret < 0 ? ret : 0;
		}
	}
	if (ftr_vec_push(&job->changes, change) == 0)
		return 0;
	unlinkat(job->dir, change.beside, 0);
	return failed(job, name, ENOMEM, err);
}

static void all_count(const struct job *job)
{
	struct stat st;

	for (size_t i = 0; i < job->names->names.nr; i++) {
		const char *name = job->names->names.v[i];

		if (is_of_records(name, job->is_packing ? "" : FTR_PACK_SUFFIX) &&
		    fstatat(job->dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0)
			job->watch->all += (uint64_t)st.st_size * (job->is_packing ? 2 : 1);
	}
}

static int changes_make(struct job *job, struct ftr_err *err)
{
	int ret = 0;

	all_count(job);
	for (size_t i = 0; i < job->names->names.nr && ret == 0; i++) {
		const char *name = job->names->names.v[i];

		if (is_of_records(name, job->is_packing ? "" : FTR_PACK_SUFFIX))
			ret = change_add(job, name, err);
	}
	if (ret == 0 && is_interrupted(job))
		ret = failed(job, "", EINTR, err);
	return ret;
}

/* What an earlier run left that was killed. */
static void leftovers_remove(const struct job *job)
{
	for (size_t i = 0; i < job->names->names.nr; i++) {
		const char *name = job->names->names.v[i];

		if (is_of_records(name, NEW_SUFFIX) ||
		    is_of_records(name, FTR_PACK_SUFFIX NEW_SUFFIX))
			unlinkat(job->dir, name, 0);
	}
}

/* ---- info ---- */

/* Set or clear the flag of the version.  False where it is so, or this is no header. */
static bool info_change(const struct job *job, uint8_t *bytes, size_t nr)
{
	/* Bit 8 of a number of 4 bytes. */
	size_t at = 8 + (nr > INFO_ELF_DATA && bytes[INFO_ELF_DATA] == ELFDATA2MSB ? 2 : 1);
	uint8_t before;

	if (nr < FTR_UFTRACE_HEADER_BYTES || memcmp(bytes, "Ftrace!", 8) != 0)
		return false;
	before = bytes[at];
	bytes[at] = (uint8_t)(job->is_packing ? before | 1 : before & ~1);
	return bytes[at] != before;
}

static int info_write(const struct job *job, const uint8_t *bytes, size_t nr, mode_t mode)
{
	int fd, ret;

	unlinkat(job->dir, INFO NEW_SUFFIX, 0);
	fd = beside_open(job, INFO NEW_SUFFIX, mode);
	if (fd < 0)
		return fd;
	ret = ftr_uftrace_write_all(fd, (const char *)bytes, nr);
	if (ret == 0 && fsync(fd) < 0)
		ret = -errno;
	close(fd);
	if (ret < 0)
		unlinkat(job->dir, INFO NEW_SUFFIX, 0);
	return ret;
}

/* The info file that is to be, beside it.  1 = it is there, 0 = info stays, or -errno. */
static int info_make(const struct job *job, struct ftr_err *err)
{
	int fd = ftr_regular_open(job->dir, INFO), ret = 0;
	uint8_t *bytes = NULL;
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0)
		ret = fd < 0 ? fd : -errno;
	else if (st.st_size > (off_t)INFO_BYTES_MAX || st.st_size == 0)
		ret = 1;
	if (ret == 0) {
		bytes = malloc((size_t)st.st_size);
		ret = bytes == NULL ? -ENOMEM : read_all(fd, bytes, (size_t)st.st_size, 0);
	}
	if (ret == 0)
		ret = info_change(job, bytes, (size_t)st.st_size) ?
		      info_write(job, bytes, (size_t)st.st_size, st.st_mode) : 1;
	free(bytes);
	if (fd >= 0)
		close(fd);
	return ret < 0 ? failed(job, INFO, -ret, err) : ret == 0;
}

/* ---- all of it ---- */

static void changes_drop(struct job *job)
{
	for (size_t i = 0; i < job->changes.nr; i++) {
		if (job->changes.v[i].beside[0] != '\0')
			unlinkat(job->dir, job->changes.v[i].beside, 0);
	}
}

/*
 * At every moment each file is there, packed or as it was: what is new is renamed first, and what
 * was there is removed last.
 */
static int changes_commit(struct job *job, bool has_info, struct ftr_err *err)
{
	for (size_t i = 0; i < job->changes.nr; i++) {
		struct change *change = &job->changes.v[i];

		if (change->beside[0] != '\0' &&
		    renameat(job->dir, change->beside, job->dir, change->to) < 0) {
			int code = errno;

			changes_drop(job);
			return ftr_err_set(err, code, "%s/%s: cannot be renamed: %s; all data are "
					   "there, try again", job->path, change->beside,
					   strerror(code));
		}
		change->beside[0] = '\0';
	}
	if (fsync(job->dir) < 0 ||
	    (has_info && renameat(job->dir, INFO NEW_SUFFIX, job->dir, INFO) < 0) ||
	    fsync(job->dir) < 0)
		return ftr_err_set(err, errno, "%s: %s; all data are there, try again", job->path,
				   strerror(errno));
	for (size_t i = 0; i < job->changes.nr; i++)
		unlinkat(job->dir, job->changes.v[i].from, 0);
	job->result->file_nr = job->changes.nr;
	return 0;
}

static int job_do(struct job *job, struct ftr_err *err)
{
	int ret, has_info = 0;

	leftovers_remove(job);
	ret = changes_make(job, err);
	if (ret == 0 && (job->changes.nr > 0 || !job->is_packing))
		ret = has_info = info_make(job, err);
	if (ret < 0)
		changes_drop(job);
	else
		ret = changes_commit(job, has_info > 0, err);
	return ret;
}

static int job_open(struct job *job, struct ftr_err *err)
{
	int ret = ftr_dir_open(&job->names, job->path, err);

	if (ret < 0)
		return ret;
	if (!ftr_dir_has(job->names, INFO))
		return ftr_err_set(err, ENOTDIR, "%s: not a data directory (it has no info file)",
				   job->path);
	job->dir = open(job->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (job->dir < 0)
		return failed(job, "", errno, err);
	job->packer = ftr_packer_new(FTR_PACK_SMALL);
	job->bytes = malloc(FTR_PACK_BLOCK_BYTES);
	return job->packer == NULL || job->bytes == NULL ? failed(job, "", ENOMEM, err) : 0;
}

static int job_run(struct job *job, struct ftr_err *err)
{
	int ret;

	*job->result = (struct ftr_pack_result){ 0 };
	job->dir = -1;
	ret = job_open(job, err);
	if (ret == 0)
		ret = job_do(job, err);
	ftr_vec_fini(&job->changes);
	ftr_packer_free(job->packer);
	free(job->bytes);
	if (job->dir >= 0)
		close(job->dir);
	ftr_dir_free(job->names);
	return ret;
}

int ftr_pack_dir(const char *path, struct ftr_pack_watch *watch, struct ftr_pack_result *result,
		 struct ftr_err *err)
{
	struct job job = { .path = path, .is_packing = true, .watch = watch, .result = result };

	return job_run(&job, err);
}

int ftr_unpack_dir(const char *path, struct ftr_pack_watch *watch, struct ftr_pack_result *result,
		   struct ftr_err *err)
{
	struct job job = { .path = path, .watch = watch, .result = result };

	return job_run(&job, err);
}
