/* SPDX-License-Identifier: MIT */
/* Stops at the beginning and the end of a call. */
#include "utils/observe/state.h"

#include <sched.h>
#include <string.h>
#include <sys/ptrace.h>

#include "utils/base/clock.h"

void ftr_observer_task_resume(struct ftr_tracee *task, int signal)
{
	bool wants_more = task->call != FTR_SYSID_NONE ||
			  (task->process != NULL && task->process->comm_nr > 0);

	/* A failure means that it was killed meanwhile: its end will be reported. */
	ptrace(wants_more ? PTRACE_SYSCALL : PTRACE_CONT, task->tid, NULL,
	       (void *)(intptr_t)signal);
}

static void sink_record(void *arg, const struct ftr_etrace_record *rec)
{
	struct ftr_observer *observer = arg;

	observer->sink.record(observer->sink.arg, rec);
}

static uint64_t sink_upid_find(void *arg, pid_t tid)
{
	const struct ftr_tracee *task = ftr_observer_task_find(arg, tid);

	return task != NULL ? task->upid : 0;
}

struct ftr_syscall_decoding ftr_observer_decoding(struct ftr_observer *observer,
						  struct ftr_tracee *task)
{
	uint64_t now = ftr_clock_now_ns(CLOCK_MONOTONIC);

	return (struct ftr_syscall_decoding){
		.tracee = task,
		.scratch = &observer->scratch,
		.emit = sink_record,
		.upid_find = sink_upid_find,
		.arg = observer,
		.has_details = observer->sink.has_details,
		.rec = {
			.upid = task->upid,
			.start_ns = task->call != FTR_SYSID_NONE ? task->start_ns : now,
			.time_ns = now,
		},
	};
}

/*
 * CLONE_UNTRACED would make a child that nobody follows and whose filtered calls fail: hide it from
 * the kernel.  The register, or the struct, is put right again after the call.
 */
static void hide_untraced(struct ftr_tracee *task, bool is_hidden)
{
	uint64_t flags = task->args[0];

	if (task->call == FTR_SYSID_CLONE3) {
		if (ftr_tracee_read(task, task->args[0], &flags, sizeof(flags)) < 0)
			return;
		flags = is_hidden ? flags & ~(uint64_t)CLONE_UNTRACED : flags | CLONE_UNTRACED;
		ftr_tracee_write(task, task->args[0], &flags, sizeof(flags));
		return;
	}
	if (is_hidden)
		flags &= ~(uint64_t)CLONE_UNTRACED;
	ptrace(PTRACE_POKEUSER, task->tid, (void *)(uintptr_t)ftr_abis[task->abi].arg0_offset,
	       (void *)(uintptr_t)flags);
}

static void call_begin(struct ftr_observer *observer, struct ftr_tracee *task,
		       const struct __ptrace_syscall_info *info, unsigned abi, enum ftr_sysid id)
{
	struct ftr_syscall_decoding decoding;

	memcpy(task->args, info->seccomp.args, sizeof(task->args));
	task->abi = (uint8_t)abi;
	task->call = (uint8_t)id;
	task->start_ns = ftr_clock_now_ns(CLOCK_MONOTONIC);
	decoding = (struct ftr_syscall_decoding){
		.tracee = task,
		.scratch = &observer->scratch,
		.emit = sink_record,
		.arg = observer,
		.rec = { .upid = task->upid,
			 .start_ns = task->start_ns,
			 .time_ns = task->start_ns },
	};
	ftr_syscall_begin(&decoding);
	if (!observer->sink.has_details && ftr_syscall_foresee(&decoding))
		return;
	task->untraced = (id == FTR_SYSID_CLONE || id == FTR_SYSID_CLONE3) &&
			 (task->flags & CLONE_UNTRACED) != 0;
	if (task->untraced)
		hide_untraced(task, true);
}

void ftr_observer_on_seccomp(struct ftr_observer *observer, struct ftr_tracee *task)
{
	struct __ptrace_syscall_info info;

	if (ptrace(PTRACE_GET_SYSCALL_INFO, task->tid, sizeof(info), &info) > 0 &&
	    info.op == PTRACE_SYSCALL_INFO_SECCOMP)
		call_begin(observer, task, &info, ftr_syscall_stop_abi(info.seccomp.ret_data),
			   ftr_syscall_stop_id(info.seccomp.ret_data));
	ftr_observer_task_resume(task, 0);
}

/* A write, while the process has a comm file open: all its calls stop. */
static void on_entry(struct ftr_observer *observer, struct ftr_tracee *task,
		     const struct __ptrace_syscall_info *info)
{
	for (unsigned abi = 0; ftr_abis[abi].name != NULL; abi++) {
		const struct ftr_abi *a = &ftr_abis[abi];

		for (size_t i = 0; a->audit_arch == info->arch && i < a->numbers_nr; i++) {
			if (a->numbers[i].nr == info->entry.nr &&
			    a->numbers[i].id == FTR_SYSID_WRITE &&
			    ftr_syscall_is_comm_fd(task->process, (int32_t)info->entry.args[0]))
				call_begin(observer, task, info, abi, FTR_SYSID_WRITE);
		}
	}
}

void ftr_observer_on_syscall(struct ftr_observer *observer, struct ftr_tracee *task)
{
	struct __ptrace_syscall_info info;

	if (ptrace(PTRACE_GET_SYSCALL_INFO, task->tid, sizeof(info), &info) <= 0)
		return;
	if (info.op == PTRACE_SYSCALL_INFO_ENTRY && task->call == FTR_SYSID_NONE) {
		on_entry(observer, task, &info);
	} else if (info.op == PTRACE_SYSCALL_INFO_EXIT && task->call != FTR_SYSID_NONE) {
		struct ftr_syscall_decoding decoding = ftr_observer_decoding(observer, task);

		if (task->untraced)
			hide_untraced(task, false);
		ftr_syscall_end(&decoding, info.exit.rval);
	}
	ftr_observer_task_resume(task, 0);
}
