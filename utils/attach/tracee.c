/* SPDX-License-Identifier: MIT */
/* See tracee.h. */
#include "utils/attach/tracee.h"

#include <dirent.h>
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <time.h>

#include "utils/base/clock.h"

#define STOP_WAIT_NS UINT64_C(200000000)
#define POLLS_AT_ONCE 200		/* a thread that runs stops within microseconds */
#define POLL_NS 50000
#define KERNEL_FLAGS 0x204010u		/* PF_IO_WORKER, PF_USER_WORKER, PF_KTHREAD */

int ftr_tracee_wait(pid_t tid, int *status, uint64_t wait_ns)
{
	const struct timespec pause = { .tv_nsec = POLL_NS };
	uint64_t end_ns = ftr_clock_now_ns(CLOCK_MONOTONIC) + wait_ns;
	unsigned polls = 0;

	for (;;) {
		pid_t got = waitpid(tid, status, __WALL | (wait_ns != 0 ? WNOHANG : 0));

		if (got == tid)
			return WIFSTOPPED(*status) ? 0 : -ESRCH;
		if (got < 0 && errno != EINTR)
			return -ESRCH;
		if (wait_ns != 0 && ftr_clock_now_ns(CLOCK_MONOTONIC) > end_ns)
			return -ETIMEDOUT;
		if (++polls > POLLS_AT_ONCE)
			nanosleep(&pause, NULL);
	}
}

/* A signal that is on its way is delivered first, and a stop by a signal is none of ours. */
static int stop_wait(pid_t tid)
{
	int status, ret;

	while ((ret = ftr_tracee_wait(tid, &status, STOP_WAIT_NS)) == 0) {
		if (FTR_STATUS_EVENT(status) == PTRACE_EVENT_STOP && WSTOPSIG(status) == SIGTRAP)
			return 0;
		if (FTR_STATUS_EVENT(status) == PTRACE_EVENT_STOP) {
			ptrace(PTRACE_LISTEN, tid, 0, 0);
			return -ETIMEDOUT;
		}
		ptrace(PTRACE_CONT, tid, 0, FTR_STATUS_EVENT(status) == 0 ? WSTOPSIG(status) : 0);
	}
	return ret;
}

static struct ftr_tracee *tracee_find(const struct ftr_tracees *tracees, pid_t tid)
{
	size_t i;

	for (i = 0; i < tracees->all.nr; i++) {
		if (tracees->all.v[i].tid == tid)
			return &tracees->all.v[i];
	}
	return NULL;
}

static void tracee_remove(struct ftr_tracees *tracees, const struct ftr_tracee *tracee)
{
	tracees->all.v[tracee - tracees->all.v] = tracees->all.v[--tracees->all.nr];
}

/*
 * A thread that has ended and is not waited for yet, as a process's first one may be for long; or
 * one of the kernel's (io_uring) that is listed among the program's.
 */
static bool has_no_code(pid_t pid, pid_t tid)
{
	char path[64], line[512], *state;
	unsigned flags = 0;
	bool ret = true;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/stat", pid, tid);
	file = fopen(path, "re");
	if (file == NULL)
		return true;
	if (fgets(line, sizeof(line), file) != NULL) {
		state = strrchr(line, ')');
		ret = state == NULL || state[2] == 'Z' || state[2] == 'X' ||
		      (sscanf(state + 3, "%*d %*d %*d %*d %*d %u", &flags) == 1 &&
		       (flags & KERNEL_FLAGS) != 0);
	}
	fclose(file);
	return ret;
}

/* Asked to stop, and traced from now on. */
static int tracee_ask(struct ftr_tracees *tracees, pid_t tid)
{
	struct ftr_tracee *tracee = tracee_find(tracees, tid);

	if (tracee == NULL) {
		if (ptrace(PTRACE_SEIZE, tid, 0, PTRACE_O_TRACESYSGOOD) < 0) {
			int code = errno;

			return has_no_code(tracees->pid, tid) ? -ESRCH : -code;
		}
		if (ftr_vec_push(&tracees->all, ((struct ftr_tracee){ .tid = tid })) < 0) {
			ptrace(PTRACE_INTERRUPT, tid, 0, 0);
			return -ENOMEM;
		}
		tracee = &tracees->all.v[tracees->all.nr - 1];
		ftr_call_look(&tracee->call, tracees->pid, tid);
	}
	return ptrace(PTRACE_INTERRUPT, tid, 0, 0) < 0 ? -errno : 0;
}

/* It has been asked. */
static int tracee_stopped(struct ftr_tracees *tracees, pid_t tid)
{
	struct ftr_tracee *tracee = tracee_find(tracees, tid);
	int ret = stop_wait(tid);

	if (ret == -ESRCH)
		tracee_remove(tracees, tracee);
	if (ret < 0)
		return ret;
	tracee->is_stopped = true;
	ftr_call_unbreak(&tracee->call, tid);
	return 0;
}

int ftr_tracee_stop(struct ftr_tracees *tracees, pid_t tid)
{
	int ret = tracee_ask(tracees, tid);

	return ret < 0 ? ret : tracee_stopped(tracees, tid);
}

const struct ftr_call *ftr_tracee_call(const struct ftr_tracees *tracees, pid_t tid)
{
	return &tracee_find(tracees, tid)->call;
}

void ftr_tracee_release(struct ftr_tracees *tracees, pid_t tid)
{
	struct ftr_tracee *tracee = tracee_find(tracees, tid);

	if (tracee == NULL || (!tracee->is_stopped && stop_wait(tid) == -ETIMEDOUT))
		return;		/* it is asked again, or let go when we end */
	if (!tracee->is_stopped)
		ftr_call_unbreak(&tracee->call, tid);
	ftr_call_release(&tracee->call, tracees->pid, tid);
	ptrace(PTRACE_DETACH, tid, 0, 0);
	tracee_remove(tracees, tracee);
}

/* Ask those that are not traced yet; the number of them, or -errno. */
static int rest_ask(struct ftr_tracees *tracees)
{
	const struct dirent *entry;
	char path[64];
	int nr = 0;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/task", tracees->pid);
	dir = opendir(path);
	if (dir == NULL)
		return -ESRCH;
	while (nr >= 0 && (entry = readdir(dir)) != NULL) {
		pid_t tid = atoi(entry->d_name);
		int ret;

		if (tid <= 0 || (tracee_find(tracees, tid) != NULL &&
				 tracee_find(tracees, tid)->is_stopped))
			continue;
		ret = tracee_ask(tracees, tid);
		if (ret == 0)
			nr++;
		else if (ret != -ESRCH)
			nr = ret;
	}
	closedir(dir);
	return nr;
}

static void urgent_begin(struct ftr_tracees *tracees)
{
	const struct sched_param urgent = { .sched_priority = sched_get_priority_min(SCHED_RR) };
	struct sched_param before;

	if (tracees->is_urgent)
		return;
	tracees->policy = sched_getscheduler(0);
	/* record --rt-prio has asked for more. */
	if (tracees->policy < 0 || sched_getparam(0, &before) < 0 || before.sched_priority != 0)
		return;
	tracees->is_urgent = sched_setscheduler(0, SCHED_RR, &urgent) == 0;
}

static void urgent_end(struct ftr_tracees *tracees)
{
	const struct sched_param before = { .sched_priority = 0 };

	if (tracees->is_urgent)
		sched_setscheduler(0, tracees->policy, &before);
	tracees->is_urgent = false;
}

/* All are asked first, so that they stop at once. */
int ftr_tracees_stop(struct ftr_tracees *tracees)
{
	int nr, ret = 0;
	size_t i;

	urgent_begin(tracees);
	tracees->asked_ns = ftr_clock_now_ns(CLOCK_MONOTONIC);
	while ((nr = rest_ask(tracees)) > 0) {
		for (i = 0; i < tracees->all.nr && ret == 0; i++) {
			if (tracees->all.v[i].is_stopped)
				continue;
			ret = tracee_stopped(tracees, tracees->all.v[i].tid);
			if (ret == -ESRCH) {
				ret = 0;
				i--;
			}
		}
		if (ret < 0)
			return ret;
	}
	return nr;
}

void ftr_tracees_release(struct ftr_tracees *tracees, pid_t kept)
{
	size_t i = tracees->all.nr;

	while (i-- > 0) {
		if (tracees->all.v[i].tid != kept)
			ftr_tracee_release(tracees, tracees->all.v[i].tid);
	}
	tracees->released_ns = ftr_clock_now_ns(CLOCK_MONOTONIC);
	urgent_end(tracees);
}

void ftr_tracees_fini(struct ftr_tracees *tracees)
{
	ftr_tracees_release(tracees, 0);
	ftr_vec_fini(&tracees->all);
}
