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

const struct ftr_collector *ftr_collector_next(unsigned *pos)
{
	if (*pos >= sizeof(collectors) / sizeof(collectors[0]))
		return NULL;
	return collectors[(*pos)++];
}
