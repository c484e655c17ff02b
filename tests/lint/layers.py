# SPDX-License-Identifier: MIT
"""Every #include "..." of the tree against doc/layers.txt."""
import os
import re

import tree

INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"')
ANYWHERE = ("config.h",)


def load_rules():
    rules = {}
    for line in tree.read("doc/layers.txt").splitlines():
        if line and not line.startswith("#"):
            files, _, targets = line.partition(":")
            rules[files.strip()] = targets.split()
    return rules


def begins(path, rule):
    """utils/base covers utils/base/x, not utils/basement; utils/format/uftrace covers uftrace_x.h."""
    if path == rule or path.startswith(rule + "/"):
        return True
    return path.startswith(rule) and os.path.dirname(path) == os.path.dirname(rule)


def check_file(path, rules):
    fitting = [rule for rule in rules if begins(path, rule)]
    if not fitting:
        return [f"{path}: no row of doc/layers.txt speaks of it"]
    room = max(fitting, key=len)
    own = os.path.dirname(path)
    problems = []
    for number, line in enumerate(tree.read(path).splitlines(), 1):
        match = INCLUDE.match(line)
        if match is None or match[1] in ANYWHERE:
            continue
        target = match[1]
        if not target.startswith(tuple(room + "/" for room in tree.ROOMS)):
            problems.append(f'{path}:{number}: "{target}": write the path from the root')
        elif os.path.dirname(target) != own and not any(begins(target, allowed)
                                                        for allowed in rules[room]):
            problems.append(f'{path}:{number}: {room} may not include "{target}"')
    return problems


def main():
    rules = load_rules()
    paths = tree.files(".c", ".h", ".S", ".def")
    problems = [problem for path in paths for problem in check_file(path, rules)]
    tree.finish(problems, f"layers: {len(paths)} files")


main()
