/* SPDX-License-Identifier: MIT */
/* Exports of the call tree. */
#include <string.h>

#include "tests/unit/unit.h"

#include "tests/unit/stream.h"
#include "utils/base/ostream.h"
#include "utils/format/format.h"
#include "utils/trace/calls.h"
#include "utils/trace/pump.h"

union values {
	uint64_t align;
	unsigned char bytes[64];
};

/* Defaults, and one option as the command line gives it. */
static const void *values_of(const struct ftr_format *format, const char *name, const char *arg,
			     union values *values)
{
	const struct ftr_option *row = format->options;

	assert_true(format->values_bytes <= sizeof(values->bytes));
	memcpy(values->bytes, format->defaults, format->values_bytes);
	while (strcmp(row->name, name) != 0)
		row++;
	assert_int_equal(row->parse(row, values->bytes + row->offset, arg, NULL), 0);
	return values->bytes;
}

static void expect_text(const char *format, const char *sample_time, const char *words,
			const char *expected)
{
	struct ftr_trace *trace = ftr_trace_new("/data/made-up", NULL);
	struct ftr_source *source = ftr_calls_new(stream_new(trace, words, 3), trace);
	struct ftr_ostream out;
	struct ftr_sink *sink;
	union values values;

	assert_int_equal(ftr_ostream_to_memory(&out), 0);
	sink = ftr_sink_new(ftr_format_find(format)->write, &out, NULL);
	if (sample_time != NULL)
		sink->values = values_of(ftr_format_find(format), "sample-time", sample_time,
					 &values);
	assert_int_equal(ftr_pump(source, sink, trace, NULL, NULL), 0);
	ftr_ostream_putc(&out, '\0');
	assert_string_equal(out.buf, expected);
	ftr_ostream_close(&out, NULL);
	ftr_sink_free(sink);
	ftr_source_free(source);
	ftr_trace_free(trace);
}

/* What makes no whole sample counts for the caller. */
static void no_time_is_lost_or_counted_twice(void **state)
{
	static const char words[] = "1000:a( 1500:b( 2200:b) 2300:c( 4600:c) 5000:a)";

	expect_text("flame-graph", NULL, words, "a 2\na;c 2\n");
	expect_text("flame-graph", "100ns", words, "a 10\na;b 7\na;c 23\n");
	expect_text("flame-graph", "5us", words, "");
}

static void names_make_no_levels(void **state)
{
	expect_text("flame-graph", "1ns", "1:a;b( 2:c( 3:c) 4:d( 5:d) 6:a;b) 7:e( 9:e)",
		    "a:b 3\na:b;c 1\na:b;d 1\ne 2\n");
}

static void events_outside_of_calls_are_left_out(void **state)
{
	expect_text("flame-graph", "1ns", "1:out 2:in 3:a( 4:out 6:in 7:a) 8:out 9:in",
		    "a 2\na;linux:schedule 2\n");
}

#define FUNC(id, label, time, saturation) \
	"    \"" id "\" [label = \"" label "\\n" time "\", style = filled, " \
	"fillcolor = \"0.000 " saturation " 1.000\"]\n"
#define EDGE(from, to, calls, time, weight, width) \
	"    \"" from "\" -> \"" to "\" [xlabel = \"" calls "\", label = \"" time "\", " \
	"weight = " weight ", penwidth = " width "]\n"

/* However many lines of callers lead to a pair; time inside of itself counts once. */
static void digraphs_have_an_edge_a_pair(void **state)
{
	expect_text("graphviz", NULL,
		    "1:a( 1:c( 3:c) 3:b( 3:a( 3:c( 4:c) 4:a) 5:b) 5:a) 6:c( 7:c) T2 1:a( 1:c( 9:c) 9:a)",
		    "\ndigraph \"made-up\" { \n"
		    FUNC("made-up", "made-up", "0 us", "0.000")
		    FUNC("a", "a", "0 us", "0.000")
		    FUNC("c", "c", "0.012 us", "1.000")
		    FUNC("b", "b", "0.001 us", "0.083")
		    EDGE("made-up", "a", "2", "0.012 us", "100", "6.00")
		    EDGE("made-up", "c", "1", "0.001 us", "9", "1.42")
		    EDGE("a", "c", "3", "0.011 us", "91", "5.58")
		    EDGE("a", "b", "1", "0.002 us", "17", "1.83")
		    EDGE("b", "a", "1", "0 us", "1", "1.00")
		    "}\n");
}

static void drawings_have_an_edge_a_node(void **state)
{
	static const char words[] = "1:a( 2:b\"\\<( 3:a( 4:a) 5:b\"\\<) 6:a) 7:a( 8:a)";

	expect_text("graphviz", NULL, words,
		    "\ndigraph \"made-up\" { \n"
		    FUNC("made-up", "made-up", "0 us", "0.000")
		    FUNC("a", "a", "0.004 us", "1.000")
		    FUNC("b\\\"\\\\<", "b\\\"\\\\<", "0.002 us", "0.500")
		    EDGE("made-up", "a", "2", "0.006 us", "100", "6.00")
		    EDGE("a", "b\\\"\\\\<", "1", "0.003 us", "50", "3.50")
		    EDGE("b\\\"\\\\<", "a", "1", "0 us", "1", "1.00")
		    "}\n");
	expect_text("mermaid", NULL, words,
		    "flowchart TB\n"
		    "    n0[\"made-up\"]\n"
		    "    n1[\"a\"]\n"
		    "    n0 -->|2| n1\n"
		    "    n2[\"b#34;\\#60;\"]\n"
		    "    n1 -->|1| n2\n"
		    "    n3[\"a\"]\n"
		    "    n2 -->|1| n3\n");
}

static void nothing_is_no_graph(void **state)
{
	expect_text("flame-graph", NULL, "", "");
	expect_text("graphviz", NULL, "", "\ndigraph \"\" { \n}\n");
	expect_text("mermaid", NULL, "", "flowchart TB\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_time_is_lost_or_counted_twice),
		cmocka_unit_test(names_make_no_levels),
		cmocka_unit_test(events_outside_of_calls_are_left_out),
		cmocka_unit_test(digraphs_have_an_edge_a_pair),
		cmocka_unit_test(drawings_have_an_edge_a_node),
		cmocka_unit_test(nothing_is_no_graph),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
