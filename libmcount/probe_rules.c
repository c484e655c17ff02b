/* SPDX-License-Identifier: MIT */
/* What the image's sections say of rules and values counts for the whole process (rules.h). */
#include "libmcount/hook.h"
#include "libmcount/probe.h"
#include "libmcount/rules.h"
#include "libmcount/sections.h"

extern const struct ftr_probe ftr_probe_rules FTR_HIDDEN;

static void image_update(const struct ftr_sections *sections)
{
	struct ftr_call_rules_view view;
	bool has_rules = ftr_call_rules_read(&view, sections);
	uint32_t bytes;

	if (has_rules && (view.head->flags & FTR_CALLS_OFF) != 0 && ftr_call_rules_image() == NULL)
		atomic_store(&ftr_state.tracing, FTR_TRACING_OFF);
	atomic_store(&ftr_state.rules, has_rules ? view.head : NULL);
	atomic_store(&ftr_state.has_values,
		     ftr_sections_find(sections, FTR_SECTION_VALUES, &bytes) != NULL);
}

/* The generation is raised last: who sees it sees the new rules. */
static void rules_update(uintptr_t low, const struct ftr_sections *sections)
{
	if (low == 0)
		image_update(sections);
	atomic_fetch_add(&ftr_state.rules_generation, 1);
}

const struct ftr_probe ftr_probe_rules = {
	.name = "rules",
	.update = rules_update,
};
