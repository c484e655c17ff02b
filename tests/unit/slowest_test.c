/* SPDX-License-Identifier: MIT */
/* The slowest calls of streams written as text. */
#include "tests/unit/unit.h"

#include <stdlib.h>

#include "tests/unit/stream.h"
#include "utils/analysis/slowest.h"
#include "utils/base/ostream.h"
#include "utils/trace/calls.h"
#include "utils/trace/pump.h"
#include "utils/view/graph.h"
#include "utils/view/slowest.h"

static void expect_levels(const char *words, const char *func, size_t nr, uint64_t levels,
			  const char *expected)
{
	struct ftr_trace *trace = ftr_trace_new("/data/made-up", NULL);
	struct ftr_source *source = ftr_calls_new(stream_new(trace, words, 3), trace);
	struct ftr_sink *sink = ftr_slowest_new(func, nr, levels, NULL);
	struct ftr_graph_opts opts = { .fields = "none" };
	struct ftr_ostream out;

	assert_int_equal(ftr_ostream_to_memory(&out), 0);
	assert_int_equal(ftr_pump(source, sink, trace, NULL, NULL), 0);
	assert_int_equal(ftr_slowest_print(ftr_slowest_get(sink), trace, &opts, &out, NULL),
			 *expected == '\0' ? -ENOENT : 0);
	ftr_ostream_putc(&out, '\0');
	assert_string_equal(out.buf, expected);
	ftr_ostream_close(&out, NULL);
	ftr_sink_free(sink);
	ftr_source_free(source);
	ftr_trace_free(trace);
}

static void expect(const char *words, const char *func, size_t nr, const char *expected)
{
	expect_levels(words, func, nr, 0, expected);
}

#define TITLE(nr, of, what, tid, from, to) \
	"# Call " nr " of " of ": " what "\n# replay --tid=" tid " --time-range=0.00000000" from \
	"~0.00000000" to "\n"

static void slowest_comes_first(void **state)
{
	expect("1:m( 2:f( 3:f) 4:f( 9:f) 10:f( 12:f) 13:g( 99:g) 100:m)", "f", 2,
	       TITLE("1", "3", "f took 0.005 us", "1", "4", "9") "(1) f\n\n"
	       "# Call 2 of 3: f took 0.002 us\n"
	       "# replay --tid=1 --time-range=0.000000010~0.000000012\n(1) f\n\n");
}

/* A call of the function inside another is its callee; outside of the function nothing is. */
static void calls_have_their_own_trees(void **state)
{
	expect("1:g( 1:f( 1:g( 2:g) 2:f( 3:f) 3:g( 4:g) 4:f) 4:g) 5:f( 6:f)", "f", 9,
	       TITLE("1", "2", "f took 0.003 us", "1", "1", "4")
	       "(1) f\n +-(2) g\n | \n +-(1) f\n\n"
	       TITLE("2", "2", "f took 0.001 us", "1", "5", "6") "(1) f\n\n");
}

/* The time of a task that waits is in the tree; the trees of two tasks do not mix. */
static void tasks_are_apart(void **state)
{
	expect("T1 1:f( T2 1:f( 2:a( T1 2:b( 3:b) T2 4:a) 5:out 7:in 8:f) T1 9:f)", "f", 2,
	       TITLE("1", "2", "f took 0.008 us", "1", "1", "9") "(1) f\n(1) b\n\n"
	       TITLE("2", "2", "f took 0.007 us", "2", "1", "8")
	       "(1) f\n +-(1) a\n | \n +-(1) linux:schedule\n\n");
}

static void earlier_of_equals_comes_first(void **state)
{
	expect("T2 3:f( 5:f) T1 1:f( 3:f) 5:f( 7:f)", "f", 1,
	       TITLE("1", "3", "f took 0.002 us", "1", "1", "3") "(1) f\n\n");
}

static void without_name_outermost_calls_count(void **state)
{
	expect("1:f( 2:g( 4:g) 5:f) 6:g( 8:g)", NULL, 1,
	       TITLE("1", "2", "f took 0.004 us", "1", "1", "5") "(1) f\n(1) g\n\n");
}

static void levels_count_from_the_call(void **state)
{
	static const char words[] = "1:m( 1:f( 2:g( 3:h( 3:out 4:in 4:h) 5:g) 5:g( 6:g) 7:f) 9:m)";

	expect_levels(words, "f", 1, 2,
		      TITLE("1", "1", "f took 0.006 us", "1", "1", "7") "(1) f\n(2) g\n\n");
	expect_levels(words, "f", 1, 1, TITLE("1", "1", "f took 0.006 us", "1", "1", "7")
		      "(1) f\n\n");
}

static void unfinished_calls_count(void **state)
{
	expect("1:f( 2:g( 4:g)", "f", 1,
	       TITLE("1", "1", "f took 0.003 us until the end of the trace", "1", "1", "4")
	       "(1) f\n(1) g\n\n");
}

static void no_call_is_an_error(void **state)
{
	expect("1:f( 2:g( 4:g) 5:f)", "h", 1, "");
	expect("", NULL, 1, "");
}

/* Trees are used again: those kept stay what they are, whatever came between. */
static void few_of_many_are_kept(void **state)
{
	struct ftr_trace *trace = ftr_trace_new("/data/made-up", NULL);
	struct ftr_sink *sink = ftr_slowest_new("f", 4, 0, NULL);
	struct ftr_strbuf words;
	struct ftr_source *source;
	const struct ftr_slowest *slowest;
	uint64_t ns = 1;

	ftr_strbuf_init(&words);
	for (unsigned i = 0; i < 1000; i++) {
		unsigned length = i * 7919 % 1000;	/* each of 0..999 once */

		ftr_strbuf_printf(&words, "%lu:f( ", ns);
		for (unsigned callee = 0; callee < length % 5; callee++)
			ftr_strbuf_printf(&words, "%lu:c%u( %lu:c%u) ", ns, callee, ns, callee);
		ftr_strbuf_printf(&words, "%lu:f) ", ns + length);
		ns += length;
	}
	source = ftr_calls_new(stream_new(trace, ftr_strbuf_str(&words), 3), trace);
	assert_int_equal(ftr_pump(source, sink, trace, NULL, NULL), 0);
	slowest = ftr_slowest_get(sink);
	assert_int_equal(slowest->nr, 4);
	assert_int_equal(slowest->seen_nr, 1000);
	for (unsigned i = 0; i < 4; i++) {
		const struct ftr_slow_call *call = slowest->calls[i];

		assert_int_equal(ftr_slow_call_ns(call), 999 - i);
		assert_int_equal(call->tree.nodes.nr, 1 + (999 - i) % 5);
		assert_int_equal(call->tree.nodes.v[0].total_ns, 999 - i);
	}
	ftr_strbuf_fini(&words);
	ftr_sink_free(sink);
	ftr_source_free(source);
	ftr_trace_free(trace);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(slowest_comes_first),
		cmocka_unit_test(calls_have_their_own_trees),
		cmocka_unit_test(tasks_are_apart),
		cmocka_unit_test(earlier_of_equals_comes_first),
		cmocka_unit_test(without_name_outermost_calls_count),
		cmocka_unit_test(levels_count_from_the_call),
		cmocka_unit_test(unfinished_calls_count),
		cmocka_unit_test(no_call_is_an_error),
		cmocka_unit_test(few_of_many_are_kept),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
