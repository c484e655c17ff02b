# SPDX-License-Identifier: MIT
EXTRA_DIST += tests/unit/entries_aarch64.h tests/unit/entries_x86_64.h
if HAVE_TRACING_TESTS
UNIT_TESTS += tests/unit/entries_test tests/unit/move_test \
	tests/unit/operands_test
endif
if ARCH_AARCH64
UNIT_TESTS += tests/unit/entries_test
endif
tests_unit_entries_test_CPPFLAGS = $(AM_CPPFLAGS) -DCASES='"tests/unit/entries_$(FTR_ARCH).h"'
