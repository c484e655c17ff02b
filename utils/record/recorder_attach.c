/* SPDX-License-Identifier: MIT */
/* A recording of a program that runs already: its begin and its end. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

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

/* The recorder may have come from the program, as from a shell. */
static void own_leave_out(int32_t *pids, size_t *nr)
{
	size_t kept = 0;

	for (size_t i = 0; i < *nr; i++) {
		pids[kept] = pids[i];
		kept += pids[i] != getpid();
	}
	*nr = kept;
}

int ftr_recorder_find_running(struct ftr_recorder *recorder, struct ftr_err *err)
{
	const struct ftr_recorder_options *options = recorder->options;
	size_t nr = 1;

	if (options->attach_pid == 0)
		return 0;
	if (options->attach_all)
		recorder->running = ftr_process_tree(options->attach_pid, &nr);
	else
		recorder->running = calloc(1, sizeof(*recorder->running));
	if (recorder->running == NULL)
		return ftr_err_set(err, ENOMEM, "out of memory");
	recorder->running[0] = options->attach_pid;
	own_leave_out(recorder->running, &nr);
	recorder->recording.running = recorder->running;
	recorder->recording.running_nr = nr;
	return 0;
}

/* Decoding takes its time: not that of the thread that is borrowed. */
static void libraries_prepare(struct ftr_recorder *recorder, int32_t pid)
{
	struct ftr_err ignored = { 0 };
	struct ftr_maps maps = { .ranges = { 0 } };
	const char *last = "";
	size_t i;

	if (ftr_maps_load(&maps, pid, &ignored) < 0)
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

static void most(uint64_t *all, uint64_t one)
{
	*all = one > *all ? one : *all;
}

/* @code of a process becomes @now: the sums over all follow it. */
static void code_update(struct ftr_attach_code_report *all, struct ftr_attach_code_report *code,
			const struct ftr_attach_code_report *now)
{
	all->made_nr += now->made_nr - code->made_nr;
	all->in_use_nr += now->in_use_nr - code->in_use_nr;
	all->crossing_nr += now->crossing_nr - code->crossing_nr;
	all->changed_nr += now->changed_nr - code->changed_nr;
	all->unstopped_nr += now->unstopped_nr - code->unstopped_nr;
	all->failed_nr += now->failed_nr - code->failed_nr;
	all->thread_nr += now->thread_nr - code->thread_nr;
	all->stop_nr += now->stop_nr;
	most(&all->stopped_ns, now->stopped_ns);
	most(&all->work_ns, now->work_ns);
	*code = *now;
}

static void report_add(struct ftr_recorder *recorder, int32_t pid,
		       const struct ftr_attach_report *report)
{
	struct ftr_attach_report *all = &recorder->result->attached;
	struct ftr_process *process = ftr_process_find(&recorder->processes, pid);
	struct ftr_attach_code_report none = { .made_nr = 0 }, code = report->code;

	if (process != NULL && report->code_nr > process->code_nr) {
		process->codes = report->codes;
		process->code_nr = process->code_done_nr = report->code_nr;
	}
	all->hooked_nr += report->hooked_nr;
	most(&all->borrowed_ns, report->borrowed_ns);
	if (code.stop_nr == 0 && process != NULL)	/* nothing was to be written */
		code.thread_nr = process->code.thread_nr;
	if (code.stop_nr != 0 || report->code_nr != 0)
		code_update(&all->code, process != NULL ? &process->code : &none, &code);
}

static int process_attach(struct ftr_recorder *recorder, int32_t pid, struct ftr_err *err)
{
	const struct ftr_record_attached_job job = {
		.work = FTR_ATTACHED_BEGIN,
		.pid = pid,
		.runtime = recorder->options->runtime,
		.address = recorder->channel.name,
	};
	struct ftr_attach_report report = { .hooked_nr = 0 };
	int ret;

	recorder->attaching_pid = pid;
	ret = helper_run(recorder, &job, &report, err);
	recorder->attaching_pid = 0;
	if (ret == 0)
		report_add(recorder, pid, &report);
	return ret;
}

/* One that is ending has none. */
static bool has_image(int32_t pid)
{
	char link[40], image;

	snprintf(link, sizeof(link), "/proc/%d/exe", pid);
	return readlink(link, &image, 1) >= 0;
}

/* One of those that have come from the program: without it the others are recorded all the same. */
static void other_attach(struct ftr_recorder *recorder, int32_t pid)
{
	struct ftr_err err = { 0 };

	if (recorder->store.is_closed)
		return;		/* the others have filled it */
	if (ftr_process_find(&recorder->processes, pid) != NULL || !has_image(pid))
		return;		/* forked by one that was attached to, or it has ended */
	libraries_prepare(recorder, pid);
	if ((ftr_attach_check(pid, &err) < 0 || process_attach(recorder, pid, &err) < 0) &&
	    err.code != ESRCH && has_image(pid) && !recorder->store.is_closed)
		ftr_diag_warn(recorder->options->diag, "process %d is not recorded: %s", pid,
			      err.text);
}

/* Those that were there, and those that one of them has made before it was attached to. */
static void others_attach(struct ftr_recorder *recorder)
{
	size_t nr = recorder->recording.running_nr, now_nr, i, k;
	int32_t *now;

	for (i = 1; i < nr; i++)
		other_attach(recorder, recorder->running[i]);
	if (!recorder->options->attach_all)
		return;
	now = ftr_process_tree(recorder->options->attach_pid, &now_nr);
	own_leave_out(now, &now_nr);
	for (i = 0; i < now_nr; i++) {
		for (k = 0; k < nr && recorder->running[k] != now[i]; k++)
			;
		if (k == nr)
			other_attach(recorder, now[i]);
	}
	free(now);
}

int ftr_recorder_attach(struct ftr_recorder *recorder, struct ftr_err *err)
{
	const struct ftr_recorder_options *options = recorder->options;
	struct ftr_launch launch = { .path = NULL };
	sigset_t signals;
	int ret;

	ftr_launch_signals(&launch, &signals);
	libraries_prepare(recorder, options->attach_pid);
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
	ret = process_attach(recorder, options->attach_pid, err);
	recorder->result->was_run = ret == 0;
	if (ret == 0)
		others_attach(recorder);
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
	if (process->image.is_launched)	/* it has made those that were chosen when it asked */
		process->code_done_nr = process->code_nr;
}

static void code_start(struct ftr_recorder *recorder, struct ftr_process *process)
{
	struct ftr_record_attached_job job = {
		.work = FTR_ATTACHED_CODE,
		.pid = process->pid,
		.runtime = recorder->options->runtime,
		.codes = process->codes,
		.code_nr = process->code_nr,
	};
	struct ftr_patch_chosen chosen = { .addrs = { 0 } };
	struct ftr_err err = { 0 };
	int ret = 0;

	process->code_done_nr = process->code_nr;
	process->patch_change_nr = recorder->patch.change_nr;
	if (recorder->patch.change_nr != 0) {
		ret = ftr_patch_chosen_load(&chosen, process->pid, &recorder->modules, &err);
		job.chosen = chosen.addrs.v;
		job.chosen_nr = chosen.addrs.nr;
	}
	if (ret == 0)
		ret = ftr_record_attached_start(&recorder->attached, &job, &err);
	if (ret < 0)
		ftr_diag_warn(recorder->options->diag, "process %d: what is patched in it has not "
			      "changed: %s", process->pid, err.text);
	ftr_vec_fini(&chosen.addrs);
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
		report_add(recorder, recorder->attached.pid, &report);
	else if (ret < 0)
		ftr_diag_warn(recorder->options->diag, "process %d: what is patched in it has not "
			      "changed: %s", recorder->attached.pid, err.text);
	if (ret > 0 && report.kept_nr > 0)
		ftr_diag_warn(recorder->options->diag, "process %d: %u function%s patched, as "
			      "threads were in %s all the time", recorder->attached.pid,
			      report.kept_nr, report.kept_nr == 1 ? " stays" : "s stay",
			      report.kept_nr == 1 ? "it" : "them");
	return ret == 0;
}

void ftr_recorder_code_turn(struct ftr_recorder *recorder)
{
	size_t i;

	if (code_goes_on(recorder))
		return;
	for (i = 0; i < recorder->processes.all.nr; i++) {
		struct ftr_process *process = recorder->processes.all.v[i];

		if (process->code_nr > process->code_done_nr ||
		    (process->code_nr > 0 &&
		     process->patch_change_nr != recorder->patch.change_nr)) {
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
	size_t nr = recorder->processes.all.nr, left_nr = 0, i;
	int32_t *pids = calloc(nr + 1, sizeof(*pids));

	code_end(recorder);
	for (i = 0; pids != NULL && i < nr; i++) {
		const struct ftr_process *process = recorder->processes.all.v[i];

		if (!process->image.is_launched)
			pids[left_nr++] = process->pid;
	}
	for (i = 0; i < left_nr; i++)
		process_leave(recorder, pids[i]);
	free(pids);
}
