/* SPDX-License-Identifier: MIT */
/* A program image begins: what it is, what it maps, and what its runtime is given. */
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "utils/record/emulated.h"
#include "utils/record/recorder_state.h"

#define MEMORY_PATH "/memfd:"	/* as the kernel names what memfd_create made */

static void sid_make(char sid[17])
{
	uint64_t random = 0;

	if (getrandom(&random, sizeof(random), GRND_NONBLOCK) != sizeof(random))
		random = ftr_clock_now_ns(CLOCK_MONOTONIC) * UINT64_C(0x9e3779b97f4a7c15);
	snprintf(sid, 17, "%016" PRIx64, random);
}

/* What an emulator was given: what the program takes itself for, or it comes first in memory. */
static bool emulated_path(const struct ftr_channel_request *request, const struct ftr_maps *maps,
			  char path[PATH_MAX])
{
	const char *found = NULL;
	size_t i;

	if (!maps->is_emulated)
		return false;
	if (maps->ranges.nr > 0 && maps->ranges.v[0].path[0] == '/')
		found = maps->ranges.v[0].path;
	for (i = 0; i < maps->ranges.nr; i++) {
		if (strcmp(maps->ranges.v[i].path, request->path) == 0)
			found = maps->ranges.v[i].path;
	}
	if (found != NULL)
		snprintf(path, PATH_MAX, "%s", found);
	return found != NULL;
}

/* The file that the process runs, as the recorder sees it; else as the process names it. */
static void image_path(const struct ftr_channel_request *request, const struct ftr_maps *maps,
		       char path[PATH_MAX])
{
	static const char deleted[] = " (deleted)";
	char link[64];
	ssize_t len;

	snprintf(link, sizeof(link), "/proc/%d/exe", request->pid);
	if (emulated_path(request, maps, path))
		return;
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

/*
 * Those libraries of the image that are there already; only where it matters, since the sender
 * waits.
 */
static void image_loads(struct ftr_recorder *recorder, const char *path,
			const struct ftr_maps *maps)
{
	const char *last = path;
	size_t i;

	if (!ftr_modules_asks_libraries(&recorder->modules, path))
		return;
	for (i = 0; i < maps->ranges.nr; i++) {
		const char *library = maps->ranges.v[i].path;

		if (library[0] == '/' && strcmp(library, last) != 0 && strcmp(library, path) != 0)
			ftr_modules_loads(&recorder->modules, path, library);
		last = library;
	}
}

static int image_sections(struct ftr_recorder *recorder, const char *path)
{
	recorder->modules.is_in_use = true;
	return ftr_modules_sections_fd(&recorder->modules, path, true);
}

/*
 * A forked child that called nothing before its exec is new here, and no other message names its
 * parent.  One that will not call anything has no place among the tasks.
 */
static void forked_unseen(struct ftr_recorder *recorder, const char *path, uint64_t now)
{
	int32_t pid = recorder->request.pid;
	int32_t parent_pid = ftr_process_parent(pid);

	if (ftr_modules_is_traced(&recorder->modules, path) &&
	    ftr_process_find(&recorder->processes, parent_pid) != NULL)
		ftr_recorder_line_check(recorder, ftr_uftrace_dir_fork(recorder->store.dir, now,
								       pid, parent_pid));
}

/*
 * It need not ask for its first ring.  With a clock that counts its readings it does: the ring
 * would be there before the task.  Without one in this reply it asks, and is told why not.
 */
static void session_task(struct ftr_recorder *recorder, struct ftr_recorder_reply *reply)
{
	struct ftr_channel_request *request = &recorder->request;
	struct ftr_task_answer answer = { .ring_fd = -1 };
	struct ftr_task_start start = { .pid = request->pid };
	struct ftr_err ignored = { 0 };

	if ((request->message.type & FTR_CHANNEL_WITH_TASK) == 0 ||
	    (reply->base & FTR_CHANNEL_ATTACH_NOW) == 0 || reply->fd_nr == 0 ||
	    recorder->options->clock->is_counter)
		return;
	request->message.time = ftr_tick_map_last(&recorder->ticks).tick;
	if (ftr_recorder_task(recorder, &start, &answer, &ignored) < 0)
		return;
	reply->tid = start.task->tid;
	reply->base |= answer.ring_id << FTR_CHANNEL_RING_SHIFT;
	if (reply->fd_nr == 1)
		reply->base |= FTR_CHANNEL_BARE;
	ftr_recorder_reply_fd(reply, answer.ring_fd);
}

void ftr_recorder_answer_session(struct ftr_recorder *recorder, struct ftr_recorder_reply *reply)
{
	struct ftr_channel_request *request = &recorder->request;
	struct ftr_process *process;
	struct ftr_err err = { 0 };
	char text[64];
	bool is_new;

	ftr_recorder_image_end(recorder, request->pid);	/* exec: the old image's rings */
	reply->time = ftr_recorder_now(recorder);
	is_new = ftr_process_find(&recorder->processes, request->pid) == NULL;
	process = ftr_process_get(&recorder->processes, request->pid, request->message.pid);
	if (process == NULL || ftr_maps_load(&reply->maps, request->pid, &err) < 0) {
		snprintf(text, sizeof(text), "cannot read /proc/%d/maps of the process",
			 request->pid);
		ftr_recorder_refuse(reply, text);
		if (process == NULL ||
		    !ftr_process_is_gone(process)) /* killed before it began is no loss */
			ftr_diag_warn(recorder->options->diag, "process %d is not traced: %s",
				      request->pid, err.text);
		return;
	}
	if (reply->maps.is_emulated)
		ftr_maps_rebase(&reply->maps, request->message.base);
	process->own_pid = request->message.pid;
	process->codes = process->code_nr = process->code_done_nr = 0;
	process->patch_change_nr = recorder->patch.change_nr;
	sid_make(process->image.sid);
	image_path(request, &reply->maps, reply->path);
	if (strncmp(reply->path, MEMORY_PATH, strlen(MEMORY_PATH)) == 0)
		ftr_recorder_warn(recorder, request->pid, "runs a program from memory (memfd): "
				  "its functions are shown as addresses");
	snprintf(process->image.name, sizeof(process->image.name), "%.15s", basename(reply->path));
	process->was_running = recorder->attaching_pid == request->pid;
	process->image.is_launched = !process->was_running;
	process->image.since_ns = reply->time;
	ftr_lineage_add(&recorder->lineage, process);
	if (is_new && !process->was_running)
		forked_unseen(recorder, reply->path, reply->time);
	ftr_recorder_line_check(
		recorder, ftr_uftrace_dir_session(recorder->store.dir, reply->time, request->pid,
						  process->image.sid, reply->path));
	recorder->result->sessions++;
	ftr_recorder_control_listen(recorder, request->pid);
	image_loads(recorder, reply->path, &reply->maps);
	if (ftr_modules_is_traced(&recorder->modules, reply->path))
		reply->base = FTR_CHANNEL_ATTACH_NOW;
	if (recorder->options->attach_pid != 0 && !recorder->options->attach_no_exec)
		reply->base |= FTR_CHANNEL_ASKS_EXEC;
	ftr_recorder_reply_fd(reply, recorder->control.fd);
	ftr_recorder_reply_fd(reply, image_sections(recorder, reply->path));
	session_task(recorder, reply);
}

void ftr_recorder_session_answered(struct ftr_recorder *recorder, struct ftr_recorder_reply *reply,
				   bool is_sent)
{
	const struct ftr_process *process = ftr_process_find(&recorder->processes,
							     recorder->request.pid);

	if (process != NULL && reply->refusal.code == 0) {
		session_store(recorder, process->image.sid, reply->path, &reply->maps);
		if (ftr_recorder_has_backtraces(recorder))
			ftr_backtraces_session(recorder->recording.backtraces, process->image.sid,
					       &reply->maps);
	}
	ftr_maps_fini(&reply->maps);
	ftr_recorder_task_answered(recorder, reply, is_sent);
}

void ftr_recorder_image_reply(struct ftr_recorder *recorder, struct ftr_recorder_reply *reply)
{
	const struct ftr_channel_request *request = &recorder->request;
	struct ftr_maps maps = { 0 };

	if (ftr_process_is_emulated(request->pid))
		(void)ftr_maps_load(&maps, request->pid, NULL);
	image_path(request, &maps, reply->path);
	ftr_maps_fini(&maps);
	ftr_recorder_reply_fd(reply, image_sections(recorder, reply->path));
}
