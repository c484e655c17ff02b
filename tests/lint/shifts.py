# SPDX-License-Identifier: MIT
"""Bits have names: no shift by a numeral in .c files, and no shifted 1.

Layouts (headers, utils/proto) and the arithmetic of utils/base are where shifts belong.
"""
import re

import tree

ROOMS = ("utils", "cmds")
FREE = ("utils/base/", "utils/proto/")
# Comments, strings and characters hold no code.
NO_CODE = re.compile(r"/\*.*?\*/|//[^\n]*|\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])*'", re.S)
BY_NUMERAL = re.compile(r"(?:<<|>>)=?\s*\d")
ONE_SHIFTED = re.compile(r"(?:\b1[uUlL]*|_C\(1\))\s*<<")


def blank(match):
    return re.sub(r"[^\n]", " ", match[0])


def check(path):
    lines = NO_CODE.sub(blank, tree.read(path)).split("\n")
    for number, line in enumerate(lines, 1):
        if BY_NUMERAL.search(line):
            yield f"{path}:{number}: shift by a numeral; name it in the header of the layout"
        elif ONE_SHIFTED.search(line):
            yield f"{path}:{number}: shifted 1; use FTR_BIT, FTR_BIT64, FTR_KIB or FTR_MIB"


def main():
    paths = [path for path in tree.files(".c", rooms=ROOMS) if not path.startswith(FREE)]
    tree.finish([problem for path in paths for problem in check(path)], "shifts")


main()
