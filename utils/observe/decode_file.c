/* SPDX-License-Identifier: MIT */
/* System calls on files: descriptors, paths, mounts. */
#include "utils/base/vec.h"
#include "utils/observe/decode_row.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <linux/close_range.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* "/proc/PID/comm", "/proc/PID/task/TID/comm": the task it names; 0 = no such file. */
static pid_t comm_owner(const char *path)
{
	int pid = 0, tid = 0, end = 0;

	if (sscanf(path, "/proc/%d/task/%d/comm%n", &pid, &tid, &end) == 2 && end > 0 &&
	    path[end] == '\0')
		return tid;
	if (sscanf(path, "/proc/%d/comm%n", &pid, &end) == 1 && end > 0 && path[end] == '\0')
		return pid;
	return 0;
}

void ftr_decode_open_begin(struct ftr_decoding *d, const struct ftr_decode_row *row)
{
	struct ftr_tracee *tracee = d->tracee;

	ftr_decode_read_path(d, 0, row->path);
	tracee->flags = ftr_decode_int_arg(tracee, row->flags);
	tracee->mode = ftr_decode_int_arg(tracee, row->mode);
}

void ftr_decode_creat_begin(struct ftr_decoding *d, const struct ftr_decode_row *row)
{
	ftr_decode_open_begin(d, row);
	d->tracee->flags = O_CREAT | O_WRONLY | O_TRUNC;
}

void ftr_decode_openat2_begin(struct ftr_decoding *d, const struct ftr_decode_row *row)
{
	uint64_t how[2] = { 0, 0 }; /* flags, mode */

	ftr_decode_open_begin(d, row);
	ftr_tracee_read(d->tracee, d->tracee->args[2], how, sizeof(how));
	d->tracee->flags = (int32_t)how[0];
	d->tracee->mode = (int32_t)how[1];
}

void ftr_decode_open_end(struct ftr_decoding *d, const struct ftr_decode_row *row, int64_t result)
{
	struct ftr_tracee *tracee = d->tracee;

	d->call.open.flags = tracee->flags;
	d->call.open.mode = (tracee->flags & (O_CREAT | __O_TMPFILE)) != 0 ? tracee->mode : 0;
	d->call.open.fd = result >= 0 ? result : -1;
	ftr_decode_set_failure(d, result);
	d->call.open.asked = ftr_decode_asked(tracee, ftr_decode_dirfd_arg(tracee, row->dirfd), 0,
					      &tracee->real[1]);
	if (result < 0) {
		ftr_decode_emit(d);
		return;
	}
	ftr_strbuf_clear(&tracee->real[0]);
	ftr_tracee_fd_path(tracee, result, &tracee->real[0]);
	/* The kernel does not give out a path of 4096 bytes and more. */
	d->call.open.path = tracee->real[0].len > 0 ? ftr_decode_slice_of(&tracee->real[0]) :
						      d->call.open.asked;
	ftr_tracee_comm_set(tracee->process, result,
			    (tracee->flags & O_ACCMODE) == O_RDONLY ?
				    0 :
				    comm_owner(d->call.open.path.s));
	ftr_decode_emit(d);
}

void ftr_decode_close_end(struct ftr_decoding *d, const struct ftr_decode_row *row, int64_t result)
{
	d->call.close.fd = ftr_decode_int_arg(d->tracee, 0);
	ftr_decode_set_failure(d, result);
	ftr_tracee_comm_set(d->tracee->process, d->call.close.fd, 0);
	ftr_decode_emit(d);
}

/* Keep in real[0] which descriptors are open in the range. */
void ftr_decode_close_range_begin(struct ftr_decoding *d, const struct ftr_decode_row *row)
{
	struct ftr_tracee *tracee = d->tracee;
	unsigned first = (unsigned)tracee->args[0], last = (unsigned)tracee->args[1];
	char path[64];
	struct dirent *entry;
	DIR *dir;

	ftr_strbuf_clear(&tracee->real[0]);
	if ((tracee->args[2] & CLOSE_RANGE_CLOEXEC) != 0)
		return;
	snprintf(path, sizeof(path), "/proc/%d/fd", (int)tracee->tid);
	dir = opendir(path);
	if (dir == NULL)
		return;
	while ((entry = readdir(dir)) != NULL) {
		int fd = atoi(entry->d_name);

		if (entry->d_name[0] != '.' && (unsigned)fd >= first && (unsigned)fd <= last)
			ftr_strbuf_put(&tracee->real[0], &fd, sizeof(fd));
	}
	closedir(dir);
}

void ftr_decode_close_range_end(struct ftr_decoding *d, const struct ftr_decode_row *row,
				int64_t result)
{
	struct ftr_strbuf *fds = &d->tracee->real[0];
	size_t nr = fds->len / sizeof(int);

	if (result < 0 || nr == 0)
		return;
	ftr_vec_sort_int32((int32_t *)(void *)fds->s, nr);
	for (size_t i = 0; i < nr; i++) {
		int fd;

		memcpy(&fd, fds->s + i * sizeof(int), sizeof(int));
		d->call.close.fd = fd;
		ftr_tracee_comm_set(d->tracee->process, fd, 0);
		ftr_decode_emit(d);
	}
}

/* A failed call has no new descriptor, but for dup2 and dup3, which name theirs. */
void ftr_decode_dup_end(struct ftr_decoding *d, const struct ftr_decode_row *row, int64_t result)
{
	struct ftr_tracee *tracee = d->tracee;
	bool names_new = tracee->call == FTR_SYSID_DUP2 || tracee->call == FTR_SYSID_DUP3;

	d->call.dup.old_fd = ftr_decode_int_arg(tracee, 0);
	d->call.dup.new_fd = result >= 0 ? result : names_new ? ftr_decode_int_arg(tracee, 1) : -1;
	if (tracee->call == FTR_SYSID_FCNTL)
		d->call.dup.flags = ftr_decode_int_arg(tracee, 1) == F_DUPFD_CLOEXEC ? O_CLOEXEC :
										       0;
	else
		d->call.dup.flags = ftr_decode_int_arg(tracee, row->flags);
	ftr_decode_set_failure(d, result);
	if (result >= 0 && d->call.dup.old_fd != result)
		ftr_tracee_comm_set(tracee->process, result,
				    ftr_tracee_comm_tid(tracee->process, d->call.dup.old_fd));
	ftr_decode_emit(d);
}

void ftr_decode_pipe_end(struct ftr_decoding *d, const struct ftr_decode_row *row, int64_t result)
{
	int fds[2] = { -1, -1 };

	ftr_decode_set_failure(d, result);
	if (result >= 0)
		ftr_tracee_read(d->tracee, d->tracee->args[0], fds, sizeof(fds));
	d->call.pipe.read_fd = fds[0];
	d->call.pipe.write_fd = fds[1];
	d->call.pipe.flags = ftr_decode_int_arg(d->tracee, row->flags);
	ftr_decode_emit(d);
}

void ftr_decode_rename_begin(struct ftr_decoding *d, const struct ftr_decode_row *row)
{
	struct ftr_tracee *tracee = d->tracee;

	tracee->flags = ftr_decode_int_arg(tracee, row->flags);
	ftr_strbuf_clear(&tracee->real[0]);
	if (ftr_decode_read_path(d, 0, row->path) < 0 || ftr_decode_read_path(d, 1, row->path2) < 0)
		return;
	if (ftr_tracee_resolve(tracee, ftr_decode_dirfd_arg(tracee, row->dirfd),
			       ftr_strbuf_str(&tracee->path[0]), false, true, &tracee->real[0]) < 0)
		return;
	tracee->has_begun = true;
	d->call.rename.flags = tracee->flags;
	d->call.half = FTR_SYSCALL_BEGIN;
	d->call.rename.from = ftr_decode_slice_of(&tracee->real[0]);
	ftr_decode_emit(d);
}

void ftr_decode_rename_end(struct ftr_decoding *d, const struct ftr_decode_row *row, int64_t result)
{
	struct ftr_tracee *tracee = d->tracee;
	int64_t from = ftr_decode_dirfd_arg(tracee, row->dirfd),
		to = ftr_decode_dirfd_arg(tracee, row->dirfd2);

	ftr_decode_set_failure(d, result);
	d->call.rename.flags = tracee->flags;
	d->call.half = tracee->has_begun ? FTR_SYSCALL_END : FTR_SYSCALL_WHOLE;
	if (result >= 0) {
		if (ftr_tracee_resolve(tracee, to, ftr_strbuf_str(&tracee->path[1]), false, false,
				       &tracee->real[1]) < 0)
			ftr_decode_asked(tracee, to, 1, &tracee->real[1]);
		d->call.rename.to = ftr_decode_slice_of(&tracee->real[1]);
		if (!tracee->has_begun)
			ftr_decode_asked(tracee, from, 0, &tracee->real[0]);
	} else {
		d->call.rename.to = ftr_decode_asked(tracee, to, 1, &tracee->real[1]);
		if (!tracee->has_begun)
			d->call.rename.from_asked = ftr_decode_asked(tracee, from, 0,
								     &tracee->real[2]);
	}
	/* What was renamed has a name, also where only root could read it. */
	d->call.rename.from = result >= 0 ? ftr_decode_slice_of(&tracee->real[0]) :
					    ftr_decode_path_slice(&tracee->real[0]);
	ftr_decode_emit(d);
}

void ftr_decode_symlink_begin(struct ftr_decoding *d, const struct ftr_decode_row *row)
{
	ftr_decode_read_path(d, 0, row->path);
	ftr_decode_read_path(d, 1, row->path2);
}

void ftr_decode_symlink_end(struct ftr_decoding *d, const struct ftr_decode_row *row,
			    int64_t result)
{
	struct ftr_tracee *tracee = d->tracee;
	int64_t dirfd = ftr_decode_dirfd_arg(tracee, row->dirfd2);
	const char *link = ftr_strbuf_str(&tracee->path[1]);

	ftr_decode_set_failure(d, result);
	d->call.symlink.target = ftr_decode_slice_of(&tracee->path[0]);
	if (result < 0) {
		d->call.symlink.link = ftr_decode_asked(tracee, dirfd, 1, &tracee->real[2]);
	} else {
		ftr_tracee_resolve(tracee, dirfd, link, true, true, &tracee->real[1]);
		if (ftr_tracee_resolve(tracee, dirfd, link, false, false, &tracee->real[2]) < 0)
			ftr_decode_asked(tracee, dirfd, 1, &tracee->real[2]);
		d->call.symlink.resolved = ftr_decode_path_slice(&tracee->real[1]);
		d->call.symlink.link = ftr_decode_slice_of(&tracee->real[2]);
	}
	ftr_decode_emit(d);
}

void ftr_decode_mount_begin(struct ftr_decoding *d, const struct ftr_decode_row *row)
{
	struct ftr_tracee *tracee = d->tracee;
	bool is_mount = d->call.kind == FTR_SYSCALL_MOUNT;

	ftr_strbuf_clear(&tracee->real[1]);
	ftr_strbuf_clear(&tracee->real[2]);
	tracee->flags = is_mount ? (int64_t)tracee->args[3] :
				   ftr_decode_int_arg(tracee, row->flags);
	if (ftr_decode_read_path(d, 0, row->path) == 0 &&
	    ftr_tracee_resolve(tracee, AT_FDCWD, ftr_strbuf_str(&tracee->path[0]), true, true,
			       &tracee->real[1]) < 0)
		ftr_decode_asked(tracee, AT_FDCWD, 0, &tracee->real[2]);
	for (int i = 0; is_mount && i < 2; i++) { /* source, type */
		if (tracee->args[2 * i] != 0)
			ftr_decode_read_path(d, (unsigned)i, 2 * i);
	}
}

void ftr_decode_mount_end(struct ftr_decoding *d, const struct ftr_decode_row *row, int64_t result)
{
	struct ftr_tracee *tracee = d->tracee;

	ftr_decode_set_failure(d, result);
	d->call.mount.flags = tracee->flags;
	d->call.mount.target = ftr_decode_path_slice(&tracee->real[1]);
	d->call.mount.target_asked = ftr_decode_path_slice(&tracee->real[2]);
	if (d->call.kind == FTR_SYSCALL_MOUNT && tracee->args[0] != 0)
		d->call.mount.source = ftr_decode_slice_of(&tracee->path[0]);
	if (d->call.kind == FTR_SYSCALL_MOUNT && tracee->args[2] != 0)
		d->call.mount.type = ftr_decode_slice_of(&tracee->path[1]);
	ftr_decode_emit(d);
}
