# SPDX-License-Identifier: MIT
"""balance.py DIR: the records of every task of a data directory, checked one by one.

Each EXIT must name the innermost open call, time must not go backwards, nothing may be LOST.  Calls
that never return (exit, a jump out of them) are counted, and stay open or are cut by depth.  A jump
ends with another EXIT of setjmp, which has returned to the same caller before.
"""
import glob
import os
import struct
import sys

ENTRY, EXIT, LOST, EVENT = range(4)
DEPTH_MAX = 1023


class Unbalanced(Exception):
    """The record at fault."""


def check_task(path, totals):
    root = (0, set())       # a call: its address, those of its callees that have returned
    stack, last = [], 0
    with open(path, "rb") as file:
        data = file.read()
    if len(data) % 16:
        raise Unbalanced(f"{path}: {len(data)} bytes, not whole records")
    for offset, (time, word) in zip(range(0, len(data), 16), struct.iter_unpack("<QQ", data)):
        where = f"{os.path.basename(path)}+{offset:#x}"
        kind, depth, addr = word & 3, word >> 6 & 1023, word >> 16
        if word & 0x3c != 0x28:
            raise Unbalanced(f"{where}: {word:#x} has no magic or a payload")
        if kind == LOST:
            raise Unbalanced(f"{where}: {addr} records LOST")
        if time < last:
            raise Unbalanced(f"{where}: time goes back by {last - time}")
        last = time
        if kind == ENTRY:
            if depth > len(stack):
                raise Unbalanced(f"{where}: entry at depth {depth}, {len(stack)} calls are open")
            if depth < DEPTH_MAX:
                totals["jumped over"] += len(stack) - depth
                del stack[depth:]
            stack.append((addr, set()))
            totals["calls"] += 1
        elif kind == EXIT:
            if depth < DEPTH_MAX:
                totals["jumped over"] += max(len(stack) - depth - 1, 0)
                del stack[depth + 1:]
            caller = stack[-2] if len(stack) > 1 else root
            if stack and stack[-1][0] == addr:
                stack.pop()
                caller[1].add(addr)
                continue
            del stack[depth:]
            caller = stack[-1] if stack else root
            if addr not in caller[1]:
                raise Unbalanced(f"{where}: the exit of {addr:#x}, which is not the innermost call")
            totals["jumps"] += 1
    totals["open at the end"] += len(stack)


def main():
    totals = {"calls": 0, "jumped over": 0, "jumps": 0, "open at the end": 0}
    paths = [path for path in glob.glob(os.path.join(sys.argv[1], "*.dat"))
             if os.path.basename(path)[:-4].isdigit()]
    try:
        if not paths:
            raise Unbalanced(f"{sys.argv[1]}: no TID.dat there")
        for path in paths:
            check_task(path, totals)
        if totals["calls"] == 0:
            raise Unbalanced("no call at all")
    except Unbalanced as problem:
        sys.exit(str(problem))
    print(", ".join(f"{nr} {what}" for what, nr in totals.items()))


main()
