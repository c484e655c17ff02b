# SPDX-License-Identifier: MIT
# Protocols checked in every interleaving, by spin.
TESTS += tests/model/ring.sh
EXTRA_DIST += tests/model/ring.sh tests/model/ring.pml
