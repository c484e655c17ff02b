# SPDX-License-Identifier: MIT
# System calls through every format that holds them: each line of their text, and all that commands show of them.
set -u
dir=$(mktemp -d "${TMPDIR:-/tmp}/ftr-syscalls.XXXXXX") || exit 99
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 99
failed=0

fail()
{
	echo "FAIL: $*"
	failed=1
}

# Nothing is left out, and nothing warned about.
convert()
{
	"$FTR" convert "$1" "$2" 2>warnings || fail "$1 to $2: $(cat warnings)"
	[ ! -s warnings ] || fail "$1 to $2 warns: $(cat warnings)"
}

shown()
{
	"$FTR" replay --no-pager --color=no --event-full -d "$1" &&
		"$FTR" report --no-pager --color=no -d "$1" &&
		"$FTR" report --no-pager --color=no --by=call -d "$1" &&
		"$FTR" report --no-pager --color=no --by=file -d "$1" &&
		"$FTR" report --no-pager --color=no --by=process -d "$1" &&
		"$FTR" graph --no-pager --color=no -d "$1" &&
		"$FTR" graph --no-pager --color=no --task -d "$1" &&
		"$FTR" info --no-pager --task -d "$1" | sed 's/ *[0-9.]* MB$//'
}

same()
{
	shown "$1" >a.raw 2>&1 || fail "$1: $(tail -3 a.raw)"
	shown "$2" >b.raw 2>&1 || fail "$2: $(tail -3 b.raw)"
	sed "s/${1/./\\.}/TRACE/" a.raw >a.txt	# a trace without programs is called as its file
	sed "s/${2/./\\.}/TRACE/" b.raw >b.txt
	cmp -s a.txt b.txt || fail "$2 is shown otherwise than $1: $(diff a.txt b.txt | head -5)"
}

# $1 as FXT, that as a directory, that as FXT; and $1 as a directory at once.
round_trip()
{
	rm -rf b.fxt bb.fxt c.fxt c.data d.data
	convert "$1" b.fxt
	convert b.fxt bb.fxt
	cmp b.fxt bb.fxt || fail "$1: fxt is not stable"
	"${PYTHON:-python3}" "$srcdir/tests/roundtrip/fxt_check.py" b.fxt >/dev/null || fail "$1: the checker refuses it"
	convert b.fxt c.data
	convert "$1" d.data
	convert c.data c.fxt
	for to in b.fxt c.data d.data c.fxt; do
		same "$1" $to
	done
	for to in b.fxt c.data d.data; do
		"$FTR" dump --no-pager --format=etrace -d "$1" >a.etrace 2>/dev/null
		"$FTR" dump --no-pager --format=etrace -d $to 2>/dev/null | cmp - a.etrace ||
			fail "$1: $to has another text"
	done
}

# A text by another tool, without the lines that only data directories have.
cat >text.etrace <<'END'
4194404,0,10,1000!New_proc|argsize=7,prognameisize=0,prognamepsize=8,cwdsize=2
4194404,0,10,1001!PI|
4194404,0,10,1002!PP|/bin/cat
4194404,0,10,1003!CW|/w
4194404,0,10,1004!A[0]cat
4194404,0,10,1005!A[1]x
4194404,0,10,1006!A[2]
4194404,0,10,1007!End_of_args|
4194404,0,10,2000!Open|fnamesize=4,forigsize=1,flags=65,mode=420,fd=3
4194404,0,10,2001!FN|/w/x
4194404,0,10,2002!FO|x
4194404,0,10,2500!Dup|oldfd=3,newfd=4,flags=0
4194404,1,10,3000!RenameFrom|fnamesize=4
4194404,1,10,3001!RF|/w/x
4194404,1,10,3100!RenameTo|fnamesize=4
4194404,1,10,3101!RT|/w/y
4194404,0,10,4000!SysClone|flags=17
4194404,0,10,4001!SchedFork|pid=8388709
8388709,1,10,5000!Close|fd=3
8388709,1,10,6000!Exit|status=2
4194404,0,10,7000!Exit|status=0
END
"$FTR" check --etrace text.etrace || fail "the text is not what it should be"
round_trip text.etrace
"$FTR" dump --no-pager --format=etrace -d c.data | cmp - text.etrace || fail "the text comes back changed"

# A file in which the records are not: its calls stay, with a warning about what is missing.
LC_ALL=C sed 's/ftr\.syscalls/ftr-syscalls/' b.fxt >old.fxt
"$FTR" convert old.fxt old.data 2>warnings || fail "without records: $(cat warnings)"
grep -q 'names of arguments' warnings || fail "without records: no warning: $(cat warnings)"
"$FTR" replay --no-pager -d old.data 2>/dev/null | grep -q 'sys_openat("x", ' || fail "without records: no calls"
LC_ALL=C sed 's/10,6000!Exit/10,6009!Exit/' b.fxt >other.fxt
"$FTR" convert other.fxt other.data 2>warnings || fail "one record of another time: $(cat warnings)"
grep -q '1 system calls without a record' warnings || fail "one record: no warning: $(cat warnings)"

if ! ${CC:-cc} -pg -g -O1 -w -o syscalls "$srcdir/tests/roundtrip/syscalls.c" -lpthread 2>cc.log; then
	echo "cannot build the program: $(head -3 cc.log)"
	exit 77
fi
"$FTR" record --syscalls -d a.data ./syscalls >/dev/null 2>warnings
if [ ! -s a.data/syscalls.etrace ]; then
	echo "system calls cannot be observed here: $(cat warnings)"
	[ $failed = 0 ] && exit 77
	exit 1
fi
round_trip a.data
cmp a.data/syscalls.etrace c.data/syscalls.etrace || fail "a.data: another text by way of fxt"
cmp a.data/syscalls.etrace d.data/syscalls.etrace || fail "a.data: another text"
grep -q 'sys_openat(path=".*/first", flags=O_RDWR|O_CREAT, mode=0644) = ' b.txt || fail "the program: $(head -20 b.txt)"
exit $failed
