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
#include "utils/record/condition_program.h"
#include "utils/record/value.h"
#include "utils/trace/rule.h"

struct ftr_info;
struct ftr_record_choice;

/* Does @choice (nullable) ask for any values? */
bool ftr_values_are_any(const struct ftr_record_choice *choice);

/* What a module has of it. */
struct ftr_value_module {
	struct ftr_value_programs programs;
	FTR_VEC(struct ftr_values_func) funcs;	/* by address */
	size_t own_nr;				/* of them: the rest are library calls */
	size_t own_entry_nr;			/* ... with values at their entries */
	struct ftr_condition_programs conditions;
	struct ftr_strbuf enums, functions;	/* lines of its NAME.dbg */
	struct ftr_strbuf notes;		/* of struct ftr_section_module */
};

/*
 * Compile them for the functions of the module at @path.  A file that cannot be read has none.  0,
 * or -ENOMEM; in any case finish it.
 */
int  ftr_value_module_init(struct ftr_value_module *module, const char *path,
			   const struct ftr_record_choice *choice);
void ftr_value_module_fini(struct ftr_value_module *module);

/* Check the specs of values.  0, or -EINVAL with the reason, or -ENOMEM. */
int ftr_values_check(const struct ftr_record_choice *choice, struct ftr_err *err);

/* What readers of the data need to know of them: features, and lines in @arena.  0 or -ENOMEM. */
int ftr_values_info(struct ftr_info *info, const struct ftr_record_choice *choice,
		    struct ftr_arena *arena);

#endif /* FTR_RECORD_VALUE_MODULE_H */
