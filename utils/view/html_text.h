/* SPDX-License-Identifier: MIT */
/* What a command prints for a terminal, as a page: the same text, with its colours. */
#ifndef FTR_VIEW_HTML_TEXT_H
#define FTR_VIEW_HTML_TEXT_H

#include <stddef.h>

#include "utils/base/ostream.h"

#define FTR_HTML_SEQUENCE_MAX 16

struct ftr_html_text {
	struct ftr_ostream *out;	/* (borrowed) */
	unsigned open_nr;		/* elements that a colour has begun */
	char sequence[FTR_HTML_SEQUENCE_MAX];	/* of a terminal, which has not ended yet */
	size_t sequence_len;
};

/* Begin a page of that title. */
void ftr_html_text_begin(struct ftr_html_text *text, struct ftr_ostream *out, const char *title);
/*
 * More of what is printed, in pieces of any length: FTR_SGR_* of color.h become elements, other
 * sequences that begin with ESC [ are left out.
 */
void ftr_html_text_put(struct ftr_html_text *text, const char *bytes, size_t len);
void ftr_html_text_end(struct ftr_html_text *text);

#endif /* FTR_VIEW_HTML_TEXT_H */
