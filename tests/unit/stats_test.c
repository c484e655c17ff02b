/* SPDX-License-Identifier: MIT */
/* Statistics of made-up calls. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "utils/analysis/stats.h"
#include "utils/base/duration.h"
#include "utils/trace/event_kind.h"
#include "utils/trace/func.h"
#include "utils/trace/task.h"
#include "utils/view/fields.h"

static const struct ftr_func outer = { .name = "outer", .name_len = 5, .id = 3, .name_id = 1 };
static const struct ftr_func inner = { .name = "inner", .name_len = 5, .id = 70, .name_id = 40,
				       .size = 12 };
static struct ftr_task task = { .pid = 1, .tid = 1, .name = "t" };

static void push(struct ftr_sink *sink, struct ftr_event ev)
{
	ev.task = &task;
	assert_int_equal(sink->ops->batch(sink, &ev, 1), 0);
}

static void enter(struct ftr_sink *sink, const struct ftr_func *func, uint64_t ns, uint32_t depth)
{
	push(sink, (struct ftr_event){ .type = FTR_EVENT_ENTRY, .call = { .func = func },
				       .time_ns = ns, .depth = depth });
}

static void leave(struct ftr_sink *sink, const struct ftr_func *func, uint64_t start_ns,
		  uint64_t child_ns, uint64_t ns, uint32_t depth)
{
	push(sink, (struct ftr_event){ .type = FTR_EVENT_EXIT, .time_ns = ns, .depth = depth,
				       .call = { .func = func, .start_ns = start_ns,
						 .child_ns = child_ns } });
}

static void times_add_up(void **state)
{
	struct ftr_sink *sink = ftr_stats_new(FTR_STATS_DETAILS, NULL);
	const struct ftr_stats *stats = ftr_stats_get(sink);
	const struct ftr_func_stat *stat;

	enter(sink, &outer, 100, 0);
	enter(sink, &inner, 110, 1);
	leave(sink, &inner, 110, 0, 130, 1);
	enter(sink, &inner, 140, 1);
	leave(sink, &inner, 140, 0, 180, 1);
	leave(sink, &outer, 100, 60, 200, 0);
	stat = &stats->funcs.v[inner.name_id];
	assert_int_equal(stat->calls, 2);
	assert_int_equal(stat->size, 12);
	assert_int_equal(stat->total.sum_ns, 60);
	assert_int_equal(stat->total.min_ns, 20);
	assert_int_equal(stat->total.max_ns, 40);
	assert_int_equal(stat->total.max_at_ns, 140);
	assert_true(ftr_time_stat_avg_ns(&stat->total, stat->calls) == 30);
	assert_true(ftr_time_stat_stdv(&stat->total, stat->calls) > 33.3);
	assert_true(ftr_time_stat_stdv(&stat->total, stat->calls) < 33.4);
	stat = &stats->funcs.v[outer.name_id];
	assert_int_equal(stat->total.sum_ns, 100);
	assert_int_equal(stat->self.sum_ns, 40);
	assert_null(stats->funcs.v[0].name);
	assert_int_equal(stats->tasks.v[0].calls, 3);
	assert_int_equal(stats->tasks.v[0].total_ns, 100);
	assert_int_equal(stats->tasks.v[0].self_ns, 100);
	ftr_sink_free(sink);
}

/* The outermost call alone counts for the total, all of them for average and least. */
static void recursion_counts_once(void **state)
{
	struct ftr_sink *sink = ftr_stats_new(FTR_STATS_DETAILS, NULL);
	const struct ftr_func_stat *stat;

	enter(sink, &outer, 0, 0);
	enter(sink, &outer, 10, 1);
	leave(sink, &outer, 10, 0, 40, 1);
	leave(sink, &outer, 0, 30, 100, 0);
	stat = &ftr_stats_get(sink)->funcs.v[outer.name_id];
	assert_int_equal(stat->calls, 2);
	assert_int_equal(stat->total.sum_ns, 100);
	assert_int_equal(stat->total.nested_ns, 30);
	assert_int_equal(stat->self.sum_ns, 100);
	assert_true(ftr_time_stat_avg_ns(&stat->total, 2) == 65);
	ftr_sink_free(sink);
}

/* Its parent made them: the time counts, and is none of what the calls took. */
static void inherited_calls_only_take_time(void **state)
{
	struct ftr_sink *sink = ftr_stats_new(FTR_STATS_DETAILS | FTR_STATS_SPREAD, NULL);
	const struct ftr_stats *stats = ftr_stats_get(sink);
	const struct ftr_func_stat *stat;
	struct ftr_task child = { .pid = 2, .tid = 2, .id = 1, .is_forked = true };
	struct ftr_event evs[] = {
		{ .type = FTR_EVENT_ENTRY, .call = { .func = &outer }, .time_ns = 50,
		  .task = &child, .flags = FTR_EVENT_NO_ENTRY | FTR_EVENT_INFERRED },
		{ .type = FTR_EVENT_ENTRY, .call = { .func = &inner }, .time_ns = 60,
		  .task = &child, .depth = 1 },
		{ .type = FTR_EVENT_EXIT, .call = { .func = &inner, .start_ns = 60 },
		  .time_ns = 61, .task = &child, .depth = 1 },
		{ .type = FTR_EVENT_EXIT, .task = &child, .time_ns = 250,
		  .call = { .func = &outer, .start_ns = 50, .child_ns = 1 },
		  .flags = FTR_EVENT_NO_ENTRY | FTR_EVENT_UNFINISHED },
	};

	assert_int_equal(sink->ops->batch(sink, evs, 4), 0);
	enter(sink, &outer, 0, 0);
	leave(sink, &outer, 0, 10, 100, 0);
	stat = &stats->funcs.v[outer.name_id];
	assert_int_equal(stat->calls, 1);
	assert_int_equal(stat->total.sum_ns, 300);
	assert_int_equal(stat->self.sum_ns, 289);
	assert_int_equal(stat->total.min_ns, 100);
	assert_int_equal(stat->total.max_ns, 100);
	assert_true(ftr_time_stat_avg_ns(&stat->total, stat->calls) == 100);
	assert_true(ftr_time_stat_avg_ns(&stat->self, stat->calls) == 90);
	assert_int_equal(ftr_time_stat_percentile(&stat->total, 99), 100);
	assert_int_equal(stats->tasks.v[child.id].calls, 1);
	assert_int_equal(stats->tasks.v[child.id].total_ns, 200);
	assert_int_equal(stats->funcs.v[inner.name_id].calls, 1);
	ftr_sink_free(sink);
}

static void scheduling_counts_inside_of_calls(void **state)
{
	struct ftr_event in = { .type = FTR_EVENT_POINT, .time_ns = 50, .depth = 0,
				.point = { .name = "linux:sched-in", .start_ns = 20,
					   .id = FTR_EVENT_ID_SCHED_IN } };
	struct ftr_sink *sink = ftr_stats_new(0, NULL);
	const struct ftr_stats *stats = ftr_stats_get(sink);

	push(sink, in);
	assert_null(stats->schedule[0].name);
	in.depth = 1;
	push(sink, in);
	in.flags = FTR_EVENT_PREEMPTED;
	push(sink, in);
	assert_int_equal(stats->schedule[0].calls, 1);
	assert_int_equal(stats->schedule[0].total.sum_ns, 30);
	assert_string_equal(stats->schedule[1].name, "linux:schedule (pre-empted)");
	ftr_sink_free(sink);
}

static struct ftr_event schedule(uint64_t from_ns, uint64_t to_ns, uint32_t depth)
{
	return (struct ftr_event){ .type = FTR_EVENT_POINT, .time_ns = to_ns, .depth = depth,
				   .point = { .name = "linux:sched-in", .start_ns = from_ns,
					      .id = FTR_EVENT_ID_SCHED_IN } };
}

/* Of the outermost call of a function only, as the total. */
static void cpu_time_is_without_scheduling(void **state)
{
	struct ftr_sink *sink = ftr_stats_new(FTR_STATS_DETAILS | FTR_STATS_CPU_TIME, NULL);
	const struct ftr_stats *stats = ftr_stats_get(sink);

	enter(sink, &outer, 0, 0);
	push(sink, schedule(1, 11, 1));
	enter(sink, &outer, 20, 1);
	enter(sink, &inner, 20, 2);
	push(sink, schedule(21, 51, 3));
	leave(sink, &inner, 20, 30, 60, 2);
	leave(sink, &outer, 20, 40, 70, 1);
	enter(sink, &inner, 71, 1);
	leave(sink, &inner, 71, 0, 80, 1);
	leave(sink, &outer, 0, 69, 100, 0);
	assert_int_equal(stats->funcs.v[outer.name_id].total.sum_ns, 100);
	assert_int_equal(stats->funcs.v[outer.name_id].total.away_ns, 40);
	assert_int_equal(stats->funcs.v[outer.name_id].self.away_ns, 0);
	assert_int_equal(stats->funcs.v[inner.name_id].total.sum_ns, 49);
	assert_int_equal(stats->funcs.v[inner.name_id].total.away_ns, 30);
	assert_int_equal(stats->schedule[0].total.away_ns, stats->schedule[0].total.sum_ns);
	ftr_sink_free(sink);
}

/* Batches may end between any two events, and whole ones hold calls within calls. */
static void cpu_time_does_not_depend_on_batches(void **state)
{
	struct ftr_event evs[] = {
		{ .type = FTR_EVENT_ENTRY, .call = { .func = &outer }, .depth = 1, .task = &task },
		{ .type = FTR_EVENT_EXIT, .call = { .func = &outer }, .depth = 1, .task = &task },
		{ .type = FTR_EVENT_EXIT, .call = { .func = &inner }, .depth = 0, .time_ns = 100,
		  .task = &task },
		{ .type = FTR_EVENT_ENTRY, .call = { .func = &inner }, .depth = 0, .task = &task },
	};
	struct ftr_sink *sink = ftr_stats_new(FTR_STATS_DETAILS | FTR_STATS_CPU_TIME, NULL);

	enter(sink, &inner, 0, 0);
	push(sink, schedule(10, 30, 1));
	assert_int_equal(sink->ops->batch(sink, evs, 4), 0);
	assert_int_equal(ftr_stats_get(sink)->funcs.v[inner.name_id].total.away_ns, 20);
	assert_int_equal(ftr_stats_get(sink)->funcs.v[outer.name_id].total.away_ns, 0);
	ftr_sink_free(sink);
}

static void percentiles_are_of_all_calls(void **state)
{
	struct ftr_sink *sink = ftr_stats_new(FTR_STATS_DETAILS | FTR_STATS_SPREAD, NULL);
	const struct ftr_func_stat *stat;

	for (uint64_t i = 1; i <= 10; i++) {
		enter(sink, &inner, 100 * i, 0);
		leave(sink, &inner, 100 * i, 1, 100 * i + i, 0);
	}
	stat = &ftr_stats_get(sink)->funcs.v[inner.name_id];
	assert_int_equal(ftr_time_stat_percentile(&stat->total, 50), 5);
	assert_int_equal(ftr_time_stat_percentile(&stat->total, 90), 9);
	assert_int_equal(ftr_time_stat_percentile(&stat->total, 99), 10);
	assert_int_equal(ftr_time_stat_percentile(&stat->self, 50), 4);
	ftr_sink_free(sink);
}

static void shares_are_of_all_time_in_functions(void **state)
{
	struct ftr_sink *sink = ftr_stats_new(0, NULL);
	const struct ftr_stats *stats = ftr_stats_get(sink);

	enter(sink, &outer, 0, 0);
	enter(sink, &inner, 10, 1);
	leave(sink, &inner, 10, 0, 30, 1);
	leave(sink, &outer, 0, 20, 100, 0);
	assert_int_equal(sink->ops->end(sink), 0);
	assert_int_equal(stats->funcs.v[outer.name_id].whole_ns, 100);
	assert_int_equal(stats->funcs.v[inner.name_id].whole_ns, 100);
	ftr_sink_free(sink);
}

static void fields_are_chosen(void **state)
{
	static const struct ftr_field_name names[] = { { "a" }, { "b" }, { "c" }, { NULL } };
	struct ftr_err err = { 0 };
	uint64_t mask = 1;

	assert_int_equal(ftr_fields_parse(names, NULL, &mask, &err), 0);
	assert_int_equal(mask, 1);
	assert_int_equal(ftr_fields_parse(names, "+c", &mask, &err), 0);
	assert_int_equal(mask, 5);
	assert_int_equal(ftr_fields_parse(names, "c,b", &mask, &err), 0);
	assert_int_equal(mask, 6);
	assert_int_equal(ftr_fields_parse(names, "none", &mask, &err), 0);
	assert_int_equal(mask, 0);
	assert_int_equal(ftr_fields_parse(names, "all", &mask, &err), 0);
	assert_int_equal(mask, 7);
	assert_true(ftr_fields_parse(names, "a,d", &mask, &err) < 0);
	assert_string_equal(err.text, "unknown field \"d\"; the fields are: a b c all none");
}

static void durations_take_ten_columns(void **state)
{
	char text[FTR_DURATION_BYTES] = "";

	*ftr_duration_put(text, 849, false) = '\0';
	assert_string_equal(text, "  0.849 us");
	*ftr_duration_put(text, 0, true) = '\0';
	assert_string_equal(text, "          ");
	*ftr_duration_put(text, 2351000, true) = '\0';
	assert_string_equal(text, "\033[32m  2.351 ms\033[0m");
	*ftr_nanos_put(text, 7008090) = '\0';
	assert_string_equal(text, "007008090");
	*ftr_nanos_put(text, 999999999) = '\0';
	assert_string_equal(text, "999999999");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(times_add_up),
		cmocka_unit_test(recursion_counts_once),
		cmocka_unit_test(inherited_calls_only_take_time),
		cmocka_unit_test(scheduling_counts_inside_of_calls),
		cmocka_unit_test(cpu_time_is_without_scheduling),
		cmocka_unit_test(cpu_time_does_not_depend_on_batches),
		cmocka_unit_test(percentiles_are_of_all_calls),
		cmocka_unit_test(shares_are_of_all_time_in_functions),
		cmocka_unit_test(fields_are_chosen),
		cmocka_unit_test(durations_take_ten_columns),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
