/* SPDX-License-Identifier: MIT */
/* The programs of a function's values, in the sections of its module: see values.h. */
#include "libmcount/values.h"

#include <stddef.h>

#include "libmcount/module.h"
#include "libmcount/sections.h"
#include "libmcount/values_brief.h"
#include "libmcount/values_known.h"
#include "utils/proto/values.h"

static bool is_sound(const struct ftr_values *values, uint32_t bytes)
{
	uint64_t need = sizeof(*values);

	if (bytes < need || values->op_nr == 0)
		return false;
	need += (uint64_t)values->op_nr * sizeof(struct ftr_value_op) +
		(uint64_t)values->func_nr * sizeof(struct ftr_values_func) +
		(uint64_t)values->range_nr * sizeof(struct ftr_values_range) +
		(uint64_t)values->test_nr * sizeof(struct ftr_value_test) + values->text_bytes;
	return need <= bytes && ftr_values_ops(values)[values->op_nr - 1].what == FTR_VALUE_END;
}

static const struct ftr_values_func *func_find(const struct ftr_values *values, uintptr_t offset)
{
	const struct ftr_values_func *funcs = ftr_values_funcs(values);
	uint32_t low = 0, high = values->func_nr;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (offset < funcs[middle].low)
			high = middle;
		else if (offset >= funcs[middle].high)
			low = middle + 1;
		else
			return &funcs[middle];
	}
	return NULL;
}

static const struct ftr_value_op *program_at(const struct ftr_values *values, uint32_t index)
{
	return index == 0 || index >= values->op_nr ? NULL : ftr_values_ops(values) + index;
}

/* Those of the image, for its constants; NULL = there are none. */
static const struct ftr_values *image_values(void)
{
	const struct ftr_values *values;
	uint32_t bytes = 0;

	values = ftr_sections_find(ftr_sections_image(), FTR_SECTION_VALUES, &bytes);
	return values != NULL && is_sound(values, bytes) ? values : NULL;
}

/* The last segment that is never written, which is where compilers have literals put. */
static void literals_find(struct ftr_values_programs *programs)
{
	const struct ftr_values_range *range = ftr_values_ranges(programs->values);

	if (programs->values->range_nr == 0)
		return;
	range += programs->values->range_nr - 1;
	if (range->low >= range->high)
		return;
	programs->quick.literals = programs->base + range->low;
	programs->quick.literal_bytes = range->high - range->low;
}

struct ftr_values_programs ftr_values_find(uintptr_t func)
{
	struct ftr_values_programs programs = { 0 };
	const struct ftr_sections *sections = ftr_module_sections(func, &programs.base);
	const struct ftr_values_func *found;
	uint32_t bytes = 0;

	if (sections != NULL)
		programs.values = ftr_sections_find(sections, FTR_SECTION_VALUES, &bytes);
	if (programs.values == NULL || !is_sound(programs.values, bytes))
		return (struct ftr_values_programs){ 0 };
	found = func_find(programs.values, func - programs.base);
	if (found != NULL) {
		programs.entry = program_at(programs.values, found->entry);
		programs.exit = program_at(programs.values, found->exit);
		programs.quick.entry = ftr_values_brief(programs.entry);
		programs.quick.exit = ftr_values_brief(programs.exit);
		programs.image = image_values();
		programs.test = found->test;
		programs.dump = found->dump;
		programs.dump_nr = found->dump_nr;
		literals_find(&programs);
	}
	return programs;
}
