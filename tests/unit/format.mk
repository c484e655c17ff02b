# SPDX-License-Identifier: MIT
UNIT_TESTS += tests/unit/uftrace_read_test
tests_unit_uftrace_read_test_SOURCES = tests/unit/stream.c tests/unit/stream.h \
	tests/unit/uftrace_read_test.c
tests_unit_uftrace_read_test_LDADD = $(unit_libs)
