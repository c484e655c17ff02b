# SPDX-License-Identifier: MIT
if HAVE_TRACING_TESTS
UNIT_TESTS += tests/unit/entries_test tests/unit/move_test \
	tests/unit/operands_test
endif
