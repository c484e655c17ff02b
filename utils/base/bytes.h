/* SPDX-License-Identifier: MIT */
/* Integers in byte buffers of either byte order, without alignment. */
#ifndef FTR_BASE_BYTES_H
#define FTR_BASE_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define FTR_HOST_IS_BIG (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__)

static inline uint16_t ftr_get_u16(const void *p, bool is_big)
{
	uint16_t v;

	memcpy(&v, p, sizeof(v));
	return is_big == FTR_HOST_IS_BIG ? v : __builtin_bswap16(v);
}

static inline uint32_t ftr_get_u32(const void *p, bool is_big)
{
	uint32_t v;

	memcpy(&v, p, sizeof(v));
	return is_big == FTR_HOST_IS_BIG ? v : __builtin_bswap32(v);
}

static inline uint64_t ftr_get_u64(const void *p, bool is_big)
{
	uint64_t v;

	memcpy(&v, p, sizeof(v));
	return is_big == FTR_HOST_IS_BIG ? v : __builtin_bswap64(v);
}

/* A number of 1, 2, 4 or 8 @bytes, by one load; of others: 0. */
static inline uint64_t ftr_get_word(const uint8_t *p, size_t bytes, bool is_big)
{
	switch (bytes) {
	case 1:
		return *p;
	case 2:
		return ftr_get_u16(p, is_big);
	case 4:
		return ftr_get_u32(p, is_big);
	case 8:
		return ftr_get_u64(p, is_big);
	default:
		return 0;
	}
}

/* A number of @bytes, 0..8. */
static inline uint64_t ftr_get_unsigned(const uint8_t *p, size_t bytes, bool is_big)
{
	uint64_t value = 0;

	for (size_t i = 0; i < bytes; i++)
		value = value << 8 | p[is_big ? i : bytes - 1 - i];
	return value;
}

static inline void ftr_put_u16(void *p, uint16_t value, bool is_big)
{
	value = is_big == FTR_HOST_IS_BIG ? value : __builtin_bswap16(value);
	memcpy(p, &value, sizeof(value));
}

static inline void ftr_put_u32(void *p, uint32_t value, bool is_big)
{
	value = is_big == FTR_HOST_IS_BIG ? value : __builtin_bswap32(value);
	memcpy(p, &value, sizeof(value));
}

static inline void ftr_put_u64(void *p, uint64_t value, bool is_big)
{
	value = is_big == FTR_HOST_IS_BIG ? value : __builtin_bswap64(value);
	memcpy(p, &value, sizeof(value));
}

static inline uint64_t ftr_align_up(uint64_t value, uint64_t align)
{
	return (value + align - 1) / align * align;
}

/* LEB128: seven bits a byte, the least significant first; the top bit says that more follow. */
#define FTR_LEB128_MAX 10
#define FTR_LEB128_BITS 7u
#define FTR_LEB128_CONTINUED 0x80u

/* The bytes written, FTR_LEB128_MAX at most. */
static inline size_t ftr_put_leb128(void *p, uint64_t value)
{
	uint8_t *bytes = p;
	size_t nr = 0;

	for (; value >= FTR_LEB128_CONTINUED; value >>= FTR_LEB128_BITS)
		bytes[nr++] = (uint8_t)(value | FTR_LEB128_CONTINUED);
	bytes[nr++] = (uint8_t)value;
	return nr;
}

#endif /* FTR_BASE_BYTES_H */
