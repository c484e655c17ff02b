/* SPDX-License-Identifier: MIT */
/* Which options of record exclude or require each other. */
#ifndef FTR_CMDS_RECORD_CHECK_H
#define FTR_CMDS_RECORD_CHECK_H

#include "cmds/record.h"
#include "utils/base/err.h"

struct ftr_format;
struct ftr_signal_actions;

/* What the command line of record fills. */
struct ftr_record_values {
	struct ftr_common common;
	struct ftr_record_opts record;
	struct ftr_option_values of_formats;
	const struct ftr_format *format; /* (nullable: a data directory) */
	const char *output;		/* (nullable) */
	const char *host, *port;	/* (nullable) of a receiver */
	const char *merged;		/* (nullable) a trace.dat */
};

/* 0, or -EINVAL with what to do about the options that @values cannot have together. */
int ftr_record_check(const struct ftr_record_values *values, struct ftr_err *err);

/* The same for the options that live has, too, with the actions of --signal. */
int ftr_record_opts_check(const struct ftr_record_opts *opts,
			  const struct ftr_signal_actions *signals, struct ftr_err *err);

#endif /* FTR_CMDS_RECORD_CHECK_H */
