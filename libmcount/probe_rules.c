/* SPDX-License-Identifier: MIT */
/* What the image's sections say of rules and values counts for the whole process (rules.h). */
#include "libmcount/hook.h"
#include "libmcount/probe.h"
#include "libmcount/rules.h"
#include "libmcount/sections.h"
#include "libmcount/watch.h"

extern const struct ftr_probe ftr_probe_rules FTR_HIDDEN;

/* At the start, and when a signal to the recorder switched. */
static void tracing_update(const struct ftr_call_rules *rules)
{
	const struct ftr_call_rules *last = ftr_call_rules_image();
	uint32_t now = atomic_load(&ftr_state.tracing);

	if ((last == NULL || last->switch_nr != rules->switch_nr) && now != FTR_TRACING_FINISHED)
		atomic_compare_exchange_strong(&ftr_state.tracing, &now,
					       (rules->flags & FTR_CALLS_OFF) != 0 ?
						       FTR_TRACING_OFF : FTR_TRACING_ON);
}

static void image_update(const struct ftr_sections *sections)
{
	struct ftr_call_rules_view view;
	bool has_rules = ftr_call_rules_read(&view, sections);
	uint32_t bytes;

	if (has_rules)
		tracing_update(view.head);
	atomic_store(&ftr_state.rules, has_rules ? view.head : NULL);
	atomic_store(&ftr_state.has_values,
		     ftr_sections_find(sections, FTR_SECTION_VALUES, &bytes) != NULL);
	ftr_watch_update(sections);
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
