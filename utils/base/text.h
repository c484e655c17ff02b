/* SPDX-License-Identifier: MIT */
/* Numbers and words in texts that people or files supply.  All bounds are checked; no locale. */
#ifndef FTR_BASE_TEXT_H
#define FTR_BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A slice of a text owned elsewhere. */
struct ftr_slice {
	const char *s;
	size_t len;
};

static inline struct ftr_slice ftr_slice_make(const char *s, size_t len)
{
	return (struct ftr_slice){ s, len };
}

bool ftr_slice_eq(struct ftr_slice slice, const char *s);
bool ftr_slice_same(struct ftr_slice a, struct ftr_slice b);
bool ftr_slice_starts(struct ftr_slice slice, const char *prefix);
/*
 * Split at the first @sep: *head gets the part before it, *rest what follows; false at the end.
 * An empty text, and one that ends in @sep, have an empty last part.
 */
bool ftr_slice_split(struct ftr_slice *rest, char sep, struct ftr_slice *head);
struct ftr_slice ftr_slice_trim(struct ftr_slice slice);
/* Is no byte a control character, of ASCII's? */
bool ftr_text_is_printable(const char *s, size_t len);

/*
 * The whole slice must be the number: 0, or -EINVAL, or -ERANGE.  @base 0: decimal, or hex after
 * 0x.
 */
int ftr_parse_u64(struct ftr_slice text, unsigned base, uint64_t *value);
int ftr_parse_i64(struct ftr_slice text, int64_t *value);
/* "128K" "4M" "1G" "2T", also "4MB", of either case; bytes. */
int ftr_parse_size(struct ftr_slice text, uint64_t *bytes);
/* "100" "10us" "1.5ms" "2s" "1m" "1h", nanoseconds; *has_unit (nullable): a unit stood there. */
int ftr_parse_time(struct ftr_slice text, uint64_t *ns, bool *has_unit);
/* "SEC.NNNNNNNNN" as in task.txt, up to nine fraction digits. */
int ftr_parse_timestamp(struct ftr_slice text, uint64_t *ns);

/* Bytes of the well-formed UTF-8 character at @s, 1..4, or 0 when there is none. */
size_t ftr_utf8_char(const char *s, size_t len);

/*
 * uftrace's ten columns: "  0.849 us" "  2.351 ms" "201.034 us" "  1.234  s" "  1.059  m" (1 min 59
 * s) "  2.013  h" (2 h 13 min), cut, not rounded; blanks for 0; "999.999  h" from 1000 hours on.
 * Unlike uftrace, whose hours have 24 minutes, an hour has 60.  Writes FTR_DURATION_CHARS
 * characters, no NUL; returns the end.
 */
#define FTR_DURATION_CHARS 10
char *ftr_fmt_duration(char *p, uint64_t ns);

#endif /* FTR_BASE_TEXT_H */
