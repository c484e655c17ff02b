# SPDX-License-Identifier: MIT
# tests/data: small directories that Debian's uftrace recorded, and what the commands print for them.
golden_first_tests = \
	tests/golden/run.sh
golden_more_tests = \
	tests/golden/packed.sh \
	tests/golden/peer.sh
golden_tests = $(golden_more_tests) $(golden_first_tests)
test_areas += golden_first_tests golden_more_tests
TESTS += $(golden_tests)
EXTRA_DIST += $(golden_tests) \
	tests/data \
	tests/golden/cases \
	tests/golden/expected \
	tests/golden/lib.sh
