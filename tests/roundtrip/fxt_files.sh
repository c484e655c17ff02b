# SPDX-License-Identifier: MIT
# Every FXT file that the unit tests make is walked by the checker that knows the specification alone, and by
# the one that knows what the Perfetto UI does with it.
set -u
dir=$(mktemp -d "${TMPDIR:-/tmp}/ftr-fxt.XXXXXX") || exit 99
trap 'rm -rf "$dir"' EXIT
failed=0

for test in fxt_write fxt_limit fxt_random fxt_map; do
	if [ ! -x "$builddir/tests/unit/${test}_test" ]; then
		echo "tests/unit/${test}_test is not built (no cmocka)"
		exit 77
	fi
	FXT_KEEP=$dir "$builddir/tests/unit/${test}_test" >"$dir/log" 2>&1 || {
		cat "$dir/log"
		exit 1
	}
done
nr=$(ls "$dir"/*.fxt | wc -l)
python=${PYTHON:-python3}
"$python" "$srcdir/tests/roundtrip/fxt_check.py" "$dir"/*.fxt >/dev/null || {
	echo "the checker refuses what is named above"
	failed=1
}
"$python" "$srcdir/tests/roundtrip/perfetto_check.py" "$dir"/*.fxt >/dev/null || {
	echo "the Perfetto UI would not show what is named above as it is"
	failed=1
}
for name in names:strings threads:threads; do
	"$python" "$srcdir/tests/roundtrip/fxt_check.py" "$dir/${name%:*}.fxt" | grep -q "[1-9][0-9]* ${name#*:} re-assigned" || failed=1
done
echo "$nr files"
[ "$nr" -ge 40 ] || failed=1
exit $failed
