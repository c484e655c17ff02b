/* SPDX-License-Identifier: MIT */
/* /proc/PID/maps merged to one range a file. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "utils/record/maps.h"

static const char text[] =
	"00400000-00401000 r--p 00000000 08:01 117                                /tmp/a program\n"
	"00401000-00402000 r-xp 00001000 08:01 117                                /tmp/a program\n"
	"00402000-00405000 rw-p 00002000 08:01 117                                /tmp/a program\n"
	"02443000-02475000 rw-p 00000000 00:00 0                                  [heap]\n"
	"7f0000000000-7f0000001000 r--p 00000000 08:01 7                          /usr/lib/locale/C\n"
	"no line at all\n"
	"7f0000100000-7f0000101000 r-xp 00000000 08:01 8                          /lib/gone.so (deleted)\n"
	"7f0000101000-7f0000102000 rw-p 00000000 00:00 0 \n"
	"7f0000102000-7f0000103000 rw-p 00001000 08:01 8                          /lib/gone.so (deleted)\n"
	"7ffe88f83000-7ffe88fa1000 rw-p 00000000 00:00 0                          [stack]\n"
	"7ffe88fbd000-7ffe88fc0000 r-xp 00000000 00:00 0                          [vdso]";

static void merges_by_file(void **state)
{
	struct ftr_maps maps;

	assert_int_equal(ftr_maps_parse(&maps, text, strlen(text)), 0);
	assert_int_equal(maps.ranges.nr, 3);
	assert_string_equal(maps.ranges.v[0].path, "/tmp/a program");
	assert_string_equal(maps.ranges.v[0].prot, "r-xp");
	assert_int_equal(maps.ranges.v[0].start, 0x400000);
	assert_int_equal(maps.ranges.v[0].end, 0x405000);
	assert_string_equal(maps.ranges.v[1].path, "/lib/gone.so");
	assert_int_equal(maps.ranges.v[1].end, 0x7f0000103000);
	assert_string_equal(maps.ranges.v[2].path, "[stack]");
	assert_string_equal(maps.ranges.v[2].prot, "rw-p");
	ftr_maps_fini(&maps);
}

static void empty_and_cut(void **state)
{
	struct ftr_maps maps;
	size_t len;

	for (len = 0; len < strlen(text); len++) {
		assert_int_equal(ftr_maps_parse(&maps, text, len), 0);
		assert_true(maps.ranges.nr <= 3);
		ftr_maps_fini(&maps);
	}
}

static void of_this_process(void **state)
{
	struct ftr_maps maps;
	bool has_stack = false, has_self = false;
	char exe[4096] = "";
	size_t i;

	assert_true(readlink("/proc/self/exe", exe, sizeof(exe) - 1) > 0);
	assert_int_equal(ftr_maps_load(&maps, getpid(), NULL), 0);
	for (i = 0; i < maps.ranges.nr; i++) {
		has_stack |= strcmp(maps.ranges.v[i].path, "[stack]") == 0;
		has_self |= strcmp(maps.ranges.v[i].path, exe) == 0;
	}
	assert_true(has_stack);
	assert_true(has_self);
	ftr_maps_fini(&maps);
	assert_true(ftr_maps_load(&maps, -1, NULL) < 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(merges_by_file),
		cmocka_unit_test(empty_and_cut),
		cmocka_unit_test(of_this_process),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
