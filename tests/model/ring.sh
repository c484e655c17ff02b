#!/bin/bash
# SPDX-License-Identifier: MIT
# Check the ring protocol in every interleaving, and that the model notices four ways of getting it wrong.
set -eu
command -v spin >/dev/null || { echo "spin is not installed: skipped"; exit 77; }
model=$srcdir/tests/model/ring.pml
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

errors() {
    spin -a "$1" >/dev/null
    ${CC:-cc} -O2 -w -DSAFETY -o pan pan.c
    ./pan | sed -n 's/.*errors: //p'
}

[ "$(errors "$model")" = 0 ] || { echo "FAIL: the protocol"; exit 1; }
# nothing is read after the task's death
sed '/After its death/,/^	}$/d' "$model" >no-last-round.pml
[ "$(errors no-last-round.pml)" != 0 ] || { echo "FAIL: a lost record goes unnoticed"; exit 1; }
# the room is given back before the slot is free
sed 's/word\[tail % SIZE\] = 0;/tail++;/; s/^		tail++$/		word[(tail - 1) % SIZE] = 0/' "$model" >early.pml
[ "$(errors early.pml)" != 0 ] || { echo "FAIL: an early tail goes unnoticed"; exit 1; }
# the task does not tell that it waits
sed '/waiting = pos;/d' "$model" >silent.pml
[ "$(errors silent.pml)" != 0 ] || { echo "FAIL: waiting for ever at a hole goes unnoticed"; exit 1; }
# an empty slot is passed over before its thread waits
sed 's/ && waiting >= tail + SIZE -> tail++/ \&\& waiting >= tail + 1 -> tail++/' "$model" >hasty.pml
[ "$(errors hasty.pml)" != 0 ] || { echo "FAIL: a hasty recorder goes unnoticed"; exit 1; }
echo "every interleaving holds; all mutations are noticed"
