/* SPDX-License-Identifier: MIT */
/* ftr record: run a program and keep its calls in a data directory. */
#include "cmds/record.h"

#include <errno.h>
#include <string.h>

#include "cmds/cmd.h"
#include "cmds/export.h"
#include "cmds/message.h"
#include "cmds/record_check.h"
#include "cmds/record_attach.h"
#include "cmds/record_observed.h"
#include "cmds/record_merge.h"
#include "cmds/record_remote.h"
#include "cmds/script.h"
#include "utils/base/bits.h"
#include "utils/base/text.h"
#include "utils/cli/parse.h"
#include "utils/format/format.h"
#include "utils/format/uftrace/summary.h"
#include "utils/proto/ring.h"
#include "utils/record/collector.h"
#include "utils/record/sections.h"
#include "utils/remote/wire.h"

#define RT_PRIO_MAX 99
#define STACK_MAX_LIMIT FTR_BIT(24)
#define FLIGHT_BYTES FTR_MIB(256)	/* of memory, where --overwrite is a time */
#define SUMMARY_SECONDS "60"

const char *const ftr_record_clock_words[] = {
	"mono", "mono_raw", "boot", "realtime", "counter", NULL
};

/* By the values of enum ftr_on_full. */
static const char *const on_full_words[] = {
	[FTR_ON_FULL_WAIT] = "wait", [FTR_ON_FULL_DROP] = "drop",
	[FTR_ON_FULL_OVERWRITE] = "overwrite", NULL
};

/* A time has a unit, "10s"; anything else is a size. */
static int parse_last(const struct ftr_option *opt, void *value, const char *arg,
		      struct ftr_err *err)
{
	struct ftr_flight_limits *limits = value;
	struct ftr_slice text = ftr_slice_make(arg, strlen(arg));
	bool has_unit = false;
	uint64_t number;

	if (ftr_parse_time(text, &number, &has_unit) == 0 && has_unit)
		limits->ns = number;
	else if (ftr_parse_size(text, &number) == 0)
		limits->bytes = number;
	else
		return ftr_err_set(err, EINVAL, "\"%s\" is neither a size like 64M nor a time like "
				   "10s", arg);
	if (number == 0)
		return ftr_err_set(err, EINVAL, "%s keeps nothing", arg);
	if (limits->bytes == 0)
		limits->bytes = FLIGHT_BYTES;
	return 0;
}

static int parse_summary(const struct ftr_option *opt, void *value, const char *arg,
			 struct ftr_err *err)
{
	return ftr_opt_u64(opt, value, arg != NULL ? arg : SUMMARY_SECONDS, err);
}

#define ROW(name_, letter_, arg_, help_, parse_, member_, ...) \
	FTR_OPTION(name_, letter_, arg_, help_, parse_, struct ftr_record_opts, member_, \
		   ##__VA_ARGS__)

const struct ftr_option ftr_record_opts_options[] = {
	FTR_OPTION_SETS(ftr_collector_options, struct ftr_record_opts, of_collectors),
	FTR_OPTION_SETS(ftr_section_options, struct ftr_record_opts, of_sections),
	ROW("all", 0, NULL, "With -p, also record the processes that have come from PID", ftr_opt_flag,
	    attach_all),
	ROW("agent", 'g', NULL, "Have \"ftr ctl\" change what is recorded while the program runs",
	    ftr_opt_flag, has_agent),
	ROW("buffer", 'b', "SIZE",
	    "Size of a task's ring, rounded up to a power of two (default: 4M)", ftr_opt_size,
	    buffer_bytes, .min = 1, .max = FTR_RING_MAX_BYTES),
	ROW("clock", 0, "CLOCK",
	    "Clock of the time stamps: mono, mono_raw, boot, realtime; counter "
	    "counts its readings (for tests)",
	    ftr_opt_choice, clock, .words = ftr_record_clock_words),
	ROW("detach", 0, NULL,
	    "Stop when the program exits, not when its last process does", ftr_opt_flag,
	    detach),
	ROW("estimate-return", 'e', NULL,
	    "Leave return addresses alone; infer the end of a call from the next one", ftr_opt_flag,
	    estimate_return),
	ROW("keep-free", 0, "SIZE",
	    "Stop recording when less than SIZE is free on the disk (default: 5 %, at most 1 GB)",
	    ftr_opt_size, keep_bytes),
	ROW("keep-pid", 0, NULL, "Run the program under ftr's own process ID", ftr_opt_flag, keep_pid),
	ROW("libmcount-path", 0, "DIR", "Use DIR/libmcount/libmcount.so, or DIR/libmcount.so",
	    ftr_opt_string, libmcount_dir),
	ROW("library-path", 0, "DIR", NULL, ftr_opt_string, libmcount_dir),
	ROW("list-event", 0, NULL, "List the events that --Event may name here, those of PROGRAM if it is given, too, and record "
	    "nothing",
	    ftr_opt_flag, lists_events),
	ROW("max-size", 0, "SIZE", "Stop recording when the data have reached SIZE", ftr_opt_size,
	    max_bytes, .min = 1),
	ROW("max-stack", 0, "DEPTH", "Track at most DEPTH open calls of a task (default: 1048576)",
	    ftr_opt_u64, max_stack, .min = 1, .max = STACK_MAX_LIMIT),
	ROW("no-exec", 0, NULL, "With -p, do not record the programs that it starts by exec", ftr_opt_flag,
	    attach_no_exec),
	ROW("no-pltbind", 0, NULL,
	    "Keep the dynamic linker from storing what it binds (LD_BIND_NOT)", ftr_opt_flag,
	    no_pltbind),
	ROW("nop", 0, NULL,
	    "Preload a library that records nothing, to measure the instrumentation alone",
	    ftr_opt_flag, nop),
	ROW("no-randomize-addr", 0, NULL, "Do not randomise the program's addresses", ftr_opt_flag,
	    no_randomize),
	ROW("num-thread", 0, "N",
	    "Threads that drain the rings (default: a quarter of the processors)",
	    ftr_opt_u64, thread_nr, .min = 1, .max = FTR_POOL_THREADS_MAX),
	ROW("on-full", 0, "WHAT",
	    "When a ring is full: wait (default), drop the newest, overwrite "
	    "the oldest",
	    ftr_opt_choice, on_full, .words = on_full_words),
	ROW("overwrite", 0, "LAST",
	    "Keep only the last calls, so much as 64M or so long as 10s, until there is a dump, or "
	    "the end", parse_last, flight),
	ROW("pid", 'p', "PID",
	    "Record the process PID, which runs already, until ftr is ended (Ctrl-C)", ftr_opt_u64,
	    attach_pid, .min = 1, .max = INT32_MAX),
	ROW("rt-prio", 0, "PRIO",
	    "Run the recorder at real-time priority PRIO, 1 to 99 (SCHED_FIFO)", ftr_opt_u64,
	    rt_prio, .min = 1, .max = RT_PRIO_MAX),
	ROW("script", 'S', "FILE", "When the program has ended, run the script FILE over its calls",
	    ftr_opt_string, script),
	ROW("signal", 0, "SIGNAL@ACTION",
	    "When ftr gets SIGNAL: dump what --overwrite kept, trace_on, trace_off, or finish",
	    ftr_opt_list, signals),
	ROW("stack", 0, NULL, "With --syscalls, record the stack of each, of programs as they are",
	    ftr_opt_flag, has_stacks),
	ROW("syscalls", 0, NULL, "Also record system calls on files and processes, of all processes it starts",
	    ftr_opt_flag, has_syscalls),
	ROW("time", 0, NULL, "Print the time that the program took", ftr_opt_flag, shows_time),
	{ 0 }
};

static const struct ftr_option record_options[] = {
	FTR_OPTION_GROUP(ftr_common_options, struct ftr_record_values, common),
	FTR_OPTION_GROUP(ftr_record_opts_options, struct ftr_record_values, record),
	FTR_OPTION("no-event", 0, NULL,
		   "Record no events of tasks: scheduling, start, exit, name",
		   ftr_opt_flag, struct ftr_record_values, record.no_event),
	FTR_OPTION("no-sched", 0, NULL, "Do not record scheduling", ftr_opt_flag,
		   struct ftr_record_values, record.no_sched),
	FTR_OPTION("depth", 'D', "DEPTH", "Record at most DEPTH levels of calls", ftr_opt_u64,
		   struct ftr_record_values, record.depth, .min = 1, .max = STACK_MAX_LIMIT),
	FTR_OPTION("time-filter", 't', "TIME", "Leave out calls that take less than TIME",
		   ftr_opt_time, struct ftr_record_values, record.time_ns),
	FTR_OPTION_GROUP(ftr_filter_options, struct ftr_record_values, record.filter),
	FTR_OPTION("format", 0, "FORMAT",
		   "Format to write while the program runs (default: uftrace)", ftr_opt_format,
		   struct ftr_record_values, format, .next_word = ftr_format_next_recorded),
	FTR_OPTION("output", 'o', "FILE",
		   "Write to FILE, in a --format that is one file; - is standard output",
		   ftr_opt_string, struct ftr_record_values, output),
	FTR_OPTION("pack", 0, NULL,
		   "Pack the calls while they are recorded (ftr pack): a tenth of the room and less",
		   ftr_opt_flag, struct ftr_record_values, record.is_packed),
	FTR_OPTION("summary", 0, "SECONDS",
		   "Keep no calls, but sums of them for each function and SECONDS (default: 60)",
		   parse_summary, struct ftr_record_values, record.summary_seconds,
		   .is_arg_optional = true, .min = 1, .max = FTR_SUMMARY_SECONDS_MAX),
	FTR_OPTION("host", 0, "HOST", "Send the data to \"ftr recv\" on HOST while recording",
		   ftr_opt_string, struct ftr_record_values, host),
	FTR_OPTION("merge", 0, "FILE",
		   "Keep FILE, the trace.dat that trace-cmd wrote meanwhile, with the data and show both as one",
		   ftr_opt_string, struct ftr_record_values, merged),
	FTR_OPTION("port", 0, "PORT", "... which listens at PORT (default: " FTR_WIRE_PORT ")",
		   ftr_opt_string, struct ftr_record_values, port),
	FTR_OPTION_SETS(ftr_format_recorded_options, struct ftr_record_values, of_formats),
	{ 0 }
};

static const struct ftr_record_values record_defaults = { .record = FTR_RECORD_OPTS_DEFAULTS };

static int record_observed(const struct ftr_record_values *values, char **argv)
{
	const void *of_format = ftr_option_values_get(&values->of_formats,
						      ftr_format_recorded_options,
						      values->format->name);

	return ftr_record_observed(values->format->observed, of_format, values->output, argv);
}

/* What was chosen for the recording, and what of it is left to readers, holds for the script. */
static int run_script(const struct ftr_record_values *values, const char *dir, char **argv,
		      int argc, int status)
{
	struct ftr_script_run run = {
		.path = values->record.script,
		.args = argv,
		.arg_nr = argc,
		.is_record = true,
		.common = values->common,
		.selection = {
			.depth = values->record.depth,
			.time_ns = values->record.time_ns,
			.filter = values->record.filter,
		},
	};

	run.common.data = dir;
	run.selection.filter.are_recorders = true;
	return ftr_script_show_after(&run, status);
}

static int record_run(void *arg, int argc, char **argv)
{
	const struct ftr_record_values *values = arg;
	const char *dir = values->common.data != NULL ? values->common.data : ftr_cmd_data_dir();
	struct ftr_record_opts opts = values->record;
	struct ftr_record_remote remote = {
		.host = values->host,
		.port = values->port != NULL ? values->port : FTR_WIRE_PORT,
		.dir = dir,
	};
	struct ftr_err err = { 0 };
	bool was_run;
	int status;

	if (values->record.lists_events)
		return ftr_record_list_events(&values->common, argc > 0 ? argv[0] : NULL);
	if (opts.attach_pid != 0 && ftr_record_attach_check(&opts, argc, &err) < 0) {
		ftr_error("record: %s", err.text);
		return FTR_EXIT_USAGE;
	}
	if (argc == 0 && opts.attach_pid == 0) {
		ftr_error("record: name the program to run: ftr record PROGRAM [ARGUMENT...]");
		return FTR_EXIT_USAGE;
	}
	if (ftr_record_check(values, &err) < 0) {
		ftr_error("record: %s", err.text);
		return FTR_EXIT_USAGE;
	}
	if (values->format != NULL && values->format->observed != NULL)
		return record_observed(values, argv);
	if (opts.script != NULL && ftr_script_check(opts.script) != FTR_EXIT_OK)
		return FTR_EXIT_USAGE;
	opts.shows_end = values->host == NULL;
	if (values->host != NULL && ftr_record_remote_start(&remote) != FTR_EXIT_OK)
		return FTR_EXIT_FTR;
	status = ftr_record_program(&opts, dir, argv, &was_run);
	if (was_run && values->merged != NULL)
		ftr_record_merge(values->merged, dir);
	if (was_run && opts.script != NULL)
		status = run_script(values, dir, argv, argc, status);
	if (values->host != NULL)
		ftr_record_remote_end(&remote, was_run);
	return status;
}

static const char *record_script(const void *values)
{
	return ((const struct ftr_record_values *)values)->record.script;
}

const struct ftr_cmd ftr_cmd_record = {
	.name		  = "record",
	.usage		  = "[OPTION...] PROGRAM [ARGUMENT...]",
	.summary	  = "Run a program and record its calls",
	.options	  = record_options,
	.values_bytes	  = sizeof(struct ftr_record_values),
	.defaults	  = &record_defaults,
	.stops_at_operand = true,
	.script		  = record_script,
	.run		  = record_run,
};
