#!/bin/bash
# SPDX-License-Identifier: MIT
# Packed data are shown as they were before, and are the same again when they are unpacked.
srcdir=${srcdir:-$(cd "$(dirname "$0")/../.." && pwd)}
. "$srcdir/tests/golden/lib.sh"
FTR=${FTR:-$srcdir/ftr}
cases=0
failures=0
packed=0
actual=$(mktemp) && top=$(mktemp -d) || exit 99
trap 'rm -rf "$actual" "$top"' EXIT
cp -RL "$srcdir/tests/data/." "$top" && cd "$top" && chmod -R u+w . || exit 99
unset PAGER NO_COLOR

fail() {
	echo "$1"
	failures=$((failures + 1))
}

for data in */; do
	[ -f "$data/info" ] || continue
	cases=$((cases + 1))
	"$FTR" pack "$data" > "$actual" 2>&1 || fail "$data: pack: $(cat "$actual")"
	packed=$((packed + $(find "$data" -name '*.pack' | wc -l)))
done
[ "$packed" -ge 20 ] || fail "only $packed files were packed"

check() {
	local name=$2 data=$3 command=$4
	shift 4
	"$FTR" "$command" -d "$data" "$@" > "$actual" 2>&1 < /dev/null
	echo "exit status $?" >> "$actual"
	cases=$((cases + 1))
	diff -u "$golden/expected/$name.txt" "$actual" ||
		fail "$name: ftr $command -d tests/data/$data $*, packed, prints something else"
}

each_case check

for data in */; do
	[ -f "$data/info" ] || continue
	cases=$((cases + 1))
	"$FTR" unpack "$data" > "$actual" 2>&1 && diff -r "$srcdir/tests/data/$data" "$data" ||
		fail "$data: unpacked it is not the same"
done
echo "$((cases - failures)) passed, $failures failed, 0 skipped"
[ "$failures" -eq 0 ]
