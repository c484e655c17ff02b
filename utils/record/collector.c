/* SPDX-License-Identifier: MIT */
/* The list of collectors. */
#include "utils/record/collector.h"

#include <stddef.h>

#define FTR_COLLECTOR(name) extern const struct ftr_collector ftr_collector_##name;
#include "utils/record/collectors.def"
#undef FTR_COLLECTOR

static const struct ftr_collector *const collectors[] = {
#define FTR_COLLECTOR(name) &ftr_collector_##name,
#include "utils/record/collectors.def"
#undef FTR_COLLECTOR
};

const struct ftr_collector *ftr_collector_next(size_t *pos)
{
	if (*pos >= sizeof(collectors) / sizeof(collectors[0]))
		return NULL;
	return collectors[(*pos)++];
}

bool ftr_collector_options(size_t *pos, struct ftr_option_set *set)
{
	const struct ftr_collector *collector = ftr_collector_next(pos);

	if (collector == NULL)
		return false;
	*set = (struct ftr_option_set){ collector->name, collector->options,
					collector->values_bytes, collector->defaults };
	return true;
}
