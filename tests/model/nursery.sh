#!/bin/bash
# SPDX-License-Identifier: MIT
# Check how children claim rings in every interleaving, and that the model notices each way of getting it wrong.
. "$srcdir/tests/model/lib.sh" nursery.pml

holds
mutation "a claim without a time that is given back though its child had gone on" \
    's/:: !time -> GIVE_BACK/:: true -> GIVE_BACK/'
mutation "a place that is free before it is as new" \
    's/^	atomic { \\$/	who = NOBODY; atomic { \\/'
mutation "a ring that is left before it is empty" \
    '/assert(owner == seen);/,/asks\[seen\]/s/DRAIN;/skip;/'
mutation "nothing is read after a child's death" \
    '/is_dead\[owner\] ->/,/GIVE_BACK/s/DRAIN;/skip;/'
mutation "a child that goes on in the ring that it leaves" \
    's/^	!asks\[self\];.*/	unit[head % SIZE] = self; !asks[self];/'
echo "every interleaving holds; all mutations are noticed"
