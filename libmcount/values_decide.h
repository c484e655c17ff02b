/* SPDX-License-Identifier: MIT */
/* Conditions of rules that are decided when a call begins, or ends (struct ftr_value_test). */
#ifndef FTR_LIBMCOUNT_VALUES_DECIDE_H
#define FTR_LIBMCOUNT_VALUES_DECIDE_H

#include <stdbool.h>

#include "libmcount/values.h"

enum ftr_decision {
	FTR_DECIDED_FALSE,
	FTR_DECIDED_TRUE,
	FTR_UNDECIDED,			/* readers have to */
};

/* Is the condition of @programs' function true of @call, which begins? */
enum ftr_decision ftr_values_decide(const struct ftr_values_programs *programs,
				    const struct ftr_call *call)
	__attribute__((visibility("hidden")));

/* What is known of the tests that a dump depends on when the call has begun: a bit for each. */
struct ftr_values_judged {
	uint64_t known, truth;
};
struct ftr_values_judged ftr_values_judge(const struct ftr_values_programs *programs,
					  const struct ftr_call *call)
	__attribute__((visibility("hidden")));

/*
 * Does it ask for a dump, with what is known at its end: the value in @call's registers, and that
 * it took @elapsed_ns?  What is not known, as readers have it, is not true, nor is its opposite.
 */
bool ftr_values_asks_dump(const struct ftr_values_programs *programs, const struct ftr_call *call,
			  const struct ftr_values_judged *judged, uint64_t elapsed_ns)
	__attribute__((visibility("hidden")));

#endif /* FTR_LIBMCOUNT_VALUES_DECIDE_H */
