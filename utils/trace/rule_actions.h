/* SPDX-License-Identifier: MIT */
/* What rules do at calls: bits, by rule_actions.def, and the values that go with them. */
#ifndef FTR_TRACE_RULE_ACTIONS_H
#define FTR_TRACE_RULE_ACTIONS_H

#include <stddef.h>
#include <stdint.h>

#include "utils/base/closest.h"
#include "utils/base/err.h"
#include "utils/base/text.h"

struct ftr_rule;
struct ftr_rule_text;

enum ftr_rule_action_nr {
#define FTR_RULE_ACTION(id, ...)  FTR_RULE_NR_##id,
#define FTR_RULE_IMPLIED(id, ...) FTR_RULE_NR_##id,
#include "utils/trace/rule_actions.def"
#undef FTR_RULE_ACTION
#undef FTR_RULE_IMPLIED
};

enum ftr_rule_action {
#define FTR_RULE_ACTION(id, ...)  FTR_RULE_##id = 1 << FTR_RULE_NR_##id,
#define FTR_RULE_IMPLIED(id, ...) FTR_RULE_##id = 1 << FTR_RULE_NR_##id,
#include "utils/trace/rule_actions.def"
#undef FTR_RULE_ACTION
#undef FTR_RULE_IMPLIED
};

/* Who has to do with an action: bits. */
enum ftr_rule_in {
	FTR_IN_SHOWN = 1 << 0,		/* commands that show calls do it */
	FTR_IN_RECORDED = 1 << 1,	/* they leave it to ftr record */
	FTR_IN_VALUES = 1 << 2,		/* ... by specs alone, which readers know */
	FTR_IN_KEPT = 1 << 3,		/* "clear" does not void it; values neither */
	FTR_IN_ORDER = 1 << 4,		/* depends on what happened before, in any task */
	FTR_IN_COUNTED = 1 << 5,	/* depends on how many calls there were */
	FTR_IN_DEFERRED = 1 << 6,	/* ftr record leaves its rule to those who show calls */
	FTR_IN_HOWEVER_SHORT = 1 << 7,	/* has calls recorded that take less than -t */
	/*
	 * What readers do once more to what is left has the same outcome.  Not so what leaves out a
	 * call that readers must see because of what else is said of it, counts levels, or switches
	 * where recording looks earlier than they do.
	 */
	FTR_IN_REPEATABLE = 1 << 8,
	FTR_IN_THRESHOLD = 1 << 9,	/* threshold.h does it, to calls that have ended */
};

/* The actions that any of @in have to do with: bits, a constant where it is one. */
static inline uint32_t ftr_rule_actions_in(unsigned in)
{
	return 0
#define FTR_RULE_ACTION(id, name, read, flag, own) | (((own) & in) != 0 ? FTR_RULE_##id : 0u)
#define FTR_RULE_IMPLIED(id, name, own)		   | (((own) & in) != 0 ? FTR_RULE_##id : 0u)
#include "utils/trace/rule_actions.def"
#undef FTR_RULE_ACTION
#undef FTR_RULE_IMPLIED
		;
}

#define FTR_RULES_SHOWN	   ftr_rule_actions_in(FTR_IN_SHOWN)
#define FTR_RULES_RECORDED ftr_rule_actions_in(FTR_IN_RECORDED)
#define FTR_RULES_VALUES   ftr_rule_actions_in(FTR_IN_VALUES)
#define FTR_RULES_IN_ORDER ftr_rule_actions_in(FTR_IN_ORDER)
#define FTR_RULES_COUNTED  ftr_rule_actions_in(FTR_IN_COUNTED)
/* What "clear" alone voids. */
#define FTR_RULES_CLEARED  (~ftr_rule_actions_in(FTR_IN_KEPT | FTR_IN_VALUES))

/* What "read" reads: bits. */
enum ftr_rule_read {
	FTR_READ_STATM = 1 << 0,
	FTR_READ_PAGE_FAULT = 1 << 1,
	FTR_READ_PMU_CYCLE = 1 << 2,
	FTR_READ_PMU_CACHE = 1 << 3,
	FTR_READ_PMU_BRANCH = 1 << 4,
	FTR_READ_ERRNO = 1 << 5,
};

/* What actions were given behind "=". */
struct ftr_rule_values {
	uint32_t depth;		/* at least 1: levels of such a call, its own included */
	uint32_t reads;		/* enum ftr_rule_read */
	uint64_t time_ns;	/* in such a call, those that take less are dropped */
	uint64_t size_bytes;	/* ... and those of smaller functions */
	uint64_t sample_nr;	/* at least 1: one call of so many */
	uint64_t rate_per_s;	/* at least 1: so many calls a second at most */
	uint32_t clears;	/* enum ftr_rule_action: what earlier rules asked for and is void */
	char color;		/* first letter of its name, 'B' = bold; 0 = none */
};

/* The value of an action while it is read: it stands at @at of the @text. */
struct ftr_rule_value {
	struct ftr_slice slice;
	const struct ftr_rule_text *text;
	size_t at;
};

struct ftr_rule_action_row {
	const char *name;
	uint32_t bit;
	/* (nullable) 0, or -EINVAL with the place described. */
	int (*read)(struct ftr_rule_values *values, const struct ftr_rule_value *value,
		    struct ftr_err *err);
};

/* The action that a word asks for; NULL = none. */
const struct ftr_rule_action_row *ftr_rule_action_find(struct ftr_slice name);
/* Try the names of all. */
void ftr_rule_actions_try(struct ftr_closest *closest, const char *word);

/* The name of the first of the @actions: "trace_on". */
const char *ftr_rule_action_name(uint32_t actions);

/* Of two actions that exclude each other (filter and notrace, on and off) the later. */
uint32_t ftr_rule_actions_add(uint32_t before, uint32_t later);

/*
 * The actions of earlier rules of a function, with those of a later one: what that clears not at
 * all, and its values where there are two.
 */
uint32_t ftr_rule_join(uint32_t before, struct ftr_rule_values *values,
		       const struct ftr_rule *later);

#endif /* FTR_TRACE_RULE_ACTIONS_H */
