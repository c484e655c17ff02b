/* SPDX-License-Identifier: MIT */
/* The loop of waits and stops: who is where, and what is to be done next. */
#include "utils/record/syscall_observer.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "utils/base/clock.h"
#include "utils/record/syscall_decode.h"

#define BUCKETS 1024u
#define SYSCALL_STOP (SIGTRAP | 0x80)

struct ftr_observer {
	struct ftr_observer_sink sink;
	struct ftr_tracee *tasks[BUCKETS];	/* by tid */
	struct ftr_tracee *unused;		/* (owned) for new tasks */
	unsigned task_nr;
	unsigned early_nr;		/* stopped before their parent's event came */
	uint64_t serial;		/* of upids */
	pid_t root;
	int root_status;
	struct ftr_syscall_scratch scratch;
};

/* ---- tasks ---- */

static struct ftr_tracee **bucket_of(struct ftr_observer *observer, pid_t tid)
{
	return &observer->tasks[(unsigned)tid % BUCKETS];
}

static struct ftr_tracee *task_find(struct ftr_observer *observer, pid_t tid)
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

static struct ftr_tracee *task_new(struct ftr_observer *observer, pid_t tid)
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
	if (process != NULL && --process->users == 0)
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

/* Its place in the tree is known from now on.  @parent NULL: none that we know. */
static bool task_place(struct ftr_observer *observer, struct ftr_tracee *task,
		       const struct ftr_tracee *parent, bool is_thread)
{
	uint64_t mask = (uint64_t)INT64_MAX;

	task->upid = (++observer->serial << FTR_ETRACE_PID_BITS | (uint64_t)task->tid) & mask;
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
	return true;
}

/* ---- stops ---- */

static void task_resume(struct ftr_tracee *task, int signal)
{
	bool wants_more = task->call != FTR_SYSID_NONE ||
			  (task->process != NULL && task->process->comm_nr > 0);

	/* A failure means that it was killed meanwhile: its end will be reported. */
	ptrace(wants_more ? PTRACE_SYSCALL : PTRACE_CONT, task->tid, NULL, (void *)(intptr_t)signal);
}

static void sink_record(void *arg, const struct ftr_etrace_record *rec)
{
	struct ftr_observer *observer = arg;

	observer->sink.record(observer->sink.arg, rec);
}

static uint64_t sink_upid_find(void *arg, pid_t tid)
{
	const struct ftr_tracee *task = task_find(arg, tid);

	return task != NULL ? task->upid : 0;
}

static struct ftr_syscall_decoding decoding_of(struct ftr_observer *observer, struct ftr_tracee *task)
{
	uint64_t now = ftr_clock_now_ns(CLOCK_MONOTONIC);

	return (struct ftr_syscall_decoding){
		.tracee = task,
		.scratch = &observer->scratch,
		.emit = sink_record,
		.upid_find = sink_upid_find,
		.arg = observer,
		.rec = {
			.upid = task->upid,
			.start_ns = task->call != FTR_SYSID_NONE ? task->start_ns : now,
			.time_ns = now,
			.cpu = ftr_tracee_cpu(task),
		},
	};
}

/* CLONE_UNTRACED would make a child that nobody follows and whose filtered calls fail: hide it from the
 * kernel.  The register, or the struct, is put right again after the call. */
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
		.tracee = task, .scratch = &observer->scratch, .emit = sink_record, .arg = observer,
		.rec = { .upid = task->upid, .start_ns = task->start_ns, .time_ns = task->start_ns },
	};
	if (id >= FTR_SYSID_RENAME && id <= FTR_SYSID_LINKAT)
		decoding.rec.cpu = ftr_tracee_cpu(task);
	ftr_syscall_begin(&decoding);
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
		call_begin(observer, task, &info, ftr_syscall_stop_abi(info.seccomp.ret_data),
			   ftr_syscall_stop_id(info.seccomp.ret_data));
	task_resume(task, 0);
}

/* A write, while the process has a comm file open: all its calls stop. */
static void on_entry(struct ftr_observer *observer, struct ftr_tracee *task,
		     const struct __ptrace_syscall_info *info)
{
	for (unsigned abi = 0; ftr_abis[abi].name != NULL; abi++) {
		const struct ftr_abi *a = &ftr_abis[abi];

		for (size_t i = 0; a->audit_arch == info->arch && i < a->numbers_nr; i++) {
			if (a->numbers[i].nr == info->entry.nr && a->numbers[i].id == FTR_SYSID_WRITE &&
			    ftr_syscall_is_comm_fd(task->process, (int32_t)info->entry.args[0]))
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
		struct ftr_syscall_decoding decoding = decoding_of(observer, task);

		if (task->untraced)
			hide_untraced(task, false);
		ftr_syscall_end(&decoding, info.exit.rval);
	}
	task_resume(task, 0);
}

/* @task has made @tid, by @call when not by a clone: record it, and let the child go when it waits for that. */
static void child_place(struct ftr_observer *observer, struct ftr_tracee *task, pid_t tid, bool is_thread,
			const char *call)
{
	struct ftr_syscall_decoding decoding = decoding_of(observer, task);
	struct ftr_tracee *child = task_find(observer, tid);

	if (child == NULL)
		child = task_new(observer, tid);
	else if (!child->is_known)
		observer->early_nr--;
	if (child == NULL || (!child->is_known && !task_place(observer, child, task, is_thread)))
		return;
	decoding.rec.call = call;
	ftr_syscall_fork(&decoding, child->upid);
	if (child->has_stopped)
		task_resume(child, 0);
	child->has_stopped = false;
}

/* Is the task still where it was when this stop was reported?  Killed, it may have gone on to its exit. */
static bool is_at_event(const struct ftr_tracee *task, int event)
{
	siginfo_t info;

	return ptrace(PTRACE_GETSIGINFO, task->tid, NULL, &info) == 0 && info.si_code >> 8 == event;
}

static void on_fork(struct ftr_observer *observer, struct ftr_tracee *task, int event)
{
	bool is_thread = task->call != FTR_SYSID_NONE && (task->flags & CLONE_THREAD) != 0;
	unsigned long tid = 0;

	if (ptrace(PTRACE_GETEVENTMSG, task->tid, NULL, &tid) < 0 || !is_at_event(task, event))
		return;
	child_place(observer, task, (pid_t)tid, is_thread,
		    event == PTRACE_EVENT_VFORK ? "vfork" : "fork");
	/* With a flag to put back the call's exit is still needed, for nothing else. */
	if (task->untraced)
		ptrace(PTRACE_SYSCALL, task->tid, NULL, NULL);
	else
		task->call = FTR_SYSID_NONE;
	if (!task->untraced)
		task_resume(task, 0);
}

static void record_exit(struct ftr_observer *observer, struct ftr_tracee *task, unsigned wait_status)
{
	struct ftr_syscall_decoding decoding;

	if (task->has_exited || !task->is_known)
		return;
	decoding = decoding_of(observer, task);
	ftr_syscall_exit(&decoding, wait_status);
	task->has_exited = true;
}

/* The kernel ignores these bits for who is traced without rights, and with no_new_privs. */
static void warn_setuid(struct ftr_observer *observer, const struct ftr_tracee *task)
{
	const char *path = ftr_strbuf_str(&task->real[0]);
	struct stat st;

	if (geteuid() == 0 || stat(path, &st) < 0 || (st.st_mode & (S_ISUID | S_ISGID)) == 0 ||
	    ((st.st_mode & S_ISUID) != 0 && st.st_uid == geteuid()))
		return;
	ftr_diag_warn(observer->sink.diag, "%s is set-uid and runs without its rights while it is "
		      "observed: run ftr as root to follow it with them", path);
}

/* A thread that execs becomes the leader; the leader and the other threads are gone. */
static struct ftr_tracee *exec_take_over(struct ftr_observer *observer, struct ftr_tracee *leader)
{
	unsigned long former = 0;
	struct ftr_tracee *task;

	if (ptrace(PTRACE_GETEVENTMSG, leader->tid, NULL, &former) < 0 ||
	    (pid_t)former == leader->tid)
		return leader;
	task = task_find(observer, (pid_t)former);
	if (task == NULL)
		return leader;
	record_exit(observer, leader, 0);
	task_unlink(observer, task);
	task->tid = leader->tid;
	task_drop(observer, leader);
	if (task->stat_fd >= 0)
		close(task->stat_fd);
	task->stat_fd = -1;
	task_link(observer, task);
	return task;
}

static void on_exec(struct ftr_observer *observer, struct ftr_tracee *task)
{
	struct ftr_syscall_decoding decoding;

	task = exec_take_over(observer, task);
	decoding = decoding_of(observer, task);
	ftr_syscall_exec(&decoding);
	warn_setuid(observer, task);
	task->call = FTR_SYSID_NONE;
	task_resume(task, 0);
}

/* A number in /proc/TID/status; -1 = there is no such task any more. */
static long status_field(pid_t tid, const char *field)
{
	struct ftr_tracee task = { .tid = tid };
	struct ftr_strbuf text;
	const char *line = NULL;
	long value = -1;

	ftr_strbuf_init(&text);
	if (ftr_tracee_read_file(&task, "status", 8192, &text) == 0)
		line = strstr(ftr_strbuf_str(&text), field);
	if (line != NULL)
		value = strtol(line + strlen(field), NULL, 10);
	ftr_strbuf_fini(&text);
	return value;
}

/* Killed in the middle of a fork, a task never reports its child. */
static void children_find(struct ftr_observer *observer, struct ftr_tracee *task)
{
	struct ftr_strbuf text;
	char name[64], *pos, *end;

	snprintf(name, sizeof(name), "task/%d/children", (int)task->tid);
	ftr_strbuf_init(&text);
	if (ftr_tracee_read_file(task, name, 1 << 16, &text) == 0 && text.len > 0) {
		for (pos = text.s; ; pos = end) {
			pid_t tid = (pid_t)strtol(pos, &end, 10);
			const struct ftr_tracee *child = task_find(observer, tid);

			if (end == pos)
				break;
			/* One that is over, but not waited for yet, has no tracer. */
			if (child == NULL ? status_field(tid, "\nTracerPid:\t") == getpid() :
					    !child->is_known)
				child_place(observer, task, tid, false, NULL);
		}
	}
	ftr_strbuf_fini(&text);
}

static void on_end(struct ftr_observer *observer, struct ftr_tracee *task)
{
	unsigned long status = 0;
	bool is_in_clone = task->call == FTR_SYSID_CLONE || task->call == FTR_SYSID_CLONE3;
	bool is_there = ptrace(PTRACE_GETEVENTMSG, task->tid, NULL, &status) == 0;

	if (is_there && !task->has_exited && ((status & 127) != 0 || is_in_clone))
		children_find(observer, task);
	if (is_there)
		record_exit(observer, task, (unsigned)status);
	task->call = FTR_SYSID_NONE;
	task_resume(task, 0);
}

/* A group stop is listened to, so that SIGCONT ends it as without us; others are our own. */
static void on_stop(struct ftr_tracee *task, int signal)
{
	if (signal == SIGSTOP || signal == SIGTSTP || signal == SIGTTIN || signal == SIGTTOU)
		ptrace(PTRACE_LISTEN, task->tid, NULL, NULL);
	else
		task_resume(task, 0);
}

static void on_event(struct ftr_observer *observer, struct ftr_tracee *task, int status)
{
	int signal = WSTOPSIG(status);

	switch (status >> 16) {
	case PTRACE_EVENT_SECCOMP:
		on_seccomp(observer, task);
		break;
	case PTRACE_EVENT_FORK:
	case PTRACE_EVENT_VFORK:
	case PTRACE_EVENT_CLONE:
		on_fork(observer, task, status >> 16);
		break;
	case PTRACE_EVENT_EXEC:
		on_exec(observer, task);
		break;
	case PTRACE_EVENT_EXIT:
		on_end(observer, task);
		break;
	case PTRACE_EVENT_STOP:
		on_stop(task, signal);
		break;
	default:
		if (signal == SYSCALL_STOP)
			on_syscall(observer, task);
		else
			task_resume(task, signal);
		break;
	}
}

/* ---- the loop ---- */

static bool parent_is_gone(struct ftr_observer *observer, const struct ftr_tracee *task)
{
	return task_find(observer, (pid_t)status_field(task->tid, "\nPPid:\t")) == NULL;
}

/* A parent that is killed in the middle of a fork never reports it: its child must not wait for ever. */
static void adopt_early(struct ftr_observer *observer)
{
	for (size_t i = 0; observer->early_nr > 0 && i < BUCKETS; i++) {
		for (struct ftr_tracee *task = observer->tasks[i]; task != NULL; task = task->next) {
			if (task->is_known || !parent_is_gone(observer, task))
				continue;
			observer->early_nr--;
			task->has_stopped = false;
			if (task_place(observer, task, NULL, false))
				task_resume(task, 0);
		}
	}
}

static void on_gone(struct ftr_observer *observer, struct ftr_tracee *task, int status)
{
	if (task->tid == observer->root)
		observer->root_status = status;
	record_exit(observer, task, (unsigned)status);
	if (!task->is_known)
		observer->early_nr--;
	task_drop(observer, task);
	if (observer->early_nr > 0)
		adopt_early(observer);
}

static void on_wait(struct ftr_observer *observer, pid_t tid, int status)
{
	struct ftr_tracee *task = task_find(observer, tid);

	if (!WIFSTOPPED(status)) {
		if (task != NULL)
			on_gone(observer, task, status);
		return;
	}
	if (task == NULL) {		/* a child whose parent's event is still to come */
		task = task_new(observer, tid);
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

static pid_t wait_next(struct ftr_observer *observer, int *status)
{
	pid_t tid;

	if (observer->sink.idle != NULL) {
		tid = waitpid(-1, status, __WALL | WNOHANG);
		if (tid != 0)
			return tid;
		observer->sink.idle(observer->sink.arg);
	}
	return waitpid(-1, status, __WALL);
}

void ftr_observer_run(struct ftr_observer *observer, int *wait_status)
{
	while (observer->task_nr > 0) {
		int status = 0;
		pid_t tid = wait_next(observer, &status);

		if (tid > 0)
			on_wait(observer, tid, status);
		else if (tid < 0 && errno != EINTR)
			break;
	}
	*wait_status = observer->root_status;
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
	task = task_new(observer, child);
	if (task == NULL || !task_place(observer, task, NULL, false))
		goto no_memory;
	if (ptrace(PTRACE_SEIZE, child, NULL, (void *)options) < 0) {
		ftr_err_set(err, errno, "cannot observe the program: %s: ptrace must be allowed here, and "
			    "nobody else may trace it", strerror(errno));
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
	struct ftr_tracee *task;

	if (observer == NULL)
		return;
	for (size_t i = 0; i < BUCKETS; i++) {
		while ((task = observer->tasks[i]) != NULL)
			task_drop(observer, task);
	}
	while ((task = observer->unused) != NULL) {
		observer->unused = task->next;
		task_free(task);
	}
	ftr_syscall_scratch_fini(&observer->scratch);
	free(observer);
}
