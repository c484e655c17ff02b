/* SPDX-License-Identifier: MIT */
/* The list of collectors, and the loops over it with members made here. */
#include "tests/unit/unit.h"

#include <errno.h>
#include <string.h>

#include "utils/record/collector.h"

static int witness;	/* what the null collector's state points to */

static void *null_open(const struct ftr_recording *recording, const void *values,
		       struct ftr_err *err)
{
	return &witness;
}

static void null_close(void *self)
{
	assert_ptr_equal(self, &witness);
}

/* The smallest there can be: it has nothing to collect. */
static const struct ftr_collector null = {
	.name = "null",
	.open = null_open,
	.close = null_close,
};

static unsigned half_drain(void *self)
{
	return 50;
}

static int half_task(void *self, const struct ftr_task_start *start,
		     struct ftr_task_answer *answer, struct ftr_err *err)
{
	answer->ring_id = 7;
	return 0;
}

static const struct ftr_collector half = {
	.name = "half",
	.open = null_open,
	.close = null_close,
	.task = half_task,
	.drain = half_drain,
};

static int32_t told;	/* the process that the listener was told of */

static void listener_process(void *self, int32_t pid)
{
	told = pid;
}

static const struct ftr_collector listener = {
	.name = "listener",
	.open = null_open,
	.close = null_close,
	.process = listener_process,
};

static void *failing_open(const struct ftr_recording *recording, const void *values,
			  struct ftr_err *err)
{
	ftr_err_set(err, ENODEV, "no such source");
	return NULL;
}

static const struct ftr_collector failing = {
	.name = "failing",
	.open = failing_open,
	.close = null_close,
};

static void test_list(void **state)
{
	const struct ftr_collector *ops;
	bool has_ring = false;
	unsigned nr = 0;
	size_t pos = 0;

	while ((ops = ftr_collector_next(&pos)) != NULL) {
		assert_non_null(ops->name);
		assert_non_null(ops->open);
		assert_non_null(ops->close);
		has_ring |= strcmp(ops->name, "ring") == 0;
		nr++;
	}
	assert_true(has_ring);
	assert_in_range(nr, 2, FTR_COLLECTORS_MAX);
}

static void test_null(void **state)
{
	struct ftr_collectors collectors = { .nr = 0 };
	const struct ftr_task_start start = { .pid = 1 };
	struct ftr_task_answer answer;
	struct ftr_err err = { 0 };

	assert_int_equal(ftr_collectors_add(&collectors, &null, NULL, NULL, &err), 0);
	ftr_collectors_started(&collectors, 1);
	ftr_collectors_watch(&collectors, -1);
	ftr_collectors_image_end(&collectors, 1);
	assert_int_equal(ftr_collectors_drain(&collectors), 0);
	assert_false(ftr_collectors_are_shared(&collectors));
	assert_int_equal(ftr_collectors_task(&collectors, &start, &answer, &err), -ENOTSUP);
	ftr_collectors_close(&collectors);
	assert_int_equal(collectors.nr, 0);
}

static void test_several(void **state)
{
	struct ftr_collectors collectors = { .nr = 0 };
	const struct ftr_task_start start = { .pid = 77 };
	struct ftr_task_answer answer = { 0 };
	struct ftr_err err = { 0 };

	assert_int_equal(ftr_collectors_add(&collectors, &null, NULL, NULL, &err), 0);
	assert_int_equal(ftr_collectors_add(&collectors, &half, NULL, NULL, &err), 0);
	assert_int_equal(ftr_collectors_add(&collectors, &failing, NULL, NULL, &err), -ENODEV);
	assert_string_equal(err.text, "no such source");
	assert_int_equal(ftr_collectors_add(&collectors, &listener, NULL, NULL, &err), 0);
	assert_int_equal(collectors.nr, 3);
	assert_int_equal(ftr_collectors_drain(&collectors), 50);
	assert_int_equal(ftr_collectors_task(&collectors, &start, &answer, &err), 0);
	assert_int_equal(answer.ring_id, 7);
	assert_int_equal(told, 77);
	ftr_collectors_close(&collectors);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_list),
		cmocka_unit_test(test_null),
		cmocka_unit_test(test_several),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
