# SPDX-License-Identifier: MIT
EXTRA_DIST += doc/layers.txt
