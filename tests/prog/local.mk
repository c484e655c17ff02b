# SPDX-License-Identifier: MIT
EXTRA_DIST += tests/prog/demo.c
