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

# packages_can_install - is this root, or is there sudo?
packages_can_install() {
    [ "$(id -u)" -eq 0 ] || command -v sudo >/dev/null
}

# packages_size NAME... - "12 MB to download, 45 MB on disk" with all that they need, by the lists that apt has;
# nothing without lists.  Changes nothing: any user may ask.
packages_size() {
    local files

    files=$(apt-get -qq -y --print-uris -o Debug::NoLocking=true --no-install-recommends install "$@" \
        2>/dev/null </dev/null) || return
    awk '{ print $2 }' <<<"$files" | sed 's/_.*//' | xargs -r apt-cache show --no-all-versions 2>/dev/null |
        awk -v bytes="$(awk '{ bytes += $3 } END { print bytes + 0 }' <<<"$files")" '
            /^Installed-Size: / { kib += $2 }
            END { if (bytes > 0) printf "%d MB to download, %d MB on disk", bytes / 1e6 + 1, kib / 1000 + 1 }'
}

# What apt is doing: a line that changes on a terminal, else one for every twentieth step.
packages_progress() {
    local is_terminal=0

    [ ! -t 1 ] || is_terminal=1
    awk -v is_terminal=$is_terminal '
        function show(what) {
            steps++
            if (is_terminal)
                printf "\r\033[K  %s", what
            else if (steps % 20 == 1)
                print "  " what
            fflush()
        }
        /^Get:.* Packages / || /^Get:.* InRelease / { show("fetching the list of " $3); next }
        /^Get:/ { size = ""; if (match($0, /\[[^]]*B\]$/)) size = " " substr($0, RSTART); show("fetching " $5 size) }
        /^Unpacking / { show("unpacking " $2) }
        /^Setting up / { show("setting up " $3) }
        END { if (is_terminal && steps > 0) printf "\r\033[K" }'
}

# packages_install LOG NAME... - by sudo where this is not root; apt's output goes to LOG, its progress here
packages_install() {
    local log=$1 as_root=()

    shift
    [ "$(id -u)" -eq 0 ] || as_root=(sudo)
    as_root+=(env DEBIAN_FRONTEND=noninteractive)
    # A source of the machine's own that fails may not matter: the install decides.
    "${as_root[@]}" apt-get update -q 2>&1 </dev/null | tee "$log" | packages_progress
    "${as_root[@]}" apt-get install -y -q --no-install-recommends "$@" 2>&1 </dev/null | tee -a "$log" |
        packages_progress
    [ "${PIPESTATUS[0]}" -eq 0 ]
}

# The mirror this machine gets Debian from; nothing where its sources name none.
debian_mirror() {
    cat /etc/apt/sources.list /etc/apt/sources.list.d/* 2>/dev/null |
        awk '/^#/ { next }
             /^URIs:/ && $2 ~ /\/debian\/?$/ { print $2; exit }
             /^deb / { for (i = 2; i <= NF; i++) if ($i ~ /:\/\/.*\/debian\/?$/) { print $i; exit } }'
}
