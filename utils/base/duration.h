/* SPDX-License-Identifier: MIT */
/* A time in ten columns, as every view and export shows it. */
#ifndef FTR_BASE_DURATION_H
#define FTR_BASE_DURATION_H

#include <stdbool.h>
#include <stdint.h>

#include "utils/base/bytes.h"
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

/*
 * Eight digits in one register: halves of four, of two, of one digit, each split by a
 * multiplication; the first digit ends up in the lowest byte.
 */
static inline uint64_t ftr_digits_of(uint32_t value)
{
	uint64_t v = value / 10000 | (uint64_t)(value % 10000) << 32;
	uint64_t high = (v * 10486 >> 20) & UINT64_C(0x0000007f0000007f);

	v = high | (v - high * 100) << 16;
	high = (v * 103 >> 10) & UINT64_C(0x000f000f000f000f);
	v = high | (v - high * 10) << 8;
	return v + UINT64_C(0x3030303030303030);
}

/* The four digits of @value, which has no more. */
static inline char *ftr_digits4_put(char *p, uint32_t value)
{
	uint32_t high = value * 5243 >> 19;			/* of hundreds */
	uint32_t v = high | (value - high * 100) << 16;

	high = (v * 103 >> 10) & 0x000f000f;
	v = (high | (v - high * 10) << 8) + 0x30303030;
	if (FTR_HOST_IS_BIG)
		v = __builtin_bswap32(v);
	memcpy(p, &v, sizeof(v));
	return p + sizeof(v);
}

/* The nine digits of a time's part below the second. */
static inline char *ftr_nanos_put(char *p, uint32_t ns)
{
	uint64_t digits = ftr_digits_of(ns % 100000000);

	if (FTR_HOST_IS_BIG)
		digits = __builtin_bswap64(digits);
	*p = (char)('0' + ns / 100000000);
	memcpy(p + 1, &digits, sizeof(digits));
	return p + 9;
}

#endif /* FTR_BASE_DURATION_H */
