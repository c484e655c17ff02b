/* SPDX-License-Identifier: MIT */
/* The statistics of functions from a fleet's database. */
#include "utils/fleet/ask.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "utils/base/text.h"
#include "utils/fleet/question.h"

/* Without the calls within other calls of the same function, and these. */
#define OUTER "toUInt64(sum(bitAnd(flags, 8) != 0 ? 0 : duration))"
#define INNER "toUInt64(sum(bitAnd(flags, 8) != 0 ? duration : 0))"

/* Of a call that is the task's own, and of one that it was forked in. */
#define IS_OWN "bitAnd(flags, 16) = 0"
#define IS_INHERITED "bitAnd(flags, 16) != 0"
#define SQUARES_OF(column) "sumIf(toFloat64(" column ") * toFloat64(" column "), " IS_OWN ")"

static const char select_sums[] =
	"SELECT function, toUInt64(sum(calls)), toUInt64(sum(total) - sum(nested)),"
	" toUInt64(sum(nested)), toUInt64(sum(self)), toUInt64(sum(outermost))";

static const char select_calls[] =
	"SELECT function, toUInt64(countIf(" IS_OWN ")), " OUTER ", " INNER ","
	" toUInt64(sum(self)), toUInt64(sum(depth = 0 ? duration : 0)),"
	" toUInt64(minIf(duration, " IS_OWN ")), toUInt64(maxIf(duration, " IS_OWN ")),"
	" toUInt64(minIf(self, " IS_OWN ")), toUInt64(maxIf(self, " IS_OWN ")),"
	" " SQUARES_OF("duration") ", " SQUARES_OF("self") ","
	" toUInt64(sumIf(duration, " IS_INHERITED ")), toUInt64(sumIf(self, " IS_INHERITED "))";

/* The times of functions that were called few times, which histograms keep as they are. */
#define FEW_TEXT "64"
#define FEW_OF(column) \
	", countIf(" IS_OWN ") <= " FEW_TEXT " ?" \
	" groupArrayIf(" FEW_TEXT ")(" column ", " IS_OWN ") : emptyArrayUInt64()"
_Static_assert(FTR_HISTOGRAM_FEW == 64, "FEW_TEXT");

static const char select_few[] = FEW_OF("duration") FEW_OF("self");

/* Where the parts of histograms begin, 64 in each octave, and how many calls are in each. */
#define PARTS_OF(column) \
	"SELECT function, " column " - " column " % greatest(toUInt64(1)," \
	" intDiv(roundToExp2(" column "), 64)) AS part, toUInt64(countIf(" IS_OWN "))"

static const char select_total_parts[] = PARTS_OF("duration");
static const char select_self_parts[] = PARTS_OF("self");

/* Statistics that are being asked for. */
struct asking {
	struct ftr_fleet_stats *stats;
	unsigned flags;		/* FTR_STATS_* */
	size_t at;		/* parts: of this function, by stats.funcs, or of a later one */
};

static int take_few(struct ftr_time_stat *stat, struct ftr_answer *answer)
{
	uint64_t nr = ftr_answer_length(answer);
	int ret = 0;

	stat->spread = calloc(1, sizeof(*stat->spread));
	if (stat->spread == NULL)
		return -ENOMEM;
	for (; ret == 0 && nr > 0 && !answer->is_cut; nr--)
		ret = ftr_histogram_add(stat->spread, ftr_answer_u64(answer));
	return ret;
}

static int take_details(struct ftr_func_stat *func, struct ftr_answer *answer, bool has_spread)
{
	int ret;

	func->total.min_ns = ftr_answer_u64(answer);
	func->total.max_ns = ftr_answer_u64(answer);
	func->self.min_ns = ftr_answer_u64(answer);
	func->self.max_ns = ftr_answer_u64(answer);
	func->total.squares = ftr_answer_double(answer);
	func->self.squares = ftr_answer_double(answer);
	func->total.inherited_ns = ftr_answer_u64(answer);
	func->self.inherited_ns = ftr_answer_u64(answer);
	ret = has_spread ? take_few(&func->total, answer) : 0;
	return ret < 0 || !has_spread ? ret : take_few(&func->self, answer);
}

static int take_func(void *arg, struct ftr_answer *answer)
{
	struct asking *asking = arg;
	struct ftr_fleet_stats *stats = asking->stats;
	struct ftr_slice name = ftr_answer_string(answer);
	struct ftr_func_stat func = { .name_len = (uint32_t)name.len }, *kept;

	func.calls = ftr_answer_u64(answer);
	func.total.sum_ns = ftr_answer_u64(answer);
	func.total.nested_ns = ftr_answer_u64(answer);
	func.self.sum_ns = ftr_answer_u64(answer);
	stats->outermost_ns += ftr_answer_u64(answer);
	func.name = ftr_arena_strndup(&stats->arena, name.s, name.len);
	if (func.name == NULL || ftr_vec_push(&stats->stats.funcs, func) < 0)
		return -ENOMEM;
	kept = &stats->stats.funcs.v[stats->stats.funcs.nr - 1];
	return asking->flags & FTR_STATS_DETAILS ?
		       take_details(kept, answer, asking->flags & FTR_STATS_SPREAD) : 0;
}

static int take_summed(void *arg, struct ftr_answer *answer)
{
	((struct asking *)arg)->stats->summed_calls = ftr_answer_u64(answer);
	return 0;
}

/* How many calls there are sums of, which may be more than there are calls. */
static int ask_summed(const struct ftr_asked *asked, struct asking *asking, struct ftr_err *err)
{
	const struct ftr_question question = {
		.table = ROWS_SUMS, .select = { "SELECT toUInt64(sum(calls))", "" },
		.tail = "", .take = take_summed, .arg = asking,
	};

	return ftr_question_ask(&question, asked, err);
}

static void set_whole(struct ftr_fleet_stats *stats)
{
	uint64_t self_ns = 0, whole_ns;

	for (size_t i = 0; i < stats->stats.funcs.nr; i++)
		self_ns += stats->stats.funcs.v[i].self.sum_ns;
	whole_ns = self_ns > stats->outermost_ns ? self_ns : stats->outermost_ns;
	for (size_t i = 0; i < stats->stats.funcs.nr; i++)
		stats->stats.funcs.v[i].whole_ns = whole_ns;
}

/* ---- percentiles: the parts of histograms, ordered by functions as the statistics are ---- */

static int compare_names(const struct ftr_func_stat *func, struct ftr_slice name)
{
	size_t len = func->name_len < name.len ? func->name_len : name.len;
	int order = memcmp(func->name, name.s, len);

	return order != 0 ? order : func->name_len < name.len ? -1 : func->name_len > name.len;
}

/* NULL: it was not there when the statistics were asked for. */
static struct ftr_func_stat *find_func(struct asking *asking, struct ftr_slice name)
{
	struct ftr_stats *stats = &asking->stats->stats;

	while (asking->at < stats->funcs.nr && compare_names(&stats->funcs.v[asking->at], name) < 0)
		asking->at++;
	if (asking->at == stats->funcs.nr || compare_names(&stats->funcs.v[asking->at], name) != 0)
		return NULL;
	return &stats->funcs.v[asking->at];
}

static int take_part(struct asking *asking, struct ftr_answer *answer, bool is_self)
{
	struct ftr_func_stat *func = find_func(asking, ftr_answer_string(answer));
	uint64_t part = ftr_answer_u64(answer), calls = ftr_answer_u64(answer);

	if (func == NULL || func->calls <= FTR_HISTOGRAM_FEW)
		return 0;
	return ftr_histogram_add_times(is_self ? func->self.spread : func->total.spread, part,
				       calls);
}

static int take_total_part(void *arg, struct ftr_answer *answer)
{
	return take_part(arg, answer, false);
}

static int take_self_part(void *arg, struct ftr_answer *answer)
{
	return take_part(arg, answer, true);
}

/* Parts are named by their begins; the least and the most are known better. */
static void set_limits(struct ftr_time_stat *stat)
{
	stat->spread->min = stat->min_ns;
	stat->spread->max = stat->max_ns;
}

static int ask_spread(const struct ftr_asked *asked, struct asking *asking, struct ftr_err *err)
{
	struct ftr_question question = {
		.table = ROWS_CALLS, .select = { select_total_parts, "" },
		.tail = "GROUP BY function, part ORDER BY function, part",
		.take = take_total_part, .arg = asking,
	};
	struct ftr_stats *stats = &asking->stats->stats;
	int ret = ftr_question_ask(&question, asked, err);

	if (ret < 0)
		return ret;
	asking->at = 0;
	question.select[0] = select_self_parts;
	question.take = take_self_part;
	ret = ftr_question_ask(&question, asked, err);
	for (size_t i = 0; ret == 0 && i < stats->funcs.nr; i++) {
		set_limits(&stats->funcs.v[i].total);
		set_limits(&stats->funcs.v[i].self);
	}
	return ret;
}

int ftr_fleet_ask_stats(const struct ftr_asked *asked, unsigned flags,
			struct ftr_fleet_stats *stats, struct ftr_err *err)
{
	bool has_details = flags & FTR_STATS_DETAILS, has_spread = flags & FTR_STATS_SPREAD;
	struct asking asking = { stats, flags, 0 };
	const struct ftr_question question = {
		.table = has_details ? ROWS_CALLS : ROWS_SUMS,
		.select = { has_details ? select_calls : select_sums,
			    has_spread ? select_few : "" },
		.tail = "GROUP BY function ORDER BY function",
		.take = take_func, .arg = &asking,
	};
	int ret;

	memset(stats, 0, sizeof(*stats));
	ftr_arena_init(&stats->arena);
	ret = ftr_question_ask(&question, asked, err);
	if (ret == 0)
		set_whole(stats);
	if (ret == 0 && has_details)
		ret = ask_summed(asked, &asking, err);
	return ret == 0 && has_spread ? ask_spread(asked, &asking, err) : ret;
}

void ftr_fleet_stats_fini(struct ftr_fleet_stats *stats)
{
	for (size_t i = 0; i < stats->stats.funcs.nr; i++)
		ftr_func_stat_fini(&stats->stats.funcs.v[i]);
	ftr_vec_fini(&stats->stats.funcs);
	ftr_arena_fini(&stats->arena);
}
