/* SPDX-License-Identifier: MIT */
/* Limits on functions, checked against statistics. */
#include "utils/analysis/limit.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "utils/analysis/stats.h"
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
	{ "max",       "longest call", true,  value_max },
	{ "max-avg",   "average call", true,  value_avg },
	{ "max-total", "total time",   true,  value_total },
	{ "max-self",  "self time",    true,  value_self },
	{ "max-calls", "calls",	       false, value_calls },
	{ 0 }
};

static const struct ftr_limit_kind *kind_find(const char *name)
{
	const struct ftr_limit_kind *kind = ftr_limit_kinds;

	while (strcmp(kind->name, name) != 0)
		kind++;
	return kind;
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
				   limit.kind->is_time ? "TIME, such as parse=5ms" :
							 "N, such as parse=1000");
	most = ftr_slice_make(equals + 1, strlen(equals + 1));
	ret = limit.kind->is_time ? ftr_parse_time(most, &limit.most, NULL) :
				    ftr_parse_u64(most, 10, &limit.most);
	if (ret < 0)
		return ftr_err_set(err, EINVAL, "'%s' is no %s; write %s", equals + 1,
				   limit.kind->is_time ? "time" : "number",
				   limit.kind->is_time ? "5ms, 10us or 1.5s" : "1000");
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

/* How many functions do not keep it. */
static int limit_check(const struct ftr_limit *limit, const struct ftr_func_stat **rows, size_t nr,
		       ftr_limit_fn *result, void *arg)
{
	struct ftr_limit_result one = { .limit = limit, .is_kept = !limit->kind->is_time };
	int broken_nr = 0;
	bool has_funcs = false;

	for (size_t i = 0; i < nr; i++) {
		if (!ftr_pattern_matches(limit->funcs, rows[i]->name))
			continue;
		has_funcs = true;
		one.stat = rows[i];
		one.value = limit->kind->value(rows[i]);
		one.is_kept = one.value <= limit->most;
		broken_nr += !one.is_kept;
		result(arg, &one);
	}
	if (has_funcs)
		return broken_nr;
	result(arg, &one);
	return !one.is_kept;
}

int ftr_limits_check(const struct ftr_limits *limits, const struct ftr_stats *stats,
		     ftr_limit_fn *result, void *arg)
{
	const struct ftr_func_stat **rows;
	int broken_nr = 0;
	size_t nr;

	rows = ftr_stats_rows(stats, &nr);
	if (rows == NULL)
		return -ENOMEM;
	for (size_t i = 0; i < limits->v.nr; i++) {
		int more = limit_check(&limits->v.v[i], rows, nr, result, arg);

		broken_nr = more > INT_MAX - broken_nr ? INT_MAX : broken_nr + more;
	}
	free(rows);
	return broken_nr;
}
