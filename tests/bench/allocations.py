# SPDX-License-Identifier: MIT
"""Who asked for memory: CPU time of a program by itself, under record --probe=memory, and under heaptrack.

usage: FTR=build/ftr tests/bench/allocations.py [TURNS [ROUNDS]]
"""
import os
import resource
import shutil
import subprocess
import sys
import tempfile


def cpu_time(command, directory):
    """Of all its processes, the recorder and compressors, too."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, cwd=directory, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


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
                best[name] = min(best.get(name, float("inf")), cpu_time(command, directory))
    for name, seconds in best.items():
        print(f"{name:9} {seconds:7.3f} s  {(seconds - best['untraced']) * 1e9 / rounds / 32:6.0f} ns added for malloc and free")
    if "heaptrack" in best:
        print(f"ftr adds {(best['ftr'] - best['untraced']) / (best['heaptrack'] - best['untraced']):.2f} of what heaptrack adds")


main()
