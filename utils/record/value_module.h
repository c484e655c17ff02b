/* SPDX-License-Identifier: MIT */
/*
 * Which arguments and return values of a module's functions are recorded, and how: by the specs of
 * the user, else, where automatic ones are wanted, by DWARF, else by the prototypes of well-known
 * library functions.  The same order as readers have (utils/format/uftrace/read_spec.c), from the
 * same words: a payload has no other description.
 */
#ifndef FTR_RECORD_VALUE_MODULE_H
#define FTR_RECORD_VALUE_MODULE_H

#include <stdbool.h>

#include "utils/base/strbuf.h"
#include "utils/record/value.h"
#include "utils/trace/rule.h"

/* What was asked for. */
struct ftr_value_wants {
	struct ftr_rules rules;	/* those with FTR_RULE_ARGUMENT, FTR_RULE_RETVAL, _AUTO_ARGS */
	bool auto_args;		/* of every function */
};

/* What a module has of it. */
struct ftr_value_module {
	struct ftr_value_programs programs;
	FTR_VEC(struct ftr_values_func) funcs;	/* by address */
	struct ftr_strbuf enums, functions;	/* lines of its NAME.dbg */
	size_t matched_nr;			/* functions that were asked for by name */
};

/*
 * Compile them for the functions of the module at @path.  A file that cannot be read has none.  0,
 * or -ENOMEM; in any case finish it.
 */
int  ftr_value_module_init(struct ftr_value_module *module, const char *path,
			   const struct ftr_value_wants *wants);
void ftr_value_module_fini(struct ftr_value_module *module);

/* Check the specs of values in @wants.  0, or -EINVAL with the place described, or -ENOMEM. */
int ftr_value_wants_check(const struct ftr_value_wants *wants, struct ftr_err *err);

#endif /* FTR_RECORD_VALUE_MODULE_H */
