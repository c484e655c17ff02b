/* SPDX-License-Identifier: MIT */
/* Names that threads get: by prctl, and by a write to a file of /proc. */
#include <stdio.h>

#include "utils/observe/row.h"

#define COMM_MAX 15u

bool ftr_syscall_is_comm_fd(const struct ftr_tracee_process *process, int64_t fd)
{
	for (unsigned i = 0; i < process->comm_nr; i++) {
		if (process->comm[i].fd == fd)
			return true;
	}
	return false;
}

pid_t ftr_syscall_comm_tid(const struct ftr_tracee_process *process, int64_t fd)
{
	for (unsigned i = 0; i < process->comm_nr; i++) {
		if (process->comm[i].fd == fd)
			return process->comm[i].tid;
	}
	return 0;
}

void ftr_syscall_comm_set(struct ftr_tracee_process *process, int64_t fd, pid_t tid)
{
	for (unsigned i = 0; i < process->comm_nr; i++) {
		if (process->comm[i].fd == fd)
			process->comm[i--] = process->comm[--process->comm_nr];
	}
	if (tid != 0 && process->comm_nr < FTR_TRACEE_COMM_MAX)
		process->comm[process->comm_nr++] = (struct ftr_tracee_comm){ (int)fd, tid };
}

pid_t ftr_syscall_comm_owner(const char *path)
{
	int pid = 0, tid = 0, end = 0;

	if (sscanf(path, "/proc/%d/task/%d/comm%n", &pid, &tid, &end) == 2 && end > 0 &&
	    path[end] == '\0')
		return tid;
	if (sscanf(path, "/proc/%d/comm%n", &pid, &end) == 1 && end > 0 && path[end] == '\0')
		return pid;
	return 0;
}

void ftr_syscall_emit_comm(struct ftr_syscall_decoding *d, struct ftr_slice name)
{
	d->rec.kind = FTR_ETRACE_COMM;
	d->rec.text[0] = ftr_slice_make(name.s, name.len < COMM_MAX ? name.len : COMM_MAX);
	ftr_syscall_emit(d);
}

void ftr_syscall_prctl_begin(struct ftr_syscall_decoding *d, const struct ftr_syscall_call *call)
{
	ftr_tracee_read_string(d->tracee, d->tracee->args[1], COMM_MAX, &d->tracee->path[0]);
}

void ftr_syscall_prctl_end(struct ftr_syscall_decoding *d, const struct ftr_syscall_call *call,
			   int64_t result)
{
	ftr_syscall_set_failure(d, result);
	ftr_syscall_emit_comm(d, ftr_syscall_slice_of(&d->tracee->path[0]));
}

void ftr_syscall_write_end(struct ftr_syscall_decoding *d, const struct ftr_syscall_call *call,
			   int64_t result)
{
	pid_t tid = ftr_syscall_comm_tid(d->tracee->process, ftr_syscall_int_arg(d->tracee, 0));
	struct ftr_tracee target = { .tid = tid };
	struct ftr_strbuf *text = &d->scratch->text;

	if (result <= 0 || tid == 0)
		return;
	d->rec.upid = d->upid_find(d->arg, tid);
	if (d->rec.upid == 0 || ftr_tracee_read_file(&target, "comm", 64, text) < 0)
		return;
	if (text->len > 0 && text->s[text->len - 1] == '\n')
		text->len--;
	ftr_syscall_emit_comm(d, ftr_syscall_slice_of(text));
}
