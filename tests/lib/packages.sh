# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# Which Debian packages are missing, and installing them.  Sourced by ./quickstart and ./check.

packages_list=$(dirname "${BASH_SOURCE[0]}")/../packages.txt

# packages_missing KIND... - names of the packages of these kinds that are not installed
packages_missing() {
    local kind name state

    for kind in "$@"; do
        while read -r name; do
            state=$(dpkg-query -W -f '${db:Status-Status}' "$name" 2>/dev/null) || state=none
            [ "$state" = installed ] || echo "$name"
        done < <(awk -v kind="$kind" '$1 == kind { print $2 }' "$packages_list")
    done
}

# packages_install LOG [sudo] -- NAME... - apt's output goes to LOG
packages_install() {
    local log=$1 as_root=()

    shift
    while [ "$1" != -- ]; do
        as_root+=("$1")
        shift
    done
    shift
    as_root+=(env DEBIAN_FRONTEND=noninteractive)
    # A source of the machine's own that fails may not matter: the install decides.
    "${as_root[@]}" apt-get update -q >"$log" 2>&1 </dev/null
    "${as_root[@]}" apt-get install -y -q --no-install-recommends "$@" >>"$log" 2>&1 </dev/null
}

# The mirror this machine gets Debian from; nothing where its sources name none.
debian_mirror() {
    cat /etc/apt/sources.list /etc/apt/sources.list.d/* 2>/dev/null |
        awk '/^#/ { next }
             /^URIs:/ && $2 ~ /\/debian\/?$/ { print $2; exit }
             /^deb / { for (i = 2; i <= NF; i++) if ($i ~ /:\/\/.*\/debian\/?$/) { print $i; exit } }'
}
