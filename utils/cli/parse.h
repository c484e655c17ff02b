/* SPDX-License-Identifier: MIT */
/* A command line against a table of options (utils/base/option.h), and --help from the table. */
#ifndef FTR_CLI_PARSE_H
#define FTR_CLI_PARSE_H

#include <stdbool.h>
#include <stddef.h>

#include "utils/base/err.h"

struct ftr_option;
struct ftr_ostream;

#define FTR_OPTIONS_HELP 1		/* --help or --usage was given */
#define FTR_OPTIONS_VERSION 2		/* --version or -V */
#define FTR_OPTIONS_UNUSED_MAX 8

/* What options say beside values. */
struct ftr_options_outcome {
	int asked;		/* 0, or FTR_OPTIONS_HELP or _VERSION: print that instead */
	unsigned unused_nr;	/* options that uftrace takes here without effect, so ftr does */
	const char *unused[FTR_OPTIONS_UNUSED_MAX];
};

/* Set what options of formats and collectors fill to their defaults; the rest is the caller's. */
void ftr_options_init(const struct ftr_option *table, void *values);

/*
 * ftr_options_parse - fill @values from the options in argv[1..]
 *
 * @stops_at_operand	options end at the first word that is none (ftr record PROGRAM ...)
 * @outcome		filled
 * argv[0]		the command: what uftrace has for it and ftr has not is refused
 *
 * Long names may be shortened as long as they are unambiguous.  Operands are moved behind the
 * options.  An option that several formats share is set for each.  Returns the index of the first
 * operand, or -EINVAL: unknown (with the closest name), not supported yet, argument missing or
 * wrong.  Not for two threads at once: getopt.
 */
int ftr_options_parse(const struct ftr_option *table, void *values, int argc, char **argv,
		      bool stops_at_operand, struct ftr_options_outcome *outcome,
		      struct ftr_err *err);

/*
 * Make @to, which is uninitialised, the values of @from, with lists of its own; further options may
 * then be parsed into it.  0 or -ENOMEM; ftr_options_fini() in either case.
 */
int ftr_options_copy(const struct ftr_option *table, void *to, const void *from, size_t bytes);

/* Release what ftr_opt_list rows own. */
void ftr_options_fini(const struct ftr_option *table, void *values);

/* The option lines of --help. */
void ftr_options_print_help(const struct ftr_option *table, struct ftr_ostream *out);

#endif /* FTR_CLI_PARSE_H */
