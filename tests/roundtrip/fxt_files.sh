# SPDX-License-Identifier: MIT
# Every FXT file that the unit tests make is walked by the checker that knows the specification alone, and by
# the one that knows what the Perfetto UI does with it.
set -u
dir=$(mktemp -d "${TMPDIR:-/tmp}/ftr-fxt.XXXXXX") || exit 99
trap 'rm -rf "$dir"' EXIT
failed=0
nr=0

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
for file in "$dir"/*.fxt; do
	nr=$((nr + 1))
	if ! "${PYTHON:-python3}" "$srcdir/tests/roundtrip/fxt_check.py" "$file" >"$dir/counts"; then
		echo "$file: the checker refuses it"
		failed=1
	fi
	if ! "${PYTHON:-python3}" "$srcdir/tests/roundtrip/perfetto_check.py" "$file" >"$dir/imported"; then
		echo "$file: the Perfetto UI would not show it as it is"
		failed=1
	fi
	case $file in
	*/names.fxt) grep -q '[1-9][0-9]* strings re-assigned' "$dir/counts" || failed=1 ;;
	*/threads.fxt) grep -q '[1-9][0-9]* threads re-assigned' "$dir/counts" || failed=1 ;;
	esac
done
echo "$nr files"
[ "$nr" -ge 40 ] || failed=1
exit $failed
