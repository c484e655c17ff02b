/* SPDX-License-Identifier: MIT */
/* Conditions of rules: are they true of a call? */
#include "utils/trace/condition.h"

#include <fnmatch.h>
#include <string.h>

#include "utils/base/bits.h"
#include "utils/trace/args.h"
#include "utils/trace/shape_node.h"
#include "utils/trace/value_path.h"

/* A text up to this length is compared; longer ones are not recorded. */
#define TEXT_MAX 1024

bool ftr_condition_needs_exit(const struct ftr_condition *condition)
{
	if (condition->op <= FTR_CONDITION_NOT)
		return ftr_condition_needs_exit(condition->left) ||
		       (condition->right != NULL && ftr_condition_needs_exit(condition->right));
	return condition->subject >= FTR_SUBJECT_RETVAL;
}

void ftr_condition_needs(const struct ftr_condition *condition, struct ftr_condition_needs *needs)
{
	uint8_t *max = condition->subject == FTR_SUBJECT_ARG ? &needs->arg_max : &needs->fparg_max;

	if (condition->op <= FTR_CONDITION_NOT) {
		ftr_condition_needs(condition->left, needs);
		if (condition->right != NULL)
			ftr_condition_needs(condition->right, needs);
		return;
	}
	needs->nr++;
	needs->subjects |= FTR_BIT(condition->subject);
	if (condition->subject <= FTR_SUBJECT_FPARG && condition->index > *max)
		*max = condition->index;
	if (condition->path != NULL && condition->path->nr > needs->steps)
		needs->steps = condition->path->nr;
}

/* The argument or return value that a comparison is about. */
static bool find_whole(const struct ftr_condition *node, const struct ftr_condition_facts *facts,
		       struct ftr_value *value)
{
	const struct ftr_payload *payload =
		node->subject == FTR_SUBJECT_RETVAL ? facts->retval : facts->args;
	unsigned nr = 0, pos = 0;

	if (payload == NULL)
		return false;
	while (ftr_payload_next(payload, &nr, &pos, value)) {
		if (node->subject == FTR_SUBJECT_RETVAL)
			return true;
		if (value->arg->index == node->index &&
		    value->arg->is_float_reg == (node->subject == FTR_SUBJECT_FPARG))
			return true;
	}
	return false;
}

/* A number for which a payload has no format of its own. */
static bool is_wide(const struct ftr_value *value)
{
	return value->arg->format == FTR_ARG_STRUCT && value->arg->shape != NULL &&
	       value->arg->shape->kind == FTR_SHAPE_WIDE;
}

/* The value that is compared, of the type *type where it is not the whole. */
static bool find_value(const struct ftr_condition *node, const struct ftr_condition_facts *facts,
		       struct ftr_arg *type, struct ftr_value *value)
{
	static const struct ftr_value_path none = { .nr = 0 };
	struct ftr_value whole;

	if (!find_whole(node, facts, &whole))
		return false;
	*value = whole;
	if (node->path == NULL && !is_wide(&whole))
		return true;
	return ftr_value_path_find(node->path == NULL ? &none : node->path, &whole, type, value);
}

/* The order of two numbers of any type. */
#define COMPARE(op, value, literal)		\
	((op) == FTR_CONDITION_EQ ? (value) == (literal) : \
	 (op) == FTR_CONDITION_NE ? (value) != (literal) : \
	 (op) == FTR_CONDITION_GT ? (value) > (literal) :  \
	 (op) == FTR_CONDITION_GE ? (value) >= (literal) : \
	 (op) == FTR_CONDITION_LT ? (value) < (literal) :  \
	 (op) == FTR_CONDITION_LE ? (value) <= (literal) : \
				    (value) != 0 /* IS_SET */)

static bool compare_numbers(enum ftr_condition_op op, __int128 value, __int128 literal)
{
	if (op == FTR_CONDITION_BITS)
		return (value & literal) != 0;
	return COMPARE(op, value, literal);
}

static bool compare_reals(enum ftr_condition_op op, long double value, long double literal)
{
	return COMPARE(op, value, literal);
}

/* By order, or with a glob. */
static enum ftr_truth compare_texts(const struct ftr_condition *node, const char *value, size_t len)
{
	char text[TEXT_MAX + 1];

	if (node->op == FTR_CONDITION_IS_SET)
		return len > 0;
	if (node->text == NULL || len > TEXT_MAX || node->op == FTR_CONDITION_BITS)
		return FTR_UNKNOWN;
	memcpy(text, value, len);
	text[len] = '\0';
	if (node->op == FTR_CONDITION_LIKE)
		return fnmatch(node->text, text, 0) == 0;
	if (node->op == FTR_CONDITION_UNLIKE)
		return fnmatch(node->text, text, 0) != 0;
	return compare_numbers(node->op, strcmp(text, node->text), 0);
}

/*
 * As it is shown: a number of unknown sign ("d") is negative when it looks like one of 32 bits.
 * One without sign is compared with a negative one by its bits.
 */
static __int128 integer_of(const struct ftr_value *value, __int128 literal)
{
	bool is_small_negative = value->u <= UINT32_MAX && value->u > UINT32_MAX - 0xffff;

	switch (value->arg->format) {
	case FTR_ARG_SIGNED:
	case FTR_ARG_CHAR:
		return value->i;
	case FTR_ARG_AUTO:
		return is_small_negative ? (int32_t)value->u : value->i;
	default:
		if (literal >= 0 || value->arg->size == 0 || value->arg->size > sizeof(value->u))
			return value->u;
		return ftr_sign_extend(value->u, value->arg->size);
	}
}

/* The number that a word stands for: an enum's, or of true and false. */
static bool word_number(const struct ftr_value *value, const char *word, __int128 *number)
{
	const struct ftr_arg_enum *values = value->arg->values;

	for (uint32_t i = 0; values != NULL && i < values->nr; i++) {
		if (strcmp(values->values[i].name, word) == 0) {
			*number = values->values[i].value;
			return true;
		}
	}
	*number = strcmp(word, "true") == 0;
	return *number == 1 || strcmp(word, "false") == 0;
}

static enum ftr_truth compare_integer(const struct ftr_condition *node,
				      const struct ftr_value *value)
{
	__int128 literal = node->number;

	if (node->op == FTR_CONDITION_LIKE || node->op == FTR_CONDITION_UNLIKE)
		return FTR_UNKNOWN;
	if (node->op == FTR_CONDITION_IS_SET)
		return value->u != 0;
	if (node->literal == FTR_LITERAL_FLOAT)
		return compare_reals(node->op, integer_of(value, 0), node->real);
	if (node->literal == FTR_LITERAL_TEXT && !word_number(value, node->text, &literal))
		return FTR_UNKNOWN;
	return compare_numbers(node->op, integer_of(value, literal), literal);
}

/* As a literal of the value's type: what is written 0.1 is 0.1 of a float, and of a double. */
static long double real_of(const struct ftr_condition *node, const struct ftr_arg *arg)
{
	long double real = node->literal == FTR_LITERAL_FLOAT ? node->real :
								(long double)node->number;

	if (arg->size == sizeof(float))
		return (float)real;
	return arg->size == sizeof(double) ? (long double)(double)real : real;
}

static enum ftr_truth compare_value(const struct ftr_condition *node, const struct ftr_value *value)
{
	switch (value->arg->format) {
	case FTR_ARG_STRING:
	case FTR_ARG_WORD:
		return compare_texts(node, value->str.s, value->str.len);
	case FTR_ARG_FLOAT:
		if (node->op == FTR_CONDITION_IS_SET)
			return value->f != 0;
		if (node->literal == FTR_LITERAL_TEXT || node->op >= FTR_CONDITION_BITS)
			return FTR_UNKNOWN;
		return compare_reals(node->op, value->f, real_of(node, value->arg));
	case FTR_ARG_STRUCT:
	case FTR_ARG_NULL:
		return FTR_UNKNOWN;
	default:
		return compare_integer(node, value);
	}
}

static enum ftr_truth test_comparison(const struct ftr_condition *node,
				      const struct ftr_condition_facts *facts)
{
	struct ftr_value value;
	struct ftr_arg type;

	if (node->subject == FTR_SUBJECT_DURATION)
		return !facts->has_exit ? FTR_UNKNOWN :
		       compare_numbers(node->op, facts->duration_ns, node->number);
	return find_value(node, facts, &type, &value) ? compare_value(node, &value) :
							FTR_UNKNOWN;
}

static enum ftr_truth negate(enum ftr_truth truth)
{
	return truth == FTR_UNKNOWN ? truth : truth == FTR_TRUE ? FTR_FALSE : FTR_TRUE;
}

/* Of two, where the one or the other may decide: @decides is FTR_FALSE for AND, FTR_TRUE for OR. */
static enum ftr_truth test_both(const struct ftr_condition *node,
				const struct ftr_condition_facts *facts, enum ftr_truth decides)
{
	enum ftr_truth left = ftr_condition_test(node->left, facts);
	enum ftr_truth right;

	if (left == decides)
		return left;
	right = ftr_condition_test(node->right, facts);
	return right == decides || left != FTR_UNKNOWN ? right : left;
}

enum ftr_truth ftr_condition_test(const struct ftr_condition *condition,
				  const struct ftr_condition_facts *facts)
{
	switch (condition->op) {
	case FTR_CONDITION_OR:
		return test_both(condition, facts, FTR_TRUE);
	case FTR_CONDITION_AND:
		return test_both(condition, facts, FTR_FALSE);
	case FTR_CONDITION_NOT:
		return negate(ftr_condition_test(condition->left, facts));
	default:
		return test_comparison(condition, facts);
	}
}

struct ftr_condition_misfit ftr_condition_misfit(const struct ftr_condition *condition,
						 const struct ftr_condition_facts *facts)
{
	struct ftr_condition_misfit misfit = { 0 };
	struct ftr_value value;
	struct ftr_arg type;

	if (condition->op <= FTR_CONDITION_NOT) {
		misfit = ftr_condition_misfit(condition->left, facts);
		if (misfit.node == NULL && condition->right != NULL)
			misfit = ftr_condition_misfit(condition->right, facts);
	} else if (condition->subject != FTR_SUBJECT_DURATION &&
		   find_value(condition, facts, &type, &value) &&
		   compare_value(condition, &value) == FTR_UNKNOWN) {
		misfit = (struct ftr_condition_misfit){ condition, value.arg->format,
							value.arg->values };
	}
	return misfit;
}
