/* SPDX-License-Identifier: MIT */
/* A growable string.  Out of memory is remembered, so that it can be asked for once, at the end. */
#ifndef FTR_BASE_STRBUF_H
#define FTR_BASE_STRBUF_H

#include <stdbool.h>
#include <stddef.h>

struct ftr_strbuf {
	char *s; /* (owned) NUL-terminated; "" before the first use is NULL: see ftr_strbuf_str */
	size_t len;
	size_t cap;
	bool   failed;	/* an append ran out of memory; the text is cut */
};

void ftr_strbuf_init(struct ftr_strbuf *sb);
void ftr_strbuf_fini(struct ftr_strbuf *sb);
void ftr_strbuf_clear(struct ftr_strbuf *sb);
void ftr_strbuf_put(struct ftr_strbuf *sb, const void *bytes, size_t len);
void ftr_strbuf_putc(struct ftr_strbuf *sb, char c);
void ftr_strbuf_puts(struct ftr_strbuf *sb, const char *s);
void ftr_strbuf_printf(struct ftr_strbuf *sb, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

char *ftr_strbuf_room_slow(struct ftr_strbuf *sb, size_t len);

/*
 * Where @len more bytes and the NUL can be written behind the text; what is written adds to ->len.
 * NULL: an append has failed.  Borrowed until the next append.
 */
static inline char *ftr_strbuf_room(struct ftr_strbuf *sb, size_t len)
{
	if (sb->failed || len >= sb->cap - sb->len)
		return ftr_strbuf_room_slow(sb, len);
	return sb->s + sb->len;
}

/* Never NULL; borrowed until the next append. */
const char *ftr_strbuf_str(const struct ftr_strbuf *sb);

/* Hand the text over (owned by the caller, free(3)), or NULL when an append failed. */
char *ftr_strbuf_take(struct ftr_strbuf *sb);

#endif /* FTR_BASE_STRBUF_H */
