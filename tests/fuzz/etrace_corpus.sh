#!/bin/sh
# SPDX-License-Identifier: MIT
# The reader of the etrace text over recorded ones: whole, cut, changed.
exec ./tests/fuzz/etrace_replay "${srcdir:-.}"/tests/fuzz/corpus/etrace/*
