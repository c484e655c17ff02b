/* SPDX-License-Identifier: MIT */
/* Growable strings. */
#include "utils/base/strbuf.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void ftr_strbuf_init(struct ftr_strbuf *sb)
{
	*sb = (struct ftr_strbuf){ 0 };
}

void ftr_strbuf_fini(struct ftr_strbuf *sb)
{
	free(sb->s);
	ftr_strbuf_init(sb);
}

void ftr_strbuf_clear(struct ftr_strbuf *sb)
{
	sb->len = 0;
	sb->failed = false;
	if (sb->s != NULL)
		sb->s[0] = '\0';
}

/* Room for @len more bytes and the NUL. */
static bool strbuf_reserve(struct ftr_strbuf *sb, size_t len)
{
	size_t cap = sb->cap < 48 ? 64 : sb->cap + sb->cap / 2;
	char *s;

	if (len < sb->cap - sb->len)
		return true;
	if (len >= SIZE_MAX / 4 - sb->len) {
		sb->failed = true;
		return false;
	}
	if (cap <= sb->len + len)
		cap = sb->len + len + 1;
	s = realloc(sb->s, cap);
	if (s == NULL) {
		sb->failed = true;
		return false;
	}
	sb->s = s;
	sb->cap = cap;
	return true;
}

char *ftr_strbuf_room_slow(struct ftr_strbuf *sb, size_t len)
{
	return !sb->failed && strbuf_reserve(sb, len) ? sb->s + sb->len : NULL;
}

void ftr_strbuf_put(struct ftr_strbuf *sb, const void *bytes, size_t len)
{
	if (sb->failed || !strbuf_reserve(sb, len))
		return;
	if (len > 0)
		memcpy(sb->s + sb->len, bytes, len);
	sb->len += len;
	sb->s[sb->len] = '\0';
}

void ftr_strbuf_putc(struct ftr_strbuf *sb, char c)
{
	ftr_strbuf_put(sb, &c, 1);
}

void ftr_strbuf_puts(struct ftr_strbuf *sb, const char *s)
{
	ftr_strbuf_put(sb, s, strlen(s));
}

void ftr_strbuf_printf(struct ftr_strbuf *sb, const char *fmt, ...)
{
	va_list ap;
	int len;

	va_start(ap, fmt);
	len = vsnprintf(NULL, 0, fmt, ap);
	va_end(ap);
	if (len < 0)
		sb->failed = true;
	if (sb->failed || !strbuf_reserve(sb, (size_t)len))
		return;
	va_start(ap, fmt);
	vsnprintf(sb->s + sb->len, (size_t)len + 1, fmt, ap);
	va_end(ap);
	sb->len += (size_t)len;
}

const char *ftr_strbuf_str(const struct ftr_strbuf *sb)
{
	return sb->s == NULL ? "" : sb->s;
}

char *ftr_strbuf_take(struct ftr_strbuf *sb)
{
	char *s = NULL;

	if (!sb->failed && sb->s == NULL)
		sb->s = calloc(1, 1);
	if (!sb->failed) {
		s = sb->s;
		sb->s = NULL;
	}
	ftr_strbuf_fini(sb);
	return s;
}
