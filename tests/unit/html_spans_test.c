/* SPDX-License-Identifier: MIT */
/* Spans of a page, merged: what has to be true of any calls, of made-up trees of them. */
#include "tests/unit/unit.h"

#include "utils/base/vec.h"
#include "utils/export/html_spans.h"
#include "utils/trace/task.h"

#define TASKS 3
#define DEPTHS 12
#define FUNCS 5

struct raw {
	uint64_t start_ns, end_ns;
	uint32_t func;
};

struct story {
	struct ftr_task tasks[TASKS];
	FTR_VEC(struct raw) rows[TASKS][DEPTHS];
	struct ftr_html_spans spans;
	uint64_t random, now_ns;
	unsigned left;			/* calls to be made */
};

static unsigned number(struct story *story, unsigned below)
{
	story->random = story->random * 6364136223846793005u + 1442695040888963407u;
	return (unsigned)(story->random >> 33) % below;
}

static void add(struct story *story, unsigned task, uint32_t depth, struct raw raw)
{
	const struct ftr_html_span span = { .start_ns = raw.start_ns, .end_ns = raw.end_ns,
					    .func = raw.func };

	assert_int_equal(ftr_vec_push(&story->rows[task][depth], raw), 0);
	assert_int_equal(ftr_html_spans_add(&story->spans, &story->tasks[task], depth, span), 0);
	assert_true(story->spans.span_nr <=
		    story->spans.span_max + story->spans.span_max / 2);
}

/* Some take no time, some a thousand times as long as others. */
static uint64_t step(struct story *story)
{
	return number(story, 4) == 0 ? 0 : (uint64_t)number(story, 1u << number(story, 12)) + 1;
}

static void call(struct story *story, unsigned task, uint32_t depth)
{
	struct raw raw = { .start_ns = story->now_ns, .func = number(story, FUNCS) };

	if (number(story, 9) == 0)
		raw.func = FTR_HTML_NOT_RUNNING;
	story->now_ns += step(story);
	while (raw.func != FTR_HTML_NOT_RUNNING && story->left > 0 && depth + 1 < DEPTHS &&
	       number(story, 5) < 2) {
		story->left--;
		call(story, task, depth + 1);
		story->now_ns += step(story) + 1;
	}
	raw.end_ns = story->now_ns;
	add(story, task, depth, raw);
}

static void story_make(struct story *story, uint64_t seed, size_t span_max)
{
	*story = (struct story){ .random = seed, .now_ns = 1000000, .left = 6000 };
	ftr_html_spans_init(&story->spans, span_max);
	for (uint32_t i = 0; i < TASKS; i++)
		story->tasks[i].id = i;
	while (story->left > 0) {
		story->left--;
		call(story, number(story, TASKS), 0);
		story->now_ns += step(story) + 1;
	}
	ftr_html_spans_end(&story->spans);
}

static void story_fini(struct story *story)
{
	for (unsigned task = 0; task < TASKS; task++)
		for (unsigned depth = 0; depth < DEPTHS; depth++)
			ftr_vec_fini(&story->rows[task][depth]);
	ftr_html_spans_fini(&story->spans);
}

/* What a span stands for: the next raw ones of its row, as many as it has time and calls of. */
static void check_span(const struct ftr_html_span *span, const struct raw *raws, size_t nr)
{
	uint64_t by_func[FUNCS + 1] = { 0 }, ns = 0;
	uint32_t calls = 0;

	for (size_t i = 0; i < nr; i++) {
		bool is_call = raws[i].func != FTR_HTML_NOT_RUNNING;

		by_func[is_call ? raws[i].func : FUNCS] += raws[i].end_ns - raws[i].start_ns;
		ns += raws[i].end_ns - raws[i].start_ns;
		calls += is_call;
	}
	assert_int_equal(raws[0].start_ns, span->start_ns);
	assert_int_equal(raws[nr - 1].end_ns, span->end_ns);
	assert_int_equal(ns, span->ns);
	assert_int_equal(calls, span->calls);
	assert_int_equal(nr > 1, span->is_run);
	for (uint32_t func = 0; func <= FUNCS; func++)
		if (by_func[func] > ns - by_func[func])
			assert_int_equal(span->func, func == FUNCS ? FTR_HTML_NOT_RUNNING : func);
}

/* How many raw spans end before the next span of the row begins; instants at its start are its. */
static size_t raw_count(const struct raw *raws, size_t raw_nr, const struct ftr_html_span *span,
			bool is_last)
{
	size_t nr = 1;

	if (is_last)
		return raw_nr;
	while (nr < raw_nr && span->is_run && raws[nr].start_ns < span[1].start_ns)
		nr++;
	return nr;
}

static void check_row(const struct story *story, unsigned task, uint32_t depth)
{
	const struct ftr_html_task *of = &story->spans.tasks.v[task];
	const struct ftr_html_row *row = &of->rows.v[depth];
	uint64_t last_ns = 0, ns = 0, calls = 0, raw_ns = 0, raw_calls = 0;
	const struct raw *raws = story->rows[task][depth].v;
	size_t caller = 0, raw_nr = story->rows[task][depth].nr;

	for (size_t i = 0; i < row->spans.nr; i++) {
		const struct ftr_html_span *span = &row->spans.v[i];
		uint64_t length = span->end_ns - span->start_ns;
		size_t nr = raw_count(raws, raw_nr, span, i + 1 == row->spans.nr);

		check_span(span, raws, nr);
		raws += nr;
		raw_nr -= nr;

		assert_true(span->start_ns >= last_ns && span->end_ns >= span->start_ns);
		assert_true(span->ns <= length);
		last_ns = span->end_ns;
		ns += span->ns;
		calls += span->calls;
		if (span->is_run)
			assert_true(length < 2 * ftr_html_spans_grain_ns(&story->spans));
		else
			assert_int_equal(span->ns, length);
		if (depth == 0)
			continue;
		while (caller < of->rows.v[depth - 1].spans.nr &&
		       of->rows.v[depth - 1].spans.v[caller].end_ns < span->end_ns)
			caller++;
		assert_true(caller < of->rows.v[depth - 1].spans.nr);
		assert_true(of->rows.v[depth - 1].spans.v[caller].start_ns <= span->start_ns);
	}
	for (size_t i = 0; i < story->rows[task][depth].nr; i++) {
		const struct raw *raw = &story->rows[task][depth].v[i];

		raw_ns += raw->end_ns - raw->start_ns;
		raw_calls += raw->func != FTR_HTML_NOT_RUNNING;
	}
	assert_int_equal(ns, raw_ns);
	assert_int_equal(calls, raw_calls);
}

static void check_story(const struct story *story)
{
	for (unsigned task = 0; task < story->spans.tasks.nr; task++) {
		const struct ftr_html_task *of = &story->spans.tasks.v[task];

		for (uint32_t depth = 0; depth < of->rows.nr; depth++)
			check_row(story, task, depth);
	}
}

static void nothing_is_lost_or_moved(void **state)
{
	static const size_t room[] = { 100, 300, 1000, 3000, 100000 };

	for (uint64_t seed = 1; seed <= 20; seed++) {
		for (size_t i = 0; i < sizeof(room) / sizeof(room[0]); i++) {
			struct story story;

			story_make(&story, seed, room[i]);
			assert_true(story.spans.span_nr <= room[i]);
			assert_int_equal(story.spans.left_out, 0);
			assert_int_equal(story.spans.grain_bits != 0, room[i] < 6000);
			check_story(&story);
			story_fini(&story);
		}
	}
}

static const struct ftr_task lonely;

/* Adds calls of these times, each of the next function, one directly after the other. */
static void add_times(struct ftr_html_spans *spans, const uint64_t *times, size_t nr)
{
	uint64_t now_ns = (uint64_t)1 << 20;

	for (uint32_t i = 0; i < nr; i++) {
		const struct ftr_html_span span = { .start_ns = now_ns,
						    .end_ns = now_ns + times[i],
						    .func = i % 3, .text = i + 1 };

		assert_int_equal(ftr_html_spans_add(spans, &lonely, 0, span), 0);
		now_ns = span.end_ns;
	}
	ftr_html_spans_end(spans);
}

static void a_run_is_called_as_most_of_it(void **state)
{
	static const uint64_t times[] = { 30, 10, 50, 20, 10, 70 };	/* 0: 50, 1: 20, 2: 120 */
	struct ftr_html_spans spans = { .span_nr = 0 };
	const struct ftr_html_span *span;

	ftr_html_spans_init(&spans, 1);
	add_times(&spans, times, 6);
	assert_int_equal(spans.span_nr, 1);
	span = &spans.tasks.v[0].rows.v[0].spans.v[0];
	assert_true(span->is_run);
	assert_int_equal(span->calls, 6);
	assert_int_equal(span->ns, 190);
	assert_int_equal(span->func, 2);
	assert_int_equal(span->text, 0);
	ftr_html_spans_fini(&spans);
}

static void what_is_long_stays_alone(void **state)
{
	static const uint64_t times[] = { 3, 4, 100000, 5, 6, 3, 200000, 2 };
	struct ftr_html_spans spans = { .span_nr = 0 };
	const struct ftr_html_row *row;

	ftr_html_spans_init(&spans, 5);
	add_times(&spans, times, 8);
	row = &spans.tasks.v[0].rows.v[0];
	assert_int_equal(row->spans.nr, 5);
	assert_int_equal(row->spans.v[0].calls, 2);
	assert_int_equal(row->spans.v[1].ns, 100000);
	assert_int_equal(row->spans.v[1].text, 3);
	assert_int_equal(row->spans.v[2].calls, 3);
	assert_int_equal(row->spans.v[3].ns, 200000);
	assert_false(row->spans.v[4].is_run);
	ftr_html_spans_fini(&spans);
}

/* A tower of calls cannot be merged, only cut. */
static void what_is_too_deep_is_counted(void **state)
{
	struct ftr_html_spans spans = { .span_nr = 0 };

	ftr_html_spans_init(&spans, 1000);
	for (uint32_t depth = 5000; depth-- > 0;) {
		const struct ftr_html_span span = { .start_ns = 10000 + depth,
						    .end_ns = 30000 - depth };

		assert_int_equal(ftr_html_spans_add(&spans, &lonely, depth, span), 0);
	}
	ftr_html_spans_end(&spans);
	assert_true(spans.span_nr <= 1000);
	assert_true(spans.span_nr > 100);
	assert_int_equal(spans.span_nr + spans.left_out, 5000);
	assert_int_equal(spans.tasks.v[0].rows.v[0].spans.nr, 1);
	ftr_html_spans_fini(&spans);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_is_lost_or_moved),
		cmocka_unit_test(a_run_is_called_as_most_of_it),
		cmocka_unit_test(what_is_long_stays_alone),
		cmocka_unit_test(what_is_too_deep_is_counted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
