/* SPDX-License-Identifier: MIT */
/* A SELECT from one of the tables of a fleet, and what becomes of its rows. */
#ifndef FTR_FLEET_QUESTION_H
#define FTR_FLEET_QUESTION_H

#include "utils/base/err.h"
#include "utils/export/rows.h"
#include "utils/fleet/answer.h"

struct ftr_fleet;
struct ftr_http;

struct ftr_question {
	enum rows_table table;
	const char *select[2];	/* "SELECT ...", and more columns ("": none) */
	const char *tail;	/* "GROUP BY ..." */
	int (*take)(void *arg, struct ftr_answer *answer);	/* one row.  0 or -ENOMEM */
	void *arg;
};

/* Whom to ask, and about which rows: alike for several questions. */
struct ftr_asked {
	const struct ftr_fleet *fleet;
	struct ftr_http *http;
	/*
	 * (nullable: all) KEY=VALUE, several with commas, of the keys host, run, build, module,
	 * function, since and until (calls that ended in these minutes, "2026-11-23 08:00").
	 */
	const char *where;
};

/* -EINVAL: @asked->where is wrong. */
int ftr_question_ask(const struct ftr_question *question, const struct ftr_asked *asked,
		     struct ftr_err *err);

#endif /* FTR_FLEET_QUESTION_H */
