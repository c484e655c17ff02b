/* SPDX-License-Identifier: MIT */
/*
 * Patterns of names, by uftrace's rule: a pattern without characters that are special to its kind
 * is a whole name. C++, Rust and D functions are matched by their demangled names.
 */
#ifndef FTR_TRACE_PATTERN_H
#define FTR_TRACE_PATTERN_H

#include <stdbool.h>
#include <stddef.h>

#include "utils/base/err.h"
#include "utils/base/text.h"

enum ftr_match {
	FTR_MATCH_REGEX,	/* anywhere in the name, unless anchored; Perl's syntax */
	FTR_MATCH_GLOB,		/* the whole name */
	FTR_MATCH_EXACT,
};

/* The words of --match, by enum ftr_match; NULL at the end. */
extern const char *const ftr_match_words[];

struct ftr_pattern;

/*
 * @at (nullable) is set to the place in @text of what is wrong with it.  0, -EINVAL (no regular
 * expression) or -ENOMEM.
 */
int  ftr_pattern_new(struct ftr_pattern **pattern, struct ftr_slice text, enum ftr_match match,
		     size_t *at, struct ftr_err *err);
void ftr_pattern_free(struct ftr_pattern *pattern);	/* NULL is fine */

/* As it was given. */
const char *ftr_pattern_text(const struct ftr_pattern *pattern);

/* Is it a whole name, without anything special to its kind? */
bool ftr_pattern_is_exact(const struct ftr_pattern *pattern);
/* The name operator(cast) is itself, though "(" is special. */
bool ftr_pattern_matches(const struct ftr_pattern *pattern, const char *name);

/*
 * The names of one symbol.  A pattern may match any of them, the mangled one only as a whole, since
 * parts of it are not names.
 */
struct ftr_pattern_names {
	const char *shown;	/* by the style of --demangle */
	const char *simple;	/* (nullable) by FTR_DEMANGLE_SIMPLE: no parameters */
	const char *mangled;	/* (nullable) */
};

bool ftr_pattern_matches_names(const struct ftr_pattern *pattern,
			       const struct ftr_pattern_names *names);
/*
 * The same, or as a whole what the mangled name stands for: ns::f(int), ns::f<int>.  Not of specs
 * of values, which uftrace has to match, too.
 */
bool ftr_pattern_matches_symbol(const struct ftr_pattern *pattern,
				const struct ftr_pattern_names *names);

#endif /* FTR_TRACE_PATTERN_H */
