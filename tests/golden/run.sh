#!/bin/bash
# SPDX-License-Identifier: MIT
# What the commands print for recorded data, byte for byte.  "run.sh update" writes the expected texts anew:
# read the difference before you commit it.
srcdir=${srcdir:-$(cd "$(dirname "$0")/../.." && pwd)}
. "$srcdir/tests/golden/lib.sh"
FTR=${FTR:-$srcdir/ftr}
update=$1
cases=0
failures=0
actual=$(mktemp) || exit 99
trap 'rm -f "$actual"' EXIT
cd "$srcdir/tests/data" || exit 99
unset PAGER NO_COLOR

check() {
	local name=$2 data=$3 command=$4
	shift 4
	"$FTR" "$command" -d "$data" "$@" > "$actual" 2>&1 < /dev/null
	echo "exit status $?" >> "$actual"
	cases=$((cases + 1))
	if [ "$update" = update ]; then
		cp "$actual" "$golden/expected/$name.txt"
	elif ! diff -u "$golden/expected/$name.txt" "$actual"; then
		echo "$name: ftr $command -d tests/data/$data $* prints something else"
		failures=$((failures + 1))
	fi
}

each_case check
echo "$((cases - failures)) passed, $failures failed, 0 skipped"
[ "$cases" -gt 0 ] && [ "$failures" -eq 0 ]
