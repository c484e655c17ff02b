/* SPDX-License-Identifier: MIT */
/* --from: a fleet's database in the place of a trace. */
#ifndef FTR_CMDS_FROM_H
#define FTR_CMDS_FROM_H

#include "utils/base/err.h"
#include "utils/base/option.h"

struct ftr_asked;

struct ftr_from {
	const char *url;	/* (nullable) instead of a trace */
	const char *where;	/* (nullable) */
	const char *login;	/* (nullable) */
};

extern const struct ftr_option ftr_from_options[];

/*
 * @ask the database, with @arg, about what @where (nullable) lets through.  An exit status;
 * failures are reported, those of @command.
 */
int ftr_from_ask(const struct ftr_from *from, const char *command, const char *where,
		 int (*ask)(const struct ftr_asked *asked, void *arg, struct ftr_err *err),
		 void *arg);

#endif /* FTR_CMDS_FROM_H */
