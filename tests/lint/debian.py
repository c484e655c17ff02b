# SPDX-License-Identifier: MIT
"""debian/: its version is that of configure.ac, and it builds with what tests/packages.txt names."""
import re

import tree

# What debhelper brings along, and what is on every Debian system that builds packages.
BROUGHT = {"autoconf", "automake", "gcc", "libc6-dev", "make"}


def build_depends(text):
    field = re.search(r"^Build-Depends:\n((?: .*\n)+)", text, re.M).group(1)
    return {re.match(r"[\w.+-]+", line.strip()).group() for line in field.splitlines()}


def main():
    problems = []
    named = build_depends(tree.read("debian/control"))
    needed = set(re.findall(r"^build\t(\S+)", tree.read("tests/packages.txt"), re.M)) - BROUGHT
    problems += [f"debian/control: Build-Depends lacks {name}" for name in sorted(needed - named)]
    version = re.search(r"AC_INIT\(\[ftr\], \[([^]]+)\]", tree.read("configure.ac")).group(1)
    packaged = re.match(r"ftr \(([^)]+)-\d+\)", tree.read("debian/changelog"))
    if packaged is None or packaged.group(1) != version:
        problems.append(f"debian/changelog: begins with another version than {version}")
    tree.finish(problems, f"debian: {len(named)} packages to build with")


main()
