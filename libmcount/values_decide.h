/* SPDX-License-Identifier: MIT */
/* Conditions of rules that are decided when a call begins (struct ftr_value_test). */
#ifndef FTR_LIBMCOUNT_VALUES_DECIDE_H
#define FTR_LIBMCOUNT_VALUES_DECIDE_H

#include <stdbool.h>

#include "libmcount/values.h"

enum ftr_decision {
	FTR_DECIDED_FALSE,
	FTR_DECIDED_TRUE,
	FTR_UNDECIDED,			/* readers have to */
};

/* Is the condition of @programs' function true of @call? */
enum ftr_decision ftr_values_decide(const struct ftr_values_programs *programs,
				    const struct ftr_call *call)
	__attribute__((visibility("hidden")));

#endif /* FTR_LIBMCOUNT_VALUES_DECIDE_H */
