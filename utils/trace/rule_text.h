/* SPDX-License-Identifier: MIT */
/*
 * The text of rules while it is taken apart.  What is wrong with it is described in three lines:
 * the failure, the text around its place, and a caret below that.
 */
#ifndef FTR_TRACE_RULE_TEXT_H
#define FTR_TRACE_RULE_TEXT_H

#include <stdbool.h>
#include <stddef.h>

#include "utils/base/err.h"
#include "utils/base/text.h"

struct ftr_rule_text {
	const char *s;		/* the whole text, NUL-terminated */
	size_t pos;
};

/* Describe what is wrong at @at.  Returns -EINVAL. */
int ftr_rule_text_refuse(const struct ftr_rule_text *text, size_t at, struct ftr_err *err,
			 const char *fmt, ...) __attribute__((format(printf, 4, 5)));

/* The same for a description that stands in @err already. */
int ftr_rule_text_point(const struct ftr_rule_text *text, size_t at, struct ftr_err *err);

static inline char ftr_rule_text_peek(const struct ftr_rule_text *text)
{
	return text->s[text->pos];
}

/* Step over @word when it stands here. */
bool ftr_rule_text_take(struct ftr_rule_text *text, const char *word);

/* What stands here up to any of @ends, or the end; steps over it. */
struct ftr_slice ftr_rule_text_until(struct ftr_rule_text *text, const char *ends);

#endif /* FTR_TRACE_RULE_TEXT_H */
