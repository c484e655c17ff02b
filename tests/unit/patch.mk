# SPDX-License-Identifier: MIT
UNIT_TESTS += tests/unit/entries_test tests/unit/move_test
