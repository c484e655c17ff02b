/* SPDX-License-Identifier: MIT */
/* report --by: system calls, files, processes, events, callers or leaks, a row each. */
#include "utils/base/bits.h"
#include "utils/view/report.h"

#include "utils/analysis/sums.h"
#include "utils/base/duration.h"
#include "utils/base/text.h"
#include "utils/view/fields.h"
#include "utils/view/report_range.h"

#include <assert.h>
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
	COLUMN_READ_BYTES,
	COLUMN_WRITTEN_BYTES,
	COLUMN_SELF_SAMPLES,
	COLUMN_SAMPLES,
	COLUMN_SELF,
	COLUMNS
};

#define ONE(name) FTR_BIT64(COLUMN_##name)
#define TIMES (ONE(ELAPSED) | ONE(TOTAL) | ONE(AVG) | ONE(MIN) | ONE(MAX) | ONE(SELF))

#define COLUMNS_MAX (COLUMNS + REPORT_RANGE_COLUMNS)
static_assert(COLUMNS_MAX < 64, "a mask has a bit for each");

static const struct ftr_field_name fixed_names[COLUMNS] = {
	[COLUMN_ELAPSED] = { "elapsed" }, [COLUMN_TOTAL] = { "total" },
	[COLUMN_AVG] = { "total-avg" },   [COLUMN_MIN] = { "total-min" },
	[COLUMN_MAX] = { "total-max" },   [COLUMN_CALLS] = { "call" },
	[COLUMN_ERRORS] = { "error" },    [COLUMN_OPENS] = { "open" },
	[COLUMN_READS] = { "read" },      [COLUMN_WRITES] = { "write" },
	[COLUMN_FORKS] = { "fork" },      [COLUMN_PROCESSES] = { "process" },
	[COLUMN_STATUS] = { "status" },   [COLUMN_PID] = { "pid" },
	[COLUMN_BYTES] = { "bytes" },     [COLUMN_LIVE_BYTES] = { "live-bytes" },
	[COLUMN_LIVE_BLOCKS] = { "live-blocks" },
	[COLUMN_READ_BYTES] = { "read-bytes" },
	[COLUMN_WRITTEN_BYTES] = { "written-bytes" },
	[COLUMN_SELF_SAMPLES] = { "self-samples" },
	[COLUMN_SAMPLES] = { "samples" }, [COLUMN_SELF] = { "self" },
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
	[COLUMN_READ_BYTES] = { "Bytes read", 12 },
	[COLUMN_WRITTEN_BYTES] = { "Written", 12 },
	[COLUMN_SELF_SAMPLES] = { "Self samples", 12 },
	[COLUMN_SAMPLES] = { "Samples", 8 }, [COLUMN_SELF] = { "Self time", 10 },
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
	[FTR_SUMS_BY_SAMPLE] = { "Function", ONE(SELF_SAMPLES) | ONE(SAMPLES) | ONE(SELF) |
						     ONE(CALLS), COLUMN_SELF_SAMPLES },
	[FTR_SUMS_BY_SOCKET] = { "Socket", 0, COLUMN_TOTAL },
	[FTR_SUMS_BY_LEAK] = { "Caller", ONE(LIVE_BYTES) | ONE(LIVE_BLOCKS) | ONE(BYTES) |
						 ONE(CALLS), COLUMN_LIVE_BYTES },
	[FTR_SUMS_BY_RANGE] = { "Function", ONE(TOTAL) | ONE(CALLS), COLUMN_TOTAL },
	[FTR_SUMS_BY_VALUE] = { "Call", ONE(TOTAL) | ONE(AVG) | ONE(MIN) | ONE(MAX) | ONE(CALLS),
				COLUMN_TOTAL },
};

/* Where it is known how much was moved. */
static const uint64_t moved_mask = ONE(TOTAL) | ONE(CALLS) | ONE(ERRORS) | ONE(READ_BYTES) |
				   ONE(WRITTEN_BYTES);

/* What is shown: columns of all sums, and those of values behind them. */
struct table {
	const struct ftr_sums *sums;
	struct report_ranges ranges;
	struct ftr_field_name names[COLUMNS_MAX + 1];
	int column_nr;
	uint64_t mask;
	int keys[SORT_KEYS_MAX];	/* column_nr = by name */
	unsigned key_nr;
};

static void table_init(struct table *table, const struct ftr_sums *sums)
{
	table->sums = sums;
	memcpy(table->names, fixed_names, sizeof(fixed_names));
	report_ranges_init(&table->ranges, sums);
	table->column_nr = COLUMNS + (int)table->ranges.column_nr;
	for (unsigned i = 0; i < table->ranges.column_nr; i++)
		table->names[COLUMNS + i].name = table->ranges.names[i];
}

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
	case COLUMN_READ_BYTES:	return (int64_t)row->read_bytes;
	case COLUMN_WRITTEN_BYTES: return (int64_t)row->written_bytes;
	case COLUMN_SELF_SAMPLES: return (int64_t)row->self_samples;
	case COLUMN_SAMPLES:	return (int64_t)row->samples;
	case COLUMN_SELF:	return (int64_t)row->self_ns;
	default:		return row->pid;
	}
}

/* -1, 0 or 1, as the value of @x in the column is less than that of @y, or more; none is least. */
static int column_compare(const struct table *table, const struct ftr_sum *x,
			  const struct ftr_sum *y, int column)
{
	long double of_x = 0, of_y = 0;
	bool has_x = true, has_y = true;

	if (column < COLUMNS) {
		of_x = (long double)value_of(x, column);
		of_y = (long double)value_of(y, column);
	} else {
		has_x = report_range_value(table->sums, (size_t)(x - table->sums->rows.v),
					   (unsigned)(column - COLUMNS), &of_x);
		has_y = report_range_value(table->sums, (size_t)(y - table->sums->rows.v),
					   (unsigned)(column - COLUMNS), &of_y);
	}
	return has_x != has_y ? has_x - has_y : (of_x > of_y) - (of_x < of_y);
}

static int compare(const void *a, const void *b, void *arg)
{
	const struct ftr_sum *x = *(const struct ftr_sum *const *)a;
	const struct ftr_sum *y = *(const struct ftr_sum *const *)b;
	const struct table *table = arg;
	int by_name = strcmp(x->name, y->name);

	for (unsigned i = 0; i < table->key_nr; i++) {
		int key = table->keys[i];
		int order = key == table->column_nr ? -by_name :
						      column_compare(table, x, y, key);

		if (order != 0)
			return order < 0 ? 1 : -1;
	}
	return by_name != 0 ? by_name : (x->pid > y->pid) - (x->pid < y->pid);
}

static int parse_sort(struct table *table, const char *text, struct ftr_err *err)
{
	struct ftr_slice rest = ftr_slice_make(text, strlen(text)), word;

	while (ftr_slice_split(&rest, ',', &word)) {
		int key = 0;

		while (key < table->column_nr && !ftr_slice_eq(word, table->names[key].name))
			key++;
		if (key == table->column_nr && !ftr_slice_eq(word, "name") &&
		    !(table->sums->range_nr > 0 && ftr_slice_eq(word, "func")))
			return ftr_fields_refuse_key(table->names, "name", word, err);
		if (table->key_nr == SORT_KEYS_MAX)
			return ftr_err_set(err, EINVAL, "more than %d sort keys", SORT_KEYS_MAX);
		table->keys[table->key_nr++] = key;
	}
	return 0;
}

static bool is_shown(const struct table *table, int column)
{
	return (table->mask & FTR_BIT64(column)) != 0;
}

static int width_of(int column)
{
	return column < COLUMNS ? columns[column].width : REPORT_RANGE_WIDTH;
}

static void print_head(const char *last, const struct table *table, struct ftr_ostream *out)
{
	if (table->mask == 0)
		return;
	for (int i = 0; i < table->column_nr; i++)
		if (is_shown(table, i))
			ftr_ostream_printf(out, "  %*s", width_of(i),
					   i < COLUMNS ? columns[i].head : table->names[i].name);
	ftr_ostream_printf(out, "  %s\n", last);
	for (int i = 0; i < table->column_nr; i++) {
		if (!is_shown(table, i))
			continue;
		ftr_ostream_puts(out, "  ");
		ftr_ostream_pad(out, '=', (size_t)width_of(i));
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

static void print_row(const struct ftr_sum *row, const struct table *table, bool use_color,
		      struct ftr_ostream *out)
{
	for (int i = 0; i < COLUMNS; i++) {
		int64_t value = value_of(row, i);

		if (!is_shown(table, i))
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
	for (int i = COLUMNS; i < table->column_nr; i++)
		if (is_shown(table, i))
			report_range_print(table->sums, (size_t)(row - table->sums->rows.v),
					   (unsigned)(i - COLUMNS), out);
	ftr_ostream_puts(out, "  ");
	print_name(row->name, out);
	ftr_ostream_putc(out, '\n');
}

/* Of functions with ranges of values nothing else is added up. */
static int ranges_check(struct table *table, const char *fields, struct ftr_err *err)
{
	const uint64_t others = (FTR_BIT64(COLUMNS) - 1) & ~(ONE(TOTAL) | ONE(AVG) | ONE(MIN) |
							     ONE(MAX) | ONE(CALLS));
	uint64_t wrong = table->mask & others;

	if (table->sums->range_nr == 0 || wrong == 0)
		return 0;
	table->mask &= ~others;
	if (strstr(fields, "all") != NULL)
		return 0;
	return ftr_err_set(err, EINVAL, "field \"%s\" cannot be had beside those of values; the "
			   "others are: total total-avg total-min total-max call",
			   fixed_names[__builtin_ctzll(wrong)].name);
}

int ftr_report_print_sums(const struct ftr_sums *sums, int by,
			      const struct ftr_report_opts *opts, struct ftr_ostream *out,
			      struct ftr_err *err)
{
	const struct ftr_sum **rows;
	struct table table = {
		.mask = sums->is_of_bytes ? moved_mask : tables[by].mask,
		.keys = { sums->is_of_bytes ? COLUMN_TOTAL : tables[by].sort },
		.key_nr = opts->sort == NULL,
	};
	int ret;

	table_init(&table, sums);
	ret = ftr_fields_parse(table.names, opts->fields, &table.mask, err);
	if (ret == 0)
		ret = ranges_check(&table, opts->fields, err);
	if (ret == 0 && opts->sort != NULL)
		ret = parse_sort(&table, opts->sort, err);
	if (ret < 0)
		return ret;
	rows = calloc(sums->rows.nr + 1, sizeof(*rows));
	if (rows == NULL)
		return ftr_err_set(err, ENOMEM, "report: out of memory");
	for (size_t i = 0; i < sums->rows.nr; i++)
		rows[i] = &sums->rows.v[i];
	qsort_r(rows, sums->rows.nr, sizeof(*rows), compare, &table);
	print_head(tables[by].head, &table, out);
	for (size_t i = 0; i < sums->rows.nr; i++)
		if (rows[i]->calls > 0 || rows[i]->samples > 0)
			print_row(rows[i], &table, opts->use_color, out);
	free(rows);
	return 0;
}
