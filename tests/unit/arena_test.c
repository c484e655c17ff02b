/* SPDX-License-Identifier: MIT */
/* Arenas: alignment, zeroes, large and small requests side by side. */
#include "tests/unit/unit.h"

#include <string.h>

#include "utils/base/arena.h"

static void alloc_is_aligned_and_zero(void **state)
{
	static const char zeroes[5000];
	struct ftr_arena arena;

	ftr_arena_init(&arena);
	for (size_t bytes = 0; bytes < sizeof(zeroes); bytes += 7) {
		char *p;

		assert_non_null(ftr_arena_strdup(&arena, "x"));
		p = ftr_arena_alloc(&arena, bytes);
		assert_non_null(p);
		assert_int_equal((uintptr_t)p % 16, 0);
		assert_memory_equal(p, zeroes, bytes);
		memset(p, 0xff, bytes);
	}
	ftr_arena_fini(&arena);
}

static void large_blocks_leave_the_room_in_use(void **state)
{
	struct ftr_arena arena;
	char *a, *large, *b;

	ftr_arena_init(&arena);
	a = ftr_arena_alloc(&arena, 16);
	large = ftr_arena_alloc(&arena, (size_t)3 << 20);
	b = ftr_arena_alloc(&arena, 16);
	assert_non_null(large);
	assert_ptr_equal(b, a + 16);
	memset(large, 1, (size_t)3 << 20);
	assert_int_equal(b[0], 0);
	ftr_arena_fini(&arena);
}

static void first_request_may_be_large(void **state)
{
	struct ftr_arena arena;
	char *p;

	ftr_arena_init(&arena);
	p = ftr_arena_alloc(&arena, (size_t)5 << 20);
	assert_non_null(p);
	memset(p, 1, (size_t)5 << 20);
	assert_int_equal(*(char *)ftr_arena_alloc(&arena, 1), 0);
	ftr_arena_fini(&arena);
}

static void absurd_requests_fail(void **state)
{
	struct ftr_arena arena;

	ftr_arena_init(&arena);
	assert_null(ftr_arena_alloc(&arena, SIZE_MAX));
	assert_null(ftr_arena_alloc(&arena, SIZE_MAX - 20));
	assert_null(ftr_arena_strndup(&arena, "x", SIZE_MAX));
	assert_non_null(ftr_arena_alloc(&arena, 1));
	assert_null(ftr_arena_alloc(&arena, SIZE_MAX - 4));
	ftr_arena_fini(&arena);
}

static void strings_are_copied(void **state)
{
	struct ftr_arena arena;
	char text[] = "some text";
	char *all, *part, *nothing;

	ftr_arena_init(&arena);
	all = ftr_arena_strdup(&arena, text);
	part = ftr_arena_strndup(&arena, text + 5, 2);
	nothing = ftr_arena_strndup(&arena, text, 0);
	memset(text, 'x', sizeof(text));
	assert_string_equal(all, "some text");
	assert_string_equal(part, "te");
	assert_string_equal(nothing, "");
	for (int i = 0; i < 100000; i++)
		assert_non_null(ftr_arena_strdup(&arena, "0123456789"));
	assert_string_equal(all, "some text");
	ftr_arena_fini(&arena);
}

static void is_zero_again_when_cleared(void **state)
{
	struct ftr_arena arena;
	char *first, *again;

	ftr_arena_init(&arena);
	ftr_arena_clear(&arena);	/* nothing in it */
	for (int round = 0; round < 3; round++) {
		first = ftr_arena_alloc(&arena, 100);
		memset(first, 'x', 100);
		for (size_t i = 0; i < 100; i++)
			memset(ftr_arena_alloc(&arena, 3000), 'y', 3000);
		ftr_arena_clear(&arena);
		again = ftr_arena_alloc(&arena, 10000);
		for (size_t i = 0; i < 10000; i++)
			assert_int_equal(again[i], 0);
		ftr_arena_clear(&arena);
		again = ftr_arena_alloc(&arena, 1);
		ftr_arena_clear(&arena);
		assert_ptr_equal(ftr_arena_alloc(&arena, 1), again);	/* kept for what comes */
		ftr_arena_clear(&arena);
	}
	ftr_arena_fini(&arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(alloc_is_aligned_and_zero),
		cmocka_unit_test(large_blocks_leave_the_room_in_use),
		cmocka_unit_test(first_request_may_be_large),
		cmocka_unit_test(absurd_requests_fail),
		cmocka_unit_test(strings_are_copied),
		cmocka_unit_test(is_zero_again_when_cleared),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
