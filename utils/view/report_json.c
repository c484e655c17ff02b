/* SPDX-License-Identifier: MIT */
/* report --json: an object a function, with the columns of -f as members. */
#include "utils/view/report.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "utils/analysis/stats.h"
#include "utils/base/bits.h"
#include "utils/base/strbuf.h"
#include "utils/view/json.h"
#include "utils/view/report_columns.h"

#define KEY_BYTES 32

/* "total-avg" is total_avg, which needs no quotes where members are named. */
static const char *key_of(const struct report_column *column, char key[KEY_BYTES])
{
	size_t i = 0;

	for (; column->name[i] != '\0' && i < KEY_BYTES - 1; i++)
		key[i] = column->name[i] == '-' ? '_' : column->name[i];
	key[i] = '\0';
	return key;
}

static void put_cpus(struct ftr_json *line, const char *key, const struct report_column *column,
		     const struct ftr_func_stat *stat)
{
	struct ftr_strbuf text;

	ftr_strbuf_init(&text);
	report_cpus_text(column, stat, &text);
	ftr_json_string(line, key, ftr_strbuf_str(&text), text.len);
	ftr_strbuf_fini(&text);
}

static void put_value(struct ftr_json *line, const struct report_column *column,
		      const struct ftr_func_stat *stat)
{
	char name[KEY_BYTES];
	const char *key = key_of(column, name);

	switch (column->kind) {
	case REPORT_PERCENT:
		ftr_json_double(line, key, column->value(stat));
		break;
	case REPORT_CPU_MASK:
	case REPORT_CPU_LIST:
		put_cpus(line, key, column, stat);
		break;
	default:
		ftr_json_u64(line, key, (uint64_t)column->value(stat));
		break;
	}
}

int ftr_report_print_json(const struct ftr_stats *stats, const struct ftr_report_opts *opts,
			  struct ftr_ostream *out, struct ftr_err *err)
{
	struct ftr_json line;
	uint64_t mask;
	size_t nr;
	const struct ftr_func_stat **rows = report_rows(stats, opts, &mask, &nr, err);

	if (rows == NULL)
		return -err->code;
	for (size_t i = 0; i < nr; i++) {
		ftr_json_begin(&line, out, "func");
		ftr_json_string(&line, "func", rows[i]->name, rows[i]->name_len);
		for (int j = 0; j < REPORT_COLUMNS; j++)
			if (mask & FTR_BIT64(j))
				put_value(&line, &report_columns[j], rows[i]);
		ftr_json_end(&line);
	}
	free(rows);
	return 0;
}
