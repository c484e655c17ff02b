/* SPDX-License-Identifier: MIT */
/* Memory that is known to be there while a call is looked at (doc/adr/0029, 3). */
#ifndef FTR_LIBMCOUNT_VALUES_KNOWN_H
#define FTR_LIBMCOUNT_VALUES_KNOWN_H

#include <stddef.h>

#include "libmcount/thread.h"
#include "libmcount/values.h"
#include "utils/proto/values.h"

#define FTR_VALUES_PAGE_BYTES 4096u

static inline const struct ftr_value_op *ftr_values_ops(const struct ftr_values *values)
{
	return (const struct ftr_value_op *)(values + 1);
}

static inline const struct ftr_values_func *ftr_values_funcs(const struct ftr_values *values)
{
	return (const struct ftr_values_func *)(ftr_values_ops(values) + values->op_nr);
}

static inline const struct ftr_values_range *ftr_values_ranges(const struct ftr_values *values)
{
	return (const struct ftr_values_range *)(ftr_values_funcs(values) + values->func_nr);
}

static inline const struct ftr_value_test *ftr_values_tests(const struct ftr_values *values)
{
	return (const struct ftr_value_test *)(ftr_values_ranges(values) + values->range_nr);
}

static inline const uint8_t *ftr_values_texts(const struct ftr_values *values)
{
	return (const uint8_t *)(ftr_values_tests(values) + values->test_nr);
}

/* Where the stack that @slot is on ends; 0 = not known. */
static inline uintptr_t ftr_values_stack_end(const struct ftr_thread *self, const uintptr_t *slot)
{
	if ((uintptr_t)slot - self->home_low < self->home_high - self->home_low)
		return self->home_high;
	if ((uintptr_t)slot - self->signal_low < self->signal_bytes)
		return self->signal_low + self->signal_bytes;
	return 0;
}

/* How many bytes at @address are known to be there, if those from @low to @high are. */
static inline uintptr_t ftr_values_known_in(uintptr_t address, uintptr_t low, uintptr_t high)
{
	return address >= low && address < high ? high - address : 0;
}

/* ... of the constants of the module that @values are about, which begins at @base. */
static inline uintptr_t ftr_values_known_constant(const struct ftr_values *values, uintptr_t base,
						  uintptr_t address)
{
	const struct ftr_values_range *range = ftr_values_ranges(values);
	uintptr_t known = 0;
	uint32_t i;

	for (i = 0; known == 0 && i < values->range_nr; i++)
		known = ftr_values_known_in(address, base + range[i].low, base + range[i].high);
	return known;
}

/* ... of the stack, which ends at @stack_high or is not known further than its page. */
static inline uintptr_t ftr_values_known_stack(const uintptr_t *slot, uintptr_t stack_high,
					       uintptr_t address)
{
	uintptr_t low = (uintptr_t)slot;
	uintptr_t known = ftr_values_known_in(address, low, stack_high);

	if (known == 0)
		known = ftr_values_known_in(address, low,
					    (low | (FTR_VALUES_PAGE_BYTES - 1)) + 1);
	return known;
}

#endif /* FTR_LIBMCOUNT_VALUES_KNOWN_H */
