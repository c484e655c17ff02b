/* SPDX-License-Identifier: MIT */
/* See condition_program.h. */
#include "utils/record/condition_program.h"

#include <errno.h>

#include "utils/record/value.h"
#include "utils/trace/condition.h"

/*
 * A program while it is made, from its last test to its first: tests lead to ones that are there
 * already, by their number in this order, or to an end.
 */
struct making {
	FTR_VEC(struct ftr_value_test) tests;
	const struct uft_layout *layout;
	bool is_undecided;		/* something of it is for readers alone */
};

static const uint8_t comparisons[] = {
	[FTR_CONDITION_EQ] = FTR_TEST_EQ, [FTR_CONDITION_NE] = FTR_TEST_NE,
	[FTR_CONDITION_GE] = FTR_TEST_GE, [FTR_CONDITION_LE] = FTR_TEST_LE,
	[FTR_CONDITION_GT] = FTR_TEST_GT, [FTR_CONDITION_LT] = FTR_TEST_LT,
	[FTR_CONDITION_BITS] = FTR_TEST_BITS,
};

/* The spec of the argument that readers find; NULL: they find none, or a float. */
static const struct uft_arg *spec_find(const struct uft_layout *layout, unsigned index)
{
	for (size_t i = 0; i < layout->args.nr; i++) {
		const struct uft_arg *spec = &layout->args.v[i];

		if (spec->arg.index == index && !spec->arg.is_float_reg)
			return spec;
	}
	return NULL;
}

/* How the value is read: see integer_of of utils/trace/condition.c. */
static bool kind_of(const struct ftr_arg *arg, bool is_negative, uint8_t *kind)
{
	switch (arg->format) {
	case FTR_ARG_SIGNED:
	case FTR_ARG_CHAR:
		*kind = FTR_TEST_SIGNED;
		return true;
	case FTR_ARG_AUTO:
		*kind = FTR_TEST_AUTO;
		return true;
	case FTR_ARG_UNSIGNED:
	case FTR_ARG_HEX:
	case FTR_ARG_OCTAL:
	case FTR_ARG_POINTER:
	case FTR_ARG_ENUM:
		*kind = is_negative ? FTR_TEST_SIGNED : FTR_TEST_UNSIGNED;
		return true;
	default:
		return false;
	}
}

static bool literal_of(const struct ftr_condition *node, struct ftr_value_test *test)
{
	if (node->op == FTR_CONDITION_IS_SET) {
		test->op = FTR_TEST_NE;
		return true;
	}
	if (node->op < FTR_CONDITION_EQ || node->op > FTR_CONDITION_BITS ||
	    node->literal != FTR_LITERAL_NUMBER || node->number < INT64_MIN ||
	    node->number > INT64_MAX)
		return false;
	test->op = comparisons[node->op];
	test->literal = (int64_t)node->number;
	return true;
}

/* The test of a comparison.  False: the runtime cannot make it. */
static bool test_of(const struct making *making, const struct ftr_condition *node,
		    struct ftr_value_test *test)
{
	const struct uft_arg *spec = spec_find(making->layout, node->index);
	struct ftr_parameter value;

	if (node->subject != FTR_SUBJECT_ARG || node->path != NULL || spec == NULL ||
	    !literal_of(node, test) ||
	    !kind_of(&spec->arg, test->literal < 0, &test->kind) ||
	    ftr_value_of_spec(spec, false, &value) < 0 || value.is_pointed ||
	    value.place_nr != 1 || value.places[0].kind != FTR_PLACE_INTEGER)
		return false;
	test->nr = (uint8_t)value.places[0].nr;
	test->bytes = (uint8_t)spec->arg.size;
	return spec->arg.size == 1 || spec->arg.size == 2 || spec->arg.size == 4 ||
	       spec->arg.size == 8;
}

/*
 * The tests of @node, which lead to @on_true or @on_false.  Answers with the first of them, or
 * -ENOMEM.
 */
static int node_add(struct making *making, const struct ftr_condition *node, uint16_t on_true,
		    uint16_t on_false)
{
	struct ftr_value_test test = { .on_true = on_true, .on_false = on_false };
	int right;

	if (node->op == FTR_CONDITION_NOT)
		return node_add(making, node->left, on_false, on_true);
	if (node->op <= FTR_CONDITION_AND) {
		right = node_add(making, node->right, on_true, on_false);
		if (right < 0)
			return right;
		return node->op == FTR_CONDITION_AND ?
			       node_add(making, node->left, (uint16_t)right, on_false) :
			       node_add(making, node->left, on_true, (uint16_t)right);
	}
	if (making->tests.nr >= FTR_TESTS_MAX || !test_of(making, node, &test))
		making->is_undecided = true;
	if (making->tests.nr >= FTR_TESTS_MAX)
		return 0;
	return ftr_vec_push(&making->tests, test) < 0 ? -ENOMEM : (int)making->tests.nr - 1;
}

/* From numbers of the making to those of the module: @end is behind the program. */
static uint16_t turned(uint16_t next, size_t end)
{
	return next >= FTR_TEST_FALSE ? next : (uint16_t)(end - 1 - next);
}

static int tests_append(struct ftr_condition_programs *programs, const struct making *making)
{
	size_t end = programs->tests.nr + making->tests.nr;
	int ret = 0;

	for (size_t i = making->tests.nr; ret == 0 && i-- > 0;) {
		struct ftr_value_test test = making->tests.v[i];

		test.on_true = turned(test.on_true, end);
		test.on_false = turned(test.on_false, end);
		ret = ftr_vec_push(&programs->tests, test);
	}
	return ret;
}

int ftr_condition_program_add(struct ftr_condition_programs *programs,
			      const struct ftr_condition *condition,
			      const struct uft_layout *layout, uint32_t *index)
{
	struct making making = { .layout = layout };
	int ret = 0;

	*index = 0;
	if (programs->tests.nr == 0)
		ret = ftr_vec_push(&programs->tests, (struct ftr_value_test){ 0 });
	if (ret == 0)
		ret = node_add(&making, condition, FTR_TEST_TRUE, FTR_TEST_FALSE);
	if (ret >= 0 && !making.is_undecided &&
	    programs->tests.nr + making.tests.nr <= FTR_TESTS_MAX) {
		*index = (uint32_t)programs->tests.nr;
		ret = tests_append(programs, &making);
	}
	ftr_vec_fini(&making.tests);
	return ret < 0 ? -ENOMEM : 0;
}
