/* SPDX-License-Identifier: MIT */
/* What processes ran when. */
#include "tests/unit/unit.h"

#include <stdio.h>

#include "utils/record/lineage.h"

static struct ftr_lineage lineage;

static void add(int32_t pid, uint64_t since_ns, const char *sid)
{
	struct ftr_process process = { .pid = pid, .own_pid = pid % 10 };

	process.image.since_ns = since_ns;
	snprintf(process.image.sid, sizeof(process.image.sid), "%s", sid);
	ftr_lineage_add(&lineage, &process);
}

static const char *sid_at(int32_t pid, uint64_t time_ns)
{
	const struct ftr_process_image *image = ftr_lineage_find(&lineage, pid, time_ns);

	return image == NULL ? "none" : image->sid;
}

static void the_image_of_the_time_is_found(void **state)
{
	assert_string_equal(sid_at(101, 5), "none");
	add(101, 10, "first");
	add(102, 15, "other");
	add(101, 20, "second");
	assert_string_equal(sid_at(101, 9), "none");
	assert_string_equal(sid_at(101, 10), "first");
	assert_string_equal(sid_at(101, 19), "first");
	assert_string_equal(sid_at(101, 20), "second");
	assert_string_equal(sid_at(102, 99), "other");
	assert_string_equal(sid_at(2, 99), "other");	/* in its own namespace */
	assert_string_equal(sid_at(103, 99), "none");
	add(101, 30, "");				/* the number is another process's */
	assert_string_equal(sid_at(101, 31), "");
	ftr_lineage_fini(&lineage);
	assert_string_equal(sid_at(101, 99), "none");
}

static void the_newest_are_kept(void **state)
{
	char sid[17];

	for (uint32_t i = 0; i < FTR_LINEAGE_MAX + 100; i++) {
		snprintf(sid, sizeof(sid), "%u", i);
		add(1000 + (int32_t)i, i, sid);
	}
	assert_int_equal(lineage.all.nr, FTR_LINEAGE_MAX);
	assert_string_equal(sid_at(1099, UINT64_MAX), "none");
	assert_string_equal(sid_at(1100, UINT64_MAX), "100");
	assert_string_equal(sid_at(1000 + FTR_LINEAGE_MAX + 99, UINT64_MAX), sid);
	add(1100, UINT64_MAX, "again");
	assert_string_equal(sid_at(1100, UINT64_MAX), "again");
	assert_string_equal(sid_at(1100, 100), "none");
	ftr_lineage_fini(&lineage);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_image_of_the_time_is_found),
		cmocka_unit_test(the_newest_are_kept),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
