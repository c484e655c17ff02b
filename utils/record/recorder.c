/* SPDX-License-Identifier: MIT */
/* ftr record without its command line: the life of a recording and its loop. */
#include "utils/record/recorder.h"

#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "utils/record/job.h"
#include "utils/record/launch.h"
#include "utils/record/recorder_state.h"
#include "utils/record/sections.h"

#define USEC UINT64_C(1000)
#define MSEC UINT64_C(1000000)
#define SLEEP_MIN_NS	(100 * USEC)
#define SLEEP_MAX_NS	(4 * MSEC)
#define SLEEP_IDLE_NS	(10 * MSEC)	/* after CALM_ROUNDS */
#define SLEEP_OUTSIDE_NS  (100 * MSEC) /* nothing is traced from inside: there is nothing to drain \
					*/
#define SLEEP_ORPHANS_NS  (20 * MSEC) /* only processes that have not reported themselves are left \
				       */
#define EXEC_NS		(100 * MSEC)	/* from an exec to the runtime's first message */
#define EXEC_SHARE_MAX	19		/* how often more of it, on a busy machine */
#define SILENCE_NS	(3000 * MSEC)
#define FULL_PERCENT	50		/* go on at once */
#define BUSY_PERCENT	25
#define CALM_PERCENT	10
#define CALM_ROUNDS	250
#define EVENTS_MAX	64

struct pace {
	uint64_t sleep_ns;
	unsigned calm_rounds;
};

enum epoll_tag { TAG_CHANNEL, TAG_SIGNAL, TAG_AGENT };

uint64_t ftr_recorder_now(struct ftr_recorder *recorder)
{
	const struct ftr_clock *clock = recorder->options->clock;

	if (clock->is_counter && recorder->flight.newest_ns > recorder->store.last_ns)
		return recorder->flight.newest_ns + FTR_COUNTER_STEP_NS;
	if (clock->is_counter)
		return recorder->store.last_ns + FTR_COUNTER_STEP_NS;
	if (!ftr_tick_clock_read(&recorder->ticks, clock->id))
		ftr_diag_warn(recorder->options->diag, "the processor's counter was set back, as "
			      "when a virtual machine is restored: times of calls before may be "
			      "wrong by up to a second; record again to be sure");
	return ftr_tick_map_last(&recorder->ticks).ns;
}

void ftr_recorder_image_end(struct ftr_recorder *recorder, int32_t pid)
{
	/* Dead tasks' records do not wait for a later pair of ticks and time. */
	ftr_recorder_now(recorder);
	ftr_collectors_image_end(&recorder->collectors, pid);
	ftr_record_nurseries_image_end(&recorder->nurseries, pid);
}

void ftr_recorder_switch(struct ftr_recorder *recorder, const char *probe, uint32_t value)
{
	if (ftr_modules_switch(&recorder->modules, probe, value) < 0)
		ftr_diag_warn(recorder->options->diag, "probe %s: out of memory; not switched",
			      probe);
	atomic_store(&recorder->control.map->generation, recorder->modules.generation);
}

void ftr_recorder_trace(struct ftr_recorder *recorder, bool is_on)
{
	ftr_modules_trace(&recorder->modules, is_on);
	atomic_store(&recorder->control.map->generation, recorder->modules.generation);
}

uint32_t ftr_recorder_switch_wanted(const struct ftr_recorder *recorder,
				    const struct ftr_section_maker *maker)
{
	if (maker->flags == NULL)
		return FTR_SWITCH_OFF;
	return maker->flags(&recorder->recording,
			    ftr_section_values(recorder->options->sections, maker));
}

void ftr_recorder_switches_start(struct ftr_recorder *recorder)
{
	const struct ftr_section_maker *maker;
	uint32_t flags;
	size_t pos = 0;

	while ((maker = ftr_section_maker_next(&pos)) != NULL) {
		flags = ftr_recorder_switch_wanted(recorder, maker);
		if (flags != FTR_SWITCH_OFF)
			ftr_recorder_switch(recorder, maker->probe, flags);
	}
}

static int collectors_started(struct ftr_recorder *recorder, struct ftr_err *err)
{
	ftr_collectors_started(&recorder->collectors, recorder->child);
	if (!recorder->options->keep_pid)
		return 0;
	ftr_recorder_names_start(recorder);	/* only now it is known which events are recorded */
	return ftr_recorder_info_start(recorder, err);
}

/* A descriptor per ring and process: take what the system allows. */
static void raise_nofile(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
		limit.rlim_cur = limit.rlim_max;
		setrlimit(RLIMIT_NOFILE, &limit);
	}
}

static int watch(struct ftr_recorder *recorder, int fd, enum epoll_tag tag)
{
	struct epoll_event event = { .events = EPOLLIN, .data.u64 = tag };

	return epoll_ctl(recorder->epoll_fd, EPOLL_CTL_ADD, fd, &event);
}

int ftr_recorder_listen(struct ftr_recorder *recorder)
{
	return watch(recorder, recorder->channel.path_fd, TAG_CHANNEL);
}

int ftr_recorder_loop_open(struct ftr_recorder *recorder, const sigset_t *signals,
			   struct ftr_err *err)
{
	raise_nofile();
	recorder->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	recorder->signal_fd = signalfd(-1, signals, SFD_CLOEXEC | SFD_NONBLOCK);
	recorder->processes.epoll_fd = recorder->epoll_fd;
	if (recorder->epoll_fd < 0 || recorder->signal_fd < 0 ||
	    watch(recorder, recorder->channel.fd, TAG_CHANNEL) < 0 ||
	    watch(recorder, recorder->signal_fd, TAG_SIGNAL) < 0)
		return ftr_err_set(err, errno, "epoll: %s", strerror(errno));
	if (recorder->agent.epoll_fd >= 0 &&
	    watch(recorder, recorder->agent.epoll_fd, TAG_AGENT) < 0)
		return ftr_err_set(err, errno, "agent: epoll: %s", strerror(errno));
	ftr_collectors_watch(&recorder->collectors, recorder->epoll_fd);
	return 0;
}

/* After the start of the program, which inherits neither.  Failures are warned about. */
static void means_get(struct ftr_recorder *recorder)
{
	const struct ftr_recorder_options *options = recorder->options;
	struct sched_param param = { .sched_priority = (int)options->rt_prio };
	struct ftr_err err;

	if (options->rt_prio != 0 &&
	    sched_setscheduler(0, SCHED_FIFO | SCHED_RESET_ON_FORK, &param) < 0)
		ftr_diag_warn(options->diag,
			      "--rt-prio=%u: %s: the recorder runs with normal priority; run it as "
			      "root, or raise the limit (ulimit -r)",
			      options->rt_prio, strerror(errno));
	if (options->thread_nr > 1 &&
	    ftr_pool_open(&recorder->recording.pool, options->thread_nr, &err) < 0)
		ftr_diag_warn(options->diag, "--num-thread=%u: %s: recording with one thread",
			      options->thread_nr, err.text);
}

/* The program may already be at its constructors when this returns: everything is ready by then. */
static int program_start(struct ftr_recorder *recorder, const struct ftr_launch_ignored *ignored,
			 struct ftr_err *err)
{
	const struct ftr_recorder_options *options = recorder->options;
	struct ftr_launch launch = {
		.path = options->program->path,
		.argv = options->argv,
		.runtime = options->preload,
		.no_pltbind = options->no_pltbind,
		.channel = recorder->channel.name,
		.no_randomize = options->no_randomize,
		.keep_pid = options->keep_pid,
		.ignored = ignored,
	};
	sigset_t signals;
	int ready, ret = 0;

	ftr_launch_signals(&launch, &signals);
	if (options->has_syscalls) {
		recorder->syscalls.has_stacks = options->has_stacks;
		ret = ftr_record_syscalls_open(&recorder->syscalls,
					       ftr_uftrace_dir_fd(recorder->store.dir),
					       recorder->budget.shared, options->diag, err);
		launch.syscalls = &recorder->syscalls;
	}
	if (ret == 0 && !options->keep_pid)
		ret = ftr_control_hold(&recorder->control, err);
	recorder->start_ns = ftr_clock_now_ns(CLOCK_MONOTONIC);
	if (ret == 0)
		ret = ftr_launch_start(&launch, &recorder->child, &ready, err);
	if (ret < 0) {
		recorder->child = 0;
		return ret;
	}
	recorder->result->was_run = true;
	recorder->is_child_ours = !options->keep_pid;
	ret = collectors_started(recorder, err);
	if (ret == 0 && options->keep_pid)
		ret = ftr_control_hold(&recorder->control, err);
	if (ret == 0)
		ret = ftr_recorder_loop_open(recorder, &signals, err);
	if (ret == 0 &&
	    ftr_process_get(&recorder->processes, recorder->child, recorder->child) == NULL)
		ret = ftr_err_set(err, ENOMEM, "out of memory");
	means_get(recorder);
	if (ready >= 0) {
		(void)!write(ready, "", 1);
		close(ready);
	}
	return ret;
}

unsigned ftr_recorder_drain(struct ftr_recorder *recorder)
{
	uint64_t now_ns = ftr_recorder_now(recorder);
	unsigned percent;

	ftr_recorder_claims_take(recorder);
	percent = ftr_collectors_drain(&recorder->collectors);

	if (recorder->options->summary_seconds != 0)
		ftr_store_summary_tick(&recorder->summary, now_ns);
	return percent;
}

void ftr_recorder_dump(struct ftr_recorder *recorder)
{
	struct ftr_store *store = recorder->recording.store;

	if (store->ops->dump != NULL && !recorder->store.is_closed)
		store->ops->dump(store);
}

static void child_ended(struct ftr_recorder *recorder, const struct ftr_process *process)
{
	struct ftr_recorder_result *result = recorder->result;

	result->has_usage = recorder->is_child_ours &&
			    wait4(recorder->child, &result->wait_status, 0, &result->usage) > 0;
	result->has_status = result->has_usage ||
			     (!recorder->is_child_ours &&
			      ftr_process_status(process, &result->wait_status));
	result->elapsed_ns = ftr_clock_now_ns(CLOCK_MONOTONIC) - recorder->start_ns;
	recorder->child = 0;
}

static void process_ended(struct ftr_recorder *recorder, int32_t pid)
{
	struct ftr_process *process = ftr_process_find(&recorder->processes, pid);

	if (process == NULL || !ftr_process_has_ended(process))
		return;
	ftr_recorder_claims_take(recorder);	/* of its children, who are named after it */
	ftr_recorder_image_end(recorder, pid);
	if (pid == recorder->child)
		child_ended(recorder, process);
	ftr_process_remove(&recorder->processes, process);
	ftr_agent_unlisten(&recorder->agent, pid);
}

static void requests_answer(struct ftr_recorder *recorder)
{
	struct ftr_channel_request *request = &recorder->request;
	struct ftr_recorder_reply reply;

	while (ftr_channel_next(&recorder->channel, request)) {
		bool is_sent = true;

		if (recorder->store.is_closed) {
			ftr_channel_refuse(request, "the recording has ended");
			continue;
		}
		ftr_recorder_answer(recorder, &reply);
		if (reply.refusal.code != 0)
			ftr_channel_refuse(request, reply.refusal.text);
		else
			is_sent = ftr_channel_reply(request, reply.base, reply.time, reply.fds,
						    reply.fd_nr);
		ftr_recorder_answered(recorder, &reply, is_sent);
	}
}

static void events_handle(struct ftr_recorder *recorder)
{
	struct epoll_event events[EVENTS_MAX];
	int nr = epoll_wait(recorder->epoll_fd, events, EVENTS_MAX, 0);
	int i;

	ftr_modules_look_again(&recorder->modules);
	/* Whatever a process asked for before it died comes first. */
	requests_answer(recorder);
	for (i = 0; i < nr; i++) {
		if (events[i].data.u64 == TAG_SIGNAL)
			ftr_recorder_signals_read(recorder);
		else if (events[i].data.u64 == TAG_AGENT)
			ftr_agent_serve(&recorder->agent);
		else if (events[i].data.u64 & FTR_PROCESS_EPOLL_TAG)
			process_ended(recorder, (int32_t)(uint32_t)events[i].data.u64);
	}
}

/*
 * How long to sleep next, by how full the fullest ring was, and for how long nothing has happened.
 */
static void pace_update(struct pace *pace, unsigned percent, bool is_outside)
{
	uint64_t idle_ns = is_outside ? SLEEP_OUTSIDE_NS : SLEEP_IDLE_NS;
	uint64_t max_ns;

	pace->calm_rounds = percent == 0 ? pace->calm_rounds + 1 : 0;
	max_ns = pace->calm_rounds > (is_outside ? 0 : CALM_ROUNDS) ? idle_ns : SLEEP_MAX_NS;
	if (percent >= BUSY_PERCENT)
		pace->sleep_ns /= 2;
	else if (percent < CALM_PERCENT)
		pace->sleep_ns += pace->sleep_ns / 2;
	if (percent >= FULL_PERCENT || pace->sleep_ns < SLEEP_MIN_NS)
		pace->sleep_ns = SLEEP_MIN_NS;
	if (pace->sleep_ns > max_ns)
		pace->sleep_ns = max_ns;
}

/*
 * A program that has run for seconds without the runtime's first message will not send it.
 */
static void silence_report(struct ftr_recorder *recorder)
{
	if (recorder->result->sessions != 0 || recorder->is_silence_reported ||
	    recorder->options->runtime == NULL || recorder->options->nop ||
	    ftr_clock_now_ns(CLOCK_MONOTONIC) - recorder->start_ns < SILENCE_NS)
		return;
	recorder->is_silence_reported = true;
	ftr_diag_warn(recorder->options->diag, "%s is not traced: %s did not connect within 3 s; "
		      "see the loader's errors above", recorder->options->program->path,
		      recorder->options->runtime);
}

/* On a busy machine what a process does takes it several times as long. */
static uint64_t exec_ns(void)
{
	long cpu_nr = sysconf(_SC_NPROCESSORS_ONLN);
	double load, share;

	if (getloadavg(&load, 1) != 1 || cpu_nr < 1)
		return EXEC_NS;
	share = load / (double)cpu_nr;
	return (uint64_t)(EXEC_NS * (1 + (share < EXEC_SHARE_MAX ? share : EXEC_SHARE_MAX)));
}

/* Between its exec and its first message a process has no ring mapped. */
static bool orphans_are_left(struct ftr_recorder *recorder)
{
	uint64_t now = ftr_clock_now_ns(CLOCK_MONOTONIC);

	if (ftr_collectors_are_shared(&recorder->collectors))
		recorder->orphans_ns = now;
	return recorder->orphans_ns != 0 && now - recorder->orphans_ns < exec_ns();
}

static void unwatched_end(struct ftr_recorder *recorder)
{
	const struct ftr_process *process;

	while ((process = ftr_process_find_unwatched(&recorder->processes)) != NULL)
		process_ended(recorder, process->pid);
}

void ftr_recorder_stop(struct ftr_recorder *recorder, const struct ftr_err *why)
{
	char line[sizeof(why->text) + 80];

	ftr_control_stop(&recorder->control);
	ftr_recorder_drain(recorder);
	ftr_recorder_dump(recorder);
	snprintf(line, sizeof(line), "recording ends here: %s; the program continues untraced",
		 why->text);
	ftr_uftrace_dir_message(recorder->store.dir, ftr_recorder_now(recorder), line);
	recorder->store.is_closed = true;
	ftr_diag_warn(recorder->options->diag, "%s", line);
}

static unsigned drain_within_budget(struct ftr_recorder *recorder)
{
	struct ftr_err why;
	unsigned percent;

	if (recorder->store.is_closed)
		return 0;
	percent = ftr_recorder_drain(recorder);
	if (ftr_budget_is_spent(&recorder->budget, recorder->store.bytes, &why))
		ftr_recorder_stop(recorder, &why);
	return percent;
}

void ftr_recorder_turn(struct ftr_recorder *recorder, uint64_t wait_ns)
{
	events_handle(recorder);
	unwatched_end(recorder);
	drain_within_budget(recorder);
	ftr_channel_wait(&recorder->channel, recorder->epoll_fd, wait_ns);
}

static void loop(struct ftr_recorder *recorder)
{
	struct pace pace = { .sleep_ns = SLEEP_MIN_NS };
	bool has_events = true;

	while (!recorder->result->was_stopped) {
		unsigned percent;

		if (has_events)
			events_handle(recorder);
		if (recorder->agent.is_full)
			ftr_agent_serve(&recorder->agent);	/* those that say nothing leave */
		ftr_recorder_code_turn(recorder);
		unwatched_end(recorder);
		if (recorder->child == 0 && recorder->options->detach)
			break;
		if (recorder->options->attach_pid != 0 && recorder->store.is_closed)
			break;
		if (recorder->processes.all.nr == 0) {
			if (!orphans_are_left(recorder))
				break;
			drain_within_budget(recorder);	/* of what those others do */
			has_events = ftr_channel_wait(&recorder->channel, recorder->epoll_fd,
						      SLEEP_ORPHANS_NS);
			continue;
		}
		percent = drain_within_budget(recorder);
		pace_update(&pace, percent, recorder->options->runtime == NULL);
		ftr_recorder_info_update(recorder);
		silence_report(recorder);
		has_events = ftr_channel_wait(&recorder->channel, recorder->epoll_fd,
					      percent < FULL_PERCENT ? pace.sleep_ns : 0);
	}
}

/* Processes without the runtime may go on for longer than those that have reported themselves. */
static void syscalls_wait(struct ftr_recorder *recorder)
{
	struct pollfd poll_fd = { .fd = recorder->signal_fd, .events = POLLIN };

	while (!recorder->result->was_stopped &&
	       !ftr_record_syscalls_have_ended(&recorder->syscalls)) {
		poll(&poll_fd, 1, -1);
		ftr_recorder_signals_read(recorder);
	}
}

static void recorder_finish(struct ftr_recorder *recorder)
{
	struct ftr_recorder_result *result = recorder->result;

	if (recorder->control.map != NULL)
		ftr_control_stop(&recorder->control);
	if (recorder->store.dir == NULL)
		return;
	ftr_recorder_now(recorder);
	ftr_recorder_claims_take(recorder);
	ftr_collectors_close(&recorder->collectors);
	ftr_recorder_untraced_report(recorder);
	ftr_recorder_dump(recorder);
	if (recorder->options->summary_seconds != 0)
		ftr_store_summary_end(&recorder->summary);
	ftr_store_dir_settle(&recorder->store);
	result->dumps = recorder->flight.dump_nr;
	result->notes = ftr_strbuf_take(&recorder->modules.notes);
	ftr_modules_fini(&recorder->modules);
	if (result->elapsed_ns == 0)
		result->elapsed_ns = ftr_clock_now_ns(CLOCK_MONOTONIC) - recorder->start_ns;
	if (result->was_run)
		ftr_recorder_info_end(recorder);
	result->tasks = (unsigned)recorder->store.tids.nr;
	result->records = recorder->store.records;
	result->calls = recorder->store.calls;
	memcpy(result->lost, recorder->store.lost, sizeof(result->lost));
}

void ftr_recorder_close(struct ftr_recorder *recorder)
{
	if (recorder->options->has_syscalls)
		ftr_record_syscalls_close(&recorder->syscalls);
	ftr_agent_close(&recorder->agent);
	ftr_told_fini(&recorder->told);
	ftr_patch_now_fini(&recorder->patch);
	ftr_pool_close(recorder->recording.pool);
	ftr_backtraces_free(recorder->recording.backtraces);
	ftr_record_nurseries_fini(&recorder->nurseries);
	ftr_processes_fini(&recorder->processes);
	ftr_lineage_fini(&recorder->lineage);
	ftr_channel_close(&recorder->channel);
	ftr_control_close(&recorder->control);
	ftr_budget_close(&recorder->budget);
	if (recorder->options->flight.bytes != 0)
		ftr_store_flight_fini(&recorder->flight);
	if (recorder->options->summary_seconds != 0)
		ftr_store_summary_close(&recorder->summary);
	ftr_store_dir_close(&recorder->store);
	ftr_tick_map_fini(&recorder->ticks);
	ftr_arena_fini(&recorder->arena);
	free(recorder->running);
	ftr_recorder_warn_fini(recorder);
	ftr_vec_fini(&recorder->execs);
	if (recorder->signal_fd >= 0)
		close(recorder->signal_fd);
	if (recorder->epoll_fd >= 0)
		close(recorder->epoll_fd);
}

int ftr_recorder_run(const struct ftr_recorder_options *options,
		     struct ftr_recorder_result *result, struct ftr_err *err)
{
	struct ftr_recorder recorder = {
		.options = options, .result = result, .epoll_fd = -1, .signal_fd = -1,
		.channel.fd = -1, .channel.path_fd = -1, .control.fd = -1, .agent.epoll_fd = -1,
	};
	struct ftr_launch_ignored ignored;
	bool has_dir;
	int ret;

	memset(result, 0, sizeof(*result));
	ftr_launch_ignore(&ignored);
	ret = ftr_recorder_open(&recorder, err);
	has_dir = recorder.store.dir != NULL;
	result->was_ready = ret == 0;
	if (ret == 0)
		ret = options->attach_pid != 0 ? ftr_recorder_attach(&recorder, err) :
						 program_start(&recorder, &ignored, err);
	if (ret == 0)
		loop(&recorder);
	if (ret == 0 && options->attach_pid != 0)
		ftr_recorder_leave(&recorder);
	if (ret == 0 && options->has_syscalls)
		syscalls_wait(&recorder);
	recorder_finish(&recorder);
	ftr_recorder_close(&recorder);
	if (!result->was_run && has_dir)
		ftr_uftrace_dir_remove(options->dir, NULL);
	return ret;
}
