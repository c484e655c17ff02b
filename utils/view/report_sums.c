/* SPDX-License-Identifier: MIT */
/* report --by: system calls, files, processes, events or callers, a row each. */
#include "utils/base/bits.h"
#include "utils/view/report.h"

#include "utils/analysis/sums.h"
#include "utils/base/duration.h"
#include "utils/base/text.h"
#include "utils/view/fields.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define SORT_KEYS_MAX 8
#define NAME_WIDTH 20

enum {
	COLUMN_ELAPSED,
	COLUMN_TOTAL,
	COLUMN_AVG,
	COLUMN_MIN,
	COLUMN_MAX,
	COLUMN_CALLS,
	COLUMN_ERRORS,
	COLUMN_OPENS,
	COLUMN_READS,
	COLUMN_WRITES,
	COLUMN_FORKS,
	COLUMN_PROCESSES,
	COLUMN_STATUS,
	COLUMN_PID,
	COLUMN_BYTES,
	COLUMN_LIVE_BYTES,
	COLUMN_LIVE_BLOCKS,
	COLUMNS
};

#define ONE(name) FTR_BIT64(COLUMN_##name)
#define TIMES (ONE(ELAPSED) | ONE(TOTAL) | ONE(AVG) | ONE(MIN) | ONE(MAX))

static const struct ftr_field_name names[COLUMNS + 1] = {
	[COLUMN_ELAPSED] = { "elapsed" }, [COLUMN_TOTAL] = { "total" },
	[COLUMN_AVG] = { "total-avg" },   [COLUMN_MIN] = { "total-min" },
	[COLUMN_MAX] = { "total-max" },   [COLUMN_CALLS] = { "call" },
	[COLUMN_ERRORS] = { "error" },    [COLUMN_OPENS] = { "open" },
	[COLUMN_READS] = { "read" },      [COLUMN_WRITES] = { "write" },
	[COLUMN_FORKS] = { "fork" },      [COLUMN_PROCESSES] = { "process" },
	[COLUMN_STATUS] = { "status" },   [COLUMN_PID] = { "pid" },
	[COLUMN_BYTES] = { "bytes" },     [COLUMN_LIVE_BYTES] = { "live-bytes" },
	[COLUMN_LIVE_BLOCKS] = { "live-blocks" },
};

static const struct {
	const char *head;
	int width;
} columns[COLUMNS] = {
	[COLUMN_ELAPSED] = { "Elapsed", 10 }, [COLUMN_TOTAL] = { "Total time", 10 },
	[COLUMN_AVG] = { "Total avg", 10 },   [COLUMN_MIN] = { "Total min", 10 },
	[COLUMN_MAX] = { "Total max", 10 },   [COLUMN_CALLS] = { "Calls", 8 },
	[COLUMN_ERRORS] = { "Errors", 8 },    [COLUMN_OPENS] = { "Opens", 8 },
	[COLUMN_READS] = { "Reads", 8 },      [COLUMN_WRITES] = { "Writes", 8 },
	[COLUMN_FORKS] = { "Forks", 8 },      [COLUMN_PROCESSES] = { "Processes", 9 },
	[COLUMN_STATUS] = { "Status", 6 },    [COLUMN_PID] = { "PID", 7 },
	[COLUMN_BYTES] = { "Bytes", 12 },     [COLUMN_LIVE_BYTES] = { "Live bytes", 12 },
	[COLUMN_LIVE_BLOCKS] = { "Live blocks", 11 },
};

/* What stands where unless one asks for other columns or another order. */
static const struct {
	const char *head;
	uint64_t mask;
	int sort;
} tables[] = {
	[FTR_SUMS_BY_CALL] = { "Call", ONE(TOTAL) | ONE(AVG) | ONE(CALLS) | ONE(ERRORS),
				   COLUMN_TOTAL },
	[FTR_SUMS_BY_FILE] = { "File", ONE(CALLS) | ONE(ERRORS) | ONE(READS) | ONE(WRITES) |
						   ONE(PROCESSES), COLUMN_CALLS },
	[FTR_SUMS_BY_PROCESS] = { "Command", ONE(ELAPSED) | ONE(TOTAL) | ONE(CALLS) |
							 ONE(ERRORS) | ONE(FORKS) | ONE(STATUS) |
							 ONE(PID), COLUMN_ELAPSED },
	[FTR_SUMS_BY_EVENT] = { "Event", ONE(TOTAL) | ONE(AVG) | ONE(MIN) | ONE(MAX) | ONE(CALLS),
				COLUMN_CALLS },
	[FTR_SUMS_BY_CALLER] = { "Caller", ONE(CALLS) | ONE(BYTES) | ONE(LIVE_BYTES) |
						   ONE(LIVE_BLOCKS), COLUMN_LIVE_BYTES },
	[FTR_SUMS_BY_LOCK] = { "Lock", ONE(TOTAL) | ONE(AVG) | ONE(MIN) | ONE(MAX) | ONE(CALLS),
			       COLUMN_TOTAL },
	[FTR_SUMS_BY_VALUE] = { "Call", ONE(TOTAL) | ONE(AVG) | ONE(MIN) | ONE(MAX) | ONE(CALLS),
				COLUMN_TOTAL },
};

struct sort {
	int keys[SORT_KEYS_MAX];	/* COLUMNS = by name */
	unsigned nr;
};

/* -1 = not known. */
static int64_t value_of(const struct ftr_sum *row, int column)
{
	switch (column) {
	case COLUMN_ELAPSED:	return (int64_t)(row->end_ns - row->start_ns);
	case COLUMN_TOTAL:	return (int64_t)row->total_ns;
	case COLUMN_AVG:	return row->calls > 0 ? (int64_t)(row->total_ns / row->calls) : 0;
	case COLUMN_MIN:	return (int64_t)row->min_ns;
	case COLUMN_MAX:	return (int64_t)row->max_ns;
	case COLUMN_CALLS:	return (int64_t)row->calls;
	case COLUMN_ERRORS:	return (int64_t)row->errors;
	case COLUMN_OPENS:	return (int64_t)row->opens;
	case COLUMN_READS:	return (int64_t)row->reads;
	case COLUMN_WRITES:	return (int64_t)row->writes;
	case COLUMN_FORKS:	return (int64_t)row->forks;
	case COLUMN_PROCESSES:	return (int64_t)row->processes;
	case COLUMN_STATUS:	return row->status;
	case COLUMN_BYTES:	return (int64_t)row->bytes;
	case COLUMN_LIVE_BYTES:	return (int64_t)row->live_bytes;
	case COLUMN_LIVE_BLOCKS: return (int64_t)row->live_blocks;
	default:		return row->pid;
	}
}

static int compare(const void *a, const void *b, void *arg)
{
	const struct ftr_sum *x = *(const struct ftr_sum *const *)a;
	const struct ftr_sum *y = *(const struct ftr_sum *const *)b;
	const struct sort *sort = arg;
	int by_name = strcmp(x->name, y->name);

	for (unsigned i = 0; i < sort->nr; i++) {
		int64_t of_x = sort->keys[i] < COLUMNS ? value_of(x, sort->keys[i]) : -by_name;
		int64_t of_y = sort->keys[i] < COLUMNS ? value_of(y, sort->keys[i]) : 0;

		if (of_x != of_y)
			return of_x < of_y ? 1 : -1;
	}
	return by_name != 0 ? by_name : (x->pid > y->pid) - (x->pid < y->pid);
}

static int parse_sort(struct sort *sort, const char *text, struct ftr_err *err)
{
	struct ftr_slice rest = ftr_slice_make(text, strlen(text)), word;

	while (ftr_slice_split(&rest, ',', &word)) {
		int key = 0;

		while (key < COLUMNS && !ftr_slice_eq(word, names[key].name))
			key++;
		if (key == COLUMNS && !ftr_slice_eq(word, "name"))
			return ftr_fields_refuse_key(names, "name", word, err);
		if (sort->nr == SORT_KEYS_MAX)
			return ftr_err_set(err, EINVAL, "more than %d sort keys", SORT_KEYS_MAX);
		sort->keys[sort->nr++] = key;
	}
	return 0;
}

static void print_head(const char *last, uint64_t mask, struct ftr_ostream *out)
{
	if (mask == 0)
		return;
	for (int i = 0; i < COLUMNS; i++)
		if (mask & FTR_BIT64(i))
			ftr_ostream_printf(out, "  %*s", columns[i].width, columns[i].head);
	ftr_ostream_printf(out, "  %s\n", last);
	for (int i = 0; i < COLUMNS; i++) {
		if ((mask & FTR_BIT64(i)) == 0)
			continue;
		ftr_ostream_puts(out, "  ");
		ftr_ostream_pad(out, '=', (size_t)columns[i].width);
	}
	ftr_ostream_puts(out, "  ");
	ftr_ostream_pad(out, '=', NAME_WIDTH);
	ftr_ostream_putc(out, '\n');
}

/* On one line, whatever stands in it. */
static void print_name(const char *name, struct ftr_ostream *out)
{
	for (; *name != '\0'; name++) {
		if (*name == '\n')
			ftr_ostream_puts(out, "\\n");
		else
			ftr_ostream_putc(out, *name);
	}
}

static void print_row(const struct ftr_sum *row, uint64_t mask, bool use_color,
		      struct ftr_ostream *out)
{
	for (int i = 0; i < COLUMNS; i++) {
		int64_t value = value_of(row, i);

		if ((mask & FTR_BIT64(i)) == 0)
			continue;
		ftr_ostream_puts(out, "  ");
		if (TIMES & FTR_BIT64(i))
			ftr_duration_write(out, (uint64_t)value, use_color);
		else if (value < 0)
			ftr_ostream_printf(out, "%*s", columns[i].width, "?");
		else
			ftr_ostream_u64_width(out, (uint64_t)value, (unsigned)columns[i].width,
					      ' ');
	}
	ftr_ostream_puts(out, "  ");
	print_name(row->name, out);
	ftr_ostream_putc(out, '\n');
}

int ftr_report_print_sums(const struct ftr_sums *sums, int by,
			      const struct ftr_report_opts *opts, struct ftr_ostream *out,
			      struct ftr_err *err)
{
	const struct ftr_sum **rows;
	uint64_t mask = tables[by].mask;
	struct sort sort = { .keys = { tables[by].sort }, .nr = opts->sort == NULL };
	int ret = ftr_fields_parse(names, opts->fields, &mask, err);

	if (ret == 0 && opts->sort != NULL)
		ret = parse_sort(&sort, opts->sort, err);
	if (ret < 0)
		return ret;
	rows = calloc(sums->rows.nr + 1, sizeof(*rows));
	if (rows == NULL)
		return ftr_err_set(err, ENOMEM, "report: out of memory");
	for (size_t i = 0; i < sums->rows.nr; i++)
		rows[i] = &sums->rows.v[i];
	qsort_r(rows, sums->rows.nr, sizeof(*rows), compare, &sort);
	print_head(tables[by].head, mask, out);
	for (size_t i = 0; i < sums->rows.nr; i++)
		if (rows[i]->calls > 0)
			print_row(rows[i], mask, opts->use_color, out);
	free(rows);
	return 0;
}
