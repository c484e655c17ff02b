# SPDX-License-Identifier: MIT
# Protocols checked in every interleaving, by spin.
if HAVE_TRACING_TESTS
TESTS += tests/model/ring.sh
endif
EXTRA_DIST += tests/model/ring.sh tests/model/ring.pml
