/* SPDX-License-Identifier: MIT */
/* Packed blocks give back what went in, whatever it was, and are small for records. */
#include "tests/unit/unit.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "utils/base/bytes.h"
#include "utils/format/uftrace/pack_block.h"
#include "utils/format/uftrace/pack_frame.h"
#include "utils/format/uftrace/pack_words.h"

#define CALLS_NR 20000u

static uint64_t random_next(uint64_t *seed)
{
	*seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return *seed >> 33;
}

static size_t put_record(uint8_t *to, uint64_t time_ns, uint64_t word)
{
	ftr_put_u64(to, time_ns, false);
	ftr_put_u64(to + 8, word, false);
	return 16;
}

/* Calls of @funcs_nr functions, up to 40 deep; one record in @payload_of has a payload. */
static size_t make_calls(uint8_t *to, unsigned funcs_nr, unsigned payload_of)
{
	uint64_t seed = 7, time_ns = UINT64_C(100000000000), open[41];
	unsigned depth = 0;
	size_t at = 0;

	for (unsigned i = 0; i < 2 * CALLS_NR; i++) {
		bool is_entry = depth == 0 || (depth < 40 && random_next(&seed) % 2 == 0);

		time_ns += 20 + random_next(&seed) % 200;
		if (is_entry)
			open[depth++] = 0x555500001000 + random_next(&seed) % funcs_nr * 48;
		else
			depth--;
		at += put_record(to + at, time_ns,
				 ftr_record_word(is_entry ? FTR_RECORD_ENTRY : FTR_RECORD_EXIT,
						 is_entry ? depth - 1 : depth,
						 open[is_entry ? depth - 1 : depth]));
		if (payload_of != 0 && i % payload_of == 0) {
			to[at - 8] |= FTR_RECORD_MORE;
			for (unsigned j = 0; j < 24; j++)
				to[at++] = (uint8_t)random_next(&seed);
		}
	}
	return at;
}

/* Pack and unpack @nr bytes of @from; the size packed. */
static size_t there_and_back(struct ftr_packer *packer, const uint8_t *from, size_t nr)
{
	uint8_t *back = malloc(nr);
	uint8_t *copy;
	const uint8_t *packed;
	int64_t packed_nr = ftr_packer_pack(packer, from, nr, &packed);

	assert_non_null(back);
	assert_true(packed_nr > 0);
	assert_true((uint64_t)packed_nr <= nr + nr / 5 + 64);
	copy = malloc((size_t)packed_nr);
	assert_non_null(copy);
	memcpy(copy, packed, (size_t)packed_nr);
	assert_int_equal(ftr_packer_unpack(packer, copy, (size_t)packed_nr, back, nr), 0);
	assert_memory_equal(back, from, nr);
	if (nr > 1)
		assert_int_equal(ftr_packer_unpack(packer, copy, (size_t)packed_nr, back, nr - 1),
				 -EBADMSG);
	free(copy);
	free(back);
	return (size_t)packed_nr;
}

static int open_small(void **state)
{
	*state = ftr_packer_new(FTR_PACK_SMALL);
	return *state == NULL ? -1 : 0;
}

static int open_fast(void **state)
{
	*state = ftr_packer_new(FTR_PACK_FAST);
	return *state == NULL ? -1 : 0;
}

static int close_packer(void **state)
{
	ftr_packer_free(*state);
	return 0;
}

static void calls_are_small(void **state)
{
	uint8_t *bytes = malloc(FTR_PACK_BLOCK_BYTES);
	size_t nr = make_calls(bytes, 300, 0);

	assert_true(there_and_back(*state, bytes, nr) <= (size_t)5 * CALLS_NR);
	free(bytes);
}

/* In a hurry what is little anyway stays as it is, and is found whole by its frames' checksums. */
static void calls_in_order_stay(void **state)
{
	struct ftr_packer *fast;
	size_t nr, packed;
	uint8_t *bytes;

	if (!ftr_pack_frame_fits(1))
		skip();			/* ftr is built without libxxhash */
	fast = ftr_packer_new(FTR_PACK_FAST);
	bytes = malloc(FTR_PACK_BLOCK_BYTES);
	nr = make_calls(bytes, 100, 0) / 4;
	packed = there_and_back(fast, bytes, nr);
	assert_true(packed > nr / 16 * 2 && packed <= nr / 32 * 5 + 64);
	for (size_t i = 16; i < nr; i += 16)	/* each 20 ns behind the other */
		ftr_put_u64(bytes + i, ftr_get_u64(bytes + i - 16, false) + 20, false);
	packed = there_and_back(fast, bytes, nr);
	assert_true(packed > nr / 16 * 2 && packed <= nr / 32 * 5);
	assert_true(there_and_back(*state, bytes, nr) <= packed);
	ftr_packer_free(fast);
	free(bytes);
}

static void payloads_stay(void **state)
{
	uint8_t *bytes = malloc(FTR_MIB(2));

	there_and_back(*state, bytes, make_calls(bytes, 300, 9));
	free(bytes);
}

/* More addresses than have numbers: each record is an entry of another. */
static void many_addresses(void **state)
{
	const size_t nr = FTR_PACK_BLOCK_BYTES;
	uint8_t *bytes = malloc(nr);

	for (size_t at = 0, i = 0; at < nr; i++)
		at += put_record(bytes + at, 1000 + i,
				 ftr_record_word(FTR_RECORD_ENTRY, i % 1024, i));
	there_and_back(*state, bytes, nr);
	free(bytes);
}

static void any_bytes(void **state)
{
	uint8_t *bytes = malloc(FTR_PACK_BLOCK_BYTES);
	uint64_t seed = 11;

	for (size_t i = 0; i < FTR_PACK_BLOCK_BYTES; i++)
		bytes[i] = (uint8_t)random_next(&seed);
	for (size_t nr = 1; nr < 70; nr++)
		there_and_back(*state, bytes + nr, nr);
	there_and_back(*state, bytes, FTR_PACK_BLOCK_BYTES);
	there_and_back(*state, bytes, FTR_PACK_BLOCK_BYTES - 3);
	/* Records, all of them, whose times go anywhere: what takes most. */
	for (size_t i = 8; i < FTR_PACK_BLOCK_BYTES; i += 8)
		bytes[i] = (uint8_t)((bytes[i] & ~0x38u) | 0x28u);
	there_and_back(*state, bytes, FTR_PACK_BLOCK_BYTES);
	for (size_t i = 0; i < FTR_PACK_BLOCK_BYTES; i++)
		bytes[i] = 0;
	there_and_back(*state, bytes, FTR_PACK_BLOCK_BYTES);
	free(bytes);
}

static void odd_starts(void **state)
{
	uint8_t *bytes = malloc(FTR_PACK_BLOCK_BYTES);
	size_t nr = make_calls(bytes, 30, 0);

	for (size_t from = 1; from < 40; from++)
		there_and_back(*state, bytes + from, nr - 2 * from);
	free(bytes);
}

/* A changed byte is noticed; a few bits of a frame's header mean nothing. */
static void damage_is_noticed(void **state)
{
	uint8_t *bytes = malloc(FTR_PACK_BLOCK_BYTES);
	uint8_t *back = malloc(FTR_PACK_BLOCK_BYTES);
	uint8_t *copy;
	size_t nr = make_calls(bytes, 300, 0);
	const uint8_t *packed;
	int64_t packed_nr = ftr_packer_pack(*state, bytes, nr, &packed);
	uint64_t seed = 3;

	assert_true(packed_nr > 0);
	copy = malloc((size_t)packed_nr);
	memcpy(copy, packed, (size_t)packed_nr);
	for (unsigned i = 0; i < 300; i++) {
		size_t at = i < 20 ? i : random_next(&seed) % (size_t)packed_nr;

		copy[at] ^= (uint8_t)(1u << i % 8);
		if (ftr_packer_unpack(*state, copy, (size_t)packed_nr, back, nr) == 0)
			assert_memory_equal(back, bytes, nr);
		copy[at] ^= (uint8_t)(1u << i % 8);
		assert_int_equal(ftr_packer_unpack(*state, copy, at, back, nr), -EBADMSG);
	}
	free(copy);
	free(back);
	free(bytes);
}

/* What a checksum cannot keep away: frames that were made so. */
static void any_ops(void **state)
{
	struct pack_state *words = malloc(sizeof(*words));
	uint8_t ops[64], times[64];
	uint64_t seed = 5;

	for (unsigned i = 0; i < 20000; i++) {
		struct pack_streams streams = { .ops = ops, .times = times };
		size_t nr = random_next(&seed) % 40 * 8;
		uint8_t *to = malloc(nr + 1);

		streams.ops_nr = random_next(&seed) % 64;
		streams.times_nr = random_next(&seed) % 64;
		for (unsigned j = 0; j < 64; j++) {
			ops[j] = (uint8_t)(random_next(&seed) % (i % 2 == 0 ? 6 : 256));
			times[j] = (uint8_t)random_next(&seed);
		}
		ftr_unpack_words(words, &streams, to, nr);
		free(to);
	}
	free(words);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(calls_are_small), cmocka_unit_test(calls_in_order_stay),
		cmocka_unit_test(payloads_stay),
		cmocka_unit_test(many_addresses),  cmocka_unit_test(any_bytes),
		cmocka_unit_test(odd_starts),      cmocka_unit_test(damage_is_noticed),
		cmocka_unit_test(any_ops),
	};

	return cmocka_run_group_tests_name("small", tests, open_small, close_packer) +
	       cmocka_run_group_tests_name("fast", tests, open_fast, close_packer);
}
