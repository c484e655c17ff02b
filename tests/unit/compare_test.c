/* SPDX-License-Identifier: MIT */
/* Runs of two sides, and limits. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tests/unit/unit.h"

#include "tests/unit/stream.h"
#include "utils/analysis/compare.h"
#include "utils/analysis/limit.h"
#include "utils/analysis/stats.h"
#include "utils/analysis/weight_sums.h"
#include "utils/trace/calls.h"
#include "utils/trace/pump.h"

/* Statistics of a stream: a sink, to be freed with its trace. */
struct counted {
	struct ftr_trace *trace;
	struct ftr_sink *sink;
};

static struct counted count(const char *words)
{
	struct counted counted = { .trace = ftr_trace_new("/data/made-up", NULL) };
	struct ftr_source *source = ftr_calls_new(stream_new(counted.trace, words, 3),
						  counted.trace);

	counted.sink = ftr_stats_new(FTR_STATS_DETAILS, NULL);
	assert_int_equal(ftr_pump(source, counted.sink, counted.trace, NULL, NULL), 0);
	ftr_source_free(source);
	return counted;
}

static void uncount(struct counted *counted)
{
	ftr_sink_free(counted->sink);
	ftr_trace_free(counted->trace);
}

static void add(struct ftr_compare *compare, enum ftr_compare_side side, const char *words)
{
	struct counted run = count(words);

	assert_int_equal(ftr_compare_add(compare, side, ftr_stats_get(run.sink)), 0);
	uncount(&run);
}

/* A run in which f takes @ns. */
static void add_f(struct ftr_compare *compare, enum ftr_compare_side side, unsigned ns)
{
	char words[64];

	snprintf(words, sizeof(words), "1000:f( %u:f)", 1000 + ns);
	add(compare, side, words);
}

static const struct ftr_compare_row *row_of(const struct ftr_compare *compare, const char *name)
{
	for (size_t i = 0; i < compare->rows.nr; i++)
		if (strcmp(compare->rows.v[i].name, name) == 0)
			return &compare->rows.v[i];
	fail_msg("no row of %s", name);
	return NULL;
}

static enum ftr_compare_verdict verdict(const unsigned *base, size_t base_nr, const unsigned *other,
					size_t other_nr, double percent)
{
	const struct ftr_compare_threshold threshold = { .percent = percent };
	struct ftr_compare compare;
	enum ftr_compare_verdict verdict;

	ftr_compare_init(&compare, &ftr_compare_bys[0]);
	for (size_t i = 0; i < base_nr; i++)
		add_f(&compare, FTR_COMPARE_BASE, base[i]);
	for (size_t i = 0; i < other_nr; i++)
		add_f(&compare, FTR_COMPARE_OTHER, other[i]);
	assert_int_equal(ftr_compare_finish(&compare, &threshold), 0);
	verdict = row_of(&compare, "f")->verdict;
	assert_int_equal(compare.worse_nr, verdict == FTR_COMPARE_WORSE);
	assert_int_equal(compare.better_nr, verdict == FTR_COMPARE_BETTER);
	ftr_compare_fini(&compare);
	return verdict;
}

/* By the binomial distribution: what is left out at either end has a chance of 2.5 % at most. */
static void intervals_are_those_of_order_statistics(void **state)
{
	static const struct {
		unsigned runs, left_out;
		double confidence;
	} rows[] = {
		{ 1, 0, 0 },	    { 2, 0, 0.5 },	{ 3, 0, 0.75 },	    { 5, 0, 0.9375 },
		{ 6, 0, 0.96875 },  { 8, 0, 0.9921875 }, { 9, 1, 0.9609375 }, { 15, 3, 0.96484375 },
		{ 20, 5, 0.958610534667969 },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct ftr_compare_threshold threshold = { 0 };
		const struct ftr_compare_row *row;
		struct ftr_compare compare;

		ftr_compare_init(&compare, &ftr_compare_bys[0]);
		for (unsigned at = 0; at < rows[i].runs; at++)	/* in no order */
			add_f(&compare, FTR_COMPARE_BASE, 100 + at * 7 % rows[i].runs);
		assert_int_equal(ftr_compare_finish(&compare, &threshold), 0);
		row = row_of(&compare, "f");
		assert_true(fabs(ftr_compare_confidence(rows[i].runs) - rows[i].confidence) < 1e-9);
		if (rows[i].runs % 7 != 0) {
			assert_float_equal(row->runs[0].low, 100 + rows[i].left_out, 0.01);
			assert_float_equal(row->runs[0].high,
					   99 + rows[i].runs - rows[i].left_out, 0.01);
			assert_float_equal(row->runs[0].median, 99.5 + rows[i].runs / 2.0, 0.01);
		}
		ftr_compare_fini(&compare);
	}
}

#define NR(array) (sizeof(array) / sizeof((array)[0]))

static void noise_is_no_change(void **state)
{
	static const unsigned base[] = { 100, 104, 101, 130, 99, 102 };
	static const unsigned same[] = { 140, 101, 138, 142, 137, 139 };
	static const unsigned slow[] = { 140, 135, 138, 142, 137, 139 };

	assert_int_equal(verdict(base, NR(base), same, NR(same), 5), FTR_COMPARE_SAME);
	assert_int_equal(verdict(base, NR(base), slow, NR(slow), 5), FTR_COMPARE_WORSE);
	assert_int_equal(verdict(slow, NR(slow), base, NR(base), 5), FTR_COMPARE_BETTER);
	assert_int_equal(verdict(base, NR(base), slow, NR(slow), 50), FTR_COMPARE_SAME);
}

static void what_one_side_lacks_is_nothing(void **state)
{
	const struct ftr_compare_threshold threshold = { .percent = 5, .least = 10 };
	struct ftr_compare compare;

	ftr_compare_init(&compare, &ftr_compare_bys[0]);
	add(&compare, FTR_COMPARE_BASE, "1:main( 2:old( 90:old) 100:main)");
	add(&compare, FTR_COMPARE_BASE, "1:main( 100:main)");
	add(&compare, FTR_COMPARE_BASE, "1:main( 2:old( 90:old) 100:main)");
	add(&compare, FTR_COMPARE_OTHER, "1:main( 2:new( 62:new) 70:tiny( 75:tiny) 100:main)");
	assert_int_equal(ftr_compare_finish(&compare, &threshold), 0);
	assert_float_equal(row_of(&compare, "old")->runs[0].low, 0, 0);
	assert_float_equal(row_of(&compare, "old")->runs[0].median, 88, 0);
	assert_int_equal(row_of(&compare, "old")->verdict, FTR_COMPARE_SAME);	/* a run lacks it */
	assert_int_equal(row_of(&compare, "new")->verdict, FTR_COMPARE_WORSE);
	assert_true(isinf(row_of(&compare, "new")->percent));
	assert_int_equal(row_of(&compare, "tiny")->verdict, FTR_COMPARE_SAME);
	assert_int_equal(row_of(&compare, "main")->verdict, FTR_COMPARE_SAME);
	assert_string_equal(compare.rows.v[0].name, "old");	/* most changed */
	ftr_compare_fini(&compare);
}

static void each_number_is_its_own(void **state)
{
	static const double values[] = { 60, 30, 3, 20, 10 };

	for (size_t i = 0; ftr_compare_bys[i].name != NULL; i++) {
		const struct ftr_compare_threshold threshold = { 0 };
		struct ftr_compare compare;

		ftr_compare_init(&compare, &ftr_compare_bys[i]);
		add(&compare, FTR_COMPARE_BASE,
		    "0:f( 5:g( 15:g) 20:f) 20:f( 25:g( 35:g) 40:f) 40:f( 45:g( 55:g) 60:f)");
		assert_int_equal(ftr_compare_finish(&compare, &threshold), 0);
		assert_float_equal(row_of(&compare, "f")->runs[0].median, values[i], 0);
		ftr_compare_fini(&compare);
	}
}

/* ---- limits ---- */

static void note_result(void *arg, const struct ftr_limit_result *result)
{
	char *text = arg;
	size_t len = strlen(text);

	snprintf(text + len, 200 - len, "%s %s %llu %s;", result->limit->kind->name,
		 result->func == NULL ? "-" : result->func, (unsigned long long)result->value,
		 result->is_kept ? "kept" : "broken");
}

static void expect_limit(const char *kind, const char *spec, int broken_nr, const char *expected)
{
	struct counted counted = count("0:f( 5:g( 15:g) 30:f) 30:f( 35:g( 37:g) 40:f) "
				       "50:operator==( 51:operator==)");
	struct ftr_limited limited = { .stats = ftr_stats_get(counted.sink) };
	struct ftr_weight_sum made[] = { { 1, "untraced", 64 }, { UINT32_MAX / 2, "last", 70000 } };
	struct ftr_weight_sums bytes = { .v = { made, 2, 2 } };
	struct ftr_limits limits = { 0 };
	char text[200] = "";

	/* Of g 64 bytes, and of a function that is not traced. */
	for (size_t i = 0; i < limited.stats->funcs.nr; i++)
		if (limited.stats->funcs.v[i].name != NULL &&
		    strcmp(limited.stats->funcs.v[i].name, "g") == 0)
			made[0].name_id = (uint32_t)i;
	limited.weights[FTR_WEIGHT_BYTES] = &bytes;
	assert_int_equal(ftr_limits_add(&limits, kind, spec, FTR_MATCH_REGEX, NULL), 0);
	assert_int_equal(ftr_limits_check(&limits, &limited, note_result, text), broken_nr);
	assert_string_equal(text, expected);
	ftr_limits_fini(&limits);
	uncount(&counted);
}

static void limits_are_inclusive(void **state)
{
	expect_limit("max", "f=30ns", 0, "max f 30 kept;");
	expect_limit("max", "f=29ns", 1, "max f 30 broken;");
	expect_limit("max-avg", "f=20ns", 0, "max-avg f 20 kept;");
	expect_limit("max-total", "f=39ns", 1, "max-total f 40 broken;");
	expect_limit("max-self", "f=28ns", 0, "max-self f 28 kept;");
	expect_limit("max-calls", "f=1", 1, "max-calls f 2 broken;");
	expect_limit("max-calls", "operator===1", 0, "max-calls operator== 1 kept;");
}

static void a_limit_is_for_each_function(void **state)
{
	expect_limit("max", "^[fg]$=12ns", 1, "max f 30 broken;max g 10 kept;");
	expect_limit("max", "h=1s", 1, "max - 0 broken;");
	expect_limit("max-calls", "h=0", 0, "max-calls - 0 kept;");
}

static void limits_of_weights(void **state)
{
	expect_limit("max-bytes", "g=64", 0, "max-bytes g 64 kept;");
	expect_limit("max-bytes", "g=63", 1, "max-bytes g 64 broken;");
	expect_limit("max-bytes", "f=0", 0, "max-bytes f 0 kept;");
	expect_limit("max-bytes", "last=68K", 1, "max-bytes last 70000 broken;");
	expect_limit("max-bytes", "last=69K", 0, "max-bytes last 70000 kept;");
	expect_limit("max-bytes", "h=1M", 1, "max-bytes - 0 broken;");
}

static void wrong_limits_are_refused(void **state)
{
	static const char *const specs[] = { "f", "=5ms", "f=", "f=ms", "f=5parsecs", "f=-1" };

	for (size_t i = 0; i < NR(specs); i++) {
		struct ftr_limits limits = { 0 };
		struct ftr_err err = { 0 };

		assert_int_equal(ftr_limits_add(&limits, "max", specs[i], FTR_MATCH_REGEX, &err),
				 -EINVAL);
		assert_non_null(strstr(err.text, "'"));
		assert_int_equal(ftr_limits_add(&limits, "max-calls", specs[i], FTR_MATCH_REGEX,
						&err), -EINVAL);
		assert_int_equal(ftr_limits_add(&limits, "max-bytes", specs[i], FTR_MATCH_REGEX,
						&err), -EINVAL);
		assert_int_equal(ftr_limits_add(&limits, "max", "(=5ms", FTR_MATCH_REGEX, &err),
				 -EINVAL);
		ftr_limits_fini(&limits);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(intervals_are_those_of_order_statistics),
		cmocka_unit_test(noise_is_no_change),
		cmocka_unit_test(what_one_side_lacks_is_nothing),
		cmocka_unit_test(each_number_is_its_own),
		cmocka_unit_test(limits_are_inclusive),
		cmocka_unit_test(a_limit_is_for_each_function),
		cmocka_unit_test(limits_of_weights),
		cmocka_unit_test(wrong_limits_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
