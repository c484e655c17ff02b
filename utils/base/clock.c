/* SPDX-License-Identifier: MIT */
/* Clocks by their --clock names. */
#include "utils/base/clock.h"

#include <stddef.h>
#include <string.h>

static const struct ftr_clock clocks[] = {
	{ "mono",     CLOCK_MONOTONIC,     false },
	{ "mono_raw", CLOCK_MONOTONIC_RAW, false },
	{ "boot",     CLOCK_BOOTTIME,      false },
	{ "realtime", CLOCK_REALTIME,      false },
	{ "counter",  CLOCK_MONOTONIC,     true  },
};

const struct ftr_clock *ftr_clock_find(const char *name)
{
	for (size_t i = 0; i < sizeof(clocks) / sizeof(clocks[0]); i++) {
		if (strcmp(clocks[i].name, name) == 0)
			return &clocks[i];
	}
	return NULL;
}

uint64_t ftr_clock_now_ns(clockid_t id)
{
	struct timespec now = { 0 };

	clock_gettime(id, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}
