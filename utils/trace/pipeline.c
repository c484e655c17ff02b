/* SPDX-License-Identifier: MIT */
/* calls and filters around each source, merge around them all. */
#include "utils/trace/pipeline.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "utils/trace/calls.h"
#include "utils/trace/coroutines.h"
#include "utils/trace/filter.h"
#include "utils/trace/judge.h"
#include "utils/trace/merge.h"
#include "utils/trace/range.h"
#include "utils/trace/select.h"
#include "utils/trace/stacks.h"
#include "utils/trace/subtract.h"
#include "utils/trace/threshold.h"
#include "utils/trace/threshold_time.h"
#include "utils/trace/ties.h"
#include "utils/trace/trace.h"
#include "utils/trace/watch.h"

static int out_of_memory(struct ftr_err *err)
{
	return ftr_err_set(err, ENOMEM, "out of memory");
}

int ftr_trace_tids_check(const struct ftr_trace *trace, const struct ftr_pipeline_options *options,
			 struct ftr_err *err)
{
	for (size_t i = 0; i < options->tid_nr; i++) {
		if (ftr_trace_task_find(trace, options->tids[i]) != NULL)
			return 0;
	}
	if (options->tid_nr == 0 || trace->is_growing)	/* it may come yet */
		return 0;
	return ftr_err_set(err, ESRCH, "%s: no task %d in this trace: \"info --task\" lists them",
			   trace->path, options->tids[0]);
}

static struct ftr_source *threshold_wrap(struct ftr_source *source, bool is_of_one_task,
					 const struct ftr_pipeline_options *options)
{
	if (is_of_one_task && ftr_threshold_is_time_alone(options))
		return ftr_threshold_time_new(source, options->threshold_ns);
	return ftr_threshold_new(source, options);
}

/* What is left out, in this order: durations are those of the whole calls. */
static struct ftr_source *filters_wrap(struct ftr_trace *trace, struct ftr_source *source,
				       bool is_of_one_task,
				       const struct ftr_pipeline_options *options)
{
	struct ftr_pipeline_options to_select = *options;
	bool is_filtered = ftr_filter_is_needed(options);

	if (is_filtered)	/* its levels are counted where rules are known */
		to_select.depth_max = 0;
	if (source != NULL && ftr_filter_looks_ahead(options))
		source = ftr_filter_ahead_new(source, options);
	if (source != NULL && ftr_threshold_is_needed(options))
		source = threshold_wrap(source, is_of_one_task, options);
	if (source != NULL && ftr_range_is_needed(options))
		source = ftr_range_new(source, options, trace->first_ns);
	if (source != NULL && ftr_select_is_needed(&to_select))
		source = ftr_select_new(source, trace, &to_select);
	if (source != NULL && is_filtered)
		source = ftr_filter_new(source, trace->call_stacks, options);
	return source;
}

/* Are there stacks that are to be calls? */
static bool makes_stack_calls(const struct ftr_trace *trace,
			      const struct ftr_pipeline_options *options)
{
	return options->has_stack_calls && (trace->stacks != NULL || trace->call_stacks != NULL);
}

static struct ftr_source *calls_wrap(struct ftr_trace *trace, struct ftr_source *source,
				     const struct ftr_pipeline_options *options)
{
	if (trace->has_coroutines)
		source = ftr_coroutines_new(source, trace);
	if (source != NULL && options->call_cost_ns > 0)
		source = ftr_subtract_new(source, options->call_cost_ns, options->caller_cost_ns);
	if (source != NULL && makes_stack_calls(trace, options))
		source = ftr_stack_calls_new(source, trace->stacks, trace->call_stacks);
	if (source != NULL)
		source = ftr_calls_new(source, trace);
	if (source != NULL && ftr_judge_is_needed(options->plans))
		source = ftr_judge_new(source, options->plans);
	return source;
}

/* One source, up to where all tasks are joined. */
static struct ftr_source *source_wrap(struct ftr_trace *trace, struct ftr_source *source,
				      const struct ftr_pipeline_options *options,
				      bool is_in_order)
{
	bool has_several = trace->is_ordered || trace->has_coroutines;
	bool has_ties = has_several && !trace->is_growing && is_in_order;
	bool is_of_one_task = source->task != NULL && !trace->has_coroutines;

	if (options->watch != NULL)
		source = ftr_watch_new(source, options->watch);
	if (source != NULL)
		source = calls_wrap(trace, source, options);
	if (source != NULL && !ftr_filter_needs_all_tasks(options))
		source = filters_wrap(trace, source, is_of_one_task, options);
	return source != NULL && has_ties ? ftr_ties_new(source) : source;
}

/* Is what a rule does to do with calls that ended? */
static bool rules_look_back(const struct ftr_pipeline_options *options)
{
	return options->plans != NULL && (ftr_judge_is_needed(options->plans) ||
					  ftr_threshold_is_needed(options));
}

/*
 * What ended before the range is not needed, where nothing that comes before range.h counts it.
 * That a rule is about no function that was called, is known when all functions are.
 */
/* What is seen of a stream that is not cut. */
static bool is_seen_in_part(const struct ftr_pipeline_options *options)
{
	return options->seen_to_ns != 0 && !ftr_range_is_needed(options) && options->plans == NULL;
}

bool ftr_pipeline_seek(const struct ftr_trace *trace, const struct ftr_pipeline_options *options,
		       struct ftr_seek *seek)
{
	*seek = (struct ftr_seek){
		.from_ns = ftr_range_ends(options, trace->first_ns).from_ns,
		.wants_funcs = options->plans != NULL,
		.watch = options->watch,
	};
	if (is_seen_in_part(options)) {
		seek->from_ns = options->seen_from_ns;
		seek->to_ns = options->seen_to_ns;
	}
	return !options->no_index && (seek->from_ns != 0 || seek->to_ns != 0) &&
	       trace->first_ns != 0 && !trace->has_coroutines && trace->symbol_dir == NULL &&
	       options->call_cost_ns == 0 &&
	       !makes_stack_calls(trace, options) && !rules_look_back(options);
}

static void sources_seek(struct ftr_trace *trace, const struct ftr_pipeline_options *options)
{
	struct ftr_seek seek;

	if (!ftr_pipeline_seek(trace, options, &seek))
		return;
	for (size_t i = 0; i < trace->sources.nr; i++)
		ftr_source_seek(trace->sources.v[i], &seek);
}

/* Tasks that are not asked for are not read, where nothing that others do depends on them. */
static void sources_drop(struct ftr_trace *trace, const struct ftr_pipeline_options *options)
{
	size_t kept = 0;

	if (options->no_index || options->tid_nr == 0 || trace->has_coroutines ||
	    options->plans != NULL ||
	    (ftr_range_is_needed(options) && trace->first_ns == 0))
		return;
	for (size_t i = 0; i < trace->sources.nr; i++) {
		struct ftr_source *source = trace->sources.v[i];

		if (source->task == NULL || ftr_select_task_is_wanted(options, source->task)) {
			trace->sources.v[kept++] = source;
			continue;
		}
		if (trace->bytes_total >= source->task->data_bytes)
			trace->bytes_total -= source->task->data_bytes;
		ftr_source_free(source);
	}
	trace->sources.nr = kept;
}

/* Is something left out that the program did? */
static bool is_narrowed(const struct ftr_pipeline_options *options)
{
	return ftr_filter_is_needed(options) || ftr_range_is_needed(options) ||
	       ftr_threshold_is_needed(options) || options->tid_nr > 0 ||
	       options->depth_max > 0 || options->no_event || options->kernel_only;
}

int ftr_trace_pipeline(struct ftr_trace *trace, const struct ftr_pipeline_options *options,
		       struct ftr_source **out, struct ftr_err *err)
{
	bool needs_all = ftr_filter_needs_all_tasks(options);
	bool is_in_order = needs_all || !options->is_unordered;
	int ret = ftr_trace_tids_check(trace, options, err);

	if (ret < 0)
		return ret;
	trace->is_narrowed = is_narrowed(options);
	if (options->event_full && trace->first_event_ns != 0 &&
	    trace->first_event_ns < trace->first_ns)
		trace->first_ns = trace->first_event_ns;
	sources_drop(trace, options);
	sources_seek(trace, options);
	for (size_t i = 0; i < trace->sources.nr; i++) {
		trace->sources.v[i] = source_wrap(trace, trace->sources.v[i], options, is_in_order);
		if (trace->sources.v[i] == NULL)
			return out_of_memory(err);	/* the trace frees the others */
	}
	*out = ftr_merge_new(trace->sources.v, trace->sources.nr, !is_in_order);
	trace->sources.nr = 0;
	if (needs_all)
		*out = filters_wrap(trace, *out, false, options);
	return *out == NULL ? out_of_memory(err) : 0;
}
