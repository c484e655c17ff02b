/* SPDX-License-Identifier: MIT */
/* What record tells its user at the end of a recording. */
#ifndef FTR_CMDS_RECORD_END_H
#define FTR_CMDS_RECORD_END_H

struct ftr_record_opts;
struct ftr_recorder_options;
struct ftr_recorder_result;

/* The closing line of a recording: the time it took, its size, what was lost. */
void ftr_record_report_end(const struct ftr_recorder_result *result,
			   const struct ftr_record_opts *opts,
			   const struct ftr_recorder_options *recorder);

#endif /* FTR_CMDS_RECORD_END_H */
