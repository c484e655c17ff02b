/* SPDX-License-Identifier: MIT */
/*
 * Options as rows of tables: parsing, --help and shell completion (utils/cli) are loops over the
 * same rows.  A row stands where its option belongs: in a command, a format or a collector.
 *
 *	struct replay_values { struct ftr_common common; bool is_flat; };
 *	static const struct ftr_option replay_options[] = {
 *		FTR_OPTION_GROUP(ftr_common_options, struct replay_values, common),
 *		FTR_OPTION("flat", 0, NULL, "Use a flat listing", ftr_opt_flag,
 *			   struct replay_values, is_flat),
 *		{ 0 }
 *	};
 */
#ifndef FTR_BASE_OPTION_H
#define FTR_BASE_OPTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "utils/base/err.h"

struct ftr_option;

/*
 * Set *@value from @arg (NULL when the option takes none).  0, or -errno with a description that
 * does not name the option: the caller puts "--NAME: " before it.
 */
typedef int ftr_option_parse_fn(const struct ftr_option *opt, void *value, const char *arg,
				struct ftr_err *err);

/* The options of one member of a registry: a format, a collector. */
struct ftr_option_set {
	const char *owner;	/* the member's name; NULL: fills what the command has for all */
	const struct ftr_option *options;	/* (nullable) ends with a row of zeros */
	size_t values_bytes;			/* with an owner: of the struct that they fill */
	const void *defaults;			/* (nullable: zeros) of that struct */
};

/* Iterate over a registry: *pos starts at 0; false at the end. */
typedef bool ftr_option_set_fn(size_t *pos, struct ftr_option_set *set);

struct ftr_option {
	const char *name;	/* long name without "--"; NULL in a row of a group or of sets */
	char        letter;	/* 0 = none */
	const char *arg;	/* "TIME" as --help shows it; NULL = takes no argument */
	bool        is_arg_optional;	/* --NAME or --NAME=TIME; parse gets NULL without one */
	const char *help;	/* one line; NULL = not listed (an old spelling) */
	ftr_option_parse_fn *parse;
	size_t      offset;	/* of the value (group, sets: of their struct) in the values */
	uint64_t    min, max;	/* of a number; max 0 = no bound */
	int (*check)(const char *arg, struct ftr_err *err); /* (nullable) of lists */
	const char *const *words; /* the words to choose from, NULL-terminated; completed */
	const char *(*next_word)(size_t *pos);	/* or these, from a registry; NULL at the end */
	const struct ftr_option *group;	/* a table whose rows stand here, shared by commands */
	ftr_option_set_fn *sets;	/* the options of a registry's members stand here */
};

/* Is an argument behind the option, in the same word or the next? */
static inline bool ftr_option_requires_arg(const struct ftr_option *opt)
{
	return opt->arg != NULL && !opt->is_arg_optional;
}

/* Rows; what follows the member are further fields: .max = 65535. */
#define FTR_OPTION(name_, letter_, arg_, help_, parse_, values_, member_, ...) \
	{ .name = name_, .letter = letter_, .arg = arg_, .help = help_, .parse = parse_, \
	  .offset = offsetof(values_, member_), ##__VA_ARGS__ }
#define FTR_OPTION_GROUP(table_, values_, member_) \
	{ .group = table_, .offset = offsetof(values_, member_) }
/* The member is a struct ftr_option_values; of sets without owner, what their rows fill. */
#define FTR_OPTION_SETS(sets_, values_, member_) \
	{ .sets = sets_, .offset = offsetof(values_, member_) }

/* What the options of a registry's members were set to; read by the functions below. */
#define FTR_OPTION_SETS_MAX 32
#define FTR_OPTION_SETS_BYTES 512
struct ftr_option_values {
	const struct ftr_option *given[FTR_OPTION_SETS_MAX];	/* an option given of each member */
	_Alignas(16) unsigned char bytes[FTR_OPTION_SETS_BYTES]; /* their structs, in order */
};

/* The struct of the member @owner, filled; NULL: it takes no options, or @values is NULL. */
const void *ftr_option_values_get(const struct ftr_option_values *values, ftr_option_set_fn *sets,
				  const char *owner);

/* The same; NULL also when none of its options was given. */
const void *ftr_option_values_given(const struct ftr_option_values *values,
				    ftr_option_set_fn *sets, const char *owner);

/*
 * -EINVAL, described, when an option was given that the member @owner (NULL: none of them) does not
 * have; @choose is the option that chooses a member, "format".
 */
int ftr_option_values_check(const struct ftr_option_values *values, ftr_option_set_fn *sets,
			    const char *owner, const char *choose, struct ftr_err *err);

/*
 * The values ftr_opt_list fills: every argument in the order given (strings borrowed from argv).
 * ftr_opt_list_named puts the option's name before each: of options that fill one list together.
 */
struct ftr_opt_list {
	const char **v;			/* (owned) */
	size_t nr;
	size_t cap;
};

ftr_option_parse_fn ftr_opt_flag;	/* bool: true */
ftr_option_parse_fn ftr_opt_count;	/* unsigned: how often it was given */
ftr_option_parse_fn ftr_opt_string;	/* const char * (borrowed from argv) */
ftr_option_parse_fn ftr_opt_list;	/* struct ftr_opt_list, repeatable */
ftr_option_parse_fn ftr_opt_list_named;	/* the same, of several options */
ftr_option_parse_fn ftr_opt_u64;	/* uint64_t within min..max */
ftr_option_parse_fn ftr_opt_size;	/* uint64_t bytes, "128K", within min..max */
ftr_option_parse_fn ftr_opt_time;	/* uint64_t ns, "10us", within min..max */
ftr_option_parse_fn ftr_opt_choice;	/* int: index in words */
ftr_option_parse_fn ftr_opt_on_off;	/* int 0/1: on yes true y 1, off no false n 0 */

/* Iterate over the words that an option takes: *pos starts at 0; NULL at the end. */
const char *ftr_option_next_word(const struct ftr_option *opt, size_t *pos);

/*
 * Iterate over the rows of a table, with those of its groups (one level) and sets.  Start from
 * zeros; NULL at the end.
 */
struct ftr_option_iter {
	size_t base;			/* add it to the row's offset */
	const char *owner;		/* (nullable) the member whose set the row stands in */
	size_t given_offset;		/* with an owner: of its place in ftr_option_values.given */

	struct {
		const struct ftr_option *at;
		size_t base;
	} levels[3];			/* the table, a group in it, a set in that */
	unsigned depth;			/* levels in use; 0 before the start */
	struct ftr_option_set set;
	size_t set_pos, set_nr, set_bytes;
};

const struct ftr_option *ftr_option_next(struct ftr_option_iter *iter,
					 const struct ftr_option *table);

#endif /* FTR_BASE_OPTION_H */
