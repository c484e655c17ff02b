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

static bool is_true(const struct ftr_value_test *test, bool is_equal, bool is_less, bool is_bits)
{
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

static bool integer_test(const struct ftr_value_test *test, uint64_t word)
{
	uint64_t value;
	bool is_less;

	if (test->kind == FTR_TEST_UNSIGNED) {
		value = zero_extended(word, test->bytes);
		is_less = value < (uint64_t)test->literal;
	} else {
		value = (uint64_t)(test->kind == FTR_TEST_AUTO ? seen(word, test->bytes) :
								 sign_extended(word, test->bytes));
		is_less = (int64_t)value < test->literal;
	}
	return is_true(test, value == (uint64_t)test->literal, is_less,
		       (value & (uint64_t)test->literal) != 0);
}

#define DOUBLE_INFINITY INT64_C(0x7ff0000000000000)
#define FLOAT_INFINITY INT64_C(0x7f800000)

/* Nothing but "not equal" is true of what is no number. */
static bool float_test(const struct ftr_value_test *test, uint64_t word)
{
	bool is_wide = test->bytes == sizeof(uint64_t);
	int64_t bits = is_wide ? (int64_t)word :
				 (int64_t)((word & INT32_MAX) | (word & 0x80000000u) << 32);
	int64_t value = ftr_value_float_order(bits);

	if ((bits & INT64_MAX) > (is_wide ? DOUBLE_INFINITY : FLOAT_INFINITY))
		return test->op == FTR_TEST_NE;
	return is_true(test, value == test->literal, value < test->literal, false);
}

struct text {
	const uint8_t *bytes;
	uint32_t nr;
};

/* What the last '*' stands for grows until the rest fits, or there is no more. */
static bool is_like(struct text text, struct text pattern)
{
	uint32_t at = 0, of = 0, star = pattern.nr, behind = 0;

	while (at < text.nr) {
		if (of < pattern.nr && pattern.bytes[of] == '*') {
			star = of++;
			behind = at;
		} else if (of < pattern.nr &&
			   (pattern.bytes[of] == '?' || pattern.bytes[of] == text.bytes[at])) {
			at++;
			of++;
		} else if (star < pattern.nr) {
			of = star + 1;
			at = ++behind;
		} else {
			return false;
		}
	}
	while (of < pattern.nr && pattern.bytes[of] == '*')
		of++;
	return of == pattern.nr;
}

static bool text_test(const struct ftr_value_test *test, struct text text, struct text literal)
{
	uint32_t at = 0;
	int order;

	if (test->op == FTR_TEST_LIKE)
		return is_like(text, literal);
	while (at < text.nr && at < literal.nr && text.bytes[at] == literal.bytes[at])
		at++;
	order = at == text.nr || at == literal.nr ? (int)text.nr - (int)literal.nr :
						    text.bytes[at] - literal.bytes[at];
	return is_true(test, order == 0, order < 0, false);
}

static bool is_register(uint8_t where)
{
	return where == FTR_VALUE_INTEGER || where == FTR_VALUE_VECTOR ||
	       where == FTR_VALUE_RETURN || where == FTR_VALUE_ELAPSED;
}

static bool is_sound(const struct ftr_values *values, const struct ftr_value_test *test)
{
	bool is_in_register = is_register(test->where);

	if (!is_in_register && (test->program == 0 || test->program >= values->op_nr))
		return false;
	if (test->kind == FTR_TEST_TEXT)
		return !is_in_register && test->literal >= 0 &&
		       test->text_bytes <= values->text_bytes &&
		       test->literal <= values->text_bytes - test->text_bytes;
	return test->bytes != 0 && test->bytes <= sizeof(uint64_t);
}

/* So that a small room is enough for what it makes. */
static bool is_small(const struct ftr_value_op *program)
{
	uint32_t i;

	for (i = 0; i < FTR_TEST_OPS_MAX; i++) {
		const struct ftr_value_op *op = &program[i];

		switch (op->what) {
		case FTR_VALUE_END:
			return i > 0;
		case FTR_VALUE_STRING:
		case FTR_VALUE_STD_STRING:
			return op[1].what == FTR_VALUE_END;
		case FTR_VALUE_COUNT:
		case FTR_VALUE_FOLLOW:
		case FTR_VALUE_LIBCXX:
			break;
		case FTR_VALUE_BYTES:
		case FTR_VALUE_POINTED:
			if (op->bytes <= sizeof(uint64_t))
				break;
			return false;
		default:
			return false;
		}
	}
	return program[i].what == FTR_VALUE_END;
}

/* The argument as it would be recorded. */
static __attribute__((noinline)) enum ftr_decision
made_test(const struct ftr_values_programs *programs, const struct ftr_value_test *test,
	  const struct ftr_call *call)
{
	uint64_t words[FTR_TEST_VALUE_MAX / sizeof(uint64_t)];
	const struct ftr_value_op *program = ftr_values_ops(programs->values) + test->program;
	const uint8_t *made = (const uint8_t *)words;
	uint32_t bytes = is_small(program) ?
			 ftr_values_run(program, programs, call, (uint8_t *)words) : 0;
	struct text text, literal;

	if (bytes < sizeof(words[0]))
		return FTR_UNDECIDED;
	if (test->kind == FTR_TEST_FLOAT)
		return float_test(test, words[0]) ? FTR_DECIDED_TRUE : FTR_DECIDED_FALSE;
	if (test->kind != FTR_TEST_TEXT)
		return integer_test(test, words[0]) ? FTR_DECIDED_TRUE : FTR_DECIDED_FALSE;
	text = (struct text){ made + sizeof(uint16_t), made[0] };
	literal = (struct text){ ftr_values_texts(programs->values) + test->literal,
				 test->text_bytes };
	if (text.nr + sizeof(uint16_t) > bytes)
		return FTR_UNDECIDED;
	return text_test(test, text, literal) ? FTR_DECIDED_TRUE : FTR_DECIDED_FALSE;
}

/* What a register has, of those of @call that there are. */
static bool word_take(const struct ftr_value_test *test, const struct ftr_call *call,
		      uint64_t elapsed_ns, uint64_t *word)
{
	*word = elapsed_ns;
	if (test->where == FTR_VALUE_ELAPSED)
		return true;
	if (call->regs == NULL)
		return false;
	*word = test->where == FTR_VALUE_INTEGER ? ftr_arch_argument(call->regs, test->nr) :
		test->where == FTR_VALUE_RETURN	 ? ftr_arch_retval(call->regs, test->nr) :
						   ftr_arch_vector(test->nr);
	return true;
}

static enum ftr_decision test_make(const struct ftr_values_programs *programs,
				   const struct ftr_value_test *test, const struct ftr_call *call,
				   uint64_t elapsed_ns)
{
	uint64_t word;
	bool is_so;

	if (!is_sound(programs->values, test))
		return FTR_UNDECIDED;
	if (!is_register(test->where))
		return call->regs != NULL ? made_test(programs, test, call) : FTR_UNDECIDED;
	if (!word_take(test, call, elapsed_ns, &word))
		return FTR_UNDECIDED;
	is_so = test->kind == FTR_TEST_FLOAT ? float_test(test, word) : integer_test(test, word);
	return is_so ? FTR_DECIDED_TRUE : FTR_DECIDED_FALSE;
}

/* Tests lead to later ones alone, so there is an end. */
enum ftr_decision ftr_values_decide(const struct ftr_values_programs *programs,
				    const struct ftr_call *call)
{
	const struct ftr_values *values = programs->values;
	uint32_t at = programs->test, next;

	if (values == NULL || at == 0 || call->regs == NULL)
		return FTR_UNDECIDED;
	while (at < values->test_nr) {
		const struct ftr_value_test *test = &ftr_values_tests(values)[at];
		enum ftr_decision decision = test_make(programs, test, call, 0);

		if (decision == FTR_UNDECIDED)
			return FTR_UNDECIDED;
		next = decision == FTR_DECIDED_TRUE ? test->on_true : test->on_false;
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

/* How many tests there are for a dump, at @tests. */
static uint32_t dump_tests(const struct ftr_values_programs *programs,
			   const struct ftr_value_test **tests)
{
	const struct ftr_values *values = programs->values;

	if (values == NULL || programs->dump == 0 || programs->dump >= values->test_nr ||
	    programs->dump_nr > values->test_nr - programs->dump ||
	    programs->dump_nr > FTR_TESTS_JUDGED)
		return 0;
	*tests = ftr_values_tests(values) + programs->dump;
	return programs->dump_nr;
}

struct ftr_values_judged ftr_values_judge(const struct ftr_values_programs *programs,
					  const struct ftr_call *call)
{
	struct ftr_values_judged judged = { 0 };
	const struct ftr_value_test *tests = NULL;
	uint32_t nr = dump_tests(programs, &tests), i;

	for (i = 0; i < nr; i++) {
		enum ftr_decision decision = FTR_UNDECIDED;

		if ((tests[i].flags & FTR_TEST_AT_END) == 0)
			decision = test_make(programs, &tests[i], call, 0);
		judged.known |= (uint64_t)(decision != FTR_UNDECIDED) << i;
		judged.truth |= (uint64_t)(decision == FTR_DECIDED_TRUE) << i;
	}
	return judged;
}

static enum ftr_decision judged_at(const struct ftr_values_judged *judged, uint32_t at)
{
	if ((judged->known >> at & 1) == 0)
		return FTR_UNDECIDED;
	return (judged->truth >> at & 1) != 0 ? FTR_DECIDED_TRUE : FTR_DECIDED_FALSE;
}

/* A test that cannot be made leads where one does that speaks against the condition. */
static uint16_t next_of(const struct ftr_value_test *test, enum ftr_decision decision)
{
	if (decision == FTR_UNDECIDED)
		return (test->flags & FTR_TEST_DENIED) != 0 ? test->on_true : test->on_false;
	return decision == FTR_DECIDED_TRUE ? test->on_true : test->on_false;
}

bool ftr_values_asks_dump(const struct ftr_values_programs *programs, const struct ftr_call *call,
			  const struct ftr_values_judged *judged, uint64_t elapsed_ns)
{
	const struct ftr_value_test *tests = NULL;
	uint32_t nr = dump_tests(programs, &tests), at = 0, next;

	while (at < nr) {
		bool is_at_end = (tests[at].flags & FTR_TEST_AT_END) != 0;

		next = next_of(&tests[at], is_at_end ?
					   test_make(programs, &tests[at], call, elapsed_ns) :
					   judged_at(judged, at));
		if (next >= FTR_TEST_FALSE)
			return next == FTR_TEST_TRUE;
		next -= programs->dump;		/* counted from the first of the module */
		if (next <= at)
			break;
		at = next;
	}
	return false;
}
