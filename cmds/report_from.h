/* SPDX-License-Identifier: MIT */
/* What of a report a fleet's database can be asked. */
#ifndef FTR_CMDS_REPORT_FROM_H
#define FTR_CMDS_REPORT_FROM_H

struct ftr_fleet_stats;
struct ftr_from;

/* Are there columns among @fields or @keys (nullable) that the database does not know?  One. */
const char *ftr_report_from_lacks(const char *fields, const char *keys);
/* ... that a summary (record --summary) does not? */
const char *ftr_report_summary_lacks(const char *fields, const char *keys);

/*
 * What the calls that @where (nullable) lets through sum up to, as far as @flags (FTR_STATS_*) say;
 * *@stats is filled also on failure.  An exit status; failures are reported.
 */
int ftr_report_ask(const struct ftr_from *from, const char *where, unsigned flags,
		   struct ftr_fleet_stats *stats);

#endif /* FTR_CMDS_REPORT_FROM_H */
