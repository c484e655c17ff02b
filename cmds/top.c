/* SPDX-License-Identifier: MIT */
/*
 * ftr top: what a running program spends its time in, as a table that is shown anew at each
 * interval. The recorder keeps sums (doc/adr/0068) in a directory that does not outlive it, and
 * another process reads them as they are written (top_show.h).
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cmds/cmd.h"
#include "cmds/message.h"
#include "cmds/record.h"
#include "cmds/record_attach.h"
#include "cmds/temporary.h"
#include "cmds/top_show.h"
#include "utils/format/uftrace/summary.h"
#include "utils/view/top.h"

#define ROUNDS_MAX 1000000000
#define ROWS_MAX   1000000

struct top_values {
	struct ftr_common common;
	struct ftr_record_opts record;
	const char *output;
	uint64_t seconds, rounds, rows;
	int key;
	bool is_all;
};

static const struct top_values top_defaults = {
	.record = FTR_RECORD_OPTS_DEFAULTS, .seconds = 1,
};

static const struct ftr_option top_options[] = {
	FTR_OPTION_GROUP(ftr_common_options, struct top_values, common),
	FTR_OPTION("interval", 'i', "SECONDS", "Show a table each SECONDS (default: 1)",
		   ftr_opt_u64, struct top_values, seconds, .min = 1,
		   .max = FTR_SUMMARY_SECONDS_MAX),
	FTR_OPTION("rounds", 'n', "N",
		   "Show N tables; then leave the program (-p), or let it run on unwatched",
		   ftr_opt_u64, struct top_values, rounds, .min = 1, .max = ROUNDS_MAX),
	FTR_OPTION("rows", 0, "N", "Show N functions (default: as many as the terminal has room "
		   "for, else all)",
		   ftr_opt_u64, struct top_values, rows, .min = 1, .max = ROWS_MAX),
	FTR_OPTION("sort", 's', "KEY", "Order by self, total, call, total-avg or func (default: "
		   "self)",
		   ftr_opt_choice, struct top_values, key, .words = ftr_top_keys),
	FTR_OPTION("since-start", 0, NULL, "Show sums since the beginning, not of the last interval",
		   ftr_opt_flag, struct top_values, is_all),
	FTR_OPTION("output", 'o', "FILE",
		   "Write to FILE (default: standard output with -p, else standard error)",
		   ftr_opt_string, struct top_values, output),
	FTR_OPTION_GROUP(ftr_record_opts_options, struct top_values, record),
	FTR_OPTION("depth", 'D', "DEPTH", "Record at most DEPTH levels of calls", ftr_opt_u64,
		   struct top_values, record.depth, .min = 1, .max = 65536),
	FTR_OPTION("time-filter", 't', "TIME", "Leave out calls that take less than TIME",
		   ftr_opt_time, struct top_values, record.time_ns),
	FTR_OPTION_GROUP(ftr_filter_options, struct top_values, record.filter),
	{ 0 }
};

/* Where the table goes: the program's own output is not ours.  -1 after reporting the failure. */
static int output_open(const struct top_values *values)
{
	int fd;

	if (values->output == NULL || strcmp(values->output, "-") == 0)
		return values->output != NULL || values->record.attach_pid != 0 ? STDOUT_FILENO :
										  STDERR_FILENO;
	fd = open(values->output, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	if (fd < 0)
		ftr_error("top: %s: %s; name another file", values->output, strerror(errno));
	return fd;
}

/* The process that shows the sums; it ends when the write end of @ended is closed. */
static pid_t show_start(struct ftr_top_show *show, const int ended[2])
{
	pid_t pid;

	fflush(NULL);
	pid = fork();
	if (pid != 0)
		return pid;
	close(ended[1]);
	show->ended_fd = ended[0];
	show->recorder = getppid();
	pid = ftr_top_show(show) == 0 ? FTR_EXIT_OK : FTR_EXIT_FAILED;
	fflush(NULL);
	_exit(pid);
}

static int top_in(const struct top_values *values, struct ftr_top_show *show, char **argv)
{
	struct ftr_record_opts opts = values->record;
	int ended[2], shown = 0, status;
	bool was_run;
	pid_t pid;

	if (pipe2(ended, O_CLOEXEC) < 0) {
		ftr_error("top: %s", strerror(errno));
		return FTR_EXIT_FTR;
	}
	pid = show_start(show, ended);
	close(ended[0]);
	if (pid < 0) {
		ftr_error("top: %s", strerror(errno));
		close(ended[1]);
		return FTR_EXIT_FTR;
	}
	opts.summary_seconds = values->seconds;
	opts.no_event = true;
	opts.shows_end = false;
	status = ftr_record_program(&opts, show->dir, argv, &was_run);
	close(ended[1]);
	while (waitpid(pid, &shown, 0) < 0 && errno == EINTR)
		;
	return status == FTR_EXIT_OK && shown != 0 ? FTR_EXIT_FTR : status;
}

static int top_somewhere(const struct top_values *values, char **argv)
{
	struct ftr_top_show show = {
		.common = &values->common,
		.rounds = values->rounds,
		.is_left = values->record.attach_pid != 0,
		.opts = { .interval_ns = values->seconds * UINT64_C(1000000000),
			  .key = (enum ftr_rate_key)values->key, .is_all = values->is_all,
			  .rows = (unsigned)values->rows },
	};
	char title[32], *dir;
	int status;

	show.fd = output_open(values);
	if (show.fd < 0)
		return FTR_EXIT_FTR;
	snprintf(title, sizeof(title), "process %llu",
		 (unsigned long long)values->record.attach_pid);
	show.opts.title = values->record.attach_pid != 0 ? title : argv[0];
	ftr_signals_outlive();
	dir = ftr_temporary_make("top");
	if (dir == NULL)
		return FTR_EXIT_FTR;
	show.dir = dir;
	status = top_in(values, &show, argv);
	ftr_temporary_remove(dir);
	return status;
}

static int top_refuse(const struct top_values *values, int argc, struct ftr_err *err)
{
	const struct ftr_record_opts *record = &values->record;

	if (values->common.data != NULL)
		return ftr_err_set(err, EINVAL, "nothing is kept, so -d names no place; ftr record "
				   "--summary keeps the same sums");
	if (record->keep_pid || record->detach)
		return ftr_err_set(err, EINVAL, "--keep-pid and --detach leave nobody who shows "
				   "the table");
	if (record->attach_pid != 0)
		return ftr_record_attach_check(record, argc, err);
	if (argc == 0)
		return ftr_err_set(err, EINVAL, "name the program to run, ftr top PROGRAM "
				   "[ARGUMENT...], or one that runs, ftr top -p PID");
	return 0;
}

static int top_run(void *arg, int argc, char **argv)
{
	const struct top_values *values = arg;
	struct ftr_err err = { 0 };

	if (values->record.lists_events)
		return ftr_record_list_events(&values->common, argc > 0 ? argv[0] : NULL);
	if (top_refuse(values, argc, &err) < 0) {
		ftr_error("top: %s", err.text);
		return FTR_EXIT_USAGE;
	}
	return top_somewhere(values, argv);
}

const struct ftr_cmd ftr_cmd_top = {
	.name		  = "top",
	.usage		  = "[OPTION...] PROGRAM [ARGUMENT...]",
	.summary	  = "Show what a running program spends its time in, as it runs",
	.options	  = top_options,
	.values_bytes	  = sizeof(struct top_values),
	.defaults	  = &top_defaults,
	.stops_at_operand = true,
	.run		  = top_run,
};
