#!/bin/sh
# SPDX-License-Identifier: MIT
# The FXT reader over files of every kind of record: whole, cut, changed.
exec ./tests/fuzz/fxt_replay "${srcdir:-.}"/tests/fuzz/corpus/fxt/*
