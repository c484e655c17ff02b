/* SPDX-License-Identifier: MIT */
/* Which calls of a module's functions are recorded (utils/proto/rules.h): names become offsets. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "utils/base/vec.h"
#include "utils/object/elf.h"
#include "utils/proto/rules.h"
#include "utils/record/choice.h"
#include "utils/record/sections.h"

/* What the runtime is told of an action. */
static const struct {
	uint32_t action;		/* enum ftr_rule_action */
	uint32_t flag;			/* enum ftr_call_flag; 0 = nothing */
} flags[] = {
#define FTR_RULE_ACTION(id, name, read, flag, in) { FTR_RULE_##id, flag },
#define FTR_RULE_IMPLIED(id, name, in)
#include "utils/trace/rule_actions.def"
#undef FTR_RULE_ACTION
#undef FTR_RULE_IMPLIED
};

/* One module's section while it is made. */
struct making {
	const struct ftr_record_choice *choice;
	struct ftr_symtab tab;
	struct ftr_record_chosen_list chosen;	/* by symbol */
	FTR_VEC(uint64_t) bounds;	/* where symbols begin and end */
	FTR_VEC(struct ftr_call_rule) rules;	/* different ones; the first says nothing */
	FTR_VEC(struct ftr_call_rule_start) starts;
};

/*
 * How long functions are, as far as it matters: the largest size that rules speak of and that the
 * function reaches; 0 = no rule speaks of sizes, or it is unknown.
 */
static uint32_t size_of(const struct ftr_record_choice *choice, const struct ftr_symbol *symbol)
{
	bool matters = choice->size_bytes != 0;
	uint64_t size = symbol->size >= choice->size_bytes ? choice->size_bytes : 0;
	size_t i;

	for (i = 0; i < choice->rules->rules.nr; i++) {
		const struct ftr_rule *rule = &choice->rules->rules.v[i];

		if ((rule->actions & FTR_RULE_SIZE) == 0)
			continue;
		matters = true;
		if (symbol->size >= rule->values.size_bytes && rule->values.size_bytes > size)
			size = rule->values.size_bytes;
	}
	if (!matters || symbol->size == 0)
		return 0;
	return size != 0 && size <= UINT32_MAX ? (uint32_t)size : 1;
}

static uint32_t reads_of(uint32_t reads)
{
	return ((reads & FTR_READ_STATM) != 0 ? FTR_CALL_READ_STATM : 0) |
	       ((reads & FTR_READ_PAGE_FAULT) != 0 ? FTR_CALL_READ_FAULTS : 0) |
	       ((reads & FTR_READ_ERRNO) != 0 ? FTR_CALL_READ_ERRNO : 0) |
	       ((reads & FTR_READ_PMU_CYCLE) != 0 ? FTR_CALL_READ_CYCLE : 0) |
	       ((reads & FTR_READ_PMU_CACHE) != 0 ? FTR_CALL_READ_CACHE : 0) |
	       ((reads & FTR_READ_PMU_BRANCH) != 0 ? FTR_CALL_READ_BRANCH : 0);
}

static struct ftr_call_rule rule_of(const struct making *making, size_t n)
{
	const struct ftr_record_chosen *chosen = &making->chosen.of.v[n];
	const struct ftr_rule_values *values = &chosen->values;
	struct ftr_call_rule rule = {
		.depth = values->depth,
		.time_ns = values->time_ns,
		.size_min = values->size_bytes <= UINT32_MAX ? (uint32_t)values->size_bytes :
							       UINT32_MAX,
		.size = size_of(making->choice, &making->tab.symbols[n]),
		.sample_nr = values->sample_nr,
		.rate_per_s = values->rate_per_s,
		.reads = reads_of(values->reads),
	};
	size_t i;

	for (i = 0; i < sizeof(flags) / sizeof(flags[0]); i++) {
		if ((chosen->actions & flags[i].action) != 0)
			rule.flags |= flags[i].flag;
	}
	if (chosen->decided != NULL)
		rule.flags |= (chosen->decided->undecided & FTR_RULE_FILTER) != 0 ?
				      FTR_CALL_IF_FILTER : FTR_CALL_IF_NOTRACE;
	if ((chosen->actions & FTR_RULE_DUMP) != 0 && !chosen->dumps.is_any)
		rule.flags |= FTR_CALL_IF_DUMP |
			      (chosen->dumps.is_at_end ? FTR_CALL_DUMP_AT_END : 0);
	return rule;
}

/* The index of an equal rule, which is added unless there is one.  Negative: out of memory. */
static int64_t rule_index(struct making *making, struct ftr_call_rule rule)
{
	size_t i;

	for (i = making->rules.nr; i-- > 0;) {
		if (memcmp(&making->rules.v[i], &rule, sizeof(rule)) == 0)
			return (int64_t)i;
	}
	if (ftr_vec_push(&making->rules, rule) < 0)
		return -ENOMEM;
	return (int64_t)making->rules.nr - 1;
}

static int bound_compare(const void *a, const void *b)
{
	const uint64_t *left = a, *right = b;

	return *left < *right ? -1 : *left > *right;
}

static int bounds_find(struct making *making)
{
	int ret = 0;
	size_t i;

	for (i = 0; ret == 0 && i < making->tab.nr; i++) {
		const struct ftr_symbol *symbol = &making->tab.symbols[i];

		ret = ftr_vec_push(&making->bounds, symbol->addr);
		if (ret == 0)
			ret = ftr_vec_push(&making->bounds, symbol->addr + symbol->size);
	}
	if (ret == 0 && making->bounds.nr > 0)
		qsort(making->bounds.v, making->bounds.nr, sizeof(making->bounds.v[0]),
		      bound_compare);
	return ret;
}

/* Symbols may lie in others: what counts at an address is the innermost. */
static int start_add(struct making *making, uint64_t addr)
{
	const struct ftr_symbol *symbol = ftr_symtab_find(&making->tab, addr);
	uint32_t last = making->starts.nr > 0 ? making->starts.v[making->starts.nr - 1].rule : 0;
	int64_t index = 0;

	if (symbol != NULL)
		index = rule_index(making, rule_of(making,
						   (size_t)(symbol - making->tab.symbols)));
	if (index < 0)
		return (int)index;
	if (index == last || addr > UINT32_MAX)
		return 0;
	return ftr_vec_push(&making->starts, ((struct ftr_call_rule_start){
						     (uint32_t)addr, (uint32_t)index }));
}

static uint32_t head_flags(const struct ftr_record_choice *choice,
			   const struct ftr_section_tracing *tracing)
{
	bool is_off = tracing->nr != 0 ? tracing->is_off : choice->starts_off;
	uint32_t actions = ftr_rules_actions(choice->rules);

	return ((actions & FTR_RULE_FILTER) != 0 ? FTR_CALLS_OPT_IN : 0) |
	       ((actions & FTR_RULE_CALLER) != 0 ? FTR_CALLS_CALLERS : 0) |
	       ((actions & FTR_RULE_READ) != 0 ? FTR_CALLS_READ : 0) |
	       ((actions & FTR_RULES_COUNTED) != 0 ? FTR_CALLS_COUNTED : 0) |
	       (ftr_record_has_conditional_dumps(choice) ? FTR_CALLS_JUDGED : 0) |
	       (choice->may_change ? FTR_CALLS_CHANGE : 0) | (is_off ? FTR_CALLS_OFF : 0);
}

static void making_put(const struct making *making, const struct ftr_section_tracing *tracing,
		       struct ftr_strbuf *body)
{
	const struct ftr_record_choice *choice = making->choice;
	struct ftr_call_rules head = {
		.flags = head_flags(choice, tracing),
		.switch_nr = tracing->nr,
		.rule_nr = (uint32_t)making->rules.nr,
		.start_nr = (uint32_t)making->starts.nr,
		.size_min = choice->size_bytes <= UINT32_MAX ? (uint32_t)choice->size_bytes :
							       UINT32_MAX,
		.time_ns = choice->time_ns,
	};

	ftr_strbuf_put(body, &head, sizeof(head));
	ftr_strbuf_put(body, making->rules.v, making->rules.nr * sizeof(making->rules.v[0]));
	if (making->starts.nr > 0)
		ftr_strbuf_put(body, making->starts.v,
			       making->starts.nr * sizeof(making->starts.v[0]));
}

/* A file that cannot be read has no functions; rules without functions still count. */
static int rules_make(const struct ftr_section_module *module, const void *values,
		      struct ftr_strbuf *body)
{
	struct making making = { .choice = module->choice };
	int ret;
	size_t i;

	ftr_symtab_init(&making.tab);
	if (ftr_symtab_load_elf(&making.tab, module->path, NULL) < 0)
		making.tab.nr = 0;
	ret = ftr_vec_push(&making.rules, (struct ftr_call_rule){ 0 });
	if (ret == 0)
		ret = ftr_record_choice_resolve(making.choice, module->path, &making.tab,
						&making.chosen);
	if (ret == 0)
		ret = bounds_find(&making);
	for (i = 0; ret == 0 && i < making.bounds.nr; i++) {
		if (i == 0 || making.bounds.v[i] != making.bounds.v[i - 1])
			ret = start_add(&making, making.bounds.v[i]);
	}
	if (ret == 0)
		making_put(&making, &module->tracing, body);
	ftr_vec_fini(&making.starts);
	ftr_vec_fini(&making.rules);
	ftr_vec_fini(&making.bounds);
	ftr_vec_fini(&making.chosen.of);
	ftr_symtab_fini(&making.tab);
	return ret;
}

/* The image's say what counts for all; a library's matter where its calls are seen. */
static bool rules_are_wanted(const struct ftr_section_module *module, const void *values)
{
	return ftr_record_choice_is_any(module->choice) &&
	       (module->is_image || ftr_section_sees_calls(module));
}

const struct ftr_section_maker ftr_section_maker_rules = {
	.name	   = "rules",
	.kind	   = FTR_SECTION_RULES,
	.probe	   = "rules",
	.is_wanted = rules_are_wanted,
	.make	   = rules_make,
};
