/* SPDX-License-Identifier: MIT */
/* The text of rules while it is taken apart. */
#include "utils/trace/rule_text.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Bytes that are shown before the place and behind it. */
#define SHOWN_BEFORE 60
#define SHOWN_BEHIND 30

static bool is_continued(char c)
{
	return ((unsigned char)c & 0xc0) == 0x80;	/* of a character of UTF-8 */
}

/* The lines below the description: as much as there is room for. */
static void put_place(char *out, size_t room, const char *text, size_t at)
{
	size_t from = at > SHOWN_BEFORE ? at - SHOWN_BEFORE : 0;
	size_t to = at + strnlen(text + at, SHOWN_BEHIND), columns = 0;
	char line[SHOWN_BEFORE + SHOWN_BEHIND + 1];

	while (from < at && is_continued(text[from]))
		from++;
	for (size_t i = from; i < to; i++) {
		bool is_control = (unsigned char)text[i] < ' ' || text[i] == 0x7f;

		line[i - from] = is_control ? '?' : text[i];
		columns += i < at && !is_continued(text[i]);
	}
	snprintf(out, room, "\n  %.*s\n  %*s^", (int)(to - from), line, (int)columns, "");
}

int ftr_rule_text_point(const struct ftr_rule_text *text, size_t at, struct ftr_err *err)
{
	size_t len;

	if (err == NULL)
		return -EINVAL;
	/* The description may be cut, its place not. */
	len = strnlen(err->text, sizeof(err->text) - 2 * (SHOWN_BEFORE + SHOWN_BEHIND) - 10);
	put_place(err->text + len, sizeof(err->text) - len, text->s, at);
	return -EINVAL;
}

int ftr_rule_text_refuse(const struct ftr_rule_text *text, size_t at, struct ftr_err *err,
			 const char *fmt, ...)
{
	char why[200];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(why, sizeof(why), fmt, ap);
	va_end(ap);
	ftr_err_set(err, EINVAL, "%s", why);
	return ftr_rule_text_point(text, at, err);
}

bool ftr_rule_text_take(struct ftr_rule_text *text, const char *word)
{
	size_t len = strlen(word);

	if (strncmp(text->s + text->pos, word, len) != 0)
		return false;
	text->pos += len;
	return true;
}

struct ftr_slice ftr_rule_text_until(struct ftr_rule_text *text, const char *ends)
{
	const char *from = text->s + text->pos;
	size_t len = strcspn(from, ends);

	text->pos += len;
	return ftr_slice_make(from, len);
}
