/* SPDX-License-Identifier: MIT */
/*
 * Command-line options as tables: parsing, --help and shell completion are loops over the same
 * rows.
 *
 *	struct replay_values { struct ftr_common common; bool is_flat; };
 *	static const struct ftr_option replay_options[] = {
 *		FTR_OPTION_GROUP(ftr_common_options, struct replay_values, common),
 *		FTR_OPTION("flat", 0, NULL, "Use a flat listing", ftr_opt_flag,
 *			   struct replay_values, is_flat),
 *		{ 0 }
 *	};
 */
#ifndef FTR_CLI_OPTION_H
#define FTR_CLI_OPTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "utils/base/err.h"
#include "utils/base/ostream.h"
#include "utils/base/vec.h"

struct ftr_option;

/*
 * Set *@value from @arg (NULL when the option takes none).  0, or -errno with a description that
 * does not name the option: the caller puts "--NAME: " before it.
 */
typedef int ftr_option_parse_fn(const struct ftr_option *opt, void *value, const char *arg,
				struct ftr_err *err);

struct ftr_option {
	const char *name;		/* long name without "--"; NULL in a group row */
	char        letter;		/* 0 = none */
	const char *arg;		/* "TIME" as --help shows it; NULL = takes no argument */
	const char *help;		/* one line; NULL = not listed (an old spelling) */
	ftr_option_parse_fn *parse;
	size_t      offset;		/* of the value (group: of its struct) in the values */
	uint64_t    min, max;		/* of a number; max 0 = no bound */
	const char *const *words; /* CHOICE: the words, NULL-terminated; also for completion */
	const struct ftr_option *group;	/* a table whose rows stand here, shared by commands */
};

/* Rows; what follows the member are further fields: .max = 65535. */
#define FTR_OPTION(name_, letter_, arg_, help_, parse_, values_, member_, ...) \
	{ .name = name_, .letter = letter_, .arg = arg_, .help = help_, .parse = parse_, \
	  .offset = offsetof(values_, member_), ##__VA_ARGS__ }
#define FTR_OPTION_GROUP(table_, values_, member_) \
	{ .group = table_, .offset = offsetof(values_, member_) }

/* The values ftr_opt_list fills: every argument in the order given (strings borrowed from argv). */
struct ftr_opt_list {
	const char **v;			/* (owned) */
	size_t nr;
	size_t cap;
};

ftr_option_parse_fn ftr_opt_flag;	/* bool: true */
ftr_option_parse_fn ftr_opt_count;	/* unsigned: how often it stood there */
ftr_option_parse_fn ftr_opt_string;	/* const char * (borrowed from argv) */
ftr_option_parse_fn ftr_opt_list;	/* struct ftr_opt_list, repeatable */
ftr_option_parse_fn ftr_opt_u64;	/* uint64_t within min..max */
ftr_option_parse_fn ftr_opt_size;	/* uint64_t bytes, "128K", within min..max */
ftr_option_parse_fn ftr_opt_time;	/* uint64_t ns, "10us" */
ftr_option_parse_fn ftr_opt_choice;	/* int: index in words */
ftr_option_parse_fn ftr_opt_on_off;	/* int 0/1: on yes true y 1, off no false n 0 */

/*
 * Iterate over the rows of a table, groups included (two levels).  Start from zeros; NULL at the
 * end. base is what to add to the row's offset.
 */
struct ftr_option_iter {
	const struct ftr_option *table;
	const struct ftr_option *inner;
	size_t base;
};

const struct ftr_option *ftr_option_next(struct ftr_option_iter *iter,
					 const struct ftr_option *table);

#define FTR_OPTIONS_HELP 1		/* *outcome: --help or --usage stood there */
#define FTR_OPTIONS_VERSION 2		/* --version or -V */

/*
 * ftr_options_parse - fill @values from the options in argv[1..]
 *
 * @stops_at_operand	options end at the first word that is none (ftr record PROGRAM ...)
 * @outcome		0, or FTR_OPTIONS_HELP or _VERSION: the caller prints that instead
 *
 * Long names may be shortened as long as they are unambiguous.  Operands are moved behind the
 * options.  Returns the index of the first operand, or -EINVAL: unknown (with the
 * closest name), not there yet, argument missing or wrong.  Not for two threads at once: getopt.
 */
int ftr_options_parse(const struct ftr_option *table, void *values, int argc, char **argv,
		      bool stops_at_operand, int *outcome, struct ftr_err *err);

/* Release what ftr_opt_list rows own. */
void ftr_options_fini(const struct ftr_option *table, void *values);

/* The option lines of --help. */
void ftr_options_print_help(const struct ftr_option *table, struct ftr_ostream *out);

#endif /* FTR_CLI_OPTION_H */
