/* SPDX-License-Identifier: MIT */
/* A time in ten columns, as every view shows it. */
#include "utils/view/duration.h"

#include "utils/base/text.h"
#include "utils/view/color.h"

#include <string.h>

static const char *unit_color(const char unit[2])
{
	if (unit[0] == 'm')
		return FTR_SGR_GREEN;
	return unit[1] == 's' ? FTR_SGR_YELLOW : FTR_SGR_RED;
}

char *view_put_duration(char *p, uint64_t ns, bool use_color)
{
	const char *color;
	char unit[2];

	if (ns == 0) {
		memset(p, ' ', FTR_DURATION_CHARS);
		return p + FTR_DURATION_CHARS;
	}
	p = ftr_fmt_duration(p, ns);
	if (!use_color || p[-2] == 'u')
		return p;
	memcpy(unit, p - 2, sizeof(unit));
	color = unit_color(unit);
	p = stpcpy(p - 2, color);
	memcpy(p, unit, sizeof(unit));
	return stpcpy(p + sizeof(unit), FTR_SGR_RESET);
}
