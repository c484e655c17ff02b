# SPDX-License-Identifier: MIT
UNIT_TESTS += \
	tests/unit/maps_test \
	tests/unit/overhead_test \
	tests/unit/perf_test \
	tests/unit/ring_test \
	tests/unit/tick_test \
	tests/unit/uftrace_write_test
tests_unit_maps_test_SOURCES = tests/unit/maps_test.c
tests_unit_maps_test_LDADD = $(unit_libs)
tests_unit_overhead_test_SOURCES = tests/unit/overhead_test.c tests/unit/stream.c tests/unit/stream.h
tests_unit_overhead_test_LDADD = $(unit_libs)
tests_unit_ring_test_SOURCES = tests/unit/ring_test.c
tests_unit_ring_test_LDADD = $(unit_libs)
tests_unit_tick_test_SOURCES = tests/unit/tick_test.c
tests_unit_tick_test_LDADD = $(unit_libs)
tests_unit_uftrace_write_test_SOURCES = tests/unit/uftrace_write_test.c
tests_unit_uftrace_write_test_LDADD = $(unit_libs)
tests_unit_perf_test_SOURCES = tests/unit/perf_test.c
tests_unit_perf_test_LDADD = $(unit_libs)
UNIT_TESTS += tests/unit/collector_test
tests_unit_collector_test_SOURCES = tests/unit/collector_test.c
tests_unit_collector_test_LDADD = $(unit_libs)
UNIT_TESTS += tests/unit/channel_test tests/unit/process_test tests/unit/modules_test
tests_unit_channel_test_SOURCES = tests/unit/channel_test.c
tests_unit_channel_test_LDADD = $(unit_libs)
tests_unit_process_test_SOURCES = tests/unit/process_test.c
tests_unit_process_test_LDADD = $(unit_libs)
tests_unit_modules_test_SOURCES = \
	libmcount/sections.c \
	tests/unit/mcount_neighbours.c \
	tests/unit/modules_test.c \
	tests/unit/object_util.c
tests_unit_modules_test_CPPFLAGS = $(AM_CPPFLAGS) -DTEST_CC='"$(CC)"'
tests_unit_modules_test_LDADD = $(unit_libs)
UNIT_TESTS += tests/unit/recorder_test
tests_unit_recorder_test_SOURCES = \
	libmcount/sections.c \
	tests/unit/mcount_neighbours.c \
	tests/unit/object_util.c \
	tests/unit/recorder_test.c \
	tests/unit/section_util.h
tests_unit_recorder_test_CPPFLAGS = $(AM_CPPFLAGS) -DTEST_CC='"$(CC)"'
tests_unit_recorder_test_LDADD = $(unit_libs)
