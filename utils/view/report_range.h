/* SPDX-License-Identifier: MIT */
/* report: columns of the least, average and greatest of a value: "arg1-min", "retval.size-avg". */
#ifndef FTR_VIEW_REPORT_RANGE_H
#define FTR_VIEW_REPORT_RANGE_H

#include "utils/base/ostream.h"
#include "utils/view/report.h"

enum report_range_kind { REPORT_RANGE_MIN, REPORT_RANGE_AVG, REPORT_RANGE_MAX, REPORT_RANGE_KINDS };
#define REPORT_RANGE_COLUMNS (FTR_VALUE_RANGES_MAX * REPORT_RANGE_KINDS)
#define REPORT_RANGE_WIDTH 12

/* The names of the columns of all values, value by value. */
struct report_ranges {
	unsigned column_nr;
	char names[REPORT_RANGE_COLUMNS][FTR_REPORT_RANGE_BYTES + 8];
};

void report_ranges_init(struct report_ranges *ranges, const struct ftr_sums *sums);

/* The value of the @column of row @row; 0 and false where it has none. */
bool report_range_value(const struct ftr_sums *sums, size_t row, unsigned column,
			long double *value);
void report_range_print(const struct ftr_sums *sums, size_t row, unsigned column,
			struct ftr_ostream *out);

#endif /* FTR_VIEW_REPORT_RANGE_H */
