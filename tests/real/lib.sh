# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# What ./run and ./long share: sources, programs with and without ftr, what a trace must hold.
# Sourced with $here, $work and $FTR set.

passed=0 failed=0 skipped=0

# shellcheck source=tests/lib/packages.sh
. "$here/../lib/packages.sh"

result() {			# NAME STATUS WHY
    if [ "$2" -eq 0 ]; then
        passed=$((passed + 1))
        echo "ok      $1"
    else
        failed=$((failed + 1))
        echo "FAILED  $1: $3"
    fi
}

finish() {
    echo "$passed passed, $failed failed, $skipped skipped"
    [ "$failed" -eq 0 ]
    exit
}

# A list of sources of our own: the machine's stays as it is.
fetch_sources() {		# PACKAGE...
    local own=$work/apt options

    mkdir -p "$own/lists/partial"
    echo "deb-src [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg]" \
        "$(debian_mirror) bookworm main" >"$own/sources.list"
    options=(-o "Dir::Etc::sourcelist=$own/sources.list" -o Dir::Etc::sourceparts=/dev/null
        -o "Dir::State::lists=$own/lists" -o APT::Sandbox::User=root)
    apt-get -q "${options[@]}" update &&
        (cd "$work" && apt-get -q "${options[@]}" source "$@")
}

source_of() {			# PACKAGE
    dirname "$work/$1"-*/debian
}

# traced NAME COMMAND... - with and without ftr: output, exit status, trace
traced() {
    compared "$@"
    check_trace "$1"
}

# forced NAME COMMAND... - the same of a program that is not instrumented, with what it starts
forced() {
    compared "$1" --force "${@:2}"
    check_read_back "$1"
}

# compared NAME [OPTION...] COMMAND... - output, errors (ftr would say there what it lost, but static programs
# among what it starts are none of its faults) and exit status
compared() {
    local name=$1 native=0 status=0 data=$work/data-$1 options=()

    shift
    while [[ $1 == -* ]]; do
        options+=("$1")
        shift
    done
    "$@" >"$work/$name.native" 2>"$work/$name.native-errors" </dev/null || native=$?
    rm -rf "$data"
    "$FTR" record --no-pager "${options[@]}" -d "$data" "$@" \
        >"$work/$name.traced" 2>"$work/$name.traced-errors" </dev/null || status=$?
    sed -i '/^ftr: warning: process [0-9]*: runs untraced: .* is statically linked/d' "$work/$name.traced-errors"
    cmp -s "$work/$name.native" "$work/$name.traced"
    result "$name: the same output" $? "$(cmp "$work/$name.native" "$work/$name.traced" 2>&1 | head -1)"
    [ "$status" -eq "$native" ]
    result "$name: the same exit status" $? "$native without, $status with ftr"
    cmp -s "$work/$name.native-errors" "$work/$name.traced-errors"
    result "$name: the same errors" $? "$(diff "$work/$name.native-errors" "$work/$name.traced-errors" | head -3)"
}

calls_by() {			# TRACER DATA
    "$1" report --no-pager -d "$2" -f call 2>/dev/null |
        awk '$1 ~ /^[0-9]+$/ { sum += $1; nr++ } END { print nr + 0, sum + 0 }'
}

check_trace() {			# NAME
    local output

    output=$(python3 "$here/balance.py" "$work/data-$1" 2>&1)
    result "$1: calls balance, nothing lost ($output)" $? "$output"
    check_read_back "$1"
    check_uftrace "$1"
}

check_uftrace() {		# NAME
    local data=$work/data-$1 ours theirs

    ours=$(calls_by "$FTR" "$data")
    if ! command -v uftrace >/dev/null; then
        skipped=$((skipped + 1))
        return
    fi
    theirs=$(calls_by uftrace "$data")
    [ "${ours#* }" = "${theirs#* }" ]
    result "$1: uftrace counts the same calls" $? "ftr ${ours#* }, uftrace ${theirs#* }"
}

check_read_back() {		# NAME
    local data=$work/data-$1 ours

    ours=$(calls_by "$FTR" "$data")
    [ "${ours#* }" -gt 0 ]
    result "$1: ftr reports it (${ours#* } calls of ${ours% *} functions)" $? "no calls"
    "$FTR" replay --no-pager -d "$data" >/dev/null 2>"$work/$1.replay"
    result "$1: ftr replays it" $? "$(tail -n 1 "$work/$1.replay")"
    check_fxt "$1" "$data" "${ours#* }"
}

FXT_WALK_MAX=100000000		# bytes: a checker walks some million records in ten seconds

check_fxt() {			# NAME DATA CALLS
    local file=$work/$1.fxt theirs output

    output=$("$FTR" dump --no-pager --fxt -o "$file" -d "$2" 2>&1)
    result "$1: ftr writes it as fxt" $? "$output"
    theirs=$(calls_by "$FTR" "$file")
    [ "${theirs#* }" = "$3" ]
    result "$1: the fxt has the same calls" $? "$3 calls, ${theirs#* } in the fxt"
    if [ "$(stat -c %s "$file")" -le $FXT_WALK_MAX ]; then
        output=$(python3 "$here/../roundtrip/fxt_check.py" "$file" 2>&1)
        result "$1: the fxt is as specified" $? "$(tail -n 1 <<<"$output")"
        output=$(python3 "$here/../roundtrip/perfetto_check.py" --strict "$file" 2>&1)
        result "$1: the Perfetto UI shows the fxt as it is" $? "$(tail -n 1 <<<"$output")"
    fi
    check_back "$1" "$2" "$file"
    rm -f "$file"
}

everything_in() {		# DATA
    "$FTR" replay --no-pager --event-full --demangle=full "$1" && "$FTR" info --no-pager --task "$1" |
        sed 's/ *[0-9.]* MB$//'
}

check_back() {			# NAME DATA FXT
    local back=$work/back-$1 output

    rm -rf "$back"
    output=$("$FTR" convert "$3" "$back" 2>&1)
    result "$1: the fxt becomes a data directory" $? "$output"
    cmp -s <(everything_in "$2" 2>&1) <(everything_in "$back" 2>&1)
    result "$1: which shows all that the recorded one does" $? \
        "$(diff <(everything_in "$2" 2>&1 | head -100000) <(everything_in "$back" 2>&1 | head -100000) | head -3)"
    rm -rf "$back"
}

build() {			# NAME
    "build_$1" >"$work/build-$1.log" 2>&1
    set -- "$1" $?
    result "$1: builds with -pg" "$2" "see $work/build-$1.log"
    return "$2"
}
