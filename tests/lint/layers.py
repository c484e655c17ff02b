# SPDX-License-Identifier: MIT
"""Every #include "..." against doc/layers.txt, and that against the table of doc/ARCHITECTURE.md."""
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
    """utils/base covers utils/base/x, not utils/basement."""
    return path.startswith(rule + "/")


def check_file(path, rules):
    fitting = [rule for rule in rules if begins(path, rule)]
    if not fitting:
        return [f"{path}: no row of doc/layers.txt speaks of it"]
    room = max(fitting, key=len)
    problems = []
    for number, line in enumerate(tree.read(path).splitlines(), 1):
        match = INCLUDE.match(line)
        if match is None or match[1] in ANYWHERE:
            continue
        target = match[1]
        if not target.startswith(tuple(room + "/" for room in tree.ROOMS)):
            problems.append(f'{path}:{number}: "{target}": write the path from the root')
        elif not any(begins(target, allowed) for allowed in [room, *rules[room]]) \
                and os.path.dirname(target) != os.path.dirname(path):
            problems.append(f'{path}:{number}: {room} may not include "{target}"')
    return problems


def table_rows():
    """{directory: what it may include} of ARCHITECTURE's table, as it is written there."""
    text = tree.read("doc/ARCHITECTURE.md").partition("## The tree")[2].partition("\n## ")[0]
    rows = [[cell.strip() for cell in line.strip("|").split("|")]
            for line in text.splitlines() if line.startswith("| `")]
    return {cells[0].strip("`/"): cells[2] for cells in rows}


def directories(cell):
    """`base`, `utils/base/rt` -> {utils/base, utils/base/rt}; "nothing" is a word."""
    words = re.findall(r"`([^`]+)`", cell)
    return {word if word.partition("/")[0] in tree.ROOMS else "utils/" + word for word in words}


def check_table(rules):
    rows = table_rows()
    problems = [f"doc/ARCHITECTURE.md: no row of the table is about {room}"
                for room in rules if room not in rows]
    problems += [f"doc/layers.txt: {room}: {each} is not a directory" for room in rules
                 for each in [room, *rules[room]]
                 if not os.path.isdir(os.path.join(tree.SRC, each))]
    problems += [f"doc/ARCHITECTURE.md: {room}: doc/layers.txt has no such row"
                 for room in rows if room not in rules]
    for room in sorted(rules.keys() & rows):
        said, meant = directories(rows[room]), set(rules[room])
        if said != meant:
            problems.append(f"doc/ARCHITECTURE.md: {room}: says {sorted(said)}, "
                            f"doc/layers.txt {sorted(meant)}")
    return problems


def main():
    rules = load_rules()
    paths = tree.files(".c", ".h", ".S", ".def")
    problems = check_table(rules)
    problems += [problem for path in paths for problem in check_file(path, rules)]
    tree.finish(problems, f"layers: {len(paths)} files")


main()
