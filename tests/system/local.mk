# SPDX-License-Identifier: MIT
# The other machine.
EXTRA_DIST += tests/system/debian-arm64
