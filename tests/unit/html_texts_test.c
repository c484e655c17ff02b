/* SPDX-License-Identifier: MIT */
/* Arguments of a page's calls: which are kept, where there is room and where there is not. */
#include "tests/unit/unit.h"

#include "utils/export/html_spans.h"
#include "utils/export/html_texts.h"
#include "utils/trace/args.h"
#include "utils/trace/func.h"
#include "utils/trace/task.h"

#include <stdlib.h>

struct fixture {
	struct ftr_html_spans spans;
	struct ftr_html_texts texts;
	struct ftr_argspec *spec;	/* (owned) of one number */
	struct ftr_task task;
	struct ftr_func func;
	uint64_t now_ns;
};

static void fixture_open(struct fixture *fixture, size_t span_max, size_t bytes_max)
{
	*fixture = (struct fixture){ .now_ns = 1u << 20 };
	fixture->spec = calloc(1, sizeof(*fixture->spec) + sizeof(fixture->spec->args[0]));
	assert_non_null(fixture->spec);
	fixture->spec->nr = 1;
	fixture->spec->args[0] = (struct ftr_arg){ .index = 1, .format = FTR_ARG_UNSIGNED,
						   .size = sizeof(uint64_t) };
	ftr_html_spans_init(&fixture->spans, span_max);
	ftr_html_texts_init(&fixture->texts, NULL, &fixture->spans, bytes_max);
}

static void fixture_close(struct fixture *fixture)
{
	ftr_html_texts_fini(&fixture->texts);
	ftr_html_spans_fini(&fixture->spans);
	free(fixture->spec);
}

static void take(struct fixture *fixture, const struct ftr_event *ev)
{
	uint32_t number;

	assert_int_equal(ftr_html_texts_event(&fixture->texts, ev, &number), 0);
	assert_int_equal(ftr_html_spans_event(&fixture->spans, ev, number), 0);
}

/* One that took @ns and was given @value. */
static void call(struct fixture *fixture, uint64_t ns, uint64_t value)
{
	struct ftr_payload payload = { .data = (const uint8_t *)&value, .spec = fixture->spec,
				       .len = sizeof(value),
				       .is_big_endian = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ };
	struct ftr_event ev = { .time_ns = fixture->now_ns, .task = &fixture->task,
				.type = FTR_EVENT_ENTRY, .payload = &payload };

	ev.call.func = &fixture->func;
	take(fixture, &ev);
	ev.type = FTR_EVENT_EXIT;
	ev.payload = NULL;
	ev.call.start_ns = ev.time_ns;
	ev.time_ns += ns;
	fixture->now_ns = ev.time_ns + 1;
	value = ~value;			/* nobody may look at it any more */
	take(fixture, &ev);
}

static const struct ftr_html_row *row_of(const struct fixture *fixture)
{
	return &fixture->spans.tasks.v[0].rows.v[0];
}

static void equal_texts_are_kept_once(void **state)
{
	struct fixture fixture;

	fixture_open(&fixture, 1000, 1000);
	for (unsigned i = 0; i < 10; i++)
		call(&fixture, 100, i % 2);
	ftr_html_spans_end(&fixture.spans);
	assert_int_equal(ftr_html_texts_end(&fixture.texts), 0);
	assert_int_equal(fixture.texts.strs.nr, 2);
	assert_string_equal(fixture.texts.strs.v[0]->s, "(0)");
	assert_string_equal(fixture.texts.strs.v[1]->s, "(1)");
	for (unsigned i = 0; i < 10; i++)
		assert_int_equal(row_of(&fixture)->spans.v[i].text, i % 2 + 1);
	fixture_close(&fixture);
}

static void room_is_bounded_and_what_has_none_is_counted(void **state)
{
	struct fixture fixture;
	unsigned with_text = 0;

	fixture_open(&fixture, 10000, 100);
	for (unsigned i = 100; i < 1000; i++)
		call(&fixture, 100, i);
	ftr_html_spans_end(&fixture.spans);
	assert_int_equal(ftr_html_texts_end(&fixture.texts), 0);
	for (size_t i = 0; i < row_of(&fixture)->spans.nr; i++)
		with_text += row_of(&fixture)->spans.v[i].text != 0;
	assert_int_equal(with_text, 20);	/* of 5 bytes each */
	assert_int_equal(fixture.texts.left_out, 900 - 20);
	fixture_close(&fixture);
}

/* Short calls are merged, so that there is room for those of the long ones. */
static void texts_of_merged_calls_make_room(void **state)
{
	struct fixture fixture;
	unsigned with_text = 0, alone = 0;

	fixture_open(&fixture, 100, 200);
	for (unsigned i = 0; i < 1000; i++)
		call(&fixture, i % 50 == 0 ? 1000000 : 10, 1000 + i);
	ftr_html_spans_end(&fixture.spans);
	assert_int_equal(ftr_html_texts_end(&fixture.texts), 0);
	for (size_t i = 0; i < row_of(&fixture)->spans.nr; i++) {
		const struct ftr_html_span *span = &row_of(&fixture)->spans.v[i];

		assert_true(!span->is_run || span->text == 0);
		assert_true(span->text <= fixture.texts.strs.nr);
		with_text += span->text != 0;
		alone += !span->is_run;
	}
	/* For those that came before the first merging, there was none. */
	assert_true(with_text >= 16);
	assert_int_equal(with_text + fixture.texts.left_out, alone);
	assert_true(fixture.texts.bytes <= 200);
	fixture_close(&fixture);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(equal_texts_are_kept_once),
		cmocka_unit_test(room_is_bounded_and_what_has_none_is_counted),
		cmocka_unit_test(texts_of_merged_calls_make_room),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
