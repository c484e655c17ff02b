#!/bin/bash
# SPDX-License-Identifier: MIT
# The same data shown by Debian's uftrace, which has narrower columns for task ids.
srcdir=${srcdir:-$(cd "$(dirname "$0")/../.." && pwd)}
. "$srcdir/tests/golden/lib.sh"
FTR=${FTR:-$srcdir/ftr}
cases=0
failures=0

if ! command -v uftrace > /dev/null; then
	echo "skipped: uftrace is not installed"
	exit 77
fi
cd "$srcdir/tests/data" || exit 99
unset PAGER NO_COLOR

one_width() {
	sed -e 's/\[ *\([0-9][0-9]*\)\]/[\1]/g' -e 's/TID  */TID /' -e 's/^  *| $/ | /' -e 's/^  *: /: /'
}

check() {
	local kind=$1 name=$2 data=$3 command=$4
	[ "$kind" = peer ] || return 0
	shift 4		# uftrace's options end at the first operand
	cases=$((cases + 1))
	if ! diff -u <(uftrace "$command" -d "$data" "$@" 2>&1 | one_width) \
		     <("$FTR" "$command" -d "$data" "$@" 2>&1 | one_width); then
		echo "$name: uftrace $command -d tests/data/$data $* prints something else"
		failures=$((failures + 1))
	fi
}

each_case check
echo "$((cases - failures)) passed, $failures failed, 0 skipped"
[ "$cases" -gt 0 ] && [ "$failures" -eq 0 ]
