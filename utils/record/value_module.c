/* SPDX-License-Identifier: MIT */
/* See value_module.h. */
#include "utils/record/value_module.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "arch/arch.h"
#include "utils/base/bits.h"
#include "utils/base/closest.h"
#include "utils/object/debuginfo.h"
#include "utils/object/demangle.h"
#include "utils/object/elf_file.h"
#include "utils/object/symtab.h"
#include "utils/proto/record.h"
#include "utils/record/choice.h"
#include "utils/record/prototypes.h"
#include "utils/record/value_compiler.h"
#include "utils/trace/condition.h"

#define VALUE_BYTES 16u			/* that a value takes which is no text of some length */

static const uint32_t action_of[] = { [UFT_SPEC_ARGS] = FTR_RULE_ARGUMENT,
				      [UFT_SPEC_RETVAL] = FTR_RULE_RETVAL };

static const char *rule_words(const struct ftr_rule *rule, enum uft_spec_kind kind)
{
	return kind == UFT_SPEC_ARGS ? rule->args : rule->retval;
}

static bool is_wanted(const struct ftr_rule *rule, enum uft_spec_kind kind)
{
	return (rule->actions & (action_of[kind] | FTR_RULE_AUTO_ARGS)) != 0;
}

bool value_module_matches(const struct value_compiler *self, const struct ftr_rule *rule)
{
	switch (ftr_rule_module(rule)) {
	case FTR_RULE_MODULE_NAMED:
		return ftr_rule_names_module(rule, self->path);
	case FTR_RULE_MODULE_PLT:
		return self->symbol->type == 'P';
	case FTR_RULE_MODULE_KERNEL:
		return false;
	default:
		return true;
	}
}

int value_layout_add(struct value_compiler *self, const struct ftr_pattern_names *names,
		     enum uft_spec_kind kind, struct uft_layout *layout, bool *is_automatic)
{
	const struct uft_spec_reader reader = { .arena = &self->arena };
	const struct ftr_rules *rules = self->told->rules;
	int ret = 0;
	size_t i;

	for (i = 0; ret != -ENOMEM && i < rules->rules.nr; i++) {
		const struct ftr_rule *rule = &rules->rules.v[i];
		const char *words = rule_words(rule, kind);

		if (!is_wanted(rule, kind) || !value_module_matches(self, rule) ||
		    !ftr_pattern_matches_names(rule->pattern, names))
			continue;
		if (words == NULL)
			*is_automatic = true;
		else
			ret = uft_layout_add(layout, ftr_slice_make(words, strlen(words)), kind,
					     ftr_pattern_is_exact(rule->pattern), &reader);
	}
	return ret == -ENOMEM ? ret : 0;
}

/* An enumeration without names that can be told is a number. */
static struct ftr_parameter told(struct value_compiler *self, const struct ftr_parameter *value,
				 const char **enum_name)
{
	struct ftr_parameter copy = *value;

	*enum_name = NULL;
	if (copy.type.kind != FTR_TYPE_ENUM)
		return copy;
	if (copy.type.values != NULL)
		*enum_name = ftr_value_enums_name(&self->enums, copy.type.values,
						  &self->module->enums);
	if (*enum_name == NULL)
		copy.type.kind = FTR_TYPE_SIGNED;
	return copy;
}

/* Clones of a function that gcc made have not all of its arguments. */
static bool is_clone(const char *name)
{
	const char *dot = strchr(name, '.');

	return dot != NULL && strncmp(dot, ".cold", 5) != 0;
}

static bool debuginfo_get(struct value_compiler *self)
{
	if (self->debuginfo != NULL)
		return true;
	if (ftr_debuginfo_open(&self->debuginfo, self->path, NULL) < 0)
		return false;
	ftr_debuginfo_follow(self->debuginfo, self->choice->value_depth);
	return true;
}

static const struct ftr_signature *signature_get(struct value_compiler *self)
{
	const struct ftr_symbol *symbol = self->symbol;

	if (symbol->type == 'P' || is_clone(symbol->name) || !debuginfo_get(self))
		return NULL;
	return ftr_debuginfo_signature(self->debuginfo, symbol->addr);
}

/* An enumeration that the function neither takes nor gives: a flag is often an int. */
static void enum_tell(struct value_compiler *self, const char *name)
{
	struct ftr_closest closest = { .distance = 0 };
	const struct ftr_enum_type *type = NULL;

	if (ftr_value_enums_has(&self->enums, name) || ftr_prototype_has_enum(name))
		return;
	if (debuginfo_get(self))
		type = ftr_debuginfo_enum(self->debuginfo, name, &closest);
	if (type != NULL && ftr_value_enums_name(&self->enums, type, &self->module->enums) != NULL)
		return;
	if (ftr_value_enums_miss(&self->enums, name))
		ftr_strbuf_printf(&self->module->notes, "!values of enum %s are shown as numbers: "
				  "debug information of %s has no such enumeration%s\n", name,
				  self->path, ftr_closest_ask(&closest, "", "; compile with -g, or "
							      "name one that it has"));
}

/* The user named an enumeration: one of what the function takes and gives, or another. */
static void enums_tell(struct value_compiler *self, const struct uft_layout *layout)
{
	const char *name;
	bool has_any = false;
	size_t i;

	for (i = 0; i < layout->args.nr; i++)
		has_any |= layout->args.v[i].arg.format == FTR_ARG_ENUM;
	if (!has_any)
		return;
	self->signature = signature_get(self);
	for (i = 0; self->signature != NULL && i < self->signature->nr; i++)
		told(self, &self->signature->params[i], &name);
	if (self->signature != NULL)
		told(self, &self->signature->retval, &name);
	for (i = 0; i < layout->args.nr; i++) {
		const struct ftr_arg *arg = &layout->args.v[i].arg;

		if (arg->format == FTR_ARG_ENUM && arg->type_name != NULL)
			enum_tell(self, arg->type_name);
	}
}

/* A prototype tells of the other machine's sizes. */
static struct uft_arg prototype_spec(struct value_compiler *self, const struct uft_arg *spec,
				     bool is_retval)
{
	struct uft_arg narrow = *spec;

	if (!ftr_prototype_is_wide(self->symbol->name, spec->arg.format == FTR_ARG_SIGNED,
				   is_retval))
		narrow.word.len = 0;		/* no size is said */
	return narrow;
}

static int prototype_value(struct value_compiler *self, const struct uft_arg *spec, bool is_retval,
			   struct ftr_parameter *value, uint32_t *stack_bytes)
{
	const struct ftr_callconv *convention = self->convention;
	struct uft_arg narrow = prototype_spec(self, spec, is_retval);
	int ret = ftr_value_of_spec(convention, &narrow, is_retval, value);

	if (*stack_bytes == 0 && ftr_prototype_returns_struct(self->symbol->name))
		*stack_bytes = convention->word_bytes;
	if (ret == 0 && !is_retval)
		ftr_value_next_on_stack(convention, value, stack_bytes);
	return ret;
}

/*
 * A spec that no payload has room for is left out whole: readers know no part of it.
 * @is_prototype: it is a library function's, not the user's.
 */
static int layout_compile(struct value_compiler *self, const struct uft_layout *layout,
			  enum uft_spec_kind kind, bool is_prototype, uint32_t *index)
{
	struct ftr_value_programs *programs = &self->module->programs;
	bool is_retval = kind == UFT_SPEC_RETVAL;
	struct ftr_parameter value;
	int ret = ftr_value_program_begin(programs);
	uint32_t stack_bytes = 0;
	size_t i;

	for (i = 0; ret == 0 && i < layout->args.nr; i++) {
		const struct uft_arg *spec = &layout->args.v[i];

		ret = is_prototype ?
			prototype_value(self, spec, is_retval, &value, &stack_bytes) :
			ftr_value_of_spec(self->convention, spec, is_retval, &value);
		if (ret == 0)
			ret = ftr_value_program_add(programs, &value);
	}
	if (ret == -EINVAL && !is_prototype)
		ftr_strbuf_printf(&self->module->notes, "!values of %s are not recorded: one of "
				  "its spec has no place on this program's machine; add %%PLACE\n",
				  self->symbol->name);
	if (ret == -E2BIG || ret == -EINVAL) {
		programs->ops.nr = programs->first;
		ret = 0;
	}
	return ret < 0 ? ret : ftr_value_program_end(programs, index);
}

/*
 * A value with what it consists of and leads to, if it has room beside the @behind_nr values behind
 * it.  *value becomes what it is in the payload.  0, -ENOMEM, or -E2BIG: the value
 * alone may have room.
 */
static int shape_add(struct value_compiler *self, struct ftr_parameter *value, uint32_t behind_nr)
{
	struct ftr_value_programs *programs = &self->module->programs;
	const char *name;
	int ret;

	if (!ftr_value_has_shape(value))
		return -E2BIG;
	ret = ftr_value_shape_make(&self->shapes, value);
	if (ret < 0)
		return ret;
	if (programs->bytes + self->shapes.bytes + behind_nr * VALUE_BYTES > FTR_PAYLOAD_MAX)
		return -E2BIG;
	name = ftr_value_shape_name(&self->shapes, value->type.inner != NULL ?
				    value->type.inner->name : value->type.name);
	if (name == NULL)
		return -ENOMEM;
	ret = ftr_value_program_join(programs, &self->shapes.programs, self->shapes.bytes);
	value->type = (struct ftr_type){ .kind = FTR_TYPE_SHAPE, .bytes = self->shapes.bytes,
					 .name = name };
	return ret;
}

static int value_add(struct value_compiler *self, struct ftr_parameter *value, uint32_t behind_nr)
{
	int ret = shape_add(self, value, behind_nr);
	const char *name = value->type.name;

	if (ret != -E2BIG)
		return ret;
	if (value->type.kind == FTR_TYPE_OPAQUE && name != NULL && name[0] != '\0') {
		value->type.name = ftr_value_plain_name(&self->shapes, name);
		if (value->type.name == NULL)
			return -ENOMEM;
	}
	return ftr_value_program_add(&self->module->programs, value);
}

/* Arguments up to the first that there is no room for. */
static int signature_args(struct value_compiler *self, struct ftr_strbuf *words, uint32_t *index)
{
	struct ftr_value_programs *programs = &self->module->programs;
	struct ftr_value_counters counters = { .convention = self->convention };
	int ret = ftr_value_program_begin(programs);
	uint32_t i, nr = self->signature->nr;

	for (i = 0; ret == 0 && i < nr; i++) {
		const char *name;
		struct ftr_parameter value = told(self, &self->signature->params[i], &name);

		if (ftr_value_bytes(&value) == 0)	/* an empty struct */
			continue;
		ret = value_add(self, &value, nr - i - 1);
		if (ret == 0)
			ftr_value_arg_words(&value, &counters, name, words);
	}
	if (ret == -ENOMEM)
		return ret;
	return ftr_value_program_end(programs, index);
}

static int signature_retval(struct value_compiler *self, struct ftr_strbuf *words, uint32_t *index)
{
	struct ftr_value_programs *programs = &self->module->programs;
	const char *name;
	struct ftr_parameter value = told(self, &self->signature->retval, &name);
	int ret = ftr_value_program_begin(programs);

	if (ret == 0 && value.type.kind != FTR_TYPE_NONE && ftr_value_bytes(&value) > 0) {
		ret = value_add(self, &value, 0);
		ftr_value_retval_words(&value, name, words);
	}
	return ret < 0 ? ret : ftr_value_program_end(programs, index);
}

static int prototype_compile(struct value_compiler *self, enum uft_spec_kind kind, uint32_t *index)
{
	const struct uft_spec_reader reader = { .arena = &self->arena };
	const struct ftr_prototype *prototype = ftr_prototype_find(self->symbol->name);
	struct uft_layout layout = { 0 };
	const char *words;
	int ret;

	if (prototype == NULL)
		return 0;
	words = kind == UFT_SPEC_ARGS ? prototype->args : prototype->retval;
	ret = uft_layout_add(&layout, ftr_slice_make(words, strlen(words)), kind, true, &reader);
	if (ret == 0)
		ret = layout_compile(self, &layout, kind, true, index);
	ftr_vec_fini(&layout.args);
	return ret;
}

static int automatic_compile(struct value_compiler *self, enum uft_spec_kind kind,
			     struct ftr_strbuf *words, uint32_t *index)
{
	self->signature = signature_get(self);
	if (self->signature == NULL)
		return prototype_compile(self, kind, index);
	return kind == UFT_SPEC_ARGS ? signature_args(self, words, index) :
				       signature_retval(self, words, index);
}

/* What conditions are about, where nothing tells what the function takes: as uftrace takes it. */
static void condition_words(struct value_compiler *self, const struct ftr_pattern_names *names,
			    enum uft_spec_kind kind, struct ftr_strbuf *words)
{
	const struct ftr_rules *rules = self->told->rules;
	struct ftr_condition_needs needs = { 0 };
	size_t i;
	unsigned n;

	for (i = 0; i < rules->rules.nr; i++) {
		const struct ftr_rule *rule = &rules->rules.v[i];

		if (rule->condition != NULL && is_wanted(rule, kind) &&
		    value_module_matches(self, rule) &&
		    ftr_pattern_matches_names(rule->pattern, names))
			ftr_condition_needs(rule->condition, &needs);
	}
	if (kind == UFT_SPEC_RETVAL) {
		if ((needs.subjects & FTR_BIT(FTR_SUBJECT_RETVAL)) != 0)
			ftr_strbuf_puts(words, "retval");
		return;
	}
	for (n = 1; n <= needs.arg_max; n++)
		ftr_strbuf_printf(words, "%sarg%u", words->len > 0 ? "," : "", n);
	for (n = 1; n <= needs.fparg_max; n++)
		ftr_strbuf_printf(words, "%sfparg%u", words->len > 0 ? "," : "", n);
}

static int condition_compile(struct value_compiler *self, const struct ftr_pattern_names *names,
			     enum uft_spec_kind kind, struct ftr_strbuf *words, uint32_t *index)
{
	const struct uft_spec_reader reader = { .arena = &self->arena };
	struct uft_layout layout = { 0 };
	int ret = 0;

	condition_words(self, names, kind, words);
	if (words->len > 0)
		ret = uft_layout_add(&layout, ftr_slice_make(words->s, words->len), kind, true,
				     &reader);
	if (ret == 0 && layout.args.nr > 0)
		ret = layout_compile(self, &layout, kind, false, index);
	ftr_vec_fini(&layout.args);
	return ret;
}

/* Readers may know of values that were recorded before, or will be again. */
static bool is_asked(const struct value_compiler *self, const struct ftr_pattern_names *names,
		     enum uft_spec_kind kind)
{
	const struct ftr_rules *rules = self->choice->rules;

	if (self->told == self->choice || self->choice->auto_args)
		return true;
	for (size_t i = 0; i < rules->rules.nr; i++) {
		if (is_wanted(&rules->rules.v[i], kind) &&
		    value_module_matches(self, &rules->rules.v[i]) &&
		    ftr_pattern_matches_names(rules->rules.v[i].pattern, names))
			return true;
	}
	return false;
}

static int kind_compile(struct value_compiler *self, const struct ftr_pattern_names *names,
			enum uft_spec_kind kind, struct ftr_strbuf *words, uint32_t *index)
{
	struct uft_layout layout = { 0 };
	bool is_automatic = self->told->auto_args;
	int ret = 0;

	if (!is_asked(self, names, kind))
		return 0;
	ret = value_layout_add(self, names, kind, &layout, &is_automatic);
	if (ret == 0 && layout.args.nr > 0) {
		enums_tell(self, &layout);
		ret = layout_compile(self, &layout, kind, false, index);
	} else if (ret == 0 && is_automatic) {
		ret = automatic_compile(self, kind, words, index);
		if (ret == 0 && *index == 0 && self->signature == NULL)
			ret = condition_compile(self, names, kind, words, index);
	}
	ftr_vec_fini(&layout.args);
	return ret;
}

/* The block of a function in NAME.dbg. */
static void function_lines(struct value_compiler *self, const struct ftr_strbuf words[2])
{
	struct ftr_strbuf *text = &self->module->functions;
	const char *file;
	unsigned line;

	if (self->signature == NULL && words[0].len + words[1].len == 0)
		return;
	ftr_strbuf_printf(text, "F: %llx %s\n", (unsigned long long)self->symbol->addr,
			  self->symbol->name);
	if (self->debuginfo != NULL &&
	    ftr_debuginfo_find(self->debuginfo, self->symbol->addr, &file, &line))
		ftr_strbuf_printf(text, "L: %u %s\n", line, file);
	if (words[UFT_SPEC_ARGS].len > 0)
		ftr_strbuf_printf(text, "A: @%s\n", words[UFT_SPEC_ARGS].s);
	if (words[UFT_SPEC_RETVAL].len > 0)
		ftr_strbuf_printf(text, "R: @%s\n", words[UFT_SPEC_RETVAL].s);
}

static int symbol_compile(struct value_compiler *self, const struct ftr_symbol *symbol,
			  uint64_t end)
{
	char *shown = ftr_demangle(symbol->name, FTR_DEMANGLE_SIMPLE);
	struct ftr_pattern_names names = { .shown = shown, .mangled = symbol->name };
	struct ftr_values_func func = { .low = (uint32_t)symbol->addr, .high = (uint32_t)end };
	struct ftr_strbuf words[2];
	int ret = shown == NULL ? -ENOMEM : 0;

	self->symbol = symbol;
	self->signature = NULL;
	ftr_strbuf_init(&words[0]);
	ftr_strbuf_init(&words[1]);
	if (ret == 0)
		ret = kind_compile(self, &names, UFT_SPEC_ARGS, &words[0], &func.entry);
	if (ret == 0)
		ret = kind_compile(self, &names, UFT_SPEC_RETVAL, &words[1], &func.exit);
	if (ret == 0)
		ret = value_tests_compile(self, &names, words, &func);
	if (ret == 0)
		function_lines(self, words);
	if (ret == 0 && (func.entry != 0 || func.exit != 0 || func.dump != 0)) {
		ret = ftr_vec_push(&self->module->funcs, func);
		self->module->own_nr += symbol->type != 'P';
		self->module->own_entry_nr += symbol->type != 'P' && func.entry != 0;
	}
	ftr_strbuf_fini(&words[0]);
	ftr_strbuf_fini(&words[1]);
	free(shown);
	return ret;
}

/* This machine's where nothing is known of the file: it has no functions, then. */
static const struct ftr_callconv *convention_of(const char *path)
{
	const struct ftr_callconv *convention = NULL;
	struct ftr_elf_file file;

	if (ftr_elf_file_open(&file, path, NULL) == 0)
		convention = ftr_elf_file_callconv(&file);
	ftr_elf_file_close(&file);
	return convention != NULL ? convention : ftr_arch_host->callconv;
}

static int symbols_compile(struct value_compiler *self, const struct ftr_symtab *tab)
{
	int ret = 0;
	size_t i;

	for (i = 0; ret == 0 && i < tab->nr; i++) {
		const struct ftr_symbol *symbol = &tab->symbols[i];
		uint64_t next = i + 1 < tab->nr ? tab->symbols[i + 1].addr : UINT32_MAX;
		uint64_t end = symbol->size != 0 && symbol->addr + symbol->size < next ?
			       symbol->addr + symbol->size : next;

		if (ftr_symbol_is_function(symbol) && end <= UINT32_MAX)
			ret = symbol_compile(self, symbol, end);
	}
	return ret;
}

int ftr_value_module_init(struct ftr_value_module *module, const char *path,
			  const struct ftr_record_choice *choice)
{
	struct value_compiler self = {
		.choice = choice, .told = choice->told != NULL ? choice->told : choice,
		.module = module, .path = path, .convention = convention_of(path),
	};
	struct ftr_symtab tab;
	int ret = 0;

	*module = (struct ftr_value_module){ 0 };
	ftr_strbuf_init(&module->enums);
	ftr_strbuf_init(&module->functions);
	ftr_strbuf_init(&module->notes);
	ftr_strbuf_init(&module->conditions.texts);
	ftr_arena_init(&self.arena);
	ftr_value_enums_init(&self.enums);
	ftr_value_shapes_init(&self.shapes, &self.enums, &module->enums);
	ftr_symtab_init(&tab);
	if (ftr_symtab_load_elf(&tab, path, NULL) == 0)
		ret = symbols_compile(&self, &tab);
	if (module->enums.failed || module->functions.failed || module->notes.failed)
		ret = -ENOMEM;
	ftr_symtab_fini(&tab);
	ftr_value_shapes_fini(&self.shapes);
	ftr_value_enums_fini(&self.enums);
	ftr_debuginfo_close(self.debuginfo);
	ftr_arena_fini(&self.arena);
	return ret;
}

void ftr_value_module_fini(struct ftr_value_module *module)
{
	ftr_vec_fini(&module->programs.ops);
	ftr_vec_fini(&module->funcs);
	ftr_strbuf_fini(&module->enums);
	ftr_strbuf_fini(&module->functions);
	ftr_strbuf_fini(&module->notes);
	ftr_vec_fini(&module->conditions.tests);
	ftr_strbuf_fini(&module->conditions.texts);
}
