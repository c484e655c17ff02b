# SPDX-License-Identifier: MIT
# One unit-test program a module, linked with what ships.
unit_libs = $(FTR_LIBS) $(CMOCKA_LIBS)
UNIT_TESTS =
if HAVE_CMOCKA
check_PROGRAMS += $(UNIT_TESTS)
TESTS += $(UNIT_TESTS)
endif

include tests/unit/base.mk
include tests/unit/object.mk
include tests/unit/trace.mk
include tests/unit/format.mk
include tests/unit/record.mk
include tests/unit/view.mk
include tests/unit/mcount.mk
include tests/e2e/local.mk
include tests/golden/local.mk
include tests/roundtrip/local.mk
include tests/fuzz/local.mk
include tests/lint/local.mk
include tests/bench/local.mk
include tests/prog/local.mk
