#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Two threads that make threads at once: each arrow leads from the call that made a thread to that thread.

The functions that makers and threads call tell who is who; the arrows are read by the checker.
"""
import collections
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

import fxt_check

FTR = os.environ["FTR"]
PROGRAM = pathlib.Path(os.environ["srcdir"]).resolve() / "tests/prog/creators.c"
CHILDREN = 40


def ftr(*words):
    run = subprocess.run([FTR, *words], capture_output=True, text=True)
    if run.returncode != 0 or run.stderr:
        sys.exit(f"ftr {' '.join(words)}: {run.stderr}")


def wrong_arrows(path):
    """Texts of what is wrong with the arrows of an FXT file."""
    checker = fxt_check.Checker(path.read_bytes())
    checker.walk()
    wrong = list(checker.violations)
    functions = collections.defaultdict(set)
    for thread, _, _, _, name in checker.calls:
        functions[thread].add(name)
    found = collections.Counter()
    for name, (maker, begin), (thread, end) in checker.arrows:
        inside = any(call[0] == maker and call[4] == "pthread_create" and call[1] <= begin and
                     (call[2] is None or begin <= call[2])
                     for call in checker.calls)
        for letter in "ab":
            if f"child_of_{letter}" not in functions[thread]:
                continue
            found[letter] += 1
            if f"creator_{letter}" not in functions[maker]:
                wrong.append(f"a child of {letter} has an arrow from {functions[maker]}")
        if name != "thread" or not inside or end < begin:
            wrong.append(f"arrow {name} from {maker} at {begin} to {thread} at {end}")
    if found != {"a": CHILDREN, "b": CHILDREN} or len(checker.arrows) != 2 * CHILDREN + 2:
        wrong.append(f"{len(checker.arrows)} arrows, to children: {found}")
    return wrong


def main():
    with tempfile.TemporaryDirectory(prefix="ftr-threads.") as name:
        work = pathlib.Path(name)
        shutil.copy(PROGRAM, work)
        os.chdir(work)
        subprocess.run([*os.environ.get("CC", "cc").split(), "-pg", "-g", "-O1", "-o", "creators", "creators.c",
                        "-lpthread"], check=True)
        subprocess.run([FTR, "record", "-d", "a.data", "./creators"], capture_output=True, check=True)
        if not list(work.glob("a.data/perf-cpu*.dat")):
            print("no perf events here")
            return 77
        ftr("convert", "a.data", "a.fxt")
        ftr("convert", "a.fxt", "b.data")       # through both formats, and what it says is the same
        ftr("convert", "b.data", "b.fxt")
        ftr("convert", "a.fxt", "c.fxt")
        wrong = [f"{path}: {text}" for path in ("a.fxt", "b.fxt") for text in wrong_arrows(work / path)]
        if (work / "a.fxt").read_bytes() != (work / "c.fxt").read_bytes():
            wrong.append("fxt is not stable")
        print("\n".join(wrong[:20]))
        return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
