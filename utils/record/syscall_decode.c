/* SPDX-License-Identifier: MIT */
/* The observed calls: what each reads at its beginning, and what its result makes of it. */
#include "utils/record/syscall_decode.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/close_range.h>
#include <linux/sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "utils/record/syscall_exec.h"

#define COMM_MAX 15u
#define STRING_MAX 4096u

struct call {
	const char *name;
	uint8_t kind;		/* enum ftr_etrace_kind */
	/* Which argument is the directory (-1: the current one), the path, the flags ... */
	int8_t  dirfd, path, dirfd2, path2, flags, mode;
	void (*begin)(struct ftr_syscall_decoding *d, const struct call *call);
	void (*end)(struct ftr_syscall_decoding *d, const struct call *call, int64_t result);
};

static int32_t int_arg(const struct ftr_tracee *tracee, int index)
{
	return index >= 0 ? (int32_t)tracee->args[index] : 0;
}

static int64_t dirfd_arg(const struct ftr_tracee *tracee, int index)
{
	return index >= 0 ? int_arg(tracee, index) : AT_FDCWD;
}

static struct ftr_slice slice_of(const struct ftr_strbuf *text)
{
	return ftr_slice_make(ftr_strbuf_str(text), text->len);
}

/* NULL where the text could not be found out: all paths have at least one character. */
static struct ftr_slice path_slice(const struct ftr_strbuf *text)
{
	return text->len > 0 ? slice_of(text) : (struct ftr_slice){ NULL, 0 };
}

static void emit(struct ftr_syscall_decoding *d)
{
	d->emit(d->arg, &d->rec);
}

static void set_failure(struct ftr_syscall_decoding *d, int64_t result)
{
	d->rec.is_failed = result < 0;
	d->rec.error = result < 0 ? (int32_t)-result : 0;
}

/* ---- names of threads ---- */

bool ftr_syscall_is_comm_fd(const struct ftr_tracee_process *process, int64_t fd)
{
	for (unsigned i = 0; i < process->comm_nr; i++) {
		if (process->comm[i].fd == fd)
			return true;
	}
	return false;
}

static pid_t comm_tid(const struct ftr_tracee_process *process, int64_t fd)
{
	for (unsigned i = 0; i < process->comm_nr; i++) {
		if (process->comm[i].fd == fd)
			return process->comm[i].tid;
	}
	return 0;
}

/* @fd is now open on the comm file of @tid, or (0) on something else, or not at all. */
static void comm_set(struct ftr_tracee_process *process, int64_t fd, pid_t tid)
{
	for (unsigned i = 0; i < process->comm_nr; i++) {
		if (process->comm[i].fd == fd)
			process->comm[i--] = process->comm[--process->comm_nr];
	}
	if (tid != 0 && process->comm_nr < FTR_TRACEE_COMM_MAX)
		process->comm[process->comm_nr++] = (struct ftr_tracee_comm){ (int)fd, tid };
}

/* "/proc/PID/comm", "/proc/PID/task/TID/comm": whose name is that?  0 = no such file. */
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

static void emit_comm(struct ftr_syscall_decoding *d, struct ftr_slice name)
{
	d->rec.kind = FTR_ETRACE_COMM;
	d->rec.text[0] = ftr_slice_make(name.s, name.len < COMM_MAX ? name.len : COMM_MAX);
	emit(d);
}

static void prctl_begin(struct ftr_syscall_decoding *d, const struct call *call)
{
	ftr_tracee_read_string(d->tracee, d->tracee->args[1], COMM_MAX, &d->tracee->path[0]);
}

static void prctl_end(struct ftr_syscall_decoding *d, const struct call *call, int64_t result)
{
	set_failure(d, result);
	emit_comm(d, slice_of(&d->tracee->path[0]));
}

static void write_end(struct ftr_syscall_decoding *d, const struct call *call, int64_t result)
{
	pid_t tid = comm_tid(d->tracee->process, int_arg(d->tracee, 0));
	struct ftr_tracee target = { .tid = tid };
	struct ftr_strbuf *text = &d->scratch->text;

	if (result <= 0 || tid == 0)
		return;
	d->rec.upid = d->upid_find(d->arg, tid);
	if (d->rec.upid == 0 || ftr_tracee_read_file(&target, "comm", 64, text) < 0)
		return;
	if (text->len > 0 && text->s[text->len - 1] == '\n')
		text->len--;
	emit_comm(d, slice_of(text));
}

/* ---- files ---- */

static void open_begin(struct ftr_syscall_decoding *d, const struct call *call)
{
	struct ftr_tracee *tracee = d->tracee;

	ftr_tracee_read_string(tracee, tracee->args[call->path], STRING_MAX, &tracee->path[0]);
	tracee->flags = int_arg(tracee, call->flags);
	tracee->mode = int_arg(tracee, call->mode);
}

static void creat_begin(struct ftr_syscall_decoding *d, const struct call *call)
{
	open_begin(d, call);
	d->tracee->flags = O_CREAT | O_WRONLY | O_TRUNC;
}

static void openat2_begin(struct ftr_syscall_decoding *d, const struct call *call)
{
	uint64_t how[2] = { 0, 0 };	/* flags, mode */

	open_begin(d, call);
	ftr_tracee_read(d->tracee, d->tracee->args[2], how, sizeof(how));
	d->tracee->flags = (int32_t)how[0];
	d->tracee->mode = (int32_t)how[1];
}

static void open_end(struct ftr_syscall_decoding *d, const struct call *call, int64_t result)
{
	struct ftr_tracee *tracee = d->tracee;

	d->rec.flags = tracee->flags;
	d->rec.mode = (tracee->flags & (O_CREAT | __O_TMPFILE)) != 0 ? tracee->mode : 0;
	d->rec.fd = result >= 0 ? result : -1;
	set_failure(d, result);
	if (result < 0) {
		d->rec.text[1] = slice_of(&tracee->path[0]);
		emit(d);
		return;
	}
	ftr_strbuf_clear(&tracee->real[0]);
	ftr_tracee_fd_path(tracee, result, &tracee->real[0]);
	ftr_tracee_join(tracee, dirfd_arg(tracee, call->dirfd), ftr_strbuf_str(&tracee->path[0]),
			&tracee->real[1]);
	d->rec.text[0] = slice_of(&tracee->real[0]);
	d->rec.text[1] = slice_of(&tracee->real[1]);
	comm_set(tracee->process, result,
		 (tracee->flags & O_ACCMODE) == O_RDONLY ? 0 : comm_owner(d->rec.text[0].s));
	emit(d);
}

static void close_end(struct ftr_syscall_decoding *d, const struct call *call, int64_t result)
{
	d->rec.fd = int_arg(d->tracee, 0);
	set_failure(d, result);
	comm_set(d->tracee->process, d->rec.fd, 0);
	emit(d);
}

static int compare_ints(const void *a, const void *b)
{
	int left = *(const int *)a, right = *(const int *)b;

	return left < right ? -1 : left > right;
}

/* Keep in real[0] which descriptors are open in the range. */
static void close_range_begin(struct ftr_syscall_decoding *d, const struct call *call)
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

static void close_range_end(struct ftr_syscall_decoding *d, const struct call *call, int64_t result)
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
		comm_set(d->tracee->process, fd, 0);
		emit(d);
	}
}

static void dup_end(struct ftr_syscall_decoding *d, const struct call *call, int64_t result)
{
	struct ftr_tracee *tracee = d->tracee;

	d->rec.fd = int_arg(tracee, 0);
	d->rec.fd2 = result >= 0 ? result : tracee->call == FTR_SYSID_DUP ? -1 : int_arg(tracee, 1);
	if (tracee->call == FTR_SYSID_FCNTL) {
		d->rec.flags = int_arg(tracee, 1) == F_DUPFD_CLOEXEC ? O_CLOEXEC : 0;
		d->rec.fd2 = result >= 0 ? result : -1;
	} else {
		d->rec.flags = int_arg(tracee, call->flags);
	}
	set_failure(d, result);
	if (result >= 0 && d->rec.fd != result)
		comm_set(tracee->process, result, comm_tid(tracee->process, d->rec.fd));
	emit(d);
}

static void pipe_end(struct ftr_syscall_decoding *d, const struct call *call, int64_t result)
{
	int fds[2] = { -1, -1 };

	set_failure(d, result);
	if (result >= 0)
		ftr_tracee_read(d->tracee, d->tracee->args[0], fds, sizeof(fds));
	d->rec.fd = fds[0];
	d->rec.fd2 = fds[1];
	d->rec.flags = int_arg(d->tracee, call->flags);
	emit(d);
}

static void rename_begin(struct ftr_syscall_decoding *d, const struct call *call)
{
	struct ftr_tracee *tracee = d->tracee;

	tracee->flags = int_arg(tracee, call->flags);
	ftr_strbuf_clear(&tracee->real[0]);
	if (ftr_tracee_read_string(tracee, tracee->args[call->path], STRING_MAX, &tracee->path[0]) < 0 ||
	    ftr_tracee_read_string(tracee, tracee->args[call->path2], STRING_MAX, &tracee->path[1]) < 0)
		return;
	if (ftr_tracee_resolve(tracee, dirfd_arg(tracee, call->dirfd), tracee->path[0].s, false, true,
			       &tracee->real[0]) < 0)
		return;
	tracee->has_begun = true;
	d->rec.flags = tracee->flags;
	d->rec.is_begin = true;
	d->rec.text[0] = slice_of(&tracee->real[0]);
	emit(d);
}

static void rename_end(struct ftr_syscall_decoding *d, const struct call *call, int64_t result)
{
	struct ftr_tracee *tracee = d->tracee;

	set_failure(d, result);
	d->rec.flags = tracee->flags;
	d->rec.is_end = tracee->has_begun;
	if (result >= 0) {
		ftr_tracee_resolve(tracee, dirfd_arg(tracee, call->dirfd2), tracee->path[1].s, false,
				   false, &tracee->real[1]);
		d->rec.text[1] = slice_of(&tracee->real[1]);
		if (!tracee->has_begun)
			ftr_tracee_join(tracee, dirfd_arg(tracee, call->dirfd),
					ftr_strbuf_str(&tracee->path[0]), &tracee->real[0]);
	}
	d->rec.text[0] = path_slice(&tracee->real[0]);
	emit(d);
}

static void symlink_begin(struct ftr_syscall_decoding *d, const struct call *call)
{
	struct ftr_tracee *tracee = d->tracee;

	ftr_tracee_read_string(tracee, tracee->args[call->path], STRING_MAX, &tracee->path[0]);
	ftr_tracee_read_string(tracee, tracee->args[call->path2], STRING_MAX, &tracee->path[1]);
}

static void symlink_end(struct ftr_syscall_decoding *d, const struct call *call, int64_t result)
{
	struct ftr_tracee *tracee = d->tracee;
	int64_t dirfd = dirfd_arg(tracee, call->dirfd2);
	const char *link = ftr_strbuf_str(&tracee->path[1]);

	set_failure(d, result);
	d->rec.text[0] = slice_of(&tracee->path[0]);
	d->rec.text[2] = slice_of(&tracee->path[1]);
	if (result >= 0) {
		ftr_tracee_resolve(tracee, dirfd, link, true, true, &tracee->real[1]);
		ftr_tracee_resolve(tracee, dirfd, link, false, false, &tracee->real[2]);
		d->rec.text[1] = path_slice(&tracee->real[1]);
		d->rec.text[2] = slice_of(&tracee->real[2]);
	}
	emit(d);
}

/* ---- mounts ---- */

static void mount_begin(struct ftr_syscall_decoding *d, const struct call *call)
{
	struct ftr_tracee *tracee = d->tracee;

	ftr_strbuf_clear(&tracee->real[1]);
	tracee->flags = call->kind == FTR_ETRACE_MOUNT ? (int64_t)tracee->args[3] :
							 int_arg(tracee, call->flags);
	if (ftr_tracee_read_string(tracee, tracee->args[call->path], STRING_MAX, &tracee->path[0]) == 0)
		ftr_tracee_resolve(tracee, AT_FDCWD, tracee->path[0].s, true, true, &tracee->real[1]);
	if (call->kind != FTR_ETRACE_MOUNT)
		return;
	if (tracee->args[0] != 0)
		ftr_tracee_read_string(tracee, tracee->args[0], STRING_MAX, &tracee->path[0]);
	if (tracee->args[2] != 0)
		ftr_tracee_read_string(tracee, tracee->args[2], STRING_MAX, &tracee->path[1]);
}

static void mount_end(struct ftr_syscall_decoding *d, const struct call *call, int64_t result)
{
	struct ftr_tracee *tracee = d->tracee;

	set_failure(d, result);
	d->rec.flags = tracee->flags;
	d->rec.text[1] = path_slice(&tracee->real[1]);
	if (call->kind == FTR_ETRACE_MOUNT && tracee->args[0] != 0)
		d->rec.text[0] = slice_of(&tracee->path[0]);
	if (call->kind == FTR_ETRACE_MOUNT && tracee->args[2] != 0)
		d->rec.text[2] = slice_of(&tracee->path[1]);
	emit(d);
}

/* ---- processes ---- */

static void exec_begin(struct ftr_syscall_decoding *d, const struct call *call)
{
	struct ftr_tracee *tracee = d->tracee;

	ftr_strbuf_clear(&tracee->real[0]);
	if (ftr_tracee_read_string(tracee, tracee->args[call->path], STRING_MAX, &tracee->path[0]) < 0)
		return;
	/* Now: the directory's descriptor may be gone in the new image. */
	ftr_tracee_resolve(tracee, dirfd_arg(tracee, call->dirfd), tracee->path[0].s, false, true,
			   &tracee->real[0]);
}

static void exec_end(struct ftr_syscall_decoding *d, const struct call *call, int64_t result)
{
	if (result >= 0)
		return;
	set_failure(d, result);
	d->rec.text[1] = slice_of(&d->tracee->path[0]);
	emit(d);
}

static void clone_begin(struct ftr_syscall_decoding *d, const struct call *call)
{
	struct ftr_tracee *tracee = d->tracee;

	tracee->flags = ftr_abis[tracee->abi].word_bytes == 4 ? (int32_t)tracee->args[0] :
								(int64_t)tracee->args[0];
}

/* struct clone_args: flags first, exit_signal fifth. */
static void clone3_begin(struct ftr_syscall_decoding *d, const struct call *call)
{
	uint64_t args[5] = { 0 };

	ftr_tracee_read(d->tracee, d->tracee->args[0], args, sizeof(args));
	d->tracee->flags = (int64_t)(args[0] | (args[4] & 0xff));
}

static void clone_end(struct ftr_syscall_decoding *d, const struct call *call, int64_t result)
{
	if (result >= 0)
		return;
	set_failure(d, result);
	d->rec.flags = d->tracee->flags;
	emit(d);
}

void ftr_syscall_fork(struct ftr_syscall_decoding *d, uint64_t peer)
{
	struct ftr_tracee *tracee = d->tracee;
	bool is_clone = tracee->call == FTR_SYSID_CLONE || tracee->call == FTR_SYSID_CLONE3;

	d->rec.kind = is_clone ? FTR_ETRACE_CLONE : FTR_ETRACE_FORK;
	d->rec.flags = is_clone ? tracee->flags : 0;
	if (is_clone)
		d->rec.call = tracee->call == FTR_SYSID_CLONE3 ? "clone3" : "clone";
	d->rec.peer = peer;
	emit(d);
}

/* NULL-terminated strings, one after the other. */
static void split_arguments(struct ftr_syscall_scratch *scratch)
{
	const char *s = scratch->cmdline.s, *end = s + scratch->cmdline.len;

	scratch->argv.nr = 0;
	while (s != NULL && s < end) {
		size_t len = strnlen(s, (size_t)(end - s));

		if (ftr_vec_push(&scratch->argv, ftr_slice_make(s, len)) < 0)
			return;
		s += len + 1;
	}
}

void ftr_syscall_exec(struct ftr_syscall_decoding *d)
{
	struct ftr_syscall_scratch *scratch = d->scratch;
	struct ftr_tracee *tracee = d->tracee;

	tracee->process->comm_nr = 0;
	ftr_syscall_interpreter(tracee, &tracee->real[0], &tracee->real[1]);
	ftr_strbuf_clear(&tracee->real[2]);
	ftr_tracee_link(tracee, "cwd", &tracee->real[2]);
	ftr_tracee_read_file(tracee, "cmdline", FTR_SYSCALL_CMDLINE_MAX, &scratch->cmdline);
	split_arguments(scratch);
	d->rec.kind = FTR_ETRACE_EXEC;
	d->rec.call = tracee->call == FTR_SYSID_EXECVEAT ? "execveat" : "execve";
	d->rec.text[0] = slice_of(&tracee->real[1]);
	d->rec.text[1] = slice_of(&tracee->real[0]);
	d->rec.text[2] = slice_of(&tracee->real[2]);
	d->rec.argv = scratch->argv.v;
	d->rec.argc = scratch->argv.nr;
	emit(d);

	d->rec = (struct ftr_etrace_record){ .upid = d->rec.upid, .cpu = d->rec.cpu,
					     .start_ns = d->rec.time_ns, .time_ns = d->rec.time_ns,
					     .call = d->rec.call };
	if (ftr_tracee_read_file(tracee, "comm", 64, &scratch->text) == 0 && scratch->text.len > 0) {
		scratch->text.len--;
		emit_comm(d, slice_of(&scratch->text));
	}
}

static const struct call calls[FTR_SYSIDS] = {
	[FTR_SYSID_EXECVE]	= { "execve", FTR_ETRACE_EXEC, .dirfd = -1, .path = 0,
				    .begin = exec_begin, .end = exec_end },
	[FTR_SYSID_EXECVEAT]	= { "execveat", FTR_ETRACE_EXEC, .dirfd = 0, .path = 1,
				    .begin = exec_begin, .end = exec_end },
	[FTR_SYSID_CLONE]	= { "clone", FTR_ETRACE_CLONE, .begin = clone_begin, .end = clone_end },
	[FTR_SYSID_CLONE3]	= { "clone3", FTR_ETRACE_CLONE, .begin = clone3_begin, .end = clone_end },
	[FTR_SYSID_OPEN]	= { "open", FTR_ETRACE_OPEN, .dirfd = -1, .path = 0, .flags = 1, .mode = 2,
				    .begin = open_begin, .end = open_end },
	[FTR_SYSID_OPENAT]	= { "openat", FTR_ETRACE_OPEN, .dirfd = 0, .path = 1, .flags = 2, .mode = 3,
				    .begin = open_begin, .end = open_end },
	[FTR_SYSID_OPENAT2]	= { "openat2", FTR_ETRACE_OPEN, .dirfd = 0, .path = 1, .flags = -1,
				    .mode = -1, .begin = openat2_begin, .end = open_end },
	[FTR_SYSID_CREAT]	= { "creat", FTR_ETRACE_OPEN, .dirfd = -1, .path = 0, .flags = -1, .mode = 1,
				    .begin = creat_begin, .end = open_end },
	[FTR_SYSID_PIPE]	= { "pipe", FTR_ETRACE_PIPE, .flags = -1, .end = pipe_end },
	[FTR_SYSID_PIPE2]	= { "pipe2", FTR_ETRACE_PIPE, .flags = 1, .end = pipe_end },
	[FTR_SYSID_RENAME]	= { "rename", FTR_ETRACE_RENAME, .dirfd = -1, .path = 0, .dirfd2 = -1,
				    .path2 = 1, .flags = -1, .begin = rename_begin, .end = rename_end },
	[FTR_SYSID_RENAMEAT]	= { "renameat", FTR_ETRACE_RENAME, .dirfd = 0, .path = 1, .dirfd2 = 2,
				    .path2 = 3, .flags = -1, .begin = rename_begin, .end = rename_end },
	[FTR_SYSID_RENAMEAT2]	= { "renameat2", FTR_ETRACE_RENAME2, .dirfd = 0, .path = 1, .dirfd2 = 2,
				    .path2 = 3, .flags = 4, .begin = rename_begin, .end = rename_end },
	[FTR_SYSID_LINK]	= { "link", FTR_ETRACE_LINK, .dirfd = -1, .path = 0, .dirfd2 = -1,
				    .path2 = 1, .flags = -1, .begin = rename_begin, .end = rename_end },
	[FTR_SYSID_LINKAT]	= { "linkat", FTR_ETRACE_LINKAT, .dirfd = 0, .path = 1, .dirfd2 = 2,
				    .path2 = 3, .flags = 4, .begin = rename_begin, .end = rename_end },
	[FTR_SYSID_SYMLINK]	= { "symlink", FTR_ETRACE_SYMLINK, .path = 0, .dirfd2 = -1, .path2 = 1,
				    .begin = symlink_begin, .end = symlink_end },
	[FTR_SYSID_SYMLINKAT]	= { "symlinkat", FTR_ETRACE_SYMLINK, .path = 0, .dirfd2 = 1, .path2 = 2,
				    .begin = symlink_begin, .end = symlink_end },
	[FTR_SYSID_CLOSE]	= { "close", FTR_ETRACE_CLOSE, .end = close_end },
	[FTR_SYSID_CLOSE_RANGE]	= { "close_range", FTR_ETRACE_CLOSE, .begin = close_range_begin,
				    .end = close_range_end },
	[FTR_SYSID_DUP]		= { "dup", FTR_ETRACE_DUP, .flags = -1, .end = dup_end },
	[FTR_SYSID_DUP2]	= { "dup2", FTR_ETRACE_DUP, .flags = -1, .end = dup_end },
	[FTR_SYSID_DUP3]	= { "dup3", FTR_ETRACE_DUP, .flags = 2, .end = dup_end },
	[FTR_SYSID_FCNTL]	= { "fcntl", FTR_ETRACE_DUP, .flags = -1, .end = dup_end },
	[FTR_SYSID_MOUNT]	= { "mount", FTR_ETRACE_MOUNT, .path = 1, .begin = mount_begin,
				    .end = mount_end },
	[FTR_SYSID_UMOUNT]	= { "umount", FTR_ETRACE_UMOUNT, .path = 0, .flags = -1,
				    .begin = mount_begin, .end = mount_end },
	[FTR_SYSID_UMOUNT2]	= { "umount2", FTR_ETRACE_UMOUNT, .path = 0, .flags = 1,
				    .begin = mount_begin, .end = mount_end },
	[FTR_SYSID_PRCTL]	= { "prctl", FTR_ETRACE_COMM, .begin = prctl_begin, .end = prctl_end },
	[FTR_SYSID_WRITE]	= { "write", FTR_ETRACE_COMM, .end = write_end },
};

void ftr_syscall_begin(struct ftr_syscall_decoding *d)
{
	const struct call *call = &calls[d->tracee->call];

	d->tracee->has_begun = false;
	d->rec.kind = call->kind;
	d->rec.call = call->name;
	if (call->begin != NULL)
		call->begin(d, call);
}

void ftr_syscall_end(struct ftr_syscall_decoding *d, int64_t result)
{
	const struct call *call = &calls[d->tracee->call];

	d->rec.kind = call->kind;
	d->rec.call = call->name;
	if (call->end != NULL)
		call->end(d, call, result);
	d->tracee->call = FTR_SYSID_NONE;
}

void ftr_syscall_exit(struct ftr_syscall_decoding *d, unsigned wait_status)
{
	/* A rename that is never to be finished: what was begun has an end. */
	if (d->tracee->has_begun && d->tracee->call != FTR_SYSID_NONE)
		ftr_syscall_end(d, -EINTR);
	d->rec = (struct ftr_etrace_record){ .upid = d->rec.upid, .cpu = d->rec.cpu,
					     .start_ns = d->rec.time_ns, .time_ns = d->rec.time_ns,
					     .kind = FTR_ETRACE_EXIT };
	d->rec.status = wait_status >> 8 & 255;
	d->rec.signal = (int32_t)(wait_status & 127);
	emit(d);
}

void ftr_syscall_scratch_fini(struct ftr_syscall_scratch *scratch)
{
	ftr_strbuf_fini(&scratch->cmdline);
	ftr_strbuf_fini(&scratch->text);
	ftr_vec_fini(&scratch->argv);
}
