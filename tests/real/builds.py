# SPDX-License-Identifier: MIT
"""Builds of Debian packages under ftr: beside strace, beside bear, through the real ccache, with lists of files.

    FTR=ftr python3 tests/real/builds.py WORK-DIRECTORY NAME SOURCE-DIRECTORY [MAKE'S WORDS...]

A line "ok" or "FAILED" for each check; exits with how many failed.
"""
import json
import os
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
sys.dont_write_bytecode = True
from beside_strace import FTR, compare, fresh  # noqa: E402

failed = 0


def result(name, problems):
    global failed
    failed += bool(problems)
    print(f"{'FAILED ' if problems else 'ok     '} {name}{': ' if problems else ''}"
          f"{'; '.join(str(problem) for problem in problems[:5])}")


def entries_of(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def sources_of(entries):
    return sorted(os.path.normpath(os.path.join(entry["directory"], entry["file"])) for entry in entries)


def ftr_build(cwd, *words):
    done = subprocess.run([FTR, "build", *words], cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, errors="replace", check=False)
    return done.returncode, done.stdout


def check_database(name, make, work, tree):
    """Every entry of bear's, with its arguments; and those that it has not must be translations, too."""
    cwd = fresh(work, tree)
    subprocess.run(["bear", "--output", "bear.json", "--", *make], cwd=cwd, stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL, check=False)
    theirs = entries_of(os.path.join(cwd, "bear.json"))
    cwd = fresh(work, tree)
    status, said = ftr_build(cwd, "--", *make)
    ours = entries_of(os.path.join(cwd, "compile_commands.json"))
    result(f"{name}: ftr build", [said[-300:]] if status != 0 else [])
    missing = [path for path in sources_of(theirs) if path not in sources_of(ours)]
    result(f"{name}: every source of bear's {len(theirs)} is among ftr's {len(ours)}",
           missing or ([] if theirs else ["bear found none"]))
    result(f"{name}: every entry translates again", replay(ours))
    return cwd, ours


def replay(entries):
    """Each command, alone and in its directory, must make its output."""
    problems = []
    for entry in entries:
        output = os.path.join(entry["directory"], entry.get("output", ""))
        if entry.get("output") and os.path.isfile(output):
            os.unlink(output)
        done = subprocess.run(entry["arguments"], cwd=entry["directory"], stdout=subprocess.DEVNULL,
                              stderr=subprocess.PIPE, text=True, check=False)
        if done.returncode != 0 or (entry.get("output") and not os.path.isfile(output)):
            problems.append(f"{entry['arguments']}: {done.stderr[-200:]}")
    return problems


def check_files(name, cwd, entries):
    """Each object's inputs hold its source, and that's outputs the object."""
    problems = []
    for entry in entries:
        source = os.path.normpath(os.path.join(entry["directory"], entry["file"]))
        output = os.path.join(entry["directory"], entry.get("output", ""))
        if not entry.get("output") or not os.path.exists(output):
            continue
        if source not in ftr_build(cwd, "--inputs-of", output)[1].splitlines():
            problems.append(f"inputs of {output}: no {source}")
        if output not in ftr_build(cwd, "--outputs-of", source)[1].splitlines():
            problems.append(f"outputs of {source}: no {output}")
    used = set(sources_of(entries)) & set(ftr_build(cwd, "--unused", ".")[1].splitlines())
    result(f"{name}: inputs, outputs, unused files of {len(entries)} translations",
           problems + [f"unused: {path}" for path in used])


def check_ccache(name, make, work, tree, plain):
    """The same translations through ccache, whose second build reads its cache instead of compiling."""
    os.environ["CCACHE_DIR"] = os.path.join(work, "ccache")
    shutil.rmtree(os.environ["CCACHE_DIR"], ignore_errors=True)
    for time in ("cold", "warm"):
        cwd = fresh(work, tree)
        status, said = ftr_build(cwd, "--", *make, "CC=ccache gcc")
        ours = entries_of(os.path.join(cwd, "compile_commands.json"))
        problems = [said[-300:]] if status != 0 else []
        if sources_of(ours) != sources_of(plain):
            problems.append(f"{sources_of(ours)}, without ccache {sources_of(plain)}")
        problems += [entry["arguments"] for entry in ours if "ccache" in entry["arguments"][0]]
        result(f"{name}: {len(ours)} translations through ccache, {time}", problems)


def main():
    work, name, tree, *words = sys.argv[1:]
    for variable in ("MAKEFLAGS", "MAKELEVEL", "MFLAGS"):
        os.environ.pop(variable, None)
    work, tree = os.path.realpath(work), os.path.realpath(tree)
    os.makedirs(work, exist_ok=True)
    make = ["make", "-s", "-j4", *words]
    result(f"{name}: {' '.join(make)}, the multisets of strace", compare(name, make, work, tree, in_turn=False))
    cwd, entries = check_database(name, make, work, tree)
    check_files(name, cwd, entries)
    check_ccache(name, make, work, tree, entries)
    sys.exit(min(failed, 100))


main()
