/* SPDX-License-Identifier: MIT */
/*
 * Conditions of rules (utils/trace/condition.h) as programs for the runtime (utils/proto/values.h),
 * as far as it can decide them when a call begins: comparisons of arguments that are integers,
 * floats or texts, and &&, ||, ! of such.  The outcome is the one that readers come to.
 */
#ifndef FTR_RECORD_CONDITION_PROGRAM_H
#define FTR_RECORD_CONDITION_PROGRAM_H

#include "utils/base/strbuf.h"
#include "utils/base/vec.h"
#include "utils/format/uftrace/spec.h"
#include "utils/proto/values.h"

struct ftr_condition;
struct ftr_value_programs;

/* Of all functions of a module. */
struct ftr_condition_programs {
	FTR_VEC(struct ftr_value_test) tests;	/* the first is of no function */
	struct ftr_strbuf texts;
};

/* What of a function's calls is recorded when they begin. */
struct ftr_condition_args {
	const struct uft_layout *layout;
	struct ftr_value_programs *values;	/* programs are added for what is in no register */
	uint32_t entry;				/* that of the arguments */
};

/*
 * Append the program of @condition for calls with @args; *index becomes that of its first test, 0:
 * readers have to decide.  0 or -ENOMEM.
 */
int ftr_condition_program_add(struct ftr_condition_programs *programs,
			      const struct ftr_condition *condition,
			      const struct ftr_condition_args *args, uint32_t *index);

#endif /* FTR_RECORD_CONDITION_PROGRAM_H */
