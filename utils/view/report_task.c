/* SPDX-License-Identifier: MIT */
/* report --task: a row for each task. */
#include "utils/base/bits.h"
#include "utils/view/report.h"

#include "utils/analysis/stats.h"
#include "utils/base/duration.h"
#include "utils/base/text.h"
#include "utils/trace/task.h"
#include "utils/view/fields.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
	COLUMN_TOTAL, COLUMN_SELF, COLUMN_TID, COLUMN_CALLS,
	COLUMNS
};

static const struct ftr_field_name names[COLUMNS + 1] = {
	[COLUMN_TOTAL] = { "total" }, [COLUMN_SELF] = { "self" }, [COLUMN_TID] = { "tid" },
	[COLUMN_CALLS] = { "func" },
};

static const char *const heads[COLUMNS][2] = {
	[COLUMN_TOTAL] = { "  Total time", "  ==========" },
	[COLUMN_SELF]  = { "   Self time", "  ==========" },
	[COLUMN_TID]   = { "      TID", "  =======" },
	[COLUMN_CALLS] = { "   Num funcs", "  ==========" },
};

static uint64_t value_of(const struct ftr_task_stat *stat, int column)
{
	switch (column) {
	case COLUMN_TOTAL:
		return stat->total_ns;
	case COLUMN_SELF:
		return stat->self_ns;
	case COLUMN_TID:
		return (uint64_t)(uint32_t)stat->task->tid;
	default:
		return stat->calls;
	}
}

struct sort {
	int keys[COLUMNS];
	unsigned nr;
};

static int compare(const void *a, const void *b, void *arg)
{
	const struct ftr_task_stat *x = *(const struct ftr_task_stat *const *)a;
	const struct ftr_task_stat *y = *(const struct ftr_task_stat *const *)b;
	const struct sort *sort = arg;

	for (unsigned i = 0; i < sort->nr; i++) {
		uint64_t of_x = value_of(x, sort->keys[i]), of_y = value_of(y, sort->keys[i]);

		if (of_x != of_y)
			return of_x < of_y ? 1 : -1;
	}
	return x->task->tid < y->task->tid ? -1 : x->task->tid > y->task->tid;
}

static int parse_sort(struct sort *sort, const char *text, struct ftr_err *err)
{
	struct ftr_slice rest, word;

	if (text == NULL)
		text = "total";
	rest = ftr_slice_make(text, strlen(text));
	while (ftr_slice_split(&rest, ',', &word)) {
		int key = COLUMNS - 1;

		while (key >= 0 && !ftr_slice_eq(word, names[key].name))
			key--;
		if (key < 0)
			return ftr_err_set(
				err, EINVAL,
				"unknown sort key \"%.*s\"; the keys are: total self tid func",
				(int)word.len, word.s);
		if (sort->nr < COLUMNS)
			sort->keys[sort->nr++] = key;
	}
	return 0;
}

static void print_head(uint64_t mask, struct ftr_ostream *out)
{
	static const char *const last[2] = { "  Task name\n", "  ====================\n" };

	for (int line = 0; mask != 0 && line < 2; line++) {
		for (int i = 0; i < COLUMNS; i++)
			if (mask & FTR_BIT64(i))
				ftr_ostream_puts(out, heads[i][line]);
		ftr_ostream_puts(out, last[line]);
	}
}

static void print_row(const struct ftr_task_stat *stat, uint64_t mask, bool use_color,
		      struct ftr_ostream *out)
{
	for (int i = 0; i < COLUMNS; i++) {
		uint64_t value = value_of(stat, i);

		if (!(mask & FTR_BIT64(i)))
			continue;
		ftr_ostream_puts(out, "  ");
		if (i <= COLUMN_SELF)
			ftr_duration_write(out, value, use_color);
		else
			ftr_ostream_u64_width(out, value, i == COLUMN_TID ? 7 : 10, ' ');
	}
	ftr_ostream_printf(out, "  %-16s\n", stat->task->name);
}

int ftr_report_print_tasks(const struct ftr_stats *stats, const struct ftr_report_opts *opts,
			   struct ftr_ostream *out, struct ftr_err *err)
{
	uint64_t mask = FTR_BIT(COLUMNS) - 1;
	const struct ftr_task_stat **rows;
	struct sort sort = { .nr = 0 };
	size_t nr = 0;
	int ret;

	ret = ftr_fields_parse(names, opts->fields, &mask, err);
	if (ret == 0)
		ret = parse_sort(&sort, opts->sort, err);
	if (ret < 0)
		return ret;
	rows = calloc(stats->tasks.nr + 1, sizeof(*rows));
	if (rows == NULL)
		return ftr_err_set(err, ENOMEM, "report: out of memory");
	for (size_t i = 0; i < stats->tasks.nr; i++)
		if (stats->tasks.v[i].calls > 0)
			rows[nr++] = &stats->tasks.v[i];
	qsort_r(rows, nr, sizeof(*rows), compare, &sort);
	print_head(mask, out);
	for (size_t i = 0; i < nr; i++)
		print_row(rows[i], mask, opts->use_color, out);
	free(rows);
	return 0;
}
