/* SPDX-License-Identifier: MIT */
/* Patterns of names: regular expressions by libpcre2, globs by fnmatch(3). */
#include "utils/trace/pattern.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#define REGEX_CHARS ".?*+-^$|()[]{}\\"
#define GLOB_CHARS "*?[\\"

/* Steps for one name: more than any sane pattern needs, and less than a moment. */
#define STEPS_MAX 100000

struct ftr_pattern {
	char *text;		/* (owned) */
	enum ftr_match match;
	pcre2_code *code;	/* (owned, nullable) of a regular expression */
	pcre2_match_data *found;	/* (owned, nullable) */
	pcre2_match_context *limits;	/* (owned, nullable) */
};

const char *const ftr_match_words[] = {
	[FTR_MATCH_REGEX] = "regex", [FTR_MATCH_GLOB] = "glob", [FTR_MATCH_EXACT] = "exact", NULL
};

static enum ftr_match match_of(const char *text, enum ftr_match match)
{
	static const char *const special[] = {
		[FTR_MATCH_REGEX] = REGEX_CHARS, [FTR_MATCH_GLOB] = GLOB_CHARS,
		[FTR_MATCH_EXACT] = "",
	};

	return strpbrk(text, special[match]) == NULL ? FTR_MATCH_EXACT : match;
}

static int out_of_memory(struct ftr_err *err)
{
	return ftr_err_set(err, ENOMEM, "out of memory");
}

static int regex_compile(struct ftr_pattern *pattern, size_t *at, struct ftr_err *err)
{
	unsigned char why[120];
	PCRE2_SIZE place;
	int code;

	pattern->code = pcre2_compile((PCRE2_SPTR)pattern->text, PCRE2_ZERO_TERMINATED,
				      PCRE2_NEVER_BACKSLASH_C, &code, &place, NULL);
	if (pattern->code == NULL) {
		if (at != NULL)
			*at = place;
		pcre2_get_error_message(code, why, sizeof(why));
		return ftr_err_set(err, EINVAL, "not a regular expression: %s", why);
	}
	pattern->found = pcre2_match_data_create(1, NULL);
	pattern->limits = pcre2_match_context_create(NULL);
	if (pattern->found == NULL || pattern->limits == NULL)
		return out_of_memory(err);
	pcre2_set_match_limit(pattern->limits, STEPS_MAX);
	return 0;
}

int ftr_pattern_new(struct ftr_pattern **out, struct ftr_slice text, enum ftr_match match,
		    size_t *at, struct ftr_err *err)
{
	struct ftr_pattern *pattern = calloc(1, sizeof(*pattern));
	int ret = 0;

	if (pattern != NULL)
		pattern->text = strndup(text.s, text.len);
	if (pattern == NULL || pattern->text == NULL) {
		ftr_pattern_free(pattern);
		return out_of_memory(err);
	}
	pattern->match = match_of(pattern->text, match);
	if (pattern->match == FTR_MATCH_REGEX)
		ret = regex_compile(pattern, at, err);
	if (ret < 0)
		ftr_pattern_free(pattern);
	else
		*out = pattern;
	return ret;
}

void ftr_pattern_free(struct ftr_pattern *pattern)
{
	if (pattern == NULL)
		return;
	pcre2_code_free(pattern->code);
	pcre2_match_data_free(pattern->found);
	pcre2_match_context_free(pattern->limits);
	free(pattern->text);
	free(pattern);
}

const char *ftr_pattern_text(const struct ftr_pattern *pattern)
{
	return pattern->text;
}

bool ftr_pattern_is_exact(const struct ftr_pattern *pattern)
{
	return pattern->match == FTR_MATCH_EXACT;
}

bool ftr_pattern_matches(const struct ftr_pattern *pattern, const char *name)
{
	if (strcmp(pattern->text, name) == 0)
		return true;
	switch (pattern->match) {
	case FTR_MATCH_GLOB:
		return fnmatch(pattern->text, name, 0) == 0;
	case FTR_MATCH_REGEX:
		return pcre2_match(pattern->code, (PCRE2_SPTR)name, strlen(name), 0, 0,
				   pattern->found, pattern->limits) >= 0;
	default:
		return false;
	}
}

bool ftr_pattern_matches_names(const struct ftr_pattern *pattern,
			       const struct ftr_pattern_names *names)
{
	return ftr_pattern_matches(pattern, names->shown) ||
	       (names->simple != NULL && ftr_pattern_matches(pattern, names->simple)) ||
	       (names->mangled != NULL && strcmp(pattern->text, names->mangled) == 0);
}
