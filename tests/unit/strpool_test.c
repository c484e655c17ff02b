/* SPDX-License-Identifier: MIT */
/* Interned strings. */
#include "tests/unit/unit.h"

#include <stdio.h>
#include <string.h>

#include "utils/base/strpool.h"

static void equal_strings_are_one(void **state)
{
	struct ftr_strpool pool;
	char text[] = "main";
	const struct ftr_str *a, *b;

	ftr_strpool_init(&pool);
	a = ftr_strpool_get(&pool, text, 4);
	memcpy(text, "xxxx", 4);
	b = ftr_strpool_get(&pool, "main()", 4);
	assert_ptr_equal(a, b);
	assert_string_equal(a->s, "main");
	assert_int_equal(a->id, 0);
	assert_int_equal(ftr_strpool_get(&pool, "mai", 3)->id, 1);
	ftr_strpool_fini(&pool);
}

static void empty_and_nul_strings_are_strings(void **state)
{
	struct ftr_strpool pool;
	const struct ftr_str *empty, *nul, *two;

	ftr_strpool_init(&pool);
	empty = ftr_strpool_get(&pool, "", 0);
	nul = ftr_strpool_get(&pool, "\0", 1);
	two = ftr_strpool_get(&pool, "\0\0", 2);
	assert_int_equal(empty->len, 0);
	assert_ptr_not_equal(empty, nul);
	assert_ptr_not_equal(nul, two);
	assert_ptr_equal(ftr_strpool_get(&pool, "", 0), empty);
	ftr_strpool_fini(&pool);
}

static void ids_are_dense_and_pointers_stay(void **state)
{
	struct ftr_strpool pool;
	const struct ftr_str *first;
	char text[16];

	ftr_strpool_init(&pool);
	first = ftr_strpool_get(&pool, "0", 1);
	for (unsigned round = 0; round < 2; round++) {
		for (unsigned i = 0; i < 50000; i++) {
			size_t len = (size_t)snprintf(text, sizeof(text), "%u", i);

			assert_int_equal(ftr_strpool_get(&pool, text, len)->id, i);
		}
	}
	assert_int_equal(pool.nr, 50000);
	assert_ptr_equal(ftr_strpool_get(&pool, "0", 1), first);
	ftr_strpool_fini(&pool);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(equal_strings_are_one),
		cmocka_unit_test(empty_and_nul_strings_are_strings),
		cmocka_unit_test(ids_are_dense_and_pointers_stay),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
