# SPDX-License-Identifier: MIT
"""libmcount: what it uses against tests/lint/mcount-undefined.txt, what it exports against its map."""
import glob
import os
import re
import subprocess

import tree

LIST = "tests/lint/mcount-undefined.txt"
MAP = "libmcount/libmcount.map"
LINKER_MADE = {"_GLOBAL_OFFSET_TABLE_"}


def nm(*arguments):
    done = subprocess.run(["nm", "-P", *arguments], stdout=subprocess.PIPE, text=True, check=True)
    return {line.split()[0].partition("@")[0] for line in done.stdout.splitlines() if line}


def load_list():
    rows = {"hook": set(), "start": set(), "object": set()}
    for line in tree.read(LIST).splitlines():
        words = line.partition("#")[0].split()
        if words:
            rows[words[0]].add(words[1])
    return rows


def object_files():
    """Of libmcount.so alone: a test may build the same sources in its own way."""
    built = [path for path in glob.glob(os.path.join(tree.BUILD, "libmcount", "*so-*.o"))
             if os.path.exists(os.path.join(tree.SRC, f"libmcount/{object_name(path)}.c"))]
    assembled = [os.path.join(tree.BUILD, path[:-2] + ".o")
                 for path in tree.files(".S", rooms=("arch",))]
    # The second runtime's, of sources that the first has not.
    assembled += glob.glob(os.path.join(tree.BUILD, "arch", "*", "*_so-*.o"))
    return sorted(built + [path for path in assembled if os.path.exists(path)])


def object_name(path):
    """libmcount/so-hook.o and libmcount/libmcount_so-hook.o are both hook."""
    return os.path.basename(path)[:-2].rpartition("-")[2]


def check_uses(rows):
    objects = object_files()
    own = set().union(*(nm("--defined-only", path) for path in objects))
    problems, used = [], set()
    for path in objects:
        name = object_name(path)
        allowed = rows["hook"] | (rows["start"] if name in rows["object"] else set())
        wants = nm("-u", path) - own - LINKER_MADE
        used |= wants
        problems += [f"{name}.o uses {symbol}: not allowed there by {LIST}"
                     for symbol in sorted(wants - allowed)]
    for symbol in sorted((rows["hook"] | rows["start"]) - used):
        print(f"note: {LIST}: nothing uses {symbol} in this build")
    return problems, len(objects)


def check_exports():
    text = tree.read(MAP)
    wanted = set(re.findall(r"^\s*(\w+);", text.partition("global:")[2].partition("local:")[0],
                            re.M))
    have = nm("-D", "--defined-only", os.path.join(tree.BUILD, "libmcount.so"))
    return ([f"libmcount.so exports {name}, {MAP} does not name it" for name in have - wanted] +
            [f"{MAP} names {name}, libmcount.so does not have it" for name in wanted - have])


def main():
    problems, nr = check_uses(load_list())
    tree.finish(problems + check_exports(), f"libmcount symbols: {nr} objects")


main()
