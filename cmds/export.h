/* SPDX-License-Identifier: MIT */
/* Opened data written in another format. */
#ifndef FTR_CMDS_EXPORT_H
#define FTR_CMDS_EXPORT_H

#include <stdbool.h>

#include "utils/base/option.h"

struct ftr_common;
struct ftr_format;
struct ftr_opened;
struct ftr_trace;

struct ftr_export {
	const struct ftr_common *common;
	const struct ftr_format *format;	/* one that is written */
	const char *path;			/* NULL or "-" (files only): standard output */
	const void *values;			/* (nullable) of its options */
};

/* const struct ftr_format *: by a name that the row's next_word has. */
ftr_option_parse_fn ftr_opt_format;

/*
 * Write all that @opened lets through.  Reports what failed, and what the format could not hold.
 * An exit status.
 */
int ftr_export(struct ftr_opened *opened, const struct ftr_export *to);

#endif /* FTR_CMDS_EXPORT_H */
