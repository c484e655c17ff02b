/* SPDX-License-Identifier: MIT */
/* Opening the data of an analysis command, with warnings printed as they come. */
#include "cmds/open.h"

#include "cmds/cmd.h"
#include "cmds/message.h"
#include "cmds/progress.h"
#include "cmds/rules.h"
#include "utils/base/text.h"
#include "utils/base/vec.h"
#include "utils/cli/common.h"
#include "utils/format/format.h"
#include "utils/trace/pump.h"
#include "utils/trace/range.h"
#include "utils/trace/summary.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The first of these that exists is read. */
static const char *const *default_places(void)
{
	static const char *const for_ftr[] = { "ftr.data", "uftrace.data", NULL };
	static const char *const for_uftrace[] = { "uftrace.data", "ftr.data", NULL };

	return strcmp(ftr_cmd_data_dir(), for_ftr[0]) == 0 ? for_ftr : for_uftrace;
}

const char *ftr_data_path(const struct ftr_common *common)
{
	const char *const *places = default_places();

	if (common->data != NULL)
		return common->data;
	for (size_t i = 0; places[i] != NULL; i++)
		if (access(places[i], F_OK) == 0)
			return places[i];
	return access("./info", R_OK) == 0 ? "." : places[0];
}

void ftr_data_report_default(const struct ftr_common *common)
{
	const char *first = default_places()[0], *path = ftr_data_path(common);

	if (common->data == NULL && strcmp(path, first) != 0)
		ftr_verbose(0, "no %s here: reading %s", first, strcmp(path, ".") == 0 ?
							 "this directory" : path);
}

static bool is_named(const char *exename, const char *name)
{
	return exename != NULL && strcmp(basename(exename), basename(name)) == 0;
}

bool ftr_trace_is_of_program(const struct ftr_trace *trace, const char *name)
{
	for (size_t i = 0; i < trace->sessions.nr; i++)
		if (is_named(trace->sessions.v[i]->exename, name))
			return true;
	return is_named(trace->info.exename, name);
}

bool ftr_data_is_of_program(const struct ftr_common *common, const char *name)
{
	struct ftr_diag quiet = { 0 };
	struct ftr_trace *trace;
	struct stat st;
	bool is_of;

	/* What comes through a pipe can be read only once. */
	if (stat(ftr_data_path(common), &st) < 0 || !(S_ISDIR(st.st_mode) || S_ISREG(st.st_mode)) ||
	    ftr_trace_open(&trace, ftr_data_path(common), &quiet, NULL) < 0)
		return false;
	is_of = ftr_trace_is_of_program(trace, name);
	ftr_trace_free(trace);
	return is_of;
}

static int parse_tids(struct ftr_opened *opened, const char *text, struct ftr_err *err)
{
	struct ftr_slice rest = ftr_slice_make(text, strlen(text)), word;

	while (ftr_slice_split(&rest, ',', &word)) {
		uint64_t tid;

		if (ftr_parse_u64(word, 10, &tid) < 0 || tid > INT32_MAX)
			return ftr_err_set(err, EINVAL, "--tid: \"%.*s\" is not a task id",
					   (int)word.len, word.s);
		if (ftr_vec_push(&opened->tids, (int32_t)tid) < 0)
			return ftr_err_set(err, ENOMEM, "out of memory");
	}
	return 0;
}

/* "2891.568304588" is a time stamp; with a unit it counts from the start. */
static int parse_moment(struct ftr_slice text, uint64_t *ns, bool *is_elapsed,
			struct ftr_err *err)
{
	*is_elapsed = false;
	if (text.len == 0)
		return 0;
	if (ftr_parse_timestamp(text, ns) == 0)
		return 0;
	if (ftr_parse_time(text, ns, is_elapsed) == 0 && *is_elapsed)
		return 0;
	return ftr_err_set(err, EINVAL,
			   "--time-range: \"%.*s\" is neither a time stamp nor a time like 10us",
			   (int)text.len, text.s);
}

/* Are the ends of one kind, and the wrong way around? */
static bool range_is_backward(const struct ftr_pipeline_options *options)
{
	return options->to_ns != 0 && options->from_is_elapsed == options->to_is_elapsed &&
	       options->from_ns > options->to_ns;
}

static int parse_range(struct ftr_pipeline_options *options, const char *text,
		       struct ftr_err *err)
{
	const char *tilde = strchr(text, '~');
	int ret;

	if (tilde == NULL)
		return ftr_err_set(err, EINVAL, "--time-range: \"%s\" is not a range like A~B",
				   text);
	ret = parse_moment(ftr_slice_make(text, (size_t)(tilde - text)), &options->from_ns,
			   &options->from_is_elapsed, err);
	if (ret == 0)
		ret = parse_moment(ftr_slice_make(tilde + 1, strlen(tilde + 1)), &options->to_ns,
				   &options->to_is_elapsed, err);
	if (ret == 0 && range_is_backward(options))
		return ftr_err_set(err, EINVAL, "--time-range: \"%s\" ends before it begins",
				   text);
	return ret;
}

static int parse_selection(struct ftr_opened *opened, const struct ftr_selection *selection,
			   struct ftr_err *err)
{
	struct ftr_pipeline_options *options = &opened->options;
	int ret = 0;

	*options = (struct ftr_pipeline_options){
		.depth_max = selection->depth > UINT32_MAX ? 0 : (uint32_t)selection->depth,
		.threshold_ns = selection->time_ns, .no_libcall = selection->no_libcall,
		.no_event = selection->no_event, .no_sched = selection->no_sched,
		.no_preempt = selection->no_sched_preempt, .event_full = selection->event_full,
		.kernel_full = selection->kernel_full, .kernel_only = selection->kernel_only,
		.no_callsite = selection->no_callsite, .no_index = selection->no_index,
		.seen_from_ns = selection->seen_from_ns, .seen_to_ns = selection->seen_to_ns,
	};
	if (selection->tids != NULL)
		ret = parse_tids(opened, selection->tids, err);
	if (ret == 0 && selection->time_range != NULL)
		ret = parse_range(options, selection->time_range, err);
	if (ret == 0 && selection->subtract && selection->time_range != NULL)
		ret = ftr_err_set(err, EINVAL, "--subtract moves calls in time, so it excludes "
				  "--time-range");
	if (ret == 0)
		ret = ftr_opened_parse_rules(opened, &selection->filter, err);
	options->tids = opened->tids.v;
	options->tid_nr = opened->tids.nr;
	return ret;
}

/* What the recorder measured is taken off, and only that. */
static int parse_subtract(struct ftr_opened *opened, struct ftr_err *err)
{
	const struct ftr_info *info = &opened->trace->info;

	if (info->overhead_call_ns == 0)
		return ftr_err_set(err, ENODATA,
				   "%s: --subtract: the cost of tracing is not known; ftr record "
				   "measures it where some calls are quick", opened->trace->path);
	opened->options.call_cost_ns = info->overhead_call_ns;
	opened->options.caller_cost_ns = info->overhead_caller_ns;
	return 0;
}

/* Filters by time need events in its order, and so does what one task switches for others. */
static bool may_grow(const struct ftr_opened *opened, const struct ftr_selection *selection)
{
	return selection != NULL && selection->time_ns == 0 && selection->time_range == NULL &&
	       !selection->subtract && !selection->filter.starts_off &&
	       !(ftr_rules_actions(&opened->rules) & (FTR_RULES_IN_ORDER | FTR_RULE_TIME));
}

static int symbols_check(const char *dir, struct ftr_err *err)
{
	struct stat st;

	if (dir == NULL || (stat(dir, &st) == 0 && S_ISDIR(st.st_mode)))
		return 0;
	return ftr_err_set(err, ENOTDIR, "--with-syms: %s: no such directory", dir);
}

/* "-1.5s", "12345" (nanoseconds) */
static int parse_offset(struct ftr_kernel_file *file, const char *text, struct ftr_err *err)
{
	bool is_negative = text[0] == '-', has_unit;
	struct ftr_slice number = ftr_slice_make(text + is_negative, strlen(text + is_negative));
	uint64_t ns;

	if (ftr_parse_time(number, &ns, &has_unit) < 0 || ns > INT64_MAX)
		return ftr_err_set(err, EINVAL, "--clock-offset: \"%s\" is not a time like 1.5s or "
				   "-20us", text);
	file->has_offset = true;
	file->offset_ns = is_negative ? -(int64_t)ns : (int64_t)ns;
	return 0;
}

/* What was made of the clock of a trace.dat beside the calls. */
static int kernel_tell(const struct ftr_trace *trace, const struct ftr_kernel_file *kernel,
		       struct ftr_err *err)
{
	if (kernel->has_offset && trace->kernel_note == NULL)
		return ftr_err_set(err, EINVAL, "--clock-offset: there is no trace.dat whose times "
				   "it could change; name one behind the data directory");
	if (trace->kernel_note != NULL)
		ftr_verbose(0, "%s", trace->kernel_note);
	return 0;
}

/* An exit status. */
static int open_trace(struct ftr_opened *opened, const struct ftr_common *common,
		      const struct ftr_selection *selection, enum ftr_order order,
		      struct ftr_err *err)
{
	struct ftr_kernel_file kernel = { .path = common->kernel };
	const char *path = ftr_data_path(common);
	int ret;

	*opened = (struct ftr_opened){ .diag = ftr_message_diag() };
	ftr_rules_init(&opened->rules);
	if (selection != NULL && symbols_check(selection->symbol_dir, err) < 0)
		return FTR_EXIT_FAILED;
	if (selection != NULL && parse_selection(opened, selection, err) < 0)
		return FTR_EXIT_USAGE;
	if (selection != NULL && selection->clock_offset != NULL &&
	    parse_offset(&kernel, selection->clock_offset, err) < 0)
		return FTR_EXIT_USAGE;
	if (order == FTR_ORDER_INPUT && !may_grow(opened, selection)) {
		ftr_err_set(err, EINVAL, "--follow excludes --time-filter, --time-range, "
			    "--subtract and triggers that switch tracing, which need events in "
			    "order of time");
		return FTR_EXIT_USAGE;
	}
	if (kernel.path != NULL || kernel.has_offset)
		ret = ftr_trace_open_merged(&opened->trace, path, &kernel, &opened->diag, err);
	else if (order >= FTR_ORDER_INPUT)
		ret = ftr_trace_follow(&opened->trace, path, order == FTR_ORDER_CONSUME,
				       &opened->diag, err);
	else if (order != FTR_ORDER_TIME && may_grow(opened, selection))
		ret = ftr_trace_open_growing(&opened->trace, path, &opened->diag, err);
	else
		ret = ftr_trace_open(&opened->trace, path, &opened->diag, err);
	if (ret < 0)
		return FTR_EXIT_FAILED;
	if (kernel_tell(opened->trace, &kernel, err) < 0)
		return FTR_EXIT_USAGE;
	if (order == FTR_ORDER_INPUT && !opened->trace->is_growing) {
		ftr_err_set(err, ENOTSUP, "%s: --follow: the whole trace has to be read before it "
			    "can be shown, as of all in format %s", path, opened->trace->format);
		return FTR_EXIT_FAILED;
	}
	if (selection != NULL) {
		opened->options.kernel_full |= opened->trace->is_kernel_only;
		opened->options.event_full |= opened->trace->is_kernel_only;
		opened->trace->demangle = (enum ftr_demangle)selection->demangle;
		opened->trace->symbol_dir = selection->symbol_dir;
		opened->trace->shows_library = selection->libname;
		opened->options.has_backtraces = selection->shows_backtraces;
		opened->options.has_stack_calls = selection->shows_stack_calls;
		if (selection->subtract && parse_subtract(opened, err) < 0)
			return FTR_EXIT_FAILED;
		if (ftr_opened_plan_rules(opened, &selection->filter, err) < 0)
			return FTR_EXIT_FAILED;
	}
	return FTR_EXIT_OK;
}

/* Sums cannot be filtered, but by when their intervals began. */
static bool needs_calls(const struct ftr_opened *opened, const struct ftr_selection *selection)
{
	const struct ftr_pipeline_options *options = &opened->options;

	return options->depth_max != 0 || options->threshold_ns != 0 || options->no_libcall ||
	       options->tid_nr != 0 || options->kernel_only || selection->subtract ||
	       selection->filter.starts_off || ftr_rules_actions(&opened->rules) != 0;
}

static int select_sums(struct ftr_opened *opened, const struct ftr_selection *selection,
		       struct ftr_err *err)
{
	struct ftr_trace *trace = opened->trace;
	struct ftr_range_ends ends = ftr_range_ends(&opened->options, trace->first_ns);

	if (needs_calls(opened, selection)) {
		ftr_err_set(err, ENODATA, "%s: was recorded with --summary and has sums of calls "
			    "alone, of which -r can choose intervals; filter when you record",
			    trace->path);
		return FTR_EXIT_FAILED;
	}
	trace->summary->from_ns = ends.from_ns;
	trace->summary->to_ns = ends.to_ns;
	return FTR_EXIT_OK;
}

/* After opening: @status, after reporting the failure. */
static int opened_say(struct ftr_opened *opened, int status, const struct ftr_err *err)
{
	if (status != FTR_EXIT_OK) {
		ftr_error("%s", err->text);
		ftr_opened_close(opened);
	}
	return status;
}

int ftr_opened_open(struct ftr_opened *opened, const struct ftr_common *common,
		    const struct ftr_selection *selection, enum ftr_order order)
{
	struct ftr_err err = { 0 };
	int status = open_trace(opened, common, selection, order, &err);

	opened->options.is_unordered = order == FTR_ORDER_ANY;
	opened->options.watch = ftr_progress_watch();
	if (status == FTR_EXIT_OK && selection != NULL && opened->trace->summary != NULL)
		status = select_sums(opened, selection, &err);
	if (status == FTR_EXIT_OK && selection != NULL &&
	    ftr_trace_pipeline(opened->trace, &opened->options, &opened->source, &err) < 0)
		status = FTR_EXIT_FAILED;
	return opened_say(opened, status, &err);
}

int ftr_opened_open_records(struct ftr_opened *opened, const struct ftr_common *common,
			    const struct ftr_selection *selection)
{
	struct ftr_err err = { 0 };
	int status = open_trace(opened, common, selection, FTR_ORDER_TIME, &err);

	opened->options.watch = ftr_progress_watch();
	if (status == FTR_EXIT_OK && opened->trace->summary != NULL) {
		ftr_pump_refuse_sums(opened->trace, &err);
		status = FTR_EXIT_FAILED;
	}
	if (status == FTR_EXIT_OK &&
	    ftr_trace_tids_check(opened->trace, &opened->options, &err) < 0)
		status = FTR_EXIT_FAILED;
	return opened_say(opened, status, &err);
}

void ftr_opened_close(struct ftr_opened *opened)
{
	ftr_source_free(opened->source);
	if (opened->options.plans != NULL)
		ftr_rule_plans_fini(&opened->plans);
	ftr_rules_fini(&opened->rules);
	if (opened->trace != NULL)
		ftr_trace_free(opened->trace);
	ftr_vec_fini(&opened->tids);
	ftr_message_diag_end(&opened->diag);
	*opened = (struct ftr_opened){ .diag = { 0 } };
}
