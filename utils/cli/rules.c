/* SPDX-License-Identifier: MIT */
/* The options that give rules. */
#include "utils/cli/rules.h"

static int parse_trace(const struct ftr_option *opt, void *value, const char *arg,
		       struct ftr_err *err)
{
	int is_on;
	int ret = ftr_opt_on_off(opt, &is_on, arg, err);

	if (ret == 0)
		*(bool *)value = !is_on;
	return ret;
}

static const char *const trace_words[] = { "on", "off", NULL };

const struct ftr_option ftr_filter_options[] = {
	FTR_OPTION("filter", 'F', "FUNC[@ACTION,...]",
		   "Only calls of FUNC, with what they call (!FUNC: as -N)", ftr_opt_list_named,
		   struct ftr_filter_opts, rules.given),
	FTR_OPTION("notrace", 'N', "FUNC[@ACTION,...]",
		   "Leave out calls of FUNC, with what they call", ftr_opt_list_named,
		   struct ftr_filter_opts, rules.given),
	FTR_OPTION("caller-filter", 'C', "FUNC[@ACTION,...]", "Only calls that lead to FUNC",
		   ftr_opt_list_named, struct ftr_filter_opts, rules.given),
	FTR_OPTION("hide", 'H', "FUNC[@ACTION,...]", "Leave out calls of FUNC alone",
		   ftr_opt_list_named, struct ftr_filter_opts, rules.given),
	FTR_OPTION("loc-filter", 'L', "FILE[@hide]",
		   "Only functions of the source file FILE; @hide: all but those", ftr_opt_list_named,
		   struct ftr_filter_opts, rules.given),
	FTR_OPTION("trigger", 'T', "FUNC@ACTION[,...]", "Do something at calls of FUNC",
		   ftr_opt_list_named, struct ftr_filter_opts, rules.given),
	FTR_OPTION("match", 0, "TYPE", "What FUNC is: regex, glob, exact (default: regex)",
		   ftr_opt_choice, struct ftr_filter_opts, rules.match, .words = ftr_match_words),
	FTR_OPTION("size-filter", 'Z', "SIZE", "Leave out functions of less than SIZE bytes",
		   ftr_opt_size, struct ftr_filter_opts, size_bytes),
	FTR_OPTION("trace", 0, "SET", "Start with tracing on or off (default: on)", parse_trace,
		   struct ftr_filter_opts, starts_off, .words = trace_words),
	FTR_OPTION("disable", 0, NULL, "The same as --trace=off", ftr_opt_flag,
		   struct ftr_filter_opts, starts_off),
	{ 0 }
};
