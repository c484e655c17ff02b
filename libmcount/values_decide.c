/* SPDX-License-Identifier: MIT */
/* See values_decide.h.  Called inside hooks, so without libc. */
#include "libmcount/values_decide.h"

#include "arch/values.h"
#include "libmcount/values_known.h"

#define WORD_BITS 64u

static uint64_t zero_extended(uint64_t word, uint32_t bytes)
{
	return word << (WORD_BITS - 8 * bytes) >> (WORD_BITS - 8 * bytes);
}

static int64_t sign_extended(uint64_t word, uint32_t bytes)
{
	return (int64_t)(word << (WORD_BITS - 8 * bytes)) >> (WORD_BITS - 8 * bytes);
}

/* A number of unknown sign is negative when it looks like one of 32 bits. */
static int64_t seen(uint64_t word, uint32_t bytes)
{
	uint64_t value = zero_extended(word, bytes);

	return value <= UINT32_MAX && value > UINT32_MAX - 0xffff ? (int32_t)value :
								    sign_extended(word, bytes);
}

static bool is_true(const struct ftr_value_test *test, uint64_t value, bool is_less, bool is_bits)
{
	bool is_equal = value == (uint64_t)test->literal;

	switch (test->op) {
	case FTR_TEST_EQ:
		return is_equal;
	case FTR_TEST_NE:
		return !is_equal;
	case FTR_TEST_LT:
		return is_less;
	case FTR_TEST_LE:
		return is_less || is_equal;
	case FTR_TEST_GT:
		return !is_less && !is_equal;
	case FTR_TEST_GE:
		return !is_less;
	default:
		return is_bits;
	}
}

static bool test_make(const struct ftr_value_test *test, const struct ftr_regs *regs)
{
	uint64_t word = ftr_arch_argument(regs, test->nr), value;
	bool is_less;

	if (test->kind == FTR_TEST_UNSIGNED) {
		value = zero_extended(word, test->bytes);
		is_less = value < (uint64_t)test->literal;
	} else {
		value = (uint64_t)(test->kind == FTR_TEST_AUTO ? seen(word, test->bytes) :
								 sign_extended(word, test->bytes));
		is_less = (int64_t)value < test->literal;
	}
	return is_true(test, value, is_less, (value & (uint64_t)test->literal) != 0);
}

/* Tests lead to later ones alone, so there is an end. */
enum ftr_decision ftr_values_decide(const struct ftr_values_programs *programs,
				    const struct ftr_regs *regs)
{
	const struct ftr_values *values = programs->values;
	uint32_t at = programs->test, next;

	if (values == NULL || at == 0 || regs == NULL)
		return FTR_UNDECIDED;
	while (at < values->test_nr) {
		const struct ftr_value_test *test = &ftr_values_tests(values)[at];

		if (test->bytes == 0 || test->bytes > sizeof(uint64_t))
			return FTR_UNDECIDED;
		next = test_make(test, regs) ? test->on_true : test->on_false;
		if (next == FTR_TEST_TRUE)
			return FTR_DECIDED_TRUE;
		if (next == FTR_TEST_FALSE)
			return FTR_DECIDED_FALSE;
		if (next <= at)
			break;
		at = next;
	}
	return FTR_UNDECIDED;
}
