/* SPDX-License-Identifier: MIT */
/*
 * What ftr diff shows:
 *
 *	#     base        from          to       other        from          to     change  function
 *	  1.100 ms    1.090 ms    1.140 ms    1.402 ms    1.380 ms    1.420 ms     +27.5%  parse
 */
#include "utils/view/diff.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "utils/analysis/compare.h"
#include "utils/base/color.h"
#include "utils/base/text.h"
#include "utils/view/json.h"

#define VALUE_WIDTH  10
#define CHANGE_WIDTH 9
#define CELL_BYTES   64
#define PERCENT_MAX  99999.0	/* more is shown as this much */

static bool is_shown(const struct ftr_compare_row *row, const struct ftr_diff_opts *opts)
{
	return opts->shows_all || row->verdict != FTR_COMPARE_SAME;
}

/* ---- text ---- */

static void put_value(struct ftr_ostream *out, const struct ftr_compare_by *by, double value)
{
	char text[CELL_BYTES];

	if (by->is_time)
		*ftr_fmt_duration(text, (uint64_t)value) = '\0';
	else
		snprintf(text, sizeof(text), "%*.0f", VALUE_WIDTH, value);
	ftr_ostream_puts(out, by->is_time && value < 1 ? "      0 us" : text);
}

/* The median, and from where to where it may be. */
static void put_runs(struct ftr_ostream *out, const struct ftr_compare *compare,
		     const struct ftr_compare_row *row, enum ftr_compare_side side)
{
	const struct ftr_compare_runs *runs = &row->runs[side];

	put_value(out, compare->by, runs->median);
	if (compare->run_nr[FTR_COMPARE_BASE] < 2 && compare->run_nr[FTR_COMPARE_OTHER] < 2)
		return;
	ftr_ostream_puts(out, "  ");
	put_value(out, compare->by, runs->low);
	ftr_ostream_puts(out, "  ");
	put_value(out, compare->by, runs->high);
}

static void put_change(struct ftr_ostream *out, const struct ftr_compare_row *row, bool use_color)
{
	static const char *const colors[] = {
		[FTR_COMPARE_WORSE] = FTR_SGR_RED,
		[FTR_COMPARE_BETTER] = FTR_SGR_GREEN,
	};
	const char *color = use_color ? colors[row->verdict] : NULL;
	char text[CELL_BYTES];

	if (row->runs[FTR_COMPARE_BASE].median == 0 && row->delta > 0)
		snprintf(text, sizeof(text), "new");
	else
		snprintf(text, sizeof(text), "%+.1f%%", fmin(row->percent, PERCENT_MAX));
	if (color != NULL)
		ftr_ostream_puts(out, color);
	ftr_ostream_pad(out, ' ', CHANGE_WIDTH - strnlen(text, CHANGE_WIDTH));
	ftr_ostream_puts(out, text);
	if (color != NULL)
		ftr_ostream_puts(out, FTR_SGR_RESET);
}

static void put_head(const struct ftr_compare *compare, struct ftr_ostream *out)
{
	bool has_intervals = compare->run_nr[FTR_COMPARE_BASE] > 1 ||
			     compare->run_nr[FTR_COMPARE_OTHER] > 1;
	const char *between = has_intervals ? "       from          to" : "";
	size_t nr[FTR_COMPARE_SIDES] = { compare->run_nr[FTR_COMPARE_BASE],
					 compare->run_nr[FTR_COMPARE_OTHER] };

	ftr_ostream_printf(out, "# %s of each function; base: %zu run%s, other: %zu run%s\n",
			   compare->by->name, nr[0], nr[0] == 1 ? "" : "s", nr[1],
			   nr[1] == 1 ? "" : "s");
	if (has_intervals)
		ftr_ostream_printf(out,
				   "# medians, and where they lie with a confidence of %.0f%% and "
				   "%.0f%%\n",
				   100 * ftr_compare_confidence(nr[0]),
				   100 * ftr_compare_confidence(nr[1]));
	else
		ftr_ostream_puts(out,
				 "# one run each: how much of a change is chance is not known\n");
	ftr_ostream_printf(out, "# %8s%s  %10s%s     change  function\n", "base", between, "other",
			   between);
}

void ftr_diff_print(const struct ftr_compare *compare, const struct ftr_diff_opts *opts,
		    struct ftr_ostream *out)
{
	put_head(compare, out);
	for (size_t i = 0; i < compare->rows.nr; i++) {
		const struct ftr_compare_row *row = &compare->rows.v[i];

		if (!is_shown(row, opts))
			continue;
		put_runs(out, compare, row, FTR_COMPARE_BASE);
		ftr_ostream_puts(out, "  ");
		put_runs(out, compare, row, FTR_COMPARE_OTHER);
		ftr_ostream_puts(out, "  ");
		put_change(out, row, opts->use_color);
		ftr_ostream_puts(out, "  ");
		ftr_ostream_write(out, row->name, row->name_len);
		ftr_ostream_putc(out, '\n');
	}
	ftr_ostream_printf(out, "# %zu function%s, %zu worse, %zu better\n", compare->rows.nr,
			   compare->rows.nr == 1 ? "" : "s", compare->worse_nr, compare->better_nr);
}

/* ---- JSON ---- */

static void put_runs_json(struct ftr_json *line, const char *key,
			  const struct ftr_compare_runs *runs)
{
	ftr_json_open(line, key);
	ftr_json_double(line, "median", runs->median);
	ftr_json_double(line, "low", runs->low);
	ftr_json_double(line, "high", runs->high);
	ftr_json_close(line);
}

void ftr_diff_print_json(const struct ftr_compare *compare, const struct ftr_diff_opts *opts,
			 struct ftr_ostream *out)
{
	static const char *const verdicts[] = {
		[FTR_COMPARE_SAME] = "same",
		[FTR_COMPARE_WORSE] = "worse",
		[FTR_COMPARE_BETTER] = "better",
	};
	struct ftr_json line;

	for (size_t i = 0; i < compare->rows.nr; i++) {
		const struct ftr_compare_row *row = &compare->rows.v[i];

		if (!is_shown(row, opts))
			continue;
		ftr_json_begin(&line, out, "change");
		ftr_json_string(&line, "func", row->name, row->name_len);
		ftr_json_text(&line, "by", compare->by->name);
		put_runs_json(&line, "base", &row->runs[FTR_COMPARE_BASE]);
		put_runs_json(&line, "other", &row->runs[FTR_COMPARE_OTHER]);
		ftr_json_double(&line, "delta", row->delta);
		ftr_json_double(&line, "percent", row->percent);
		ftr_json_text(&line, "verdict", verdicts[row->verdict]);
		ftr_json_end(&line);
	}
	ftr_json_begin(&line, out, "diff");
	ftr_json_u64(&line, "funcs", compare->rows.nr);
	ftr_json_u64(&line, "worse", compare->worse_nr);
	ftr_json_u64(&line, "better", compare->better_nr);
	ftr_json_u64(&line, "base_runs", compare->run_nr[FTR_COMPARE_BASE]);
	ftr_json_u64(&line, "other_runs", compare->run_nr[FTR_COMPARE_OTHER]);
	ftr_json_end(&line);
}
