# SPDX-License-Identifier: MIT
"""Every header compiles alone.  (That each compiler takes it, the build with that compiler tells.)"""
import concurrent.futures
import os
import shutil
import subprocess

import tree

FLAGS = ["-std=gnu11", "-D_GNU_SOURCE", "-Wall", "-Wextra", "-Werror", "-Wno-unused-parameter",
         "-Wno-unused-function", "-fsyntax-only", f"-I{tree.SRC}", f"-I{tree.BUILD}"]


COMPILER = next((name for name in ("gcc", "clang") if shutil.which(name)), None)


def compile_alone(path):
    # Twice: it must also bear being included again.
    text = f'#include "{path}"\n#include "{path}"\n'
    done = subprocess.run([COMPILER, *FLAGS, "-x", "c", "-"], input=text, text=True,
                          stderr=subprocess.PIPE, check=False)
    return f"{path}:\n{done.stderr}" if done.returncode else None


def is_foreign(path):
    """Registers of another machine than this build's; arch/x86 is of two."""
    room = os.path.dirname(path)
    host = os.path.basename(os.path.dirname(os.path.realpath(os.path.join(tree.BUILD, "arch/rt.h"))))
    return room.startswith("arch/") and room != "arch/" + host and not (room == "arch/x86" and host == "x86_64")


def main():
    if COMPILER is None:
        tree.skip("neither gcc nor clang here")
    paths = [path for path in tree.files(".h", rooms=("arch", "cmds", "libmcount", "utils"))
             if not is_foreign(path)]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        problems = [problem for problem in pool.map(compile_alone, paths) if problem]
    tree.finish(problems, f"headers: {len(paths)} with {COMPILER}")


main()
