/* SPDX-License-Identifier: MIT */
/*
 * Conditions of rules: "if:arg1 > 3 && (arg2 ~ \"GET *\" || retval < 0)".
 *
 *	condition = term { "||" term }		term = factor { "&&" factor }
 *	factor	  = "!" factor | "(" condition ")" | subject [ operator literal ]
 *	subject	  = ( "argN" | "retval" ) [ path ] | "fpargN" | "duration"
 *	operator  = == != > >= < <= & ~ !~		literal = number, 'c', "text", word, time
 *
 * "~" compares with a glob, "&" asks for any of the bits, a subject alone whether it is not 0.
 * A word is a text, or one of an enum's names, or true or false.  Paths: value_path.h.
 */
#ifndef FTR_TRACE_CONDITION_H
#define FTR_TRACE_CONDITION_H

#include <stdbool.h>
#include <stdint.h>

#include "utils/base/err.h"
#include "utils/trace/args.h"

struct ftr_arena;
struct ftr_payload;
struct ftr_rule_text;
struct ftr_value_path;

enum ftr_condition_op {
	FTR_CONDITION_OR,	/* of left and right */
	FTR_CONDITION_AND,
	FTR_CONDITION_NOT,	/* of left */
	FTR_CONDITION_EQ,	/* from here on: of subject and literal */
	FTR_CONDITION_NE,
	FTR_CONDITION_GE,
	FTR_CONDITION_LE,
	FTR_CONDITION_GT,
	FTR_CONDITION_LT,
	FTR_CONDITION_BITS,
	FTR_CONDITION_LIKE,
	FTR_CONDITION_UNLIKE,
	FTR_CONDITION_IS_SET,	/* of subject */
};

enum ftr_condition_subject {
	FTR_SUBJECT_ARG,
	FTR_SUBJECT_FPARG,
	FTR_SUBJECT_RETVAL,
	FTR_SUBJECT_DURATION,
};

enum ftr_condition_literal {
	FTR_LITERAL_NUMBER,	/* number: of 64 bits, with or without sign */
	FTR_LITERAL_FLOAT,
	FTR_LITERAL_TEXT,
};

struct ftr_condition {
	enum ftr_condition_op op;
	const struct ftr_condition *left, *right;
	enum ftr_condition_subject subject;
	uint8_t index;		/* of ARG and FPARG, from 1 */
	const struct ftr_value_path *path;	/* (nullable: the value itself) */
	enum ftr_condition_literal literal;
	__int128 number;
	long double real;
	const char *text;	/* in the arena */
};

/*
 * Read a condition from @text, up to what cannot belong to it.  0, -EINVAL (described, with its
 * place) or -ENOMEM.
 */
int ftr_condition_parse(const struct ftr_condition **condition, struct ftr_rule_text *text,
			struct ftr_arena *arena, struct ftr_err *err);

/* Can it be told only when the call returns? */
bool ftr_condition_needs_exit(const struct ftr_condition *condition);

/* What of a call it is about: FTR_BIT() of its subjects, and the highest N of argN and fpargN. */
struct ftr_condition_needs {
	uint32_t subjects;
	uint8_t arg_max, fparg_max;	/* 0 = none */
	unsigned steps;			/* of the longest path; 0 = there is none */
	unsigned nr;			/* comparisons */
};
void ftr_condition_needs(const struct ftr_condition *condition, struct ftr_condition_needs *needs);

/* What is known of a call. */
struct ftr_condition_facts {
	const struct ftr_payload *args;		/* (nullable) */
	const struct ftr_payload *retval;	/* (nullable) */
	uint64_t duration_ns;
	bool has_exit;				/* duration_ns counts */
};

/* What is said of a value that was not recorded is neither true nor false, nor is its opposite. */
enum ftr_truth {
	FTR_FALSE,
	FTR_TRUE,
	FTR_UNKNOWN,
};

enum ftr_truth ftr_condition_test(const struct ftr_condition *condition,
				  const struct ftr_condition_facts *facts);

/* A comparison whose value is there, and which cannot be told all the same. */
struct ftr_condition_misfit {
	const struct ftr_condition *node;	/* NULL = none */
	enum ftr_arg_format format;		/* of the value */
	const struct ftr_arg_enum *values;	/* (nullable; the trace's) its names */
};

/* The first of a condition that is neither true nor false. */
struct ftr_condition_misfit ftr_condition_misfit(const struct ftr_condition *condition,
						 const struct ftr_condition_facts *facts);

#endif /* FTR_TRACE_CONDITION_H */
