/* SPDX-License-Identifier: MIT */
/* XXH64: four lanes of 8 bytes each, then what is left, then all bits into all others. */
#include "utils/base/xxh64.h"

#include "utils/base/bytes.h"

#define PRIME1 UINT64_C(0x9e3779b185ebca87)
#define PRIME2 UINT64_C(0xc2b2ae3d27d4eb4f)
#define PRIME3 UINT64_C(0x165667b19e3779f9)
#define PRIME4 UINT64_C(0x85ebca77c2b2ae63)
#define PRIME5 UINT64_C(0x27d4eb2f165667c5)

#define LANES	     4u
#define LANE_BYTES   8u
#define STRIPE_BYTES (LANES * LANE_BYTES)

static inline uint64_t rotate(uint64_t value, unsigned bits)
{
	return value << bits | value >> (64 - bits);
}

static inline uint64_t lane_round(uint64_t lane, uint64_t input)
{
	return rotate(lane + input * PRIME2, 31) * PRIME1;
}

static uint64_t lanes_merge(const uint64_t lanes[LANES])
{
	uint64_t hash = rotate(lanes[0], 1) + rotate(lanes[1], 7) + rotate(lanes[2], 12) +
			rotate(lanes[3], 18);

	for (unsigned i = 0; i < LANES; i++)
		hash = (hash ^ lane_round(0, lanes[i])) * PRIME1 + PRIME4;
	return hash;
}

/* Whole stripes.  Returns where they end. */
static const uint8_t *stripes_take(uint64_t lanes[LANES], const uint8_t *at, size_t nr)
{
	uint64_t a = lanes[0], b = lanes[1], c = lanes[2], d = lanes[3];

	for (; nr >= STRIPE_BYTES; nr -= STRIPE_BYTES, at += STRIPE_BYTES) {
		a = lane_round(a, ftr_get_u64(at, false));
		b = lane_round(b, ftr_get_u64(at + LANE_BYTES, false));
		c = lane_round(c, ftr_get_u64(at + 2 * LANE_BYTES, false));
		d = lane_round(d, ftr_get_u64(at + 3 * LANE_BYTES, false));
	}
	lanes[0] = a;
	lanes[1] = b;
	lanes[2] = c;
	lanes[3] = d;
	return at;
}

uint64_t ftr_xxh64(const void *bytes, size_t nr)
{
	uint64_t lanes[LANES] = { PRIME1 + PRIME2, PRIME2, 0, -PRIME1 };
	const uint8_t *at = bytes, *end = at + nr;
	uint64_t hash = PRIME5;

	if (nr >= STRIPE_BYTES) {
		at = stripes_take(lanes, at, nr);
		hash = lanes_merge(lanes);
	}
	hash += nr;
	for (; (size_t)(end - at) >= 8; at += 8)
		hash = rotate(hash ^ lane_round(0, ftr_get_u64(at, false)), 27) * PRIME1 + PRIME4;
	for (; (size_t)(end - at) >= 4; at += 4)
		hash = rotate(hash ^ ftr_get_u32(at, false) * PRIME1, 23) * PRIME2 + PRIME3;
	for (; at < end; at++)
		hash = rotate(hash ^ *at * PRIME5, 11) * PRIME1;
	hash = (hash ^ hash >> 33) * PRIME2;
	hash = (hash ^ hash >> 29) * PRIME3;
	return hash ^ hash >> 32;
}
