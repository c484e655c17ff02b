# SPDX-License-Identifier: MIT
EXTRA_DIST += tests/unit/unit.h
UNIT_TESTS += \
	tests/unit/arena_test \
	tests/unit/bytes_test \
	tests/unit/clock_test \
	tests/unit/err_test \
	tests/unit/hashmap_test \
	tests/unit/istream_test \
	tests/unit/ostream_test \
	tests/unit/sorter_test \
	tests/unit/strbuf_test \
	tests/unit/strpool_test \
	tests/unit/text_test \
	tests/unit/vec_test
tests_unit_arena_test_SOURCES = tests/unit/arena_test.c
tests_unit_arena_test_LDADD = $(unit_libs)
tests_unit_bytes_test_SOURCES = tests/unit/bytes_test.c
tests_unit_bytes_test_LDADD = $(unit_libs)
tests_unit_clock_test_SOURCES = tests/unit/clock_test.c
tests_unit_clock_test_LDADD = $(unit_libs)
tests_unit_err_test_SOURCES = tests/unit/err_test.c
tests_unit_err_test_LDADD = $(unit_libs)
tests_unit_hashmap_test_SOURCES = tests/unit/hashmap_test.c
tests_unit_hashmap_test_LDADD = $(unit_libs)
tests_unit_istream_test_SOURCES = tests/unit/istream_test.c
tests_unit_istream_test_LDADD = $(unit_libs)
tests_unit_ostream_test_SOURCES = tests/unit/ostream_test.c
tests_unit_ostream_test_LDADD = $(unit_libs)
tests_unit_sorter_test_SOURCES = tests/unit/sorter_test.c
tests_unit_sorter_test_LDADD = $(unit_libs)
tests_unit_sorter_test_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=open,--wrap=mkostemp,--wrap=pread,--wrap=pwrite
tests_unit_strbuf_test_SOURCES = tests/unit/strbuf_test.c
tests_unit_strbuf_test_LDADD = $(unit_libs)
tests_unit_strpool_test_SOURCES = tests/unit/strpool_test.c
tests_unit_strpool_test_LDADD = $(unit_libs)
tests_unit_text_test_SOURCES = tests/unit/text_test.c
tests_unit_text_test_LDADD = $(unit_libs)
tests_unit_vec_test_SOURCES = tests/unit/vec_test.c
tests_unit_vec_test_LDADD = $(unit_libs)
