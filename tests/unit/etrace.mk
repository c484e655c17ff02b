# SPDX-License-Identifier: MIT
UNIT_TESTS += tests/unit/etrace_test
tests_unit_etrace_test_SOURCES = tests/unit/etrace_test.c
tests_unit_etrace_test_LDADD = $(unit_libs)
UNIT_TESTS += tests/unit/compile_test
tests_unit_compile_test_SOURCES = tests/unit/compile_test.c
tests_unit_compile_test_LDADD = $(unit_libs)
