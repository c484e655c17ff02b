/* SPDX-License-Identifier: MIT */
/* What the data of a page are written with. */
#include "utils/export/html_put.h"

#include <limits.h>

#include "utils/base/bits.h"
#include "utils/base/bytes.h"
#include "utils/base/ostream.h"

#define BASE64_BITS 6u

static void base64_put(struct ftr_html_base64 *to, uint8_t byte)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

	to->bits = to->bits << CHAR_BIT | byte;
	for (to->bit_nr += CHAR_BIT; to->bit_nr >= BASE64_BITS;) {
		to->bit_nr -= BASE64_BITS;
		ftr_ostream_putc(to->out, digits[to->bits >> to->bit_nr]);
		to->bits &= FTR_BIT(to->bit_nr) - 1;
	}
}

void ftr_html_put_end(struct ftr_html_base64 *to)
{
	while (to->bit_nr != 0)
		base64_put(to, 0);
}

void ftr_html_put_number(struct ftr_html_base64 *to, uint64_t value)
{
	uint8_t bytes[FTR_LEB128_MAX];
	size_t nr = ftr_put_leb128(bytes, value);

	for (size_t i = 0; i < nr; i++)
		base64_put(to, bytes[i]);
}

void ftr_html_put_string(struct ftr_ostream *out, struct ftr_ostream *text, const char *s,
			 size_t len)
{
	text->len = 0;
	ftr_ostream_json_string(text, s, len);
	for (size_t i = 0; i < text->len; i++) {
		if (text->buf[i] == '<')
			ftr_ostream_puts(out, "\\u003c");
		else
			ftr_ostream_putc(out, text->buf[i]);
	}
}
