/* SPDX-License-Identifier: MIT */
/* A time in ten columns, as every view and export shows it. */
#include "utils/base/duration.h"

#include "utils/base/bytes.h"
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

/*
 * Eight digits in one register: halves of four, of two, of one digit, each split by a
 * multiplication; the first digit ends up in the lowest byte.
 */
static uint64_t digits_of(uint32_t value)
{
	uint64_t v = value / 10000 | (uint64_t)(value % 10000) << 32;
	uint64_t high = (v * 10486 >> 20) & UINT64_C(0x0000007f0000007f);

	v = high | (v - high * 100) << 16;
	high = (v * 103 >> 10) & UINT64_C(0x000f000f000f000f);
	v = high | (v - high * 10) << 8;
	return v + UINT64_C(0x3030303030303030);
}

char *ftr_nanos_put(char *p, uint32_t ns)
{
	uint64_t digits = digits_of(ns % 100000000);

	if (FTR_HOST_IS_BIG)
		digits = __builtin_bswap64(digits);
	*p = (char)('0' + ns / 100000000);
	memcpy(p + 1, &digits, sizeof(digits));
	return p + 9;
}
