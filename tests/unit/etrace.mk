# SPDX-License-Identifier: MIT
UNIT_TESTS += tests/unit/etrace_test
UNIT_TESTS += tests/unit/compile_test
