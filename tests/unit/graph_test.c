/* SPDX-License-Identifier: MIT */
/* Trees of made-up streams, and their text. */
#include "tests/unit/unit.h"

#include "tests/unit/stream.h"
#include "utils/analysis/graph.h"
#include "utils/analysis/graph_focus.h"
#include "utils/base/ostream.h"
#include "utils/trace/calls.h"
#include "utils/trace/pump.h"
#include "utils/view/graph.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct fixture {
	struct ftr_trace *trace;
	struct ftr_sink *sink;
	struct ftr_graph *graph;
};

static void fixture_open(struct fixture *fixture, const char *words)
{
	struct ftr_source *source;

	fixture->trace = ftr_trace_new("/data/made-up", NULL);
	source = ftr_calls_new(stream_new(fixture->trace, words, 3), fixture->trace);
	fixture->sink = ftr_graph_new(true, NULL);
	assert_int_equal(ftr_pump(source, fixture->sink, fixture->trace, NULL, NULL), 0);
	ftr_source_free(source);
	fixture->graph = ftr_graph_get(fixture->sink);
}

static void fixture_close(struct fixture *fixture)
{
	ftr_sink_free(fixture->sink);
	ftr_trace_free(fixture->trace);
}

static void expect_text(const char *words, struct ftr_graph_opts opts, const char *expected)
{
	struct fixture fixture;
	struct ftr_ostream out;

	fixture_open(&fixture, words);
	assert_int_equal(ftr_ostream_to_memory(&out), 0);
	assert_int_equal(ftr_graph_print(fixture.graph, &opts, &out, NULL), 0);
	ftr_ostream_putc(&out, '\0');
	assert_string_equal(out.buf, expected);
	ftr_ostream_close(&out, NULL);
	fixture_close(&fixture);
}

#define GRAPH "========== FUNCTION CALL GRAPH ==========\n"
#define TITLE "# Function Call Graph for 'made-up'\n" GRAPH

static void branches_move_right(void **state)
{
	expect_text("1:a( 2:b( 3:c( 4:c) 5:b) 6:d( 7:e( 8:e) 9:f( 10:f) 11:d) 12:a) 13:g( 14:g)",
		    (struct ftr_graph_opts){ .fields = "none" },
		    TITLE
		    "(1) made-up\n"
		    " +-(1) a\n"
		    " |  +-(1) b\n"
		    " |  | (1) c\n"
		    " |  | \n"
		    " |  +-(1) d\n"
		    " |     +-(1) e\n"
		    " |     | \n"
		    " |     +-(1) f\n"
		    " | \n"
		    " +-(1) g\n\n");
}

static void only_callees_stand_below(void **state)
{
	expect_text("1:a( 2:b( 3:b( 4:b) 5:b) 6:a)", (struct ftr_graph_opts){ .fields = "self" },
		    TITLE
		    "#  SELF TIME   FUNCTION\n"
		    "             : (1) made-up\n"
		    "    0.002 us : (1) a\n"
		    "    0.002 us : (1) b\n"
		    "    0.001 us : (1) b\n\n");
}

static void times_are_of_the_path(void **state)
{
	struct fixture fixture;
	const struct ftr_graph_node *nodes, *leaf;

	fixture_open(&fixture,
		     "1:a( 2:leaf( 4:leaf) 5:b( 6:leaf( 16:leaf) 17:b) 20:leaf( 25:leaf) 30:a)");
	nodes = fixture.graph->nodes.v;
	leaf = &nodes[nodes[nodes[0].first_child].first_child];
	assert_string_equal(leaf->name, "leaf");
	assert_int_equal(leaf->calls, 2);
	assert_int_equal(leaf->total_ns, 7);
	assert_int_equal(leaf->total_span.min_ns, 2);
	assert_int_equal(leaf->self_span.max_ns, 5);
	assert_int_equal(nodes[0].total_ns, 29);
	assert_int_equal(nodes[nodes[0].first_child].self_ns, 29 - 2 - 12 - 5);
	fixture_close(&fixture);
}

/* Task after task, as the pipeline hands them out for sums: the order is still that of time. */
static void siblings_are_in_order_of_time(void **state)
{
	expect_text("T1 10:a( 20:a) 50:c( 60:c) T2 1:b( 5:a( 6:a) 9:b) 30:d( 40:d)",
		    (struct ftr_graph_opts){ .fields = "none" },
		    TITLE
		    "(1) made-up\n"
		    " +-(1) b\n"
		    " | (1) a\n"
		    " | \n"
		    " +-(1) a\n"
		    " | \n"
		    " +-(1) d\n"
		    " | \n"
		    " +-(1) c\n\n");
}

/* Where the keys are equal, the first call decides. */
static void siblings_are_sorted_by_keys(void **state)
{
	static const char words[] = "1:a( 2:b( 3:b) 4:d( 9:d) 10:b( 11:b) 12:c( 17:c) 20:a)";

	expect_text(words, (struct ftr_graph_opts){ .fields = "none", .sort = "total" },
		    TITLE "(1) made-up\n(1) a\n +-(1) d\n | \n +-(1) c\n | \n +-(2) b\n\n");
	expect_text(words, (struct ftr_graph_opts){ .fields = "none", .sort = "call,func" },
		    TITLE "(1) made-up\n(1) a\n +-(2) b\n | \n +-(1) c\n | \n +-(1) d\n\n");
}

static void scheduled_out_is_a_callee(void **state)
{
	expect_text("10:a( 11:out 15:in 20:a) 21:out 22:in", (struct ftr_graph_opts){ 0 },
		    TITLE
		    "# TOTAL TIME   FUNCTION\n"
		    "    0.011 us : (1) made-up\n"
		    "    0.010 us :  +-(1) a\n"
		    "    0.004 us :  | (1) linux:schedule\n"
		    "             :  | \n"
		    "    0.001 us :  +-(1) linux:schedule\n\n");
}

static void function_has_backtraces(void **state)
{
	expect_text(
		"1:a( 2:leaf( 3:leaf) 4:b( 5:leaf( 6:x( 7:x) 9:leaf) 10:leaf( 11:leaf) 12:b) 13:a)",
		(struct ftr_graph_opts){ .func = "leaf" },
		"# Function Call Graph for 'leaf'\n"
		"=============== BACKTRACE ===============\n"
		" backtrace #0: hit 2, time   0.005 us\n"
		"   [0] a (0x0)\n"
		"   [1] b (0x0)\n"
		"   [2] leaf (0x0)\n\n"
		" backtrace #1: hit 1, time   0.001 us\n"
		"   [0] a (0x0)\n"
		"   [1] leaf (0x0)\n\n" GRAPH "# TOTAL TIME   FUNCTION\n"
		"    0.006 us : (3) leaf\n"
		"    0.001 us : (1) x\n\n");
}

/* Levels count from the function, and anew from each call it makes of itself. */
static void levels_count_from_the_function(void **state)
{
	static const char words[] =
		"1:m( 2:f( 3:g( 4:h( 5:f( 6:g( 7:g) 8:f) 9:h) 10:g) 11:f) 12:m)";
	static const char head[] = "# Function Call Graph for 'f'\n"
				   "=============== BACKTRACE ===============\n"
				   " backtrace #0: hit 1, time   0.009 us\n"
				   "   [0] m (0x0)\n"
				   "   [1] f (0x0)\n\n" GRAPH;
	char expected[500];

	stpcpy(stpcpy(expected, head), "(1) f\n(1) f\n\n");
	expect_text(words, (struct ftr_graph_opts){ .fields = "none", .func = "f", .levels = 1 },
		    expected);
	stpcpy(stpcpy(expected, head), "(1) f\n(1) g\n(1) f\n(1) g\n\n");
	expect_text(words, (struct ftr_graph_opts){ .fields = "none", .func = "f", .levels = 2 },
		    expected);
}

static void forked_children_repeat_no_call(void **state)
{
	struct fixture fixture = { .trace = ftr_trace_new("t", NULL) };
	struct ftr_task *child = ftr_trace_task_get(fixture.trace, 2, 2);
	const struct ftr_func *func = ftr_trace_func_by_name(fixture.trace, NULL, "main", 4);
	struct ftr_event evs[2] = {
		{ .type = FTR_EVENT_ENTRY, .task = child, .time_ns = 10, .call = { .func = func },
		  .flags = FTR_EVENT_NO_ENTRY | FTR_EVENT_INFERRED },
		{ .type = FTR_EVENT_EXIT, .task = child, .time_ns = 15, .flags = FTR_EVENT_NO_ENTRY,
		  .call = { .func = func, .start_ns = 10 } },
	};
	const struct ftr_graph_node *node;

	child->is_forked = true;
	fixture.sink = ftr_graph_new(true, NULL);
	fixture.sink->ops->begin(fixture.sink, fixture.trace);
	assert_int_equal(fixture.sink->ops->batch(fixture.sink, evs, 2), 0);
	node = &ftr_graph_get(fixture.sink)->nodes.v[1];
	assert_int_equal(node->calls, 0);
	assert_int_equal(node->total_ns, 5);
	assert_int_equal(node->total_span.max_ns, 0);
	fixture_close(&fixture);
}

/* Neither the stack nor the time may depend on the depth but in proportion. */
static void depth_has_no_limit(void **state)
{
	struct ftr_graph_opts opts = { .fields = "none", .func = "leaf" };
	enum { DEPTH = 100000 };
	struct ftr_strbuf words;
	struct fixture fixture;
	struct ftr_ostream out;
	char *more;

	ftr_strbuf_init(&words);
	for (int i = 0; i < DEPTH; i++)
		ftr_strbuf_printf(&words, "%d:f( ", i + 1);
	ftr_strbuf_printf(&words, "%d:leaf( %d:leaf)", DEPTH + 1, DEPTH + 2);
	fixture_open(&fixture, ftr_strbuf_str(&words));
	assert_int_equal(ftr_ostream_to_memory(&out), 0);
	assert_int_equal(ftr_graph_print(fixture.graph, &opts, &out, NULL), 0);
	ftr_ostream_putc(&out, '\0');
	more = strstr(out.buf, "   [31] f (0x0)\n   ... 99937 more\n   [99969] f (0x0)\n");
	assert_non_null(more);
	assert_non_null(strstr(more, "   [100000] leaf (0x0)\n"));
	opts.func = NULL;
	assert_int_equal(ftr_graph_print(fixture.graph, &opts, &out, NULL), 0);
	ftr_ostream_close(&out, NULL);
	fixture_close(&fixture);
	ftr_strbuf_fini(&words);
}

/* Two callees at each level: the indentation stops growing, and says where it is. */
static void indentation_has_a_limit(void **state)
{
	struct ftr_graph_opts opts = { .fields = "none" };
	enum { DEPTH = 3000 };
	struct ftr_strbuf words;
	struct fixture fixture;
	struct ftr_ostream out;

	ftr_strbuf_init(&words);
	for (int i = 0; i < DEPTH; i++)
		ftr_strbuf_printf(&words, "%d:f( %d:g( %d:g) ", 3 * i + 1, 3 * i + 2, 3 * i + 3);
	fixture_open(&fixture, ftr_strbuf_str(&words));
	assert_int_equal(ftr_ostream_to_memory(&out), 0);
	assert_int_equal(ftr_graph_print(fixture.graph, &opts, &out, NULL), 0);
	ftr_ostream_putc(&out, '\0');
	assert_non_null(strstr(out.buf, "    +-[2047](1) f\n"));
	assert_null(strstr(out.buf, "[1024]"));
	ftr_ostream_close(&out, NULL);
	fixture_close(&fixture);
	ftr_strbuf_fini(&words);
}

static void nothing_is_said_to_be_nothing(void **state)
{
	struct ftr_graph_opts opts = { .func = "b" };
	struct fixture fixture;
	struct ftr_ostream out;
	bool has_details;

	fixture_open(&fixture, "1:a( 2:a)");
	assert_int_equal(ftr_ostream_to_memory(&out), 0);
	assert_int_equal(ftr_graph_print(fixture.graph, &opts, &out, NULL), -ENOENT);
	assert_int_equal(out.len, 0);
	opts.fields = "total,nonsense";
	assert_int_equal(ftr_graph_check_fields(&opts, &has_details, NULL), -EINVAL);
	opts.fields = "+self-avg";
	assert_int_equal(ftr_graph_check_fields(&opts, &has_details, NULL), 0);
	assert_false(has_details);
	opts.fields = "all";
	assert_int_equal(ftr_graph_check_fields(&opts, &has_details, NULL), 0);
	assert_true(has_details);
	ftr_ostream_close(&out, NULL);
	fixture_close(&fixture);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(branches_move_right),
		cmocka_unit_test(only_callees_stand_below),
		cmocka_unit_test(times_are_of_the_path),
		cmocka_unit_test(siblings_are_in_order_of_time),
		cmocka_unit_test(siblings_are_sorted_by_keys),
		cmocka_unit_test(scheduled_out_is_a_callee),
		cmocka_unit_test(function_has_backtraces),
		cmocka_unit_test(levels_count_from_the_function),
		cmocka_unit_test(forked_children_repeat_no_call),
		cmocka_unit_test(depth_has_no_limit),
		cmocka_unit_test(indentation_has_a_limit),
		cmocka_unit_test(nothing_is_said_to_be_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
