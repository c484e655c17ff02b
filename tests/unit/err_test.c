/* SPDX-License-Identifier: MIT */
/* Failures and warnings as texts. */
#include "tests/unit/unit.h"

#include <errno.h>
#include <string.h>

#include "utils/base/err.h"

static void set_describes(void **state)
{
	struct ftr_err err = { 0 };

	assert_int_equal(ftr_err_set(&err, EBADMSG, "x:%d: %s", 12, "bad"), -EBADMSG);
	assert_int_equal(err.code, EBADMSG);
	assert_string_equal(err.text, "x:12: bad");
	assert_int_equal(ftr_err_set(NULL, EIO, "nobody listens"), -EIO);
}

static void set_quotes_itself(void **state)
{
	struct ftr_err err = { 0 };

	ftr_err_set(&err, EIO, "inner");
	ftr_err_set(&err, ENOENT, "outer: %s", err.text);
	assert_string_equal(err.text, "outer: inner");
	assert_int_equal(err.code, ENOENT);
}

static void prefix_keeps_code(void **state)
{
	struct ftr_err err = { 0 };

	ftr_err_set(&err, ENOSPC, "disk full");
	assert_int_equal(ftr_err_prefix(&err, "%s/%d", "dir", 7), -ENOSPC);
	assert_string_equal(err.text, "dir/7: disk full");
}

static void long_texts_are_cut(void **state)
{
	struct ftr_err err = { 0 };
	char text[2000];

	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	ftr_err_set(&err, EIO, "%s", text);
	assert_int_equal(strlen(err.text), sizeof(err.text) - 1);
	ftr_err_prefix(&err, "%s", text);
	assert_int_equal(strlen(err.text), sizeof(err.text) - 1);
	ftr_err_set(&err, EIO, "%.399s", text);
	ftr_err_prefix(&err, "p");
	assert_memory_equal(err.text, "p: xxx", 6);
}

static void count_warning(void *arg, const char *text)
{
	assert_string_equal(text, "line 3");
	++*(unsigned *)arg;
}

static void warnings_are_limited_but_counted(void **state)
{
	unsigned delivered = 0;
	struct ftr_diag diag = { .warn = count_warning, .arg = &delivered };

	for (unsigned i = 0; i < FTR_DIAG_MAX + 5; i++)
		ftr_diag_warn(&diag, "line %d", 3);
	assert_int_equal(delivered, FTR_DIAG_MAX);
	assert_int_equal(diag.nr, FTR_DIAG_MAX + 5);
	ftr_diag_warn(NULL, "nobody");
	diag = (struct ftr_diag){ 0 };
	ftr_diag_warn(&diag, "counted");
	assert_int_equal(diag.nr, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(set_describes),
		cmocka_unit_test(set_quotes_itself),
		cmocka_unit_test(prefix_keeps_code),
		cmocka_unit_test(long_texts_are_cut),
		cmocka_unit_test(warnings_are_limited_but_counted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
