/* SPDX-License-Identifier: MIT */
/* ftr tui: browse the graph, report and info of a trace on the terminal. */
#include "cmds/cmd.h"
#include "cmds/message.h"
#include "cmds/open.h"
#include "cmds/opt_file.h"
#include "cmds/progress.h"
#include "cmds/show.h"
#include "cmds/tui_screen.h"
#include "utils/analysis/graph.h"
#include "utils/analysis/stats.h"
#include "utils/analysis/timeline.h"
#include "utils/cli/common.h"
#include "utils/cli/parse.h"
#include "utils/view/tui.h"

#include <errno.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

struct tui_values {
	struct ftr_common common;
	struct ftr_selection selection;
	bool no_mouse;
};

static const struct ftr_option tui_options[] = {
	FTR_OPTION_GROUP(ftr_common_options, struct tui_values, common),
	FTR_OPTION("no-mouse", 0, NULL, "Leave the mouse to the terminal, to select text with",
		   ftr_opt_flag, struct tui_values, no_mouse),
	FTR_OPTION_GROUP(ftr_selection_options, struct tui_values, selection),
	FTR_OPTION_GROUP(ftr_filter_options, struct tui_values, selection.filter),
	FTR_OPTION_GROUP(ftr_subtract_options, struct tui_values, selection),
	{ 0 }
};

/* What the user types at F stands where the command line's options do, and behind them. */
static const struct ftr_option typed_options[] = {
	FTR_OPTION_GROUP(ftr_selection_options, struct tui_values, selection),
	FTR_OPTION_GROUP(ftr_filter_options, struct tui_values, selection.filter),
	FTR_OPTION_GROUP(ftr_subtract_options, struct tui_values, selection),
	{ 0 }
};

/* A trace and what was counted of it, which has the trace's names. */
struct counted {
	struct ftr_opened opened;
	struct ftr_sink *sink;		/* (owned) NULL: not read yet */
};

/* What one selection lets through.  The report is read when it is looked at. */
struct selected {
	struct tui_values values;
	struct ftr_opt_file typed;	/* (owned) texts that values borrow */
	struct counted graph, stats;
	struct counted timelines[2];	/* the one that is shown, and room for the next */
	unsigned timeline_at;
};

struct browser {
	const struct tui_values *given;		/* (borrowed) by the command line */
	struct selected *at;			/* (owned) */
};

static void counted_close(struct counted *counted)
{
	if (counted->sink == NULL)
		return;
	ftr_sink_free(counted->sink);
	ftr_opened_close(&counted->opened);
	counted->sink = NULL;
}

/* @sink is taken.  Failures are reported. */
static int counted_read(struct counted *counted, const struct tui_values *values,
			struct ftr_sink *sink, struct ftr_err *err)
{
	if (sink == NULL) {
		ftr_error("%s", err->text);
		return -ENOMEM;
	}
	if (ftr_opened_open(&counted->opened, &values->common, &values->selection,
			    FTR_ORDER_ANY) != FTR_EXIT_OK) {
		ftr_sink_free(sink);
		return -EINVAL;		/* said already */
	}
	counted->sink = sink;
	counted->opened.trace->wants_text = ftr_trace_wants_no_text;
	if (ftr_opened_pump(&counted->opened, sink, NULL, err) == 0)
		return 0;
	ftr_error("%s", err->text);
	counted_close(counted);
	return -EIO;
}

static void selected_free(struct selected *selected)
{
	counted_close(&selected->graph);
	counted_close(&selected->stats);
	counted_close(&selected->timelines[0]);
	counted_close(&selected->timelines[1]);
	ftr_options_fini(tui_options, &selected->values);
	ftr_opt_file_fini(&selected->typed);
	free(selected);
}

static int typed_parse(struct selected *selected, const char *text, struct ftr_err *err)
{
	struct ftr_options_outcome outcome;
	int ret = ftr_opt_file_parse(&selected->typed, "tui", text, strlen(text), err);

	if (ret < 0)
		return ret;
	ret = ftr_options_parse(typed_options, &selected->values, selected->typed.argc,
				selected->typed.argv, false, &outcome, err);
	if (ret >= 0 && (ret < selected->typed.argc || outcome.asked != 0))
		return ftr_err_set(err, EINVAL, "only options choose what is shown: -F FUNC ...");
	return ret < 0 ? ret : 0;
}

/* @given and what was typed.  NULL: a failure, reported. */
static struct selected *selected_new(const struct tui_values *given, const char *text)
{
	struct selected *selected = calloc(1, sizeof(*selected));
	struct ftr_err err = { 0 };
	int ret;

	if (selected == NULL ||
	    ftr_options_copy(tui_options, &selected->values, given, sizeof(*given)) < 0)
		ret = ftr_err_set(&err, ENOMEM, "out of memory");
	else
		ret = typed_parse(selected, text, &err);
	if (ret < 0)
		ftr_error("%s", err.text);
	else if (counted_read(&selected->graph, &selected->values,
			      ftr_graph_new(true, &err), &err) == 0)
		return selected;
	if (selected != NULL)
		selected_free(selected);
	return NULL;
}

static int browser_select(void *arg, const char *options, struct ftr_err *err)
{
	struct browser *browser = arg;
	struct selected *next;

	ftr_message_capture(err);
	next = selected_new(browser->given, options);
	ftr_message_capture(NULL);
	if (next == NULL)
		return -EINVAL;
	selected_free(browser->at);
	browser->at = next;
	return 0;
}

static const struct ftr_trace *browser_trace(void *arg)
{
	return ((const struct browser *)arg)->at->graph.opened.trace;
}

static int browser_graph(void *arg, struct ftr_graph **graph, struct ftr_err *err)
{
	*graph = ftr_graph_get(((struct browser *)arg)->at->graph.sink);
	return 0;
}

static int browser_stats(void *arg, const struct ftr_stats **stats, struct ftr_err *err)
{
	struct selected *at = ((struct browser *)arg)->at;
	unsigned flags = FTR_STATS_DETAILS | FTR_STATS_SPREAD | FTR_STATS_CPU_TIME;
	struct tui_values values = at->values;
	struct ftr_err failure = { 0 };
	int ret = 0;

	if (values.selection.event_full)
		flags |= FTR_STATS_OUTSIDE;
	/* Processors are known from what happens outside of calls, too; it is not counted. */
	values.selection.event_full = true;
	ftr_message_capture(err);
	if (at->stats.sink == NULL)
		ret = counted_read(&at->stats, &values, ftr_stats_new(flags, &failure), &failure);
	ftr_message_capture(NULL);
	if (ret == 0)
		*stats = ftr_stats_get(at->stats.sink);
	return ret;
}

/*
 * Without a range of its own, as what a task that recorded nothing in it did is known from before;
 * but of what is before, only what is open has to be read.
 */
static int browser_timeline(void *arg, uint64_t from_ns, uint64_t to_ns, size_t cell_nr,
			    const struct ftr_timeline **timeline, struct ftr_err *err)
{
	struct selected *at = ((struct browser *)arg)->at;
	struct ftr_err failure = { 0 };
	struct counted *next = &at->timelines[!at->timeline_at];
	struct tui_values values = at->values;
	int ret;

	values.selection.seen_from_ns = from_ns;
	values.selection.seen_to_ns = to_ns;
	ftr_message_capture(err);
	ret = counted_read(next, &values, ftr_timeline_new(from_ns, to_ns, cell_nr, &failure),
			   &failure);
	ftr_message_capture(NULL);
	if (ret < 0)
		return ret;
	counted_close(&at->timelines[at->timeline_at]);
	at->timeline_at = !at->timeline_at;
	*timeline = ftr_timeline_get(next->sink);
	return 0;
}

/* By the shell, as EDITOR may be several words; the file is no part of what it reads. */
static int browser_edit(void *arg, const char *file, uint32_t line, struct ftr_err *err)
{
	static const char script[] = "exec ${VISUAL:-${EDITOR:-vi}} \"$@\"";
	char at[16];
	char *argv[] = { (char *)"sh", (char *)"-c", (char *)script, (char *)"sh", at,
			 (char *)file, NULL };
	int status = 0, ret;
	pid_t pid;

	snprintf(at, sizeof(at), "+%u", line);
	ftr_tui_screen_leave();
	ret = posix_spawn(&pid, "/bin/sh", NULL, NULL, argv, environ);
	if (ret == 0)
		while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
			;
	ftr_tui_screen_enter();
	if (ret != 0)
		return ftr_err_set(err, ret, "/bin/sh: %s", strerror(ret));
	return status == 0 ? 0 : ftr_err_set(err, EIO, "the editor of $EDITOR failed");
}

static int browse(struct browser *browser, struct ftr_err *err)
{
	const struct ftr_tui_source source = {
		.trace = browser_trace, .graph = browser_graph, .stats = browser_stats,
		.timeline = browser_timeline, .select = browser_select, .edit = browser_edit,
		.arg = browser,
	};
	struct ftr_tui *tui = ftr_tui_new(&source, err);
	int ret;

	if (tui == NULL)
		return -ENOMEM;
	ftr_progress_hide();
	ret = ftr_tui_screen_run(tui, !browser->given->no_mouse, err);
	ftr_tui_free(tui);
	return ret;
}

/* The report, and what F asks for, are read when they are asked for: 0 or -errno. */
static int check_readable_again(const char *path, struct ftr_err *err)
{
	struct stat st;

	if (strcmp(path, "-") != 0 &&
	    (stat(path, &st) < 0 || S_ISDIR(st.st_mode) || S_ISREG(st.st_mode)))
		return 0;
	return ftr_err_set(err, ESPIPE, "%s: tui reads a trace several times, so it cannot be a "
			   "pipe; write it into a file first", path);
}

static int tui_run(void *values, int argc, char **argv)
{
	struct browser browser = { .given = values };
	struct ftr_err err = { 0 };
	int ret = ftr_tui_screen_check(&err);

	if (ret == 0)
		ret = check_readable_again(ftr_data_path(values), &err);
	if (ret < 0) {
		ftr_error("%s", err.text);
		return FTR_EXIT_FAILED;
	}
	browser.at = selected_new(values, "");
	if (browser.at == NULL)
		return FTR_EXIT_FAILED;
	ret = browse(&browser, &err);
	if (ret < 0)
		ftr_error("%s", err.text);
	selected_free(browser.at);
	return ret < 0 ? FTR_EXIT_FAILED : FTR_EXIT_OK;
}

const struct ftr_cmd ftr_cmd_tui = {
	.name	      = "tui",
	.usage	      = "[OPTION...] [TRACE]",
	.summary      = "Browse the graph, report and info on the terminal",
	.options      = tui_options,
	.trace	      = FTR_CMD_TRACE_OPERAND,
	.values_bytes = sizeof(struct tui_values),
	.run	      = tui_run,
};
