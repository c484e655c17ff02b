/* SPDX-License-Identifier: MIT */
/* What tasks did in the cells of a range of time, of streams written as text. */
#include "tests/unit/unit.h"

#include <stdio.h>
#include <string.h>

#include "tests/unit/stream.h"
#include "utils/analysis/timeline.h"
#include "utils/base/strbuf.h"
#include "utils/trace/calls.h"
#include "utils/trace/func.h"
#include "utils/trace/pipeline.h"
#include "utils/trace/pump.h"
#include "utils/trace/range.h"
#include "utils/trace/sink.h"

static void put_cell(struct ftr_strbuf *text, const struct ftr_timeline_cell *cell)
{
	ftr_strbuf_printf(text, " %u/%u", (unsigned)cell->busy_ns, cell->depth_max);
	for (size_t i = 0; i < FTR_TIMELINE_SHARES && cell->shares[i].func != NULL; i++)
		ftr_strbuf_printf(text, "%c%s=%u", i == 0 ? ':' : ',', cell->shares[i].func->name,
				  (unsigned)cell->shares[i].self_ns);
}

/* Each row as "T1 BUSY/DEPTH:FUNC=NS,FUNC=NS ...\n". */
static void put_rows(struct ftr_strbuf *text, const struct ftr_timeline *timeline)
{
	for (size_t i = 0; i < timeline->rows.nr; i++) {
		const struct ftr_timeline_row *row = &timeline->rows.v[i];

		ftr_strbuf_printf(text, "T%d", row->task->tid);
		for (size_t j = 0; j < timeline->cell_nr; j++)
			put_cell(text, &row->cells[j]);
		ftr_strbuf_putc(text, '\n');
	}
}

static struct ftr_trace *trace;

static int setup(void **state)
{
	trace = ftr_trace_new("/data/made-up", NULL);
	return trace == NULL ? -1 : 0;
}

static int teardown(void **state)
{
	ftr_trace_free(trace);
	return 0;
}

static void expect_of(struct ftr_source *source, uint64_t from_ns, uint64_t to_ns, size_t cell_nr,
		      const char *expected)
{
	struct ftr_sink *sink = ftr_timeline_new(from_ns, to_ns, cell_nr, NULL);
	struct ftr_strbuf text;

	ftr_strbuf_init(&text);
	assert_int_equal(ftr_pump(source, sink, trace, NULL, NULL), 0);
	put_rows(&text, ftr_timeline_get(sink));
	assert_string_equal(ftr_strbuf_str(&text), expected);
	ftr_strbuf_fini(&text);
	ftr_sink_free(sink);
	ftr_source_free(source);
}

static void expect(const char *words, uint64_t from_ns, uint64_t to_ns, size_t cell_nr,
		   const char *expected)
{
	expect_of(ftr_calls_new(stream_new(trace, words, 3), trace), from_ns, to_ns, cell_nr,
		  expected);
}

static void calls_are_spread_over_cells(void **state)
{
	expect("10:f( 15:g( 35:g) 38:f)", 10, 40, 3,
	       "T1 10/2:f=5,g=5 10/2:g=10 8/2:g=5,f=3\n");
}

static void what_is_outside_is_left_out(void **state)
{
	expect("1:f( 99:f)", 10, 30, 2, "T1 10/1:f=10 10/1:f=10\n");
	expect("1:f( 2:f) 50:f( 60:f)", 10, 30, 2, "T1 0/0 0/0\n");
}

static void tasks_have_rows(void **state)
{
	expect("T2 0:f( T1 0:g( T2 5:h( 9:h) T1 10:g) T2 20:f)", 0, 20, 2,
	       "T2 10/2:f=6,h=4 10/1:f=10\nT1 10/1:g=10 0/0\n");
}

static void waiting_is_not_busy(void **state)
{
	expect("0:f( 4:out 16:in 20:f)", 0, 20, 2, "T1 4/1:f=4 4/1:f=4\n");
}

static void largest_shares_stay(void **state)
{
	expect("0:a( 1:a) 1:b( 4:b) 4:c( 6:c) 6:d( 10:d) 10:a( 11:a)", 0, 12, 1,
	       "T1 11/1:d=4,b=3,a=2\n");
}

/* Also of the last cell, which ends behind the range. */
static void cells_need_not_divide_the_range(void **state)
{
	expect("0:f( 12:f)", 0, 10, 4, "T1 3/1:f=3 3/1:f=3 3/1:f=3 3/1:f=3\n");
	expect("0:f( 2:f)", 0, 1, 3, "T1 1/1:f=1 1/1:f=1 0/0\n");
}

/* A function that takes most of the cell is found among more of them than are counted. */
static void many_functions(void **state)
{
	struct ftr_strbuf words;

	ftr_strbuf_init(&words);
	for (int i = 0; i < 200; i++)
		ftr_strbuf_printf(&words, "%d:f%d( %d:f%d) %d:most( %d:most) ", 10 * i, i,
				  10 * i + 1, i, 10 * i + 1, 10 * i + 10);
	expect_of(ftr_calls_new(stream_new(trace, ftr_strbuf_str(&words), 3), trace), 0, 2000, 1,
		  "T1 2000/1:most=1800,f189=4,f190=4\n");
	ftr_strbuf_fini(&words);
}

/* Calls that were open before a filter by time count from its beginning. */
static void calls_from_before_a_filter(void **state)
{
	struct ftr_pipeline_options options = { .from_ns = 20, .to_ns = 40 };
	struct ftr_source *source = ftr_calls_new(
		stream_new(trace, "0:f( 10:g( 35:g) 60:f)", 3), trace);

	ftr_trace_task_get(trace, 1, 1)->start_ns = 5;
	expect_of(ftr_range_new(source, &options, 0), 20, 40, 2,
		  "T1 10/2:g=10 5/2:g=5\n");
}

/* ... and the task was out then, if it comes in. */
static void waiting_from_before_a_filter(void **state)
{
	struct ftr_pipeline_options options = { .from_ns = 20, .to_ns = 40 };
	struct ftr_source *source = ftr_calls_new(
		stream_new(trace, "0:f( 10:out 35:in 38:f)", 3), trace);

	ftr_trace_task_get(trace, 1, 1)->start_ns = 5;
	expect_of(ftr_range_new(source, &options, 0), 20, 40, 2, "T1 0/0 3/1:f=3\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(calls_are_spread_over_cells, setup, teardown),
		cmocka_unit_test_setup_teardown(what_is_outside_is_left_out, setup, teardown),
		cmocka_unit_test_setup_teardown(tasks_have_rows, setup, teardown),
		cmocka_unit_test_setup_teardown(waiting_is_not_busy, setup, teardown),
		cmocka_unit_test_setup_teardown(largest_shares_stay, setup, teardown),
		cmocka_unit_test_setup_teardown(cells_need_not_divide_the_range, setup, teardown),
		cmocka_unit_test_setup_teardown(many_functions, setup, teardown),
		cmocka_unit_test_setup_teardown(calls_from_before_a_filter, setup, teardown),
		cmocka_unit_test_setup_teardown(waiting_from_before_a_filter, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
