/* SPDX-License-Identifier: MIT */
/* See html_series.h: when there is no more room, each two points become one. */
#include "utils/export/html_series.h"

#define POINTS_MAX 4096u	/* more than a screen has pixels side by side */

static void point_merge(struct ftr_html_point *point, const struct ftr_html_point *next)
{
	if (next->low < point->low)
		point->low = next->low;
	if (next->high > point->high)
		point->high = next->high;
	point->last = next->last;
}

static void halve(struct ftr_html_series *series)
{
	for (size_t i = 0; i + 1 < series->points.nr; i += 2) {
		point_merge(&series->points.v[i], &series->points.v[i + 1]);
		series->points.v[i / 2] = series->points.v[i];
	}
	series->points.nr /= 2;
	series->values_per_point *= 2;
}

int ftr_html_series_add(struct ftr_html_series *series, uint64_t time_ns, double value)
{
	struct ftr_html_point point = { time_ns, value, value, value };

	if (series->values_per_point == 0)
		series->values_per_point = 1;
	if (series->points.nr > 0 && series->value_nr < series->values_per_point) {
		series->value_nr++;
		point_merge(&series->points.v[series->points.nr - 1], &point);
		return 0;
	}
	if (series->points.nr == POINTS_MAX)
		halve(series);
	series->value_nr = 1;
	return ftr_vec_push(&series->points, point);
}
