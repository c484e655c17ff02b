/* SPDX-License-Identifier: MIT */
/*
 * The rules for functions that the recorder handed out (utils/proto/rules.h): what is said of a
 * function, found by its address in the published sections of its module.
 */
#ifndef FTR_LIBMCOUNT_RULES_H
#define FTR_LIBMCOUNT_RULES_H

#include <stdint.h>

#include "libmcount/state.h"
#include "utils/proto/rules.h"

struct ftr_sections;

/* A sound body of FTR_SECTION_RULES. */
struct ftr_call_rules_view {
	const struct ftr_call_rules *head;
	const struct ftr_call_rule *rules;
	const struct ftr_call_rule_start *starts;
};

/* False when @sections (nullable) have none, or it is damaged. */
bool ftr_call_rules_read(struct ftr_call_rules_view *view,
			 const struct ftr_sections *sections)
	__attribute__((visibility("hidden")));

/* The rule of the address @offset of the module; NULL = none.  It stays mapped. */
const struct ftr_call_rule *ftr_call_rules_at(const struct ftr_call_rules_view *view,
					      uint64_t offset)
	__attribute__((visibility("hidden")));

/* The same by the address, and the sections of its module as they are now. */
const struct ftr_call_rule *ftr_call_rules_find(uintptr_t func)
	__attribute__((visibility("hidden")));

/* What counts for the whole process; NULL: no rules, nothing is gated. */
static inline const struct ftr_call_rules *ftr_call_rules_image(void)
{
	return atomic_load_explicit(&ftr_state.rules, memory_order_acquire);
}

#endif /* FTR_LIBMCOUNT_RULES_H */
