/* SPDX-License-Identifier: MIT */
/* Sets of processors as text. */
#include "utils/view/cpu_text.h"

#include <inttypes.h>

#include "utils/analysis/cpus.h"

void view_cpu_mask_text(const struct ftr_cpu_set *set, struct ftr_strbuf *text)
{
	unsigned top = FTR_CPUS_MAX / FTR_CPU_WORD_BITS - 1;

	while (top > 0 && set->words[top] == 0)
		top--;
	if (top == 0)
		ftr_strbuf_printf(text, "%08" PRIx64, set->words[0]);
	else
		ftr_strbuf_printf(text, "%" PRIx64, set->words[top]);
	while (top-- > 0)
		ftr_strbuf_printf(text, "%016" PRIx64, set->words[top]);
}

void view_cpu_list_text(const struct ftr_cpu_set *set, struct ftr_strbuf *text)
{
	const char *separator = "";

	for (unsigned i = 0; i < FTR_CPUS_MAX; i++) {
		unsigned first = i;

		if (!ftr_cpu_set_has(set, i))
			continue;
		while (i + 1 < FTR_CPUS_MAX && ftr_cpu_set_has(set, i + 1))
			i++;
		ftr_strbuf_printf(text, "%s%u", separator, first);
		if (i > first)
			ftr_strbuf_printf(text, "-%u", i);
		separator = ",";
	}
	if (separator[0] == '\0')
		ftr_strbuf_putc(text, '-');
}
