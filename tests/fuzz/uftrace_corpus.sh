#!/bin/sh
# SPDX-License-Identifier: MIT
# The reader of uftrace directories over recorded ones: whole, cut, bent.
exec ./tests/fuzz/replay "${srcdir:-.}"/tests/data/*/
