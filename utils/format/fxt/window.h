/* SPDX-License-Identifier: MIT */
/*
 * The last records of an FXT file, kept in memory so that the end of a call can still be written
 * into them.
 *
 * A call is written as Duration Complete when it begins, with FXT_PENDING for its end.  If it ends
 * while its record is in the window, the end is filled in: 24 bytes a call.  When the window is
 * full it goes to the output, and the records of calls that are still open become Duration Begin;
 * their ends are written as Duration End (doc/adr/0014-calls-complete-in-a-window.md).
 */
#ifndef FTR_FORMAT_FXT_WINDOW_H
#define FTR_FORMAT_FXT_WINDOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "utils/format/fxt/layout.h"

#define FXT_PENDING	 UINT64_MAX
#define FXT_WINDOW_WORDS ((size_t)32 << 10)	/* 256 KiB: stays in the cache; some 10,000 calls */

struct ftr_ostream;

struct fxt_window {
	uint64_t *words;	/* (owned) FXT_WINDOW_WORDS of them */
	size_t nr;		/* in use */
	uint64_t base;		/* position of words[0]; positions count words since the start */
	struct ftr_ostream *out;	/* (borrowed) */
};

int  fxt_window_init(struct fxt_window *window, struct ftr_ostream *out);	/* 0 or -ENOMEM */
void fxt_window_fini(struct fxt_window *window);
void fxt_window_flush(struct fxt_window *window);

/* Room for a record of @words, FXT_WORDS_MAX at most; it counts as written. */
static inline uint64_t *fxt_window_put(struct fxt_window *window, size_t words)
{
	uint64_t *p;

	if (__builtin_expect(window->nr + words > FXT_WINDOW_WORDS, 0))
		fxt_window_flush(window);
	p = window->words + window->nr;
	window->nr += words;
	return p;
}

/* Position of the record that was put last, @words long. */
static inline uint64_t fxt_window_last(const struct fxt_window *window, size_t words)
{
	return window->base + window->nr - words;
}

/* Fill in the end of the call whose record is at @pos; false when it has left the window. */
static inline bool fxt_window_end(struct fxt_window *window, uint64_t pos, uint64_t end_ns)
{
	uint64_t *record;

	if (__builtin_expect(pos < window->base, 0))
		return false;
	record = window->words + (pos - window->base);
	record[fxt_record_words(*record) - 1] = end_ns;
	return true;
}

#endif /* FTR_FORMAT_FXT_WINDOW_H */
