/* SPDX-License-Identifier: MIT */
/* Conditions of rules: their grammar, by recursive descent. */
#include <assert.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "utils/base/arena.h"
#include "utils/trace/condition.h"
#include "utils/trace/rule_text.h"
#include "utils/trace/value_path.h"

/* Levels of parentheses and negations: a text that has more is no condition of anybody. */
#define NESTING_MAX 50
/* Its parts, which are looked at one within the other. */
#define NODES_MAX 500

/* What ends a literal that stands without quotes. */
#define WORD_ENDS " ,;()&|"

struct parser {
	struct ftr_rule_text *text;
	struct ftr_arena *arena;	/* (borrowed) */
	struct ftr_err *err;
	unsigned nesting;
	unsigned nr;			/* of nodes */
};

static int parse_or(struct parser *self, struct ftr_condition **out);

static int out_of_memory(struct parser *self)
{
	return ftr_err_set(self->err, ENOMEM, "out of memory");
}

static void skip_blanks(struct parser *self)
{
	while (ftr_rule_text_peek(self->text) == ' ')
		self->text->pos++;
}

/* Step over @token, with blanks before it. */
static bool take(struct parser *self, const char *token)
{
	skip_blanks(self);
	return ftr_rule_text_take(self->text, token);
}

static struct ftr_condition *node_new(struct parser *self, enum ftr_condition_op op,
				      struct ftr_condition *left, struct ftr_condition *right)
{
	struct ftr_condition *node = ftr_arena_alloc(self->arena, sizeof(*node));

	if (node == NULL) {
		out_of_memory(self);
		return NULL;
	}
	node->op = op;
	node->left = left;
	node->right = right;
	self->nr++;
	return node;
}

/* Literals. */

static int refuse_literal(struct parser *self, size_t at)
{
	return ftr_rule_text_refuse(self->text, at, self->err,
				    "a number, a time, 'c' or \"text\" is expected here");
}

/* After the opening quote. */
static int parse_quoted(struct parser *self, struct ftr_condition *node)
{
	size_t at = self->text->pos - 1, len = 0;
	const char *s = self->text->s + self->text->pos;
	char *copy = ftr_arena_alloc(self->arena, strlen(s) + 1);

	if (copy == NULL)
		return out_of_memory(self);
	for (; *s != '"' && *s != '\0'; s++) {
		/* In a glob a backslash counts; what is not a quote keeps it. */
		if (s[0] == '\\' && s[1] == '"')
			s++;
		copy[len++] = *s;
	}
	if (*s == '\0')
		return ftr_rule_text_refuse(self->text, at, self->err,
					    "the text has no end: \" is missing");
	self->text->pos = (size_t)(s + 1 - self->text->s);
	node->literal = FTR_LITERAL_TEXT;
	node->text = copy;
	return 0;
}

static void set_number(struct ftr_condition *node, __int128 number)
{
	node->literal = FTR_LITERAL_NUMBER;
	node->number = number;
}

/* "-12" "0x1f" "017" */
static bool word_is_integer(const char *word, struct ftr_condition *node)
{
	bool is_negative = word[0] == '-';
	const char *digits = word + (word[0] == '-' || word[0] == '+');
	unsigned long long magnitude;
	char *end;

	if (digits[0] < '0' || digits[0] > '9')
		return false;
	errno = 0;
	magnitude = strtoull(digits, &end, 0);
	if (*end != '\0' || errno != 0)
		return false;
	set_number(node, is_negative ? -(__int128)magnitude : (__int128)magnitude);
	return true;
}

static bool word_is_real(const char *word, struct ftr_condition *node)
{
	char *end;

	if (strspn(word, "+-.0123456789") == 0)
		return false;
	node->real = strtold(word, &end);
	if (*end != '\0' || !isfinite(node->real))
		return false;
	node->literal = FTR_LITERAL_FLOAT;
	return true;
}

/* A word is what its subject can be compared with. */
static int parse_word(struct parser *self, struct ftr_condition *node)
{
	size_t at = self->text->pos;
	struct ftr_slice slice = ftr_rule_text_until(self->text, WORD_ENDS);
	char *word = ftr_arena_strndup(self->arena, slice.s, slice.len);
	uint64_t ns;

	if (word == NULL)
		return out_of_memory(self);
	if (slice.len == 0)
		return refuse_literal(self, at);
	if (node->subject == FTR_SUBJECT_DURATION) {
		if (ftr_parse_time(slice, &ns, NULL) < 0)
			return ftr_rule_text_refuse(self->text, at, self->err,
						    "a time is expected here, like 10ms");
		set_number(node, ns);
		return 0;
	}
	node->text = word;
	if (!word_is_integer(word, node) && !word_is_real(word, node))
		node->literal = FTR_LITERAL_TEXT;
	return 0;
}

/* 'c' */
static bool take_char(struct parser *self, struct ftr_condition *node)
{
	const char *s = self->text->s + self->text->pos;

	if (s[0] != '\'' || s[1] == '\0' || s[2] != '\'')
		return false;
	set_number(node, (signed char)s[1]);
	self->text->pos += 3;
	return true;
}

/* Does what was read at @at fit the operator and the subject? */
static int check_literal(struct parser *self, struct ftr_condition *node, size_t at)
{
	bool is_glob = node->op == FTR_CONDITION_LIKE || node->op == FTR_CONDITION_UNLIKE;

	if (is_glob && node->text == NULL)
		return ftr_rule_text_refuse(self->text, at, self->err, "\"~\" compares texts");
	if (is_glob)
		node->literal = FTR_LITERAL_TEXT;
	if (node->op == FTR_CONDITION_BITS && node->literal != FTR_LITERAL_NUMBER)
		return ftr_rule_text_refuse(self->text, at, self->err,
					    "\"&\" compares with a number");
	if (node->subject == FTR_SUBJECT_DURATION &&
	    (node->literal != FTR_LITERAL_NUMBER || node->op >= FTR_CONDITION_BITS))
		return ftr_rule_text_refuse(self->text, at, self->err,
					    "a duration is compared with a time, by == != > >= < <=");
	return 0;
}

static int parse_literal(struct parser *self, struct ftr_condition *node)
{
	size_t at;
	int ret = 0;

	skip_blanks(self);
	at = self->text->pos;
	if (ftr_rule_text_take(self->text, "\""))
		ret = parse_quoted(self, node);
	else if (!take_char(self, node))
		ret = parse_word(self, node);
	if (ret < 0)
		return ret;
	return check_literal(self, node, at);
}

/* Comparisons. */

static const struct {
	const char *token;
	enum ftr_condition_op op;
} operators[] = {	/* no token is the start of a later one */
	{ "==", FTR_CONDITION_EQ },   { "!=", FTR_CONDITION_NE },     { ">=", FTR_CONDITION_GE },
	{ "<=", FTR_CONDITION_LE },   { ">", FTR_CONDITION_GT },      { "<", FTR_CONDITION_LT },
	{ "~", FTR_CONDITION_LIKE },  { "!~", FTR_CONDITION_UNLIKE },
};

static bool take_operator(struct parser *self, enum ftr_condition_op *op)
{
	skip_blanks(self);
	if (strncmp(self->text->s + self->text->pos, "&&", 2) == 0)
		return false;
	for (size_t i = 0; i < sizeof(operators) / sizeof(operators[0]); i++) {
		if (ftr_rule_text_take(self->text, operators[i].token)) {
			*op = operators[i].op;
			return true;
		}
	}
	if (!ftr_rule_text_take(self->text, "&"))
		return false;
	*op = FTR_CONDITION_BITS;
	return true;
}

/* The number behind "arg" and "fparg". */
static int parse_index(struct parser *self, struct ftr_condition *node)
{
	const char *digits = self->text->s + self->text->pos;
	size_t len = strspn(digits, "0123456789");
	uint64_t index = 0;

	if (ftr_parse_u64(ftr_slice_make(digits, len), 10, &index) < 0 || index == 0 || index > 100)
		return ftr_rule_text_refuse(self->text, self->text->pos, self->err,
					    "arguments count from 1: arg1, fparg1");
	node->index = (uint8_t)index;
	self->text->pos += len;
	return 0;
}

/* Behind a subject; a float has no members, a duration neither. */
static int parse_path(struct parser *self, struct ftr_condition *node)
{
	struct ftr_value_path path, *copy;
	const char *s = self->text->s + self->text->pos, *expected;
	size_t len;

	if (node->subject == FTR_SUBJECT_FPARG || node->subject == FTR_SUBJECT_DURATION)
		return 0;
	expected = ftr_value_path_parse(&path, s, &len);
	if (expected != NULL)
		return ftr_rule_text_refuse(self->text, self->text->pos + len, self->err, "%s",
					    expected);
	if (len == 0)
		return 0;
	copy = ftr_arena_alloc(self->arena, sizeof(*copy));
	s = ftr_arena_strndup(self->arena, s, len);
	if (copy == NULL || s == NULL)
		return out_of_memory(self);
	ftr_value_path_parse(copy, s, &len);
	node->path = copy;
	self->text->pos += len;
	return 0;
}

static int parse_subject(struct parser *self, struct ftr_condition *node)
{
	static const struct {
		const char *word;
		enum ftr_condition_subject subject;
	} subjects[] = {
		{ "arg", FTR_SUBJECT_ARG }, { "fparg", FTR_SUBJECT_FPARG },
		{ "retval", FTR_SUBJECT_RETVAL }, { "duration", FTR_SUBJECT_DURATION },
	};

	skip_blanks(self);
	for (size_t i = 0; i < sizeof(subjects) / sizeof(subjects[0]); i++) {
		if (!ftr_rule_text_take(self->text, subjects[i].word))
			continue;
		node->subject = subjects[i].subject;
		return node->subject <= FTR_SUBJECT_FPARG ? parse_index(self, node) : 0;
	}
	return ftr_rule_text_refuse(self->text, self->text->pos, self->err,
				    "a condition is about argN, fpargN, retval or duration");
}

static int parse_comparison(struct parser *self, struct ftr_condition **out)
{
	struct ftr_condition *node = node_new(self, FTR_CONDITION_IS_SET, NULL, NULL);
	int ret;

	if (node == NULL)
		return -ENOMEM;
	ret = parse_subject(self, node);
	if (ret == 0)
		ret = parse_path(self, node);
	if (ret == 0) {
		*out = node;
		ret = take_operator(self, &node->op) ? parse_literal(self, node) : 0;
	}
	return ret;
}

/* What holds comparisons together. */

static int parse_enclosed(struct parser *self, struct ftr_condition **out)
{
	size_t at = self->text->pos - 1;
	int ret = parse_or(self, out);

	if (ret == 0 && !take(self, ")"))
		return ftr_rule_text_refuse(self->text, at, self->err, "this ( has no )");
	return ret;
}

static int parse_factor(struct parser *self, struct ftr_condition **out)
{
	int ret;

	skip_blanks(self);
	if (self->nesting == NESTING_MAX || self->nr > NODES_MAX)
		return ftr_rule_text_refuse(self->text, self->text->pos, self->err,
					    "this condition has too many parts");
	self->nesting++;
	if (take(self, "(")) {
		ret = parse_enclosed(self, out);
	} else if (take(self, "!")) {
		ret = parse_factor(self, out);
		if (ret == 0)
			*out = node_new(self, FTR_CONDITION_NOT, *out, NULL);
		if (ret == 0 && *out == NULL)
			ret = -ENOMEM;
	} else {
		ret = parse_comparison(self, out);
	}
	self->nesting--;
	return ret;
}

/* Operands of @parse_operand with @token between them. */
static int parse_chain(struct parser *self, const char *token, enum ftr_condition_op op,
		       int (*parse_operand)(struct parser *, struct ftr_condition **),
		       struct ftr_condition **out)
{
	int ret = parse_operand(self, out);

	while (ret == 0 && take(self, token)) {
		struct ftr_condition *right;

		ret = parse_operand(self, &right);
		if (ret == 0)
			*out = node_new(self, op, *out, right);
		if (ret == 0 && *out == NULL)
			ret = -ENOMEM;
	}
	return ret;
}

static int parse_and(struct parser *self, struct ftr_condition **out)
{
	return parse_chain(self, "&&", FTR_CONDITION_AND, parse_factor, out);
}

static int parse_or(struct parser *self, struct ftr_condition **out)
{
	return parse_chain(self, "||", FTR_CONDITION_OR, parse_and, out);
}

int ftr_condition_parse(const struct ftr_condition **condition, struct ftr_rule_text *text,
			struct ftr_arena *arena, struct ftr_err *err)
{
	struct parser parser = { .text = text, .arena = arena, .err = err };
	struct ftr_condition *root = NULL;
	int ret = parse_or(&parser, &root);

	if (ret == 0) {
		skip_blanks(&parser);
		*condition = root;
	}
	return ret;
}
