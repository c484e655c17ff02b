/* SPDX-License-Identifier: MIT */
/* A time in ten columns, as every view and export shows it. */
#ifndef FTR_BASE_DURATION_H
#define FTR_BASE_DURATION_H

#include <stdbool.h>
#include <stdint.h>

#include "utils/base/text.h"

/* Bytes at most, colours included. */
#define FTR_DURATION_BYTES 24

char *ftr_duration_put_slow(char *p, uint64_t ns, bool use_color);

/* "  0.849 us", its colour by the unit; blank when it is 0.  Returns the end. */
static inline char *ftr_duration_put(char *p, uint64_t ns, bool use_color)
{
	return ns != 0 && !use_color ? ftr_fmt_duration(p, ns) :
				       ftr_duration_put_slow(p, ns, use_color);
}

struct ftr_ostream;
void ftr_duration_write(struct ftr_ostream *out, uint64_t ns, bool use_color);

/* The nine digits of a time's part below the second. */
char *ftr_nanos_put(char *p, uint32_t ns);

#endif /* FTR_BASE_DURATION_H */
