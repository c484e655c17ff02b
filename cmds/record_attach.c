/* SPDX-License-Identifier: MIT */
/* See record_attach.h. */
#include "cmds/record_attach.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmds/cmd.h"
#include "cmds/message.h"
#include "cmds/record_check.h"
#include "utils/attach/attach.h"
#include "utils/base/strbuf.h"
#include "utils/cli/parse.h"
#include "utils/patch/move.h"
#include "utils/record/interposers.h"
#include "utils/record/libcalls.h"
#include "utils/record/patch_choice.h"
#include "utils/record/sdt_events.h"
#include "utils/record/sections.h"

#define MS 1e6

/* What is decided when a program starts. */
static const char *start_option(const struct ftr_record_opts *opts)
{
	return opts->has_syscalls ? "--syscalls" :
	       opts->keep_pid	  ? "--keep-pid" :
	       opts->nop	  ? "--nop" :
	       opts->no_pltbind	  ? "--no-pltbind" :
	       opts->no_randomize ? "--no-randomize-addr" :
				    NULL;
}

int ftr_record_attach_check(const struct ftr_record_opts *opts, int argc, struct ftr_err *err)
{
	const char *option = start_option(opts);

	if (argc != 0)
		return ftr_err_set(err, EINVAL, "-p names a program that runs already; name no "
				   "other");
	if (option != NULL)
		return ftr_err_set(err, EINVAL, "%s is about the start of a program, so -p "
				   "excludes it", option);
	if (ftr_interposers_are_asked(&opts->of_sections))
		return ftr_err_set(err, EINVAL, "--probe interposes functions when a program "
				   "starts, so -p excludes it");
	return 0;
}

/* What is not instrumented is patched as it is, as when it is started by ftr. */
static void functions_find(struct ftr_record_opts *opts, const struct ftr_program *program)
{
	if (program->elf.hooks != 0 || ftr_sections_take_any(&opts->of_sections))
		return;
	if (!ftr_move_is_possible()) {
		ftr_libcalls_imply(&opts->of_sections);
		ftr_verbose(0, "%s is not instrumented, and ftr was built without a decoder to "
			    "patch it: only its library calls are recorded", program->image);
		return;
	}
	ftr_patch_imply(&opts->of_sections);
	ftr_verbose(isatty(STDERR_FILENO) ? 0 : 1, "%s is not instrumented: its functions are "
		    "patched as they are (-P .)", program->image);
}

int ftr_record_attach_find(struct ftr_record_opts *opts, struct ftr_program *program,
			   struct ftr_err *err)
{
	char link[64], path[PATH_MAX + 64];
	ssize_t len;
	int ret = ftr_attach_check((int32_t)opts->attach_pid, err);

	if (ret < 0)
		return ret;
	snprintf(link, sizeof(link), "/proc/%d/exe", (int)opts->attach_pid);
	len = readlink(link, path, sizeof(path) - 1);
	if (len < 0)
		return ftr_err_set(err, errno, "%s: %s", link, strerror(errno));
	path[len] = '\0';
	ret = ftr_program_find(program, path, true, err);
	if (ret == 0 && ftr_program_is_beside(program))
		ret = ftr_err_set(err, ENOTSUP, "process %d runs %s, which is built for another "
				  "machine than ftr and cannot be attached to; start it by ftr "
				  "record", (int)opts->attach_pid, path);
	if (ret == 0)
		functions_find(opts, program);
	return ret;
}

char *ftr_record_attach_cmdline(const struct ftr_record_opts *opts, char *own)
{
	struct ftr_strbuf sb;
	char path[64];
	FILE *file;
	int c;

	ftr_strbuf_init(&sb);
	ftr_strbuf_put(&sb, own, own != NULL ? strlen(own) : 0);
	free(own);
	snprintf(path, sizeof(path), "/proc/%d/cmdline", (int)opts->attach_pid);
	file = fopen(path, "re");
	while (file != NULL && (c = getc(file)) != EOF)
		ftr_strbuf_putc(&sb, c == '\0' || c == '\n' ? ' ' : (char)c);
	if (file != NULL)
		fclose(file);
	return ftr_strbuf_take(&sb);
}

/* What was to be patched: one, and several. */
struct patched {
	const char *one, *several;
};

static void left_report(unsigned nr, const struct patched *what, const char *reason)
{
	if (nr != 0)
		ftr_verbose(1, "%u %s left: %s", nr, nr == 1 ? what->one : what->several, reason);
}

static void code_report(const struct ftr_attach_code_report *code, bool has_events)
{
	const struct patched functions = { "function", "functions" };
	const struct patched both = { "function or event", "functions and events" };
	const struct patched *what = has_events ? &both : &functions;

	if (code->stop_nr == 0)
		return;
	ftr_verbose(1, "%u %s patched in %.3f ms: all %u threads were stopped %u time%s, "
		    "for at most %.3f ms", code->made_nr, what->several, (double)code->work_ns / MS,
		    code->thread_nr, code->stop_nr, code->stop_nr == 1 ? "" : "s",
		    (double)code->stopped_ns / MS);
	left_report(code->in_use_nr, what, "first instructions with a thread in their midst");
	left_report(code->crossing_nr, what, "first instructions on two pages");
	left_report(code->changed_nr, what, "other code than the file has");
	left_report(code->unstopped_nr, what, "threads that could not be stopped");
	left_report(code->failed_nr, what, "no access to /proc/PID/mem");
	if (code->made_nr == 0)
		ftr_warn("no %s was patched; -v tells why", what->one);
}

void ftr_record_attach_report(const struct ftr_record_opts *opts,
			      const struct ftr_recorder_result *result)
{
	code_report(&result->attached.code, ftr_sdt_is_given(&opts->of_sections));
	ftr_verbose(1, "attached: one thread was kept for %.3f ms, %u calls of libc's are hooked",
		    (double)result->attached.borrowed_ns / MS, result->attached.hooked_nr);
	if (result->left.borrowed_ns != 0)
		ftr_verbose(1, "left: one thread was kept for %.3f ms, all %u were stopped for at "
			    "most %.3f ms", (double)result->left.borrowed_ns / MS,
			    result->left.thread_nr, (double)result->left.stopped_ns / MS);
}
