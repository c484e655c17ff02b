/* SPDX-License-Identifier: MIT */
/* Clocks by their --clock names. */
#ifndef FTR_BASE_CLOCK_H
#define FTR_BASE_CLOCK_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

struct ftr_clock {
	const char *name;	/* mono mono_raw boot realtime; counter (tests) */
	clockid_t   id;
	bool        is_counter;
};

const struct ftr_clock *ftr_clock_find(const char *name);	/* NULL = no such clock */
uint64_t ftr_clock_now_ns(clockid_t id);

#endif /* FTR_BASE_CLOCK_H */
