# SPDX-License-Identifier: MIT
# tests/data: small directories that Debian's uftrace recorded, and what the commands print for them.
GOLDEN_TESTS = \
	tests/golden/peer.sh \
	tests/golden/run.sh
TESTS += $(GOLDEN_TESTS)
EXTRA_DIST += $(GOLDEN_TESTS) \
	tests/data \
	tests/golden/cases \
	tests/golden/expected \
	tests/golden/lib.sh
