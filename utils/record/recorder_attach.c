/* SPDX-License-Identifier: MIT */
/* A recording of a program that runs already: its begin and its end. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "utils/record/launch.h"
#include "utils/record/recorder_state.h"

#define TURN_NS UINT64_C(1000000)

/* The program is answered and read meanwhile. */
static int helper_run(struct ftr_recorder *recorder, const struct ftr_record_attached_job *job,
		      struct ftr_attach_report *report, struct ftr_err *err)
{
	struct ftr_record_attached attached;
	int ret = ftr_record_attached_start(&attached, job, err);

	while (ret == 0) {
		ftr_recorder_turn(recorder, TURN_NS);
		ret = ftr_record_attached_poll(&attached, report, err);
	}
	return ret < 0 ? ret : 0;
}

/* Decoding takes its time: not that of the thread that is borrowed. */
static void libraries_prepare(struct ftr_recorder *recorder)
{
	struct ftr_err ignored = { 0 };
	struct ftr_maps maps = { .ranges = { 0 } };
	const char *last = "";
	size_t i;

	if (ftr_maps_load(&maps, recorder->options->attach_pid, &ignored) < 0)
		return;
	for (i = 0; i < maps.ranges.nr; i++) {
		const char *path = maps.ranges.v[i].path;

		if (path[0] == '/' && strcmp(path, last) != 0 &&
		    strcmp(path, recorder->options->program->image) != 0)
			ftr_modules_prepare(&recorder->modules, path, false);
		last = path;
	}
	ftr_maps_fini(&maps);
}

int ftr_recorder_attach(struct ftr_recorder *recorder, struct ftr_err *err)
{
	const struct ftr_recorder_options *options = recorder->options;
	const struct ftr_record_attached_job job = {
		.work = FTR_ATTACHED_BEGIN,
		.pid = options->attach_pid,
		.runtime = options->runtime,
		.address = recorder->channel.name,
	};
	struct ftr_launch launch = { .path = NULL };
	sigset_t signals;
	int ret;

	ftr_launch_signals(&launch, &signals);
	ftr_launch_ignore();
	libraries_prepare(recorder);
	recorder->start_ns = ftr_clock_now_ns(CLOCK_MONOTONIC);
	ret = ftr_control_hold(&recorder->control, err);
	if (ret == 0)
		ret = ftr_recorder_loop_open(recorder, &signals, err);
	if (ret < 0)
		return ret;
	recorder->child = options->attach_pid;
	ftr_collectors_started(&recorder->collectors, recorder->child);
	ftr_collectors_watch(&recorder->collectors, recorder->epoll_fd);
	if (ftr_process_get(&recorder->processes, recorder->child, recorder->child) == NULL)
		return ftr_err_set(err, ENOMEM, "out of memory");
	ret = helper_run(recorder, &job, &recorder->result->attached, err);
	recorder->result->was_run = ret == 0;
	return ret;
}

void ftr_recorder_answer_code(struct ftr_recorder *recorder, struct ftr_recorder_reply *reply)
{
	const struct ftr_channel_message *message = &recorder->request.message;
	struct ftr_process *process = ftr_process_find(&recorder->processes,
						       recorder->request.pid);

	if (process == NULL || message->time < process->code_nr)
		return;		/* it has said more meanwhile */
	process->codes = message->base;
	process->code_nr = message->time;
}

/* Totals stand in the place of those of the last time. */
static void code_made(struct ftr_recorder *recorder, const struct ftr_attach_report *report)
{
	struct ftr_attach_code_report *code = &recorder->result->attached.code;
	unsigned stop_nr = code->stop_nr + report->code.stop_nr;
	uint64_t stopped_ns = code->stopped_ns, work_ns = code->work_ns;

	if (report->code.stop_nr == 0)
		return;
	*code = report->code;
	code->stop_nr = stop_nr;
	code->stopped_ns = stopped_ns > code->stopped_ns ? stopped_ns : code->stopped_ns;
	code->work_ns = work_ns > code->work_ns ? work_ns : code->work_ns;
}

static void code_start(struct ftr_recorder *recorder, struct ftr_process *process)
{
	const struct ftr_record_attached_job job = {
		.work = FTR_ATTACHED_CODE,
		.pid = process->pid,
		.runtime = recorder->options->runtime,
		.codes = process->codes,
		.code_nr = process->code_nr,
	};
	struct ftr_err err = { 0 };

	process->code_done_nr = process->code_nr;
	if (ftr_record_attached_start(&recorder->attached, &job, &err) < 0)
		ftr_diag_warn(recorder->options->diag, "process %d: what it has loaded is not "
			      "patched: %s", process->pid, err.text);
}

/* Is the helper there? */
static bool code_goes_on(struct ftr_recorder *recorder)
{
	struct ftr_attach_report report;
	struct ftr_err err = { 0 };
	int ret;

	if (recorder->attached.helper == 0)
		return false;
	ret = ftr_record_attached_poll(&recorder->attached, &report, &err);
	if (ret > 0)
		code_made(recorder, &report);
	else if (ret < 0)
		ftr_diag_warn(recorder->options->diag, "what was loaded since is not patched: %s",
			      err.text);
	return ret == 0;
}

void ftr_recorder_code_turn(struct ftr_recorder *recorder)
{
	size_t i;

	if (code_goes_on(recorder))
		return;
	for (i = 0; i < recorder->processes.all.nr; i++) {
		struct ftr_process *process = recorder->processes.all.v[i];

		if (process->code_nr > process->code_done_nr) {
			code_start(recorder, process);
			return;
		}
	}
}

/* Nobody else may be at a program that is left. */
static void code_end(struct ftr_recorder *recorder)
{
	while (code_goes_on(recorder))
		ftr_recorder_turn(recorder, TURN_NS);
}

/* One of the processes that have reported themselves: the program, or what it has forked. */
static void process_leave(struct ftr_recorder *recorder, int32_t pid)
{
	const struct ftr_record_attached_job job = {
		.work = FTR_ATTACHED_LEAVE, .pid = pid, .runtime = recorder->options->runtime,
	};
	struct ftr_attach_report report = { .hooked_nr = 0 };
	struct ftr_attach_report *left = &recorder->result->left;
	struct ftr_err err = { 0 };

	if (helper_run(recorder, &job, &report, &err) < 0) {
		ftr_diag_warn(recorder->options->diag, "process %d cannot be left as it was: %s; "
			      "it runs on untraced", pid, err.text);
		return;
	}
	if (report.is_partly_left)
		ftr_diag_warn(recorder->options->diag, "process %d: calls that are open will "
			      "return through libmcount.so, as a thread was in it all the time",
			      pid);
	left->thread_nr += report.thread_nr;
	if (report.stopped_ns > left->stopped_ns)
		left->stopped_ns = report.stopped_ns;
	if (report.borrowed_ns > left->borrowed_ns)
		left->borrowed_ns = report.borrowed_ns;
}

void ftr_recorder_leave(struct ftr_recorder *recorder)
{
	size_t nr = recorder->processes.all.nr, i;
	int32_t *pids = calloc(nr + 1, sizeof(*pids));

	code_end(recorder);
	for (i = 0; pids != NULL && i < nr; i++)
		pids[i] = recorder->processes.all.v[i]->pid;
	for (i = 0; pids != NULL && i < nr; i++)
		process_leave(recorder, pids[i]);
	free(pids);
}
