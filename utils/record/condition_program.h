/* SPDX-License-Identifier: MIT */
/*
 * Conditions of rules (utils/trace/condition.h) as programs for the runtime (utils/proto/values.h),
 * as far as it can decide them: comparisons of values that are integers, floats or texts, and &&,
 * ||, ! of such.  What is recorded depends on conditions that are decided when a call begins; a
 * dump may depend on its value and duration, too.  The outcome is the one that readers come to.
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

/* What of a function's calls is recorded, and by which programs; 0 = nothing. */
struct ftr_condition_values {
	const struct uft_layout *args, *retval;
	uint32_t entry, exit;
	struct ftr_value_programs *values;	/* some are added for what is in no register */
};

/* A program: the index of its first test, 0 = the runtime cannot decide, and how many it has. */
struct ftr_condition_program {
	uint32_t first, nr;
};

/* Append that of @condition for calls with @values, when they begin.  0 or -ENOMEM. */
int ftr_condition_program_add(struct ftr_condition_programs *programs,
			      const struct ftr_condition *condition,
			      const struct ftr_condition_values *values,
			      struct ftr_condition_program *program);

/* The same when they end, of any of @nr conditions. */
int ftr_condition_program_add_end(struct ftr_condition_programs *programs,
				  const struct ftr_condition *const *conditions, size_t nr,
				  const struct ftr_condition_values *values,
				  struct ftr_condition_program *program);

#endif /* FTR_RECORD_CONDITION_PROGRAM_H */
