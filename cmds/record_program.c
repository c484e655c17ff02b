/* SPDX-License-Identifier: MIT */
/* ftr record: from what was asked for to a program that is recorded. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cmds/cmd.h"
#include "cmds/message.h"
#include "cmds/record.h"
#include "cmds/record_attach.h"
#include "cmds/record_check.h"
#include "cmds/record_end.h"
#include "cmds/record_summary.h"
#include "utils/base/strbuf.h"
#include "utils/object/elf_file.h"
#include "utils/object/machine.h"
#include "utils/patch/move.h"
#include "utils/proto/ring.h"
#include "utils/record/choice.h"
#include "utils/record/deferred.h"
#include "utils/record/interposers.h"
#include "utils/record/patch_choice.h"
#include "utils/record/perf_ring.h"
#include "utils/record/pool.h"
#include "utils/record/recorder.h"
#include "utils/record/sections.h"
#include "utils/record/signals.h"

#define WAIT_MS 10000			/* a recorder that is that far behind is not coming back */
#define CMDLINE_FILE "/proc/self/cmdline"

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
		.clock = ftr_clock_find(ftr_record_clock_words[opts->clock]),
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
