# SPDX-License-Identifier: MIT
"""What the lints share: the files of the tree, and reporting."""
import os
import sys

SRC = os.environ.get("srcdir", ".")
BUILD = os.environ.get("builddir", ".")
ROOMS = ("arch", "cmds", "doc", "libmcount", "python", "tests", "utils")
SKIP = 77


def files(*suffixes, rooms=ROOMS):
    """Paths from the root of the tree, sorted, of all files with one of these endings."""
    found = []
    for room in rooms:
        for folder, _, names in os.walk(os.path.join(SRC, room)):
            found += [os.path.relpath(os.path.join(folder, name), SRC) for name in names
                      if name.endswith(suffixes)]
    return sorted(found)


def read(path):
    with open(os.path.join(SRC, path), encoding="utf-8", errors="replace") as file:
        return file.read()


def finish(problems, what):
    """Report the problems and exit: 0 when there is none."""
    for problem in problems:
        print(problem)
    print(f"{what}: {len(problems)} problems")
    sys.exit(1 if problems else 0)


def skip(why):
    print(f"skipped: {why}")
    sys.exit(SKIP)
