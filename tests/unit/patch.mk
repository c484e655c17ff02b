# SPDX-License-Identifier: MIT
UNIT_TESTS += tests/unit/move_test
