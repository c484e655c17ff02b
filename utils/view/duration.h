/* SPDX-License-Identifier: MIT */
/* A time in ten columns, as every view shows it. */
#ifndef FTR_VIEW_DURATION_H
#define FTR_VIEW_DURATION_H

#include <stdbool.h>
#include <stdint.h>

/* Bytes at most, colours included. */
#define VIEW_DURATION_BYTES 24

/* "  0.849 us", its colour by the unit; blank when it is 0.  Returns the end. */
char *view_put_duration(char *p, uint64_t ns, bool use_color);

/* The nine digits of a time's part below the second. */
char *view_put_nanos(char *p, uint32_t ns);

#endif /* FTR_VIEW_DURATION_H */
