/* SPDX-License-Identifier: MIT */
/* Growable strings. */
#include "tests/unit/unit.h"

#include <stdlib.h>
#include <string.h>

#include "utils/base/strbuf.h"

static void starts_empty(void **state)
{
	struct ftr_strbuf sb;
	char *taken;

	ftr_strbuf_init(&sb);
	assert_string_equal(ftr_strbuf_str(&sb), "");
	ftr_strbuf_clear(&sb);
	ftr_strbuf_put(&sb, NULL, 0);
	assert_string_equal(ftr_strbuf_str(&sb), "");
	taken = ftr_strbuf_take(&sb);
	assert_string_equal(taken, "");
	free(taken);
	ftr_strbuf_fini(&sb);
}

static void appends(void **state)
{
	struct ftr_strbuf sb;
	char *taken;

	ftr_strbuf_init(&sb);
	ftr_strbuf_puts(&sb, "one");
	ftr_strbuf_putc(&sb, ' ');
	ftr_strbuf_put(&sb, "two!", 3);
	ftr_strbuf_printf(&sb, " %d%s", 3, "");
	assert_string_equal(ftr_strbuf_str(&sb), "one two 3");
	assert_int_equal(sb.len, 9);
	taken = ftr_strbuf_take(&sb);
	assert_string_equal(taken, "one two 3");
	free(taken);
	assert_string_equal(ftr_strbuf_str(&sb), "");
	ftr_strbuf_puts(&sb, "again");
	assert_string_equal(ftr_strbuf_str(&sb), "again");
	ftr_strbuf_clear(&sb);
	assert_string_equal(ftr_strbuf_str(&sb), "");
	ftr_strbuf_fini(&sb);
}

static void grows(void **state)
{
	struct ftr_strbuf sb;

	ftr_strbuf_init(&sb);
	for (unsigned i = 0; i < 20000; i++) {
		ftr_strbuf_printf(&sb, "%05u", i);
		assert_int_equal(sb.s[sb.len], '\0');
	}
	assert_int_equal(sb.len, 100000);
	assert_memory_equal(ftr_strbuf_str(&sb) + 5 * 12345, "12345", 5);
	ftr_strbuf_fini(&sb);
}

static void holds_nuls(void **state)
{
	struct ftr_strbuf sb;

	ftr_strbuf_init(&sb);
	ftr_strbuf_put(&sb, "a\0b", 3);
	assert_int_equal(sb.len, 3);
	assert_memory_equal(sb.s, "a\0b", 4);
	ftr_strbuf_fini(&sb);
}

static void out_of_memory_is_remembered(void **state)
{
	struct ftr_strbuf sb;

	ftr_strbuf_init(&sb);
	ftr_strbuf_puts(&sb, "kept");
	ftr_strbuf_put(&sb, "x", SIZE_MAX / 2);
	ftr_strbuf_puts(&sb, "not appended");
	assert_true(sb.failed);
	assert_string_equal(ftr_strbuf_str(&sb), "kept");
	assert_null(ftr_strbuf_take(&sb));
	assert_false(sb.failed);
	ftr_strbuf_fini(&sb);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(starts_empty),
		cmocka_unit_test(appends),
		cmocka_unit_test(grows),
		cmocka_unit_test(holds_nuls),
		cmocka_unit_test(out_of_memory_is_remembered),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
