# SPDX-License-Identifier: MIT
# A model, its own directory to work in, and what is done with it; sourced with the model's name.
set -eu
command -v spin >/dev/null || { echo "spin is not installed: skipped"; exit 77; }
model=$srcdir/tests/model/$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

errors() {			# MODEL
    spin -a "$1" >/dev/null
    ${CC:-cc} -O1 -w -DSAFETY -DVECTORSZ=2048 -o pan pan.c
    ./pan -m100000 | sed -n 's/.*errors: //p'
}

mutation() {			# NAME SED-SCRIPT: the protocol done wrong
    sed "$2" "$model" >mutant.pml
    cmp -s "$model" mutant.pml && { echo "FAIL: $1: the mutation changes nothing"; exit 1; }
    case $(errors mutant.pml) in
    0) echo "FAIL: $1 goes unnoticed"; exit 1 ;;
    [1-9]*) ;;
    *) echo "FAIL: $1: spin does not understand it"; exit 1 ;;
    esac
}

holds() {
    [ "$(errors "$model")" = 0 ] || { echo "FAIL: the protocol"; exit 1; }
}
