/* SPDX-License-Identifier: MIT */
/* See report_range.h. */
#include "utils/view/report_range.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "utils/base/text.h"

#define WHOLE_MAX 1e15L			/* numbers beyond it have no fractions to be seen */

static const char *const suffixes[REPORT_RANGE_KINDS] = {
	[REPORT_RANGE_MIN] = "-min", [REPORT_RANGE_AVG] = "-avg", [REPORT_RANGE_MAX] = "-max",
};

/* Bytes of the value's name before one of the suffixes; 0 = there is none. */
static size_t name_bytes(struct ftr_slice word)
{
	for (unsigned i = 0; i < REPORT_RANGE_KINDS; i++) {
		size_t len = strlen(suffixes[i]);

		if (word.len > len && memcmp(word.s + word.len - len, suffixes[i], len) == 0)
			return word.len - len;
	}
	return 0;
}

/* Does the word name a value's column?  Then its name is kept, unless it is. */
static int word_take(struct ftr_report_ranges *ranges, struct ftr_slice word, struct ftr_err *err)
{
	size_t len = name_bytes(word);
	struct ftr_value_name name;
	char *text;

	if (len == 0 || len >= FTR_REPORT_RANGE_BYTES)
		return 0;
	if (ranges->nr == FTR_VALUE_RANGES_MAX)
		return ftr_err_set(err, E2BIG, "more than %d values", FTR_VALUE_RANGES_MAX);
	text = ranges->texts[ranges->nr];
	snprintf(text, FTR_REPORT_RANGE_BYTES, "%.*s", (int)len, word.s);
	if (!ftr_value_name_parse(&name, text))
		return 0;
	for (unsigned i = 0; i < ranges->nr; i++) {
		if (strcmp(ranges->texts[i], text) == 0)
			return 0;
	}
	ranges->names[ranges->nr++] = name;
	return 0;
}

static int words_take(struct ftr_report_ranges *ranges, const char *text, struct ftr_err *err)
{
	struct ftr_slice rest, word;
	int ret = 0;

	if (text == NULL)
		return 0;
	rest = ftr_slice_make(text + (*text == '+'), strlen(text + (*text == '+')));
	while (ret == 0 && ftr_slice_split(&rest, ',', &word))
		ret = word_take(ranges, ftr_slice_trim(word), err);
	return ret;
}

int ftr_report_ranges_find(struct ftr_report_ranges *ranges, const struct ftr_report_opts *opts,
			   struct ftr_err *err)
{
	int ret;

	ranges->nr = 0;
	ret = words_take(ranges, opts->fields, err);
	return ret == 0 ? words_take(ranges, opts->sort, err) : ret;
}

void report_ranges_init(struct report_ranges *ranges, const struct ftr_sums *sums)
{
	ranges->column_nr = sums->range_nr * REPORT_RANGE_KINDS;
	for (unsigned i = 0; i < ranges->column_nr; i++)
		snprintf(ranges->names[i], sizeof(ranges->names[i]), "%s%s",
			 sums->range_names[i / REPORT_RANGE_KINDS],
			 suffixes[i % REPORT_RANGE_KINDS]);
}

bool report_range_value(const struct ftr_sums *sums, size_t row, unsigned column,
			long double *value)
{
	const struct ftr_value_range *range =
		&sums->ranges.v[row * sums->range_nr + column / REPORT_RANGE_KINDS];

	switch ((enum report_range_kind)(column % REPORT_RANGE_KINDS)) {
	case REPORT_RANGE_MIN:
		*value = range->min;
		break;
	case REPORT_RANGE_AVG:
		*value = range->nr == 0 ? 0 : range->sum / (long double)range->nr;
		break;
	default:
		*value = range->max;
		break;
	}
	return range->nr != 0;
}

void report_range_print(const struct ftr_sums *sums, size_t row, unsigned column,
			struct ftr_ostream *out)
{
	char text[64] = "-";
	long double value;

	if (report_range_value(sums, row, column, &value))
		snprintf(text, sizeof(text), value > -WHOLE_MAX && value < WHOLE_MAX &&
			 value != (long double)(int64_t)value ? "%.3Lf" : "%.0Lf", value);
	ftr_ostream_printf(out, "  %*s", REPORT_RANGE_WIDTH, text);
}
