# SPDX-License-Identifier: MIT
"""Plain text rules: an SPDX line first, no path of a developer's machine, no trailing blanks, no long lines."""
import re

import tree

SUFFIXES = (".c", ".h", ".S", ".def", ".mk", ".py", ".sh", ".awk", ".map", ".am", ".ac", ".cc")
TOP = ("Makefile.am", "configure.ac", "check", "quickstart", "README.md", "NEWS")
TEXTS = SUFFIXES + (".md", ".txt", ".1", ".5")
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


def main():
    paths = [path for path in tree.files(*TEXTS) if not path.startswith("tests/data/")
             and "/corpus/" not in path] + list(TOP)
    tree.finish([problem for path in paths for problem in check_file(path)],
                f"text: {len(paths)} files")


main()
