/* SPDX-License-Identifier: MIT */
/*
 * The columns of report, and what -f and -s make of them: for its table, its differences, its CSV
 * and its JSON.
 */
#ifndef FTR_VIEW_REPORT_COLUMNS_H
#define FTR_VIEW_REPORT_COLUMNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "utils/base/err.h"
#include "utils/base/strbuf.h"

struct ftr_func_stat;
struct ftr_ostream;
struct ftr_report_opts;
struct ftr_stats;

enum report_kind {
	REPORT_TIME,
	REPORT_COUNT,
	REPORT_PERCENT,
	REPORT_TIMESTAMP,
	REPORT_CPU_COUNT,
	REPORT_CPU_MASK,
	REPORT_CPU_LIST,
};

/* One value of a function: what a column shows, and what one can sort by. */
struct report_column {
	const char *name;	/* of -f and -s */
	const char *head;
	enum report_kind kind;
	double (*value)(const struct ftr_func_stat *stat);
};

#define REPORT_COLUMNS 29
#define REPORT_SORT_KEYS_MAX 8
#define REPORT_COLUMN_GAP 2	/* blanks before each column */

extern const struct report_column report_columns[REPORT_COLUMNS];

/* Append the processors of a CPU_MASK or CPU_LIST. */
void report_cpus_text(const struct report_column *column, const struct ftr_func_stat *stat,
		      struct ftr_strbuf *text);

struct report_sort {
	const struct report_column *keys[REPORT_SORT_KEYS_MAX];	/* NULL = by name */
	unsigned nr;
};

/* A bit for each column that is to be shown.  0, or -EINVAL: no such field. */
int report_parse_fields(const struct ftr_report_opts *opts, uint64_t *mask, struct ftr_err *err);
/* @sort: zeros.  0, or -EINVAL: no such key. */
int report_parse_sort(const struct ftr_report_opts *opts, struct report_sort *sort,
		      struct ftr_err *err);

/* All rows in that order: (owned) array of *nr, NULL when out of memory. */
const struct ftr_func_stat **report_sorted_rows(const struct ftr_stats *stats,
						const struct report_sort *sort, size_t *nr);

/*
 * The rows that @opts ask for, as above, and the columns.  NULL: no memory, or @err->code EINVAL, a
 * wrong field or key.
 */
const struct ftr_func_stat **report_rows(const struct ftr_stats *stats,
					 const struct ftr_report_opts *opts, uint64_t *mask,
					 size_t *nr, struct ftr_err *err);

size_t report_column_width(const struct report_column *column);
/* The heads of these columns, and the values of a row, each behind two blanks. */
void report_put_heads(struct ftr_ostream *out, uint64_t mask);
void report_put_values(struct ftr_ostream *out, uint64_t mask, const struct ftr_func_stat *stat,
		       bool use_color);

#endif /* FTR_VIEW_REPORT_COLUMNS_H */
