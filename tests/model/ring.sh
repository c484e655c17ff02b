#!/bin/bash
# SPDX-License-Identifier: MIT
# Check the ring protocol in every interleaving, and that the model notices each way of getting it wrong.
. "$srcdir/tests/model/lib.sh" ring.pml

holds
mutation "nothing is read after the task's death" \
    '/After its death/,/^	od;/d; s/byte seen, kind, owner, at, end, i;/byte seen, kind, owner, at, i;/'
mutation "room that is given back before the record is free" \
    '/^	word\[tail % SIZE\] = 0;/d; s/^	tail = at$/	tail = at; word[(at - 1) % SIZE] = 0/'
mutation "room that is given back before the payload is free" \
    's/^	word\[tail % SIZE\] = 0;/	word[tail % SIZE] = 0; if :: kind == HEADER -> tail = tail + 2 :: else fi;/'
mutation "a payload that is not freed" \
    '/^		word\[at % SIZE\] = 0;/d'
mutation "a task that does not announce that it waits" \
    '/waiting = pos/d'
mutation "a task that announces the first unit that it waits for" \
    's/waiting = pos + nr - 1/waiting = pos/'
mutation "an empty unit that is passed over before its thread waits" \
    's/ && waiting >= tail + SIZE -> tail++/ \&\& waiting >= tail + 1 -> tail++/'
mutation "a record that is committed before its payload" \
    's/^	i = 1;$/	i = 1; commit(pos, nr);/; s/:: i == nr -> commit(pos, nr); break/:: i == nr -> break/'
mutation "room for a record that holds its first unit only" \
    's/:: pos + nr <= limit/:: pos + 1 <= limit/; s/pos + nr <= tail + SIZE;/pos + 1 <= tail + SIZE;/'
mutation "units of a record never committed that are taken for records" \
    's/:: kind == UNIT || kind == LAST -> skip/:: kind == UNIT || kind == LAST -> taken[owner - 1]++/'
echo "every interleaving holds; all mutations are noticed"
