/* SPDX-License-Identifier: MIT */
/* Options of reports on a fleet's database, and asking it. */
#ifndef FTR_CMDS_REPORT_FROM_H
#define FTR_CMDS_REPORT_FROM_H

#include <stdbool.h>

#include "utils/base/option.h"

struct ftr_fleet_stats;

struct ftr_report_from {
	const char *url;	/* (nullable) instead of a trace */
	const char *where;	/* (nullable) */
	const char *login;	/* (nullable) */
};

extern const struct ftr_option ftr_report_from_options[];

/* Are there columns among @fields or @keys (nullable) that the database does not know?  One. */
const char *ftr_report_from_lacks(const char *fields, const char *keys);

/*
 * What the calls that @where (nullable) lets through sum up to; *@stats is filled also on failure.
 * An exit status; failures are reported.
 */
int ftr_report_ask(const struct ftr_report_from *from, const char *where, bool has_details,
		   struct ftr_fleet_stats *stats);

#endif /* FTR_CMDS_REPORT_FROM_H */
