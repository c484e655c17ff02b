# SPDX-License-Identifier: MIT
# Every format that is both written and read: what replay shows of a trace, it shows of its conversion, and a
# conversion of the conversion, and that does not change any more.
set -u
dir=$(mktemp -d "${TMPDIR:-/tmp}/ftr-convert.XXXXXX") || exit 99
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 99
passed=0
failed=0
failures=0	# of the case that runs
turn=0
kept_nr=0
switches=()	# pairs of directories
briefly=${FTR_TEST_SHORT:+briefly}	# by way of two formats

fail()
{
	echo "FAIL: $*"
	failures=$((failures + 1))
}

# A case ends: it passed, unless something failed since the one before.
case_done()
{
	if [ $failures -eq 0 ]; then
		passed=$((passed + 1))
	else
		failed=$((failed + 1))
	fi
	failures=0
}

# What commands show, which must come without warnings.
shown()
{
	show "$@"
	if [ -s "$2.err" ]; then
		cat "$2.err"
		fail "replay -d $1 warns"
	fi
}

# show TRACE OUT [briefly] - calls and sums to OUT, and unless briefly what else there is of them to OUT.more
show()
{
	show_calls "$1" >"$2" 2>"$2.err" && { [ "${3-}" = briefly ] || show_more "$1" >"$2.more" 2>>"$2.err"; } || {
		cat "$2.err"
		fail "replay -d $1"
	}
}

show_calls()
{
	"$FTR" replay --no-pager --color=no --event-full --kernel-full -d "$1" &&
		"$FTR" report --no-pager --color=no -f cpu-list -s func -d "$1" &&
		"$FTR" graph --no-pager --color=no --task -d "$1"
}

show_more()
{
	"$FTR" replay --no-pager --color=no --demangle=full -d "$1" &&
		"$FTR" replay --no-pager --color=no --demangle=no --no-libcall -d "$1" &&
		"$FTR" info --no-pager --task -d "$1" | sed 's/ *[0-9.]* MB$//' &&
		"$FTR" graph --no-pager --color=no -d "$1"
}

# The names of the formats that ftr reads ("in") or writes ("out"), from its own table.
formats_of()
{
	"$FTR" --version | sed -n "s/^ *formats, $1 //p" | tr -s ' ' '\n' | sed '/^$/d' | sort
}

# What a directory that is written for another trace keeps where the trace has it.
addresses()
{
	"$FTR" replay --no-pager --color=no -f addr,module -d "$1"
	"$FTR" report --no-pager --color=no -f call,size -d "$1"
}

# What a jump leaves has no record, but setjmp returns again.
returns()
{
	"$FTR" dump --no-pager -d "$1" | sed -n '/\[exit \].*jmp(/s/([^ ]*)//p'
}

both_ways=$(comm -12 <(formats_of in) <(formats_of out))
case $both_ways in
*fxt*uftrace*) ;;
*) echo "FAIL: of the formats, only these are both read and written: $both_ways"; exit 1 ;;
esac

# What a format cannot hold is reported, and cannot be compared; the two that hold calls must hold everything but
# what the bytes of a struct mean.
converts_all()
{
	"$FTR" convert --to="$1" "$2" "$3" 2>warnings || fail "$2 to $1: $(cat warnings)"
	grep -q 'not in the output' warnings || return 0
	case $1 in
	fxt | uftrace) grep -q ' layouts of structs$' warnings || fail "$2 to $1: $(cat warnings)" ;;
	esac
	return 1
}

# same A B FORMAT...: texts of a trace and of what became of it by those formats.  SWAP has one message of a
# thread's creation, when that is done.
same()
{
	case "${*:3}" in
	*swap*) cmp -s <(grep -v ' thread:create' "$1") <(grep -v ' thread:create' "$2") ;;
	*) cmp -s "$1" "$2" ;;
	esac
}

# A SWAP stream with leaks names its report, which stands beside it; a pipe has the lines (tests/e2e/swap.py).
check_named()
{
	LC_ALL=C sed 's/b\.swap\./c.swap./' "$1" | cmp - "$2" || fail "$trace: swap is not stable"
	for report in "$1".*.leaks; do
		cmp "$report" "$2${report#"$1"}" || fail "$trace: reports of leaks are not stable"
	done
}

# A file comes out the same again, also into a pipe.
check_bytes()
{
	! compgen -G "$2.*.leaks" >/dev/null || { check_named "$2" "$3"; return; }
	cmp "$2" "$3" || fail "$trace: $1 is not stable"
	"$FTR" dump --no-pager --format="$1" -o - -d "$trace" 2>/dev/null | cmp - "$2" ||
		fail "$trace: $1 into a pipe is another one"
}

# What one format alone needs: check_of_NAME FILE [direct], if it was made of the trace itself.  What takes an
# interpreter is kept for one that sees all of them.
check_of_fxt()
{
	kept_nr=$((kept_nr + 1))
	cp "$1" "$kept_nr-$(basename "$trace").fxt"
	[ "${2-}" = direct ] || return 0
	addresses "$trace" >a.addr
	addresses "$1" >b.addr
	# Where the begin of a call was lost, its end alone has an address.
	grep -q LOST a.txt || cmp -s a.addr b.addr || fail "$trace: addresses in fxt: $(diff a.addr b.addr | head -5)"
}

check_all_kept()
{
	local python=${PYTHON:-python3} here=$srcdir/tests/roundtrip

	"$python" "$here/fxt_check.py" --no-blobs ./*-*.fxt >/dev/null || fail "the checker refuses what is named above"
	"$python" "$here/perfetto_check.py" --strict ./*-*.fxt >/dev/null ||
		fail "the Perfetto UI would not show what is named above as it is"
	"$python" "$here/perf_switches.py" "${switches[@]}" || fail "switches of CPUs are others, see above"
	case_done
}

check_of_uftrace()
{
	if compgen -G "$trace/perf-cpu*" >/dev/null || compgen -G "$1/perf-cpu*" >/dev/null; then
		kept_nr=$((kept_nr + 1))
		cp -r "$1" "$kept_nr-switches"
		switches+=("$trace" "$kept_nr-switches")
	fi
	[ "${2-}" = direct ] || return 0
	addresses "$trace" >a.addr
	addresses "$1" >d.addr
	cmp -s a.addr d.addr || fail "$trace as data: addresses: $(diff a.addr d.addr | head -5)"
	returns "$trace" >a.jumps
	returns "$1" >d.jumps
	cmp -s a.jumps d.jumps || fail "$trace as data: setjmp returns: $(diff a.jumps d.jumps | head -5)"
}

# Two files with the same bytes need not be shown.
shows_the_same()
{
	local text

	[ ! -f "$1" ] || ! cmp -s "$1" "$2" || return 0
	shown "$2" c.txt
	for text in txt txt.more; do
		cmp -s b.$text c.$text || fail "$trace as ${1#*.} twice: $(diff b.$text c.$text | head -5)"
	done
}

# What holds all of the trace: in $kept, for the pairs.
one_format()
{
	local text

	rm -rf b."$1" c."$1" b."$1".*.leaks
	converts_all "$1" "$trace" b."$1" || return
	kept="$kept $1"
	converts_all "$1" b."$1" c."$1"
	shown b."$1" b.txt
	for text in txt txt.more; do
		same a.$text b.$text "$1" || fail "$trace as $1: $(diff a.$text b.$text | head -5)"
	done
	shows_the_same b."$1" c."$1"
	[ ! -f b."$1" ] || check_bytes "$1" b."$1" c."$1"
	[ "$(type -t "check_of_$1")" != function ] || "check_of_$1" b."$1" direct
	case_done
}

# By way of one format into the other.
one_pair()
{
	rm -rf d."$2"
	converts_all "$2" b."$1" d."$2"
	shown d."$2" d.txt $briefly
	same a.txt d.txt "$1" "$2" || fail "$trace as $1 as $2: $(diff a.txt d.txt | head -5)"
	[ -n "$briefly" ] || same a.txt.more d.txt.more "$1" "$2" ||
		fail "$trace as $1 as $2: $(diff a.txt.more d.txt.more | head -5)"
	[ "$(type -t "check_of_$2")" != function ] || "check_of_$2" d."$2"
	case_done
}

# Each with each; where time is short, each with one other, which is the next one in the next trace.
pairs_of()
{
	local nr=$# formats=("$@") distance i

	for ((distance = 1; distance < nr; distance++)); do
		[ -z "${FTR_TEST_SHORT-}" ] || [ $distance -eq $((turn % (nr - 1) + 1)) ] || continue
		for ((i = 0; i < nr; i++)); do
			echo "${formats[i]} ${formats[(i + distance) % nr]}"
		done
	done
}

round_trip()
{
	trace=$1
	kept=
	show "$trace" a.txt
	for name in $both_ways; do
		one_format "$name"
	done
	while read -r first second <&3; do
		one_pair "$first" "$second"
	done 3< <(pairs_of $kept)
	turn=$((turn + 1))
}

for trace in "$srcdir"/tests/data/*/; do
	[ -f "$trace/info" ] && [ ! -f "$trace/summary.dat" ] || continue	# no calls to convert
	round_trip "$trace"
done

# What uftrace records where it is there: arguments, return values, events, enumerations, forks.  (Not of
# long_double: it takes those from registers that have them not, and by chance they are beyond doubles.)
if command -v uftrace >/dev/null; then
	cp "$srcdir/tests/prog/args.c" "$srcdir/tests/prog/fork.c" "$srcdir/tests/prog/threads.c" .
	for prog in args fork threads; do
		${CC:-cc} -pg -g -O1 -o "$prog" "$prog.c" -lpthread -lm 2>cc.log || continue
		uftrace record -a -N long_double -d "$prog.up" "./$prog" >/dev/null 2>&1 || continue
		round_trip "$prog.up"
		rm -rf b.data
		"$FTR" convert "$prog.up" b.fxt && "$FTR" convert b.fxt b.data
		uftrace replay --no-pager -d "$prog.up" >up-a.txt 2>&1
		uftrace replay --no-pager -d b.data >up-b.txt 2>&1
		cmp -s up-a.txt up-b.txt ||
			fail "$prog: uftrace shows its conversion otherwise: $(diff up-a.txt up-b.txt | head -5)"
		case_done
	done
fi
# Children that exec, and the program itself: each image stays, and where it lay.
if ${CC:-cc} -pg -g -O1 -o exec "$srcdir/tests/prog/exec.c" 2>cc.log &&
	"$FTR" record --no-event -d exec.data ./exec >/dev/null 2>&1; then
	[ "$(grep -c ^SESS exec.data/task.txt)" = 3 ] || fail "exec: $(cat exec.data/task.txt)"
	round_trip exec.data
	"$FTR" convert exec.data b.fxt && "$FTR" convert b.fxt exec-back.data
	[ "$(grep ^SESS exec-back.data/task.txt | sort)" = "$(grep ^SESS exec.data/task.txt | sort)" ] ||
		fail "exec: images are lost: $(cat exec-back.data/task.txt)"
	case_done
fi
# Deeper than the ten bits of a record's depth, and than viewers go: all calls are kept, with a warning.
if ${CC:-cc} -pg -g -O1 -o recursion "$srcdir/tests/prog/recursion.c" 2>cc.log &&
	"$FTR" record -d deep.data ./recursion >/dev/null 2>&1; then
	"$FTR" convert deep.data deep.fxt 2>warnings || fail "recursion: $(cat warnings)"
	grep -q 'calls deeper than 512' warnings || fail "recursion: no warning: $(cat warnings)"
	"$FTR" convert deep.fxt deeper.data 2>warnings || fail "recursion: back: $(cat warnings)"
	# Flat: indented it would be 80 GB.
	for deep in deep.data deep.fxt deeper.data; do
		"$FTR" replay --no-pager --color=no --flat "$deep" >"$deep.txt" 2>&1
		cmp -s deep.data.txt "$deep.txt" || fail "recursion: $deep shows something else"
	done
	calls=$("$FTR" report --no-pager deeper.data | awk '$NF == "down" { print $(NF - 1) }')
	[ "$calls" -gt 200000 ] || fail "recursion: $calls calls"
	case_done
fi
check_all_kept
echo "$passed passed, $failed failed, 0 skipped"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
