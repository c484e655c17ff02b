/* SPDX-License-Identifier: MIT */
/*
 * Tasks: the table of those that are followed, and how they begin, become other programs, and end;
 * some are killed in the middle of that.
 */
#include "utils/observe/task.h"

#include <assert.h>
#include <dirent.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "utils/base/bits.h"
#include "utils/base/clock.h"

/* ---- the table ---- */

static struct ftr_tracee **bucket_of(struct ftr_observer *observer, pid_t tid)
{
	return &observer->tasks[(unsigned)tid % FTR_OBSERVER_BUCKETS];
}

struct ftr_tracee *ftr_observer_task_find(struct ftr_observer *observer, pid_t tid)
{
	struct ftr_tracee *task = *bucket_of(observer, tid);

	while (task != NULL && task->tid != tid)
		task = task->next;
	return task;
}

static void task_link(struct ftr_observer *observer, struct ftr_tracee *task)
{
	struct ftr_tracee **bucket = bucket_of(observer, task->tid);

	task->next = *bucket;
	*bucket = task;
}

static void task_unlink(struct ftr_observer *observer, struct ftr_tracee *task)
{
	struct ftr_tracee **link = bucket_of(observer, task->tid);

	while (*link != task)
		link = &(*link)->next;
	*link = task->next;
}

struct ftr_tracee *ftr_observer_task_new(struct ftr_observer *observer, pid_t tid)
{
	struct ftr_tracee *task = observer->unused;

	if (task != NULL) {
		observer->unused = task->next;
	} else {
		task = calloc(1, sizeof(*task));
		if (task == NULL)
			return NULL;
	}
	task->tid = tid;
	task->stat_fd = -1;
	task_link(observer, task);
	observer->task_nr++;
	return task;
}

static void process_drop(struct ftr_tracee_process *process)
{
	if (process == NULL || --process->users > 0)
		return;
	ftr_tracee_memory_forget(process);
	ftr_space_drop(process->space);
	free(process);
}

/* The buffers are kept for the next task. */
static void task_drop(struct ftr_observer *observer, struct ftr_tracee *task)
{
	struct ftr_tracee kept = { .next = observer->unused };

	task_unlink(observer, task);
	process_drop(task->process);
	if (task->stat_fd >= 0)
		close(task->stat_fd);
	memcpy(kept.path, task->path, sizeof(kept.path));
	memcpy(kept.real, task->real, sizeof(kept.real));
	*task = kept;
	observer->unused = task;
	observer->task_nr--;
}

static void task_free(struct ftr_tracee *task)
{
	for (size_t i = 0; i < sizeof(task->path) / sizeof(task->path[0]); i++)
		ftr_strbuf_fini(&task->path[i]);
	for (size_t i = 0; i < sizeof(task->real) / sizeof(task->real[0]); i++)
		ftr_strbuf_fini(&task->real[i]);
	free(task);
}

bool ftr_observer_task_place(struct ftr_observer *observer, struct ftr_tracee *task,
			     const struct ftr_tracee *parent, bool is_thread)
{
	assert(!task->is_known && task->process == NULL);
	task->upid = ftr_upid_make(++observer->serial, task->tid);
	task->is_known = true;
	if (is_thread && parent != NULL) {
		task->process = parent->process;
		task->process->users++;
		return true;
	}
	task->process = calloc(1, sizeof(*task->process));
	if (task->process == NULL)
		return false;
	if (parent != NULL)
		*task->process = *parent->process;
	task->process->pid = task->tid;
	task->process->users = 1;
	task->process->shares_fds = false;
	task->process->has_threads = false;
	task->process->memory_fd = -1;
	if (task->process->space != NULL)
		task->process->space->users++;
	return true;
}

void ftr_observer_tasks_fini(struct ftr_observer *observer)
{
	struct ftr_tracee *task;

	for (size_t i = 0; i < FTR_OBSERVER_BUCKETS; i++) {
		while ((task = observer->tasks[i]) != NULL)
			task_drop(observer, task);
	}
	while ((task = observer->unused) != NULL) {
		observer->unused = task->next;
		task_free(task);
	}
}

/* ---- calls ---- */

void ftr_observer_task_resume(struct ftr_tracee *task, int signal)
{
	bool wants_more = task->call != FTR_SYSID_NONE ||
			  (task->process != NULL && task->process->comm_nr > 0);

	/* A failure means that it was killed meanwhile: its end will be reported. */
	ptrace(wants_more ? PTRACE_SYSCALL : PTRACE_CONT, task->tid, NULL,
	       (void *)(intptr_t)signal);
}

struct ftr_decoding ftr_observer_decoding(struct ftr_observer *observer, struct ftr_tracee *task)
{
	uint64_t now = ftr_clock_now_ns(CLOCK_MONOTONIC);

	assert(task->is_known);
	return (struct ftr_decoding){
		.observer = observer,
		.tracee = task,
		.call = {
			.upid = task->upid,
			.start_ns = task->call != FTR_SYSID_NONE ? task->start_ns : now,
			.stack = task->call != FTR_SYSID_NONE ? task->stack : 0,
			.end_ns = now,
		},
	};
}

/* ---- life ---- */

static bool is_cloning(const struct ftr_tracee *task, int64_t flag)
{
	return (task->call == FTR_SYSID_CLONE || task->call == FTR_SYSID_CLONE3) &&
	       (task->flags & flag) == flag;
}

/* Act on the stop, or the end, that an early task reported before it was announced. */
static void early_continue(struct ftr_observer *observer, struct ftr_tracee *task)
{
	int status = task->early_status;

	task->has_stopped = false;
	if (!WIFSTOPPED(status))
		ftr_observer_on_gone(observer, task, status);
	else if (ftr_stop_event(status) == PTRACE_EVENT_EXIT)
		ftr_observer_on_end(observer, task);
	else
		ftr_observer_task_resume(task, 0);
}

/*
 * @task has made @tid, by @id when not by a clone: report it, and let the child go on where it
 * waits for that.
 */
static void child_place(struct ftr_observer *observer, struct ftr_tracee *task, pid_t tid,
			bool is_thread, enum ftr_sysid id)
{
	struct ftr_decoding decoding = ftr_observer_decoding(observer, task);
	struct ftr_tracee *child = ftr_observer_task_find(observer, tid);

	if (child == NULL)
		child = ftr_observer_task_new(observer, tid);
	else if (child->is_known)	/* announced as an orphan */
		return;
	else
		observer->early_nr--;
	if (child == NULL || !ftr_observer_task_place(observer, child, task, is_thread))
		return;
	if (task->call != FTR_SYSID_NONE && (task->flags & CLONE_FILES) != 0)
		task->process->shares_fds = child->process->shares_fds = true;
	if (is_thread)
		task->process->has_threads = true;
	else if (task->process->memory_fd >= 0 &&
		 (id == FTR_SYSID_VFORK || is_cloning(task, CLONE_VM)))
		child->process->memory_fd =
			fcntl(task->process->memory_fd, F_DUPFD_CLOEXEC, 0);
	ftr_decode_fork(&decoding, id, child->upid);
	if (child->has_stopped)
		early_continue(observer, child);
}

/*
 * Is the task still where it was when this stop was reported?  Killed, it may have gone on to its
 * exit.
 */
static bool is_at_event(const struct ftr_tracee *task, int event)
{
	siginfo_t info;

	return ptrace(PTRACE_GETSIGINFO, task->tid, NULL, &info) == 0 &&
	       ftr_stop_code_event(info.si_code) == event;
}

void ftr_observer_on_fork(struct ftr_observer *observer, struct ftr_tracee *task, int event)
{
	bool is_thread = task->call != FTR_SYSID_NONE && (task->flags & CLONE_THREAD) != 0;
	unsigned long tid = 0;

	if (ptrace(PTRACE_GETEVENTMSG, task->tid, NULL, &tid) < 0 || !is_at_event(task, event))
		return;
	child_place(observer, task, (pid_t)tid, is_thread,
		    event == PTRACE_EVENT_VFORK ? FTR_SYSID_VFORK : FTR_SYSID_FORK);
	/* With a flag to put back the call's exit is still needed, for nothing else. */
	if (task->untraced)
		ptrace(PTRACE_SYSCALL, task->tid, NULL, NULL);
	else
		task->call = FTR_SYSID_NONE;
	if (!task->untraced)
		ftr_observer_task_resume(task, 0);
}

static void report_exit(struct ftr_observer *observer, struct ftr_tracee *task, int wait_status)
{
	struct ftr_decoding decoding;

	if (task->has_exited || !task->is_known)
		return;
	decoding = ftr_observer_decoding(observer, task);
	ftr_decode_exit(&decoding, wait_status);
	task->has_exited = true;
}

/* The kernel ignores these bits under an unprivileged tracer, and with no_new_privs. */
static void warn_setuid(struct ftr_observer *observer, const struct ftr_tracee *task)
{
	const char *path = ftr_strbuf_str(&task->real[0]);
	struct stat st;

	if (geteuid() == 0 || stat(path, &st) < 0 || (st.st_mode & (S_ISUID | S_ISGID)) == 0 ||
	    ((st.st_mode & S_ISUID) != 0 && st.st_uid == geteuid()))
		return;
	ftr_diag_warn(observer->sink.diag, "%s is set-uid and runs unprivileged while it is "
		      "observed; run ftr as root to keep its privileges", path);
}

/* A thread that execs becomes the leader; the leader and the other threads are gone. */
static struct ftr_tracee *exec_take_over(struct ftr_observer *observer, struct ftr_tracee *leader)
{
	unsigned long former = 0;
	struct ftr_tracee *task;

	if (ptrace(PTRACE_GETEVENTMSG, leader->tid, NULL, &former) < 0 ||
	    (pid_t)former == leader->tid)
		return leader;
	task = ftr_observer_task_find(observer, (pid_t)former);
	if (task == NULL)
		return leader;
	report_exit(observer, leader, 0);
	task_unlink(observer, task);
	task->tid = leader->tid;
	task_drop(observer, leader);
	if (task->stat_fd >= 0)
		close(task->stat_fd);
	task->stat_fd = -1;
	task_link(observer, task);
	return task;
}

void ftr_observer_on_exec(struct ftr_observer *observer, struct ftr_tracee *task)
{
	struct ftr_decoding decoding;

	task = exec_take_over(observer, task);
	decoding = ftr_observer_decoding(observer, task);
	task->process->has_threads = false;
	observer->root_has_run |= task->tid == observer->root;
	ftr_tracee_memory_forget(task->process);
	ftr_space_drop(task->process->space);
	task->process->space = NULL;
	ftr_decode_exec(&decoding);
	warn_setuid(observer, task);
	task->call = FTR_SYSID_NONE;
	ftr_observer_task_resume(task, 0);
}

/* ---- creators that end before they can report what they created ---- */

/* The value behind @field in /proc/TID/status; "" = there is no such task any more. */
static void status_field(pid_t tid, const char *field, char value[16])
{
	struct ftr_tracee task = { .tid = tid };
	struct ftr_strbuf text;
	const char *line = NULL;

	value[0] = '\0';
	ftr_strbuf_init(&text);
	if (ftr_tracee_read_file(&task, "status", 8192, &text) == 0)
		line = strstr(ftr_strbuf_str(&text), field);
	if (line != NULL)
		sscanf(line + strlen(field), "%15s", value);
	ftr_strbuf_fini(&text);
}

/* 0 = there is no such task any more. */
static pid_t status_tid(pid_t tid, const char *field)
{
	char value[16];

	status_field(tid, field, value);
	return (pid_t)strtol(value, NULL, 10);
}

/* Not announced, and ours: what is over, and was waited for, has no tracer. */
static bool is_unannounced(struct ftr_observer *observer, pid_t tid)
{
	const struct ftr_tracee *task = ftr_observer_task_find(observer, tid);

	return task != NULL ? !task->is_known : status_tid(tid, "\nTracerPid:\t") == getpid();
}

/* The tid that the kernel wrote for CLONE_PARENT_SETTID, before the new task ran. */
static pid_t reported_tid(const struct ftr_tracee *task)
{
	uint64_t addr = task->args[2];
	int32_t tid = 0;

	if ((task->flags & CLONE_PARENT_SETTID) == 0)
		return 0;
	if (task->call == FTR_SYSID_CLONE3 &&
	    ftr_tracee_read(task, task->args[0] + offsetof(struct clone_args, parent_tid), &addr,
			    sizeof(addr)) != (ssize_t)sizeof(addr))
		return 0;
	return ftr_tracee_read(task, addr, &tid, sizeof(tid)) == (ssize_t)sizeof(tid) ? tid : 0;
}

/* Is the task in the kernel, where it may yet report what it creates?  Nothing sleeps there. */
static bool may_report(const struct ftr_tracee *task)
{
	char state[16];

	if (!task->is_known || task->has_exited)
		return false;
	status_field(task->tid, "\nState:\t", state);
	return state[0] != '\0' && strchr("RDt", state[0]) != NULL;
}

static bool has_other_creator(struct ftr_observer *observer, const struct ftr_tracee *task)
{
	for (size_t i = 0; i < FTR_OBSERVER_BUCKETS; i++) {
		for (const struct ftr_tracee *other = observer->tasks[i]; other != NULL;
		     other = other->next) {
			if (other != task && other->process == task->process &&
			    is_cloning(other, CLONE_THREAD) && may_report(other))
				return true;
		}
	}
	return false;
}

/*
 * The kernel does not tell which thread made another.  What is not @task's for certain is left to
 * the other threads that are creating one, as long as there are any.
 */
static void threads_find(struct ftr_observer *observer, struct ftr_tracee *task)
{
	pid_t reported = reported_tid(task);
	struct dirent *entry;
	char path[64];
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)task->process->pid);
	dir = opendir(path);
	while (dir != NULL && (entry = readdir(dir)) != NULL) {
		pid_t tid = (pid_t)strtol(entry->d_name, NULL, 10);

		if (tid > 0 && is_unannounced(observer, tid) &&
		    (tid == reported || !has_other_creator(observer, task)))
			child_place(observer, task, tid, true, FTR_SYSID_NONE);
	}
	if (dir != NULL)
		closedir(dir);
}

static void children_find(struct ftr_observer *observer, struct ftr_tracee *task)
{
	struct ftr_strbuf text;
	char name[64], *pos, *end;

	snprintf(name, sizeof(name), "task/%d/children", (int)task->tid);
	ftr_strbuf_init(&text);
	if (ftr_tracee_read_file(task, name, FTR_KIB(64), &text) == 0 && text.len > 0) {
		for (pos = text.s; ; pos = end) {
			pid_t tid = (pid_t)strtol(pos, &end, 10);

			if (end == pos)
				break;
			if (is_unannounced(observer, tid))
				child_place(observer, task, tid, false, FTR_SYSID_NONE);
		}
	}
	ftr_strbuf_fini(&text);
}

/*
 * Killed in the middle of a fork or clone, a task never reports its child; nor does one whose
 * process is ended by another thread, by an exit or an exec.
 */
static void find_unreported(struct ftr_observer *observer, struct ftr_tracee *task)
{
	if (is_cloning(task, CLONE_THREAD))
		threads_find(observer, task);
	children_find(observer, task);
}

static bool can_have_created(const struct ftr_tracee *task, pid_t pid, pid_t parent,
			     bool is_thread)
{
	if (!task->is_known)
		return false;
	if (is_thread)
		return task->process->pid == pid && is_cloning(task, CLONE_THREAD);
	return task->process->pid == parent || is_cloning(task, CLONE_PARENT);
}

/* May a task still report that it has created @early? */
static bool has_creator(struct ftr_observer *observer, const struct ftr_tracee *early)
{
	pid_t pid = status_tid(early->tid, "\nTgid:\t");
	pid_t parent = status_tid(early->tid, "\nPPid:\t");
	bool is_thread = pid != 0 && pid != early->tid;

	for (size_t i = 0; i < FTR_OBSERVER_BUCKETS; i++) {
		for (const struct ftr_tracee *task = observer->tasks[i]; task != NULL;
		     task = task->next) {
			if (can_have_created(task, pid, parent, is_thread) && may_report(task))
				return true;
		}
	}
	return false;
}

/* Any task of the process that has not reported its end; NULL. */
static struct ftr_tracee *member_find(struct ftr_observer *observer, pid_t pid)
{
	for (size_t i = 0; i < FTR_OBSERVER_BUCKETS; i++) {
		for (struct ftr_tracee *task = observer->tasks[i]; task != NULL;
		     task = task->next) {
			if (task->is_known && !task->has_exited && task->process->pid == pid)
				return task;
		}
	}
	return NULL;
}

/*
 * The task that created it is gone without a word: it is announced by another thread of its
 * process, else by the process that inherited it, else by the first one.
 */
static void orphan_adopt(struct ftr_observer *observer, struct ftr_tracee *early)
{
	pid_t pid = status_tid(early->tid, "\nTgid:\t");
	struct ftr_tracee *by = member_find(observer, pid);
	bool is_thread = by != NULL;
	uint8_t call;
	int64_t flags;

	if (by == NULL)
		by = member_find(observer, status_tid(early->tid, "\nPPid:\t"));
	if (by == NULL)
		by = member_find(observer, observer->root);
	if (by == NULL) {
		observer->early_nr--;
		if (ftr_observer_task_place(observer, early, NULL, false))
			early_continue(observer, early);
		return;
	}
	call = by->call;	/* one that it may be in: not what created this */
	flags = by->flags;
	by->call = is_thread ? FTR_SYSID_CLONE : FTR_SYSID_NONE;
	by->flags = CLONE_THREAD;
	child_place(observer, by, early->tid, is_thread, FTR_SYSID_FORK);
	by->call = call;
	by->flags = flags;
}

static struct ftr_tracee *orphan_find(struct ftr_observer *observer, struct ftr_tracee *task)
{
	while (task != NULL && (task->is_known || has_creator(observer, task)))
		task = task->next;
	return task;
}

void ftr_observer_adopt_orphans(struct ftr_observer *observer)
{
	struct ftr_tracee *task;

	for (size_t i = 0; observer->early_nr > 0 && i < FTR_OBSERVER_BUCKETS; i++) {
		while ((task = orphan_find(observer, observer->tasks[i])) != NULL)
			orphan_adopt(observer, task);
	}
}

void ftr_observer_on_end(struct ftr_observer *observer, struct ftr_tracee *task)
{
	unsigned long status = 0;
	bool is_there = ptrace(PTRACE_GETEVENTMSG, task->tid, NULL, &status) == 0;

	if (is_there && !task->has_exited &&
	    ((status & 127) != 0 || is_cloning(task, 0) || task->process->has_threads))
		find_unreported(observer, task);
	if (is_there)
		report_exit(observer, task, (int)status);
	task->call = FTR_SYSID_NONE;
	ftr_observer_task_resume(task, 0);
}

void ftr_observer_on_gone(struct ftr_observer *observer, struct ftr_tracee *task, int status)
{
	if (task->tid == observer->root) {
		observer->root_status = status;
		observer->root_is_gone = true;
	}
	if (!task->has_exited)		/* killed once more, it did not stop at its end */
		find_unreported(observer, task);
	report_exit(observer, task, status);
	task_drop(observer, task);
}
