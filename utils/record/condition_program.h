/* SPDX-License-Identifier: MIT */
/*
 * Conditions of rules (utils/trace/condition.h) as programs for the runtime (utils/proto/values.h),
 * as far as it can decide them when a call begins: comparisons of integer arguments that are in
 * registers, and &&, ||, ! of such.  The outcome is the one that readers come to.
 */
#ifndef FTR_RECORD_CONDITION_PROGRAM_H
#define FTR_RECORD_CONDITION_PROGRAM_H

#include "utils/base/vec.h"
#include "utils/format/uftrace/spec.h"
#include "utils/proto/values.h"

struct ftr_condition;

/* Of all functions of a module. */
struct ftr_condition_programs {
	FTR_VEC(struct ftr_value_test) tests;	/* the first is of no function */
};

/*
 * Append the program of @condition for calls whose arguments are recorded as @layout says; *index
 * becomes that of its first test, 0: readers have to decide.  0 or -ENOMEM.
 */
int ftr_condition_program_add(struct ftr_condition_programs *programs,
			      const struct ftr_condition *condition,
			      const struct uft_layout *layout, uint32_t *index);

#endif /* FTR_RECORD_CONDITION_PROGRAM_H */
