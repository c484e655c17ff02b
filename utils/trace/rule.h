/* SPDX-License-Identifier: MIT */
/*
 * Rules: which functions' calls are recorded or shown, and what else is done at them.  The grammar
 * is uftrace's:
 *
 *	rules = rule { ";" rule }	rule = [ "!" ] PATTERN [ "@" action { "," action } ]
 *
 * where an action is a row of the table in rule.c, or the name of a module.  ftr record resolves
 * rules to addresses, analysis applies them to events: both read them here.
 */
#ifndef FTR_TRACE_RULE_H
#define FTR_TRACE_RULE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "utils/base/arena.h"
#include "utils/base/err.h"
#include "utils/base/option.h"
#include "utils/base/vec.h"
#include "utils/trace/pattern.h"

struct ftr_condition;

/* The option that a rule is given by: what it does where it names no action. */
enum ftr_rule_kind {
	FTR_RULE_OF_FILTER,	/* -F: FTR_RULE_FILTER */
	FTR_RULE_OF_NOTRACE,	/* -N: FTR_RULE_NOTRACE */
	FTR_RULE_OF_CALLER,	/* -C: FTR_RULE_CALLER */
	FTR_RULE_OF_HIDE,	/* -H: FTR_RULE_HIDE */
	FTR_RULE_OF_LOCATION,	/* -L: FTR_RULE_LOCATION; the pattern is of a source file's path */
	FTR_RULE_OF_TRIGGER,	/* -T: nothing */
	FTR_RULE_OF_ARGUMENT,	/* -A: FTR_RULE_ARGUMENT, automatic without values */
	FTR_RULE_OF_RETVAL,	/* -R: FTR_RULE_RETVAL, automatic without values */
	FTR_RULE_KINDS
};

/* The long option of a kind, without "--". */
const char *ftr_rule_option(enum ftr_rule_kind kind);

/* What is done at a call: bits. */
enum ftr_rule_action {
	FTR_RULE_FILTER = 1 << 0,	/* only such calls, with what they call */
	FTR_RULE_NOTRACE = 1 << 1,	/* not such calls, nor what they call */
	FTR_RULE_HIDE = 1 << 2,		/* not such calls */
	FTR_RULE_CALLER = 1 << 3,	/* only calls that lead to such */
	FTR_RULE_LOCATION = 1 << 4,	/* only functions of a source file; with HIDE: not those */
	FTR_RULE_DEPTH = 1 << 5,	/* depth: levels of such a call, its own included */
	FTR_RULE_TIME = 1 << 6,		/* time_ns: in it, calls that take less are dropped */
	FTR_RULE_SIZE = 1 << 7,		/* size_bytes: in it, so are smaller functions */
	FTR_RULE_TRACE = 1 << 8,	/* kept, however short */
	FTR_RULE_TRACE_ON = 1 << 9,
	FTR_RULE_TRACE_OFF = 1 << 10,
	FTR_RULE_FINISH = 1 << 11,	/* nothing from here on */
	FTR_RULE_RECOVER = 1 << 12,	/* return addresses are the program's own during the call */
	FTR_RULE_BACKTRACE = 1 << 13,
	FTR_RULE_COLOR = 1 << 14,	/* color */
	FTR_RULE_READ = 1 << 15,	/* reads */
	FTR_RULE_CALLSITE = 1 << 16,
	FTR_RULE_ARGUMENT = 1 << 17,	/* args */
	FTR_RULE_RETVAL = 1 << 18,	/* retval */
	FTR_RULE_AUTO_ARGS = 1 << 19,	/* arguments and return values that debug info tells of */
	FTR_RULE_SAMPLE = 1 << 20,	/* sample_nr: one call of so many */
	FTR_RULE_RATE = 1 << 21,	/* rate_per_s: so many calls a second at most */
	FTR_RULE_DUMP = 1 << 22,	/* the flight recorder is written out */
	FTR_RULE_CLEAR = 1 << 23,	/* clears */
	FTR_RULE_CONDITIONAL = 1 << 24,	/* of a plan: it depends on the call */
};

/* Which calls are left out depends on how many there were: bits. */
#define FTR_RULES_COUNTED (FTR_RULE_SAMPLE | FTR_RULE_RATE)

/* What commands that show calls do, and what is left of the rest to ftr record: bits. */
#define FTR_RULES_SHOWN \
	(FTR_RULE_FILTER | FTR_RULE_NOTRACE | FTR_RULE_HIDE | FTR_RULE_LOCATION | \
	 FTR_RULE_CALLER | FTR_RULE_TIME | FTR_RULE_SIZE | FTR_RULE_TRACE | FTR_RULE_DEPTH | \
	 FTR_RULE_TRACE_ON | FTR_RULE_TRACE_OFF | FTR_RULE_FINISH | FTR_RULE_COLOR | \
	 FTR_RULES_COUNTED | FTR_RULE_BACKTRACE | FTR_RULE_CLEAR)
#define FTR_RULES_RECORDED \
	(FTR_RULE_RECOVER | FTR_RULE_READ | FTR_RULE_CALLSITE | FTR_RULE_ARGUMENT | \
	 FTR_RULE_RETVAL | FTR_RULE_AUTO_ARGS | FTR_RULE_DUMP)

/* Values are recorded by specs alone, which readers know. */
#define FTR_RULES_CLEARED \
	((FTR_RULES_SHOWN & ~(uint32_t)(FTR_RULE_CLEAR | FTR_RULE_LOCATION)) | FTR_RULE_DUMP | \
	 FTR_RULE_RECOVER | FTR_RULE_READ | FTR_RULE_CALLSITE)

/* What depends on what happened before, in any task: bits. */
#define FTR_RULES_IN_ORDER (FTR_RULE_TRACE_ON | FTR_RULE_TRACE_OFF | FTR_RULE_FINISH)

/* What "read" reads: bits. */
enum ftr_rule_read {
	FTR_READ_STATM = 1 << 0,
	FTR_READ_PAGE_FAULT = 1 << 1,
	FTR_READ_PMU_CYCLE = 1 << 2,
	FTR_READ_PMU_CACHE = 1 << 3,
	FTR_READ_PMU_BRANCH = 1 << 4,
};

struct ftr_rule {
	struct ftr_pattern *pattern;	/* (owned) */
	const char *module;	/* (nullable) see ftr_rule_module */
	enum ftr_rule_kind kind;
	uint32_t actions;	/* enum ftr_rule_action */
	uint32_t depth;		/* at least 1 */
	uint64_t time_ns;
	uint64_t size_bytes;
	uint32_t reads;		/* enum ftr_rule_read */
	char     color;		/* first letter of its name, 'B' = bold; 0 = none */
	uint64_t sample_nr;	/* at least 1 */
	uint64_t rate_per_s;	/* at least 1 */
	uint32_t clears;	/* enum ftr_rule_action: what earlier rules asked for and is void */
	const char *args;	/* (nullable: automatic) "arg1/i32,fparg2"; as written */
	const char *retval;	/* (nullable: automatic) "retval/s"; as written */
	const struct ftr_condition *condition;	/* (nullable) of all of its actions */
	const char *text;	/* "main@depth=3", for messages */
	const char *shown;	/* the same without FTR_RULES_RECORDED; NULL = nothing is left */
};

/* In the order in which they were given: of two that say different things, the later counts. */
struct ftr_rules {
	FTR_VEC(struct ftr_rule) rules;
	struct ftr_arena arena;
};

void ftr_rules_init(struct ftr_rules *rules);
void ftr_rules_fini(struct ftr_rules *rules);

/*
 * Append the rules in @text, the argument of the option of @kind.  0, -ENOMEM, or -EINVAL with the
 * place described, in lines of its own (rule_text.h), and nothing appended.
 */
int ftr_rules_parse(struct ftr_rules *rules, enum ftr_rule_kind kind, const char *text,
		    enum ftr_match match, struct ftr_err *err);

/* The same; what is wrong is described without the option. */
int ftr_rules_parse_unnamed(struct ftr_rules *rules, enum ftr_rule_kind kind, const char *text,
			    enum ftr_match match, struct ftr_err *err);

/*
 * The actions of earlier rules of a function and of a later one: of two that exclude each other
 * (filter and notrace, on and off) the later, and what it clears not at all.
 */
uint32_t ftr_rule_actions_join(uint32_t before, const struct ftr_rule *later);

/* What all of the rules do together: bits. */
uint32_t ftr_rules_actions(const struct ftr_rules *rules);

/* The name of the lowest of the @actions: "trace_on". */
const char *ftr_rule_action_name(uint32_t actions);

/* What FUNC@MODULE asks for. */
enum ftr_rule_module {
	FTR_RULE_MODULE_ANY,
	FTR_RULE_MODULE_NAMED,	/* the file's name begins with rule->module */
	FTR_RULE_MODULE_PLT,	/* library calls: "plt" */
	FTR_RULE_MODULE_KERNEL,	/* "kernel", "k" */
};

enum ftr_rule_module ftr_rule_module(const struct ftr_rule *rule);
/* Is the file at @path one that the rule, which names a module, means? */
bool ftr_rule_names_module(const struct ftr_rule *rule, const char *path);

/* The rules of a command line, in their order: -N after -F wins, and the reverse. */
struct ftr_rule_opts {
	struct ftr_opt_list given;	/* pairs: long option, argument */
	int match;			/* enum ftr_match */
};

int ftr_rules_parse_opts(struct ftr_rules *rules, const struct ftr_rule_opts *opts,
			 struct ftr_err *err);

#endif /* FTR_TRACE_RULE_H */
