# SPDX-License-Identifier: MIT
# Protocols checked in every interleaving, by spin.
model_tests = tests/model/ring.sh
if HAVE_TRACING_TESTS
TESTS += $(model_tests)
endif
EXTRA_DIST += tests/model/ring.sh tests/model/ring.pml
