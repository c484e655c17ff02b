# SPDX-License-Identifier: MIT
EXTRA_DIST += tests/unit/unit.h
UNIT_TESTS += \
	tests/unit/arena_test \
	tests/unit/bytes_test \
	tests/unit/clock_test \
	tests/unit/err_test \
	tests/unit/hashmap_test \
	tests/unit/istream_test \
	tests/unit/optional_library_test \
	tests/unit/ostream_test \
	tests/unit/sorter_test \
	tests/unit/strbuf_test \
	tests/unit/strpool_test \
	tests/unit/text_test \
	tests/unit/vec_test
tests_unit_sorter_test_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=open,--wrap=mkostemp,--wrap=pread,--wrap=pwrite
