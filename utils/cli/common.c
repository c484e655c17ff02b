/* SPDX-License-Identifier: MIT */
/* Option rows that several commands share. */
#include "utils/cli/common.h"

#include "utils/trace/trace.h"

#include <errno.h>
#include <string.h>

static int parse_color(const struct ftr_option *opt, void *value, const char *arg,
		       struct ftr_err *err)
{
	enum ftr_color *color = value;
	int is_on;

	if (strcmp(arg, "auto") == 0) {
		*color = FTR_COLOR_AUTO;
		return 0;
	}
	if (ftr_opt_on_off(opt, &is_on, arg, NULL) < 0)
		return ftr_err_set(err, EINVAL, "\"%s\" is not one of: yes, no, auto", arg);
	*color = is_on ? FTR_COLOR_YES : FTR_COLOR_NO;
	return 0;
}

/* The opposite of --kernel-full, whose value it sets. */
static int parse_kernel_skip_out(const struct ftr_option *opt, void *value, const char *arg,
				 struct ftr_err *err)
{
	*(bool *)value = false;
	return 0;
}

static const char *const color_words[] = { "yes", "no", "auto", NULL };

const char *const ftr_demangle_words[] = {
	[FTR_DEMANGLE_SIMPLE] = "simple", [FTR_DEMANGLE_FULL] = "full", [FTR_DEMANGLE_NO] = "no",
	NULL
};

const struct ftr_option ftr_common_options[] = {
	FTR_OPTION("data", 'd', "DATA",
		   "Read the trace DATA instead of ftr.data (- is standard input)", ftr_opt_string,
		   struct ftr_common, data),
	FTR_OPTION("color", 0, "SET", "Colour the output: yes, no, auto (default: auto)",
		   parse_color, struct ftr_common, color, .words = color_words),
	FTR_OPTION("no-pager", 0, NULL, "Write to the terminal without a pager", ftr_opt_flag,
		   struct ftr_common, no_pager),
	FTR_OPTION("logfile", 0, "FILE", "Write ftr's own messages to FILE", ftr_opt_string,
		   struct ftr_common, logfile),
	FTR_OPTION("opt-file", 0, "FILE", "Read options from FILE first", ftr_opt_string,
		   struct ftr_common, opt_file),
	FTR_OPTION("verbose", 'v', NULL, "Print more messages; twice: even more",
		   ftr_opt_count, struct ftr_common, verbose),
	FTR_OPTION("debug", 0, NULL, NULL, ftr_opt_count, struct ftr_common, verbose),
	{ 0 }
};

const struct ftr_option ftr_output_options[] = {
	FTR_OPTION("output", 'o', "FILE", "Write to FILE; - is standard output", ftr_opt_string,
		   struct ftr_common, output),
	{ 0 }
};

static const char *const html_words[] = { "normal", "html", NULL };

static int parse_html(const struct ftr_option *opt, void *value, const char *arg,
		      struct ftr_err *err)
{
	int word, ret = ftr_opt_choice(opt, &word, arg, err);

	if (ret == 0)
		*(bool *)value = word == 1;
	return ret;
}

const struct ftr_option ftr_html_options[] = {
	FTR_OPTION("format", 0, "FORMAT", "normal (default), or html: a page with the same text",
		   parse_html, struct ftr_common, is_html, .words = html_words),
	{ 0 }
};

const struct ftr_option ftr_selection_options[] = {
	FTR_OPTION("tid", 0, "TID[,TID...]", "Show these tasks only", ftr_opt_string,
		   struct ftr_selection, tids),
	FTR_OPTION(
		"time-range", 'r', "A~B",
		"Show the time from A to B only: time stamps, or times since the start with a unit",
		ftr_opt_string, struct ftr_selection, time_range),
	FTR_OPTION("no-index", 0, NULL,
		   "Read all that was recorded, where an index would tell what may be passed over",
		   ftr_opt_flag, struct ftr_selection, no_index),
	FTR_OPTION("clock-offset", 0, "TIME",
		   "Add TIME, such as -1.5s, to the times of a trace.dat shown with the calls",
		   ftr_opt_string, struct ftr_selection, clock_offset),
	FTR_OPTION("depth", 'D', "DEPTH", "Show calls less than DEPTH deep", ftr_opt_u64,
		   struct ftr_selection, depth, .min = 1),
	FTR_OPTION("time-filter", 't', "TIME",
		   "Leave out calls that take less than TIME (ns, us, ms, s)", ftr_opt_time,
		   struct ftr_selection, time_ns),
	FTR_OPTION("demangle", 0, "TYPE",
		   "Demangle C++, Rust and D names: full, simple, no (default: simple)", ftr_opt_choice,
		   struct ftr_selection, demangle, .words = ftr_demangle_words),
	FTR_OPTION("with-syms", 0, "DIR", "Take names of functions from the symbol files in DIR first",
		   ftr_opt_string, struct ftr_selection, symbol_dir),
	FTR_OPTION("libname", 0, NULL, "Show library calls with their library: getpid@libc.so.6",
		   ftr_opt_flag, struct ftr_selection, libname),
	FTR_OPTION("no-libcall", 0, NULL, "Leave out library calls", ftr_opt_flag,
		   struct ftr_selection, no_libcall),
	FTR_OPTION("no-event", 0, NULL, "Leave out events", ftr_opt_flag, struct ftr_selection,
		   no_event),
	FTR_OPTION("no-sched", 0, NULL, "Leave out scheduling events", ftr_opt_flag,
		   struct ftr_selection, no_sched),
	FTR_OPTION("no-sched-preempt", 0, NULL,
		   "Leave out scheduling events of tasks that were pre-empted", ftr_opt_flag,
		   struct ftr_selection, no_sched_preempt),
	FTR_OPTION("event-full", 0, NULL, "Also show events outside of functions", ftr_opt_flag,
		   struct ftr_selection, event_full),
	FTR_OPTION("kernel-full", 0, NULL, "Also show kernel functions outside of user functions",
		   ftr_opt_flag, struct ftr_selection, kernel_full),
	FTR_OPTION("kernel-skip-out", 0, NULL,
		   "Leave out kernel functions outside of user functions", parse_kernel_skip_out,
		   struct ftr_selection, kernel_full),
	FTR_OPTION("kernel-only", 0, NULL, "Show functions and events of the kernel only",
		   ftr_opt_flag, struct ftr_selection, kernel_only),
	{ 0 }
};

const struct ftr_option ftr_subtract_options[] = {
	FTR_OPTION("subtract", 0, NULL, "Take off what tracing itself took, as measured by record",
		   ftr_opt_flag, struct ftr_selection, subtract),
	{ 0 }
};
