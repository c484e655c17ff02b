/* SPDX-License-Identifier: MIT */
/* What value_module.c and value_tests.c share: a module while it is compiled. */
#ifndef FTR_RECORD_VALUE_COMPILER_H
#define FTR_RECORD_VALUE_COMPILER_H

#include "utils/base/arena.h"
#include "utils/base/strbuf.h"
#include "utils/format/uftrace/spec.h"
#include "utils/record/value_enums.h"
#include "utils/record/value_module.h"
#include "utils/record/value_shape.h"

struct ftr_debuginfo;
struct ftr_pattern_names;
struct ftr_symbol;

struct value_compiler {
	const struct ftr_record_choice *choice;
	const struct ftr_record_choice *told;	/* what readers know of values: told.h */
	struct ftr_value_module *module;
	struct ftr_debuginfo *debuginfo;	/* (owned, nullable) */
	struct ftr_value_enums enums;
	struct ftr_value_shapes shapes;
	struct ftr_arena arena;
	const char *path;
	const struct ftr_symbol *symbol;	/* whose turn it is */
	const struct ftr_signature *signature;	/* (nullable) its */
	const struct ftr_callconv *convention;
};

/* May @rule be about the function whose turn it is? */
bool value_module_matches(const struct value_compiler *self, const struct ftr_rule *rule);

/*
 * The words that users gave for the function called @names; *is_automatic: debug info is to be
 * asked.  0 or -ENOMEM.
 */
int value_layout_add(struct value_compiler *self, const struct ftr_pattern_names *names,
		     enum uft_spec_kind kind, struct uft_layout *layout, bool *is_automatic);

/*
 * The tests of its calls (utils/proto/values.h), by the words that readers know its values by, into
 * func->test and func->dump.  0 or -ENOMEM.
 */
int value_tests_compile(struct value_compiler *self, const struct ftr_pattern_names *names,
			const struct ftr_strbuf words[2], struct ftr_values_func *func);

#endif /* FTR_RECORD_VALUE_COMPILER_H */
