/* SPDX-License-Identifier: MIT */
/*
 * From stopped tasks to system calls: a row for each tells what is read at its beginning, and
 * what its result makes of it.
 */
#include "utils/observe/decode.h"

#include <assert.h>
#include <errno.h>
#include <linux/sched.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "utils/observe/decode_row.h"

#define STRING_MAX 4096u
#define COMM_MAX 15u

void ftr_decode_emit(struct ftr_decoding *d)
{
	const struct ftr_observer_sink *sink = &d->observer->sink;

	d->call.cpu = ftr_tracee_cpu(d->tracee);
	sink->call(sink->arg, &d->call);
	d->observer->has_news = true;
}

void ftr_decode_next_call(struct ftr_decoding *d, enum ftr_syscall_kind kind, enum ftr_sysid id)
{
	d->call = (struct ftr_syscall){ .upid = d->call.upid,
					.start_ns = d->call.end_ns,
					.end_ns = d->call.end_ns,
					.kind = (uint8_t)kind,
					.id = (uint8_t)id };
}

void ftr_decode_set_failure(struct ftr_decoding *d, int64_t result)
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

int ftr_decode_read_path(struct ftr_decoding *d, unsigned which, int arg)
{
	struct ftr_tracee *tracee = d->tracee;
	int ret;

	assert(arg >= 0);
	ret = ftr_tracee_read_string(tracee, tracee->args[arg], STRING_MAX, &tracee->path[which]);
	if (ret == -EACCES)
		report_hidden(d);
	return ret;
}

struct ftr_slice ftr_decode_asked(const struct ftr_tracee *tracee, int64_t dirfd, unsigned which,
				  struct ftr_strbuf *text)
{
	ftr_tracee_join(tracee, dirfd, ftr_strbuf_str(&tracee->path[which]), text);
	return ftr_decode_slice_of(text);
}

/* ---- names of threads ---- */

static void emit_comm(struct ftr_decoding *d, struct ftr_slice name)
{
	d->call.comm.name = ftr_slice_make(name.s, name.len < COMM_MAX ? name.len : COMM_MAX);
	ftr_decode_emit(d);
}

static void prctl_begin(struct ftr_decoding *d, const struct ftr_decode_row *row)
{
	if ((int)d->tracee->args[0] == PR_SET_NAME)
		ftr_tracee_read_string(d->tracee, d->tracee->args[1], COMM_MAX,
				       &d->tracee->path[0]);
	else
		ftr_tracee_memory_keep(d->tracee);
}

static void prctl_end(struct ftr_decoding *d, const struct ftr_decode_row *row,
			   int64_t result)
{
	if ((int)d->tracee->args[0] != PR_SET_NAME)
		return;
	ftr_decode_set_failure(d, result);
	emit_comm(d, ftr_decode_slice_of(&d->tracee->path[0]));
}

static void write_end(struct ftr_decoding *d, const struct ftr_decode_row *row,
			   int64_t result)
{
	pid_t tid = ftr_tracee_comm_tid(d->tracee->process, ftr_decode_int_arg(d->tracee, 0));
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
	emit_comm(d, ftr_decode_slice_of(text));
}

/* ---- processes ---- */

static void exec_begin(struct ftr_decoding *d, const struct ftr_decode_row *row)
{
	struct ftr_tracee *tracee = d->tracee;

	ftr_strbuf_clear(&tracee->real[0]);
	if (ftr_decode_read_path(d, 0, row->path) < 0)
		return;
	/* Now: the directory's descriptor may be gone in the new image. */
	ftr_tracee_resolve(tracee, ftr_decode_dirfd_arg(tracee, row->dirfd),
			   ftr_strbuf_str(&tracee->path[0]), false, true, &tracee->real[0]);
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

static void exec_end(struct ftr_decoding *d, const struct ftr_decode_row *row,
			  int64_t result)
{
	if (result >= 0)
		return;
	ftr_decode_set_failure(d, result);
	d->call.exec.program = ftr_decode_asked(d->tracee,
						ftr_decode_dirfd_arg(d->tracee, row->dirfd), 0,
						&d->tracee->real[1]);
	ftr_tracee_read_argv(d->tracee, d->tracee->args[row->path + 1],
			     &d->observer->scratch.cmdline);
	set_arguments(d);
	ftr_decode_emit(d);
}

static void clone_begin(struct ftr_decoding *d, const struct ftr_decode_row *row)
{
	struct ftr_tracee *tracee = d->tracee;

	tracee->flags = ftr_abis[tracee->abi].word_bytes == 4 ? (int32_t)tracee->args[0] :
								(int64_t)tracee->args[0];
}

/* struct clone_args: flags first, exit_signal fifth. */
static void clone3_begin(struct ftr_decoding *d, const struct ftr_decode_row *row)
{
	uint64_t args[5] = { 0 };

	ftr_tracee_read(d->tracee, d->tracee->args[0], args, sizeof(args));
	d->tracee->flags = (int64_t)(args[0] | (args[4] & 0xff));
}

static void clone_end(struct ftr_decoding *d, const struct ftr_decode_row *row,
			   int64_t result)
{
	if (result >= 0)
		return;
	ftr_decode_set_failure(d, result);
	d->call.fork.flags = d->tracee->flags;
	ftr_decode_emit(d);
}

/* Of decode_file.c. */
#define FILE_ROW(name) .begin = ftr_decode_##name##_begin, .end = ftr_decode_##name##_end

static const struct ftr_decode_row rows[FTR_SYSIDS] = {
	[FTR_SYSID_EXECVE] = { .dirfd = -1, .path = 0, .begin = exec_begin, .end = exec_end },
	[FTR_SYSID_EXECVEAT] = { .dirfd = 0, .path = 1, .begin = exec_begin, .end = exec_end },
	[FTR_SYSID_CLONE] = { .begin = clone_begin, .end = clone_end },
	[FTR_SYSID_CLONE3] = { .begin = clone3_begin, .end = clone_end },
	[FTR_SYSID_OPEN] = { .dirfd = -1, .path = 0, .flags = 1, .mode = 2, FILE_ROW(open) },
	[FTR_SYSID_OPENAT] = { .dirfd = 0, .path = 1, .flags = 2, .mode = 3, FILE_ROW(open) },
	[FTR_SYSID_OPENAT2] = { .dirfd = 0, .path = 1, .flags = -1, .mode = -1,
		.begin = ftr_decode_openat2_begin, .end = ftr_decode_open_end },
	[FTR_SYSID_CREAT] = { .dirfd = -1, .path = 0, .flags = -1, .mode = 1,
		.begin = ftr_decode_creat_begin, .end = ftr_decode_open_end },
	[FTR_SYSID_PIPE] = { .flags = -1, .end = ftr_decode_pipe_end },
	[FTR_SYSID_PIPE2] = { .flags = 1, .end = ftr_decode_pipe_end },
	[FTR_SYSID_RENAME] = { .dirfd = -1, .path = 0, .dirfd2 = -1, .path2 = 1, .flags = -1,
		FILE_ROW(rename) },
	[FTR_SYSID_RENAMEAT] = { .dirfd = 0, .path = 1, .dirfd2 = 2, .path2 = 3, .flags = -1,
		FILE_ROW(rename) },
	[FTR_SYSID_RENAMEAT2] = { .dirfd = 0, .path = 1, .dirfd2 = 2, .path2 = 3, .flags = 4,
		FILE_ROW(rename) },
	[FTR_SYSID_LINK] = { .dirfd = -1, .path = 0, .dirfd2 = -1, .path2 = 1, .flags = -1,
		FILE_ROW(rename) },
	[FTR_SYSID_LINKAT] = { .dirfd = 0, .path = 1, .dirfd2 = 2, .path2 = 3, .flags = 4,
		FILE_ROW(rename) },
	[FTR_SYSID_SYMLINK] = { .path = 0, .dirfd2 = -1, .path2 = 1, FILE_ROW(symlink) },
	[FTR_SYSID_SYMLINKAT] = { .path = 0, .dirfd2 = 1, .path2 = 2, FILE_ROW(symlink) },
	[FTR_SYSID_CLOSE] = { .end = ftr_decode_close_end },
	[FTR_SYSID_CLOSE_RANGE] = { FILE_ROW(close_range) },
	[FTR_SYSID_DUP] = { .flags = -1, .end = ftr_decode_dup_end },
	[FTR_SYSID_DUP2] = { .flags = -1, .end = ftr_decode_dup_end },
	[FTR_SYSID_DUP3] = { .flags = 2, .end = ftr_decode_dup_end },
	[FTR_SYSID_FCNTL] = { .flags = -1, .end = ftr_decode_dup_end },
	[FTR_SYSID_MOUNT] = { .path = 1, FILE_ROW(mount) },
	[FTR_SYSID_UMOUNT] = { .path = 0, .flags = -1, FILE_ROW(mount) },
	[FTR_SYSID_UMOUNT2] = { .path = 0, .flags = 1, FILE_ROW(mount) },
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
	const struct ftr_decode_row *row = &rows[d->tracee->call];

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
		int has_fd = ftr_tracee_has_fd(tracee, ftr_decode_int_arg(tracee, 0));

		if (has_fd < 0)
			return false;
		if (has_fd > 0)
			ftr_decode_close_end(d, &rows[FTR_SYSID_CLOSE], 0);
	}
	if (is_exec || is_close)
		tracee->call = FTR_SYSID_NONE;
	return is_exec || is_close;
}

void ftr_decode_end(struct ftr_decoding *d, int64_t result)
{
	const struct ftr_observer_sink *sink = &d->observer->sink;
	const struct ftr_decode_row *row = &rows[d->tracee->call];

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
	ftr_decode_emit(d);
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
	d->call.exec.interpreter = ftr_decode_slice_of(&tracee->real[1]);
	d->call.exec.program = ftr_decode_slice_of(&tracee->real[0]);
	d->call.exec.cwd = ftr_decode_slice_of(&tracee->real[2]);
	set_arguments(d);
	ftr_decode_emit(d);

	ftr_decode_next_call(d, FTR_SYSCALL_COMM, (enum ftr_sysid)d->call.id);
	if (ftr_tracee_read_file(tracee, "comm", 64, &scratch->text) == 0 &&
	    scratch->text.len > 0) {
		scratch->text.len--;
		emit_comm(d, ftr_decode_slice_of(&scratch->text));
	}
}

void ftr_decode_exit(struct ftr_decoding *d, int wait_status)
{
	/* A rename that is never to be finished: what was begun has an end. */
	if (d->tracee->has_begun && d->tracee->call != FTR_SYSID_NONE)
		ftr_decode_end(d, -EINTR);
	ftr_decode_next_call(d, FTR_SYSCALL_EXIT, FTR_SYSID_NONE);
	d->call.exit.status = WEXITSTATUS(wait_status);
	d->call.exit.signal = WTERMSIG(wait_status);
	ftr_decode_emit(d);
}
