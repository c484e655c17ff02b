/* SPDX-License-Identifier: MIT */
/* The loop of waits, and what each kind of stop means. */
#include "utils/observe/observer.h"

#include <assert.h>
#include <elf.h>
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>

#include "utils/base/clock.h"
#include "utils/observe/task.h"

#define SYSCALL_STOP (SIGTRAP | 0x80)

#define EARLY_YIELDS	   20
#define EARLY_PAUSE_NS	   50000
#define EARLY_PAUSE_MAX_NS 10000000

/* ---- stops of calls ---- */

/* The call's first argument, before or after the call; its result is left as it is. */
static void put_arg0(const struct ftr_tracee *task, uint64_t value, bool is_before)
{
	const struct ftr_abi *abi = &ftr_abis[task->abi];
	struct iovec first = { .iov_base = &value, .iov_len = abi->word_bytes };

	if (!abi->arg0_is_result)
		ptrace(PTRACE_POKEUSER, task->tid, (void *)(uintptr_t)abi->arg0_offset,
		       (void *)(uintptr_t)value);
	else if (is_before)
		ptrace(PTRACE_SETREGSET, task->tid, (void *)(uintptr_t)NT_PRSTATUS, &first);
}

/*
 * CLONE_UNTRACED would make a child that is not followed and whose filtered calls fail: hide it
 * from the kernel.  The register, or the struct, is restored after the call.
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
	put_arg0(task, flags, is_hidden);
}

static void call_begin(struct ftr_observer *observer, struct ftr_tracee *task,
		       const struct __ptrace_syscall_info *info, unsigned abi, enum ftr_sysid id)
{
	struct ftr_decoding decoding;

	memcpy(task->args, info->seccomp.args, sizeof(task->args));
	task->abi = (uint8_t)abi;
	task->call = (uint8_t)id;
	if (observer->sink.stack != NULL && observer->root_has_run)
		task->stack = ftr_observer_stack_take(&observer->stacks, task);
	task->start_ns = ftr_clock_now_ns(CLOCK_MONOTONIC);
	decoding = (struct ftr_decoding){
		.observer = observer,
		.tracee = task,
		.call = { .upid = task->upid,
			  .start_ns = task->start_ns,
			  .end_ns = task->start_ns,
			  .stack = task->stack },
	};
	ftr_decode_begin(&decoding);
	if (observer->sink.stack != NULL && ftr_sysid_kind(id) == FTR_SYSCALL_OPEN)
		ftr_observer_stack_opens(task, ftr_strbuf_str(&task->path[0]));
	if (!observer->sink.has_details && ftr_decode_foresee(&decoding))
		return;
	task->untraced = (id == FTR_SYSID_CLONE || id == FTR_SYSID_CLONE3) &&
			 (task->flags & CLONE_UNTRACED) != 0;
	if (task->untraced)
		hide_untraced(task, true);
}

static void on_seccomp(struct ftr_observer *observer, struct ftr_tracee *task)
{
	struct __ptrace_syscall_info info;

	if (ptrace(PTRACE_GET_SYSCALL_INFO, task->tid, sizeof(info), &info) > 0 &&
	    info.op == PTRACE_SYSCALL_INFO_SECCOMP)
		call_begin(observer, task, &info, ftr_observer_stop_abi(info.seccomp.ret_data),
			   ftr_observer_stop_id(info.seccomp.ret_data));
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
			    ftr_tracee_comm_tid(task->process,
						(int32_t)info->entry.args[0]) != 0)
				call_begin(observer, task, info, abi, FTR_SYSID_WRITE);
		}
	}
}

static void on_syscall(struct ftr_observer *observer, struct ftr_tracee *task)
{
	struct __ptrace_syscall_info info;

	if (ptrace(PTRACE_GET_SYSCALL_INFO, task->tid, sizeof(info), &info) <= 0)
		return;
	if (info.op == PTRACE_SYSCALL_INFO_ENTRY && task->call == FTR_SYSID_NONE) {
		on_entry(observer, task, &info);
	} else if (info.op == PTRACE_SYSCALL_INFO_EXIT && task->call != FTR_SYSID_NONE) {
		struct ftr_decoding decoding = ftr_observer_decoding(observer, task);

		if (task->untraced)
			hide_untraced(task, false);
		ftr_decode_end(&decoding, info.exit.rval);
	}
	ftr_observer_task_resume(task, 0);
}

/* ---- the loop ---- */

/* A group stop is listened to, so that SIGCONT ends it as without us; others are our own. */
static void on_stop(struct ftr_tracee *task, int signal)
{
	if (signal == SIGSTOP || signal == SIGTSTP || signal == SIGTTIN || signal == SIGTTOU)
		ptrace(PTRACE_LISTEN, task->tid, NULL, NULL);
	else
		ftr_observer_task_resume(task, 0);
}

static void on_event(struct ftr_observer *observer, struct ftr_tracee *task, int status)
{
	int signal = WSTOPSIG(status);

	switch (ftr_stop_event(status)) {
	case PTRACE_EVENT_SECCOMP:
		on_seccomp(observer, task);
		break;
	case PTRACE_EVENT_FORK:
	case PTRACE_EVENT_VFORK:
	case PTRACE_EVENT_CLONE:
		ftr_observer_on_fork(observer, task, ftr_stop_event(status));
		break;
	case PTRACE_EVENT_EXEC:
		ftr_observer_on_exec(observer, task);
		break;
	case PTRACE_EVENT_EXIT:
		ftr_observer_on_end(observer, task);
		break;
	case PTRACE_EVENT_STOP:
		on_stop(task, signal);
		break;
	default:
		if (signal == SYSCALL_STOP)
			on_syscall(observer, task);
		else
			ftr_observer_task_resume(task, signal);
		break;
	}
}

static void on_wait(struct ftr_observer *observer, pid_t tid, int status)
{
	struct ftr_tracee *task = ftr_observer_task_find(observer, tid);

	if (task == NULL) {		/* a child whose parent's event is still to come */
		task = ftr_observer_task_new(observer, tid);
		if (task != NULL)
			observer->early_nr++;
	}
	if (task == NULL) {
		ptrace(PTRACE_CONT, tid, NULL, NULL);
	} else if (!task->is_known) {
		task->has_stopped = true;
		task->early_status = status;
	} else if (WIFSTOPPED(status)) {
		on_event(observer, task, status);
	} else {
		ftr_observer_on_gone(observer, task, status);
	}
}

/*
 * While tasks wait to be announced it must not block: the creator may be gone without a word.  It
 * reports within microseconds, else something is wrong with it.
 */
static pid_t wait_early(struct ftr_observer *observer, int *status)
{
	struct timespec pause = { .tv_nsec = EARLY_PAUSE_NS };
	pid_t tid = 0;

	for (unsigned round = 0; tid == 0 && observer->early_nr > 0; round++) {
		tid = waitpid(-1, status, __WALL | WNOHANG);
		if (tid != 0)
			break;
		if (round < EARLY_YIELDS) {
			sched_yield();
			continue;
		}
		ftr_observer_adopt_orphans(observer);
		if (nanosleep(&pause, NULL) < 0)
			return -1;
		if (pause.tv_nsec < EARLY_PAUSE_MAX_NS)
			pause.tv_nsec *= 2;
	}
	return tid;
}

static pid_t wait_next(struct ftr_observer *observer, int *status)
{
	pid_t tid = observer->early_nr > 0 ? wait_early(observer, status) : 0;

	if (tid == 0 && observer->has_news && observer->sink.idle != NULL) {
		tid = waitpid(-1, status, __WALL | WNOHANG);
		if (tid != 0)
			return tid;
		observer->sink.idle(observer->sink.arg);
		observer->has_news = false;
	}
	return tid != 0 ? tid : waitpid(-1, status, __WALL);
}

bool ftr_observer_run(struct ftr_observer *observer, struct ftr_observer_signals *signals,
		      int *wait_status)
{
	while (observer->task_nr > 0 &&
	       (signals == NULL || ftr_observer_signals_allow(signals, observer->root_is_gone))) {
		int status = 0;
		pid_t tid = wait_next(observer, &status);

		if (tid > 0)
			on_wait(observer, tid, status);
		else if (errno != EINTR)
			break;
	}
	*wait_status = observer->root_status;
	return observer->task_nr == 0;
}

struct ftr_observer *ftr_observer_new(const struct ftr_observer_sink *sink, pid_t child,
				      struct ftr_observer_gate *gate, struct ftr_err *err)
{
	long options = PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK |
		       PTRACE_O_TRACECLONE | PTRACE_O_TRACEEXEC | PTRACE_O_TRACEEXIT |
		       PTRACE_O_TRACESECCOMP | PTRACE_O_EXITKILL;
	struct ftr_observer *observer = calloc(1, sizeof(*observer));
	struct ftr_tracee *task;

	assert(sink->call != NULL && gate->fds[0] >= 0);
	if (observer == NULL)
		goto no_memory;
	observer->sink = *sink;
	ftr_observer_stacks_init(&observer->stacks, &observer->sink);
	observer->root = child;
	observer->root_status = SIGKILL;
	task = ftr_observer_task_new(observer, child);
	if (task == NULL || !ftr_observer_task_place(observer, task, NULL, false))
		goto no_memory;
	if (ptrace(PTRACE_SEIZE, child, NULL, (void *)options) < 0) {
		ftr_err_set(err, errno,
			    "cannot observe the program: %s: ptrace must be allowed here, and "
			    "no other tracer (gdb, strace) may be attached",
			    strerror(errno));
		goto fail;
	}
	if (send(gate->fds[0], "g", 1, MSG_NOSIGNAL) != 1) {
		ftr_err_set(err, errno, "cannot start the program: %s", strerror(errno));
		goto fail;
	}
	return observer;
no_memory:
	ftr_err_set(err, ENOMEM, "out of memory");
fail:
	ftr_observer_free(observer);
	return NULL;
}

void ftr_observer_free(struct ftr_observer *observer)
{
	if (observer == NULL)
		return;
	ftr_observer_tasks_fini(observer);
	ftr_observer_stacks_fini(&observer->stacks);
	ftr_strbuf_fini(&observer->scratch.cmdline);
	ftr_strbuf_fini(&observer->scratch.text);
	ftr_vec_fini(&observer->scratch.argv);
	free(observer);
}
