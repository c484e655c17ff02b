# SPDX-License-Identifier: MIT
"""Plain text rules: an SPDX line first, no path of a developer's machine, no trailing blanks, no
long lines; and no compiled Python among the tracked files."""
import os
import re
import subprocess

import tree

SUFFIXES = (".c", ".h", ".S", ".def", ".mk", ".py", ".sh", ".awk", ".map", ".am", ".ac", ".cc")
TOP = ("Makefile.am", "configure.ac", "check", "quickstart", "README.md", "NEWS")
TEXTS = SUFFIXES + (".md", ".txt", ".1", ".5", ".7")
PRIVATE = re.compile(r"/(home/(?!user/)|work/|Users/)\w")
COLUMNS = 100
TEXT = re.compile(r'^\s*(\w+\()?"')  # a message that can be searched for may stand out


def width(line):
    return len(line.expandtabs(8))


def check_file(path):
    lines = tree.read(path).splitlines()
    problems = []
    if path.endswith(SUFFIXES) and not any("SPDX-License-Identifier: MIT" in line
                                           for line in lines[:2]):
        problems.append(f"{path}:1: no SPDX-License-Identifier line")
    for number, line in enumerate(lines, 1):
        if PRIVATE.search(line):
            problems.append(f"{path}:{number}: a path of a developer's machine: {line.strip()}")
        if path.endswith(SUFFIXES) and line != line.rstrip():
            problems.append(f"{path}:{number}: blanks at the end")
        if path.endswith((".c", ".h", ".S")) and width(line) > COLUMNS and not TEXT.match(line):
            problems.append(f"{path}:{number}: {width(line)} columns, more than {COLUMNS}")
    return problems


def tracked():
    """What git keeps; nothing in a tarball, or where git does not trust the tree's owner."""
    if not os.path.exists(os.path.join(tree.SRC, ".git")):
        return []
    try:
        return subprocess.run(["git", "-C", tree.SRC, "ls-files"], capture_output=True, text=True,
                              check=True).stdout.splitlines()
    except (OSError, subprocess.CalledProcessError):
        return []


def compiled(paths):
    return [f"{path}: compiled Python is tracked" for path in paths
            if "__pycache__" in path or path.endswith(".pyc")]


def main():
    paths = [path for path in tree.files(*TEXTS) if not path.startswith("tests/data/")
             and "/corpus/" not in path] + list(TOP)
    tree.finish(compiled(tracked()) + [problem for path in paths for problem in check_file(path)],
                f"text: {len(paths)} files")


main()
