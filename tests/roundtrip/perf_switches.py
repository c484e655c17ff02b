#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""perf_switches.py A B [A B]... - do the perf files of two uftrace directories have the same context switches?

Only those of tasks with data count, which are the ones that a reader keeps.  Where they differ says "CPU TIME TID in".
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


def all_switches(directory):
    tids = {int(path.stem) for path in directory.glob("[0-9]*.dat")}
    return {row for path in directory.glob("perf-cpu*.dat") for row in switches(path, tids)}


def main():
    differ = 0
    for one, other in zip(sys.argv[1::2], sys.argv[2::2], strict=True):
        rows = all_switches(pathlib.Path(one)) ^ all_switches(pathlib.Path(other))
        differ |= bool(rows)
        for row in sorted(rows)[:5]:
            print(f"{one}, {other}:", *row)
    return differ


if __name__ == "__main__":
    sys.exit(main())
