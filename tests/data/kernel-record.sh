#!/bin/bash
# SPDX-License-Identifier: MIT
# kernel-record.sh DIR FTR EVENTS COMMAND...: record COMMAND with FTR into DIR and put beside it, as uftrace does,
# what the kernel tells of it meanwhile (EVENTS: "sched/sched_switch,signal").  Needs root and tracefs; how
# tests/data/kernel was made.  DIR.trace is the kernel's own text of the same events.
set -e
dir=$1 ftr=$2 events=$3
shift 3
tracing=/sys/kernel/tracing
mine=$tracing/instances/ftr-kernel-record
mkdir "$mine"
trap 'echo 0 > "$mine/tracing_on"; rmdir "$mine"' EXIT
echo mono > "$mine/trace_clock"
echo 1 > "$mine/options/event-fork"
for event in ${events//,/ }; do
	echo 1 > "$mine/events/$event/enable"
done

bash -c 'echo $$ > "$0/set_event_pid"; exec "$@"' "$mine" "$ftr" record --no-libcall -d "$dir" "$@"
echo 0 > "$mine/tracing_on"
cat "$mine/trace" > "$dir.trace"

formats() {
	echo events/header_page
	echo events/ftrace/funcgraph_entry/format
	echo events/ftrace/funcgraph_exit/format
	for event in ${events//,/ }; do
		(cd "$tracing" && find "events/$event" -name format | sort)
	done
}

{
	printf 'PAGE_SIZE: 4096\nLONG_SIZE: 8\nENDIAN: LE\n'
	for file in $(formats); do
		head -c 4096 "$tracing/$file" > "$dir.format"
		printf 'TRACEFS: %s: %d\n' "$file" "$(wc -c < "$dir.format")"
		cat "$dir.format"
	done
} > "$dir/kernel_header"
rm "$dir.format"
cp /proc/kallsyms "$dir/kallsyms"
for cpu in "$mine"/per_cpu/cpu*; do
	# Pages as they are: one a read, nothing more where the next read would wait.
	timeout 2 dd "if=$cpu/trace_pipe_raw" "of=$dir/kernel-${cpu##*/}.dat" bs=4096 status=none || true
done
