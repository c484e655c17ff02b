/* SPDX-License-Identifier: MIT */
/* A SELECT from one of the tables of a fleet, and what becomes of its rows. */
#include "utils/fleet/question.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "utils/base/strbuf.h"
#include "utils/base/text.h"
#include "utils/fleet/http.h"
#include "utils/fleet/tables.h"

#define MINUTE_OF_END "intDiv(start + toInt64(duration), 60000000000) * 60000000000"

struct condition {
	const char *key;
	const char *compare;
	bool is_time;
	const char *column[ROWS_TABLES];	/* an expression; NULL: the table has none */
};

static const struct condition conditions[] = {
	{ "host", "=", false, { "host", NULL, "host", "host" } },
	{ "run", "=", false, { "run", NULL, "run", "run" } },
	{ "build", "=", false, { "build_id", NULL, "build_id", "program_build_id" } },
	{ "module", "=", false, { "module", NULL, "module", NULL } },
	{ "function", "=", false, { "function", NULL, "function", NULL } },
	{ "since", ">=", true, { MINUTE_OF_END, NULL, "minute", "minute" } },
	{ "until", "<", true, { MINUTE_OF_END, NULL, "minute", "minute" } },
};
_Static_assert(ROWS_CALLS == 0 && ROWS_SUMS == 2 && ROWS_PATHS == 3, "in this order");

static const struct condition *condition_find(struct ftr_slice key)
{
	for (size_t i = 0; i < sizeof(conditions) / sizeof(conditions[0]); i++) {
		if (ftr_slice_eq(key, conditions[i].key))
			return &conditions[i];
	}
	return NULL;
}

static int refuse(struct ftr_slice part, enum rows_table table, struct ftr_err *err)
{
	struct ftr_strbuf keys;
	int ret;

	ftr_strbuf_init(&keys);
	for (size_t i = 0; i < sizeof(conditions) / sizeof(conditions[0]); i++)
		if (conditions[i].column[table] != NULL)
			ftr_strbuf_printf(&keys, "%s%s=", keys.len == 0 ? "" : ", ",
					  conditions[i].key);
	ret = ftr_err_set(err, EINVAL, "\"%.*s\": has to be one of %s, with a value",
			  (int)part.len, part.s, ftr_strbuf_str(&keys));
	ftr_strbuf_fini(&keys);
	return ret;
}

static int put_condition(struct ftr_strbuf *sql, struct ftr_slice part, enum rows_table table,
			 struct ftr_err *err)
{
	struct ftr_slice key, value = part;
	const struct condition *condition;
	struct ftr_strbuf text;

	ftr_slice_split(&value, '=', &key);
	condition = condition_find(key);
	if (condition == NULL || condition->column[table] == NULL || key.len == part.len)
		return refuse(part, table, err);
	ftr_strbuf_init(&text);
	ftr_strbuf_put(&text, value.s, value.len);
	ftr_strbuf_printf(sql, " AND %s %s %s", condition->column[table], condition->compare,
			  condition->is_time ? "toInt64(parseDateTimeBestEffort(" : "");
	ftr_sql_put_string(sql, ftr_strbuf_str(&text));
	if (condition->is_time)
		ftr_strbuf_puts(sql, ")) * 1000000000");
	ftr_strbuf_fini(&text);
	return 0;
}

static int put_where(struct ftr_strbuf *sql, const char *where, enum rows_table table,
		     struct ftr_err *err)
{
	struct ftr_slice rest, part;
	int ret = 0;

	ftr_strbuf_puts(sql, " WHERE 1");
	if (where == NULL)
		return 0;
	rest = ftr_slice_make(where, strlen(where));
	while (ret == 0 && ftr_slice_split(&rest, ',', &part))
		ret = put_condition(sql, part, table, err);
	return ret;
}

static int take_rows(const struct ftr_question *question, const struct ftr_strbuf *text,
		     struct ftr_err *err)
{
	struct ftr_answer answer = ftr_answer_of(text);
	int ret = 0;

	while (ret == 0 && ftr_answer_has_more(&answer))
		ret = question->take(question->arg, &answer);
	if (answer.is_cut)
		return ftr_err_set(err, EPROTO, "the server's answer is cut short");
	return ret < 0 ? ftr_err_set(err, ENOMEM, "out of memory") : 0;
}

int ftr_question_ask(const struct ftr_question *question, const struct ftr_asked *asked,
		     struct ftr_err *err)
{
	struct ftr_strbuf sql, answer;
	int ret;

	ftr_strbuf_init(&sql);
	ftr_strbuf_init(&answer);
	ftr_strbuf_printf(&sql, "%s%s FROM %s.%s", question->select[0], question->select[1],
			  asked->fleet->database, row_tables[question->table].name);
	ret = put_where(&sql, asked->where, question->table, err);
	ftr_strbuf_printf(&sql, " %s FORMAT RowBinary", question->tail);
	if (ret == 0 && sql.failed)
		ret = ftr_err_set(err, ENOMEM, "out of memory");
	if (ret == 0)
		ret = ftr_http_query(asked->http, ftr_strbuf_str(&sql), &answer, err);
	if (ret == 0)
		ret = take_rows(question, &answer, err);
	ftr_strbuf_fini(&sql);
	ftr_strbuf_fini(&answer);
	return ret;
}
