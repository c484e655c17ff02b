/* SPDX-License-Identifier: MIT */
/* ftr record: run a program and keep its calls in a data directory. */
#include "cmds/record.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cmds/cmd.h"
#include "cmds/export.h"
#include "cmds/message.h"
#include "cmds/record_check.h"
#include "cmds/record_attach.h"
#include "cmds/record_end.h"
#include "cmds/record_observed.h"
#include "cmds/record_merge.h"
#include "cmds/record_remote.h"
#include "cmds/record_summary.h"
#include "cmds/script.h"
#include "utils/base/bits.h"
#include "utils/base/strbuf.h"
#include "utils/base/text.h"
#include "utils/cli/parse.h"
#include "utils/format/format.h"
#include "utils/format/uftrace/summary.h"
#include "utils/object/machine.h"
#include "utils/object/elf_file.h"
#include "utils/patch/move.h"
#include "utils/proto/ring.h"
#include "utils/record/choice.h"
#include "utils/record/collector.h"
#include "utils/record/deferred.h"
#include "utils/record/interposers.h"
#include "utils/record/patch_choice.h"
#include "utils/record/perf_ring.h"
#include "utils/record/pool.h"
#include "utils/record/recorder.h"
#include "utils/record/sections.h"
#include "utils/record/signals.h"
#include "utils/remote/wire.h"

#define RT_PRIO_MAX 99
#define STACK_MAX_LIMIT FTR_BIT(24)
#define FLIGHT_BYTES FTR_MIB(256)	/* of memory, where --overwrite is a time */
#define WAIT_MS 10000			/* a recorder that is that far behind is not coming back */
#define SUMMARY_SECONDS "60"
#define CMDLINE_FILE "/proc/self/cmdline"

static const char *const clock_words[] = {
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
	    ftr_opt_choice, clock, .words = clock_words),
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

/*
 * The observer stops a task twice in each system call, and scheduling events would be about that.
 */
static unsigned events_wanted(const struct ftr_record_opts *opts)
{
	unsigned events = opts->no_event || opts->summary_seconds != 0 ? 0 : FTR_PERF_ALL;

	if (opts->no_sched || opts->has_syscalls)
		events &= ~(unsigned)FTR_PERF_SCHED;
	return events;
}

static unsigned threads_default(void)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	unsigned nr = cpus > 0 ? (unsigned)(cpus + 3) / 4 : 1;

	return nr < FTR_POOL_THREADS_MAX ? nr : FTR_POOL_THREADS_MAX;
}

static uint32_t ring_bytes(uint64_t wanted)
{
	uint32_t bytes = FTR_RING_MIN_BYTES;

	while (bytes < wanted && bytes < FTR_RING_MAX_BYTES)
		bytes *= 2;
	return bytes;
}

/* Our own words, each followed by a blank, as info keeps them. */
static char *command_line(void)
{
	FILE *file = fopen(CMDLINE_FILE, "re");
	struct ftr_strbuf sb;
	int c;

	ftr_strbuf_init(&sb);
	while (file != NULL && (c = getc(file)) != EOF)
		ftr_strbuf_putc(&sb, c == '\0' || c == '\n' ? ' ' : (char)c);
	if (file != NULL)
		fclose(file);
	return ftr_strbuf_take(&sb);
}

static int refusal_status(int ret)
{
	return ret == -ENOENT ? FTR_EXIT_NOT_FOUND : FTR_EXIT_NOT_RUN;
}

static int program_status(const struct ftr_recorder_result *result)
{
	if (!result->has_status)
		return FTR_EXIT_OK;
	if (WIFSIGNALED(result->wait_status))
		return 128 + WTERMSIG(result->wait_status);
	return WEXITSTATUS(result->wait_status);
}

static int record_found(const struct ftr_record_opts *opts, struct ftr_recorder_options *recorder,
			bool *was_run)
{
	struct ftr_recorder_result result;
	struct ftr_err err = { 0 };
	int ret = ftr_recorder_run(recorder, &result, &err);

	*was_run = result.was_run;
	ftr_message_diag_end(recorder->diag);
	if (ret < 0)
		ftr_error("%s", err.text);
	if (!result.was_run) {
		free(result.notes);
		return result.was_ready &&
		       (err.code == ENOENT || err.code == EACCES || err.code == ENOEXEC) ?
		       FTR_EXIT_NOT_RUN : FTR_EXIT_FTR;
	}
	if (ret == 0)
		ftr_record_report_end(&result, opts, recorder);
	if (recorder->attach_pid != 0)
		ftr_record_attach_report(opts, &result);
	free(result.notes);
	return ret < 0 ? FTR_EXIT_FTR : program_status(&result);
}

/* A program without instrumentation is patched as it is (doc/adr/0052). */
static void patch_unprepared(struct ftr_record_opts *opts, const struct ftr_program *program)
{
	if (program->elf.hooks != 0)
		return;
	ftr_patch_imply(&opts->of_sections);
	ftr_verbose(opts->shows_end && isatty(STDERR_FILENO) ? 0 : 1,
		    "%s is not instrumented: its functions are patched as they are (-P .)",
		    program->image);
}

/* What cannot be traced from inside can still be observed. */
static int find_named(struct ftr_record_opts *opts, const char *name, struct ftr_program *program,
		      bool *has_functions, struct ftr_err *err)
{
	bool takes_any = ftr_sections_take_any(&opts->of_sections);
	bool may_patch = !takes_any && !opts->has_syscalls && ftr_move_is_possible();
	int ret = ftr_program_find(program, name, takes_any || may_patch, err);

	if (ret == 0 && (program->elf.hooks & FTR_ELF_HOOK_CALLS) == 0 && !takes_any)
		ret = ftr_program_check_patch(program, name, err);
	*has_functions = ret == 0;
	if (ret == 0 && may_patch)
		patch_unprepared(opts, program);
	if (ret == 0 || !opts->has_syscalls || (ret != -ENOTSUP && ret != -ENOEXEC))
		return ret;
	ftr_verbose(1, "%s; recording its system calls only", err->text);
	return ftr_program_find_any(program, name, err);
}

/* A program that looks at return addresses is left its own (doc/adr/0042). */
static void estimate_returns(struct ftr_record_opts *opts, const struct ftr_program *program)
{
	struct ftr_elf_file file;

	if (opts->estimate_return || program->elf.hooks != 0 ||
	    !ftr_patch_is_asked_for(&opts->of_sections) ||
	    ftr_elf_file_open(&file, program->image, NULL) < 0)
		return;
	opts->estimate_return = ftr_elf_has_machine(&file);
	ftr_elf_file_close(&file);
	if (opts->estimate_return)
		ftr_verbose(isatty(STDERR_FILENO) ? 0 : 1, "%s has a virtual machine's code, which "
			    "may look for its return addresses: they stay, and returns are estimated "
			    "(--estimate-return)", program->image);
}

static int find(struct ftr_record_opts *opts, const char *name, struct ftr_program *program,
		bool *has_functions, struct ftr_err *err)
{
	int ret;

	*has_functions = true;
	ret = opts->attach_pid != 0 ? ftr_record_attach_find(opts, program, err) :
				      find_named(opts, name, program, has_functions, err);
	if (ret == 0)
		estimate_returns(opts, program);
	if (opts->estimate_return)
		ftr_patch_keep_returns(&opts->of_sections);
	return ret;
}

/* What is chosen of the calls, and in @deferred what is left to the readers of the data. */
static int choice_make(struct ftr_record_opts *opts, struct ftr_rules *rules,
		       const struct ftr_signal_actions *signals, struct ftr_record_choice *choice,
		       struct ftr_strbuf *deferred, struct ftr_err *err)
{
	int ret = ftr_rules_parse_opts(rules, &opts->filter.rules, err);

	*choice = (struct ftr_record_choice){
		.rules = rules,
		.time_ns = opts->time_ns,
		.size_bytes = opts->filter.size_bytes,
		.starts_off = opts->filter.starts_off,
		.is_flight = opts->flight.bytes != 0,
		.is_running = opts->attach_pid != 0,
		.may_change = opts->has_agent,
		.is_switched = opts->has_agent ||
			       ftr_signal_actions_have(signals, FTR_SIGNAL_TRACE_ON) ||
			       ftr_signal_actions_have(signals, FTR_SIGNAL_TRACE_OFF),
		.match = (enum ftr_match)opts->filter.rules.match,
	};
	if (ret == 0)
		ret = ftr_sections_choose(choice, rules, &opts->of_sections, err);
	if (ret == 0)
		ret = ftr_record_choice_check(choice, err);
	if (ret == 0) {
		ftr_record_deferred_opts(choice, opts->depth, deferred);
		ftr_record_deferred_weaken(choice, rules, &opts->depth);
		ret = ftr_sections_check(choice, err);
	}
	if (ret == 0)
		ret = ftr_record_summary_check(opts, choice, deferred, err);
	return ret == 0 && deferred->failed ? ftr_err_set(err, ENOMEM, "out of memory") : ret;
}

/* What --nop measures has no probe. */
static int preload_make(const struct ftr_record_opts *opts, const char *runtime,
			struct ftr_strbuf *preload, struct ftr_err *err)
{
	struct ftr_strbuf list;
	int ret;

	ftr_strbuf_init(&list);
	ret = ftr_interposers_preload(opts->nop ? NULL : &opts->of_sections, runtime, &list, err);
	if (ret == 0 && opts->attach_pid != 0)
		ftr_strbuf_puts(preload, ftr_strbuf_str(&list));	/* read by none */
	else if (ret == 0 && ftr_program_preload(runtime, ftr_strbuf_str(&list), preload) < 0)
		ret = ftr_err_set(err, ENOMEM, "out of memory");
	ftr_strbuf_fini(&list);
	return ret;
}

static int record_chosen(struct ftr_record_opts *opts, struct ftr_rules *rules,
			 const struct ftr_record_choice *choice, const char *readers_opts,
			 const struct ftr_signal_actions *signals, const char *dir, char **argv,
			 bool *was_run)
{
	struct ftr_diag diag = ftr_message_diag();
	struct ftr_program program = { 0 };
	struct ftr_err err = { 0 };
	char *runtime = NULL, *cmdline = NULL;
	struct ftr_strbuf preload;
	bool has_functions;
	int ret, status;

	ftr_strbuf_init(&preload);

	ret = find(opts, argv[0], &program, &has_functions, &err);
	if (ret < 0) {
		ftr_error("%s", err.text);
		return refusal_status(ret);
	}
	if (opts->has_agent && !has_functions)
		ftr_warn("record: --agent: no functions of %s are recorded, so there is nothing to "
			 "change", program.path);
	ret = has_functions ? ftr_record_choice_match(choice, program.image, &err) : 0;
	if (ret < 0) {
		ftr_error("record: %s", err.text);
		status = FTR_EXIT_USAGE;
		goto out;
	}
	if (ret > 0)
		ftr_warn("record: %s", err.text);
	ret = has_functions ? ftr_program_runtime(&program, opts->libmcount_dir, opts->nop,
						  &runtime, &err) :
			      0;
	if (ret == 0 && runtime != NULL)
		ret = preload_make(opts, runtime, &preload, &err);
	if (ret == 0 && runtime != NULL)
		ret = ftr_program_check_preload(&program, argv[0], ftr_strbuf_str(&preload), &err);
	if (ret < 0) {
		ftr_error("%s", err.text);
		status = FTR_EXIT_FTR;
		goto out;
	}
	cmdline = command_line();
	if (opts->attach_pid != 0)
		cmdline = ftr_record_attach_cmdline(opts, cmdline);
	status = record_found(opts, &(struct ftr_recorder_options){
		.dir = dir,
		.program = &program,
		.runtime = runtime,
		.preload = runtime != NULL ? ftr_strbuf_str(&preload) : NULL,
		.argv = argv,
		.attach_pid = (int32_t)opts->attach_pid,
		.attach_all = opts->attach_all,
		.attach_no_exec = opts->attach_no_exec,
		.clock = ftr_clock_find(clock_words[opts->clock]),
		.on_full = (enum ftr_on_full)opts->on_full,
		.ring_bytes = ring_bytes(opts->buffer_bytes),
		.depth_max = (uint32_t)opts->depth,
		.stack_max = (uint32_t)opts->max_stack,
		.wait_ms = WAIT_MS,
		.events = events_wanted(opts),
		.collectors = &opts->of_collectors,
		.sections = &opts->of_sections,
		.choice = choice,
		.has_agent = opts->has_agent && has_functions,
		.values_stay = opts->values_stay,
		.rules = rules,
		.readers_opts = readers_opts[0] != '\0' ? readers_opts : NULL,
		.nop = opts->nop,
		.no_pltbind = opts->no_pltbind,
		.estimate_return = opts->estimate_return,
		.keep_pid = opts->keep_pid,
		.detach = opts->detach,
		.rt_prio = (unsigned)opts->rt_prio,
		.thread_nr = opts->thread_nr != 0 ? (unsigned)opts->thread_nr : threads_default(),
		.flight = opts->flight,
		.is_packed = opts->is_packed,
		.summary_seconds = (unsigned)opts->summary_seconds,
		.signals = signals,
		.max_bytes = opts->max_bytes,
		.keep_bytes = opts->keep_bytes,
		.has_syscalls = opts->has_syscalls,
		.has_stacks = opts->has_stacks,
		.no_randomize = opts->no_randomize,
		.cmdline = cmdline,
		.version = "ftr v" FTR_VERSION,
		.diag = &diag,
	}, was_run);
out:
	free(cmdline);
	free(runtime);
	ftr_strbuf_fini(&preload);
	ftr_program_fini(&program);
	return status;
}

int ftr_record_program(const struct ftr_record_opts *opts, const char *dir, char **argv,
		       bool *was_run)
{
	struct ftr_record_opts chosen = *opts;
	struct ftr_record_choice choice;
	struct ftr_err err = { 0 };
	struct ftr_signal_actions signals = { .rules = { 0 } };
	struct ftr_strbuf deferred;
	struct ftr_rules rules;
	int status = FTR_EXIT_USAGE;

	*was_run = false;
	ftr_rules_init(&rules);
	ftr_strbuf_init(&deferred);
	if (ftr_signal_actions_parse(&signals, &opts->signals, &err) < 0 ||
	    ftr_record_opts_check(opts, &signals, &err) < 0 ||
	    choice_make(&chosen, &rules, &signals, &choice, &deferred, &err) < 0)
		ftr_error("record: %s", err.text);
	else
		status = record_chosen(&chosen, &rules, &choice, ftr_strbuf_str(&deferred),
				       &signals, dir, argv, was_run);
	ftr_signal_actions_fini(&signals);
	ftr_strbuf_fini(&deferred);
	ftr_rules_fini(&rules);
	return status;
}

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
