/* SPDX-License-Identifier: MIT */
/*
 * The tables of a fleet's database (doc/fleet.md), and what is seen of them.
 *
 *	calls_data ...	rows as they were sent, with the load and the block that they came in
 *	blocks_data	the blocks that count: written once, when all of a load has arrived
 *	calls_here ...	rows of the blocks that count, of the first load of each run
 *	calls ...	the same; of all shards, where there is a cluster
 */
#ifndef FTR_FLEET_TABLES_H
#define FTR_FLEET_TABLES_H

#include <stdint.h>

#include "utils/base/err.h"
#include "utils/base/strbuf.h"

struct ftr_http;
struct row_table;

struct ftr_fleet {
	const char *database;
	const char *cluster;	/* (nullable) of Distributed tables */
};

/* What tells a run from all others. */
struct ftr_fleet_run {
	const char *host;
	uint32_t boot;
	const char *name;
};

/* Make what is missing, on the server that @http leads to. */
int ftr_fleet_make_tables(const struct ftr_fleet *fleet, struct ftr_http *http,
			  struct ftr_err *err);

/* "INSERT INTO ... FORMAT RowBinary" for rows of @table behind their load and block. */
void ftr_fleet_put_insert(const struct ftr_fleet *fleet, const struct row_table *table,
			  struct ftr_strbuf *sql);

/* 1: the run is there; 0: it is not. */
int ftr_fleet_has_run(const struct ftr_fleet *fleet, struct ftr_http *http,
		      const struct ftr_fleet_run *run, struct ftr_err *err);

/* From now on the blocks (@nr numbers) of @load count. */
int ftr_fleet_seal(const struct ftr_fleet *fleet, struct ftr_http *http,
		   const struct ftr_fleet_run *run, uint64_t load, const uint32_t *blocks,
		   size_t nr, struct ftr_err *err);

/* A string of SQL's, in quotes. */
void ftr_sql_put_string(struct ftr_strbuf *sql, const char *s);

#endif /* FTR_FLEET_TABLES_H */
