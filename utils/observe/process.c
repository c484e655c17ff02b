/* SPDX-License-Identifier: MIT */
/* The calls that make processes, turn them into other programs, and end them. */
#include <errno.h>
#include <linux/sched.h>
#include <string.h>

#include "utils/observe/exec.h"
#include "utils/observe/row.h"

void ftr_syscall_exec_begin(struct ftr_syscall_decoding *d, const struct ftr_syscall_call *call)
{
	struct ftr_tracee *tracee = d->tracee;

	ftr_strbuf_clear(&tracee->real[0]);
	if (ftr_tracee_read_string(tracee, tracee->args[call->path], FTR_SYSCALL_STRING_MAX,
				   &tracee->path[0]) < 0)
		return;
	/* Now: the directory's descriptor may be gone in the new image. */
	ftr_tracee_resolve(tracee, ftr_syscall_dirfd_arg(tracee, call->dirfd), tracee->path[0].s,
			   false, true, &tracee->real[0]);
}

/* NUL-terminated strings, one after the other, in the scratch's command line. */
static void set_arguments(struct ftr_syscall_decoding *d)
{
	struct ftr_syscall_scratch *scratch = d->scratch;
	const char *s = scratch->cmdline.s, *end = s + scratch->cmdline.len;

	scratch->argv.nr = 0;
	while (s != NULL && s < end) {
		size_t len = strnlen(s, (size_t)(end - s));

		if (ftr_vec_push(&scratch->argv, ftr_slice_make(s, len)) < 0)
			break;
		s += len + 1;
	}
	d->rec.argv = scratch->argv.v;
	d->rec.argc = scratch->argv.nr;
}

void ftr_syscall_exec_end(struct ftr_syscall_decoding *d, const struct ftr_syscall_call *call,
			  int64_t result)
{
	if (result >= 0)
		return;
	ftr_syscall_set_failure(d, result);
	d->rec.text[1] = ftr_syscall_asked(d->tracee, ftr_syscall_dirfd_arg(d->tracee, call->dirfd),
					   0, &d->tracee->real[1]);
	ftr_syscall_read_argv(d->tracee, d->tracee->args[call->path + 1], &d->scratch->cmdline);
	set_arguments(d);
	ftr_syscall_emit(d);
}

void ftr_syscall_clone_begin(struct ftr_syscall_decoding *d, const struct ftr_syscall_call *call)
{
	struct ftr_tracee *tracee = d->tracee;

	tracee->flags = ftr_abis[tracee->abi].word_bytes == 4 ? (int32_t)tracee->args[0] :
								(int64_t)tracee->args[0];
}

/* struct clone_args: flags first, exit_signal fifth. */
void ftr_syscall_clone3_begin(struct ftr_syscall_decoding *d, const struct ftr_syscall_call *call)
{
	uint64_t args[5] = { 0 };

	ftr_tracee_read(d->tracee, d->tracee->args[0], args, sizeof(args));
	d->tracee->flags = (int64_t)(args[0] | (args[4] & 0xff));
}

void ftr_syscall_clone_end(struct ftr_syscall_decoding *d, const struct ftr_syscall_call *call,
			   int64_t result)
{
	if (result >= 0)
		return;
	ftr_syscall_set_failure(d, result);
	d->rec.flags = d->tracee->flags;
	ftr_syscall_emit(d);
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
	ftr_syscall_emit(d);
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
	d->rec.kind = FTR_ETRACE_EXEC;
	d->rec.call = tracee->call == FTR_SYSID_EXECVEAT ? "execveat" : "execve";
	d->rec.text[0] = ftr_syscall_slice_of(&tracee->real[1]);
	d->rec.text[1] = ftr_syscall_slice_of(&tracee->real[0]);
	d->rec.text[2] = ftr_syscall_slice_of(&tracee->real[2]);
	set_arguments(d);
	ftr_syscall_emit(d);

	d->rec = (struct ftr_etrace_record){ .upid = d->rec.upid,
					     .cpu = d->rec.cpu,
					     .start_ns = d->rec.time_ns,
					     .time_ns = d->rec.time_ns,
					     .call = d->rec.call };
	if (ftr_tracee_read_file(tracee, "comm", 64, &scratch->text) == 0 &&
	    scratch->text.len > 0) {
		scratch->text.len--;
		ftr_syscall_emit_comm(d, ftr_syscall_slice_of(&scratch->text));
	}
}

void ftr_syscall_exit(struct ftr_syscall_decoding *d, unsigned wait_status)
{
	/* A rename that is never to be finished: what was begun has an end. */
	if (d->tracee->has_begun && d->tracee->call != FTR_SYSID_NONE)
		ftr_syscall_end(d, -EINTR);
	d->rec = (struct ftr_etrace_record){ .upid = d->rec.upid,
					     .cpu = d->rec.cpu,
					     .start_ns = d->rec.time_ns,
					     .time_ns = d->rec.time_ns,
					     .kind = FTR_ETRACE_EXIT };
	d->rec.status = wait_status >> 8 & 255;
	d->rec.signal = (int32_t)(wait_status & 127);
	ftr_syscall_emit(d);
}
