/* SPDX-License-Identifier: MIT */
/* The statistics of functions from a fleet's database. */
#include "utils/fleet/ask.h"

#include <errno.h>
#include <string.h>

#include "utils/base/bytes.h"
#include "utils/base/text.h"
#include "utils/fleet/http.h"
#include "utils/fleet/tables.h"

/* Without the calls within other calls of the same function, and these. */
#define OUTER "toUInt64(sum(bitAnd(flags, 8) != 0 ? 0 : duration))"
#define INNER "toUInt64(sum(bitAnd(flags, 8) != 0 ? duration : 0))"

static const char select_sums[] =
	"SELECT function, toUInt64(sum(calls)), toUInt64(sum(total) - sum(nested)),"
	" toUInt64(sum(nested)), toUInt64(sum(self)), toUInt64(sum(outermost))";

static const char select_calls[] =
	"SELECT function, toUInt64(count()), " OUTER ", " INNER ", toUInt64(sum(self)),"
	" toUInt64(sum(depth = 0 ? duration : 0)), toUInt64(min(duration)), toUInt64(max(duration)), toUInt64(min(self)),"
	" toUInt64(max(self)), sum(toFloat64(duration) * toFloat64(duration)),"
	" sum(toFloat64(self) * toFloat64(self))";

#define MINUTE_OF_END "intDiv(start + toInt64(duration), 60000000000) * 60000000000"

struct condition {
	const char *key;
	const char *column[2];	/* of the tables sums and calls: an expression */
	const char *compare;
	bool is_time;
};

static const struct condition conditions[] = {
	{ "host", { "host", "host" }, "=", false },
	{ "run", { "run", "run" }, "=", false },
	{ "build", { "build_id", "build_id" }, "=", false },
	{ "module", { "module", "module" }, "=", false },
	{ "function", { "function", "function" }, "=", false },
	{ "since", { "minute", MINUTE_OF_END }, ">=", true },
	{ "until", { "minute", MINUTE_OF_END }, "<", true },
};

static const struct condition *condition_find(struct ftr_slice key)
{
	for (size_t i = 0; i < sizeof(conditions) / sizeof(conditions[0]); i++) {
		if (ftr_slice_eq(key, conditions[i].key))
			return &conditions[i];
	}
	return NULL;
}

static int put_condition(struct ftr_strbuf *sql, struct ftr_slice part, bool of_calls,
			 struct ftr_err *err)
{
	struct ftr_slice key, value = part;
	const struct condition *condition;
	struct ftr_strbuf text;

	ftr_slice_split(&value, '=', &key);
	condition = condition_find(key);
	if (condition == NULL || key.len == part.len)
		return ftr_err_set(err, EINVAL,
				   "\"%.*s\": has to be one of host=, run=, build=, module=, "
				   "function=, since= and until=, with a value",
				   (int)part.len, part.s);
	ftr_strbuf_init(&text);
	ftr_strbuf_put(&text, value.s, value.len);
	ftr_strbuf_printf(sql, " AND %s %s %s", condition->column[of_calls], condition->compare,
			  condition->is_time ? "toInt64(parseDateTimeBestEffort(" : "");
	ftr_sql_put_string(sql, ftr_strbuf_str(&text));
	if (condition->is_time)
		ftr_strbuf_puts(sql, ")) * 1000000000");
	ftr_strbuf_fini(&text);
	return 0;
}

static int put_where(struct ftr_strbuf *sql, const char *where, bool of_calls, struct ftr_err *err)
{
	struct ftr_slice rest, part;
	int ret = 0;

	ftr_strbuf_puts(sql, " WHERE 1");
	if (where == NULL)
		return 0;
	rest = ftr_slice_make(where, strlen(where));
	while (ret == 0 && ftr_slice_split(&rest, ',', &part))
		ret = put_condition(sql, part, of_calls, err);
	return ret;
}

/* The server's answer, as RowBinary. */
struct answer {
	const uint8_t *p, *end;
	bool is_cut;
};

static uint64_t next_u64(struct answer *answer)
{
	uint64_t value = 0;

	if (answer->end - answer->p < (ptrdiff_t)sizeof(value)) {
		answer->is_cut = true;
		return 0;
	}
	value = ftr_get_unsigned(answer->p, sizeof(value), false);
	answer->p += sizeof(value);
	return value;
}

static double next_double(struct answer *answer)
{
	uint64_t bits = next_u64(answer);
	double value;

	memcpy(&value, &bits, sizeof(value));
	return value;
}

static struct ftr_slice next_string(struct answer *answer)
{
	uint64_t len = 0;
	unsigned shift = 0;
	struct ftr_slice string;
	uint8_t byte;

	do {
		if (answer->p == answer->end || shift > 56) {
			answer->is_cut = true;
			return ftr_slice_make("", 0);
		}
		byte = *answer->p++;
		len |= (uint64_t)(byte & 0x7f) << shift;
		shift += 7;
	} while (byte & 0x80);
	if (len > (uint64_t)(answer->end - answer->p)) {
		answer->is_cut = true;
		return ftr_slice_make("", 0);
	}
	string = ftr_slice_make((const char *)answer->p, (size_t)len);
	answer->p += len;
	return string;
}

static int take_func(struct ftr_fleet_stats *stats, struct answer *answer, bool has_details)
{
	struct ftr_slice name = next_string(answer);
	struct ftr_func_stat func = { .name_len = (uint32_t)name.len };

	func.calls = next_u64(answer);
	func.total.sum_ns = next_u64(answer);
	func.total.nested_ns = next_u64(answer);
	func.self.sum_ns = next_u64(answer);
	stats->outermost_ns += next_u64(answer);
	if (has_details) {
		func.total.min_ns = next_u64(answer);
		func.total.max_ns = next_u64(answer);
		func.self.min_ns = next_u64(answer);
		func.self.max_ns = next_u64(answer);
		func.total.squares = next_double(answer);
		func.self.squares = next_double(answer);
	}
	func.name = ftr_arena_strndup(&stats->arena, name.s, name.len);
	return func.name == NULL ? -ENOMEM : ftr_vec_push(&stats->stats.funcs, func);
}

static int take_funcs(struct ftr_fleet_stats *stats, const struct ftr_strbuf *text,
		      bool has_details, struct ftr_err *err)
{
	const uint8_t *bytes = (const uint8_t *)ftr_strbuf_str(text);
	struct answer answer = { bytes, bytes + text->len, false };
	uint64_t self_ns = 0, whole_ns;
	int ret = 0;

	while (ret == 0 && answer.p < answer.end && !answer.is_cut)
		ret = take_func(stats, &answer, has_details);
	if (answer.is_cut)
		return ftr_err_set(err, EPROTO, "the server's answer is cut short");
	if (ret < 0)
		return ftr_err_set(err, ENOMEM, "out of memory");
	for (size_t i = 0; i < stats->stats.funcs.nr; i++)
		self_ns += stats->stats.funcs.v[i].self.sum_ns;
	whole_ns = self_ns > stats->outermost_ns ? self_ns : stats->outermost_ns;
	for (size_t i = 0; i < stats->stats.funcs.nr; i++)
		stats->stats.funcs.v[i].whole_ns = whole_ns;
	return 0;
}

int ftr_fleet_ask_stats(const struct ftr_fleet *fleet, struct ftr_http *http, const char *where,
			bool has_details, struct ftr_fleet_stats *stats, struct ftr_err *err)
{
	struct ftr_strbuf sql, answer;
	int ret;

	memset(stats, 0, sizeof(*stats));
	ftr_arena_init(&stats->arena);
	ftr_strbuf_init(&sql);
	ftr_strbuf_init(&answer);
	ftr_strbuf_printf(&sql, "%s FROM %s.%s", has_details ? select_calls : select_sums,
			  fleet->database, has_details ? "calls" : "sums");
	ret = put_where(&sql, where, has_details, err);
	ftr_strbuf_puts(&sql, " GROUP BY function ORDER BY function FORMAT RowBinary");
	if (ret == 0 && sql.failed)
		ret = ftr_err_set(err, ENOMEM, "out of memory");
	if (ret == 0)
		ret = ftr_http_query(http, ftr_strbuf_str(&sql), &answer, err);
	if (ret == 0)
		ret = take_funcs(stats, &answer, has_details, err);
	ftr_strbuf_fini(&sql);
	ftr_strbuf_fini(&answer);
	return ret;
}

void ftr_fleet_stats_fini(struct ftr_fleet_stats *stats)
{
	ftr_vec_fini(&stats->stats.funcs);
	ftr_arena_fini(&stats->arena);
}
