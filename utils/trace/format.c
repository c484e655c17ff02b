/* SPDX-License-Identifier: MIT */
/* Options that stand in a format's struct and choose that format. */
#include "utils/trace/format.h"

int ftr_opt_dump_format(const struct ftr_option *opt, void *value, const char *arg,
			struct ftr_err *err)
{
	*(const struct ftr_format **)value = (const struct ftr_format *)
		((const char *)opt - offsetof(struct ftr_format, dump_option));
	return 0;
}

int ftr_opt_check_format(const struct ftr_option *opt, void *value, const char *arg,
			 struct ftr_err *err)
{
	const char *format = (const char *)opt - offsetof(struct ftr_format, check_option);

	*(struct ftr_format_file *)value =
		(struct ftr_format_file){ (const struct ftr_format *)format, arg };
	return 0;
}
