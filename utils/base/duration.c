/* SPDX-License-Identifier: MIT */
/* A time in ten columns, as every view and export shows it. */
#include "utils/base/duration.h"

#include "utils/base/color.h"
#include "utils/base/ostream.h"
#include "utils/base/text.h"

#include <string.h>

static const char *unit_color(const char unit[2])
{
	if (unit[0] == 'u')
		return FTR_SGR_GRAY;
	if (unit[0] == 'm')
		return FTR_SGR_GREEN;
	return unit[1] == 's' ? FTR_SGR_YELLOW : FTR_SGR_RED;
}

char *ftr_duration_put_slow(char *p, uint64_t ns, bool use_color)
{
	char text[FTR_DURATION_CHARS + 8];
	size_t len;

	if (ns == 0) {
		memset(p, ' ', FTR_DURATION_CHARS);
		return p + FTR_DURATION_CHARS;
	}
	len = (size_t)(ftr_fmt_duration(text, ns) - text);
	p = stpcpy(p, unit_color(text + len - 2));
	memcpy(p, text, len);
	return stpcpy(p + len, FTR_SGR_RESET);
}

void ftr_duration_write(struct ftr_ostream *out, uint64_t ns, bool use_color)
{
	char text[FTR_DURATION_BYTES];

	ftr_ostream_write(out, text, (size_t)(ftr_duration_put(text, ns, use_color) - text));
}
