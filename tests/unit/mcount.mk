# SPDX-License-Identifier: MIT
# Parts of the runtime that can be tried outside a traced program, each with what it needs of the
# others; mcount_neighbours.c stands for the rest.
if HAVE_TRACING_TESTS
UNIT_TESTS += \
	tests/unit/mcount_environ_test \
	tests/unit/mcount_frames_test \
	tests/unit/mcount_gate_test \
	tests/unit/mcount_invariant_test \
	tests/unit/mcount_module_test \
	tests/unit/mcount_patch_test \
	tests/unit/mcount_plain_test \
	tests/unit/mcount_probe_test \
	tests/unit/mcount_real_test \
	tests/unit/mcount_ring_test \
	tests/unit/mcount_seccomp_test \
	tests/unit/mcount_stack_test \
	tests/unit/mcount_values_test \
	tests/unit/mcount_tried_test \
	tests/unit/x87_test \
	tests/unit/ring_threads_test \
	tests/unit/sections_test
endif
mcount_neighbours = tests/unit/mcount_neighbours.c

tests_unit_mcount_environ_test_SOURCES = tests/unit/mcount_environ_test.c $(mcount_neighbours) \
	libmcount/environ.c libmcount/readable.c libmcount/scratch.c
tests_unit_mcount_frames_test_SOURCES = tests/unit/mcount_frames_test.c $(mcount_neighbours) \
	libmcount/clock.c libmcount/frames.c libmcount/leave.c libmcount/left.c libmcount/returns.c libmcount/ring.c \
	libmcount/untraced.c
tests_unit_mcount_gate_test_SOURCES = tests/unit/mcount_gate_test.c $(mcount_neighbours) \
	libmcount/clock.c libmcount/gate.c libmcount/probe_rules.c libmcount/rules.c libmcount/sections.c \
	libmcount/values_decide.c libmcount/watch.c
tests_unit_mcount_invariant_test_SOURCES = tests/unit/mcount_invariant_test.c $(mcount_neighbours) \
	libmcount/invariant.c
tests_unit_mcount_module_test_SOURCES = tests/unit/mcount_module_test.c $(mcount_neighbours) \
	libmcount/clock.c libmcount/maps.c libmcount/module.c libmcount/refresh.c libmcount/sections.c
tests_unit_mcount_patch_test_SOURCES = tests/unit/mcount_patch_test.c $(mcount_neighbours) \
	libmcount/code_plan.c libmcount/code_write.c libmcount/probe_patch.c libmcount/sections.c
tests_unit_mcount_plain_test_SOURCES = tests/unit/mcount_plain_test.c $(mcount_neighbours) \
	libmcount/code_plan.c libmcount/code_write.c libmcount/plain_code.c libmcount/plain_patch.c \
	libmcount/probe_plain.c libmcount/sections.c
tests_unit_mcount_probe_test_SOURCES = tests/unit/mcount_probe_test.c $(mcount_neighbours) \
	libmcount/probe.c libmcount/sections.c
# Its own list of probes is found before the runtime's.
tests_unit_mcount_probe_test_CPPFLAGS = -iquote $(srcdir)/tests/unit/null $(AM_CPPFLAGS)
EXTRA_DIST += tests/unit/null/libmcount/probes.def
tests_unit_mcount_real_test_SOURCES = tests/unit/mcount_real_test.c \
	libmcount/plt_symbols.c libmcount/real.c
tests_unit_mcount_ring_test_SOURCES = tests/unit/mcount_ring_test.c $(mcount_neighbours) \
	libmcount/clock.c libmcount/ring.c
tests_unit_mcount_seccomp_test_SOURCES = tests/unit/mcount_seccomp_test.c \
	libmcount/seccomp.c
tests_unit_mcount_stack_test_SOURCES = tests/unit/mcount_stack_test.c \
	libmcount/maps.c
tests_unit_mcount_tried_test_SOURCES = tests/unit/mcount_tried_test.c $(mcount_neighbours) \
	libmcount/tried.c
tests_unit_mcount_values_test_SOURCES = tests/unit/mcount_values_test.c tests/unit/value_run.h $(mcount_neighbours) \
	libmcount/sections.c libmcount/values.c libmcount/values_brief.c libmcount/values_decide.c \
	libmcount/values_find.c libmcount/values_walk.c
tests_unit_ring_threads_test_SOURCES = tests/unit/ring_threads_test.c $(mcount_neighbours) \
	libmcount/clock.c libmcount/ring.c
tests_unit_sections_test_SOURCES = tests/unit/sections_test.c $(mcount_neighbours) \
	libmcount/refresh.c libmcount/sections.c
