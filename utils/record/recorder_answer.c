/* SPDX-License-Identifier: MIT */
/* The replies to the messages of traced processes (utils/proto/channel.h). */
#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "utils/record/perf_ring.h"
#include "utils/record/recorder_state.h"

#define ANCESTORS_MAX 16

#define COMM_BYTES 16

struct comm_record {
	struct perf_event_header header;
	uint32_t pid, tid;
	char	 comm[COMM_BYTES];
	uint32_t sample_pid, sample_tid;
	uint64_t time_ns;
};
static_assert(sizeof(struct comm_record) == 48, "as the kernel packs it");
static_assert(COMM_BYTES == FTR_NURSERY_NAME_BYTES, "a name is a name");

/*
 * Any process may connect to an abstract address: only those of our own user and the program's
 * descendants are answered.
 */
static bool is_ours(const struct ftr_recorder *recorder)
{
	int32_t pid = recorder->request.pid;
	unsigned i;

	if (recorder->request.uid == geteuid())
		return true;
	for (i = 0; i < ANCESTORS_MAX && pid > 1; i++) {
		if (ftr_process_find(&recorder->processes, pid) != NULL)
			return true;
		pid = ftr_process_parent(pid);
	}
	return false;
}

void ftr_recorder_refuse(struct ftr_recorder_reply *reply, const char *reason)
{
	ftr_err_set(&reply->refusal, EPERM, "%s", reason);
}

void ftr_recorder_reply_fd(struct ftr_recorder_reply *reply, int fd)
{
	if (fd < 0)
		return;
	assert(reply->fd_nr < FTR_CHANNEL_REPLY_FDS);
	reply->fds[reply->fd_nr++] = fd;
}

void ftr_recorder_line_check(struct ftr_recorder *recorder, int ret)
{
	if (ret < 0)
		ftr_store_dir_failed(&recorder->store, "task.txt", -ret);
}

/* The process that forked the sender, in our numbers; 0 = it was not forked from a traced one. */
static int32_t parent_of(const struct ftr_recorder *recorder, bool is_new_process)
{
	const struct ftr_channel_request *request = &recorder->request;
	const struct ftr_process *parent;

	if (request->message.parent_pid != 0) {
		parent = ftr_process_find_own(&recorder->processes, request->message.parent_pid);
		return parent != NULL ? parent->pid : request->message.parent_pid;
	}
	parent = ftr_process_find(&recorder->processes, request->pid);
	/* Only its first thread stands for the process that was forked. */
	if (!is_new_process && !(parent != NULL && parent->was_running &&
				 request->message.tid == request->message.pid))
		return 0;
	parent = ftr_process_find(&recorder->processes, ftr_process_parent(request->pid));
	return parent != NULL ? parent->pid : 0;
}

/* What @process has of its parent, from which it was forked at @time_ns. */
static void image_inherit(struct ftr_recorder *recorder, struct ftr_process *process,
			  int32_t parent_pid, uint64_t time_ns)
{
	const struct ftr_process *parent = ftr_process_find(&recorder->processes, parent_pid);
	const struct ftr_process_image *image = parent != NULL ? &parent->image : NULL;
	const struct ftr_process_image *before = NULL;

	if (image == NULL || image->since_ns > time_ns)		/* it has run another since */
		before = ftr_lineage_find(&recorder->lineage, parent_pid, time_ns);
	if (before != NULL)
		image = before;
	if (image == NULL)
		return;
	process->image = *image;
	process->image.since_ns = time_ns;
	process->patch_change_nr = 0;	/* it may have been forked before the last */
	if (before == NULL) {
		process->codes = parent->codes;
		process->code_nr = parent->code_nr;
		process->code_done_nr = parent->code_done_nr;
	}
	ftr_lineage_add(&recorder->lineage, process);
}

/* The line that introduces the task; a forked child shares its parent's session. */
static void task_line(struct ftr_recorder *recorder, struct ftr_store_task *task, uint64_t time_ns)
{
	struct ftr_uftrace_dir *dir = recorder->store.dir;
	bool is_new = ftr_process_find(&recorder->processes, task->pid) == NULL;
	int32_t parent_pid = parent_of(recorder, is_new);
	struct ftr_process *process = ftr_process_get(&recorder->processes, task->pid,
						      recorder->request.message.pid);
	int ret;

	if (parent_pid != 0 && process != NULL && process->image.sid[0] == '\0')
		image_inherit(recorder, process, parent_pid, time_ns);
	task->is_forked = parent_pid != 0;
	ret = task->is_forked ? ftr_uftrace_dir_fork(dir, time_ns, task->pid, parent_pid) :
				ftr_uftrace_dir_task(dir, time_ns, task->tid, task->pid);
	ftr_recorder_line_check(recorder, ret);
	recorder->is_info_stale = true;
}

/* The thread of the message in our namespace; 0 = there is none. */
static int32_t own_thread(const struct ftr_channel_request *request)
{
	if (request->message.pid == request->pid)
		return request->message.tid;
	if (request->message.tid == request->message.pid)
		return request->pid;
	return ftr_process_thread(request->pid, request->message.tid);
}

static bool comm_read(int32_t pid, int32_t tid, char comm[COMM_BYTES])
{
	char path[64];
	FILE *file;
	size_t n;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/comm", pid, tid);
	file = fopen(path, "re");
	if (file == NULL)
		return false;
	n = fread(comm, 1, COMM_BYTES, file);
	fclose(file);
	if (n == 0)
		return false;
	memset(comm + n - 1, 0, COMM_BYTES - (n - 1));	/* the last one was the newline */
	return true;
}

void ftr_recorder_names_start(struct ftr_recorder *recorder)
{
	recorder->recording.reports_names = !recorder->options->clock->is_counter &&
					    (recorder->options->events & FTR_PERF_NAME) != 0 &&
					    !recorder->store.has_perf;
	ftr_recorder_switches_start(recorder);
}

/*
 * The name of a task that starts, as @start says, or has another name now (NULL).  One that has
 * claimed a ring may have run another program since, of which it need not tell: what it has kept
 * before is looked at after what that would have changed.
 */
static bool name_find(int32_t pid, int32_t tid, const struct ftr_task_start *start,
		      char comm[COMM_BYTES])
{
	bool is_there = comm_read(pid, tid, comm);

	return (start != NULL && start->claim != NULL &&
		ftr_record_nursery_name(start->claim, comm)) || is_there;
}

/*
 * Store the name that /proc has for a task as the perf record of CPU 0 that the kernel would have
 * made; at its start only if it differs from its image's, or no record may have told of it.
 */
static void name_store(struct ftr_recorder *recorder, int32_t tid, uint64_t time_ns,
		       const struct ftr_task_start *start)
{
	int32_t pid = recorder->request.pid;
	const struct ftr_process *process = ftr_process_find(&recorder->processes, pid);
	struct ftr_store *store = &recorder->store.base;
	struct comm_record record = {
		.header = { .type = PERF_RECORD_COMM, .size = sizeof(record) },
		.pid = (uint32_t)pid, .tid = (uint32_t)tid,
		.sample_pid = (uint32_t)pid, .sample_tid = (uint32_t)tid,
		.time_ns = time_ns,
	};
	struct iovec part = { &record, sizeof(record) };
	bool was_running = start != NULL && process != NULL && process->was_running &&
			   !recorder->options->clock->is_counter &&
			   (recorder->options->events & FTR_PERF_NAME) != 0;

	if ((!recorder->recording.reports_names && !was_running) ||
	    !name_find(pid, tid, start, record.comm))
		return;
	if (start == NULL || process == NULL || was_running ||
	    strcmp(record.comm, process->image.name) != 0)
		store->ops->perf(store, 0, &part, 1);
}

/* When the message was sent, in trace time. */
static uint64_t request_ns(struct ftr_recorder *recorder)
{
	ftr_recorder_now(recorder);
	return ftr_tick_map_ns(&recorder->ticks, recorder->request.message.time);
}

/* Only now: the task's ring may have held records of the image before. */
static void task_session_set(const struct ftr_recorder *recorder, struct ftr_store_task *task)
{
	const struct ftr_process *process = ftr_process_find(&recorder->processes, task->pid);

	if (process != NULL)
		memcpy(task->sid, process->image.sid, sizeof(task->sid));
}

int ftr_recorder_task(struct ftr_recorder *recorder, struct ftr_task_start *start,
		      struct ftr_task_answer *answer, struct ftr_err *err)
{
	const struct ftr_channel_request *request = &recorder->request;
	uint64_t time_ns = request_ns(recorder);
	int32_t tid = own_thread(request);
	bool is_new;
	int ret;

	if (tid > 0)
		start->task = ftr_store_dir_task(&recorder->store, tid, request->pid, &is_new);
	if (start->task == NULL)
		return ftr_err_set(err, ESRCH, "no such thread in this PID namespace");
	/* A ring that was claimed has records: what explains them is written first. */
	if (start->claim != NULL)
		task_line(recorder, start->task, time_ns);
	ret = ftr_collectors_task(&recorder->collectors, start, answer, err);
	if (ret < 0) {
		ftr_diag_warn(recorder->options->diag, "task %d is not traced: %s", tid, err->text);
		return ret;
	}
	if (start->is_growing)
		return 0;
	if (start->claim == NULL)
		task_line(recorder, start->task, time_ns);
	task_session_set(recorder, start->task);
	if (is_new)
		name_store(recorder, tid, time_ns, start);
	return 0;
}

static void answer_task(struct ftr_recorder *recorder, struct ftr_recorder_reply *reply)
{
	const struct ftr_channel_request *request = &recorder->request;
	struct ftr_task_answer answer = { .ring_fd = -1 };
	struct ftr_task_start start = {
		.pid = request->pid, .ring_id = request->message.base,
		.is_growing = (request->message.type & FTR_CHANNEL_GROW) != 0,
	};
	struct ftr_err err = { 0 };	/* also of a larger ring, where a small one was made */

	if (ftr_recorder_task(recorder, &start, &answer, &err) < 0) {
		reply->refusal = err;
		return;
	}
	reply->tid = start.task->tid;
	reply->base = answer.ring_id;
	ftr_recorder_reply_fd(reply, answer.ring_fd);
}

void ftr_recorder_task_answered(struct ftr_recorder *recorder, struct ftr_recorder_reply *reply,
				bool is_sent)
{
	if (reply->refusal.code != 0 || reply->tid == 0)
		return;
	if (!is_sent && syscall(SYS_tgkill, recorder->request.pid, reply->tid, 0) == 0)
		ftr_recorder_warn(recorder, recorder->request.pid,
				  "one task timed out waiting for the recorder and runs untraced; "
				  "reduce the load or use --rt-prio");
	if (recorder->store.tids.nr == 1)
		ftr_recorder_info_update(recorder);
}

/* The DLOP line of a library, whose path is the loader's, symbolic links and all. */
static void library_line(struct ftr_recorder *recorder, const struct ftr_process *process)
{
	const struct ftr_channel_request *request = &recorder->request;
	uint64_t time_ns = request_ns(recorder);

	if (strpbrk(request->path, "\"\n") == NULL)
		ftr_recorder_line_check(
			recorder,
			ftr_uftrace_dir_dlopen(recorder->store.dir, time_ns, own_thread(request),
					       process->image.sid, request->message.base,
					       request->path));
	ftr_backtraces_library(recorder->recording.backtraces, process->image.sid,
			       request->message.base, request->path);
	if (recorder->options->summary_seconds != 0)
		ftr_store_summary_loaded(&recorder->summary, process->image.sid, time_ns);
}

/*
 * Where a library of the sender lies for us: in a chroot another file may have that path outside,
 * whose library-call table would be wrong.
 */
static void library_path(const struct ftr_channel_request *request,
			 char path[FTR_CHANNEL_PATH_MAX + 1])
{
	char inside[sizeof("/proc/-2147483648/root") + FTR_CHANNEL_PATH_MAX];

	snprintf(inside, sizeof(inside), "/proc/%d/root%s", request->pid, request->path);
	if (realpath(inside, path) == NULL && realpath(request->path, path) == NULL)
		snprintf(path, FTR_CHANNEL_PATH_MAX + 1, "%s", request->path);
}

static void answer_library(struct ftr_recorder *recorder, struct ftr_recorder_reply *reply)
{
	library_path(&recorder->request, reply->path);
	ftr_recorder_reply_fd(reply,
			      ftr_modules_sections_fd(&recorder->modules, reply->path, false));
}

static void answer_module(struct ftr_recorder *recorder, struct ftr_recorder_reply *reply)
{
	const struct ftr_channel_request *request = &recorder->request;
	const struct ftr_process *process = ftr_process_find(&recorder->processes, request->pid);

	if (request->path[0] == '\0') {
		ftr_recorder_image_reply(recorder, reply);
		return;
	}
	if ((request->message.type & FTR_CHANNEL_KNOWN) == 0) {
		if (process == NULL || process->image.sid[0] == '\0') {
			ftr_recorder_refuse(reply, "no session");
			return;
		}
		library_line(recorder, process);
	}
	answer_library(recorder, reply);
}

/* The symbols of a library; needed even if it is not instrumented when its calls are hooked. */
static void module_answered(struct ftr_recorder *recorder, struct ftr_recorder_reply *reply,
			    bool is_sent)
{
	bool is_reported = (recorder->request.message.type & FTR_CHANNEL_KNOWN) == 0;

	if (reply->refusal.code != 0 || reply->path[0] == '\0' ||
	    (!is_reported && reply->fd_nr == 0))
		return;
	ftr_modules_add(&recorder->modules, reply->path, reply->fd_nr > 0);
	ftr_modules_store(&recorder->modules, recorder->store.dir);
}

static void answer_name(struct ftr_recorder *recorder, struct ftr_recorder_reply *reply)
{
	uint64_t time_ns = request_ns(recorder);
	int32_t tid = own_thread(&recorder->request);

	if (tid > 0)
		name_store(recorder, tid, time_ns, NULL);
}

static void answer_leave(struct ftr_recorder *recorder, struct ftr_recorder_reply *reply)
{
	struct ftr_err err = { 0 };

	if (recorder->channel.path_fd < 0 && (ftr_channel_open_path(&recorder->channel, &err) < 0 ||
					      ftr_recorder_listen(recorder) < 0))
		ftr_recorder_warn(recorder, recorder->request.pid,
				  "enters a network namespace where the recorder is unreachable; "
				  "programs started there run untraced");
}

static const struct answer {
	void (*answer)(struct ftr_recorder *recorder, struct ftr_recorder_reply *reply);
	void (*answered)(struct ftr_recorder *recorder, struct ftr_recorder_reply *reply,
			 bool is_sent);
} answers[FTR_CHANNEL_TYPES] = {
	[FTR_CHANNEL_SESSION] = { ftr_recorder_answer_session,
				  ftr_recorder_session_answered },
	[FTR_CHANNEL_TASK] = { answer_task, ftr_recorder_task_answered },
	[FTR_CHANNEL_MODULE] = { answer_module, module_answered },
	[FTR_CHANNEL_WARN] = { .answer = ftr_recorder_answer_warn },
	[FTR_CHANNEL_EXEC] = { .answer = ftr_recorder_answer_exec },
	[FTR_CHANNEL_LEAVE] = { .answer = answer_leave },
	[FTR_CHANNEL_NAME] = { .answer = answer_name },
	[FTR_CHANNEL_CODE] = { .answer = ftr_recorder_answer_code },
	[FTR_CHANNEL_NURSERY] = { .answer = ftr_recorder_answer_nursery },
};

static const struct answer *answer_of(const struct ftr_recorder *recorder)
{
	uint32_t type = recorder->request.message.type & ~FTR_CHANNEL_FLAGS;

	return &answers[type < FTR_CHANNEL_TYPES ? type : 0];
}

void ftr_recorder_answer(struct ftr_recorder *recorder, struct ftr_recorder_reply *reply)
{
	const struct answer *answer = answer_of(recorder);

	ftr_recorder_claims_take(recorder);
	ftr_modules_look_again(&recorder->modules);
	memset(reply, 0, sizeof(*reply));
	atomic_fetch_add(&recorder->control.map->answered, 1);
	if (!is_ours(recorder)) {
		ftr_recorder_refuse(reply, "not a process of this recording");
		return;
	}
	if (recorder->request.message.type & FTR_CHANNEL_BY_CHILD)
		recorder->request.pid = ftr_process_parent(recorder->request.pid);
	if (answer->answer != NULL)
		answer->answer(recorder, reply);
	else
		ftr_recorder_refuse(reply, "unknown message");
}

void ftr_recorder_answered(struct ftr_recorder *recorder, struct ftr_recorder_reply *reply,
			   bool is_sent)
{
	const struct answer *answer = answer_of(recorder);

	if (answer->answered != NULL)
		answer->answered(recorder, reply, is_sent);
}
