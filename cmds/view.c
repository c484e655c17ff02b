/* SPDX-License-Identifier: MIT */
/* ftr view: the trace as a page with pictures, shown in a browser. */
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cmds/cmd.h"
#include "cmds/export.h"
#include "cmds/message.h"
#include "cmds/open.h"
#include "cmds/output.h"
#include "cmds/show.h"
#include "cmds/view_serve.h"
#include "utils/base/text.h"
#include "utils/cli/common.h"
#include "utils/export/html.h"
#include "utils/format/format.h"

#define FORMAT	  "html"
#define PAGE_NAME "ftr.html"

struct view_values {
	struct ftr_common common;
	struct ftr_selection selection;
	const char *output; /* (nullable) then no browser is started */
	bool serves;
	const char *port;	/* of the server (nullable: any) */
	struct ftr_option_values of_format;
};

/* A picture leaves nothing out unasked, as exports do. */
static const struct view_values view_defaults = {
	.selection.event_full = true,
	.selection.kernel_full = true,
};

#define PORT_MAX 65535u

static int parse_serve(const struct ftr_option *opt, void *value, const char *arg,
		       struct ftr_err *err)
{
	struct view_values *values =
		(struct view_values *)((char *)value - offsetof(struct view_values, serves));
	uint64_t port;

	(void)opt;
	if (arg != NULL && (ftr_parse_u64(ftr_slice_make(arg, strlen(arg)), 10, &port) < 0 ||
			    port > PORT_MAX))
		return ftr_err_set(err, EINVAL, "\"%s\" is no port; give one up to 65535, or none",
				   arg);
	values->serves = true;
	values->port = arg;
	return 0;
}

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
	FTR_OPTION("serve", 0, "PORT",
		   "Write nothing: serve the page to this machine's browsers until Ctrl-C; it asks "
		   "for the calls that it has merged, and for arguments (default: any free port)",
		   parse_serve, struct view_values, serves, .is_arg_optional = true),
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

static int view_write(const struct view_values *self, const struct ftr_export *to)
{
	struct ftr_opened opened;
	int status =
		ftr_opened_open(&opened, &self->common, &self->selection, FTR_ORDER_TIME);

	if (status != FTR_EXIT_OK)
		return status;
	status = ftr_export(&opened, to);
	ftr_opened_close(&opened);
	return status;
}

/* ---- two traces ---- */

static int both_put(struct ftr_opened opened[2], const struct ftr_export *to,
		    struct ftr_output *output)
{
	struct ftr_html_values values = *(const struct ftr_html_values *)to->values;
	struct ftr_err err = { 0 };
	int status = FTR_EXIT_OK;

	for (int i = 0; i < 2 && status == FTR_EXIT_OK; i++) {
		struct ftr_sink *sink = ftr_sink_new(to->format->write, &output->out, &err);

		if (sink == NULL) {
			ftr_error("out of memory");
			return FTR_EXIT_FAILED;
		}
		values.of = i == 0 ? FTR_HTML_OF_FIRST : FTR_HTML_OF_SECOND;
		sink->values = &values;
		status = ftr_show(&opened[i], sink, output, true);
	}
	return status;
}

/* Nothing is written unless both can be read. */
static int both_write(const struct view_values *self, const char *other,
		      const struct ftr_export *to)
{
	struct ftr_common plain = self->common, second = self->common;
	struct ftr_opened opened[2];
	struct ftr_output output;
	int status, closed;

	plain.no_pager = true;
	second.data = other;
	status = ftr_opened_open(&opened[0], &self->common, &self->selection, FTR_ORDER_TIME);
	if (status != FTR_EXIT_OK)
		return status;
	status = ftr_opened_open(&opened[1], &second, &self->selection, FTR_ORDER_TIME);
	if (status != FTR_EXIT_OK) {
		ftr_opened_close(&opened[0]);
		return status;
	}
	status = FTR_EXIT_FAILED;
	if (!ftr_output_is_input(opened[0].trace->path, to->path) &&
	    !ftr_output_is_input(opened[1].trace->path, to->path) &&
	    ftr_output_open(&output, &plain, to->path) == 0) {
		status = both_put(opened, to, &output);
		closed = ftr_output_close(&output);
		status = output.is_quiet_end ? FTR_EXIT_OK :
			 status != FTR_EXIT_OK ? status : closed;
	}
	ftr_opened_close(&opened[1]);
	ftr_opened_close(&opened[0]);
	return status;
}

static int check_both(const struct view_values *self, const char *other)
{
	if (self->serves) {
		ftr_error("--serve is of one trace: leave it or %s out", other);
		return FTR_EXIT_USAGE;
	}
	if (strcmp(other, "-") == 0 && strcmp(ftr_data_path(&self->common), "-") == 0) {
		ftr_error("standard input is one trace, not two; name a file");
		return FTR_EXIT_USAGE;
	}
	return FTR_EXIT_OK;
}

/* ---- serving ---- */

#define PART_SPANS 400000u	/* of an answer: as many as are drawn at once, and more */

/* What is around from..to has not to be read.  0 or -errno; what failed is said. */
static int part_read(const struct view_values *values, const struct ftr_view_request *request,
		     struct ftr_sink *sink)
{
	struct ftr_selection selection = values->selection;
	struct ftr_err err = { 0 };
	struct ftr_opened opened;
	char tid[16];
	int ret;

	if (sink == NULL) {
		ftr_error("out of memory");
		return -ENOMEM;
	}
	sink->err = &err;
	selection.seen_from_ns = request->from_ns;
	selection.seen_to_ns = request->to_ns;
	if (request->what == FTR_VIEW_CALL) {
		snprintf(tid, sizeof(tid), "%d", request->tid);
		selection.tids = tid;
	}
	if (ftr_opened_open(&opened, &values->common, &selection, FTR_ORDER_ANY) != FTR_EXIT_OK)
		return -EINVAL;
	opened.trace->wants_text = ftr_trace_wants_no_text;
	ret = ftr_opened_pump(&opened, sink, NULL, &err);
	if (ret < 0)
		ftr_error("%s", err.text);
	ftr_opened_close(&opened);
	return ret;
}

static int answer_spans(const struct view_values *values, const struct ftr_view_request *request,
			struct ftr_ostream *out, const struct ftr_err *said)
{
	const struct ftr_html_part part = { .from_ns = request->from_ns, .to_ns = request->to_ns,
					    .span_nr = PART_SPANS, .warning = said->text };
	struct ftr_sink *sink = ftr_sink_new(&ftr_html_part_ops, out, NULL);
	int ret;

	if (sink != NULL)
		sink->values = &part;
	ret = part_read(values, request, sink);
	ftr_sink_free(sink);
	return ret;
}

/* Where it begins and where it ends, but not all that is between. */
static int answer_call(const struct view_values *values, const struct ftr_view_request *request,
		       struct ftr_ostream *out)
{
	struct ftr_html_call call = { .start_ns = request->from_ns, .end_ns = request->to_ns,
				      .tid = request->tid, .depth = request->depth };
	const uint64_t times[] = { request->from_ns, request->to_ns };
	int ret = 0;

	ftr_strbuf_init(&call.args);
	ftr_strbuf_init(&call.retval);
	ftr_strbuf_init(&call.place);
	for (size_t i = 0; i < sizeof(times) / sizeof(times[0]) && ret == 0; i++) {
		struct ftr_view_request at = *request;
		struct ftr_sink *sink = ftr_sink_new(&ftr_html_call_ops, NULL, NULL);

		at.from_ns = at.to_ns = times[i];
		if (sink != NULL)
			sink->values = &call;
		ret = part_read(values, &at, sink);
		ftr_sink_free(sink);
	}
	if (ret == 0)
		ftr_html_call_put(&call, out);
	ftr_strbuf_fini(&call.args);
	ftr_strbuf_fini(&call.retval);
	ftr_strbuf_fini(&call.place);
	return ret;
}

static int answer(void *arg, const struct ftr_view_request *request, struct ftr_ostream *out,
		  const struct ftr_err *said)
{
	return request->what == FTR_VIEW_SPANS ? answer_spans(arg, request, out, said) :
						 answer_call(arg, request, out);
}

static void ready(void *arg, const char *url)
{
	(void)arg;
	printf("%s\n", url);
	fflush(stdout);
	show(url);
}

/* The page is a file of this process alone. */
static int view_serve(const struct view_values *self, struct ftr_export *to)
{
	struct ftr_view_site site = {
		.page = memfd_create("ftr-page", MFD_CLOEXEC), .answer = answer, .ready = ready,
		.port = self->port != NULL ? self->port : "0", .arg = (void *)self,
	};
	struct ftr_html_values values = *(const struct ftr_html_values *)to->values;
	struct ftr_err err = { 0 };
	char path[32];
	int status;

	if (site.page < 0) {
		ftr_error("memfd_create: %s", strerror(errno));
		return FTR_EXIT_FAILED;
	}
	snprintf(path, sizeof(path), "/proc/self/fd/%d", site.page);
	values.is_served = true;
	to->values = &values;
	to->path = path;
	status = view_write(self, to);
	if (status == FTR_EXIT_OK && ftr_view_serve(&site, &err) < 0) {
		ftr_error("%s", err.text);
		status = FTR_EXIT_FAILED;
	}
	close(site.page);
	return status;
}

/* Not after minutes of reading. */
static int check_serve(const struct view_values *self)
{
	struct ftr_err err = { 0 };

	if (self->output != NULL) {
		ftr_error("--serve writes no file: leave it or --output out");
		return FTR_EXIT_USAGE;
	}
	if (strcmp(ftr_data_path(&self->common), "-") == 0) {
		ftr_error("--serve reads the trace again and again, which standard input cannot be; "
			  "name a file");
		return FTR_EXIT_USAGE;
	}
	if (ftr_view_serve_check(&err) < 0) {
		ftr_error("%s", err.text);
		return FTR_EXIT_FAILED;
	}
	return FTR_EXIT_OK;
}

static int view_run(void *values, int argc, char **argv)
{
	const struct view_values *self = values;
	struct ftr_export to = {
		.common = &self->common, .format = ftr_format_find(FORMAT),
		.path = self->output != NULL ? self->output : PAGE_NAME,
		.values = ftr_option_values_get(&self->of_format, page_options, FORMAT),
	};
	int status = argc > 0	  ? check_both(self, argv[0]) :
		     self->serves ? check_serve(self) :
				    FTR_EXIT_OK;

	if (status == FTR_EXIT_OK && self->serves)
		return view_serve(self, &to);
	if (status == FTR_EXIT_OK)
		status = argc > 0 ? both_write(self, argv[0], &to) : view_write(self, &to);
	if (status == FTR_EXIT_OK && self->output == NULL)
		show(PAGE_NAME);
	return status;
}

const struct ftr_cmd ftr_cmd_view = {
	.name	      = "view",
	.usage	      = "[OPTION...] [TRACE [TRACE]]",
	.summary      = "Show timeline, flame graph and functions in a browser",
	.options      = view_options,
	.trace	      = FTR_CMD_TRACE_OPERAND,
	.operand_nr   = 1,
	.values_bytes = sizeof(struct view_values),
	.defaults     = &view_defaults,
	.run	      = view_run,
};
