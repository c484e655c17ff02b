/* SPDX-License-Identifier: MIT */
/*
 * x87's numbers of 80 bits as others, by arithmetic of integers: the program's flags and rounding
 * stay as they are.
 */
#ifndef FTR_LIBMCOUNT_X87_H
#define FTR_LIBMCOUNT_X87_H

#include <stdint.h>

#define FTR_X87_BYTES 10u
#define FTR_X87_EXPONENT_MAX 0x7fffu
#define FTR_X87_EXPONENT_BIAS 16383

/* binary32 and binary64. */
struct ftr_float_format {
	unsigned exponent_bits, fraction_bits;
};

static inline uint64_t ftr_x87_round(uint64_t mantissa, unsigned drop)
{
	uint64_t kept = drop < 64 ? mantissa >> drop : 0;
	uint64_t rest = drop < 64 ? mantissa << (64 - drop) : mantissa >> (drop == 64 ? 0 : 1);
	uint64_t half = UINT64_C(1) << 63;

	return kept + (rest > half || (rest == half && (kept & 1) != 0));
}

/* The bits of what is nearest to x87's number of @exponent, with its bias, and @mantissa. */
static inline uint64_t ftr_x87_convert(struct ftr_float_format to, unsigned exponent,
				       uint64_t mantissa)
{
	uint64_t infinity = ((UINT64_C(1) << to.exponent_bits) - 1) << to.fraction_bits;
	int bias = (1 << (to.exponent_bits - 1)) - 1;
	int scale = (int)exponent - FTR_X87_EXPONENT_BIAS + bias;
	unsigned drop = 63 - to.fraction_bits;
	uint64_t bits;

	if (exponent == FTR_X87_EXPONENT_MAX)	/* of a NaN the upper bits, and that it is quiet */
		return mantissa << 1 == 0 ? infinity :
			infinity | (mantissa << 1 >> 1 >> drop) |
			UINT64_C(1) << (to.fraction_bits - 1);
	if (mantissa == 0 || scale < -(int)to.fraction_bits)
		return 0;
	if (scale >= 1 << to.exponent_bits)
		return infinity;
	if (scale <= 0)			/* its exponent is 0, and no bit is implied */
		return ftr_x87_round(mantissa, drop + 1 - (unsigned)scale);
	/* What is rounded up to the next power of two carries into the exponent. */
	bits = ftr_x87_round(mantissa, drop) + ((uint64_t)(scale - 1) << to.fraction_bits);
	return bits < infinity ? bits : infinity;
}

/*
 * What @x87 has when it is stored in @bytes, in their place: 4 and 8 are float and double, more is
 * as it is.  How many there are.
 */
static inline uint32_t ftr_x87_narrow(uint8_t x87[FTR_X87_BYTES], uint32_t bytes)
{
	struct ftr_float_format to = { 11, 52 };
	unsigned exponent = x87[8] | (x87[9] & 0x7fu) << 8;
	uint64_t sign = x87[9] >> 7, mantissa = 0, bits;
	uint32_t i;

	if (bytes >= FTR_X87_BYTES)
		return FTR_X87_BYTES;
	if (bytes == 4)
		to = (struct ftr_float_format){ 8, 23 };
	for (i = 0; i < sizeof(mantissa); i++)
		mantissa |= (uint64_t)x87[i] << 8 * i;
	bits = ftr_x87_convert(to, exponent, mantissa) |
	       sign << (to.exponent_bits + to.fraction_bits);
	for (i = 0; i < bytes && i < sizeof(bits); i++)
		x87[i] = (uint8_t)(bits >> 8 * i);
	return i;
}

#endif /* FTR_LIBMCOUNT_X87_H */
