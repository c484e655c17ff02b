#!/bin/bash
# SPDX-License-Identifier: MIT
# Debian's uftrace reads what ftr recorded, ftr what uftrace recorded: the same calls in the same order.
# shellcheck disable=SC2154 # srcdir: tests/local.mk
set -u

command -v uftrace >/dev/null || { echo "skipped: uftrace is not installed"; exit 77; }

work=$(mktemp -d "${TMPDIR:-/tmp}/ftr-interop.XXXXXX") || exit 99
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 99
passed=0 failed=0

result() {			# NAME STATUS
    if [ "$2" -eq 0 ]; then
        passed=$((passed + 1))
        echo "ok      $1"
    else
        failed=$((failed + 1))
        echo "FAILED  $1"
    fi
}

# Both programs' words for the same thing, from their different layouts.
records_of_dump() {
    awk '/^reading/ { file = $2; sub(/.*\//, "", file) }
         $3 ~ /^\[(entry|exit|event)/ || $4 ~ /^\[(entry|exit|event)/ { print file, $0 }'
}

# Widths of columns differ between the versions of uftrace; what stands in them does not.
has_same() {
    diff -bB theirs ours >differences && [ -s ours ]
}

# What the kernel says has a file of its own: at the very time of a record there is no order to agree on.
has_ties() {			# DATA
    "$FTR" dump --no-pager -d "$1" 2>/dev/null | awk '
        $3 ~ /^\[(entry|exit|event)/ && $1 in seen && (seen[$1] || $3 ~ /^\[event/) { ties++ }
        $3 ~ /^\[(entry|exit|event)/ { seen[$1] = seen[$1] || $3 ~ /^\[event/ }
        END { print "events at the time of a record: " ties + 0; exit ties == 0 }'
}

same() {			# NAME DATA WORDS...: both tools say the same
    local name=$1 data=$2 command=$3

    shift 3			# uftrace's options end at the first operand
    uftrace "$command" --no-pager -d "$data" "$@" >theirs 2>theirs.err || cat theirs.err
    "$FTR" "$command" --no-pager -d "$data" "$@" >ours 2>ours.err
    result "$name: ftr $command reads it ($(wc -l <ours) lines)" $?
    cat ours.err
    has_same || { [ "$command" = replay ] && has_ties "$data"; }
    result "$name: $command $*" $?
    head -n 20 differences
}

compare() {			# NAME DATA
    local name=$1 data=$2

    same "$name" "$data" replay -f none --no-merge
    same "$name" "$data" replay -f tid,duration,delta,time
    same "$name" "$data" replay --event-full -f tid,duration,elapsed
    same "$name" "$data" replay --flat -f none
    same "$name" "$data" report -s func -f call
    same "$name" "$data" report -s total,func
    same "$name" "$data" graph -f total,self
    same "$name" "$data" graph main
    uftrace dump --no-pager -d "$data" 2>theirs.err | records_of_dump >theirs
    "$FTR" dump --no-pager -d "$data" 2>ours.err | records_of_dump >ours
    has_same
    result "$name: dump ($(wc -l <ours) records)" $?
    head -n 20 differences
}

try() {				# PROGRAM WORD FLAGS...
    local program=$1 name=$1$2

    shift 2
    gcc -g -O1 "$@" -o prog "$srcdir/tests/prog/$program.c" -lpthread ||
        { result "$name: builds" 1; return; }
    "$FTR" record --no-pager -d ours.data ./prog >ours.out 2>&1
    result "$name: ftr records" $?
    uftrace record --no-pager -d theirs.data ./prog >theirs.out 2>&1
    result "$name: uftrace records" $?
    compare "$name recorded by ftr" ours.data
    compare "$name recorded by uftrace" theirs.data
}

# Trees alone, of more programs.
graphs() {			# PROGRAM
    local program=$1 data

    gcc -g -O1 -pg -o prog "$srcdir/tests/prog/$program.c" -lpthread -lm ||
        { result "$program: builds" 1; return; }
    "$FTR" record --no-pager --no-libcall -d ours.data ./prog >ours.out 2>&1
    uftrace record --no-pager --no-libcall -d theirs.data ./prog >theirs.out 2>&1
    for data in ours.data theirs.data; do
        same "$program, $data" $data graph -f total,self
        same "$program, $data" $data graph -f total main
        same "$program, $data" $data graph --task -f none
    done
}

for program in args vectors realign longjmp graph; do
    graphs $program
done
for program in demo threads; do
    try $program -pg -pg
    try $program -mfentry -pg -mfentry
    try $program -finstrument-functions -finstrument-functions
done
try scheduling -pg -pg
echo "$passed passed, $failed failed, 0 skipped"
[ "$failed" -eq 0 ]
