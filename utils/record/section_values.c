/* SPDX-License-Identifier: MIT */
/* Arguments and return values: the programs that take them (utils/proto/values.h). */
#include <errno.h>

#include "arch/arch.h"
#include "arch/callconv.h"
#include "utils/object/elf.h"
#include "utils/object/elf_file.h"
#include "utils/object/symtab.h"
#include "utils/record/choice.h"
#include "utils/record/sections.h"
#include "utils/record/value_module.h"

struct values_options {
	struct ftr_opt_list given;	/* pairs: "argument" or "retval", and its argument */
	bool auto_args;
	uint64_t value_depth;
};

#define ROW(name_, letter_, arg_, help_, parse_, member_, ...) \
	FTR_OPTION(name_, letter_, arg_, help_, parse_, struct values_options, member_, \
		   ##__VA_ARGS__)

static const struct ftr_option values_options[] = {
	ROW("argument", 'A', "FUNC[@SPEC,...]",
	    "Record arguments of FUNC: those of SPEC, or as debug info says", ftr_opt_list_named,
	    given),
	ROW("auto-args", 'a', NULL,
	    "Record arguments and return values of all functions that are known to have any",
	    ftr_opt_flag, auto_args),
	ROW("retval", 'R', "FUNC[@SPEC]",
	    "Record the return value of FUNC: as SPEC says, or debug info", ftr_opt_list_named,
	    given),
	ROW("value-depth", 0, "N",
	    "With values from debug info, record members and what pointers lead to, N deep (0 to 4)",
	    ftr_opt_u64, value_depth, .max = FTR_VALUE_DEPTH_MAX),
	{ 0 }
};

/* Segments that are never written: what they hold is there as long as the module's code is. */
static int ranges_add(struct ftr_strbuf *ranges, const char *path)
{
	struct ftr_elf_file file;
	GElf_Phdr phdr;
	size_t nr = 0;
	int i;

	if (ftr_elf_file_open(&file, path, NULL) == 0 && elf_getphdrnum(file.elf, &nr) < 0)
		nr = 0;
	for (i = 0; i < (int)nr && gelf_getphdr(file.elf, i, &phdr) != NULL; i++) {
		uint64_t low = phdr.p_vaddr - file.base, high = low + phdr.p_filesz;
		struct ftr_values_range range = { (uint32_t)low, (uint32_t)high };

		if (phdr.p_type == PT_LOAD && (phdr.p_flags & (PF_R | PF_W)) == PF_R &&
		    phdr.p_vaddr >= file.base && low < high && high <= UINT32_MAX)
			ftr_strbuf_put(ranges, &range, sizeof(range));
	}
	ftr_elf_file_close(&file);
	return ranges->failed ? -ENOMEM : 0;
}

static void body_put(const struct ftr_value_module *made, const struct ftr_strbuf *ranges,
		     struct ftr_strbuf *body)
{
	static const struct ftr_value_op end = { 0 };
	struct ftr_values head = {
		.op_nr = (uint32_t)made->programs.ops.nr,
		.func_nr = (uint32_t)made->funcs.nr,
		.range_nr = (uint32_t)(ranges->len / sizeof(struct ftr_values_range)),
		.test_nr = (uint32_t)made->conditions.tests.nr,
		.text_bytes = (uint32_t)made->conditions.texts.len,
	};

	if (head.op_nr == 0)			/* of the image: that it is there is told, too */
		head.op_nr = 1;
	ftr_strbuf_put(body, &head, sizeof(head));
	if (made->programs.ops.nr == 0)
		ftr_strbuf_put(body, &end, sizeof(end));
	else
		ftr_strbuf_put(body, made->programs.ops.v, head.op_nr * sizeof(end));
	if (head.func_nr > 0)
		ftr_strbuf_put(body, made->funcs.v, head.func_nr * sizeof(made->funcs.v[0]));
	if (ranges->len > 0)
		ftr_strbuf_put(body, ranges->s, ranges->len);
	if (head.test_nr > 0)
		ftr_strbuf_put(body, made->conditions.tests.v,
			       head.test_nr * sizeof(struct ftr_value_test));
	if (head.text_bytes > 0)
		ftr_strbuf_put(body, made->conditions.texts.s, head.text_bytes);
}

/* What the hooks are not given. */
static void hooks_note(const struct ftr_section_module *module, const struct ftr_value_module *made)
{
	bool keeps = ftr_arch_host->keeps_pg_arguments;
	const char *remedy = keeps ? "-pg or -fpatchable-function-entry=5" :
				     "-fpatchable-function-entry=2";

	if (module->elf->hooks == FTR_ELF_HOOK_CYGPROF && made->own_nr > 0)
		ftr_strbuf_printf(module->notes, "!calls of %s have no values: what "
				  "-finstrument-functions calls is not given any; compile "
				  "with %s\n", module->path, remedy);
	if (module->elf->hooks == FTR_ELF_HOOK_MCOUNT && made->own_entry_nr > 0 && !keeps)
		ftr_strbuf_printf(module->notes, "!calls of %s have no arguments: what -pg calls "
				  "on this machine is not given any; compile with %s\n",
				  module->path, remedy);
}

/* Of programs of this machine, and of the one that it runs beside.  NULL: it is of neither. */
static const struct ftr_callconv *convention_of(const struct ftr_section_module *module)
{
	const struct ftr_arch *arch = ftr_arch_find(module->elf->machine, module->elf->elf_class);

	return arch != NULL && (arch == ftr_arch_host || arch == ftr_arch_host->beside) ?
		arch->callconv : NULL;
}

/* What nothing of values is known of here. */
static void convention_note(const struct ftr_section_module *module,
			    const struct ftr_callconv *convention)
{
	if (convention == NULL)
		ftr_strbuf_printf(module->notes, "!calls of %s have no values: it is built for "
				  "another machine than ftr, whose arguments ftr does not know; "
				  "build it for %s\n", module->path, ftr_arch_host->title);
	else if (convention->word_bytes != ftr_arch_host->callconv->word_bytes &&
		 module->choice->value_depth > 0)
		ftr_strbuf_printf(module->notes, "!values of %s are recorded without members and "
				  "what pointers lead to: --value-depth is for programs of %s; "
				  "build it for that\n", module->path, ftr_arch_host->title);
}

static int values_make(const struct ftr_section_module *module, const void *values,
		       struct ftr_strbuf *body)
{
	const struct ftr_callconv *convention = convention_of(module);
	struct ftr_value_module made;
	struct ftr_strbuf ranges;
	int ret;

	if (module->notes != NULL)
		convention_note(module, convention);
	if (convention == NULL)
		return 0;
	ret = ftr_value_module_init(&made, module->path, module->choice);
	ftr_strbuf_init(&ranges);
	if (ret == 0)
		ret = ranges_add(&ranges, module->path);
	if (ret == 0)
		body_put(&made, &ranges, body);
	if (module->notes != NULL) {
		ftr_strbuf_puts(module->notes, ftr_strbuf_str(&made.notes));
		hooks_note(module, &made);
	}
	ftr_strbuf_fini(&ranges);
	ftr_value_module_fini(&made);
	return ret;
}

/* The image's say that there are any; a library's matter where its calls are seen. */
static bool values_are_wanted(const struct ftr_section_module *module, const void *values)
{
	return ftr_values_are_any(module->choice) &&
	       (module->is_image || ftr_section_sees_calls(module));
}

/* What debug info says of arguments and return values. */
static void values_debug(const struct ftr_section_module *module, const struct ftr_symtab *tab,
			 struct ftr_strbuf *text)
{
	const struct ftr_record_choice *choice = module->choice;
	struct ftr_value_module made;

	if (choice != NULL && choice->told != NULL)
		choice = choice->told;
	if (!ftr_values_are_any(choice))
		return;
	if (ftr_value_module_init(&made, module->path, choice) == 0) {
		ftr_strbuf_puts(text, ftr_strbuf_str(&made.enums));
		ftr_strbuf_puts(text, ftr_strbuf_str(&made.functions));
	}
	ftr_value_module_fini(&made);
}

static int values_choose(struct ftr_record_choice *choice, struct ftr_rules *rules,
			 const void *values, struct ftr_err *err)
{
	const struct values_options *options = values;
	struct ftr_rule_opts given = { .match = (int)choice->match };

	if (options == NULL)
		return 0;
	given.given = options->given;
	choice->auto_args = options->auto_args;
	choice->value_depth = (unsigned)options->value_depth;
	return ftr_rules_parse_opts(rules, &given, err);
}

const struct ftr_section_maker ftr_section_maker_values = {
	.name	   = "values",
	.kind	   = FTR_SECTION_VALUES,
	.probe	   = "rules",
	.options   = values_options,
	.values_bytes = sizeof(struct values_options),
	.choose	   = values_choose,
	.check	   = ftr_values_check,
	.is_wanted = values_are_wanted,
	.is_slow   = true,
	.info	   = ftr_values_info,
	.debug	   = values_debug,
	.make	   = values_make,
};
