/* SPDX-License-Identifier: MIT */
/* Watching sources, and ending them early. */
#include <string.h>

#include "tests/unit/unit.h"

#include "tests/unit/stream.h"
#include "utils/trace/calls.h"
#include "utils/trace/source.h"
#include "utils/trace/watch.h"

#define CALLS 40000	/* of two events each */

static unsigned tick_nr;
static uint64_t ticked_events;

static void count_tick(struct ftr_watch *watch)
{
	assert_true(watch->events > ticked_events);
	ticked_events = watch->events;
	tick_nr++;
}

static void end_at_tick(struct ftr_watch *watch)
{
	watch->is_ending = 1;
}

static char *many_calls(void)
{
	struct ftr_strbuf words;

	ftr_strbuf_init(&words);
	ftr_strbuf_puts(&words, "1:main(");
	for (unsigned i = 0; i < CALLS; i++)
		ftr_strbuf_printf(&words, " %u:f( %u:f)", 2 * i + 2, 2 * i + 3);
	return ftr_strbuf_take(&words);
}

/* How many events come out, closed calls included. */
static size_t read_all(struct ftr_watch *watch, struct ftr_event *last)
{
	struct ftr_trace *trace = ftr_trace_new("/data/made-up", NULL);
	char *words = many_calls();
	struct ftr_source *source = ftr_watch_new(stream_new(trace, words, 100), watch);
	struct ftr_event *evs;
	size_t all = 0;
	ssize_t nr;

	source = ftr_calls_new(source, trace);
	while ((nr = ftr_source_next(source, &evs, NULL)) > 0) {
		all += (size_t)nr;
		*last = evs[nr - 1];
	}
	assert_int_equal(nr, 0);
	ftr_source_free(source);
	ftr_trace_free(trace);
	free(words);
	return all;
}

static void everything_is_counted(void **state)
{
	struct ftr_watch watch = { .tick = count_tick };
	struct ftr_event last;

	tick_nr = 0;
	ticked_events = 0;
	assert_int_equal(read_all(&watch, &last), 2 * CALLS + 2);	/* main's exit is made up */
	assert_int_equal(watch.events, 2 * CALLS + 1);
	assert_true(tick_nr > 10);
	assert_false(watch.was_ended);
}

static void an_early_end_closes_what_is_open(void **state)
{
	struct ftr_watch watch = { .tick = end_at_tick };
	struct ftr_event last;
	size_t nr = read_all(&watch, &last);

	assert_true(nr > 100 && nr < CALLS);
	assert_true(watch.was_ended);
	assert_int_equal(last.type, FTR_EVENT_EXIT);
	assert_int_equal(last.depth, 0);
	assert_true(last.flags & FTR_EVENT_UNFINISHED);
}

static void what_has_ended_anyway_lost_nothing(void **state)
{
	struct ftr_watch watch = { .tick = NULL };
	struct ftr_event last;

	read_all(&watch, &last);
	watch.is_ending = 1;
	assert_false(watch.was_ended);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(everything_is_counted),
		cmocka_unit_test(an_early_end_closes_what_is_open),
		cmocka_unit_test(what_has_ended_anyway_lost_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
