# SPDX-License-Identifier: MIT
# What the kernel did, in FXT files that the unit test makes: as a directory, whose pages are walked by a program
# that knows their layout alone, and as FXT again.
set -u
dir=$(mktemp -d "${TMPDIR:-/tmp}/ftr-kernel.XXXXXX") || exit 99
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 99
python=${PYTHON:-python3}
failed=0
nr=0

fail()
{
	echo "FAIL: $*"
	failed=1
}

# Calls of the kernel, from the ends that the pages hold: "TID BEGIN END NAME".
page_calls()
{
	awk '$4 == ">" { open[$3, $5] = $1 }
	     $4 == "<" { print $3, open[$3, $5], $1, $6 }' "$1" | sort
}

fxt_calls()
{
	"$python" "$srcdir/tests/roundtrip/fxt_check.py" --calls "$1" |
		awk '$5 == "[kernel]" { print $2, $3, $4, $6 }' | sort
}

compare()
{
	cmp -s "$1" "$2" || fail "$3: $(diff "$1" "$2" | head -5)"
}

one_file()
{
	"$FTR" convert "$1" a.data && "$FTR" convert a.data b.fxt && "$FTR" convert b.fxt c.fxt &&
		"$FTR" convert b.fxt b.data || fail "$1: cannot be converted"
	cmp b.fxt c.fxt || fail "$1: fxt is not stable"
	"$python" "$srcdir/tests/roundtrip/kernel_pages.py" a.data >pages 2>warnings || fail "$1: $(cat warnings)"
	page_calls pages >x
	fxt_calls "$1" >y
	compare x y "$1: calls in the pages"
	fxt_calls b.fxt >x
	compare x y "$1: calls, back from the pages"
	awk '$4 ~ /:/' pages | sort >x
	"$python" "$srcdir/tests/roundtrip/fxt_check.py" --tracepoints "$1" | sort >y
	compare x y "$1: tracepoints in the pages"
	"$python" "$srcdir/tests/roundtrip/fxt_check.py" --tracepoints b.fxt | sort >x
	compare x y "$1: tracepoints, back from the pages"
	[ -s x ] || fail "$1: no tracepoints in it"
	for file in kernel_header kallsyms $(cd a.data && ls kernel-cpu*); do
		cmp "a.data/$file" "b.data/$file" || fail "$1: another $file after a round"
	done
}

if [ ! -x "$builddir/tests/unit/kernel_trip_test" ]; then
	echo "tests/unit/kernel_trip_test is not built (no cmocka)"
	exit 77
fi
FXT_KEEP=$dir "$builddir/tests/unit/kernel_trip_test" >log 2>&1 || {
	cat log
	exit 1
}
for file in *.fxt; do
	mkdir "$dir/$nr"
	cd "$dir/$nr" || exit 99
	one_file "../$file"
	cd "$dir" || exit 99
	nr=$((nr + 1))
done
[ "$nr" -ge 4 ] || fail "only $nr files"

# uftrace shows names and texts.
if command -v uftrace >/dev/null; then
	"$FTR" convert kernel-nested.fxt u.data
	uftrace replay --no-pager -d u.data >up.txt 2>&1
	for text in 'do_syscall_64() {' '  vfs_read() {' ' ext4_read();' 'sched_switch (prev_comm='; do
		[ "$(grep -cF "$text" up.txt)" = 3 ] || fail "uftrace shows '$text' otherwise: $(cat up.txt)"
	done
fi
echo "$nr files"
exit $failed
