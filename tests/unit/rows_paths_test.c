/* SPDX-License-Identifier: MIT */
/* Lines of callers, minute by minute: callers are there before their calls have ended. */
#include "tests/unit/unit.h"

#include "utils/export/rows_paths.h"
#include "utils/trace/func.h"

static const struct ftr_func funcs[] = {
	{ .name = "main" }, { .name = "work" }, { .name = "leaf" },
};

/* Frames of main, work and leaf, which began at these times. */
static void frames_set(struct rows_frame *frames, const struct rows_program *program,
		       const uint64_t *starts_ns, size_t nr)
{
	uint64_t path = program->path;

	for (size_t i = 0; i < nr; i++) {
		path = rows_path_below(path, funcs[i].name);
		frames[i] = (struct rows_frame){ &funcs[i], path, starts_ns[i] };
	}
}

static void callers_are_there_for_their_callees(void **state)
{
	struct rows_program program = rows_program_of("program", "1a");
	struct rows_paths paths = { .minute_ns = 0 };
	struct rows_frame frames[3];
	struct rows_path *path;

	frames_set(frames, &program, (const uint64_t[]){ 10, 20, 30 }, 3);
	for (uint64_t minute = 1; minute <= 2; minute++) {
		path = rows_paths_get(&paths, &program, frames, 3);
		assert_non_null(path);
		rows_path_count(path, 5, 4, false);
		assert_int_equal(paths.all.nr, 3);
		for (size_t i = 0; i < 3; i++) {
			assert_ptr_equal(paths.all.v[i]->func, &funcs[i]);
			assert_int_equal(paths.all.v[i]->depth, i);
			assert_int_equal(paths.all.v[i]->first_ns, 10 * (i + 1));
			assert_int_equal(paths.all.v[i]->calls, i == 2);
			assert_int_equal(paths.all.v[i]->parent,
					 i == 0 ? program.path : frames[i - 1].path);
		}
		assert_true(paths.all.v[0]->total_span.min_ns == INT64_MAX);
		rows_paths_restart(&paths, minute);
		assert_int_equal(paths.all.nr, 0);
	}
	rows_paths_fini(&paths);
}

/* A thread's call began before another's that ended first, and so did its callers. */
static void no_caller_begins_after_what_it_calls(void **state)
{
	struct rows_program program = rows_program_of("program", "");
	struct rows_paths paths = { .minute_ns = 0 };
	struct rows_frame frames[3];

	frames_set(frames, &program, (const uint64_t[]){ 50, 60, 70 }, 3);
	assert_non_null(rows_paths_get(&paths, &program, frames, 3));
	frames_set(frames, &program, (const uint64_t[]){ 1, 2, 3 }, 3);
	assert_non_null(rows_paths_get(&paths, &program, frames, 3));
	frames_set(frames, &program, (const uint64_t[]){ 80, 81, 82 }, 3);
	assert_non_null(rows_paths_get(&paths, &program, frames, 3));
	for (size_t i = 0; i < 3; i++)
		assert_int_equal(paths.all.v[i]->first_ns, i + 1);
	assert_int_equal(paths.all.nr, 3);
	rows_paths_fini(&paths);
}

static void inherited_calls_only_take_time(void **state)
{
	struct rows_path path = { .total_span = { .min_ns = UINT64_MAX },
				  .self_span = { .min_ns = UINT64_MAX } };

	rows_path_count(&path, 100, 60, false);
	rows_path_count(&path, 1, 1, true);
	rows_path_count(&path, 50, 50, false);
	assert_int_equal(path.calls, 2);
	assert_int_equal(path.total_ns, 151);
	assert_int_equal(path.self_ns, 111);
	assert_int_equal(path.total_span.min_ns, 50);
	assert_int_equal(path.total_span.max_ns, 100);
	assert_int_equal(path.self_span.min_ns, 50);
	assert_int_equal(path.self_span.max_ns, 60);
}

/* "ab" calling "c" is not "a" calling "bc". */
static void names_do_not_run_together(void **state)
{
	uint64_t start = rows_program_of("", "").path;

	assert_true(start <= INT64_MAX);
	assert_true(rows_path_below(rows_path_below(start, "ab"), "c") !=
		    rows_path_below(rows_path_below(start, "a"), "bc"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(callers_are_there_for_their_callees),
		cmocka_unit_test(no_caller_begins_after_what_it_calls),
		cmocka_unit_test(inherited_calls_only_take_time),
		cmocka_unit_test(names_do_not_run_together),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
