/* SPDX-License-Identifier: MIT */
/* Conditions that the runtime decides, of the functions of a module. */
#include <errno.h>
#include <string.h>

#include "utils/record/choice.h"
#include "utils/record/prototypes.h"
#include "utils/record/value_compiler.h"
#include "utils/trace/condition.h"

/* What readers will take the values of @symbol for: the words that describe them. */
static int told_layout(struct value_compiler *self, const struct ftr_pattern_names *names,
		       enum uft_spec_kind kind, const struct ftr_strbuf *words,
		       struct uft_layout *layout)
{
	const struct uft_spec_reader reader = { .arena = &self->arena };
	const struct ftr_prototype *prototype = NULL;
	bool is_automatic;
	int ret = value_layout_add(self, names, kind, layout, &is_automatic);
	const char *told = words->len > 0 ? words->s : NULL;

	if (ret < 0 || layout->args.nr > 0)
		return ret;
	if (told == NULL && self->signature == NULL)
		prototype = ftr_prototype_find(self->symbol->name);
	if (prototype != NULL)
		told = kind == UFT_SPEC_ARGS ? prototype->args : prototype->retval;
	if (told == NULL)
		return 0;
	ret = uft_layout_add(layout, ftr_slice_make(told, strlen(told)), kind, true, &reader);
	return ret == -ENOMEM ? ret : 0;
}

/* The conditions that the runtime decides. */
struct conditions {
	const struct ftr_rule *decided;		/* NULL = there is none */
	struct ftr_record_dumps dumps;
};

static struct conditions conditions_of(const struct value_compiler *self,
				       const struct ftr_pattern_names *names)
{
	const struct ftr_rules *rules = self->choice->rules;
	struct ftr_record_decision decision = { 0 };
	struct conditions conditions = { 0 };

	for (size_t i = 0; i < rules->rules.nr; i++) {
		if (!value_module_matches(self, &rules->rules.v[i]) ||
		    !ftr_pattern_matches_names(rules->rules.v[i].pattern, names))
			continue;
		ftr_record_decision_add(&decision, &rules->rules.v[i]);
		ftr_record_dumps_add(&conditions.dumps, &rules->rules.v[i]);
	}
	conditions.decided = ftr_record_decided(&decision);
	return conditions;
}

static int test_compile(struct value_compiler *self, const struct conditions *conditions,
			const struct ftr_condition_values *values, struct ftr_values_func *func)
{
	struct ftr_condition_programs *programs = &self->module->conditions;
	const struct ftr_record_dumps *dumps = &conditions->dumps;
	struct ftr_condition_program program = { 0 };
	int ret = 0;

	if (conditions->decided != NULL) {
		ret = ftr_condition_program_add(programs, conditions->decided->condition, values,
						&program);
		func->test = program.first;
	}
	if (ret < 0 || dumps->nr == 0 || dumps->is_any)
		return ret;
	ret = ftr_condition_program_add_end(programs, dumps->conditions, dumps->nr, values,
					    &program);
	if (program.first == 0 && ret == 0)
		ftr_strbuf_printf(&self->module->notes, "!no call of %s asks for a dump: the "
				  "condition compares what its values are not; choose others\n",
				  self->symbol->name);
	func->dump = (uint16_t)program.first;
	func->dump_nr = (uint16_t)program.nr;
	return ret;
}

int value_tests_compile(struct value_compiler *self, const struct ftr_pattern_names *names,
			const struct ftr_strbuf words[2], struct ftr_values_func *func)
{
	struct conditions conditions = conditions_of(self, names);
	struct uft_layout args = { 0 }, retval = { 0 };
	const struct ftr_condition_values values = {
		.args = &args, .retval = &retval, .entry = func->entry, .exit = func->exit,
		.values = &self->module->programs,
	};
	int ret;

	if (conditions.decided == NULL && conditions.dumps.nr == 0)
		return 0;
	ret = told_layout(self, names, UFT_SPEC_ARGS, &words[UFT_SPEC_ARGS], &args);
	if (ret == 0)
		ret = told_layout(self, names, UFT_SPEC_RETVAL, &words[UFT_SPEC_RETVAL], &retval);
	if (ret == 0)
		ret = test_compile(self, &conditions, &values, func);
	ftr_vec_fini(&args.args);
	ftr_vec_fini(&retval.args);
	return ret;
}
