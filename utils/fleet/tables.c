/* SPDX-License-Identifier: MIT */
/* The tables of a fleet's database, as SQL that ClickHouse understands since 18.16. */
#include "utils/fleet/tables.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "utils/export/rows.h"
#include "utils/fleet/http.h"

/* All of a run is on one shard: what counts is decided there. */
#define SHARDING_KEY "cityHash64(host, run)"

#define DAY_OF(column) "toYYYYMMDD(toDateTime(intDiv(" column ", 1000000000)))"

static const char *const type_names[] = {
	[ROW_STRING] = "String", [ROW_U8] = "UInt8", [ROW_I16] = "Int16", [ROW_I32] = "Int32",
	[ROW_U32] = "UInt32", [ROW_U64] = "UInt64", [ROW_I64] = "Int64",
};

static const char *const engines[ROWS_TABLES] = {
	[ROWS_CALLS] = "MergeTree PARTITION BY " DAY_OF("start")
		       " ORDER BY (host, run, tid, start)",
	[ROWS_EVENTS] = "MergeTree PARTITION BY " DAY_OF("time") " ORDER BY (host, run, tid, time)",
	[ROWS_SUMS] = "SummingMergeTree((calls, total, self, nested, outermost))"
		      " PARTITION BY " DAY_OF("minute")
		      " ORDER BY (function, module, build_id, minute, bucket, host, boot, run, load,"
		      " block)",
	[ROWS_PATHS] = "MergeTree PARTITION BY " DAY_OF("minute")
		       " ORDER BY (program, path, minute, host, run)",
};

static const struct row_column block_columns[] = {
	{ "host", ROW_STRING }, { "boot", ROW_U32 }, { "run", ROW_STRING }, { "load", ROW_U64 },
	{ "block", ROW_U32 },
};

static const struct row_table blocks = { "blocks", block_columns,
					 sizeof(block_columns) / sizeof(block_columns[0]) };

void ftr_sql_put_string(struct ftr_strbuf *sql, const char *s)
{
	ftr_strbuf_putc(sql, '\'');
	for (; *s != '\0'; s++) {
		if (*s == '\'' || *s == '\\')
			ftr_strbuf_putc(sql, '\\');
		ftr_strbuf_putc(sql, *s);
	}
	ftr_strbuf_putc(sql, '\'');
}

static void put_columns(struct ftr_strbuf *sql, const struct row_table *table, bool has_types)
{
	for (size_t i = 0; i < table->column_nr; i++) {
		ftr_strbuf_printf(sql, "%s%s", i > 0 ? ", " : "", table->columns[i].name);
		if (has_types)
			ftr_strbuf_printf(sql, " %s", type_names[table->columns[i].type]);
	}
}

/* Carry out @sql and empty it. */
static int carry_out(struct ftr_http *http, struct ftr_strbuf *sql, struct ftr_err *err)
{
	char *text = ftr_strbuf_take(sql);
	int ret;

	if (text == NULL)
		return ftr_err_set(err, ENOMEM, "out of memory");
	ret = ftr_http_query(http, text, NULL, err);
	free(text);
	return ret;
}

/* Another name for @to, of all shards: reading it asks them all, writing sends rows to theirs. */
static int make_distributed(const struct ftr_fleet *fleet, struct ftr_http *http,
			    const struct row_table *table, const char *suffix, const char *to,
			    struct ftr_err *err)
{
	struct ftr_strbuf sql;

	ftr_strbuf_init(&sql);
	ftr_strbuf_printf(&sql, "CREATE TABLE IF NOT EXISTS %s.%s%s (", fleet->database,
			  table->name, suffix);
	if (strcmp(to, "data") == 0 && table != &blocks)
		ftr_strbuf_puts(&sql, "load UInt64, block UInt32, ");
	put_columns(&sql, table, true);
	ftr_strbuf_printf(&sql, ") ENGINE = Distributed(%s, %s, %s_%s, " SHARDING_KEY ")",
			  fleet->cluster, fleet->database, table->name, to);
	return carry_out(http, &sql, err);
}

static int make_blocks(const struct ftr_fleet *fleet, struct ftr_http *http, struct ftr_err *err)
{
	struct ftr_strbuf sql;
	int ret;

	ftr_strbuf_init(&sql);
	ftr_strbuf_printf(&sql, "CREATE TABLE IF NOT EXISTS %s.blocks_data (", fleet->database);
	put_columns(&sql, &blocks, true);
	ftr_strbuf_puts(&sql, ") ENGINE = MergeTree ORDER BY (host, boot, run, load, block)");
	ret = carry_out(http, &sql, err);
	if (ret == 0 && fleet->cluster != NULL)
		ret = make_distributed(fleet, http, &blocks, "", "data", err);
	return ret;
}

static int make_data(const struct ftr_fleet *fleet, struct ftr_http *http,
		     const struct row_table *table, struct ftr_err *err)
{
	struct ftr_strbuf sql;

	ftr_strbuf_init(&sql);
	ftr_strbuf_printf(&sql,
			  "CREATE TABLE IF NOT EXISTS %s.%s_data (load UInt64, block UInt32, ",
			  fleet->database, table->name);
	put_columns(&sql, table, true);
	ftr_strbuf_printf(&sql, ") ENGINE = %s", engines[table - row_tables]);
	return carry_out(http, &sql, err);
}

static int make_view(const struct ftr_fleet *fleet, struct ftr_http *http,
		     const struct row_table *table, struct ftr_err *err)
{
	const char *database = fleet->database;
	struct ftr_strbuf sql;
	int ret;

	ftr_strbuf_init(&sql);
	ftr_strbuf_printf(&sql, "CREATE VIEW IF NOT EXISTS %s.%s_here AS SELECT ", database,
			  table->name);
	put_columns(&sql, table, false);
	ftr_strbuf_printf(&sql,
			  " FROM %s.%s_data WHERE (load, block) IN (SELECT load, block FROM"
			  " %s.blocks_data WHERE load IN (SELECT min(load) FROM %s.blocks_data"
			  " GROUP BY host, boot, run))",
			  database, table->name, database, database);
	ret = carry_out(http, &sql, err);
	if (ret < 0 || fleet->cluster != NULL)
		return ret;
	ftr_strbuf_printf(&sql, "CREATE VIEW IF NOT EXISTS %s.%s AS SELECT ", database,
			  table->name);
	put_columns(&sql, table, false);
	ftr_strbuf_printf(&sql, " FROM %s.%s_here", database, table->name);
	return carry_out(http, &sql, err);
}

static int make_table(const struct ftr_fleet *fleet, struct ftr_http *http,
		      const struct row_table *table, struct ftr_err *err)
{
	int ret = make_data(fleet, http, table, err);

	if (ret == 0)
		ret = make_view(fleet, http, table, err);
	if (ret == 0 && fleet->cluster != NULL)
		ret = make_distributed(fleet, http, table, "", "here", err);
	if (ret == 0 && fleet->cluster != NULL)
		ret = make_distributed(fleet, http, table, "_in", "data", err);
	return ret;
}

int ftr_fleet_make_tables(const struct ftr_fleet *fleet, struct ftr_http *http, struct ftr_err *err)
{
	struct ftr_strbuf sql;
	int ret;

	ftr_strbuf_init(&sql);
	ftr_strbuf_printf(&sql, "CREATE DATABASE IF NOT EXISTS %s", fleet->database);
	ret = carry_out(http, &sql, err);
	if (ret == 0)
		ret = make_blocks(fleet, http, err);
	for (size_t i = 0; ret == 0 && i < ROWS_TABLES; i++)
		ret = make_table(fleet, http, &row_tables[i], err);
	return ret;
}

void ftr_fleet_put_insert(const struct ftr_fleet *fleet, const struct row_table *table,
			  struct ftr_strbuf *sql)
{
	ftr_strbuf_printf(sql, "INSERT INTO %s.%s%s (load, block, ", fleet->database, table->name,
			  fleet->cluster != NULL ? "_in" : "_data");
	put_columns(sql, table, false);
	ftr_strbuf_puts(sql, ") FORMAT RowBinary");
}

/* The table of blocks: of all shards, or here. */
static const char *blocks_suffix(const struct ftr_fleet *fleet)
{
	return fleet->cluster != NULL ? "" : "_data";
}

int ftr_fleet_has_run(const struct ftr_fleet *fleet, struct ftr_http *http,
		      const struct ftr_fleet_run *run, struct ftr_err *err)
{
	struct ftr_strbuf sql, answer;
	int ret;

	ftr_strbuf_init(&sql);
	ftr_strbuf_init(&answer);
	ftr_strbuf_printf(&sql, "SELECT count() FROM %s.blocks%s WHERE boot = %u AND host = ",
			  fleet->database, blocks_suffix(fleet), run->boot);
	ftr_sql_put_string(&sql, run->host);
	ftr_strbuf_puts(&sql, " AND run = ");
	ftr_sql_put_string(&sql, run->name);
	ret = sql.failed ? ftr_err_set(err, ENOMEM, "out of memory") :
			   ftr_http_query(http, ftr_strbuf_str(&sql), &answer, err);
	if (ret == 0)
		ret = strtoull(ftr_strbuf_str(&answer), NULL, 10) > 0;
	ftr_strbuf_fini(&sql);
	ftr_strbuf_fini(&answer);
	return ret;
}

int ftr_fleet_seal(const struct ftr_fleet *fleet, struct ftr_http *http,
		   const struct ftr_fleet_run *run, uint64_t load, const uint32_t *block_nrs,
		   size_t nr, struct ftr_err *err)
{
	struct ftr_strbuf sql;

	ftr_strbuf_init(&sql);
	ftr_strbuf_printf(&sql, "INSERT INTO %s.blocks%s (", fleet->database, blocks_suffix(fleet));
	put_columns(&sql, &blocks, false);
	ftr_strbuf_puts(&sql, ") VALUES ");
	for (size_t i = 0; i < nr; i++) {
		ftr_strbuf_puts(&sql, i > 0 ? ",(" : "(");
		ftr_sql_put_string(&sql, run->host);
		ftr_strbuf_printf(&sql, ",%u,", run->boot);
		ftr_sql_put_string(&sql, run->name);
		ftr_strbuf_printf(&sql, ",%llu,%u)", (unsigned long long)load, block_nrs[i]);
	}
	return carry_out(http, &sql, err);
}
