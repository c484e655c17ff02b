/* SPDX-License-Identifier: MIT */
/*
 * Rules: which functions' calls are recorded or shown, and what else is done at them.  The grammar
 * is uftrace's:
 *
 *	rules = rule { ";" rule }	rule = [ "!" ] PATTERN [ "@" action { "," action } ]
 *
 * where an action is a row of rule_actions.def, or the name of a module.  ftr record resolves
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
#include "utils/trace/rule_actions.h"

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

struct ftr_rule {
	struct ftr_pattern *pattern;	/* (owned) */
	const char *module;	/* (nullable) see ftr_rule_module */
	enum ftr_rule_kind kind;
	uint32_t actions;	/* enum ftr_rule_action */
	uint32_t undecided;	/* ... while recording, with a condition: what they were */
	uint32_t left_actions;	/* ... that were taken away, as they are left to others */
	struct ftr_rule_values values;
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

/* Remove @nr rules from the one at @first on. */
void ftr_rules_remove(struct ftr_rules *rules, size_t first, size_t nr);

/* What all of the rules do together: bits. */
uint32_t ftr_rules_actions(const struct ftr_rules *rules);

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
/* Is the source file, by its path from the root or any end of it, one that the rule is about? */
bool ftr_rule_matches_file(const struct ftr_rule *rule, const char *file);

/* The rules of a command line, in their order: -N after -F wins, and the reverse. */
struct ftr_rule_opts {
	struct ftr_opt_list given;	/* pairs: long option, argument */
	int match;			/* enum ftr_match */
};

int ftr_rules_parse_opts(struct ftr_rules *rules, const struct ftr_rule_opts *opts,
			 struct ftr_err *err);

#endif /* FTR_TRACE_RULE_H */
