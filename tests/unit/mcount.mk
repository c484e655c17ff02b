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
tests_unit_mcount_stack_test_SOURCES = \
	libmcount/maps.c \
	tests/unit/mcount_stack_test.c
UNIT_TESTS += tests/unit/ring_threads_test
tests_unit_ring_threads_test_SOURCES = \
	libmcount/clock.c \
	libmcount/ring.c \
	tests/unit/mcount_neighbours.c \
	tests/unit/ring_threads_test.c
tests_unit_mcount_seccomp_test_SOURCES = \
	libmcount/seccomp.c \
	tests/unit/mcount_seccomp_test.c
UNIT_TESTS += tests/unit/sections_test
tests_unit_sections_test_SOURCES = \
	libmcount/refresh.c \
	libmcount/sections.c \
	tests/unit/mcount_neighbours.c \
	tests/unit/sections_test.c
UNIT_TESTS += tests/unit/mcount_module_test
tests_unit_mcount_module_test_SOURCES = \
	libmcount/clock.c \
	libmcount/maps.c \
	libmcount/module.c \
	libmcount/refresh.c \
	libmcount/sections.c \
	tests/unit/mcount_module_test.c \
	tests/unit/mcount_neighbours.c
# Its own list of probes is found before the runtime's.
EXTRA_DIST += tests/unit/null/libmcount/probes.def
UNIT_TESTS += tests/unit/mcount_probe_test
tests_unit_mcount_probe_test_SOURCES = \
	libmcount/probe.c \
	libmcount/sections.c \
	tests/unit/mcount_neighbours.c \
	tests/unit/mcount_probe_test.c
tests_unit_mcount_probe_test_CPPFLAGS = -iquote $(srcdir)/tests/unit/null $(AM_CPPFLAGS)
UNIT_TESTS += tests/unit/mcount_invariant_test
tests_unit_mcount_invariant_test_SOURCES = \
	libmcount/invariant.c \
	tests/unit/mcount_invariant_test.c \
	tests/unit/mcount_neighbours.c
UNIT_TESTS += tests/unit/mcount_values_test
tests_unit_mcount_values_test_SOURCES = \
	libmcount/sections.c \
	libmcount/values.c \
	tests/unit/mcount_neighbours.c \
	tests/unit/mcount_values_test.c
UNIT_TESTS += tests/unit/mcount_gate_test
tests_unit_mcount_gate_test_SOURCES = \
	libmcount/gate.c \
	libmcount/probe_rules.c \
	libmcount/rules.c \
	libmcount/sections.c \
	tests/unit/mcount_gate_test.c \
	tests/unit/mcount_neighbours.c
UNIT_TESTS += tests/unit/mcount_patch_test
tests_unit_mcount_patch_test_SOURCES = \
	libmcount/probe_patch.c \
	libmcount/sections.c \
	tests/unit/mcount_neighbours.c \
	tests/unit/mcount_patch_test.c
UNIT_TESTS += tests/unit/mcount_real_test
tests_unit_mcount_real_test_SOURCES = \
	libmcount/plt_symbols.c \
	libmcount/real.c \
	tests/unit/mcount_real_test.c
