/* SPDX-License-Identifier: MIT */
/* See rules.h.  Called inside hooks, so without libc. */
#include "libmcount/rules.h"

#include "libmcount/hook.h"
#include "libmcount/module.h"
#include "libmcount/sections.h"

bool ftr_call_rules_read(struct ftr_call_rules_view *view,
			 const struct ftr_sections *sections)
{
	uint32_t bytes = 0;
	const struct ftr_call_rules *head = ftr_sections_find(sections, FTR_SECTION_RULES, &bytes);

	if (head == NULL || bytes < sizeof(*head))
		return false;
	bytes -= (uint32_t)sizeof(*head);
	if (head->rule_nr > bytes / sizeof(struct ftr_call_rule))
		return false;
	bytes -= head->rule_nr * (uint32_t)sizeof(struct ftr_call_rule);
	if (head->start_nr > bytes / sizeof(struct ftr_call_rule_start))
		return false;
	view->head = head;
	view->rules = (const struct ftr_call_rule *)(head + 1);
	view->starts = (const struct ftr_call_rule_start *)(view->rules + head->rule_nr);
	return true;
}

const struct ftr_call_rule *ftr_call_rules_at(const struct ftr_call_rules_view *view,
					      uint64_t offset)
{
	uint32_t low = 0, high = view->head->start_nr, rule;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (view->starts[middle].offset <= offset)
			low = middle + 1;
		else
			high = middle;
	}
	rule = low != 0 ? view->starts[low - 1].rule : 0;
	return rule != 0 && rule < view->head->rule_nr ? &view->rules[rule] : NULL;
}

const struct ftr_call_rule *ftr_call_rules_find(uintptr_t func)
{
	struct ftr_call_rules_view view;
	uintptr_t base;

	if (!ftr_call_rules_read(&view, ftr_module_sections(func, &base)))
		return NULL;
	return ftr_call_rules_at(&view, func - base);
}
