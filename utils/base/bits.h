/* SPDX-License-Identifier: MIT */
/* Bits, halves and sizes by name. */
#ifndef FTR_BASE_BITS_H
#define FTR_BASE_BITS_H

#include <stddef.h>
#include <stdint.h>

#define FTR_BIT(n)   (1u << (n))
#define FTR_BIT64(n) (UINT64_C(1) << (n))

#define FTR_KIB(n) ((size_t)(n) << 10)
#define FTR_MIB(n) ((size_t)(n) << 20)

/* A key of two numbers. */
static inline uint64_t ftr_u64_of(uint32_t high, uint32_t low)
{
	return (uint64_t)high << 32 | low;
}

static inline uint32_t ftr_high_u32(uint64_t value)
{
	return (uint32_t)(value >> 32);
}

/* Odd, and 2^64 divided by the golden ratio. */
#define FTR_HASH_FACTOR UINT64_C(0x9e3779b97f4a7c15)

/* Of a product with FTR_HASH_FACTOR: the upper @bits, which all of the number went into. */
static inline size_t ftr_high_bits(uint64_t value, unsigned bits)
{
	return (size_t)(value >> (64 - bits));
}

/* The signed number that the low @bytes of @value, 1..8, hold. */
static inline int64_t ftr_sign_extend(uint64_t value, size_t bytes)
{
	unsigned shift = bytes >= sizeof(value) ? 0 : 64 - 8 * (unsigned)bytes;

	return (int64_t)(value << shift) >> shift;
}

#endif /* FTR_BASE_BITS_H */
