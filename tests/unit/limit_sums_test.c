/* SPDX-License-Identifier: MIT */
/* Limits against what a made-up stream is summed up to. */
#include <errno.h>
#include <string.h>

#include "tests/unit/unit.h"

#include "utils/analysis/limit_sums.h"
#include "utils/base/strbuf.h"
#include "utils/trace/args.h"
#include "utils/trace/event_kind.h"
#include "utils/trace/func.h"
#include "utils/trace/sink.h"
#include "utils/trace/trace.h"

static struct ftr_trace *trace;
static struct ftr_limits limits;
static struct ftr_limit_sums sums;
static struct ftr_sink *sink;
static struct ftr_err err;

static void limit(const char *kind, const char *text)
{
	assert_int_equal(ftr_limits_add(&limits, kind, text, FTR_MATCH_REGEX, &err), 0);
}

static void begin(void)
{
	trace = ftr_trace_new("/data/made-up", NULL);
	assert_int_equal(ftr_limit_sums_init(&sums, &limits, &err), 0);
	sink = ftr_limit_sums_sink(&sums);
	if (sink->ops->begin != NULL)
		assert_int_equal(sink->ops->begin(sink, trace), 0);
}

static int end(void)
{
	return sink->ops->end != NULL ? sink->ops->end(sink) : 0;
}

static void finish(void)
{
	ftr_limit_sums_fini(&sums);
	ftr_limits_fini(&limits);
	ftr_trace_free(trace);
}

static void put(struct ftr_event ev, uint64_t ns)
{
	ev.task = ftr_trace_task_get(trace, 10, 10);
	ev.time_ns = ns;
	assert_int_equal(sink->ops->batch(sink, &ev, 1), 0);
}

static const struct ftr_func *func_of(const char *name)
{
	return ftr_trace_func_by_name(trace, NULL, name, strlen(name));
}

static void call(uint64_t ns, const char *name)
{
	put((struct ftr_event){ .type = FTR_EVENT_ENTRY, .call.func = func_of(name) }, ns);
}

static void leave(uint64_t start_ns, uint64_t ns, const char *name)
{
	put((struct ftr_event){ .type = FTR_EVENT_EXIT,
				.call = { .func = func_of(name), .start_ns = start_ns } }, ns);
}

static void point(uint64_t ns, uint64_t id, const uint64_t *values, size_t nr)
{
	const struct ftr_event_kind *kind = ftr_event_kind_by_id(id);
	const struct ftr_payload payload = { .data = (const uint8_t *)values, .spec = kind->spec,
					     .len = (uint16_t)(nr * sizeof(*values)) };

	put((struct ftr_event){ .type = FTR_EVENT_POINT, .payload = &payload,
				.point = { .name = kind->name, .id = id } }, ns);
}

static void given(uint64_t ns, uint64_t address, uint64_t bytes)
{
	point(ns, FTR_EVENT_ID_MALLOC, (const uint64_t[]){ address, bytes, 0 }, 3);
}

static void freed(uint64_t ns, uint64_t address)
{
	point(ns, FTR_EVENT_ID_FREE, (const uint64_t[]){ address, 0 }, 2);
}

static void result_put(void *arg, const struct ftr_limit_result *result)
{
	ftr_strbuf_printf(arg, "%s %s %llu %s\n", result->limit->kind->name,
			  result->func != NULL ? result->func : "-",
			  (unsigned long long)result->value, result->is_kept ? "kept" : "broken");
}

/* How many are not kept; @expected: what is said of each. */
static int check(const char *expected)
{
	struct ftr_strbuf text = { 0 };
	struct ftr_limited limited;
	int broken_nr;

	assert_int_equal(ftr_limit_sums_get(&sums, &limited), 0);
	broken_nr = ftr_limits_check(&limits, &limited, result_put, &text);
	assert_string_equal(ftr_strbuf_str(&text), expected);
	ftr_strbuf_fini(&text);
	return broken_nr;
}

/* A call of outer that calls itself and inner, and asks for memory in both. */
static void calls_put(void)
{
	call(100, "outer");
	given(105, 0x1000, 10);
	call(110, "outer");
	call(120, "inner");
	given(125, 0x2000, 300);
	leave(120, 150, "inner");
	leave(110, 160, "outer");
	freed(170, 0x2000);
	leave(100, 200, "outer");
}

static void times_need_one_sink(void **state)
{
	limit("max", "outer=100ns");
	limit("max-total", "inner=29ns");
	limit("max-calls", "^nothing$=0");
	limit("max", "^nothing$=1s");
	assert_false(ftr_limits_weigh(&limits));
	begin();
	assert_ptr_equal(sink, sums.sinks[FTR_WEIGHT_TIME]);
	calls_put();
	assert_int_equal(end(), 0);
	assert_int_equal(check("max outer 100 kept\n"
			       "max-total inner 30 broken\n"
			       "max-calls - 0 kept\n"
			       "max - 0 broken\n"), 2);
	finish();
}

static void each_weight_is_summed_once(void **state)
{
	limit("max-calls", "outer=1");
	limit("max-bytes", "outer=310");
	limit("max-bytes", "inner=299");
	limit("max-blocks", "outer=2");
	limit("max-leak", "outer=9");
	limit("max-leak", "inner=0");
	assert_true(ftr_limits_weigh(&limits));
	begin();
	assert_ptr_equal(sink, sums.tee);
	assert_non_null(sums.sinks[FTR_WEIGHT_LEAK]);
	assert_null(sums.sinks[FTR_WEIGHT_WAIT]);
	assert_null(sums.sinks[FTR_WEIGHT_SAMPLES]);
	calls_put();
	assert_int_equal(end(), 0);
	assert_int_equal(check("max-calls outer 2 broken\n"
			       "max-bytes outer 310 kept\n"
			       "max-bytes inner 300 broken\n"
			       "max-blocks outer 2 kept\n"
			       "max-leak outer 10 broken\n"
			       "max-leak inner 0 kept\n"), 3);
	finish();
}

/* A limit on what a trace has nothing of would be kept by any program. */
static void missing_events_are_an_error(void **state)
{
	limit("max-wait", "outer=1s");
	begin();
	calls_put();
	assert_int_equal(end(), -ENODATA);
	assert_non_null(strstr(err.text, "--probe=sync"));
	finish();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(times_need_one_sink),
		cmocka_unit_test(each_weight_is_summed_once),
		cmocka_unit_test(missing_events_are_an_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
