/* SPDX-License-Identifier: MIT */
/* A value over time in bounded memory: of many values, ranges of several. */
#ifndef FTR_EXPORT_HTML_SERIES_H
#define FTR_EXPORT_HTML_SERIES_H

#include <stdint.h>

#include "utils/base/vec.h"

/* From time_ns to the next point: between low and high, and last at its end. */
struct ftr_html_point {
	uint64_t time_ns;
	double low, high, last;
};

struct ftr_html_series {
	FTR_VEC(struct ftr_html_point) points;
	uint64_t values_per_point;	/* 0 = 1 */
	uint64_t value_nr;		/* in the last point */
};

/* The values of a series come by time.  0 or -ENOMEM. */
int ftr_html_series_add(struct ftr_html_series *series, uint64_t time_ns, double value);

#endif /* FTR_EXPORT_HTML_SERIES_H */
