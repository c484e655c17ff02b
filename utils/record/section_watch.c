/* SPDX-License-Identifier: MIT */
/* Watch points (utils/proto/watch.h): names become offsets in the program's image. */
#include <errno.h>

#include "utils/object/symtab.h"
#include "utils/proto/watch.h"
#include "utils/record/choice.h"
#include "utils/record/sections.h"
#include "utils/record/watched.h"

struct watch_options {
	struct ftr_opt_list watched;
};

static const struct ftr_option watch_options[] = {
	FTR_OPTION("watch", 'W', "WHAT",
		   "Record where WHAT changes, seen when calls begin and end: cpu, var:NAME",
		   ftr_opt_list, struct watch_options, watched, .check = ftr_watched_word_check),
	{ 0 }
};

static int watch_choose(struct ftr_record_choice *choice, struct ftr_rules *rules,
			const void *values, struct ftr_err *err)
{
	const struct watch_options *options = values;

	if (options != NULL)
		choice->watched = options->watched;
	return 0;
}

static bool watch_is_wanted(const struct ftr_section_module *module, const void *values)
{
	return module->is_image && module->choice != NULL && module->choice->watched.nr > 0;
}

static void variables_put(const struct ftr_opt_list *watched, const struct ftr_symtab *tab,
			  struct ftr_watch *head, struct ftr_strbuf *body)
{
	size_t i;

	for (i = 0; i < watched->nr && head->variable_nr < FTR_WATCH_VARIABLES_MAX; i++) {
		const struct ftr_symbol *symbol = ftr_watched_variable(watched->v[i], tab);
		struct ftr_watch_variable variable = { 0 };

		if (symbol == NULL)		/* of another image than the first */
			continue;
		variable.offset = symbol->addr;
		variable.bytes = symbol->size;
		ftr_strbuf_put(body, &variable, sizeof(variable));
		head->variable_nr++;
	}
}

static int watch_make(const struct ftr_section_module *module, const void *values,
		      struct ftr_strbuf *body)
{
	const struct ftr_opt_list *watched = &module->choice->watched;
	struct ftr_watch head = {
		.flags = ftr_watched_has_cpu(watched) ? FTR_WATCH_CPU : 0,
	};
	struct ftr_strbuf variables;
	struct ftr_symtab tab;
	bool failed;

	ftr_strbuf_init(&variables);
	ftr_symtab_init(&tab);
	if (ftr_symtab_load_elf(&tab, module->path, NULL) == 0)
		variables_put(watched, &tab, &head, &variables);
	ftr_strbuf_put(body, &head, sizeof(head));
	if (variables.len > 0)
		ftr_strbuf_put(body, variables.s, variables.len);
	failed = variables.failed;
	ftr_symtab_fini(&tab);
	ftr_strbuf_fini(&variables);
	return failed ? -ENOMEM : 0;
}

const struct ftr_section_maker ftr_section_maker_watch = {
	.name	      = "watch",
	.kind	      = FTR_SECTION_WATCH,
	.probe	      = "rules",
	.options      = watch_options,
	.values_bytes = sizeof(struct watch_options),
	.choose	      = watch_choose,
	.is_wanted    = watch_is_wanted,
	.make	      = watch_make,
};
