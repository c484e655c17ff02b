/* SPDX-License-Identifier: MIT */
/*
 * A run's rows into the database of a fleet.  They are seen when all have arrived, and once however
 * often they were loaded.
 */
#ifndef FTR_FLEET_LOAD_H
#define FTR_FLEET_LOAD_H

#include <stdint.h>

#include "utils/fleet/tables.h"
#include "utils/trace/sink.h"

struct ftr_http_server;

struct ftr_load_options {
	const struct ftr_http_server *server;
	const struct ftr_fleet *fleet;
	const char *run;	/* (nullable) instead of the trace's own name of its run */
	unsigned threads;
	bool is_gzip;
};

struct ftr_load_result {
	uint64_t calls, events;
	uint64_t bytes;		/* of rows, before they were compressed */
};

/* What tells @trace from others, by the name @name (nullable: its own, "" when it has none). */
struct ftr_fleet_run ftr_load_run(const struct ftr_trace *trace, const char *name);

/*
 * A sink that sends what it is given and seals it at the end; *@result is filled then.  Both are
 * borrowed.  NULL: described.
 */
struct ftr_sink *ftr_load_new(const struct ftr_load_options *options,
			      struct ftr_load_result *result, struct ftr_err *err);

#endif /* FTR_FLEET_LOAD_H */
