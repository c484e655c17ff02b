/* SPDX-License-Identifier: MIT */
/* Limits on functions, checked against statistics and weights. */
#include "utils/analysis/limit.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "utils/analysis/stats.h"
#include "utils/analysis/weight_sums.h"
#include "utils/base/text.h"

static uint64_t value_max(const struct ftr_func_stat *stat)
{
	return stat->total.max_ns;
}

static uint64_t value_total(const struct ftr_func_stat *stat)
{
	return stat->total.sum_ns;
}

static uint64_t value_self(const struct ftr_func_stat *stat)
{
	return stat->self.sum_ns;
}

static uint64_t value_avg(const struct ftr_func_stat *stat)
{
	return (uint64_t)ftr_time_stat_avg_ns(&stat->total, stat->calls);
}

static uint64_t value_calls(const struct ftr_func_stat *stat)
{
	return stat->calls;
}

const struct ftr_limit_kind ftr_limit_kinds[] = {
	{ "max", "longest call", FTR_LIMIT_TIME, .value = value_max },
	{ "max-avg", "average call", FTR_LIMIT_TIME, .value = value_avg },
	{ "max-total", "total time", FTR_LIMIT_TIME, .value = value_total },
	{ "max-self", "self time", FTR_LIMIT_TIME, .value = value_self },
	{ "max-calls", "calls", FTR_LIMIT_COUNT, .value = value_calls, .may_be_uncalled = true },
	{ "max-bytes", "memory asked for", FTR_LIMIT_SIZE, .by = FTR_WEIGHT_BYTES },
	{ "max-blocks", "blocks of memory asked for", FTR_LIMIT_COUNT,
	  .by = FTR_WEIGHT_BLOCKS },
	{ "max-leak", "memory not given back", FTR_LIMIT_SIZE, .by = FTR_WEIGHT_LEAK },
	{ "max-wait", "time waited", FTR_LIMIT_TIME, .by = FTR_WEIGHT_WAIT },
	{ 0 }
};

/* By enum ftr_limit_unit. */
static const struct {
	const char *placeholder;	/* with an example, for errors */
	const char *noun, *examples;
} units[] = {
	[FTR_LIMIT_TIME] = { "TIME, such as parse=5ms", "time", "5ms, 10us or 1.5s" },
	[FTR_LIMIT_COUNT] = { "N, such as parse=1000", "number", "1000" },
	[FTR_LIMIT_SIZE] = { "SIZE, such as parse=64K", "size", "4096, 64K or 1M" },
};

static const struct ftr_limit_kind *kind_find(const char *name)
{
	const struct ftr_limit_kind *kind = ftr_limit_kinds;

	while (strcmp(kind->name, name) != 0)
		kind++;
	return kind;
}

static int limit_parse(enum ftr_limit_unit unit, struct ftr_slice text, uint64_t *most)
{
	/* Of sizes there are some without a letter, too. */
	if (unit != FTR_LIMIT_TIME && ftr_parse_u64(text, 10, most) == 0)
		return 0;
	if (unit == FTR_LIMIT_COUNT)
		return -EINVAL;
	return unit == FTR_LIMIT_TIME ? ftr_parse_time(text, most, NULL) :
					ftr_parse_size(text, most);
}

/* The last '=' is it: names of operators have some, too. */
int ftr_limits_add(struct ftr_limits *limits, const char *kind, const char *text,
		   enum ftr_match match, struct ftr_err *err)
{
	struct ftr_limit limit = { .kind = kind_find(kind) };
	const char *equals = strrchr(text, '=');
	struct ftr_slice most;
	int ret;

	if (equals == NULL || equals == text)
		return ftr_err_set(err, EINVAL, "'%s': write FUNC=%s", text,
				   units[limit.kind->unit].placeholder);
	most = ftr_slice_make(equals + 1, strlen(equals + 1));
	if (limit_parse(limit.kind->unit, most, &limit.most) < 0)
		return ftr_err_set(err, EINVAL, "'%s' is no %s; write %s", equals + 1,
				   units[limit.kind->unit].noun, units[limit.kind->unit].examples);
	ret = ftr_pattern_new(&limit.funcs, ftr_slice_make(text, (size_t)(equals - text)), match,
			      NULL, err);
	if (ret < 0)
		return ret;
	if (ftr_vec_push(&limits->v, limit) == 0)
		return 0;
	ftr_pattern_free(limit.funcs);
	return ftr_err_set(err, ENOMEM, "out of memory");
}

void ftr_limits_fini(struct ftr_limits *limits)
{
	for (size_t i = 0; i < limits->v.nr; i++)
		ftr_pattern_free(limits->v.v[i].funcs);
	ftr_vec_fini(&limits->v);
}

struct checking {
	const struct ftr_limit *limit;
	ftr_limit_fn *result;
	void *arg;
	int broken_nr;
	bool has_funcs;
};

static void func_check(struct checking *checking, const char *name, uint64_t value)
{
	const struct ftr_limit_result one = {
		.limit = checking->limit, .func = name, .value = value,
		.is_kept = value <= checking->limit->most,
	};

	if (!ftr_pattern_matches(checking->limit->funcs, name))
		return;
	checking->has_funcs = true;
	checking->broken_nr += !one.is_kept && checking->broken_nr < INT_MAX;
	checking->result(checking->arg, &one);
}

static int check_calls(struct checking *checking, const struct ftr_stats *stats)
{
	const struct ftr_func_stat **rows;
	size_t nr;

	rows = ftr_stats_rows(stats, &nr);
	if (rows == NULL)
		return -ENOMEM;
	for (size_t i = 0; i < nr; i++)
		func_check(checking, rows[i]->name, checking->limit->kind->value(rows[i]));
	free(rows);
	return 0;
}

static bool is_called(const struct ftr_stats *stats, uint32_t name_id)
{
	return name_id < stats->funcs.nr && stats->funcs.v[name_id].name != NULL;
}

/* Functions that are not traced may ask for memory, or wait, too. */
static void check_weights(struct checking *checking, const struct ftr_stats *stats,
			  const struct ftr_weight_sums *sums)
{
	for (uint32_t i = 0; i < stats->funcs.nr; i++)
		if (stats->funcs.v[i].name != NULL)
			func_check(checking, stats->funcs.v[i].name, ftr_weight_sums_of(sums, i));
	for (size_t i = 0; i < sums->v.nr; i++)
		if (!is_called(stats, sums->v.v[i].name_id))
			func_check(checking, sums->v.v[i].name, sums->v.v[i].total);
}

/* How many functions do not keep it, or -ENOMEM. */
static int limit_check(const struct ftr_limit *limit, const struct ftr_limited *limited,
		       ftr_limit_fn *result, void *arg)
{
	struct checking checking = { .limit = limit, .result = result, .arg = arg };
	const struct ftr_limit_result none = { .limit = limit,
					       .is_kept = limit->kind->may_be_uncalled };

	if (limit->kind->by != FTR_WEIGHT_TIME)
		check_weights(&checking, limited->stats, limited->weights[limit->kind->by]);
	else if (check_calls(&checking, limited->stats) < 0)
		return -ENOMEM;
	if (checking.has_funcs)
		return checking.broken_nr;
	result(arg, &none);
	return !none.is_kept;
}

int ftr_limits_check(const struct ftr_limits *limits, const struct ftr_limited *limited,
		     ftr_limit_fn *result, void *arg)
{
	int broken_nr = 0;

	for (size_t i = 0; i < limits->v.nr; i++) {
		int more = limit_check(&limits->v.v[i], limited, result, arg);

		if (more < 0)
			return more;
		broken_nr = more > INT_MAX - broken_nr ? INT_MAX : broken_nr + more;
	}
	return broken_nr;
}
