/* SPDX-License-Identifier: MIT */
/* Source lines of functions: for who reads the data, and nothing that the runtime gets. */
#include "utils/object/debuginfo.h"
#include "utils/object/symtab.h"
#include "utils/record/choice.h"
#include "utils/record/sections.h"
#include "utils/trace/info.h"

struct lines_options {
	bool srcline;
};

static const struct ftr_option lines_options[] = {
	FTR_OPTION("srcline", 0, NULL, "Record in which source file and line functions are",
		   ftr_opt_flag, struct lines_options, srcline),
	{ 0 }
};

/* Rules about source files are decided by readers, who know them from here. */
static int lines_choose(struct ftr_record_choice *choice, struct ftr_rules *rules,
			const void *values, struct ftr_err *err)
{
	const struct lines_options *options = values;

	choice->has_lines = (options != NULL && options->srcline) ||
			    (ftr_rules_actions(rules) & FTR_RULE_LOCATION) != 0;
	return 0;
}

static int lines_info(struct ftr_info *info, const struct ftr_record_choice *choice,
		      struct ftr_arena *arena)
{
	if (choice != NULL && choice->has_lines)
		info->feature_mask |= FTR_FEATURE_DEBUG_INFO;
	return 0;
}

static void lines_debug(const struct ftr_section_module *module, const struct ftr_symtab *tab,
			struct ftr_strbuf *text)
{
	struct ftr_debuginfo *debuginfo;
	const char *file;
	unsigned line;
	size_t i;

	if (module->choice == NULL || !module->choice->has_lines ||
	    ftr_debuginfo_open(&debuginfo, module->path, NULL) < 0)
		return;
	for (i = 0; i < tab->nr; i++) {
		const struct ftr_symbol *symbol = &tab->symbols[i];

		if (ftr_symbol_is_function(symbol) &&
		    ftr_debuginfo_find(debuginfo, symbol->addr, &file, &line))
			ftr_strbuf_printf(text, "F: %llx %s\nL: %u %s\n",
					  (unsigned long long)symbol->addr, symbol->name, line,
					  file);
	}
	ftr_debuginfo_close(debuginfo);
}

const struct ftr_section_maker ftr_section_maker_lines = {
	.name	      = "lines",
	.options      = lines_options,
	.values_bytes = sizeof(struct lines_options),
	.choose	      = lines_choose,
	.info	      = lines_info,
	.debug	      = lines_debug,
};
