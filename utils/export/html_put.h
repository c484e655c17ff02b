/* SPDX-License-Identifier: MIT */
/* What the data of a page are written with: numbers as LEB128 in base64, strings as JSON. */
#ifndef FTR_EXPORT_HTML_PUT_H
#define FTR_EXPORT_HTML_PUT_H

#include <stddef.h>
#include <stdint.h>

struct ftr_ostream;

/* Bytes as base64, 6 bits after the other; all zero but out at first. */
struct ftr_html_base64 {
	struct ftr_ostream *out;
	uint32_t bits;
	unsigned bit_nr;
};

void ftr_html_put_number(struct ftr_html_base64 *to, uint64_t value);
void ftr_html_put_end(struct ftr_html_base64 *to);

/* As JSON, inside of a script element, which "</" would end; @text is room for it, in memory. */
void ftr_html_put_string(struct ftr_ostream *out, struct ftr_ostream *text, const char *s,
			 size_t len);

#endif /* FTR_EXPORT_HTML_PUT_H */
