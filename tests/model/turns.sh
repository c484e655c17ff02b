#!/bin/bash
# SPDX-License-Identifier: MIT
# Check that no thread waits for a turn that is there, and that the model notices each way of getting it wrong.
. "$srcdir/tests/model/lib.sh" turns.pml

holds
mutation "a thread that was woken and wakes no other one" 's/:: has_waited && .*/:: false -> skip/'
mutation "a turn that is given silently" 's/:: nr >= TURNS -> .*/:: nr > TURNS -> skip/'
mutation "a wait for what has changed already" '/sleeps\[self\] = true/s/asking == nr/true/'
mutation "a turn that is taken of what was seen before" '/asking++/s/asking == nr/true/'
echo "every interleaving holds; all mutations are noticed"
