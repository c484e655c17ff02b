/* SPDX-License-Identifier: MIT */
/* Libraries that are loaded when they are needed; zlib stands for one. */
#include "tests/unit/unit.h"

#include <errno.h>
#include <string.h>
#include <zlib.h>

#include "utils/base/err.h"
#include "utils/base/optional_library.h"

#define FUNCTIONS(X) X(crc32) X(zlibVersion)

static struct {
	FUNCTIONS(FTR_OPTIONAL_MEMBER)
} zlib;

#define ROW(name) FTR_OPTIONAL_ROW(zlib, name)
static const struct ftr_optional_row rows[] = { FUNCTIONS(ROW) };

static const struct ftr_optional_library library = {
	.user = "test", .name = "libz.so.1", .package = "zlib1g", .rows = rows, .row_nr = 2,
};

static void what_is_there(void **state)
{
	struct ftr_err err = { 0 };

	assert_int_equal(ftr_optional_library_load(&library, &zlib, &err), 0);
	assert_string_equal(zlib.zlibVersion_of(), zlibVersion());
	assert_int_equal(zlib.crc32_of(0, (const Bytef *)"123456789", 9), 0xcbf43926);
	/* Again: it is the same one. */
	assert_int_equal(ftr_optional_library_load(&library, &zlib, &err), 0);
}

static void what_is_missing(void **state)
{
	static const struct ftr_optional_row more[] = { { "crc32", 0 }, { "no_such_name", 0 } };
	struct ftr_optional_library other = library;
	struct ftr_err err = { 0 };
	void *found = NULL;

	other.rows = more;
	assert_int_equal(ftr_optional_library_load(&other, &found, &err), -ENOENT);
	assert_string_equal(err.text, "test: libz.so.1 has no no_such_name; install another one "
				      "(apt-get install zlib1g)");
	other.name = "libnosuch.so.7";
	assert_int_equal(ftr_optional_library_load(&other, &found, &err), -ENOENT);
	assert_non_null(strstr(err.text, "test needs libnosuch.so.7: "));
	assert_non_null(strstr(err.text, "; install it (apt-get install zlib1g)"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_there),
		cmocka_unit_test(what_is_missing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
