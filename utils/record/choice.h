/* SPDX-License-Identifier: MIT */
/* Which calls are recorded, and what of them: as given on the command line, for all modules. */
#ifndef FTR_RECORD_CHOICE_H
#define FTR_RECORD_CHOICE_H

#include <stdbool.h>
#include <stdint.h>

#include "utils/base/err.h"
#include "utils/base/vec.h"
#include "utils/object/symtab.h"
#include "utils/trace/rule.h"
#include "utils/trace/rule_plan.h"

/* Pointers: what is further away is not looked for. */
#define FTR_VALUE_DEPTH_MAX 4

struct ftr_record_choice {
	const struct ftr_rules *rules;	/* (borrowed) -F -N -C -H -T ... */
	uint64_t time_ns;		/* -t; 0 = calls of any length */
	uint64_t size_bytes;		/* -Z; 0 = functions of any size */
	bool starts_off;		/* --trace=off */
	bool is_switched;		/* --signal: tracing may be switched on and off */
	bool is_running;		/* the program, and has whatever libraries it has */
	bool may_change;		/* --agent: all of this, while the program runs */
	bool is_flight;			/* --overwrite: there can be dumps */
	bool no_libcalls;		/* --no-libcall: none of them is recorded */
	bool has_lines;			/* source lines are stored: --srcline, or -L needs them */
	unsigned value_depth;		/* pointers that are followed in what debug info says */
	bool auto_args;			/* -a: arguments and return values of all functions */
	enum ftr_match match;		/* what kind of patterns the rules have */
	const struct ftr_record_choice *told;	/* (nullable: this) see told.h */
	struct ftr_opt_list watched;	/* (borrowed) -W: see watched.h */
	struct ftr_opt_list events;	/* (borrowed) -E: see sdt_events.h */
	struct ftr_opt_list patched;	/* (borrowed) -P and -U: see patch_choice.h */
};

/* Does it leave anything out, or switch anything? */
bool ftr_record_choice_is_any(const struct ftr_record_choice *choice);

/* Is all that the rules ask for done by someone?  0, or -EINVAL with the reason. */
int ftr_record_choice_check(const struct ftr_record_choice *choice, struct ftr_err *err);

/*
 * Is each rule about a function in the program @image, or an instrumented one in a library that it
 * is linked with, or any one in the library that it names, and each event that is asked for one of
 * theirs?  0; 1: not all, but libraries are opened, or other programs run; -ENOENT or -ENOMEM; with
 * 1 and -ENOENT a rule is described, and a name that is near.  An image that cannot be read is not
 * blamed.
 */
int ftr_record_choice_match(const struct ftr_record_choice *choice, const char *image,
			    struct ftr_err *err);

/* Which calls of a function ask for a dump, as rules say it together. */
struct ftr_record_dumps {
	bool is_any;			/* all of them */
	bool is_at_end;			/* when they end: some condition is about that */
	size_t nr;
	const struct ftr_condition *conditions[FTR_RULE_CONDITIONS_MAX];	/* or these */
};
void ftr_record_dumps_add(struct ftr_record_dumps *dumps, const struct ftr_rule *rule);
/* Does any rule ask for a dump on a condition? */
bool ftr_record_has_conditional_dumps(const struct ftr_record_choice *choice);

/* What rules say together of one function. */
struct ftr_record_chosen {
	uint32_t actions;		/* enum ftr_rule_action */
	struct ftr_record_dumps dumps;
	/*
	 * The one rule whose condition may be decided when a call begins; NULL: there is none, or
	 * others have to do with the same.
	 */
	const struct ftr_rule *decided;
	struct ftr_rule_values values;
};

/*
 * May the condition of a rule be decided when calls begin?  If it is a filter or notrace, and no
 * other rule that matches the function does more than to record values, or ask for dumps.
 */
struct ftr_record_decision {
	const struct ftr_rule *rule;
	unsigned nr;			/* of rules that say more than that */
};
void ftr_record_decision_add(struct ftr_record_decision *decision, const struct ftr_rule *rule);
/* NULL = readers decide. */
const struct ftr_rule *ftr_record_decided(const struct ftr_record_decision *decision);

/* The same for each symbol of @tab, a module at @path, in order.  0 or -ENOMEM. */
struct ftr_record_chosen_list {
	FTR_VEC(struct ftr_record_chosen) of;
};
int ftr_record_choice_resolve(const struct ftr_record_choice *choice, const char *path,
			      const struct ftr_symtab *tab, struct ftr_record_chosen_list *list);

#endif /* FTR_RECORD_CHOICE_H */
