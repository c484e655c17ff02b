# SPDX-License-Identifier: MIT
"""A test is in one area (test_areas), and ./check leaves out or chooses only lists of tests that there are."""
import collections
import os
import re
import subprocess

import tree

PRINT = "ftr-areas: ; @$(foreach list,test_areas TESTS $(test_areas),$(info $(list): $($(list)))):"


LEFT_OUT = re.compile(r"^ *(?:only_recording|no_runtime|not_emulated)=\((.*?)\)$", re.MULTILINE | re.DOTALL)


def lists(*variables):
    environ = {name: value for name, value in os.environ.items()
               if name not in ("MAKEFLAGS", "MFLAGS", "MAKEOVERRIDES")}
    printed = subprocess.run(["make", "-s", "-C", tree.BUILD, "--no-print-directory", "--eval", PRINT, *variables,
                              "ftr-areas"],
                             capture_output=True, text=True, env=environ, check=True).stdout
    return {name: tests.split() for name, tests in re.findall(r"^(\w+):(.*)$", printed, re.MULTILINE)}


def stray(run, areas):
    """Tests of rooms with areas that are in none, or in two."""
    times = collections.Counter(test for area in areas.values() for test in area)
    rooms = {os.path.dirname(test) for test in times}
    scripts = {path for path in tree.files(".py", rooms=("tests/e2e",))
               if re.search(r"^ *harness\.main\(\)", tree.read(path), re.MULTILINE)}
    for test in sorted(scripts | {test for test in run if os.path.dirname(test) in rooms} | set(times)):
        if times[test] != 1:
            yield f"{test}: in {times[test] or 'no'} areas, and belongs to one: see test_areas in tests/local.mk"


def unknown():
    """Lists of tests that ./check names and no local.mk makes: it would run what it was to leave out."""
    known = {name for path in tree.files("local.mk", rooms=("tests",))
             for name in re.findall(r"^(\w+) \+?=", tree.read(path), re.MULTILINE)}
    for words in LEFT_OUT.findall(tree.read("check")):
        for name in re.findall(r"(\w+)=|\$\((\w+)\)", words):
            if "".join(name) not in known:
                yield f"check: {''.join(name)} is no list of a local.mk below tests"


def not_left_out(areas):
    """Of programs automake has lists of its own, whatever becomes of ours."""
    for words in LEFT_OUT.findall(tree.read("check")):
        names = [name for name in re.findall(r"(\w+)=(?![\w$])", words) if name in areas]
        run = set(lists(*(f"{name}=" for name in names))["TESTS"])
        for name in names:
            if run & set(areas[name]):
                yield f"check: {name}= leaves nothing out: they are programs, which automake lists itself"


def main():
    areas = lists()
    run = areas.pop("TESTS")
    del areas["test_areas"]
    tree.finish([*stray(run, areas), *unknown(), *not_left_out(areas)], f"areas: {len(areas)} areas, {len(run)} tests")


main()
