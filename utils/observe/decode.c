/* SPDX-License-Identifier: MIT */
/*
 * From stopped tasks to system calls: a row for each tells what is read at its beginning, and
 * what its result makes of it.
 */
#include "utils/observe/decode.h"

#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/close_range.h>
#include <linux/sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "utils/observe/task.h"

#define STRING_MAX 4096u
#define COMM_MAX 15u

/* One row a call. */
struct row {
	/* Which argument is the directory (-1: the current one), the path, the flags ... */
	int8_t dirfd, path, dirfd2, path2, flags, mode;
	void (*begin)(struct ftr_decoding *d, const struct row *row);
	void (*end)(struct ftr_decoding *d, const struct row *row, int64_t result);
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

static void emit(struct ftr_decoding *d)
{
	const struct ftr_observer_sink *sink = &d->observer->sink;

	d->call.cpu = ftr_tracee_cpu(d->tracee);
	sink->call(sink->arg, &d->call);
	d->observer->has_news = true;
}

/* Another call of the same task, at the time at which the one before ended. */
static void next_call(struct ftr_decoding *d, enum ftr_syscall_kind kind, enum ftr_sysid id)
{
	d->call = (struct ftr_syscall){ .upid = d->call.upid,
					.start_ns = d->call.end_ns,
					.end_ns = d->call.end_ns,
					.kind = (uint8_t)kind,
					.id = (uint8_t)id };
}

static void set_failure(struct ftr_decoding *d, int64_t result)
{
	d->call.is_failed = result < 0;
	d->call.error = result < 0 ? (int32_t)-result : 0;
}

/* The kernel lets none but root read the memory and the descriptors of such a process. */
static void report_hidden(struct ftr_decoding *d)
{
	struct ftr_tracee_process *process = d->tracee->process;

	if (process->is_hidden)
		return;
	process->is_hidden = true;
	ftr_diag_warn(d->observer->sink.diag, "process %d is not dumpable, and paths of its calls "
		      "are missing; run ftr as root to read them", (int)process->pid);
}

/* Argument @arg into path[@which]. */
static int read_path(struct ftr_decoding *d, unsigned which, int arg)
{
	struct ftr_tracee *tracee = d->tracee;
	int ret;

	assert(arg >= 0);
	ret = ftr_tracee_read_string(tracee, tracee->args[arg], STRING_MAX, &tracee->path[which]);
	if (ret == -EACCES)
		report_hidden(d);
	return ret;
}

/* path[@which], absolute, as the program asked for it. */
static struct ftr_slice asked(const struct ftr_tracee *tracee, int64_t dirfd, unsigned which,
			      struct ftr_strbuf *text)
{
	ftr_tracee_join(tracee, dirfd, ftr_strbuf_str(&tracee->path[which]), text);
	return slice_of(text);
}

/* ---- names of threads ---- */

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

static void emit_comm(struct ftr_decoding *d, struct ftr_slice name)
{
	d->call.comm.name = ftr_slice_make(name.s, name.len < COMM_MAX ? name.len : COMM_MAX);
	emit(d);
}

static void prctl_begin(struct ftr_decoding *d, const struct row *row)
{
	if ((int)d->tracee->args[0] == PR_SET_NAME)
		ftr_tracee_read_string(d->tracee, d->tracee->args[1], COMM_MAX,
				       &d->tracee->path[0]);
	else
		ftr_tracee_memory_keep(d->tracee);
}

static void prctl_end(struct ftr_decoding *d, const struct row *row,
			   int64_t result)
{
	if ((int)d->tracee->args[0] != PR_SET_NAME)
		return;
	set_failure(d, result);
	emit_comm(d, slice_of(&d->tracee->path[0]));
}

static void write_end(struct ftr_decoding *d, const struct row *row,
			   int64_t result)
{
	pid_t tid = ftr_tracee_comm_tid(d->tracee->process, int_arg(d->tracee, 0));
	struct ftr_tracee target = { .tid = tid };
	struct ftr_strbuf *text = &d->observer->scratch.text;
	const struct ftr_tracee *other;

	if (result <= 0 || tid == 0)
		return;
	other = ftr_observer_task_find(d->observer, tid);
	if (other == NULL || ftr_tracee_read_file(&target, "comm", 64, text) < 0)
		return;
	d->call.upid = other->upid;
	if (text->len > 0 && text->s[text->len - 1] == '\n')
		text->len--;
	emit_comm(d, slice_of(text));
}

/* ---- files ---- */

static void open_begin(struct ftr_decoding *d, const struct row *row)
{
	struct ftr_tracee *tracee = d->tracee;

	read_path(d, 0, row->path);
	tracee->flags = int_arg(tracee, row->flags);
	tracee->mode = int_arg(tracee, row->mode);
}

static void creat_begin(struct ftr_decoding *d, const struct row *row)
{
	open_begin(d, row);
	d->tracee->flags = O_CREAT | O_WRONLY | O_TRUNC;
}

static void openat2_begin(struct ftr_decoding *d, const struct row *row)
{
	uint64_t how[2] = { 0, 0 };	/* flags, mode */

	open_begin(d, row);
	ftr_tracee_read(d->tracee, d->tracee->args[2], how, sizeof(how));
	d->tracee->flags = (int32_t)how[0];
	d->tracee->mode = (int32_t)how[1];
}

static void open_end(struct ftr_decoding *d, const struct row *row,
		     int64_t result)
{
	struct ftr_tracee *tracee = d->tracee;

	d->call.open.flags = tracee->flags;
	d->call.open.mode = (tracee->flags & (O_CREAT | __O_TMPFILE)) != 0 ? tracee->mode : 0;
	d->call.open.fd = result >= 0 ? result : -1;
	set_failure(d, result);
	d->call.open.asked = asked(tracee, dirfd_arg(tracee, row->dirfd), 0,
					   &tracee->real[1]);
	if (result < 0) {
		emit(d);
		return;
	}
	ftr_strbuf_clear(&tracee->real[0]);
	ftr_tracee_fd_path(tracee, result, &tracee->real[0]);
	/* The kernel does not give out a path of 4096 bytes and more. */
	d->call.open.path = tracee->real[0].len > 0 ? slice_of(&tracee->real[0]) :
						   d->call.open.asked;
	ftr_tracee_comm_set(tracee->process, result,
			     (tracee->flags & O_ACCMODE) == O_RDONLY ?
				     0 :
				     comm_owner(d->call.open.path.s));
	emit(d);
}

static void close_end(struct ftr_decoding *d, const struct row *row,
		      int64_t result)
{
	d->call.close.fd = int_arg(d->tracee, 0);
	set_failure(d, result);
	ftr_tracee_comm_set(d->tracee->process, d->call.close.fd, 0);
	emit(d);
}

static int compare_ints(const void *a, const void *b)
{
	int left = *(const int *)a, right = *(const int *)b;

	return left < right ? -1 : left > right;
}

/* Keep in real[0] which descriptors are open in the range. */
static void close_range_begin(struct ftr_decoding *d, const struct row *row)
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

static void close_range_end(struct ftr_decoding *d, const struct row *row,
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
		d->call.close.fd = fd;
		ftr_tracee_comm_set(d->tracee->process, fd, 0);
		emit(d);
	}
}

/* A failed call has no new descriptor, but for dup2 and dup3, which name theirs. */
static void dup_end(struct ftr_decoding *d, const struct row *row, int64_t result)
{
	struct ftr_tracee *tracee = d->tracee;
	bool names_new = tracee->call == FTR_SYSID_DUP2 || tracee->call == FTR_SYSID_DUP3;

	d->call.dup.old_fd = int_arg(tracee, 0);
	d->call.dup.new_fd = result >= 0 ? result : names_new ? int_arg(tracee, 1) : -1;
	if (tracee->call == FTR_SYSID_FCNTL)
		d->call.dup.flags = int_arg(tracee, 1) == F_DUPFD_CLOEXEC ? O_CLOEXEC : 0;
	else
		d->call.dup.flags = int_arg(tracee, row->flags);
	set_failure(d, result);
	if (result >= 0 && d->call.dup.old_fd != result)
		ftr_tracee_comm_set(tracee->process, result,
				    ftr_tracee_comm_tid(tracee->process, d->call.dup.old_fd));
	emit(d);
}

static void pipe_end(struct ftr_decoding *d, const struct row *row,
		     int64_t result)
{
	int fds[2] = { -1, -1 };

	set_failure(d, result);
	if (result >= 0)
		ftr_tracee_read(d->tracee, d->tracee->args[0], fds, sizeof(fds));
	d->call.pipe.read_fd = fds[0];
	d->call.pipe.write_fd = fds[1];
	d->call.pipe.flags = int_arg(d->tracee, row->flags);
	emit(d);
}

static void rename_begin(struct ftr_decoding *d, const struct row *row)
{
	struct ftr_tracee *tracee = d->tracee;

	tracee->flags = int_arg(tracee, row->flags);
	ftr_strbuf_clear(&tracee->real[0]);
	if (read_path(d, 0, row->path) < 0 || read_path(d, 1, row->path2) < 0)
		return;
	if (ftr_tracee_resolve(tracee, dirfd_arg(tracee, row->dirfd),
			       ftr_strbuf_str(&tracee->path[0]), false, true, &tracee->real[0]) < 0)
		return;
	tracee->has_begun = true;
	d->call.rename.flags = tracee->flags;
	d->call.half = FTR_SYSCALL_BEGIN;
	d->call.rename.from = slice_of(&tracee->real[0]);
	emit(d);
}

static void rename_end(struct ftr_decoding *d, const struct row *row,
		       int64_t result)
{
	struct ftr_tracee *tracee = d->tracee;
	int64_t from = dirfd_arg(tracee, row->dirfd),
		to = dirfd_arg(tracee, row->dirfd2);

	set_failure(d, result);
	d->call.rename.flags = tracee->flags;
	d->call.half = tracee->has_begun ? FTR_SYSCALL_END : FTR_SYSCALL_WHOLE;
	if (result >= 0) {
		if (ftr_tracee_resolve(tracee, to, ftr_strbuf_str(&tracee->path[1]), false, false,
				       &tracee->real[1]) < 0)
			asked(tracee, to, 1, &tracee->real[1]);
		d->call.rename.to = slice_of(&tracee->real[1]);
		if (!tracee->has_begun)
			asked(tracee, from, 0, &tracee->real[0]);
	} else {
		d->call.rename.to = asked(tracee, to, 1, &tracee->real[1]);
		if (!tracee->has_begun)
			d->call.rename.from_asked = asked(tracee, from, 0, &tracee->real[2]);
	}
	/* What was renamed has a name, also where only root could read it. */
	d->call.rename.from = result >= 0 ? slice_of(&tracee->real[0]) :
					    path_slice(&tracee->real[0]);
	emit(d);
}

static void symlink_begin(struct ftr_decoding *d, const struct row *row)
{
	read_path(d, 0, row->path);
	read_path(d, 1, row->path2);
}

static void symlink_end(struct ftr_decoding *d, const struct row *row,
			int64_t result)
{
	struct ftr_tracee *tracee = d->tracee;
	int64_t dirfd = dirfd_arg(tracee, row->dirfd2);
	const char *link = ftr_strbuf_str(&tracee->path[1]);

	set_failure(d, result);
	d->call.symlink.target = slice_of(&tracee->path[0]);
	if (result < 0) {
		d->call.symlink.link = asked(tracee, dirfd, 1, &tracee->real[2]);
	} else {
		ftr_tracee_resolve(tracee, dirfd, link, true, true, &tracee->real[1]);
		if (ftr_tracee_resolve(tracee, dirfd, link, false, false, &tracee->real[2]) < 0)
			asked(tracee, dirfd, 1, &tracee->real[2]);
		d->call.symlink.resolved = path_slice(&tracee->real[1]);
		d->call.symlink.link = slice_of(&tracee->real[2]);
	}
	emit(d);
}

static void mount_begin(struct ftr_decoding *d, const struct row *row)
{
	struct ftr_tracee *tracee = d->tracee;
	bool is_mount = d->call.kind == FTR_SYSCALL_MOUNT;

	ftr_strbuf_clear(&tracee->real[1]);
	ftr_strbuf_clear(&tracee->real[2]);
	tracee->flags = is_mount ? (int64_t)tracee->args[3] :
				   int_arg(tracee, row->flags);
	if (read_path(d, 0, row->path) == 0 &&
	    ftr_tracee_resolve(tracee, AT_FDCWD, ftr_strbuf_str(&tracee->path[0]), true, true,
			       &tracee->real[1]) < 0)
		asked(tracee, AT_FDCWD, 0, &tracee->real[2]);
	for (int i = 0; is_mount && i < 2; i++) {	/* source, type */
		if (tracee->args[2 * i] != 0)
			read_path(d, (unsigned)i, 2 * i);
	}
}

static void mount_end(struct ftr_decoding *d, const struct row *row,
		      int64_t result)
{
	struct ftr_tracee *tracee = d->tracee;

	set_failure(d, result);
	d->call.mount.flags = tracee->flags;
	d->call.mount.target = path_slice(&tracee->real[1]);
	d->call.mount.target_asked = path_slice(&tracee->real[2]);
	if (d->call.kind == FTR_SYSCALL_MOUNT && tracee->args[0] != 0)
		d->call.mount.source = slice_of(&tracee->path[0]);
	if (d->call.kind == FTR_SYSCALL_MOUNT && tracee->args[2] != 0)
		d->call.mount.type = slice_of(&tracee->path[1]);
	emit(d);
}

/* ---- processes ---- */

static void exec_begin(struct ftr_decoding *d, const struct row *row)
{
	struct ftr_tracee *tracee = d->tracee;

	ftr_strbuf_clear(&tracee->real[0]);
	if (read_path(d, 0, row->path) < 0)
		return;
	/* Now: the directory's descriptor may be gone in the new image. */
	ftr_tracee_resolve(tracee, dirfd_arg(tracee, row->dirfd), ftr_strbuf_str(&tracee->path[0]),
			   false, true, &tracee->real[0]);
}

/* NUL-terminated strings, one after the other, in the scratch's command line. */
static void set_arguments(struct ftr_decoding *d)
{
	struct ftr_observer_scratch *scratch = &d->observer->scratch;
	const char *s = scratch->cmdline.s, *end = s + scratch->cmdline.len;

	scratch->argv.nr = 0;
	while (s != NULL && s < end) {
		size_t len = strnlen(s, (size_t)(end - s));

		if (ftr_vec_push(&scratch->argv, ftr_slice_make(s, len)) < 0)
			break;
		s += len + 1;
	}
	d->call.exec.argv = scratch->argv.v;
	d->call.exec.argc = scratch->argv.nr;
}

static void exec_end(struct ftr_decoding *d, const struct row *row,
			  int64_t result)
{
	if (result >= 0)
		return;
	set_failure(d, result);
	d->call.exec.program = asked(d->tracee, dirfd_arg(d->tracee, row->dirfd),
					   0, &d->tracee->real[1]);
	ftr_tracee_read_argv(d->tracee, d->tracee->args[row->path + 1],
			     &d->observer->scratch.cmdline);
	set_arguments(d);
	emit(d);
}

static void clone_begin(struct ftr_decoding *d, const struct row *row)
{
	struct ftr_tracee *tracee = d->tracee;

	tracee->flags = ftr_abis[tracee->abi].word_bytes == 4 ? (int32_t)tracee->args[0] :
								(int64_t)tracee->args[0];
}

/* struct clone_args: flags first, exit_signal fifth. */
static void clone3_begin(struct ftr_decoding *d, const struct row *row)
{
	uint64_t args[5] = { 0 };

	ftr_tracee_read(d->tracee, d->tracee->args[0], args, sizeof(args));
	d->tracee->flags = (int64_t)(args[0] | (args[4] & 0xff));
}

static void clone_end(struct ftr_decoding *d, const struct row *row,
			   int64_t result)
{
	if (result >= 0)
		return;
	set_failure(d, result);
	d->call.fork.flags = d->tracee->flags;
	emit(d);
}

static const struct row rows[FTR_SYSIDS] = {
	[FTR_SYSID_EXECVE] = { .dirfd = -1, .path = 0, .begin = exec_begin, .end = exec_end },
	[FTR_SYSID_EXECVEAT] = { .dirfd = 0, .path = 1, .begin = exec_begin, .end = exec_end },
	[FTR_SYSID_CLONE] = { .begin = clone_begin, .end = clone_end },
	[FTR_SYSID_CLONE3] = { .begin = clone3_begin, .end = clone_end },
	[FTR_SYSID_OPEN] = { .dirfd = -1, .path = 0, .flags = 1, .mode = 2,
		.begin = open_begin, .end = open_end },
	[FTR_SYSID_OPENAT] = { .dirfd = 0, .path = 1, .flags = 2, .mode = 3,
		.begin = open_begin, .end = open_end },
	[FTR_SYSID_OPENAT2] = { .dirfd = 0, .path = 1, .flags = -1, .mode = -1,
		.begin = openat2_begin, .end = open_end },
	[FTR_SYSID_CREAT] = { .dirfd = -1, .path = 0, .flags = -1, .mode = 1,
		.begin = creat_begin, .end = open_end },
	[FTR_SYSID_PIPE] = { .flags = -1, .end = pipe_end },
	[FTR_SYSID_PIPE2] = { .flags = 1, .end = pipe_end },
	[FTR_SYSID_RENAME] = { .dirfd = -1, .path = 0, .dirfd2 = -1, .path2 = 1, .flags = -1,
		.begin = rename_begin, .end = rename_end },
	[FTR_SYSID_RENAMEAT] = { .dirfd = 0, .path = 1, .dirfd2 = 2, .path2 = 3, .flags = -1,
		.begin = rename_begin, .end = rename_end },
	[FTR_SYSID_RENAMEAT2] = { .dirfd = 0, .path = 1, .dirfd2 = 2, .path2 = 3, .flags = 4,
		.begin = rename_begin, .end = rename_end },
	[FTR_SYSID_LINK] = { .dirfd = -1, .path = 0, .dirfd2 = -1, .path2 = 1, .flags = -1,
		.begin = rename_begin, .end = rename_end },
	[FTR_SYSID_LINKAT] = { .dirfd = 0, .path = 1, .dirfd2 = 2, .path2 = 3, .flags = 4,
		.begin = rename_begin, .end = rename_end },
	[FTR_SYSID_SYMLINK] = { .path = 0, .dirfd2 = -1, .path2 = 1,
		.begin = symlink_begin, .end = symlink_end },
	[FTR_SYSID_SYMLINKAT] = { .path = 0, .dirfd2 = 1, .path2 = 2,
		.begin = symlink_begin, .end = symlink_end },
	[FTR_SYSID_CLOSE] = { .end = close_end },
	[FTR_SYSID_CLOSE_RANGE] = { .begin = close_range_begin, .end = close_range_end },
	[FTR_SYSID_DUP] = { .flags = -1, .end = dup_end },
	[FTR_SYSID_DUP2] = { .flags = -1, .end = dup_end },
	[FTR_SYSID_DUP3] = { .flags = 2, .end = dup_end },
	[FTR_SYSID_FCNTL] = { .flags = -1, .end = dup_end },
	[FTR_SYSID_MOUNT] = { .path = 1, .begin = mount_begin, .end = mount_end },
	[FTR_SYSID_UMOUNT] = { .path = 0, .flags = -1, .begin = mount_begin, .end = mount_end },
	[FTR_SYSID_UMOUNT2] = { .path = 0, .flags = 1, .begin = mount_begin, .end = mount_end },
	[FTR_SYSID_PRCTL] = { .begin = prctl_begin, .end = prctl_end },
	[FTR_SYSID_WRITE] = { .end = write_end },
};

static void call_set(struct ftr_decoding *d)
{
	assert(d->tracee->call != FTR_SYSID_NONE && d->tracee->call < FTR_SYSIDS);
	d->call.kind = (uint8_t)ftr_sysid_kind(d->tracee->call);
	d->call.id = d->tracee->call;
}

void ftr_decode_begin(struct ftr_decoding *d)
{
	const struct row *row = &rows[d->tracee->call];

	call_set(d);
	d->tracee->has_begun = false;
	if (row->begin != NULL)
		row->begin(d, row);
}

bool ftr_decode_foresee(struct ftr_decoding *d)
{
	struct ftr_tracee *tracee = d->tracee;
	bool is_exec = tracee->call == FTR_SYSID_EXECVE || tracee->call == FTR_SYSID_EXECVEAT;
	bool is_close = tracee->call == FTR_SYSID_CLOSE && tracee->process->users == 1 &&
			!tracee->process->shares_fds;

	if (is_close) {
		int has_fd = ftr_tracee_has_fd(tracee, int_arg(tracee, 0));

		if (has_fd < 0)
			return false;
		if (has_fd > 0)
			close_end(d, &rows[FTR_SYSID_CLOSE], 0);
	}
	if (is_exec || is_close)
		tracee->call = FTR_SYSID_NONE;
	return is_exec || is_close;
}

void ftr_decode_end(struct ftr_decoding *d, int64_t result)
{
	const struct ftr_observer_sink *sink = &d->observer->sink;
	const struct row *row = &rows[d->tracee->call];

	call_set(d);
	if (row->end != NULL && (result >= 0 || sink->has_details ||
				 (sink->failures & FTR_BIT(d->call.kind)) != 0))
		row->end(d, row, result);
	d->tracee->call = FTR_SYSID_NONE;
}

void ftr_decode_fork(struct ftr_decoding *d, enum ftr_sysid id, uint64_t child)
{
	struct ftr_tracee *tracee = d->tracee;
	bool is_clone = tracee->call == FTR_SYSID_CLONE || tracee->call == FTR_SYSID_CLONE3;

	d->call.kind = is_clone ? FTR_SYSCALL_CLONE : FTR_SYSCALL_FORK;
	d->call.id = (uint8_t)(is_clone ? tracee->call : id);
	d->call.fork.flags = is_clone ? tracee->flags : 0;
	d->call.fork.child = child;
	emit(d);
}

void ftr_decode_exec(struct ftr_decoding *d)
{
	struct ftr_observer_scratch *scratch = &d->observer->scratch;
	struct ftr_tracee *tracee = d->tracee;

	tracee->process->comm_nr = 0;
	ftr_tracee_interpreter(tracee, &tracee->real[0], &tracee->real[1]);
	ftr_strbuf_clear(&tracee->real[2]);
	ftr_tracee_link(tracee, "cwd", &tracee->real[2]);
	ftr_tracee_read_file(tracee, "cmdline", FTR_TRACEE_CMDLINE_MAX, &scratch->cmdline);
	d->call.kind = FTR_SYSCALL_EXEC;
	d->call.id = tracee->call == FTR_SYSID_EXECVEAT ? FTR_SYSID_EXECVEAT : FTR_SYSID_EXECVE;
	d->call.exec.interpreter = slice_of(&tracee->real[1]);
	d->call.exec.program = slice_of(&tracee->real[0]);
	d->call.exec.cwd = slice_of(&tracee->real[2]);
	set_arguments(d);
	emit(d);

	next_call(d, FTR_SYSCALL_COMM, (enum ftr_sysid)d->call.id);
	if (ftr_tracee_read_file(tracee, "comm", 64, &scratch->text) == 0 &&
	    scratch->text.len > 0) {
		scratch->text.len--;
		emit_comm(d, slice_of(&scratch->text));
	}
}

void ftr_decode_exit(struct ftr_decoding *d, int wait_status)
{
	/* A rename that is never to be finished: what was begun has an end. */
	if (d->tracee->has_begun && d->tracee->call != FTR_SYSID_NONE)
		ftr_decode_end(d, -EINTR);
	next_call(d, FTR_SYSCALL_EXIT, FTR_SYSID_NONE);
	d->call.exit.status = WEXITSTATUS(wait_status);
	d->call.exit.signal = WTERMSIG(wait_status);
	emit(d);
}
