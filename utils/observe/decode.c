/* SPDX-License-Identifier: MIT */
/*
 * The table of observed calls, and of those of files what each reads at its beginning and makes of
 * its result.
 */
#include "utils/observe/decode.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/close_range.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "utils/observe/row.h"

static void open_begin(struct ftr_syscall_decoding *d, const struct ftr_syscall_call *call)
{
	struct ftr_tracee *tracee = d->tracee;

	ftr_tracee_read_string(tracee, tracee->args[call->path], FTR_SYSCALL_STRING_MAX,
			       &tracee->path[0]);
	tracee->flags = ftr_syscall_int_arg(tracee, call->flags);
	tracee->mode = ftr_syscall_int_arg(tracee, call->mode);
}

static void creat_begin(struct ftr_syscall_decoding *d, const struct ftr_syscall_call *call)
{
	open_begin(d, call);
	d->tracee->flags = O_CREAT | O_WRONLY | O_TRUNC;
}

static void openat2_begin(struct ftr_syscall_decoding *d, const struct ftr_syscall_call *call)
{
	uint64_t how[2] = { 0, 0 };	/* flags, mode */

	open_begin(d, call);
	ftr_tracee_read(d->tracee, d->tracee->args[2], how, sizeof(how));
	d->tracee->flags = (int32_t)how[0];
	d->tracee->mode = (int32_t)how[1];
}

static void open_end(struct ftr_syscall_decoding *d, const struct ftr_syscall_call *call,
		     int64_t result)
{
	struct ftr_tracee *tracee = d->tracee;

	d->rec.flags = tracee->flags;
	d->rec.mode = (tracee->flags & (O_CREAT | __O_TMPFILE)) != 0 ? tracee->mode : 0;
	d->rec.fd = result >= 0 ? result : -1;
	ftr_syscall_set_failure(d, result);
	d->rec.text[1] = ftr_syscall_asked(tracee, ftr_syscall_dirfd_arg(tracee, call->dirfd), 0,
					   &tracee->real[1]);
	if (result < 0) {
		ftr_syscall_emit(d);
		return;
	}
	ftr_strbuf_clear(&tracee->real[0]);
	ftr_tracee_fd_path(tracee, result, &tracee->real[0]);
	/* A path of 4096 bytes and more is told by nobody. */
	d->rec.text[0] = tracee->real[0].len > 0 ? ftr_syscall_slice_of(&tracee->real[0]) :
						   d->rec.text[1];
	ftr_syscall_comm_set(tracee->process, result,
			     (tracee->flags & O_ACCMODE) == O_RDONLY ?
				     0 :
				     ftr_syscall_comm_owner(d->rec.text[0].s));
	ftr_syscall_emit(d);
}

static void close_end(struct ftr_syscall_decoding *d, const struct ftr_syscall_call *call,
		      int64_t result)
{
	d->rec.fd = ftr_syscall_int_arg(d->tracee, 0);
	ftr_syscall_set_failure(d, result);
	ftr_syscall_comm_set(d->tracee->process, d->rec.fd, 0);
	ftr_syscall_emit(d);
}

static int compare_ints(const void *a, const void *b)
{
	int left = *(const int *)a, right = *(const int *)b;

	return left < right ? -1 : left > right;
}

/* Keep in real[0] which descriptors are open in the range. */
static void close_range_begin(struct ftr_syscall_decoding *d, const struct ftr_syscall_call *call)
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

static void close_range_end(struct ftr_syscall_decoding *d, const struct ftr_syscall_call *call,
			    int64_t result)
{
	struct ftr_strbuf *fds = &d->tracee->real[0];
	size_t nr = fds->len / sizeof(int);

	if (result < 0 || nr == 0)
		return;
	qsort(fds->s, nr, sizeof(int), compare_ints);
	for (size_t i = 0; i < nr; i++) {
		int fd;

		memcpy(&fd, fds->s + i * sizeof(int), sizeof(int));
		d->rec.fd = fd;
		ftr_syscall_comm_set(d->tracee->process, fd, 0);
		ftr_syscall_emit(d);
	}
}

static void dup_end(struct ftr_syscall_decoding *d, const struct ftr_syscall_call *call,
		    int64_t result)
{
	struct ftr_tracee *tracee = d->tracee;

	d->rec.fd = ftr_syscall_int_arg(tracee, 0);
	d->rec.fd2 = result >= 0                   ? result :
		     tracee->call == FTR_SYSID_DUP ? -1 :
						     ftr_syscall_int_arg(tracee, 1);
	if (tracee->call == FTR_SYSID_FCNTL) {
		d->rec.flags = ftr_syscall_int_arg(tracee, 1) == F_DUPFD_CLOEXEC ? O_CLOEXEC : 0;
		d->rec.fd2 = result >= 0 ? result : -1;
	} else {
		d->rec.flags = ftr_syscall_int_arg(tracee, call->flags);
	}
	ftr_syscall_set_failure(d, result);
	if (result >= 0 && d->rec.fd != result)
		ftr_syscall_comm_set(tracee->process, result,
				     ftr_syscall_comm_tid(tracee->process, d->rec.fd));
	ftr_syscall_emit(d);
}

static void pipe_end(struct ftr_syscall_decoding *d, const struct ftr_syscall_call *call,
		     int64_t result)
{
	int fds[2] = { -1, -1 };

	ftr_syscall_set_failure(d, result);
	if (result >= 0)
		ftr_tracee_read(d->tracee, d->tracee->args[0], fds, sizeof(fds));
	d->rec.fd = fds[0];
	d->rec.fd2 = fds[1];
	d->rec.flags = ftr_syscall_int_arg(d->tracee, call->flags);
	ftr_syscall_emit(d);
}

static void rename_begin(struct ftr_syscall_decoding *d, const struct ftr_syscall_call *call)
{
	struct ftr_tracee *tracee = d->tracee;

	tracee->flags = ftr_syscall_int_arg(tracee, call->flags);
	ftr_strbuf_clear(&tracee->real[0]);
	if (ftr_tracee_read_string(tracee, tracee->args[call->path], FTR_SYSCALL_STRING_MAX,
				   &tracee->path[0]) < 0 ||
	    ftr_tracee_read_string(tracee, tracee->args[call->path2], FTR_SYSCALL_STRING_MAX,
				   &tracee->path[1]) < 0)
		return;
	if (ftr_tracee_resolve(tracee, ftr_syscall_dirfd_arg(tracee, call->dirfd),
			       tracee->path[0].s, false, true, &tracee->real[0]) < 0)
		return;
	tracee->has_begun = true;
	d->rec.flags = tracee->flags;
	d->rec.is_begin = true;
	d->rec.text[0] = ftr_syscall_slice_of(&tracee->real[0]);
	ftr_syscall_emit(d);
}

static void rename_end(struct ftr_syscall_decoding *d, const struct ftr_syscall_call *call,
		       int64_t result)
{
	struct ftr_tracee *tracee = d->tracee;
	int64_t from = ftr_syscall_dirfd_arg(tracee, call->dirfd),
		to = ftr_syscall_dirfd_arg(tracee, call->dirfd2);

	ftr_syscall_set_failure(d, result);
	d->rec.flags = tracee->flags;
	d->rec.is_end = tracee->has_begun;
	if (result >= 0) {
		if (ftr_tracee_resolve(tracee, to, tracee->path[1].s, false, false,
				       &tracee->real[1]) < 0)
			ftr_syscall_asked(tracee, to, 1, &tracee->real[1]);
		d->rec.text[1] = ftr_syscall_slice_of(&tracee->real[1]);
		if (!tracee->has_begun)
			ftr_syscall_asked(tracee, from, 0, &tracee->real[0]);
	} else {
		d->rec.text[1] = ftr_syscall_asked(tracee, to, 1, &tracee->real[1]);
		if (!tracee->has_begun)
			d->rec.text[3] = ftr_syscall_asked(tracee, from, 0, &tracee->real[2]);
	}
	d->rec.text[0] = ftr_syscall_path_slice(&tracee->real[0]);
	ftr_syscall_emit(d);
}

static void symlink_begin(struct ftr_syscall_decoding *d, const struct ftr_syscall_call *call)
{
	struct ftr_tracee *tracee = d->tracee;

	ftr_tracee_read_string(tracee, tracee->args[call->path], FTR_SYSCALL_STRING_MAX,
			       &tracee->path[0]);
	ftr_tracee_read_string(tracee, tracee->args[call->path2], FTR_SYSCALL_STRING_MAX,
			       &tracee->path[1]);
}

static void symlink_end(struct ftr_syscall_decoding *d, const struct ftr_syscall_call *call,
			int64_t result)
{
	struct ftr_tracee *tracee = d->tracee;
	int64_t dirfd = ftr_syscall_dirfd_arg(tracee, call->dirfd2);
	const char *link = ftr_strbuf_str(&tracee->path[1]);

	ftr_syscall_set_failure(d, result);
	d->rec.text[0] = ftr_syscall_slice_of(&tracee->path[0]);
	if (result < 0) {
		d->rec.text[2] = ftr_syscall_asked(tracee, dirfd, 1, &tracee->real[2]);
	} else {
		ftr_tracee_resolve(tracee, dirfd, link, true, true, &tracee->real[1]);
		if (ftr_tracee_resolve(tracee, dirfd, link, false, false, &tracee->real[2]) < 0)
			ftr_syscall_asked(tracee, dirfd, 1, &tracee->real[2]);
		d->rec.text[1] = ftr_syscall_path_slice(&tracee->real[1]);
		d->rec.text[2] = ftr_syscall_slice_of(&tracee->real[2]);
	}
	ftr_syscall_emit(d);
}

static void mount_begin(struct ftr_syscall_decoding *d, const struct ftr_syscall_call *call)
{
	struct ftr_tracee *tracee = d->tracee;
	bool is_mount = call->kind == FTR_ETRACE_MOUNT;

	ftr_strbuf_clear(&tracee->real[1]);
	ftr_strbuf_clear(&tracee->real[2]);
	tracee->flags = is_mount ? (int64_t)tracee->args[3] :
				   ftr_syscall_int_arg(tracee, call->flags);
	if (ftr_tracee_read_string(tracee, tracee->args[call->path], FTR_SYSCALL_STRING_MAX,
				   &tracee->path[0]) == 0 &&
	    ftr_tracee_resolve(tracee, AT_FDCWD, tracee->path[0].s, true, true, &tracee->real[1]) <
		    0)
		ftr_syscall_asked(tracee, AT_FDCWD, 0, &tracee->real[2]);
	if (is_mount && tracee->args[0] != 0)
		ftr_tracee_read_string(tracee, tracee->args[0], FTR_SYSCALL_STRING_MAX,
				       &tracee->path[0]);
	if (is_mount && tracee->args[2] != 0)
		ftr_tracee_read_string(tracee, tracee->args[2], FTR_SYSCALL_STRING_MAX,
				       &tracee->path[1]);
}

static void mount_end(struct ftr_syscall_decoding *d, const struct ftr_syscall_call *call,
		      int64_t result)
{
	struct ftr_tracee *tracee = d->tracee;

	ftr_syscall_set_failure(d, result);
	d->rec.flags = tracee->flags;
	d->rec.text[1] = ftr_syscall_path_slice(&tracee->real[1]);
	d->rec.text[3] = ftr_syscall_path_slice(&tracee->real[2]);
	if (call->kind == FTR_ETRACE_MOUNT && tracee->args[0] != 0)
		d->rec.text[0] = ftr_syscall_slice_of(&tracee->path[0]);
	if (call->kind == FTR_ETRACE_MOUNT && tracee->args[2] != 0)
		d->rec.text[2] = ftr_syscall_slice_of(&tracee->path[1]);
	ftr_syscall_emit(d);
}

static const struct ftr_syscall_call calls[FTR_SYSIDS] = {
	[FTR_SYSID_EXECVE] = { "execve", FTR_ETRACE_EXEC, .dirfd = -1, .path = 0,
			       .begin = ftr_syscall_exec_begin, .end = ftr_syscall_exec_end },
	[FTR_SYSID_EXECVEAT] = { "execveat", FTR_ETRACE_EXEC, .dirfd = 0, .path = 1,
				 .begin = ftr_syscall_exec_begin, .end = ftr_syscall_exec_end },
	[FTR_SYSID_CLONE] = { "clone", FTR_ETRACE_CLONE, .begin = ftr_syscall_clone_begin,
			      .end = ftr_syscall_clone_end },
	[FTR_SYSID_CLONE3] = { "clone3", FTR_ETRACE_CLONE, .begin = ftr_syscall_clone3_begin,
			       .end = ftr_syscall_clone_end },
	[FTR_SYSID_OPEN] = { "open", FTR_ETRACE_OPEN, .dirfd = -1, .path = 0, .flags = 1, .mode = 2,
			     .begin = open_begin, .end = open_end },
	[FTR_SYSID_OPENAT] = { "openat", FTR_ETRACE_OPEN, .dirfd = 0, .path = 1, .flags = 2,
			       .mode = 3, .begin = open_begin, .end = open_end },
	[FTR_SYSID_OPENAT2] = { "openat2", FTR_ETRACE_OPEN, .dirfd = 0, .path = 1, .flags = -1,
				.mode = -1, .begin = openat2_begin, .end = open_end },
	[FTR_SYSID_CREAT] = { "creat", FTR_ETRACE_OPEN, .dirfd = -1, .path = 0, .flags = -1,
			      .mode = 1, .begin = creat_begin, .end = open_end },
	[FTR_SYSID_PIPE] = { "pipe", FTR_ETRACE_PIPE, .flags = -1, .end = pipe_end },
	[FTR_SYSID_PIPE2] = { "pipe2", FTR_ETRACE_PIPE, .flags = 1, .end = pipe_end },
	[FTR_SYSID_RENAME] = { "rename", FTR_ETRACE_RENAME, .dirfd = -1, .path = 0, .dirfd2 = -1,
			       .path2 = 1, .flags = -1, .begin = rename_begin, .end = rename_end },
	[FTR_SYSID_RENAMEAT] = { "renameat", FTR_ETRACE_RENAME, .dirfd = 0, .path = 1, .dirfd2 = 2,
				 .path2 = 3, .flags = -1, .begin = rename_begin,
				 .end = rename_end },
	[FTR_SYSID_RENAMEAT2] = { "renameat2", FTR_ETRACE_RENAME2, .dirfd = 0, .path = 1,
				  .dirfd2 = 2, .path2 = 3, .flags = 4, .begin = rename_begin,
				  .end = rename_end },
	[FTR_SYSID_LINK] = { "link", FTR_ETRACE_LINK, .dirfd = -1, .path = 0, .dirfd2 = -1,
			     .path2 = 1, .flags = -1, .begin = rename_begin, .end = rename_end },
	[FTR_SYSID_LINKAT] = { "linkat", FTR_ETRACE_LINKAT, .dirfd = 0, .path = 1, .dirfd2 = 2,
			       .path2 = 3, .flags = 4, .begin = rename_begin, .end = rename_end },
	[FTR_SYSID_SYMLINK] = { "symlink", FTR_ETRACE_SYMLINK, .path = 0, .dirfd2 = -1, .path2 = 1,
				.begin = symlink_begin, .end = symlink_end },
	[FTR_SYSID_SYMLINKAT] = { "symlinkat", FTR_ETRACE_SYMLINK, .path = 0, .dirfd2 = 1,
				  .path2 = 2, .begin = symlink_begin, .end = symlink_end },
	[FTR_SYSID_CLOSE] = { "close", FTR_ETRACE_CLOSE, .end = close_end },
	[FTR_SYSID_CLOSE_RANGE] = { "close_range", FTR_ETRACE_CLOSE, .begin = close_range_begin,
				    .end = close_range_end },
	[FTR_SYSID_DUP] = { "dup", FTR_ETRACE_DUP, .flags = -1, .end = dup_end },
	[FTR_SYSID_DUP2] = { "dup2", FTR_ETRACE_DUP, .flags = -1, .end = dup_end },
	[FTR_SYSID_DUP3] = { "dup3", FTR_ETRACE_DUP, .flags = 2, .end = dup_end },
	[FTR_SYSID_FCNTL] = { "fcntl", FTR_ETRACE_DUP, .flags = -1, .end = dup_end },
	[FTR_SYSID_MOUNT] = { "mount", FTR_ETRACE_MOUNT, .path = 1, .begin = mount_begin,
			      .end = mount_end },
	[FTR_SYSID_UMOUNT] = { "umount", FTR_ETRACE_UMOUNT, .path = 0, .flags = -1,
			       .begin = mount_begin, .end = mount_end },
	[FTR_SYSID_UMOUNT2] = { "umount2", FTR_ETRACE_UMOUNT, .path = 0, .flags = 1,
				.begin = mount_begin, .end = mount_end },
	[FTR_SYSID_PRCTL] = { "prctl", FTR_ETRACE_COMM, .begin = ftr_syscall_prctl_begin,
			      .end = ftr_syscall_prctl_end },
	[FTR_SYSID_WRITE] = { "write", FTR_ETRACE_COMM, .end = ftr_syscall_write_end },
};

void ftr_syscall_begin(struct ftr_syscall_decoding *d)
{
	const struct ftr_syscall_call *call = &calls[d->tracee->call];

	d->tracee->has_begun = false;
	d->rec.kind = call->kind;
	d->rec.call = call->name;
	if (call->begin != NULL)
		call->begin(d, call);
}

bool ftr_syscall_foresee(struct ftr_syscall_decoding *d)
{
	struct ftr_tracee *tracee = d->tracee;
	bool is_exec = tracee->call == FTR_SYSID_EXECVE || tracee->call == FTR_SYSID_EXECVEAT;
	bool is_close = tracee->call == FTR_SYSID_CLOSE && tracee->process->users == 1 &&
			!tracee->process->shares_fds;

	if (is_close && ftr_tracee_has_fd(tracee, ftr_syscall_int_arg(tracee, 0)))
		close_end(d, &calls[FTR_SYSID_CLOSE], 0);
	if (is_exec || is_close)
		tracee->call = FTR_SYSID_NONE;
	return is_exec || is_close;
}

void ftr_syscall_end(struct ftr_syscall_decoding *d, int64_t result)
{
	const struct ftr_syscall_call *call = &calls[d->tracee->call];

	d->rec.kind = call->kind;
	d->rec.call = call->name;
	if (call->end != NULL &&
	    (result >= 0 || d->has_details || ftr_etrace_has_failure(call->kind)))
		call->end(d, call, result);
	d->tracee->call = FTR_SYSID_NONE;
}

void ftr_syscall_scratch_fini(struct ftr_syscall_scratch *scratch)
{
	ftr_strbuf_fini(&scratch->cmdline);
	ftr_strbuf_fini(&scratch->text);
	ftr_vec_fini(&scratch->argv);
}
