#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Print the context switches in the perf files of a uftrace directory: "CPU TIME TID in", sorted.

Only those of tasks with data, which are the ones that a reader keeps.
"""
import pathlib
import struct
import sys

SWITCH, OUT = 14, 1 << 13


def switches(path, tids):
    cpu, data, at = int(path.stem[len("perf-cpu"):]), path.read_bytes(), 0
    while at + 24 <= len(data):
        kind, misc, size = struct.unpack_from("=IHH", data, at)
        tid, time = struct.unpack_from("=IQ", data, at + size - 12)
        if kind == SWITCH and tid in tids:
            yield cpu, time, tid, "out" if misc & OUT else "in"
        at += size


def main():
    directory = pathlib.Path(sys.argv[1])
    tids = {int(path.stem) for path in directory.glob("[0-9]*.dat")}
    rows = [row for path in directory.glob("perf-cpu*.dat") for row in switches(path, tids)]
    for row in sorted(rows):
        print(*row)


if __name__ == "__main__":
    main()
