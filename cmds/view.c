/* SPDX-License-Identifier: MIT */
/* ftr view: the trace as a page with pictures, shown in a browser. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cmds/cmd.h"
#include "cmds/export.h"
#include "cmds/message.h"
#include "cmds/open.h"
#include "utils/cli/common.h"
#include "utils/format/format.h"

#define FORMAT	  "html"
#define PAGE_NAME "ftr.html"

struct view_values {
	struct ftr_common common;
	struct ftr_selection selection;
	const char *output; /* (nullable) then no browser is started */
	struct ftr_option_values of_format;
};

/* A picture leaves nothing out unasked, as exports do. */
static const struct view_values view_defaults = {
	.selection.event_full = true,
	.selection.kernel_full = true,
};

/* Of the format's own, those of no other. */
static bool page_options(size_t *pos, struct ftr_option_set *set)
{
	while (ftr_format_written_options(pos, set))
		if (set->owner != NULL && strcmp(set->owner, FORMAT) == 0)
			return true;
	return false;
}

static const struct ftr_option view_options[] = {
	FTR_OPTION_GROUP(ftr_common_options, struct view_values, common),
	FTR_OPTION_GROUP(ftr_selection_options, struct view_values, selection),
	FTR_OPTION_GROUP(ftr_filter_options, struct view_values, selection.filter),
	FTR_OPTION("output", 'o', "FILE",
		   "Write the page to FILE and start no browser; - is standard output",
		   ftr_opt_string, struct view_values, output),
	FTR_OPTION_SETS(page_options, struct view_values, of_format),
	{ 0 }
};

/* The user's, else the one that the desktop chooses; NULL = there is no screen for one. */
static const char *browser(void)
{
	const char *own = getenv("BROWSER");

	/* Lists, and words with an argument in the middle, are understood by xdg-open. */
	if (own != NULL && own[0] != '\0' && strpbrk(own, ":% ") == NULL)
		return own;
	if (own == NULL && getenv("DISPLAY") == NULL && getenv("WAYLAND_DISPLAY") == NULL)
		return NULL;
	return "xdg-open";
}

/* In a session of its own: it stays when we end.  Writes the failure to @failed. */
static _Noreturn void browser_exec(const char *command, const char *page, int failed)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	int code;

	setsid();
	if (fork() != 0)
		_exit(0); /* nobody waits for it */
	if (null >= 0) {
		dup2(null, STDIN_FILENO);
		dup2(null, STDOUT_FILENO);
		dup2(null, STDERR_FILENO);
	}
	execlp(command, command, page, (char *)NULL);
	code = errno;
	if (write(failed, &code, sizeof(code)) < 0)
		_exit(1);
	_exit(0);
}

/* 0, or the errno of what failed. */
static int browser_start(const char *command, const char *page)
{
	int fds[2], code = 0;
	pid_t child;

	if (pipe2(fds, O_CLOEXEC) < 0)
		return errno;
	child = fork();
	if (child == 0)
		browser_exec(command, page, fds[1]);
	if (child < 0)
		code = errno;
	close(fds[1]);
	if (child > 0 && read(fds[0], &code, sizeof(code)) < 0)
		code = errno;
	close(fds[0]);
	while (child > 0 && waitpid(child, NULL, 0) < 0 && errno == EINTR)
		;
	return code;
}

static void show(const char *page)
{
	const char *command = browser();
	int code;

	if (command == NULL) {
		ftr_verbose(0, "%s: there is no screen here; open it in a browser", page);
		return;
	}
	code = browser_start(command, page);
	if (code == 0)
		ftr_verbose(0, "%s: shown by %s", page, command);
	else
		ftr_warn("%s: %s: %s; open it in a browser, or set BROWSER", page, command,
			 strerror(code));
}

static int view_run(void *values, int argc, char **argv)
{
	const struct view_values *self = values;
	struct ftr_export to = {
		.common = &self->common, .format = ftr_format_find(FORMAT),
		.path = self->output != NULL ? self->output : PAGE_NAME,
		.values = ftr_option_values_get(&self->of_format, page_options, FORMAT),
	};
	struct ftr_opened opened;
	int status;

	status = ftr_opened_open(&opened, &self->common, &self->selection, FTR_ORDER_TIME);
	if (status != FTR_EXIT_OK)
		return status;
	status = ftr_export(&opened, &to);
	ftr_opened_close(&opened);
	if (status == FTR_EXIT_OK && self->output == NULL)
		show(PAGE_NAME);
	return status;
}

const struct ftr_cmd ftr_cmd_view = {
	.name	      = "view",
	.usage	      = "[OPTION...] [TRACE]",
	.summary      = "Show timeline, flame graph and functions in a browser",
	.options      = view_options,
	.trace	      = FTR_CMD_TRACE_OPERAND,
	.values_bytes = sizeof(struct view_values),
	.defaults     = &view_defaults,
	.run	      = view_run,
};
