#!/bin/bash
# SPDX-License-Identifier: MIT
# The benchmark runs through and loses no call; how long anything took decides nothing here.
set -u

[ -z "$SANITIZERS" ] || { echo "skipped: the sanitizers' build measures nothing"; exit 77; }
exec "${PYTHON:-python3}" "$srcdir/tests/bench/bench.py" --smoke --json bench-smoke.json
