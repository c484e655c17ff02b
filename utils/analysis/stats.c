/* SPDX-License-Identifier: MIT */
/* Statistics by arrays over the dense ids of names, functions and tasks: no search per event. */
#include "utils/analysis/stats.h"

#include "utils/base/strpool.h"
#include "utils/trace/event_kind.h"
#include "utils/trace/func.h"
#include "utils/trace/source.h"
#include "utils/trace/summary.h"
#include "utils/trace/task.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct stats_sink {
	struct ftr_sink base;
	struct ftr_stats stats;
	unsigned flags;			/* FTR_STATS_* */
	bool has_details;
	bool counts_outside;
	const struct ftr_task *task;	/* (nullable) of the last event */
	struct ftr_task_stat *task_stat;	/* its */
};

static struct stats_sink *stats_of(struct ftr_sink *sink)
{
	return (struct stats_sink *)sink;
}

double ftr_time_stat_avg_ns(const struct ftr_time_stat *stat, uint64_t calls)
{
	uint64_t ns = stat->sum_ns + stat->nested_ns - stat->inherited_ns;

	return calls == 0 ? 0 : (double)ns / (double)calls;
}

double ftr_time_stat_stdv(const struct ftr_time_stat *stat, uint64_t calls)
{
	double avg = ftr_time_stat_avg_ns(stat, calls);
	double variance;

	if (calls < 2 || avg == 0)
		return 0;
	variance = stat->squares / (double)calls - avg * avg;
	return variance > 0 ? 100 * sqrt(variance) / avg : 0;
}

uint64_t ftr_time_stat_percentile(const struct ftr_time_stat *stat, unsigned percent)
{
	return stat->spread == NULL ? 0 : ftr_histogram_percentile(stat->spread, percent);
}

static inline void count_time(struct ftr_time_stat *stat, uint64_t ns, uint64_t start_ns,
			      bool is_first)
{
	if (is_first || ns < stat->min_ns) {
		stat->min_ns = ns;
		stat->min_at_ns = start_ns;
	}
	if (is_first || ns > stat->max_ns) {
		stat->max_ns = ns;
		stat->max_at_ns = start_ns;
	}
	stat->squares += (double)ns * (double)ns;
}

static int count_cpus(struct ftr_func_stat *stat, const struct ftr_cpu_track *track,
		      uint64_t start_ns)
{
	if (stat->cpus == NULL)
		stat->cpus = calloc(1, sizeof(*stat->cpus));
	if (stat->cpus == NULL)
		return -ENOMEM;
	ftr_cpu_track_since(track, start_ns, stat->cpus);
	return 0;
}

static int count_spread(struct ftr_time_stat *stat, uint64_t ns)
{
	if (stat->spread == NULL)
		stat->spread = calloc(1, sizeof(*stat->spread));
	return stat->spread == NULL ? -ENOMEM : ftr_histogram_add(stat->spread, ns);
}

static inline int count_times(const struct stats_sink *self, struct ftr_func_stat *stat,
			      uint64_t total_ns, uint64_t self_ns, uint64_t start_ns)
{
	count_time(&stat->total, total_ns, start_ns, stat->calls == 1);
	count_time(&stat->self, self_ns, start_ns, stat->calls == 1);
	if (!(self->flags & FTR_STATS_SPREAD))
		return 0;
	return count_spread(&stat->total, total_ns) < 0 ? -ENOMEM :
							  count_spread(&stat->self, self_ns);
}

static inline int count_details(const struct stats_sink *self, struct ftr_func_stat *stat,
				const struct ftr_cpu_track *track, uint64_t total_ns,
				uint64_t self_ns, uint64_t start_ns)
{
	if (count_times(self, stat, total_ns, self_ns, start_ns) < 0)
		return -ENOMEM;
	return track->until_ns.nr == 0 ? 0 : count_cpus(stat, track, start_ns);
}

/* Nested calls are what a branch predictor is bad at: both sums are added to, one of them 0. */
static inline void count_sums(struct ftr_func_stat *stat, uint64_t total_ns, uint64_t self_ns,
			      bool is_nested)
{
	uint64_t mask = 0 - (uint64_t)is_nested;

	stat->total.nested_ns += total_ns & mask;
	stat->total.sum_ns += total_ns & ~mask;
	stat->self.sum_ns += self_ns;
}

static inline void count_call(struct ftr_func_stat *stat, uint64_t total_ns, uint64_t self_ns,
			      bool is_nested)
{
	count_sums(stat, total_ns, self_ns, is_nested);
	stat->calls++;
}

/* The call is one of the task's parent, where it was counted; the time in it is the task's. */
static int count_inherited(struct ftr_func_stat *stat, const struct ftr_cpu_track *track,
			   const struct ftr_event *ev, uint64_t self_ns, bool is_nested)
{
	uint64_t total_ns = ev->time_ns - ev->call.start_ns;

	count_sums(stat, total_ns, self_ns, is_nested);
	stat->total.inherited_ns += total_ns;
	stat->self.inherited_ns += self_ns;
	return track->until_ns.nr == 0 ? 0 : count_cpus(stat, track, ev->call.start_ns);
}

static struct ftr_task_stat *task_stat_slow(struct stats_sink *self, const struct ftr_task *task)
{
	struct ftr_stats *stats = &self->stats;

	if (ftr_vec_reach(&stats->tasks, task->id) < 0)
		return NULL;
	self->task = task;
	self->task_stat = &stats->tasks.v[task->id];
	self->task_stat->task = task;
	return self->task_stat;
}

static inline struct ftr_task_stat *task_stat(struct stats_sink *self,
					      const struct ftr_task *task)
{
	return task == self->task ? self->task_stat : task_stat_slow(self, task);
}

static void func_stat_init(struct ftr_func_stat *stat, const struct ftr_func *func)
{
	stat->name = func->name;
	stat->name_len = func->name_len;
	stat->size = func->size;
}

/*
 * Count the open calls of each function, entries and exits alike: a branch would be mispredicted.
 * Fills exits[] with the indices of the exits that count, nested[] with whether the function is
 * open still.  Returns the number of exits, or -ENOMEM.
 */
static int follow_calls(struct ftr_task_stat *task, const struct ftr_event *evs, size_t nr,
			uint16_t *exits, uint8_t *nested)
{
	int exit_nr = 0;

	for (size_t i = 0; i < nr; i++) {
		uint32_t id = evs[i].call.func->id;
		uint32_t is_exit = evs[i].type;		/* ENTRY is 0, EXIT is 1 */
		bool is_short = (evs[i].flags & FTR_EVENT_SHORT) != 0;

		if (__builtin_expect(ftr_vec_reach(&task->open, id) < 0, 0))
			return -ENOMEM;
		task->open.v[id] += 1 - 2 * is_exit;
		exits[exit_nr] = (uint16_t)i;
		nested[exit_nr] = task->open.v[id] > 0;
		exit_nr += (int)is_exit & !is_short;
	}
	return exit_nr;
}

static inline __attribute__((always_inline)) int
count_exit(struct stats_sink *self, struct ftr_task_stat *task,
			     const struct ftr_event *ev, bool is_nested)
{
	const struct ftr_func *func = ev->call.func;
	uint64_t total_ns = ev->time_ns - ev->call.start_ns;
	uint64_t self_ns = total_ns > ev->call.child_ns ? total_ns - ev->call.child_ns : 0;
	struct ftr_func_stat *stat;

	if (__builtin_expect(ftr_vec_reach(&self->stats.funcs, func->name_id) < 0, 0))
		return -ENOMEM;
	stat = &self->stats.funcs.v[func->name_id];
	if (__builtin_expect(stat->name == NULL, 0))
		func_stat_init(stat, func);
	task->self_ns += self_ns;
	task->total_ns += total_ns & (0 - (uint64_t)(ev->depth == 0));
	if (__builtin_expect(ftr_task_has_inherited(task->task, ev->flags), 0))
		return count_inherited(stat, &task->cpus, ev, self_ns, is_nested);
	task->calls++;
	count_call(stat, total_ns, self_ns, is_nested);
	return !self->has_details ? 0 : count_details(self, stat, &task->cpus, total_ns, self_ns,
						      ev->call.start_ns);
}

/* After count_exit: what of the calls' times their task was scheduled out. */
static int count_away(struct stats_sink *self, struct ftr_task_stat *task,
		      const struct ftr_event *evs, size_t nr, const uint8_t *nested)
{
	for (size_t i = 0; i < nr; i++) {
		const struct ftr_event *ev = &evs[i];
		uint64_t *at_entry;

		if (ftr_vec_reach(&task->away_at_entry, ev->depth) < 0)
			return -ENOMEM;
		at_entry = &task->away_at_entry.v[ev->depth];
		if (ev->type == FTR_EVENT_ENTRY)
			*at_entry = task->away_ns;
		else if (!*nested++)
			self->stats.funcs.v[ev->call.func->name_id].total.away_ns +=
				task->away_ns - *at_entry;
	}
	return 0;
}

/* Calls of one task, at most a batch of them. */
static int count_calls(struct stats_sink *self, const struct ftr_event *evs, size_t nr)
{
	struct ftr_task_stat *task = task_stat(self, evs[0].task);
	uint8_t nested[FTR_SOURCE_BATCH];
	uint16_t exits[FTR_SOURCE_BATCH];
	int exit_nr;

	if (task == NULL)
		return -ENOMEM;
	exit_nr = follow_calls(task, evs, nr, exits, nested);
	for (int i = 0; i < exit_nr; i++) {
		if (count_exit(self, task, &evs[exits[i]], nested[i]) < 0)
			return -ENOMEM;
	}
	if (exit_nr < 0)
		return exit_nr;
	return self->flags & FTR_STATS_CPU_TIME ? count_away(self, task, evs, nr, nested) : 0;
}

/* The time from a sched-out to its sched-in, inside of a function, is like a call it made. */
static int count_schedule(struct stats_sink *self, const struct ftr_event *ev)
{
	uint64_t ns = ev->time_ns - ev->point.start_ns;
	struct ftr_func_stat *stat = &self->stats.schedule[(ev->flags & FTR_EVENT_PREEMPTED) != 0];
	struct ftr_task_stat *task;

	if (!ftr_event_ends_schedule(ev) || (ev->depth == 0 && !self->counts_outside))
		return 0;
	task = task_stat(self, ev->task);
	if (task == NULL)
		return -ENOMEM;
	stat->name = ftr_event_pair_name(ftr_event_sched_out_id(ev));
	stat->name_len = (uint32_t)strlen(stat->name);
	count_call(stat, ns, ns, false);
	if (self->has_details &&
	    count_details(self, stat, &task->cpus, ns, ns, ev->point.start_ns) < 0)
		return -ENOMEM;
	stat->total.away_ns += ns;
	stat->self.away_ns += ns;
	task->away_ns += ns;
	task->calls++;
	return 0;
}

/* An async span or a flow, from begin to end: it may cross tasks and calls. */
static int count_span(struct stats_sink *self, const struct ftr_event *ev)
{
	struct ftr_stats *stats = &self->stats;
	uint64_t ns = ev->time_ns - ev->point.start_ns;
	const struct ftr_str *name = ftr_strpool_get(&stats->span_names, ev->point.name,
						     strlen(ev->point.name));
	struct ftr_func_stat *stat;

	if (name == NULL || ftr_vec_reach(&stats->spans, name->id) < 0)
		return -ENOMEM;
	stat = &stats->spans.v[name->id];
	stat->name = name->s;
	stat->name_len = name->len;
	count_call(stat, ns, ns, false);
	return self->has_details ? count_times(self, stat, ns, ns, ev->point.start_ns) : 0;
}

static int count_point(struct stats_sink *self, const struct ftr_event *ev)
{
	struct ftr_task_stat *task = self->has_details ? task_stat(self, ev->task) : NULL;

	if (self->has_details && (task == NULL || ftr_cpu_track_point(&task->cpus, ev) < 0))
		return -ENOMEM;
	if (ev->point.kind != FTR_POINT_INSTANT)
		return ev->point.start_ns == 0 ? 0 : count_span(self, ev);
	return count_schedule(self, ev);
}

/* How many of the events are calls of the first one's task. */
static size_t calls_run(const struct ftr_event *evs, size_t nr)
{
	size_t i = 0;

	if (nr > FTR_SOURCE_BATCH)
		nr = FTR_SOURCE_BATCH;
	while (i < nr && evs[i].type <= FTR_EVENT_EXIT && evs[i].task == evs[0].task)
		i++;
	return i;
}

static int stats_batch(struct ftr_sink *sink, const struct ftr_event *evs, size_t nr)
{
	struct stats_sink *self = stats_of(sink);
	int ret = 0;

	for (size_t i = 0; i < nr && ret == 0;) {
		size_t run = calls_run(&evs[i], nr - i);

		if (run > 0)
			ret = count_calls(self, &evs[i], run);
		else if (evs[i].type == FTR_EVENT_POINT)
			ret = count_point(self, &evs[i]);
		i += run > 0 ? run : 1;
	}
	return ret < 0 ? ftr_err_set(sink->err, -ret, "statistics: out of memory") : 0;
}

/*
 * ---- runs: sums of calls instead of calls.  Which of them were nested in a call that was open
 * before the run is only known here: those until the last such call of their function ended.
 */

/* The ends, innermost first.  cut[] of a sum: of its time, what counts as nested. */
static int count_ends(struct stats_sink *self, struct ftr_task_stat *task,
		      const struct ftr_run *run, uint64_t *cut)
{
	for (size_t i = 0; i < run->end_nr; i++) {
		const struct ftr_run_end *end = &run->ends[i];
		struct ftr_event ev = {
			.time_ns = end->time_ns,
			.depth = run->base_depth - 1 - (uint32_t)i,
			.flags = end->flags,
			.call = { .func = end->func, .start_ns = end->start_ns,
				  .child_ns = end->child_ns },
		};
		uint32_t open = --task->open.v[end->func->id];

		if (end->is_short)
			continue;
		cut[end->sum] = end->outer_ns;
		if (count_exit(self, task, &ev, open > 0) < 0)
			return -ENOMEM;
	}
	return 0;
}

/* After count_ends. */
static int count_sum(struct stats_sink *self, struct ftr_task_stat *task,
		     const struct ftr_run_sum *sum, uint64_t cut_ns)
{
	uint64_t outer_ns = sum->total_ns - sum->nested_ns;
	struct ftr_func_stat *stat;

	if (ftr_vec_reach(&self->stats.funcs, sum->func->name_id) < 0)
		return -ENOMEM;
	if (task->open.v[sum->func->id] > 0)
		cut_ns = outer_ns;
	task->open.v[sum->func->id] += sum->open_nr;
	if (sum->calls == 0)
		return 0;
	stat = &self->stats.funcs.v[sum->func->name_id];
	if (stat->name == NULL)
		func_stat_init(stat, sum->func);
	stat->calls += sum->calls;
	stat->total.sum_ns += outer_ns - cut_ns;
	stat->total.nested_ns += sum->nested_ns + cut_ns;
	stat->self.sum_ns += sum->self_ns;
	task->self_ns += sum->self_ns;
	task->calls += sum->calls;
	return 0;
}

static int count_run(struct stats_sink *self, const struct ftr_run *run, uint64_t *cut)
{
	struct ftr_task_stat *task = task_stat(self, run->task);

	if (task == NULL)
		return -ENOMEM;
	for (size_t i = 1; i < run->sum_nr; i++)
		if (ftr_vec_reach(&task->open, run->sums[i].func->id) < 0)
			return -ENOMEM;
	if (count_ends(self, task, run, cut) < 0)
		return -ENOMEM;
	if (run->base_depth == run->end_nr)
		task->total_ns += run->outside_ns;
	for (size_t i = 1; i < run->sum_nr; i++)
		if (count_sum(self, task, &run->sums[i], cut[i]) < 0)
			return -ENOMEM;
	return 0;
}

static int stats_run(struct ftr_sink *sink, const struct ftr_run *run)
{
	uint64_t *cut = calloc(run->sum_nr, sizeof(*cut));
	int ret = cut == NULL ? -ENOMEM : count_run(stats_of(sink), run, cut);

	free(cut);
	return ret < 0 ? ftr_err_set(sink->err, -ret, "statistics: out of memory") : 0;
}

/*
 * All time in functions: that of outermost calls, or that of those inside them where filters left
 * the outermost out.
 */
static uint64_t whole_ns(const struct ftr_stats *stats)
{
	uint64_t total_ns = stats->outermost_ns;
	uint64_t self_ns = stats->schedule[0].self.sum_ns +
			   stats->schedule[1].self.sum_ns;

	for (size_t i = 0; i < stats->tasks.nr; i++) {
		total_ns += stats->tasks.v[i].total_ns;
		self_ns += stats->tasks.v[i].self_ns;
	}
	return total_ns > self_ns ? total_ns : self_ns;
}

static int stats_end(struct ftr_sink *sink)
{
	struct ftr_stats *stats = &stats_of(sink)->stats;
	uint64_t ns = whole_ns(stats);

	for (size_t i = 0; i < stats->funcs.nr; i++)
		stats->funcs.v[i].whole_ns = ns;
	for (size_t i = 0; i < stats->spans.nr; i++)
		stats->spans.v[i].whole_ns = ns;
	stats->schedule[0].whole_ns = stats->schedule[1].whole_ns = ns;
	return 0;
}

void ftr_func_stat_fini(struct ftr_func_stat *stat)
{
	struct ftr_histogram *spreads[] = { stat->total.spread, stat->self.spread };

	for (size_t i = 0; i < 2; i++) {
		if (spreads[i] != NULL)
			ftr_histogram_fini(spreads[i]);
		free(spreads[i]);
	}
	free(stat->cpus);
}

static void stats_fini(struct ftr_sink *sink)
{
	struct ftr_stats *stats = &stats_of(sink)->stats;

	for (size_t i = 0; i < stats->tasks.nr; i++) {
		ftr_vec_fini(&stats->tasks.v[i].open);
		ftr_vec_fini(&stats->tasks.v[i].away_at_entry);
		ftr_cpu_track_fini(&stats->tasks.v[i].cpus);
	}
	for (size_t i = 0; i < stats->funcs.nr; i++)
		ftr_func_stat_fini(&stats->funcs.v[i]);
	for (size_t i = 0; i < stats->spans.nr; i++)
		ftr_func_stat_fini(&stats->spans.v[i]);
	ftr_func_stat_fini(&stats->schedule[0]);
	ftr_func_stat_fini(&stats->schedule[1]);
	ftr_vec_fini(&stats->tasks);
	ftr_vec_fini(&stats->funcs);
	ftr_vec_fini(&stats->spans);
	ftr_strpool_fini(&stats->span_names);
}

static int stats_sums(struct ftr_sink *sink, const struct ftr_summary_row *row)
{
	struct stats_sink *self = stats_of(sink);
	struct ftr_func_stat *stat;

	if (ftr_vec_reach(&self->stats.funcs, row->func->name_id) < 0)
		return ftr_err_set(sink->err, ENOMEM, "statistics: out of memory");
	stat = &self->stats.funcs.v[row->func->name_id];
	if (stat->name == NULL)
		func_stat_init(stat, row->func);
	for (uint64_t left = row->used; left != 0; left &= left - 1)
		self->stats.outermost_ns += row->octaves[__builtin_ctzll(left)].outermost_ns;
	if (ftr_func_stat_add_sums(stat, row, self->flags & FTR_STATS_SPREAD) < 0)
		return ftr_err_set(sink->err, ENOMEM, "statistics: out of memory");
	return 0;
}

static const struct ftr_sink_ops stats_sink_ops = {
	.size	 = sizeof(struct stats_sink),
	.accepts = FTR_BIT(FTR_EVENT_ENTRY) | FTR_BIT(FTR_EVENT_EXIT) | FTR_BIT(FTR_EVENT_POINT),
	.batch	 = stats_batch,
	.sums	 = stats_sums,
	.end	 = stats_end,
	.fini	 = stats_fini,
};

/* Without details: least, most and squares are of each call. */
static const struct ftr_sink_ops plain_sink_ops = {
	.size	  = sizeof(struct stats_sink),
	.accepts  = FTR_BIT(FTR_EVENT_ENTRY) | FTR_BIT(FTR_EVENT_EXIT) | FTR_BIT(FTR_EVENT_POINT),
	.batch	  = stats_batch,
	.run	  = stats_run,
	.run_kind = FTR_RUN_BY_FUNC,
	.takes_short = true,
	.sums	  = stats_sums,
	.end	  = stats_end,
	.fini	  = stats_fini,
};

struct ftr_sink *ftr_stats_new(unsigned flags, struct ftr_err *err)
{
	bool is_plain = (flags & ~(unsigned)FTR_STATS_OUTSIDE) == 0;
	struct ftr_sink *sink = ftr_sink_new(is_plain ? &plain_sink_ops : &stats_sink_ops, NULL,
					     err);

	if (sink == NULL)
		ftr_err_set(err, ENOMEM, "statistics: out of memory");
	if (sink == NULL)
		return NULL;
	ftr_strpool_init(&stats_of(sink)->stats.span_names);
	stats_of(sink)->flags = flags;
	stats_of(sink)->has_details = flags & FTR_STATS_DETAILS;
	stats_of(sink)->counts_outside = flags & FTR_STATS_OUTSIDE;
	return sink;
}

const struct ftr_stats *ftr_stats_get(const struct ftr_sink *sink)
{
	return &((const struct stats_sink *)sink)->stats;
}

const struct ftr_func_stat **ftr_stats_rows(const struct ftr_stats *stats, size_t *nr)
{
	const struct ftr_func_stat **rows = calloc(stats->funcs.nr + 2 + stats->span_names.nr,
						   sizeof(*rows));

	*nr = 0;
	if (rows == NULL)
		return NULL;
	for (size_t i = 0; i < stats->funcs.nr; i++)
		if (stats->funcs.v[i].name != NULL)
			rows[(*nr)++] = &stats->funcs.v[i];
	for (size_t i = 0; i < 2; i++)
		if (stats->schedule[i].name != NULL)
			rows[(*nr)++] = &stats->schedule[i];
	for (size_t i = 0; i < stats->span_names.nr; i++)
		rows[(*nr)++] = &stats->spans.v[i];
	return rows;
}
