/* SPDX-License-Identifier: MIT */
/* ftr report: how often functions were called and how long they took. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "cmds/cmd.h"
#include "cmds/open.h"
#include "cmds/output.h"
#include "cmds/message.h"
#include "cmds/from.h"
#include "cmds/report_from.h"
#include "cmds/show.h"
#include "utils/analysis/event_pairs.h"
#include "utils/analysis/event_sums.h"
#include "utils/analysis/io_sums.h"
#include "utils/analysis/leak_sums.h"
#include "utils/analysis/memory_sums.h"
#include "utils/analysis/sample_sums.h"
#include "utils/analysis/value_sums.h"
#include "utils/analysis/wait_sums.h"
#include "utils/analysis/stats.h"
#include "utils/analysis/syscalls.h"
#include "utils/cli/common.h"
#include "utils/fleet/ask.h"
#include "utils/trace/pump.h"
#include "utils/view/report.h"

struct report_values {
	struct ftr_common common;
	struct ftr_selection selection;
	struct ftr_report_opts view;
	struct ftr_from from;
	bool by_task;
	bool has_srcline;
	int by;		/* index in by_words; 0 = functions, BY_VALUE of value */
	struct ftr_value_name value;
	struct ftr_report_ranges ranges; /* what -f and -s name; then of BY_RANGE */
	int format;	/* index in format_words */
	const char *diff;	/* (nullable) the trace to compare with */
};

/* After the first one in the order of enum ftr_sums_by. */
static const char *const by_words[] = {
	"func", "call", "file", "process", "event", "caller", "lock", "sample", "socket", "leak",
	"retval",
	"arg1",
	NULL
};

#define BY_VALUE (FTR_SUMS_BY_VALUE + 1)	/* "retval", "arg1", "arg2" ... */
#define BY_RANGE (FTR_SUMS_BY_RANGE + 1)	/* fields "arg1-min" ... */

static int parse_by(const struct ftr_option *opt, void *value, const char *arg, struct ftr_err *err)
{
	struct report_values *values =
		(void *)((char *)value - offsetof(struct report_values, by));

	if (!ftr_value_name_parse(&values->value, arg))
		return ftr_opt_choice(opt, &values->by, arg, err);
	values->by = BY_VALUE;
	return 0;
}

enum { FORMAT_NORMAL, FORMAT_CSV, FORMAT_JSON, FORMAT_HTML };
static const char *const format_words[] = { "normal", "csv", "json", "html", NULL };

static int parse_json(const struct ftr_option *opt, void *value, const char *arg,
		      struct ftr_err *err)
{
	*(int *)value = FORMAT_JSON;
	return 0;
}

static const struct ftr_option report_options[] = {
	FTR_OPTION_GROUP(ftr_common_options, struct report_values, common),
	FTR_OPTION_GROUP(ftr_selection_options, struct report_values, selection),
	FTR_OPTION_GROUP(ftr_filter_options, struct report_values, selection.filter),
	FTR_OPTION(
		"output-fields", 'f', "FIELD[,FIELD...]",
		"Columns: total total-avg total-min total-max self self-avg self-min self-max call size "
		"total-stdv self-stdv total-min-ts total-max-ts self-min-ts self-max-ts cpu-count cpu-mask "
		"cpu-list total-percent self-percent total-p50 total-p90 total-p99 self-p50 self-p90 "
		"self-p99 total-cpu self-cpu all; with --task "
		"total self tid func; +x adds, none hides",
		ftr_opt_string, struct report_values, view.fields),
	FTR_OPTION("sort", 's', "KEY[,KEY...]", "Sort by func or fields (default: total)",
		   ftr_opt_string, struct report_values, view.sort),
	FTR_OPTION("avg-total", 0, NULL, "Show average, minimum and maximum total time", ftr_opt_flag,
		   struct report_values, view.avg_total),
	FTR_OPTION("avg-self", 0, NULL, "Show average, minimum and maximum self time", ftr_opt_flag,
		   struct report_values, view.avg_self),
	FTR_OPTION_GROUP(ftr_subtract_options, struct report_values, selection),
	FTR_OPTION("srcline", 0, NULL, "Show where functions are in the source", ftr_opt_flag,
		   struct report_values, has_srcline),
	FTR_OPTION("stack", 0, NULL,
		   "Count functions on recorded stacks as called with each call (record --stack)",
		   ftr_opt_flag, struct report_values, selection.shows_stack_calls),
	FTR_OPTION("task", 0, NULL, "Show a row for each task instead", ftr_opt_flag,
		   struct report_values, by_task),
	FTR_OPTION(
		"by", 0, "WHAT",
		"A row for each func (default), of observed system calls for each call, "
		"file (also of --probe=file) or process, for each event, for each caller that asked for memory, for "
		"each lock (mutex, condition ...) that threads waited for, for each function with its "
		"CPU samples, for each address that sockets were used with, for each line of callers "
		"whose memory nobody gave back (leak), or for each function and "
		"its argN, fpargN or retval; fields: elapsed total "
		"total-avg total-min total-max call error open read write fork process status pid bytes live-bytes "
		"live-blocks read-bytes written-bytes self-samples samples self all",
		parse_by, struct report_values, by, .words = by_words),
	FTR_OPTION("format", 0, "FORMAT",
		   "normal; csv or json: fields by their names, times in nanoseconds; html: a page with "
		   "the same text as normal", ftr_opt_choice,
		   struct report_values, format, .words = format_words),
	FTR_OPTION("json", 0, NULL, "Same as --format=json: an object a line", parse_json,
		   struct report_values, format),
	FTR_OPTION_GROUP(ftr_output_options, struct report_values, common),
	FTR_OPTION("diff", 0, "TRACE", "Compare the functions of --data with those of TRACE",
		   ftr_opt_string, struct report_values, diff),
	FTR_OPTION(
		"diff-policy", 0, "WORD[,WORD...]",
		"Of --diff: abs no-abs (sort by size of the difference or with its sign), percent no-percent, "
		"compact full (default: abs,no-percent,compact)",
		ftr_opt_string, struct report_values, view.diff_policy),
	FTR_OPTION_GROUP(ftr_from_options, struct report_values, from),
	FTR_OPTION(
		"sort-column", 0, "INDEX",
		"Of --diff: sort by 0 the values of --data, 1 of TRACE, 2 the difference (default)",
		ftr_opt_u64, struct report_values, view.diff_column, .max = 2),
	{ 0 }
};

/* @print to the output as the options want it; @what is its first argument. */
static int print_to_output(int (*print)(const void *what, const struct report_values *values,
					const struct ftr_report_opts *opts, struct ftr_ostream *out,
					struct ftr_err *err),
			   const void *what, const struct report_values *values)
{
	struct ftr_report_opts opts = values->view;
	struct ftr_err err = { 0 };
	struct ftr_output output;
	int ret;

	if (ftr_output_open(&output, &values->common, NULL) < 0)
		return FTR_EXIT_FAILED;
	opts.use_color = output.use_color;
	ret = print(what, values, &opts, &output.out, &err);
	return ftr_output_end(&output, ret, &err);
}

static int print_stats(const void *stats, const struct report_values *values,
		       const struct ftr_report_opts *opts, struct ftr_ostream *out,
		       struct ftr_err *err)
{
	if (values->by_task)
		return ftr_report_print_tasks(stats, opts, out, err);
	if (values->format == FORMAT_CSV)
		return ftr_report_print_csv(stats, opts, out, err);
	if (values->format == FORMAT_JSON)
		return ftr_report_print_json(stats, opts, out, err);
	return ftr_report_print(stats, opts, out, err);
}

/* For a person: scripts know what to expect of a report. */
static uint32_t noted_cost(const struct ftr_trace *trace, const struct report_values *values)
{
	bool is_shown = isatty(STDOUT_FILENO) && values->common.output == NULL;

	return is_shown && !values->selection.subtract ? trace->info.overhead_call_ns : 0;
}

static int print_sums(const void *sums, const struct report_values *values,
			  const struct ftr_report_opts *opts, struct ftr_ostream *out,
			  struct ftr_err *err)
{
	return ftr_report_print_sums(sums, values->by - 1, opts, out, err);
}

static struct ftr_sink *syscalls_new(const struct report_values *values, struct ftr_err *err)
{
	return ftr_syscalls_new((enum ftr_sums_by)(values->by - 1), err);
}

static struct ftr_sink *files_new(const struct report_values *values, struct ftr_err *err)
{
	return ftr_io_sums_new((enum ftr_sums_by)(values->by - 1), err);
}

static struct ftr_sink *events_new(const struct report_values *values, struct ftr_err *err)
{
	return ftr_event_sums_new(err);
}

static struct ftr_sink *leaks_new(const struct report_values *values, struct ftr_err *err)
{
	uint64_t depth = values->selection.depth;

	return ftr_leak_sums_new(depth > UINT32_MAX ? 0 : (uint32_t)depth, err);
}

static struct ftr_sink *memory_new(const struct report_values *values, struct ftr_err *err)
{
	return ftr_memory_sums_new(err);
}

static struct ftr_sink *waits_new(const struct report_values *values, struct ftr_err *err)
{
	return ftr_wait_sums_new(err);
}

static struct ftr_sink *samples_new(const struct report_values *values, struct ftr_err *err)
{
	return ftr_sample_sums_new(err);
}

static struct ftr_sink *values_new(const struct report_values *values, struct ftr_err *err)
{
	return ftr_value_sums_new(&values->value, err);
}

static struct ftr_sink *ranges_new(const struct report_values *values, struct ftr_err *err)
{
	return ftr_value_ranges_new(values->ranges.names, values->ranges.nr, err);
}

#define OF_SYSCALLS { syscalls_new, ftr_syscalls_get, "system calls", "--syscalls", false }

/* How rows by another thing than functions are made; @how they come into a trace. */
static const struct way {
	struct ftr_sink *(*create)(const struct report_values *values, struct ftr_err *err);
	const struct ftr_sums *(*get)(const struct ftr_sink *sink);
	const char *what, *how;
	bool is_of_events;
} ways[] = {
	[FTR_SUMS_BY_CALL] = OF_SYSCALLS,
	[FTR_SUMS_BY_FILE] = { files_new, ftr_io_sums_get, "files", "--probe=file or --syscalls",
			       true },
	[FTR_SUMS_BY_PROCESS] = OF_SYSCALLS,
	[FTR_SUMS_BY_EVENT] = { events_new, ftr_event_sums_get, "events", "-E", true },
	[FTR_SUMS_BY_CALLER] = { memory_new, ftr_memory_sums_get, "requests for memory",
				 "--probe=memory", true },
	[FTR_SUMS_BY_LOCK] = { waits_new, ftr_wait_sums_get, "waits of threads", "--probe=sync",
			       true },
	[FTR_SUMS_BY_SAMPLE] = { samples_new, ftr_sample_sums_get, "CPU samples", "--sample",
				 true },
	[FTR_SUMS_BY_SOCKET] = { files_new, ftr_io_sums_get, "sockets", "--probe=net", true },
	[FTR_SUMS_BY_LEAK] = { leaks_new, ftr_leak_sums_get, "requests for memory",
			       "--probe=memory", true },
	[FTR_SUMS_BY_VALUE] = { values_new, ftr_value_sums_get, "such values",
				"-A FUNC, -R FUNC or -a", false },
	[FTR_SUMS_BY_RANGE] = { ranges_new, ftr_value_sums_get, "numbers of such values",
				"-A FUNC, -R FUNC or -a", false },
};

static const struct way *way_of(const struct report_values *values)
{
	return &ways[values->by - 1];
}

static bool has_any(const struct ftr_sums *sums)
{
	bool has_value = sums->range_nr == 0;

	for (size_t i = 0; i < sums->ranges.nr && !has_value; i++)
		has_value = sums->ranges.v[i].nr != 0;
	return has_value && (sums->rows.nr != 0 || sums->may_be_empty);
}

static int report_sums(const struct ftr_sums *sums, const struct report_values *values)
{
	if (has_any(sums))
		return print_to_output(print_sums, sums, values);
	ftr_error("report: no %s in this trace; record them with ftr record %s",
		  way_of(values)->what, way_of(values)->how);
	return FTR_EXIT_FAILED;
}

static unsigned stats_flags(const struct report_values *values)
{
	return (values->by_task ? 0 : ftr_report_needs(&values->view)) |
	       (values->selection.event_full ? FTR_STATS_OUTSIDE : 0);
}

/* A trace and what was counted of it, which has the trace's names. */
struct counted {
	struct ftr_opened opened;
	struct ftr_sink *sink;
};

static int counted_open(struct counted *counted, const struct report_values *values,
			const char *path)
{
	struct ftr_common common = values->common;
	struct ftr_err err = { 0 };
	int status;

	common.data = path;
	status = ftr_opened_open(&counted->opened, &common, &values->selection, FTR_ORDER_ANY);
	if (status != FTR_EXIT_OK)
		return status;
	counted->opened.trace->wants_text = ftr_trace_wants_no_text;
	counted->sink = ftr_stats_new(stats_flags(values), &err);
	if (counted->sink != NULL &&
	    ftr_opened_pump(&counted->opened, counted->sink, NULL, &err) == 0)
		return FTR_EXIT_OK;
	ftr_error("%s", err.text);
	return FTR_EXIT_FAILED;
}

static void counted_close(struct counted *counted)
{
	ftr_sink_free(counted->sink);
	ftr_opened_close(&counted->opened);
}

static struct ftr_report_trace counted_get(const struct counted *counted)
{
	const struct ftr_trace *trace = counted->opened.trace;

	return (struct ftr_report_trace){ trace->path, trace->info.cmdline,
					  ftr_stats_get(counted->sink) };
}

static int print_diff(const void *traces, const struct report_values *values,
		      const struct ftr_report_opts *opts, struct ftr_ostream *out,
		      struct ftr_err *err)
{
	return ftr_report_print_diff(traces, opts, out, err);
}

static int report_diff(const struct report_values *values)
{
	struct counted counted[2] = { { .sink = NULL }, { .sink = NULL } };
	struct ftr_err err = { 0 };
	int status;

	if (ftr_report_check_diff(&values->view, &err) < 0) {
		ftr_error("%s", err.text);
		return FTR_EXIT_USAGE;
	}
	status = counted_open(&counted[0], values, ftr_data_path(&values->common));
	if (status == FTR_EXIT_OK)
		status = counted_open(&counted[1], values, values->diff);
	if (status == FTR_EXIT_OK) {
		const struct ftr_report_trace traces[2] = { counted_get(&counted[0]),
							    counted_get(&counted[1]) };

		status = print_to_output(print_diff, traces, values);
	}
	counted_close(&counted[1]);
	counted_close(&counted[0]);
	return status;
}

/* Statistics that a database summed up; with --diff, two: what --where and --diff let through. */
static int report_from(const struct report_values *values)
{
	unsigned flags = stats_flags(values);
	struct ftr_fleet_stats asked[2];
	int status;

	memset(asked, 0, sizeof(asked));
	status = ftr_report_ask(&values->from, values->from.where, flags, &asked[0]);
	if (status == FTR_EXIT_OK && values->diff == NULL) {
		status = print_to_output(print_stats, &asked[0].stats, values);
	} else if (status == FTR_EXIT_OK) {
		const struct ftr_report_trace sides[2] = {
			{ values->from.where, NULL, &asked[0].stats },
			{ values->diff, NULL, &asked[1].stats },
		};

		status = ftr_report_ask(&values->from, values->diff, flags, &asked[1]);
		if (status == FTR_EXIT_OK)
			status = print_to_output(print_diff, sides, values);
	}
	ftr_fleet_stats_fini(&asked[1]);
	ftr_fleet_stats_fini(&asked[0]);
	return status;
}

static struct ftr_sink *sink_new(const struct report_values *values, struct ftr_err *err)
{
	if (values->by == 0)
		return ftr_stats_new(stats_flags(values), err);
	return way_of(values)->create(values, err);
}

/* What sums that were made when calls were recorded do not tell. */
static int summary_lacks(const struct ftr_trace *trace, const struct report_values *values,
			 struct ftr_err *err)
{
	const char *lacking = ftr_report_summary_lacks(values->view.fields,
							    values->view.sort);

	if (trace->summary == NULL)
		return 0;
	if (values->by_task)
		return ftr_pump_refuse_sums(trace, err);
	return lacking == NULL ? 0 :
	       ftr_err_set(err, ENODATA, "%s: was recorded with --summary, which does not tell "
			   "\"%s\"", trace->path, lacking);
}

/* Who gave a block back may be among what is left out. */
static void warn_of_live(const struct ftr_trace *trace, const struct report_values *values)
{
	if (trace->is_narrowed && values->by - 1 == FTR_SUMS_BY_CALLER)
		ftr_warn("report: live bytes and live blocks may have been given back in what the "
			 "options leave out: without them they are exact");
}

static int report_opened(struct ftr_opened *opened, struct report_values *values)
{
	struct ftr_pump_stats pumped;
	struct ftr_err err = { 0 };
	struct ftr_sink *sink = sink_new(values, &err);
	int status = FTR_EXIT_FAILED;

	opened->trace->wants_text = values->by - 1 == FTR_SUMS_BY_EVENT ?
					    ftr_event_pairs_need_text : ftr_trace_wants_no_text;
	values->view.call_cost_ns = noted_cost(opened->trace, values);
	values->view.srcline_of = values->has_srcline ? opened->trace : NULL;
	if (sink == NULL || summary_lacks(opened->trace, values, &err) < 0 ||
	    ftr_opened_pump(opened, sink, &pumped, &err) < 0)
		ftr_error("%s", err.text);
	else if (values->by == 0)
		status = print_to_output(print_stats, ftr_stats_get(sink), values);
	else
		status = report_sums(way_of(values)->get(sink), values);
	if (status == FTR_EXIT_OK)
		warn_of_live(opened->trace, values);
	ftr_sink_free(sink);
	return status;
}

/* What cannot be had together. */
static const char *conflict_of(const struct report_values *values)
{
	bool is_of_functions = !values->by_task && values->by == 0 && values->diff == NULL;

	if (values->ranges.nr > 0 && (!is_of_functions || values->format != FORMAT_NORMAL ||
				      values->has_srcline || values->view.avg_total ||
				      values->view.avg_self || values->from.url != NULL))
		return "fields of values such as arg1-min are of the functions of a trace, not for "
		       "--task, --by, --diff, --format, --srcline, --avg-total, --avg-self or "
		       "--from";
	if (values->view.avg_total && values->view.avg_self)
		return "--avg-total and --avg-self exclude each other";
	if (values->by > 0 && (values->by_task || values->view.avg_total || values->view.avg_self))
		return "--task, --avg-total and --avg-self are about functions, not for --by";
	if (values->diff != NULL && (values->by_task || values->by > 0))
		return "--diff compares functions, not what --task or --by shows";
	if (values->diff == NULL &&
	    (values->view.diff_policy != NULL || values->view.diff_column != 2))
		return "--diff-policy and --sort-column need --diff";
	if (values->from.url == NULL && (values->from.where != NULL || values->from.login != NULL))
		return "--where and --login are about the database of --from";
	if (values->has_srcline && (!is_of_functions || values->format != FORMAT_NORMAL))
		return "--srcline is of functions, not for --task, --by, --diff or --format";
	if (values->format != FORMAT_NORMAL && !is_of_functions)
		return "--format=csv and json are of functions, not for --task, --by or --diff";
	return NULL;
}

/* What a database cannot be asked, with its reason; NULL: all can. */
static const char *refused_of(const struct report_values *values)
{
	static const struct ftr_selection everything;

	if (values->common.data != NULL)
		return "--from reads a database, not a trace";
	if (values->by_task || values->by > 0 || values->has_srcline)
		return "--task, --by and --srcline need a trace; --from has functions alone";
	if (memcmp(&values->selection, &everything, sizeof(everything)) != 0)
		return "filters and other choices of what is shown need a trace; choose with "
		       "--where";
	if (values->diff != NULL && values->from.where == NULL)
		return "with --from, --diff compares what its KEY=VALUE lets through with what "
		       "--where does; give both";
	return NULL;
}

static int report_from_checked(const struct report_values *values)
{
	const char *lacking = ftr_report_from_lacks(values->view.fields, values->view.sort);
	const char *refused = refused_of(values);
	struct ftr_err err = { 0 };

	if (refused != NULL) {
		ftr_error("report: %s", refused);
		return FTR_EXIT_USAGE;
	}
	if (lacking != NULL) {
		ftr_error("report: the database of --from does not know \"%s\"; doc/fleet.md has "
			  "queries for more",
			  lacking);
		return FTR_EXIT_USAGE;
	}
	if (values->diff != NULL && ftr_report_check_diff(&values->view, &err) < 0) {
		ftr_error("%s", err.text);
		return FTR_EXIT_USAGE;
	}
	return report_from(values);
}

static int report_run(void *values, int argc, char **argv)
{
	struct report_values *self = values;
	struct ftr_selection selection = self->selection;
	struct ftr_err err = { 0 };
	struct ftr_opened opened;
	const char *conflict;
	int status;

	if (self->format == FORMAT_HTML) {
		self->common.is_html = true;
		self->format = FORMAT_NORMAL;
	}
	if (ftr_report_ranges_find(&self->ranges, &self->view, &err) < 0) {
		ftr_error("report: %s", err.text);
		return FTR_EXIT_USAGE;
	}
	conflict = conflict_of(self);
	if (conflict == NULL && self->ranges.nr > 0)
		self->by = BY_RANGE;
	if (conflict != NULL) {
		ftr_error("report: %s", conflict);
		return FTR_EXIT_USAGE;
	}
	if (self->from.url != NULL)
		return report_from_checked(self);
	if (self->diff != NULL)
		return report_diff(self);
	/* Processors are known from what happens outside of calls, too; it is not counted. */
	if ((stats_flags(self) & FTR_STATS_DETAILS) ||
	    (self->by > 0 && way_of(self)->is_of_events))
		selection.event_full = true;
	if (self->by - 1 == FTR_SUMS_BY_LEAK)
		selection.depth = 0;	/* what happens deeper counts, too */
	/* Processes are named by their parents: only in the order of time. */
	status = ftr_opened_open(&opened, &self->common, &selection,
				 self->by == 0 ? FTR_ORDER_ANY : FTR_ORDER_TIME);
	if (status != FTR_EXIT_OK)
		return status;
	status = report_opened(&opened, self);
	ftr_opened_close(&opened);
	return status;
}

static const struct report_values report_defaults = {
	.view.diff_column = 2,
};

const struct ftr_cmd ftr_cmd_report = {
	.name	      = "report",
	.usage	      = "[OPTION...] [TRACE]",
	.summary      = "Show how often functions were called and how long they took",
	.options      = report_options,
	.trace	      = FTR_CMD_TRACE_OPERAND,
	.values_bytes = sizeof(struct report_values),
	.defaults     = &report_defaults,
	.run	      = report_run,
};
