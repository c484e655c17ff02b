/* SPDX-License-Identifier: MIT */
/*
 * Buffered output to a descriptor or to memory.  Numbers are formatted by hand: printf costs 20
 * times as much and replay prints one line per call.  A failed write is remembered: later calls do
 * nothing, and ftr_ostream_flush and _close report it.  SIGPIPE is the program's: ignored, a closed
 * pipe is EPIPE like any other failure.
 */
#ifndef FTR_BASE_OSTREAM_H
#define FTR_BASE_OSTREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "utils/base/err.h"

struct ftr_ostream {
	char  *buf;		/* (owned) */
	size_t len;		/* bytes waiting in buf (memory stream: all of them) */
	size_t cap;
	int    fd;		/* -1 = memory stream */
	bool   owns_fd;
	int    code;		/* 0, or the errno of the first failure */
	uint64_t written;	/* bytes handed to the descriptor so far */
	char  *name;		/* (owned) for messages */
};

/* Create or truncate a file; "-" is standard output.  0 or -errno. */
int ftr_ostream_open(struct ftr_ostream *out, const char *path, struct ftr_err *err);
int ftr_ostream_from_fd(struct ftr_ostream *out, int fd, const char *name);	/* fd borrowed */
int ftr_ostream_to_memory(struct ftr_ostream *out);	/* text in out->buf, out->len */
int ftr_ostream_flush(struct ftr_ostream *out, struct ftr_err *err);
int ftr_ostream_close(struct ftr_ostream *out, struct ftr_err *err);	/* flushes; frees */

/*
 * Room for @bytes contiguous bytes: format there, then ftr_ostream_commit() what was used.  Never
 * NULL for up to 4096 bytes (after a failure the text goes nowhere); larger requests may return
 * NULL.
 */
char *ftr_ostream_reserve_slow(struct ftr_ostream *out, size_t bytes);

static inline char *ftr_ostream_reserve(struct ftr_ostream *out, size_t bytes)
{
	if (__builtin_expect(out->cap - out->len >= bytes, 1))
		return out->buf + out->len;
	return ftr_ostream_reserve_slow(out, bytes);
}

static inline void ftr_ostream_commit(struct ftr_ostream *out, size_t bytes)
{
	out->len += bytes;
}

void ftr_ostream_write(struct ftr_ostream *out, const void *bytes, size_t len);
void ftr_ostream_puts(struct ftr_ostream *out, const char *s);
void ftr_ostream_putc(struct ftr_ostream *out, char c);
void ftr_ostream_pad(struct ftr_ostream *out, char c, size_t nr);
void ftr_ostream_u64(struct ftr_ostream *out, uint64_t value);			/* decimal */
void ftr_ostream_u64_width(struct ftr_ostream *out, uint64_t value, unsigned width, char pad);
void ftr_ostream_hex(struct ftr_ostream *out, uint64_t value);			/* no 0x */
void ftr_ostream_printf(struct ftr_ostream *out, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
/* A quoted JSON string; bytes that are not UTF-8 become U+FFFD. */
void ftr_ostream_json_string(struct ftr_ostream *out, const char *s, size_t len);

/*
 * Format helpers on raw room: return the end.  ftr_fmt_u64 needs 20 bytes, _hex and _hex_wide 16,
 * _fixed @digits: the last @digits digits of @value, shorter ones right-aligned behind @pad.
 * _hex_wide puts @digits digits at least, 1 to 16, of which the first may be zeros.
 */
char *ftr_fmt_u64(char *p, uint64_t value);
char *ftr_fmt_fixed(char *p, uint64_t value, unsigned digits, char pad);
char *ftr_fmt_hex(char *p, uint64_t value);
char *ftr_fmt_hex_wide(char *p, uint64_t value, unsigned digits);

#endif /* FTR_BASE_OSTREAM_H */
