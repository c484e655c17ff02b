/* SPDX-License-Identifier: MIT */
/* What the recorder does about the messages of traced processes. */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "utils/record/plt_table.h"
#include "utils/record/recorder_state.h"

#define ANCESTORS_MAX 16

static void sid_make(char sid[17])
{
	uint64_t random = 0;

	if (getrandom(&random, sizeof(random), GRND_NONBLOCK) != sizeof(random))
		random = ftr_clock_now_ns(CLOCK_MONOTONIC) * UINT64_C(0x9e3779b97f4a7c15);
	snprintf(sid, 17, "%016" PRIx64, random);
}

/*
 * An abstract address is open to everybody: only our own user and the program's descendants count.
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

static void refuse(struct ftr_recorder *recorder, const char *reason)
{
	ftr_channel_refuse(&recorder->request, reason);
}

static void check_line(struct ftr_recorder *recorder, int ret)
{
	if (ret < 0)
		ftr_store_dir_failed(&recorder->store, "task.txt", -ret);
}

/* The file the process runs, as the recorder sees it; else what it said itself. */
static void image_path(const struct ftr_channel_request *request, char path[PATH_MAX])
{
	static const char deleted[] = " (deleted)";
	char link[64];
	ssize_t len;

	snprintf(link, sizeof(link), "/proc/%d/exe", request->pid);
	len = readlink(link, path, PATH_MAX - 1);
	if (len < 0) {
		snprintf(path, PATH_MAX, "%.*s", PATH_MAX - 1, request->path);
		return;
	}
	path[len] = '\0';
	len -= (ssize_t)strlen(deleted);
	if (len > 0 && strcmp(path + len, deleted) == 0)
		path[len] = '\0';
}

/* sid-*.map, and the symbols of what is new in it. */
static void session_store(struct ftr_recorder *recorder, const char *sid, const char *exename,
			  const struct ftr_maps *maps)
{
	struct ftr_uftrace_map *lines = calloc(maps->ranges.nr + 1, sizeof(*lines));
	struct ftr_err err = { 0 };
	size_t i;

	if (lines == NULL)
		return;
	for (i = 0; i < maps->ranges.nr; i++) {
		const struct ftr_maps_range *range = &maps->ranges.v[i];

		lines[i] = (struct ftr_uftrace_map){ range->start, range->end, "", range->path,
						     "" };
		memcpy(lines[i].prot, range->prot, sizeof(lines[i].prot));
		if (range->path[0] == '/')
			lines[i].build_id = ftr_modules_add(&recorder->modules, range->path,
							    strcmp(range->path, exename) == 0);
	}
	if (ftr_uftrace_dir_map(recorder->store.dir, sid, lines, maps->ranges.nr, &err) < 0)
		ftr_store_dir_failed(&recorder->store, "map", err.code);
	free(lines);
	ftr_modules_store(&recorder->modules, recorder->store.dir);
}

/* Are calls to be expected of this image? */
static bool image_is_traced(struct ftr_recorder *recorder, const char *path)
{
	const struct ftr_module_file *file = ftr_modules_get(&recorder->modules, path);

	return file != NULL && (file->elf.hooks != 0 ||
				(recorder->options->force && recorder->options->libcalls));
}

/* Control block, library calls, and when to attach. */
static void session_reply(struct ftr_recorder *recorder, const char *path, uint64_t now)
{
	struct ftr_channel_message answer = { .time = now };
	int fds[FTR_CHANNEL_REPLY_FDS] = { recorder->control.fd, -1 };

	if (image_is_traced(recorder, path)) {
		answer.base = FTR_CHANNEL_ATTACH_NOW;
		if (recorder->options->libcalls)
			fds[1] = ftr_modules_plt_fd(&recorder->modules, path);
	}
	ftr_channel_reply(&recorder->request, &answer, fds, fds[1] >= 0 ? 2 : 1);
}

/*
 * A forked child that called nothing before its exec is new here, and nobody else says whose child
 * it is. One that will not call anything has no place among the tasks.
 */
static void forked_unseen(struct ftr_recorder *recorder, const char *path, uint64_t now)
{
	int32_t pid = recorder->request.pid;
	int32_t parent_pid = ftr_process_parent(pid);

	if (image_is_traced(recorder, path) &&
	    ftr_process_find(&recorder->processes, parent_pid) != NULL)
		check_line(recorder,
			   ftr_uftrace_dir_fork(recorder->store.dir, now, pid, parent_pid));
}

static void answer_session(struct ftr_recorder *recorder)
{
	struct ftr_channel_request *request = &recorder->request;
	struct ftr_process *process;
	struct ftr_maps maps;
	char path[PATH_MAX];
	struct ftr_err err = { 0 };
	uint64_t now;
	bool is_new;

	ftr_recorder_image_end(recorder, request->pid);	/* exec: the old image's rings */
	now = ftr_recorder_now(recorder);
	is_new = ftr_process_find(&recorder->processes, request->pid) == NULL;
	process = ftr_process_get(&recorder->processes, request->pid, request->message.pid);
	if (process == NULL || ftr_maps_load(&maps, request->pid, &err) < 0) {
		refuse(recorder, "the recorder cannot look at the process");
		if (process == NULL ||
		    !ftr_process_is_gone(process)) /* killed before it began is no loss */
			ftr_diag_warn(recorder->options->diag, "process %d is not traced: %s",
				      request->pid, err.text);
		return;
	}
	process->own_pid = request->message.pid;
	sid_make(process->sid);
	image_path(request, path);
	snprintf(process->image, sizeof(process->image), "%.15s", basename(path));
	if (is_new)
		forked_unseen(recorder, path, now);
	check_line(recorder, ftr_uftrace_dir_session(recorder->store.dir, now, request->pid,
						     process->sid, path));
	recorder->result->sessions++;
	session_reply(recorder, path, now);
	session_store(recorder, process->sid, path, &maps);	/* meanwhile it runs */
	ftr_maps_fini(&maps);
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
	if (!is_new_process)
		return 0;
	parent = ftr_process_find(&recorder->processes, ftr_process_parent(request->pid));
	return parent != NULL ? parent->pid : 0;
}

/* The line that introduces the task; a forked child shares its parent's session. */
static void task_line(struct ftr_recorder *recorder, const struct ftr_store_task *task,
		      uint64_t time_ns)
{
	struct ftr_uftrace_dir *dir = recorder->store.dir;
	bool is_new = ftr_process_find(&recorder->processes, task->pid) == NULL;
	int32_t parent_pid = parent_of(recorder, is_new);
	struct ftr_process *process = ftr_process_get(&recorder->processes, task->pid,
						      recorder->request.message.pid);
	const struct ftr_process *parent = ftr_process_find(&recorder->processes, parent_pid);

	if (parent != NULL && process != NULL && process->sid[0] == '\0') {
		memcpy(process->sid, parent->sid, sizeof(process->sid));
		memcpy(process->image, parent->image, sizeof(process->image));
	}
	if (parent_pid != 0)
		check_line(recorder, ftr_uftrace_dir_fork(dir, time_ns, task->pid, parent_pid));
	else
		check_line(recorder, ftr_uftrace_dir_task(dir, time_ns, task->tid, task->pid));
	recorder->is_info_stale = true;
}

static int collectors_task(struct ftr_recorder *recorder, const struct ftr_task_start *start,
			   struct ftr_task_answer *answer, struct ftr_err *err)
{
	unsigned i;

	for (i = 0; i < recorder->collector_nr; i++) {
		if (recorder->collectors[i].ops->task != NULL)
			return recorder->collectors[i].ops->task(recorder->collectors[i].self,
								 start, answer, err);
	}
	return ftr_err_set(err, ENOTSUP, "nobody takes rings");
}

static int32_t own_thread(const struct ftr_channel_request *request)
{
	if (request->message.pid == request->pid)
		return request->message.tid;
	if (request->message.tid == request->message.pid)
		return request->pid;
	return ftr_process_thread(request->pid, request->message.tid);
}

static void answer_task(struct ftr_recorder *recorder)
{
	struct ftr_channel_request *request = &recorder->request;
	struct ftr_task_answer answer = { .ring_fd = -1 };
	struct ftr_channel_message reply = { 0 };
	uint64_t time_ns;
	int32_t tid = own_thread(request);
	struct ftr_err err = { 0 };
	struct ftr_task_start start = {
		.pid = request->pid, .ring_id = request->message.base,
	};
	bool is_new;

	ftr_recorder_now(recorder);
	time_ns = ftr_tick_map_ns(&recorder->ticks, request->message.time);
	if (tid > 0)
		start.task = ftr_store_dir_task(&recorder->store, tid, request->pid, &is_new);
	if (start.task == NULL) {
		refuse(recorder, "the recorder does not know this thread");
		return;
	}
	if (collectors_task(recorder, &start, &answer, &err) < 0) {
		ftr_diag_warn(recorder->options->diag, "task %d is not traced: %s", tid, err.text);
		refuse(recorder, err.text);
		return;
	}
	task_line(recorder, start.task, time_ns);
	if (is_new)
		ftr_recorder_name(recorder, start.task->pid, tid, time_ns, true);
	reply.base = answer.ring_id;
	if (!ftr_channel_reply(request, &reply, &answer.ring_fd, answer.ring_fd >= 0) &&
	    syscall(SYS_tgkill, request->pid, tid, 0) == 0)
		ftr_recorder_say(recorder, request->pid,
				 "did not wait any longer for the recorder with one of its "
				 "tasks, which runs untraced");
	if (recorder->store.tids.nr == 1)
		ftr_recorder_info_update(recorder);
}

static void answer_dlopen(struct ftr_recorder *recorder)
{
	struct ftr_channel_request *request = &recorder->request;
	struct ftr_process *process = ftr_process_find(&recorder->processes, request->pid);
	uint64_t time_ns;

	if (process == NULL || process->sid[0] == '\0' || strpbrk(request->path, "\"\n") != NULL) {
		refuse(recorder, "no session");
		return;
	}
	ftr_recorder_now(recorder);
	time_ns = ftr_tick_map_ns(&recorder->ticks, request->message.time);
	check_line(recorder, ftr_uftrace_dir_dlopen(recorder->store.dir, time_ns,
						    own_thread(request), process->sid,
						    request->message.base, request->path));
	ftr_channel_reply(request, &(struct ftr_channel_message){ 0 }, NULL, 0);
	ftr_modules_add(&recorder->modules, request->path, false);
	ftr_modules_store(&recorder->modules, recorder->store.dir);
}

static void answer_name(struct ftr_recorder *recorder)
{
	struct ftr_channel_request *request = &recorder->request;
	int32_t tid = own_thread(request);

	ftr_recorder_now(recorder);
	if (tid > 0)
		ftr_recorder_name(recorder, request->pid, tid,
				  ftr_tick_map_ns(&recorder->ticks, request->message.time), false);
	ftr_channel_reply(request, &(struct ftr_channel_message){ 0 }, NULL, 0);
}

static void answer_leave(struct ftr_recorder *recorder)
{
	struct ftr_err err = { 0 };

	if (recorder->channel.path_fd < 0 && (ftr_channel_open_path(&recorder->channel, &err) < 0 ||
					      ftr_recorder_listen(recorder) < 0))
		ftr_recorder_say(recorder, recorder->request.pid,
				 "changes its network namespace, where it "
				 "cannot be reached: what it starts there runs untraced");
	ftr_channel_reply(&recorder->request, &(struct ftr_channel_message){ 0 }, NULL, 0);
}

/* A library's own calls, with --nest-libcall; the path is the loader's, symbolic links and all. */
static void answer_libcalls(struct ftr_recorder *recorder)
{
	struct ftr_channel_request *request = &recorder->request;
	char *resolved = realpath(request->path, NULL);
	const char *path = resolved != NULL ? resolved : request->path;
	int fd = -1;

	if (recorder->options->nest_libcall && ftr_plt_table_is_wanted(path))
		fd = ftr_modules_plt_fd(&recorder->modules, path);
	ftr_channel_reply(request, &(struct ftr_channel_message){ 0 }, &fd, fd >= 0);
	if (fd >= 0) {
		ftr_modules_add(&recorder->modules, path, true);
		ftr_modules_store(&recorder->modules, recorder->store.dir);
	}
	free(resolved);
}

void ftr_recorder_answer(struct ftr_recorder *recorder)
{
	atomic_fetch_add(&recorder->control.map->answered, 1);
	if (!is_ours(recorder)) {
		refuse(recorder, "not a process of this recording");
		return;
	}
	if (recorder->request.message.type & FTR_CHANNEL_BY_CHILD)
		recorder->request.pid = ftr_process_parent(recorder->request.pid);
	switch (recorder->request.message.type & ~FTR_CHANNEL_BY_CHILD) {
	case FTR_CHANNEL_SESSION:
		answer_session(recorder);
		break;
	case FTR_CHANNEL_TASK:
		answer_task(recorder);
		break;
	case FTR_CHANNEL_LIBCALLS:
		answer_libcalls(recorder);
		break;
	case FTR_CHANNEL_DLOPEN:
		answer_dlopen(recorder);
		break;
	case FTR_CHANNEL_SAY:
		ftr_recorder_answer_say(recorder);
		break;
	case FTR_CHANNEL_EXEC:
		ftr_recorder_answer_exec(recorder);
		break;
	case FTR_CHANNEL_LEAVE:
		answer_leave(recorder);
		break;
	case FTR_CHANNEL_NAME:
		answer_name(recorder);
		break;
	default:
		refuse(recorder, "unknown message");
		break;
	}
}
