/* SPDX-License-Identifier: MIT */
/* Clocks that are made up: what is found of them, and what is not. */
#include "tests/unit/unit.h"

#include "utils/trace/clocks.h"

#define START_NS   UINT64_C(5000000000000)
#define OFFSET_NS  INT64_C(-123456789)
#define NOISE_NS   1000
#define ERROR_NS   5000

static uint64_t random_next(uint64_t *state)
{
	*state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return *state >> 33;
}

static void mark(struct ftr_clock_marks *marks, int32_t tid, uint64_t time_ns)
{
	assert_int_equal(ftr_vec_push(&marks->all, ((struct ftr_clock_mark){ tid, time_ns })), 0);
}

/* By the other clock, which goes wrong by @ppm. */
static uint64_t theirs_at(uint64_t ours_ns, int64_t ppm)
{
	int64_t since = (int64_t)(ours_ns - START_NS);

	return ours_ns - (uint64_t)OFFSET_NS - (uint64_t)(since * ppm / 1000000);
}

/* @nr marks of three tasks, the other clock's from @first to @last of them, and of another task. */
static void story(struct ftr_clock_marks *ours, struct ftr_clock_marks *theirs, size_t nr,
		  size_t first, size_t last, int64_t ppm)
{
	uint64_t state = nr, time_ns = START_NS;

	*ours = *theirs = (struct ftr_clock_marks){ .all = { .nr = 0 } };
	for (size_t i = 0; i < nr; i++) {
		time_ns += 50000 + random_next(&state) % 5000000;
		mark(ours, (int32_t)(10 + i % 3), time_ns);
		if (i >= first && i < last)
			mark(theirs, (int32_t)(10 + i % 3),
			     theirs_at(time_ns, ppm) + random_next(&state) % NOISE_NS);
		mark(theirs, 99, theirs_at(time_ns, ppm) + 777);
	}
}

static void check_found(size_t nr, size_t first, size_t last, int64_t ppm)
{
	struct ftr_clock_marks ours, theirs;
	struct ftr_clock_relation relation;
	uint64_t from, to;

	story(&ours, &theirs, nr, first, last, ppm);
	from = ours.all.v[first].time_ns;
	to = ours.all.v[last - 1].time_ns;
	assert_int_equal(ftr_clock_relate(&ours, &theirs, &relation), 1);
	assert_true(relation.match_nr * 2 > relation.of_nr);
	for (uint64_t at = from; at <= to; at += 1 + (to - from) / 10)
		assert_in_range(ftr_clock_convert(&relation, theirs_at(at, ppm)), at - ERROR_NS,
				at + ERROR_NS);
	ftr_vec_fini(&ours.all);
	ftr_vec_fini(&theirs.all);
}

static void offsets_are_found(void **state)
{
	check_found(3, 0, 3, 0);
	check_found(40, 0, 40, 0);
	check_found(5000, 0, 5000, 0);
}

static void drift_is_found(void **state)
{
	check_found(100, 0, 100, 100);
	check_found(2000, 0, 2000, -300);
}

static void parts_are_enough(void **state)
{
	check_found(200, 60, 150, 0);
	check_found(1000, 300, 1000, 50);
	check_found(1000, 0, 400, -50);
}

static void check_not_found(struct ftr_clock_marks *ours, struct ftr_clock_marks *theirs)
{
	struct ftr_clock_relation relation;

	assert_int_equal(ftr_clock_relate(ours, theirs, &relation), 0);
	ftr_vec_fini(&ours->all);
	ftr_vec_fini(&theirs->all);
}

static void chance_is_not_taken_for_a_relation(void **state)
{
	struct ftr_clock_marks ours, theirs;

	story(&ours, &theirs, 0, 0, 0, 0);
	check_not_found(&ours, &theirs);
	story(&ours, &theirs, 2, 0, 2, 0);	/* two may be any two */
	check_not_found(&ours, &theirs);
	story(&ours, &theirs, 500, 0, 0, 0);	/* none of ours is in theirs */
	check_not_found(&ours, &theirs);
	story(&ours, &theirs, 500, 0, 0, 0);
	for (uint64_t i = 0, seed = 7; i < 500; i++)
		mark(&theirs, (int32_t)(10 + i % 3), START_NS + random_next(&seed) * 1000);
	check_not_found(&ours, &theirs);
}

/* What comes every millisecond fits at any of them. */
static void a_beat_fits_anywhere(void **state)
{
	struct ftr_clock_marks ours = { .all = { .nr = 0 } }, theirs = { .all = { .nr = 0 } };

	for (uint64_t i = 0; i < 300; i++) {
		mark(&ours, 10, START_NS + i * 1000000);
		mark(&theirs, 10, START_NS + 77 + i * 1000000);
	}
	check_not_found(&ours, &theirs);
}

static void without_drift_all_times_move_alike(void **state)
{
	const struct ftr_clock_relation back = { .offset_ns = -5 }, none = { .offset_ns = 0 };

	assert_int_equal(ftr_clock_convert(&back, 1000), 995);
	assert_int_equal(ftr_clock_convert(&none, UINT64_MAX), UINT64_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(offsets_are_found),
		cmocka_unit_test(drift_is_found),
		cmocka_unit_test(parts_are_enough),
		cmocka_unit_test(chance_is_not_taken_for_a_relation),
		cmocka_unit_test(a_beat_fits_anywhere),
		cmocka_unit_test(without_drift_all_times_move_alike),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
