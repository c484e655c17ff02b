# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# Copying the source tree without what was built in it.  Sourced by ./check.

# Pass on the NUL-ended names that exist: git lists deleted files too.
tree_existing() {
    local name

    while IFS= read -r -d '' name; do
        [ ! -e "$1/$name" ] || printf '%s\0' "$name"
    done
}

# tree_list FROM GIT-OPTION... - its files, each ended by NUL
tree_list() {
    git -c safe.directory='*' -C "$1" ls-files -z "${@:2}" 2>/dev/null | tree_existing "$1"
}

tree_is_checkout() {
    [ -e "$1/.git" ] && command -v git >/dev/null
}

# tree_copy FROM TO - the work tree, new files included
tree_copy() {
    if tree_is_checkout "$1"; then
        tree_list "$1" --cached --others --exclude-standard
    else
        (cd "$1" && find . \( -path './build*' -o -name '*.o' -o -name config.status \
            -o -name Makefile -o -name 'ftr.data*' \) -prune -o -type f -print0)
    fi | tar -C "$1" --null -T - -cf - | tar -C "$2" -xf -
}

# tree_copy_committed FROM TO - what git knows of: shows that no file was forgotten
tree_copy_committed() {
    if tree_is_checkout "$1"; then
        tree_list "$1" --cached | tar -C "$1" --null -T - -cf - | tar -C "$2" -xf -
    else
        tree_copy "$1" "$2"
    fi
}
