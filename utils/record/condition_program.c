/* SPDX-License-Identifier: MIT */
/* See condition_program.h. */
#include "utils/record/condition_program.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "utils/proto/record.h"
#include "utils/record/value.h"
#include "utils/trace/condition.h"

#define TEXT_BYTES_MAX (2 + FTR_VALUE_STRING_MAX)	/* with their number in front */
#define OP_PADDING 4u

/*
 * A program while it is made, from its last test to its first: tests lead to ones that are there
 * already, by their number in this order, or to an end.
 */
struct making {
	FTR_VEC(struct ftr_value_test) tests;
	struct ftr_condition_programs *programs;
	const struct ftr_condition_values *values;
	bool is_at_end;			/* what is known when a call ends may be tested */
	bool is_undecided;		/* something of it is for readers alone */
	bool has_failed;		/* out of memory */
};

static const uint8_t comparisons[] = {
	[FTR_CONDITION_EQ] = FTR_TEST_EQ, [FTR_CONDITION_NE] = FTR_TEST_NE,
	[FTR_CONDITION_GE] = FTR_TEST_GE, [FTR_CONDITION_LE] = FTR_TEST_LE,
	[FTR_CONDITION_GT] = FTR_TEST_GT, [FTR_CONDITION_LT] = FTR_TEST_LT,
	[FTR_CONDITION_BITS] = FTR_TEST_BITS, [FTR_CONDITION_LIKE] = FTR_TEST_LIKE,
	[FTR_CONDITION_UNLIKE] = FTR_TEST_LIKE, [FTR_CONDITION_IS_SET] = FTR_TEST_NE,
};

/* The ops that make one argument. */
struct made {
	const struct ftr_arg *arg;
	uint32_t first, nr;
};

static bool is_it(const struct ftr_condition *node, const struct ftr_arg *arg)
{
	return node->subject == FTR_SUBJECT_RETVAL ||
	       (arg->index == node->index &&
		arg->is_float_reg == (node->subject == FTR_SUBJECT_FPARG));
}

/* The value that readers find.  False: they find none, or it is not known what makes it. */
static bool value_find(const struct making *making, const struct ftr_condition *node,
		       struct made *made)
{
	const struct ftr_condition_values *values = making->values;
	bool is_retval = node->subject == FTR_SUBJECT_RETVAL;
	const struct uft_layout *layout = is_retval ? values->retval : values->args;
	const struct ftr_value_op *ops = values->values->ops.v;
	uint32_t first = is_retval ? values->exit : values->entry, end, value_nr = 0;

	*made = (struct made){ 0 };
	if (first == 0)
		return false;
	for (end = first; ops[end].what != FTR_VALUE_END; end++) {
		const struct uft_arg *spec;

		if ((ops[end].flags & FTR_VALUE_JOINED) != 0)
			continue;
		if (value_nr == layout->args.nr)
			return false;
		spec = &layout->args.v[value_nr++];
		if (made->arg == NULL && is_it(node, &spec->arg))
			*made = (struct made){ &spec->arg, first, end + 1 - first };
		first = end + 1;
	}
	return value_nr == layout->args.nr && made->arg != NULL;
}

/* Does every text have room for all that a text may have, whatever the others are? */
static bool has_room(const struct making *making, const struct ftr_condition *node)
{
	const struct ftr_condition_values *values = making->values;
	uint32_t first = node->subject == FTR_SUBJECT_RETVAL ? values->exit : values->entry;
	const struct ftr_value_op *op = &values->values->ops.v[first];
	uint32_t bytes = 0;

	for (; op->what != FTR_VALUE_END; op++)
		bytes += op->what == FTR_VALUE_STRING || op->what == FTR_VALUE_STD_STRING ?
			 TEXT_BYTES_MAX : op->bytes + OP_PADDING;
	return bytes <= FTR_PAYLOAD_MAX / 8 * 8;
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

static bool is_truth(const char *word, int64_t *literal)
{
	*literal = strcmp(word, "true") == 0;
	return *literal == 1 || strcmp(word, "false") == 0;
}

static bool integer_literal(const struct ftr_condition *node, const struct ftr_arg *arg,
			    struct ftr_value_test *test)
{
	if (node->op >= FTR_CONDITION_LIKE && node->op != FTR_CONDITION_IS_SET)
		return false;
	test->literal = 0;
	if (node->literal == FTR_LITERAL_TEXT && node->op != FTR_CONDITION_IS_SET) {
		if (arg->format == FTR_ARG_ENUM || !is_truth(node->text, &test->literal))
			return false;
	} else if (node->op != FTR_CONDITION_IS_SET) {
		if (node->literal != FTR_LITERAL_NUMBER || node->number < INT64_MIN ||
		    node->number > INT64_MAX)
			return false;
		test->literal = (int64_t)node->number;
	}
	return (arg->size == 1 || arg->size == 2 || arg->size == 4 || arg->size == 8) &&
	       kind_of(arg, test->literal < 0, &test->kind);
}

/* As utils/trace/condition.c has it: of the type of the value. */
static bool float_literal(const struct ftr_condition *node, const struct ftr_arg *arg,
			  struct ftr_value_test *test)
{
	long double real = node->literal == FTR_LITERAL_FLOAT ? node->real :
								(long double)node->number;
	double wide = (double)real;
	float narrow = (float)real;
	int64_t bits = 0;
	int32_t half;

	if (node->op == FTR_CONDITION_IS_SET)
		wide = narrow = 0;
	else if (node->literal == FTR_LITERAL_TEXT || node->op >= FTR_CONDITION_BITS || isnan(wide))
		return false;
	test->kind = FTR_TEST_FLOAT;
	if (arg->size == sizeof(wide)) {
		memcpy(&bits, &wide, sizeof(bits));
	} else if (arg->size == sizeof(narrow)) {
		memcpy(&half, &narrow, sizeof(half));
		bits = half < 0 ? INT64_MIN | (half & INT32_MAX) : half;
	}
	test->literal = ftr_value_float_order(bits);
	return arg->size == sizeof(wide) || arg->size == sizeof(narrow);
}

/* A glob of other characters than '*' and '?' is for readers. */
static bool text_literal(struct making *making, const struct ftr_condition *node,
			 struct ftr_value_test *test)
{
	bool is_glob = node->op == FTR_CONDITION_LIKE || node->op == FTR_CONDITION_UNLIKE;
	const char *text = node->op == FTR_CONDITION_IS_SET ? "" : node->text;
	size_t nr = text != NULL ? strlen(text) : 0;

	if (text == NULL || node->op == FTR_CONDITION_BITS || nr > FTR_TEST_TEXT_MAX ||
	    (is_glob && strpbrk(text, "[\\") != NULL) || !has_room(making, node))
		return false;
	test->kind = FTR_TEST_TEXT;
	test->text_bytes = (uint16_t)nr;
	test->literal = (int64_t)making->programs->texts.len;
	ftr_strbuf_put(&making->programs->texts, text, nr);
	making->has_failed |= making->programs->texts.failed;
	return true;
}

static bool literal_of(struct making *making, const struct ftr_condition *node,
		       const struct ftr_arg *arg, struct ftr_value_test *test)
{
	if (arg->format == FTR_ARG_STRING)
		return text_literal(making, node, test);
	test->bytes = (uint8_t)arg->size;
	return arg->format == FTR_ARG_FLOAT ? float_literal(node, arg, test) :
					      integer_literal(node, arg, test);
}

/* Is it what the runtime tries (is_small of libmcount/values_decide.c)? */
static bool is_small(const struct ftr_value_op *ops, uint32_t nr)
{
	for (uint32_t i = 0; i < nr; i++) {
		bool is_text = ops[i].what == FTR_VALUE_STRING ||
			       ops[i].what == FTR_VALUE_STD_STRING;
		bool is_number = ops[i].what == FTR_VALUE_BYTES || ops[i].what == FTR_VALUE_POINTED;
		bool is_word = is_number && ops[i].bytes <= sizeof(uint64_t);

		if (ops[i].where == FTR_VALUE_RESULT)	/* kept where values are recorded alone */
			return false;
		if (!(is_text && i + 1 == nr) && !is_word && ops[i].what != FTR_VALUE_COUNT &&
		    ops[i].what != FTR_VALUE_FOLLOW)
			return false;
	}
	return nr <= FTR_TEST_OPS_MAX;
}

static bool is_register(uint8_t where)
{
	return where == FTR_VALUE_INTEGER || where == FTR_VALUE_VECTOR || where == FTR_VALUE_RETURN;
}

/* Where the value is: in a register, or what a copy of its ops makes. */
static bool place_of(struct making *making, const struct made *made, struct ftr_value_test *test)
{
	struct ftr_value_programs *values = making->values->values;
	struct ftr_value_op op = values->ops.v[made->first];
	uint32_t i;
	int ret;

	if (made->nr == 1 && op.what == FTR_VALUE_BYTES && op.bytes == test->bytes &&
	    is_register(op.where) && op.nr <= UINT8_MAX) {
		test->where = op.where;
		test->nr = (uint8_t)op.nr;
		return true;
	}
	if (!is_small(values->ops.v + made->first, made->nr))
		return false;
	ret = ftr_value_program_begin(values);
	for (i = 0; ret == 0 && i < made->nr; i++) {
		op = values->ops.v[made->first + i];
		ret = ftr_vec_push(&values->ops, op);
	}
	if (ret == 0)
		ret = ftr_value_program_end(values, &test->program);
	making->has_failed |= ret < 0;
	return ret == 0;
}

static bool duration_literal(const struct ftr_condition *node, struct ftr_value_test *test)
{
	test->kind = FTR_TEST_UNSIGNED;
	test->where = FTR_VALUE_ELAPSED;
	test->bytes = sizeof(uint64_t);
	test->literal = node->op != FTR_CONDITION_IS_SET ? (int64_t)node->number : 0;
	return node->op == FTR_CONDITION_IS_SET || (node->number >= 0 && node->number <= INT64_MAX);
}

/* The test of a comparison.  False: the runtime cannot make it. */
static bool test_of(struct making *making, const struct ftr_condition *node,
		    struct ftr_value_test *test)
{
	uint16_t next = test->on_true;
	struct made made;

	if (node->subject > FTR_SUBJECT_FPARG) {
		if (!making->is_at_end)
			return false;
		test->flags |= FTR_TEST_AT_END;
	}
	if (node->subject == FTR_SUBJECT_DURATION ? !duration_literal(node, test) :
	    node->path != NULL || !value_find(making, node, &made) ||
	    !literal_of(making, node, made.arg, test) || !place_of(making, &made, test))
		return false;
	test->op = comparisons[node->op];
	if (node->op == FTR_CONDITION_UNLIKE) {
		test->flags ^= FTR_TEST_DENIED;
		test->on_true = test->on_false;
		test->on_false = next;
	}
	return true;
}

/* Where the tests of a node lead to. */
struct ways {
	uint16_t on_true, on_false;
	uint8_t flags;			/* FTR_TEST_DENIED: an odd number of "!" is around it */
};

/* The tests of @node.  Answers with the first of them, or -ENOMEM. */
static int node_add(struct making *making, const struct ftr_condition *node, struct ways ways)
{
	struct ftr_value_test test = {
		.on_true = ways.on_true, .on_false = ways.on_false, .flags = ways.flags,
	};
	int right;

	if (node->op == FTR_CONDITION_NOT)
		return node_add(making, node->left, (struct ways){ ways.on_false, ways.on_true,
								   ways.flags ^ FTR_TEST_DENIED });
	if (node->op <= FTR_CONDITION_AND) {
		right = node_add(making, node->right, ways);
		if (right < 0)
			return right;
		*(node->op == FTR_CONDITION_AND ? &ways.on_true : &ways.on_false) = (uint16_t)right;
		return node_add(making, node->left, ways);
	}
	if (making->is_undecided || making->tests.nr >= FTR_TESTS_MAX ||
	    !test_of(making, node, &test)) {
		making->is_undecided = true;
		return making->has_failed ? -ENOMEM : 0;
	}
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

/* Any of @conditions, the first of which are tried first. */
static int any_add(struct making *making, const struct ftr_condition *const *conditions, size_t nr)
{
	struct ways ways = { FTR_TEST_TRUE, FTR_TEST_FALSE, 0 };
	int ret = 0;

	while (ret >= 0 && nr > 0) {
		ret = node_add(making, conditions[--nr], ways);
		ways.on_false = (uint16_t)ret;
	}
	return ret;
}

static int program_make(struct making *making, const struct ftr_condition *const *conditions,
			size_t nr, size_t tests_max, struct ftr_condition_program *program)
{
	struct ftr_condition_programs *programs = making->programs;
	struct ftr_value_programs *values = making->values->values;
	size_t op_nr = values->ops.nr, text_bytes = programs->texts.len;
	int ret = 0;

	*program = (struct ftr_condition_program){ 0 };
	if (programs->tests.nr == 0)
		ret = ftr_vec_push(&programs->tests, (struct ftr_value_test){ 0 });
	if (ret == 0)
		ret = any_add(making, conditions, nr);
	if (ret >= 0 && !making->is_undecided && making->tests.nr <= tests_max &&
	    programs->tests.nr + making->tests.nr <= FTR_TESTS_MAX) {
		*program = (struct ftr_condition_program){ (uint32_t)programs->tests.nr,
							   (uint32_t)making->tests.nr };
		ret = tests_append(programs, making);
	} else {
		values->ops.nr = op_nr;
		programs->texts.len = text_bytes;
	}
	ftr_vec_fini(&making->tests);
	return ret < 0 ? -ENOMEM : 0;
}

int ftr_condition_program_add(struct ftr_condition_programs *programs,
			      const struct ftr_condition *condition,
			      const struct ftr_condition_values *values,
			      struct ftr_condition_program *program)
{
	struct making making = { .programs = programs, .values = values };

	return program_make(&making, &condition, 1, FTR_TESTS_MAX, program);
}

int ftr_condition_program_add_end(struct ftr_condition_programs *programs,
				  const struct ftr_condition *const *conditions, size_t nr,
				  const struct ftr_condition_values *values,
				  struct ftr_condition_program *program)
{
	struct making making = { .programs = programs, .values = values, .is_at_end = true };

	return program_make(&making, conditions, nr, FTR_TESTS_JUDGED, program);
}
