/* SPDX-License-Identifier: MIT */
/* Rings made ahead, claimed as children do and given back. */
#include "tests/unit/unit.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "utils/record/nursery.h"
#include "utils/record/ring_memory.h"

#define OWNER 4711
#define PID_NONE 0x3fffffff	/* above every pid_max */

static struct ftr_record_nurseries nurseries;
static struct ftr_record_nursery *nursery;
static struct ftr_record_claims claims;

static int start(void **state)
{
	nurseries = (struct ftr_record_nurseries){ 0 };
	claims = (struct ftr_record_claims){ 0 };
	return ftr_record_nursery_new(&nurseries, OWNER, 1 << 20, &nursery, NULL);
}

static int stop(void **state)
{
	ftr_vec_fini(&claims.v);
	ftr_record_nurseries_fini(&nurseries);
	return 0;
}

static void claim(unsigned place, int32_t pid, uint64_t time)
{
	struct ftr_nursery_claim *claim = &nursery->shared->claims[place];
	uint64_t free = FTR_NURSERY_FREE;

	assert_true(atomic_compare_exchange_strong(&claim->who, &free,
						   ftr_nursery_who(pid, OWNER)));
	atomic_store(&claim->time, time);
}

static size_t claims_look(void)
{
	claims.v.nr = 0;
	assert_int_equal(ftr_record_nurseries_claims(&nurseries, &claims), 0);
	return claims.v.nr;
}

static uint64_t who(unsigned place)
{
	return atomic_load(&nursery->shared->claims[place].who);
}

static struct ftr_record *data_of(unsigned place)
{
	return (struct ftr_record *)((char *)ftr_nursery_ring(nursery->shared, place) +
				     FTR_NURSERY_DATA_OFFSET);
}

static void test_oldest_first_and_once(void **state)
{
	assert_int_equal(claims_look(), 0);
	claim(0, 12, 2000);
	claim(1, 11, 1000);
	claim(5, 13, 3000);
	assert_int_equal(claims_look(), 3);
	assert_int_equal(claims.v.v[0].pid, 11);
	assert_int_equal(claims.v.v[0].parent_pid, OWNER);
	assert_int_equal(claims.v.v[1].pid, 12);
	assert_int_equal(claims.v.v[2].pid, 13);
	assert_int_equal(claims.v.v[2].place, 5);
	assert_int_equal(claims_look(), 0);
}

static void test_rings_have_names_of_their_own(void **state)
{
	struct ftr_record_nursery *other;
	struct ftr_ring ring;
	uint64_t id, id_other;

	claim(63, 11, 1000);
	assert_int_equal(claims_look(), 1);
	ftr_record_nursery_ring(&claims.v.v[0], &ring, &id);
	assert_int_equal(ring.size_bytes, FTR_NURSERY_RING_BYTES);
	assert_true(id == nursery->shared->first_id + 63);
	assert_int_equal(ftr_record_nursery_new(&nurseries, OWNER + 1, 8192, &other, NULL), 0);
	id_other = other->shared->first_id;
	assert_true(id_other > id);
	assert_int_equal(other->shared->ring_bytes, 8192);
	ftr_ring_close(&ring);
}

/* Whoever claims it next finds it empty, however much there was in it. */
static void given_back(uint64_t used)
{
	size_t nr = FTR_NURSERY_RING_BYTES / sizeof(struct ftr_record), i;
	struct ftr_ring ring;
	uint64_t id;

	claim(0, 11, 1000);
	assert_int_equal(claims_look(), 1);
	ftr_record_nursery_ring(&claims.v.v[0], &ring, &id);
	for (i = 0; i < nr && i * sizeof(struct ftr_record) < used; i++)
		data_of(0)[i].word = 1;
	atomic_store(&ring.header->lost, 3);
	atomic_store(&ring.header->untraced, 1);
	ring.tail = used;
	atomic_store(&ring.header->tail, used);
	assert_false(ftr_ring_is_shared(&ring));
	ftr_ring_close(&ring);
	assert_true(who(0) == FTR_NURSERY_FREE);
	assert_true(atomic_load(&nursery->shared->claims[0].time) == 0);
	assert_int_equal(atomic_load(&ftr_nursery_ring(nursery->shared, 0)->tail), 0);
	assert_int_equal(atomic_load(&ftr_nursery_ring(nursery->shared, 0)->lost), 0);
	assert_int_equal(atomic_load(&ftr_nursery_ring(nursery->shared, 0)->untraced), 0);
	for (i = 0; i < nr; i++)
		assert_true(data_of(0)[i].word == 0);
}

static void test_given_back_empty(void **state)
{
	given_back(320);
	given_back(8192);
	given_back(FTR_NURSERY_RING_BYTES);
	given_back(5 * (uint64_t)FTR_NURSERY_RING_BYTES);
}

static void test_neighbours_stay(void **state)
{
	struct ftr_ring ring;
	uint64_t id;

	claim(3, 11, 1000);
	assert_int_equal(claims_look(), 1);
	data_of(4)[0].word = 7;
	ftr_nursery_ring(nursery->shared, 4)->magic = 7;
	ftr_record_nursery_ring(&claims.v.v[0], &ring, &id);
	ring.tail = 10 * (uint64_t)FTR_NURSERY_RING_BYTES;
	ftr_ring_close(&ring);
	assert_int_equal(data_of(4)[0].word, 7);
	assert_int_equal(ftr_nursery_ring(nursery->shared, 4)->magic, 7);
}

/* Between its two steps, of which the second comes, or never. */
static void test_not_yet_dated(void **state)
{
	claim(0, getpid(), 0);
	claim(1, PID_NONE, 0);
	assert_int_equal(claims_look(), 0);
	assert_true(who(0) == ftr_nursery_who(getpid(), OWNER));
	assert_true(who(1) == FTR_NURSERY_FREE);
	atomic_store(&nursery->shared->claims[0].time, 1000);
	assert_int_equal(claims_look(), 1);
}

static void test_no_numbers(void **state)
{
	uint64_t free = FTR_NURSERY_FREE;

	atomic_compare_exchange_strong(&nursery->shared->claims[2].who, &free, 0x80000000u);
	atomic_store(&nursery->shared->claims[2].time, 1000);
	assert_int_equal(claims_look(), 0);
	assert_true(who(2) == FTR_NURSERY_FREE);
}

static void test_ends_with_the_last_child(void **state)
{
	struct ftr_ring ring;
	uint64_t id;

	claim(0, 11, 1000);
	ftr_record_nurseries_image_end(&nurseries, OWNER + 1);
	assert_true(who(1) == FTR_NURSERY_FREE);
	ftr_record_nurseries_image_end(&nurseries, OWNER);
	assert_true(who(1) == FTR_NURSERY_CLOSED);
	assert_true(who(FTR_NURSERY_PLACES - 1) == FTR_NURSERY_CLOSED);
	assert_int_equal(claims_look(), 1);	/* it was claimed before */
	ftr_record_nursery_ring(&claims.v.v[0], &ring, &id);
	ftr_ring_close(&ring);
	assert_true(who(0) == FTR_NURSERY_CLOSED);
	assert_int_equal(claims_look(), 0);
	assert_int_equal(nurseries.all.nr, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_oldest_first_and_once, start, stop),
		cmocka_unit_test_setup_teardown(test_rings_have_names_of_their_own, start, stop),
		cmocka_unit_test_setup_teardown(test_given_back_empty, start, stop),
		cmocka_unit_test_setup_teardown(test_neighbours_stay, start, stop),
		cmocka_unit_test_setup_teardown(test_not_yet_dated, start, stop),
		cmocka_unit_test_setup_teardown(test_no_numbers, start, stop),
		cmocka_unit_test_setup_teardown(test_ends_with_the_last_child, start, stop),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
