# SPDX-License-Identifier: MIT
"""Who asked for memory: CPU time and elapsed time of a program by itself, under record --probe=memory, and under heaptrack.

usage: FTR=build/ftr tests/bench/allocations.py [TURNS [ROUNDS]]
"""
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time


def times(command, directory):
    """CPU time of all its processes, the recorder and compressors, too; elapsed time."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    subprocess.run(command, cwd=directory, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
    end, after = time.monotonic(), resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, end - start


def main():
    turns, rounds = (int(word) for word in (sys.argv[1:] + ["6", "30000"][len(sys.argv) - 1:]))
    source = os.path.join(os.path.dirname(os.path.abspath(__file__)), "allocations.c")
    best = {}
    with tempfile.TemporaryDirectory() as directory:
        program = ["./allocations", str(rounds)]
        subprocess.run(["gcc", "-O1", "-g", "-o", program[0], source], cwd=directory, check=True)
        commands = {"untraced": program,
                    "ftr": [os.path.abspath(os.environ.get("FTR", "ftr")), "record", "--force", "--no-libcall", "--no-event",
                            "--probe=memory", "-d", "data", *program]}
        if shutil.which("heaptrack"):
            commands["heaptrack"] = ["heaptrack", "-o", "heap", *program]
        for _ in range(turns):
            for name, command in commands.items():
                for kind, seconds in zip(("CPU", "elapsed"), times(command, directory)):
                    best[kind, name] = min(best.get((kind, name), float("inf")), seconds)
    for kind in ("CPU", "elapsed"):
        added = {name: best[kind, name] - best[kind, "untraced"] for name in commands}
        for name in commands:
            print(f"{kind:7} {name:9} {best[kind, name]:7.3f} s  {added[name] * 1e9 / rounds / 32:6.0f} ns added for malloc and free")
        if "heaptrack" in added:
            print(f"{kind:7} ftr adds {added['ftr'] / added['heaptrack']:.2f} of what heaptrack adds")


main()
