# SPDX-License-Identifier: MIT
"""An archive of the sources has every file that git tracks: automake's list names it or its folder."""
import os
import subprocess

import tree

# What automake and dist-hook take along without a name in that list, and what stays with the repository.
UNNAMED = {".ci/run", ".gitignore", "check"}
PRINT = "ftr-distributed: ; @$(foreach file,$(DISTFILES),$(info $(file))):"


def tracked():
    if not os.path.exists(os.path.join(tree.SRC, ".git")):
        tree.skip("this is no git work tree")
    listed = subprocess.run(["git", "-c", "safe.directory=*", "-C", tree.SRC, "ls-files", "-z"],
                            capture_output=True, text=True, check=False)
    if listed.returncode != 0:
        tree.skip(f"git does not list the files: {listed.stderr.strip()}")
    return [path for path in listed.stdout.split("\0")
            if path and os.path.exists(os.path.join(tree.SRC, path))]


def distributed():
    environ = {name: value for name, value in os.environ.items()
               if name not in ("MAKEFLAGS", "MFLAGS", "MAKEOVERRIDES")}
    listed = subprocess.run(["make", "-s", "-C", tree.BUILD, "--no-print-directory", "--eval", PRINT,
                             "ftr-distributed"], capture_output=True, text=True, env=environ, check=True)
    # A name as it stands is from either root; one that make found in the sources leads there.
    root, here = os.path.abspath(tree.SRC), os.path.abspath(tree.BUILD)
    paths = [os.path.normpath(os.path.join(here, path)) for path in listed.stdout.split()]
    return {os.path.relpath(path, root if path.startswith(root + "/") and
                            not path.startswith(here + "/") else here) for path in paths}


def has(names, path):
    while path and path not in names:
        path = os.path.dirname(path)
    return bool(path)


def main():
    paths, names = tracked(), distributed()
    problems = [f"{path}: not in the archive of make dist: name it in the local.mk beside it"
                for path in paths if path not in UNNAMED and not has(names, path)]
    tree.finish(problems, f"distributed: {len(paths)} files")


main()
