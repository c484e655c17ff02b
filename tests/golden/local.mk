# SPDX-License-Identifier: MIT
# tests/data: small directories that Debian's uftrace recorded, and what the commands print for them.
golden_tests = \
	tests/golden/packed.sh \
	tests/golden/peer.sh \
	tests/golden/run.sh
TESTS += $(golden_tests)
EXTRA_DIST += $(golden_tests) \
	tests/data \
	tests/golden/cases \
	tests/golden/expected \
	tests/golden/lib.sh
