# SPDX-License-Identifier: MIT
# Protocols checked in every interleaving, by spin.
model_tests = tests/model/nursery.sh tests/model/ring.sh tests/model/turns.sh
test_areas += model_tests
if HAVE_TRACING_TESTS
TESTS += $(model_tests)
endif
EXTRA_DIST += $(model_tests) tests/model/lib.sh tests/model/nursery.pml tests/model/ring.pml \
	tests/model/turns.pml
