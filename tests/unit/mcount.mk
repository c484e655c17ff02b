# SPDX-License-Identifier: MIT
# Parts of the runtime that can be tried outside a traced program.
UNIT_TESTS += \
	tests/unit/mcount_ring_test \
	tests/unit/mcount_seccomp_test \
	tests/unit/mcount_stack_test
tests_unit_mcount_ring_test_SOURCES = \
	libmcount/clock.c \
	libmcount/ring.c \
	tests/unit/mcount_neighbours.c \
	tests/unit/mcount_ring_test.c
tests_unit_mcount_ring_test_LDADD = $(unit_libs)
tests_unit_mcount_stack_test_SOURCES = \
	libmcount/maps.c \
	tests/unit/mcount_stack_test.c
tests_unit_mcount_stack_test_LDADD = $(unit_libs)
UNIT_TESTS += tests/unit/ring_threads_test
tests_unit_ring_threads_test_SOURCES = \
	libmcount/clock.c \
	libmcount/ring.c \
	tests/unit/mcount_neighbours.c \
	tests/unit/ring_threads_test.c
tests_unit_ring_threads_test_LDADD = $(unit_libs)
tests_unit_mcount_seccomp_test_SOURCES = \
	libmcount/seccomp.c \
	tests/unit/mcount_seccomp_test.c
tests_unit_mcount_seccomp_test_LDADD = $(unit_libs)
