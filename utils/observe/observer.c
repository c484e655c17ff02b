/* SPDX-License-Identifier: MIT */
/* The loop of waits, and what kind of stop each of them is. */
#include "utils/observe/state.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/wait.h>

#define SYSCALL_STOP (SIGTRAP | 0x80)

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

	switch (status >> 16) {
	case PTRACE_EVENT_SECCOMP:
		ftr_observer_on_seccomp(observer, task);
		break;
	case PTRACE_EVENT_FORK:
	case PTRACE_EVENT_VFORK:
	case PTRACE_EVENT_CLONE:
		ftr_observer_on_fork(observer, task, status >> 16);
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
			ftr_observer_on_syscall(observer, task);
		else
			ftr_observer_task_resume(task, signal);
		break;
	}
}

static void on_wait(struct ftr_observer *observer, pid_t tid, int status)
{
	struct ftr_tracee *task = ftr_observer_task_find(observer, tid);

	if (!WIFSTOPPED(status)) {
		if (task != NULL)
			ftr_observer_on_gone(observer, task, status);
		return;
	}
	if (task == NULL) {		/* a child whose parent's event is still to come */
		task = ftr_observer_task_new(observer, tid);
		if (task != NULL)
			observer->early_nr++;
	}
	if (task == NULL)
		ptrace(PTRACE_CONT, tid, NULL, NULL);
	else if (!task->is_known)
		task->has_stopped = true;
	else
		on_event(observer, task, status);
}

/* 0: it is to be followed no longer. */
static pid_t wait_next(struct ftr_observer *observer, int *status)
{
	pid_t tid;

	if (observer->sink.idle != NULL) {
		tid = waitpid(-1, status, __WALL | WNOHANG);
		if (tid != 0 || !observer->sink.idle(observer->sink.arg))
			return tid;
	}
	return waitpid(-1, status, __WALL);
}

bool ftr_observer_run(struct ftr_observer *observer, int *wait_status)
{
	while (observer->task_nr > 0) {
		int status = 0;
		pid_t tid = wait_next(observer, &status);

		if (tid > 0)
			on_wait(observer, tid, status);
		else if (tid == 0 || errno != EINTR)
			break;
	}
	*wait_status = observer->root_status;
	return observer->task_nr == 0;
}

bool ftr_observer_root_is_gone(const struct ftr_observer *observer)
{
	return observer->root_is_gone;
}

struct ftr_observer *ftr_observer_new(const struct ftr_observer_sink *sink, pid_t child,
				      struct ftr_observer_gate *gate, struct ftr_err *err)
{
	long options = PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK |
		       PTRACE_O_TRACECLONE | PTRACE_O_TRACEEXEC | PTRACE_O_TRACEEXIT |
		       PTRACE_O_TRACESECCOMP | PTRACE_O_EXITKILL;
	struct ftr_observer *observer = calloc(1, sizeof(*observer));
	struct ftr_tracee *task;

	if (observer == NULL)
		goto no_memory;
	observer->sink = *sink;
	observer->root = child;
	observer->root_status = SIGKILL;
	task = ftr_observer_task_new(observer, child);
	if (task == NULL || !ftr_observer_task_place(observer, task, NULL, false))
		goto no_memory;
	if (ptrace(PTRACE_SEIZE, child, NULL, (void *)options) < 0) {
		ftr_err_set(err, errno,
			    "cannot observe the program: %s: ptrace must be allowed here, and "
			    "nobody else may trace it",
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
	ftr_syscall_scratch_fini(&observer->scratch);
	free(observer);
}
