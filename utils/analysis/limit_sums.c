/* SPDX-License-Identifier: MIT */
/* A sink for each thing that limits are about, and one that hands the stream to all of them. */
#include "utils/analysis/limit_sums.h"

#include <assert.h>
#include <errno.h>

#include "utils/analysis/stats.h"
#include "utils/analysis/weights.h"
#include "utils/trace/tee.h"

bool ftr_limits_weigh(const struct ftr_limits *limits)
{
	for (size_t i = 0; i < limits->v.nr; i++)
		if (limits->v.v[i].kind->by != FTR_WEIGHT_TIME)
			return true;
	return false;
}

static int sinks_open(struct ftr_limit_sums *sums, const struct ftr_limits *limits,
		      struct ftr_err *err)
{
	sums->sinks[FTR_WEIGHT_TIME] = ftr_stats_new(FTR_STATS_DETAILS, err);
	if (sums->sinks[FTR_WEIGHT_TIME] == NULL)
		return -ENOMEM;
	for (size_t i = 0; i < limits->v.nr; i++) {
		enum ftr_weight_by by = limits->v.v[i].kind->by;

		if (sums->sinks[by] == NULL)
			sums->sinks[by] = ftr_weights_new(by, 0, err);
		if (sums->sinks[by] == NULL)
			return -ENOMEM;
	}
	return 0;
}

int ftr_limit_sums_init(struct ftr_limit_sums *sums, const struct ftr_limits *limits,
			struct ftr_err *err)
{
	struct ftr_sink *all[FTR_WEIGHTS];
	size_t nr = 0;

	static_assert(FTR_WEIGHTS <= FTR_TEE_SINKS, "one of each");
	*sums = (struct ftr_limit_sums){ 0 };
	if (sinks_open(sums, limits, err) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < FTR_WEIGHTS; i++)
		if (sums->sinks[i] != NULL)
			all[nr++] = sums->sinks[i];
	if (nr > 1)
		sums->tee = ftr_tee_new(all, nr, err);
	return nr > 1 && sums->tee == NULL ? -ENOMEM : 0;
}

void ftr_limit_sums_fini(struct ftr_limit_sums *sums)
{
	ftr_sink_free(sums->tee);
	for (size_t i = 0; i < FTR_WEIGHTS; i++) {
		ftr_sink_free(sums->sinks[i]);
		ftr_weight_sums_fini(&sums->weights[i]);
	}
	*sums = (struct ftr_limit_sums){ 0 };
}

struct ftr_sink *ftr_limit_sums_sink(const struct ftr_limit_sums *sums)
{
	return sums->tee != NULL ? sums->tee : sums->sinks[FTR_WEIGHT_TIME];
}

int ftr_limit_sums_get(struct ftr_limit_sums *sums, struct ftr_limited *limited)
{
	*limited = (struct ftr_limited){ .stats = ftr_stats_get(sums->sinks[FTR_WEIGHT_TIME]) };
	for (size_t i = FTR_WEIGHT_TIME + 1; i < FTR_WEIGHTS; i++) {
		struct ftr_sink *sink = sums->sinks[i];

		if (sink == NULL)
			continue;
		limited->weights[i] = &sums->weights[i];
		if (ftr_weight_sums_make(&sums->weights[i], ftr_weights_graph(sink)) < 0)
			return -ENOMEM;
	}
	return 0;
}
