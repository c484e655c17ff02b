# SPDX-License-Identifier: MIT
"""Every command and option that --help names is in the manual, and the reverse."""
import os
import re
import subprocess

import tree

FTR = os.environ.get("FTR", os.path.join(tree.BUILD, "ftr"))
HELP_OPTION = re.compile(r"^\s+(?:-(\w), )?\s*--([\w-]+)(\[?=\S+)?", re.M)
MAN_OPTION = re.compile(r"^\.TP\n(?:\\fB\\-(\w)\\fR, )?\\fB\\-\\-([\w\\-]+)\\fR(\[?=\\fI(?:[^\\]|\\[^f])*\\fR\]?)?$",
                        re.M)


def help_text(*words):
    return subprocess.run([FTR, *words, "--help"], stdout=subprocess.PIPE, text=True,
                          check=True).stdout


def help_options(text):
    """{long name: (letter, argument)}"""
    return {name: (letter, arg) for letter, name, arg in HELP_OPTION.findall(text)}


def man_options(page):
    return {name.replace("\\", ""): (letter, re.sub(r"\\f[IR]", "", arg))
            for letter, name, arg in MAN_OPTION.findall(tree.read(page))}


def compare(page, said, written):
    problems = [f"{page}: --{name} is not in it" for name in sorted(said.keys() - written)]
    problems += [f"{page}: --{name} is not in --help" for name in sorted(written.keys() - said)]
    return problems + [f"{page}: --{name}: {written[name]}, but --help says {said[name]}"
                       for name in sorted(said.keys() & written) if said[name] != written[name]]


def main():
    overview = help_text()
    listed = overview.partition("commands:\n")[2].partition("\n\n")[0]
    commands = re.findall(r"^  (\w+)", listed, re.M)
    common = help_options(overview)
    problems = compare("doc/ftr.1", common, man_options("doc/ftr.1"))
    for command in commands:
        page = f"doc/ftr-{command}.1"
        said = help_options(help_text(command))
        own = {name: value for name, value in said.items() if common.get(name) != value}
        if not os.path.exists(os.path.join(tree.SRC, page)):
            if own or f"ftr {command} " not in tree.read("doc/ftr.1"):
                problems.append(f"{page}: there is no such page for ftr {command}")
            continue
        problems += compare(page, own, man_options(page))
    for page in tree.files(".1", rooms=("doc",)):
        if page != "doc/ftr.1" and page[len("doc/ftr-"):-2] not in commands:
            problems.append(f"{page}: ftr has no such command")
    tree.finish(problems, f"options: {len(commands)} commands")


main()
