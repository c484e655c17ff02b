# SPDX-License-Identifier: MIT
# What run.sh and peer.sh share: a loop over the cases.
golden=$srcdir/tests/golden

# each_case FUNCTION: call it as FUNCTION KIND NAME DATA WORDS...
each_case() {
	local kind name data words
	while read -r kind name data words; do
		case $kind in
		'' | '#'*) continue ;;
		esac
		# shellcheck disable=SC2086  # words of a command line
		"$1" "$kind" "$name" "$data" $words
	done < <(grep -E '^(peer|-) ' "$golden/cases")
}
