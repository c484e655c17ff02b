/* SPDX-License-Identifier: MIT */
/* See gaps.h. */
#include "utils/patch/gaps.h"

#include <errno.h>
#include <stdlib.h>

#include "utils/base/bits.h"
#include "utils/patch/move.h"

#define ALIGN 16u		/* of functions, at least where padding is seen */
#define GAP_UNKNOWN UINT32_MAX
#define INT3 0xcc

/* Of the padding behind a function: how many bytes are free, and above that how many were taken. */
#define GAP_FREE_BITS 16
#define GAP_FREE_MASK (FTR_BIT(GAP_FREE_BITS) - 1)

int ftr_gaps_init(struct ftr_gaps *gaps, const struct ftr_functions *functions)
{
	gaps->functions = functions;
	gaps->v = malloc((functions->all.nr + 1) * sizeof(gaps->v[0]));
	if (gaps->v == NULL)
		return -ENOMEM;
	for (size_t i = 0; i < functions->all.nr; i++)
		gaps->v[i] = GAP_UNKNOWN;
	return 0;
}

void ftr_gaps_fini(struct ftr_gaps *gaps)
{
	free(gaps->v);
	gaps->v = NULL;
}

/* Whole no-operations and traps at @bytes, of @nr that are there. */
static uint32_t padding_get(const struct ftr_gaps *gaps, const uint8_t *bytes, uint32_t nr)
{
	const struct ftr_arch_patch *patch = gaps->functions->arch->patch;
	uint32_t at = 0;

	while (at < nr) {
		unsigned nop = bytes[at] == INT3 ? 1 : patch->nop_bytes(bytes + at, nr - at);

		if (nop == 0)
			break;
		at += nop;
	}
	return at;
}

/* From the end of function @n to the next, or at most as far as leads are known. */
static uint32_t gap_limit(const struct ftr_functions *functions, size_t n)
{
	const struct ftr_function *function = &functions->all.v[n];
	uint64_t end = function->addr + function->bytes;
	uint64_t next = function->section->addr + function->section->size;

	if (n + 1 < functions->all.nr && functions->all.v[n + 1].addr < next)
		next = functions->all.v[n + 1].addr;
	if (next - end > FTR_FUNCTION_BEHIND_MAX)
		return FTR_FUNCTION_BEHIND_MAX;
	return (uint32_t)(next - end);
}

/*
 * Bytes behind function @n that nothing runs.  Where other code follows, of which nothing is known,
 * they end where it is aligned.
 */
static uint32_t gap_measure(const struct ftr_gaps *gaps, size_t n)
{
	const struct ftr_functions *functions = gaps->functions;
	const struct ftr_function *function = &functions->all.v[n];
	struct ftr_code code = ftr_function_code(function);
	uint32_t limit = gap_limit(functions, n), bytes;
	uint32_t aligned = (uint32_t)(-(function->addr + function->bytes) % ALIGN);

	bytes = padding_get(gaps, code.bytes + code.size, limit);
	if (bytes < limit)
		bytes = bytes < aligned ? 0 : padding_get(gaps, code.bytes + code.size, aligned);
	if (function->behind != 0 && bytes > (uint32_t)__builtin_ctzll(function->behind))
		bytes = (uint32_t)__builtin_ctzll(function->behind);
	return bytes > 0 && ftr_move_is_closed(&code) ? bytes : 0;
}

uint32_t ftr_gap_get(struct ftr_gaps *gaps, size_t n, uint64_t *at)
{
	const struct ftr_function *function = &gaps->functions->all.v[n];
	uint32_t *gap = &gaps->v[n];

	if (*gap == GAP_UNKNOWN)
		*gap = gap_measure(gaps, n);
	*at = function->addr + function->bytes + (*gap >> GAP_FREE_BITS);
	return *gap & GAP_FREE_MASK;
}

void ftr_gap_take_first(struct ftr_gaps *gaps, size_t n, uint32_t bytes)
{
	gaps->v[n] += (bytes << GAP_FREE_BITS) - bytes;
}

static void gap_take_last(struct ftr_gaps *gaps, size_t n, uint32_t bytes)
{
	gaps->v[n] -= bytes;
}

/* Can a short jump that ends at @from reach @to? */
static bool is_near(const struct ftr_gaps *gaps, uint64_t from, uint64_t to)
{
	return to < from ? from - to <= gaps->functions->arch->plain->step_back :
			   to - from <= gaps->functions->arch->plain->step_ahead;
}

/* Padding behind function @n for a jump, that a short one ending at @from can reach; 0 = none. */
static uint64_t gap_use(struct ftr_gaps *gaps, size_t n, uint64_t from)
{
	uint32_t want = gaps->functions->arch->plain->jump_bytes, free;
	uint64_t first, last;

	free = ftr_gap_get(gaps, n, &first);
	last = first + free - want;
	if (free < want)
		return 0;
	if (is_near(gaps, from, last)) {
		gap_take_last(gaps, n, want);
		return last;
	}
	if (is_near(gaps, from, first)) {
		ftr_gap_take_first(gaps, n, want);
		return first;
	}
	return 0;
}

uint64_t ftr_gap_find(struct ftr_gaps *gaps, size_t n, uint64_t from)
{
	const struct ftr_functions *functions = gaps->functions;
	uint64_t found = 0;
	size_t i;

	for (i = n; i-- > 0 && found == 0;) {
		const struct ftr_function *one = &functions->all.v[i];

		if (!is_near(gaps, from, functions->all.v[i + 1].addr))
			break;
		if (one->section == functions->all.v[n].section)
			found = gap_use(gaps, i, from);
	}
	for (i = n; i < functions->all.nr && found == 0; i++) {
		const struct ftr_function *one = &functions->all.v[i];

		if (!is_near(gaps, from, one->addr + one->bytes))
			break;
		if (one->section == functions->all.v[n].section)
			found = gap_use(gaps, i, from);
	}
	return found;
}
