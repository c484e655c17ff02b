# SPDX-License-Identifier: MIT
"""How long functions and files are: a report to notice by ("make sizes"), not a test."""
import re

import tree

FUNCTION_AIM, FUNCTION_MOST, FILE_MOST = 60, 100, 600


def functions(path):
    """(name, lines) of each function: kernel style puts its braces in column one."""
    name, start = None, None
    for number, line in enumerate(tree.read(path).splitlines(), 1):
        match = re.match(r"^[A-Za-z_][\w\s\*]*?(\w+)\(", line)
        if match and not line.endswith(";"):
            name = match[1]
        if line == "{" and name:
            start = number
        elif line == "}" and start:
            yield name, number - start - 1
            name = start = None


def percentile(values, share):
    return values[min(len(values) - 1, int(len(values) * share))] if values else 0


def main():
    paths = tree.files(".c", ".h", rooms=("arch", "cmds", "libmcount", "utils"))
    found = sorted((lines, name, path) for path in paths for name, lines in functions(path))
    lengths = [lines for lines, _, _ in found]
    print(f"{len(lengths)} functions: median {percentile(lengths, .5)} lines, "
          f"95th percentile {percentile(lengths, .95)}, longest {lengths[-1] if lengths else 0}")
    for lines, name, path in reversed(found):
        if lines > FUNCTION_AIM:
            mark = "!" if lines > FUNCTION_MOST else " "
            print(f"{mark} {lines:4} lines  {path}: {name}")
    for path in paths:
        lines = tree.read(path).count("\n")
        if lines > FILE_MOST:
            print(f"! {lines:4} lines  {path}")


main()
