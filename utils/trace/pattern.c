/* SPDX-License-Identifier: MIT */
/* Patterns of names: regular expressions by libpcre2, globs by fnmatch(3). */
#include "utils/trace/pattern.h"

#include <ctype.h>
#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include "utils/object/demangle.h"

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

/* The longer ones first. */
static const char *const operators[] = {
	"<=>", "->*", "<<=", ">>=", "()", "[]", "->", "++", "--", "&&", "||", "+=", "-=", "*=", "/=",
	"%=", "^=", "&=", "|=", "<<", ">>", "<=", ">=", "==", "!=", "+", "-", "*", "/", "%", "^", "&",
	"|", "~", "!", "=", "<", ">", ",", " new[]", " delete[]", NULL
};

/*
 * "operator[]", "ns::operator+(ns::type)": an operator of C++, with parameters or not.  As a
 * regular expression it is wrong, or that of other operators.
 */
static bool is_operator(const char *text)
{
	const char *at = text;

	while ((at = strstr(at, "operator")) != NULL) {
		bool is_word = at == text || at[-1] == ':' || at[-1] == ' ';

		at += strlen("operator");
		for (const char *const *sign = operators; is_word && *sign != NULL; sign++) {
			size_t len = strlen(*sign);

			if (strncmp(at, *sign, len) == 0)
				return at[len] == '\0' || at[len] == '(' || at[len] == '<';
		}
	}
	return false;
}

/* "call(int (*)(int))" is none either. */
static bool has_function_pointer(const char *text)
{
	return strstr(text, "(*)") != NULL;
}

static enum ftr_match match_of(const char *text, enum ftr_match match)
{
	static const char *const special[] = {
		[FTR_MATCH_REGEX] = REGEX_CHARS, [FTR_MATCH_GLOB] = GLOB_CHARS,
		[FTR_MATCH_EXACT] = "",
	};

	if (match == FTR_MATCH_REGEX && (is_operator(text) || has_function_pointer(text)))
		return FTR_MATCH_EXACT;
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

/* What stands before the parameters is in the mangled name, but for abbreviations of std. */
static bool may_be_whole(const char *text, const char *mangled)
{
	size_t end = strcspn(text, "(<"), begin = end;

	if (text[end] == '\0')
		return strstr(mangled, "B5cxx11") != NULL;
	while (begin > 0 && (isalnum((unsigned char)text[begin - 1]) || text[begin - 1] == '_'))
		begin--;
	return begin == end || strncmp(text, "std::", 5) == 0 ||
	       memmem(mangled, strlen(mangled), text + begin, end - begin) != NULL;
}

bool ftr_pattern_matches_symbol(const struct ftr_pattern *pattern,
				const struct ftr_pattern_names *names)
{
	return ftr_pattern_matches_names(pattern, names) ||
	       (names->mangled != NULL && may_be_whole(pattern->text, names->mangled) &&
		ftr_demangle_is(names->mangled, pattern->text));
}
