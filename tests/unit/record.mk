# SPDX-License-Identifier: MIT
UNIT_TESTS += \
	tests/unit/maps_test \
	tests/unit/perf_test \
	tests/unit/ring_test \
	tests/unit/tick_test \
	tests/unit/uftrace_write_test
tests_unit_maps_test_SOURCES = tests/unit/maps_test.c
tests_unit_maps_test_LDADD = $(unit_libs)
tests_unit_ring_test_SOURCES = tests/unit/ring_test.c
tests_unit_ring_test_LDADD = $(unit_libs)
tests_unit_tick_test_SOURCES = tests/unit/tick_test.c
tests_unit_tick_test_LDADD = $(unit_libs)
tests_unit_uftrace_write_test_SOURCES = tests/unit/uftrace_write_test.c
tests_unit_uftrace_write_test_LDADD = $(unit_libs)
tests_unit_perf_test_SOURCES = tests/unit/perf_test.c
tests_unit_perf_test_LDADD = $(unit_libs)
