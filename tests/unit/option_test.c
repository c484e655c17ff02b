/* SPDX-License-Identifier: MIT */
/* Option tables: parsing, messages, help. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <string.h>

#include "utils/base/closest.h"
#include "utils/base/option.h"
#include "utils/base/ostream.h"
#include "utils/cli/common.h"
#include "utils/cli/completion.h"
#include "utils/cli/parse.h"

struct values {
	struct ftr_common common;
	bool flat;
	uint64_t depth, bytes, ns;
	int shape;
	struct ftr_opt_list filters;
};

static const char *const shapes[] = { "round", "square", NULL };

static const struct ftr_option table[] = {
	FTR_OPTION_GROUP(ftr_common_options, struct values, common),
	FTR_OPTION("flat", 0, NULL, "Flat", ftr_opt_flag, struct values, flat),
	FTR_OPTION("depth", 'D', "DEPTH", "Depth", ftr_opt_u64, struct values, depth, .min = 1,
		   .max = 100),
	FTR_OPTION("buffer", 'b', "SIZE", "Bytes", ftr_opt_size, struct values, bytes),
	FTR_OPTION("time-filter", 't', "TIME", "Time", ftr_opt_time, struct values, ns),
	FTR_OPTION("shape", 0, "SHAPE", "Shape", ftr_opt_choice, struct values, shape,
		   .words = shapes),
	FTR_OPTION("filter", 'F', "FUNC", "A text that is so long that it does not fit into the "
		   "line that it begins in, so it is broken", ftr_opt_list, struct values, filters),
	{ 0 }
};

#define ARGV(...) { (char *)"test", ##__VA_ARGS__, NULL }
#define PARSE(stops, ...)                                                                         \
	do {                                                                                      \
		char *words[] = ARGV(__VA_ARGS__);                                                \
		memcpy(argv, words, sizeof(words));                                               \
		first = ftr_options_parse(table, &values,                                         \
					  (int)(sizeof(words) / sizeof(*words)) - 1, argv, stops, \
					  &outcome, &err);                                        \
	} while (0)

static struct values values;
static struct ftr_err err;
static char *argv[20];
static struct ftr_options_outcome outcome;
static int first;

static int setup(void **state)
{
	ftr_options_fini(table, &values);
	memset(&values, 0, sizeof(values));
	memset(&err, 0, sizeof(err));
	return 0;
}

static void values_are_set(void **state)
{
	PARSE(false, "-d", "x", "--flat", "-D5", "--buffer=4K", "-t", "10us", "--shape", "square",
	      "--color=no", "-vv");
	assert_int_equal(first, 12);
	assert_int_equal(outcome.asked, 0);
	assert_string_equal(values.common.data, "x");
	assert_true(values.flat);
	assert_int_equal(values.depth, 5);
	assert_int_equal(values.bytes, 4096);
	assert_int_equal(values.ns, 10000);
	assert_int_equal(values.shape, 1);
	assert_int_equal(values.common.color, FTR_COLOR_NO);
	assert_int_equal(values.common.verbose, 2);
}

static void lists_keep_their_order(void **state)
{
	PARSE(false, "-F", "one", "--filter=two", "-Fthree");
	assert_int_equal(values.filters.nr, 3);
	assert_string_equal(values.filters.v[0], "one");
	assert_string_equal(values.filters.v[2], "three");
}

static void operands_move_behind(void **state)
{
	PARSE(false, "a", "--flat", "b", "-D", "2");
	assert_int_equal(first, 4);
	assert_string_equal(argv[4], "a");
	assert_string_equal(argv[5], "b");
	assert_true(values.flat);
}

static void parsing_stops_at_the_program(void **state)
{
	PARSE(true, "--flat", "prog", "--depth", "x");
	assert_int_equal(first, 2);
	assert_string_equal(argv[first], "prog");
	assert_int_equal(values.depth, 0);
}

static void names_may_be_short(void **state)
{
	PARSE(false, "--sha=square", "--dep=3");
	assert_int_equal(values.shape, 1);
	assert_int_equal(values.depth, 3);
}

static void help_and_version(void **state)
{
	PARSE(false, "--flat", "--help", "--nonsense");
	assert_int_equal(outcome.asked, FTR_OPTIONS_HELP);
	PARSE(false, "-V");
	assert_int_equal(outcome.asked, FTR_OPTIONS_VERSION);
}

#define REFUSED(part, ...) \
	do { \
		PARSE(false, __VA_ARGS__); \
		assert_int_equal(first, -EINVAL); \
		assert_non_null(strstr(err.text, part)); \
	} while (0)

static void mistakes_are_explained(void **state)
{
	REFUSED("did you mean --flat?", "--flta");
	REFUSED("unknown option -j", "-j");
	REFUSED("--depth: requires an argument: DEPTH", "--depth");
	REFUSED("--depth: requires an argument: DEPTH", "-D");
	REFUSED("--flat: takes no argument", "--flat=1");
	REFUSED("--depth: \"many\" is not a number", "--depth=many");
	REFUSED("the minimum is 1", "-D", "0");
	REFUSED("the maximum is 100", "-D", "101");
	REFUSED("is not a size", "-b", "4X");
	REFUSED("is not a time", "-t", "4parsec");
	REFUSED("not one of: round, square", "--shape=oval");
	REFUSED("not one of: yes, no, auto", "--color=perhaps");
	REFUSED("does not support this uftrace option yet", "--kernel-depth", "2");
	REFUSED("does not support this uftrace option yet", "-k");
	REFUSED("is ambiguous: --flat --flame-graph", "--fla=1", "--fl");
}

/* Two formats that share an option, and one that has none. */
struct pictures {
	bool flat;
	uint64_t height;
	struct ftr_option_values of_formats;
};

struct size {
	uint64_t width, height;
};

static const struct size size_defaults = { .width = 640 };
static const struct ftr_option svg_options[] = {
	FTR_OPTION("width", 0, "N", "Columns", ftr_opt_u64, struct size, width, .max = 999),
	{ 0 }
};
static const struct ftr_option html_options[] = {
	FTR_OPTION("width", 0, "N", "Columns", ftr_opt_u64, struct size, width, .max = 999),
	FTR_OPTION("height", 0, "N", "Lines", ftr_opt_u64, struct size, height),
	{ 0 }
};

static bool picture_options(size_t *pos, struct ftr_option_set *set)
{
	static const struct ftr_option_set sets[] = {
		{ "text", NULL, 0, NULL },
		{ "svg", svg_options, sizeof(struct size), &size_defaults },
		{ "html", html_options, sizeof(struct size), &size_defaults },
	};

	if (*pos >= sizeof(sets) / sizeof(sets[0]))
		return false;
	*set = sets[(*pos)++];
	return true;
}

static const char *picture_next(size_t *pos)
{
	struct ftr_option_set set;

	return picture_options(pos, &set) ? set.owner : NULL;
}

/* Sets may stand in a group. */
static const struct ftr_option picture_group[] = {
	FTR_OPTION_SETS(picture_options, struct pictures, of_formats),
	FTR_OPTION("flat", 0, "WHAT", "Flat", ftr_opt_flag, struct pictures, flat,
		   .next_word = picture_next),
	FTR_OPTION("height", 0, "N", "Of all pictures", ftr_opt_u64, struct pictures, height),
	{ 0 }
};
static const struct ftr_option picture_table[] = {
	{ .group = picture_group }, { 0 }
};

static void pictures_parse(struct pictures *pictures, char *word)
{
	char *words[] = ARGV(word);

	memset(pictures, 0, sizeof(*pictures));
	ftr_options_init(picture_table, pictures);
	first = ftr_options_parse(picture_table, pictures, 2, words, false, &outcome, &err);
}

static const struct size *size_of(const struct pictures *pictures, const char *owner)
{
	return ftr_option_values_get(&pictures->of_formats, picture_options, owner);
}

static int check_for(const struct pictures *pictures, const char *owner)
{
	return ftr_option_values_check(&pictures->of_formats, picture_options, owner, "format",
				       &err);
}

static void members_have_options_of_their_own(void **state)
{
	struct pictures pictures;

	pictures_parse(&pictures, "--flat=x");
	assert_null(size_of(&pictures, "text"));
	assert_int_equal(size_of(&pictures, "html")->width, 640);
	assert_int_equal(check_for(&pictures, NULL), 0);
	assert_null(ftr_option_values_given(&pictures.of_formats, picture_options, "html"));
	pictures_parse(&pictures, "--height=5");
	assert_ptr_equal(ftr_option_values_given(&pictures.of_formats, picture_options, "html"),
			 size_of(&pictures, "html"));
	assert_null(ftr_option_values_given(&pictures.of_formats, picture_options, "svg"));
	assert_int_equal(size_of(&pictures, "html")->height, 5);
	assert_int_equal(pictures.height, 5);	/* the command shares it */
	assert_int_equal(size_of(&pictures, "svg")->height, 0);
	assert_int_equal(check_for(&pictures, "html"), 0);
	assert_int_equal(check_for(&pictures, "svg"), -EINVAL);
	assert_string_equal(err.text, "--height requires --format=html");
	assert_int_equal(check_for(&pictures, NULL), -EINVAL);
}

static const struct ftr_option svg_row[] = {
	{ .name = "svg", .help = "Same as --picture=svg", .parse = ftr_opt_flag }, { 0 }
};

static bool row_options(size_t *pos, struct ftr_option_set *set)
{
	*set = (struct ftr_option_set){ .options = *pos == 1 ? svg_row : NULL };
	return (*pos)++ < 2;
}

static void members_may_fill_what_the_command_has(void **state)
{
	static const struct ftr_option rows[] = {
		FTR_OPTION_SETS(row_options, struct pictures, flat), { 0 }
	};
	struct pictures pictures = { 0 };
	char *words[] = ARGV("--svg");

	first = ftr_options_parse(rows, &pictures, 2, words, false, &outcome, &err);
	assert_int_equal(first, 2);
	assert_true(pictures.flat);
}

static void members_may_share_an_option(void **state)
{
	struct pictures pictures;

	pictures_parse(&pictures, "--width=7");
	assert_int_equal(size_of(&pictures, "svg")->width, 7);
	assert_int_equal(size_of(&pictures, "html")->width, 7);
	assert_int_equal(check_for(&pictures, "svg"), 0);
	assert_int_equal(check_for(&pictures, "html"), 0);
	assert_int_equal(check_for(&pictures, "text"), -EINVAL);
	pictures_parse(&pictures, "--width=1000");
	assert_int_equal(first, -EINVAL);
	assert_string_equal(err.text, "--width: 1000 is too large; the maximum is 999");
}

static void help_names_members_and_words(void **state)
{
	struct ftr_ostream out;

	assert_int_equal(ftr_ostream_to_memory(&out), 0);
	ftr_options_print_help(picture_table, &out);
	ftr_ostream_putc(&out, '\0');
	assert_non_null(strstr(out.buf, "--height=N             html: Lines\n"));
	assert_null(strstr(out.buf, "Of all pictures"));	/* listed once */
	assert_non_null(strstr(out.buf, "--flat=WHAT            Flat: text, svg, html\n"));
	ftr_ostream_close(&out, NULL);
}

static void closest_is_near(void **state)
{
	struct ftr_closest closest = { .distance = 0 };

	ftr_closest_try(&closest, "repaly", "record");
	assert_string_equal(closest.name, "");
	assert_string_equal(ftr_closest_ask(&closest, "", "; see --help"), "; see --help");
	ftr_closest_try(&closest, "repaly", "replay");
	assert_string_equal(closest.name, "replay");
	assert_int_equal(closest.distance, 1);
	ftr_closest_try(&closest, "repaly", "repair");
	assert_string_equal(closest.name, "replay");
}

static void swapped_letters_are_one_mistake(void **state)
{
	struct ftr_closest closest = { .distance = 0 };

	ftr_closest_try(&closest, "flta", "flat");
	assert_int_equal(closest.distance, 1);
	assert_string_equal(ftr_closest_ask(&closest, "--", ""), "; did you mean --flat?");
}

static void help_is_in_columns(void **state)
{
	struct ftr_ostream out;

	assert_int_equal(ftr_ostream_to_memory(&out), 0);
	ftr_options_print_help(table, &out);
	ftr_ostream_putc(&out, '\0');
	assert_non_null(strstr(out.buf, "\n  -D, --depth=DEPTH          Depth\n"));
	assert_non_null(strstr(out.buf, "\n      --flat                 Flat\n"));
	assert_non_null(strstr(out.buf, "not fit into\n                             the line"));
	assert_null(strstr(out.buf, "--debug"));	/* an old spelling */
	ftr_ostream_close(&out, NULL);
}

static void completion_names_everything(void **state)
{
	static const struct ftr_completion_command commands[] = {
		{ "draw", "Draw a user's shape", table, false }, { 0 }
	};
	struct ftr_ostream out;

	assert_int_equal(ftr_ostream_to_memory(&out), 0);
	ftr_completion_bash(commands, &out);
	ftr_completion_zsh(commands, &out);
	ftr_ostream_putc(&out, '\0');
	assert_non_null(strstr(out.buf, "--shape) words=\"round square\""));
	assert_non_null(strstr(out.buf, "--time-filter= "));
	assert_non_null(strstr(out.buf, "'draw:Draw a user'\\''s shape'"));
	assert_non_null(strstr(out.buf, "'--shape=[Shape]:SHAPE:(round square)'"));
	ftr_ostream_close(&out, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(values_are_set, setup),
		cmocka_unit_test_setup(lists_keep_their_order, setup),
		cmocka_unit_test_setup(operands_move_behind, setup),
		cmocka_unit_test_setup(parsing_stops_at_the_program, setup),
		cmocka_unit_test_setup(names_may_be_short, setup),
		cmocka_unit_test_setup(help_and_version, setup),
		cmocka_unit_test_setup(mistakes_are_explained, setup),
		cmocka_unit_test_setup(members_have_options_of_their_own, setup),
		cmocka_unit_test_setup(members_may_fill_what_the_command_has, setup),
		cmocka_unit_test_setup(members_may_share_an_option, setup),
		cmocka_unit_test(help_names_members_and_words),
		cmocka_unit_test(closest_is_near),
		cmocka_unit_test(swapped_letters_are_one_mistake),
		cmocka_unit_test(help_is_in_columns),
		cmocka_unit_test_setup(completion_names_everything, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
