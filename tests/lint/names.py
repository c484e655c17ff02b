# SPDX-License-Identifier: MIT
"""Files and identifiers (ftr_...) that comments and documents name exist; patterns match something."""
import fnmatch
import os
import re

import tree

CODE = (".c", ".h", ".S", ".def", ".cc")
SCRIPTS = (".py", ".sh", ".mk", ".awk", ".am", ".ac")
TEXTS = (".md", ".1", ".5", ".7", ".txt")
TOP = ("Makefile.am", "configure.ac", "check", "quickstart", "README.md", "NEWS")
ENDINGS = "c|h|S|def|py|sh|md|mk|am|ac|txt|awk|map|cc|1|5"
FONT = re.compile(r"\\f[BIRP]")
COMMENT = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'', re.S)
# A path below a room of the tree, or a bare name whose ending is one of source or document.
PATH = re.compile(r"(?<![\w./*${}<-])((?:arch|cmds|doc|libmcount|tests|utils)/[\w*/.+{},-]*[\w*}])"
                  r"(?![\w/<(])")
# The same below a room of utils/: format/dir.h.
SHORT = re.compile(rf"(?<![\w./*${{}}<-])((?:analysis|base|cli|export|format|object|observe|proto|"
                   rf"record|trace|view)/[\w*/{{}},-]*[\w*}}]\.(?:{ENDINGS}))(?![\w/.*-]|\()")
# Of our own code, in comments of code: ftr_noun_verb, and ftr_noun_* for several.
IDENTIFIER = re.compile(r"(?<![\w-])(ftr_\w+)(\*?)")
BARE = re.compile(rf"(?<![\w./*$@\"'<>-])([A-Za-z_*][\w*-]*\.(?:{ENDINGS}))(?![\w/.*-]|\()")

# Made by configure (AC_CONFIG_LINKS) and by make: a target, a program.
MADE = re.compile(r"^(?:\s*|EXTRA_PROGRAMS \+= )((?:arch|tests)/[\w/.-]+)(?:\s*:|$)", re.M)

# Names that stand for what the reader makes, or for files of other projects and of the system.
PLACEHOLDER = re.compile(r"NAME|ISA|SID|NNNN|\bX\b")
FOREIGN = {
    "a.c", "a.h", "b.c", "hello.c", "yours.c",          # of examples
    "events.txt", "task.txt",                           # in a data directory
    "perf_event.h",                                     # of Linux
}


def tree_files():
    paths = set(TOP) | {"COPYING", "config.h"}
    paths.update(MADE.findall("".join(tree.read(path) for path in
                                      ("configure.ac", *tree.files(".mk")))))
    for room in tree.ROOMS:
        for folder, names, files in os.walk(os.path.join(tree.SRC, room)):
            here = os.path.relpath(folder, tree.SRC)
            paths.add(here)
            paths.update(os.path.join(here, name) for name in names + files)
    return paths


def comments(path, text):
    """[(line number, text)] of what people read: comments of code, all of a document."""
    if path.endswith(CODE):
        return [(text.count("\n", 0, match.start()) + 1, match[0])
                for match in COMMENT.finditer(text) if match[0].startswith("/")]
    lines = enumerate(text.splitlines(), 1)
    if path.endswith(SCRIPTS):
        return [(number, line[line.index("#"):]) for number, line in lines
                if line.lstrip().startswith("#")]
    return list(lines)


def alternatives(name):
    """a/{b,c}.h -> a/b.h, a/c.h"""
    match = re.search(r"\{([^{}]*)\}", name)
    if match is None:
        return [name]
    return [each for word in match[1].split(",")
            for each in alternatives(name[:match.start()] + word + name[match.end():])]


def is_known(name, paths, names):
    if PLACEHOLDER.search(name) or name in FOREIGN:
        return True
    if "/" not in name:
        return any(fnmatch.fnmatchcase(each, name) for each in names) if "*" in name else name in names
    name = name.rstrip("/.")
    # doc/adr/0015 is short for the one file of that number; tests/unit/err_test is built.
    return any(fnmatch.fnmatchcase(each, pattern) for each in paths
               for pattern in (name, name + ".c", name + ".cc", name + "-*.md", "utils/" + name))


def identifiers():
    """All that code without its comments says."""
    return {word for path in tree.files(*CODE)
            for word in re.findall(r"\bftr_\w+", COMMENT.sub(
                lambda match: " " if match[0].startswith("/") else match[0], tree.read(path)))}


def is_identifier(word, is_prefix, known):
    if PLACEHOLDER.search(word) or word.endswith("_X"):
        return True
    return word in known or is_prefix and any(each.startswith(word) for each in known)


def check_identifiers(path, known):
    if not path.endswith(CODE):
        return []
    return [f"{path}:{first + at}: {match[0]}: there is no such identifier"
            for first, text in comments(path, tree.read(path))
            for at, line in enumerate(text.splitlines())
            for match in IDENTIFIER.finditer(line)
            if not is_identifier(match[1], match[2], known)]


def check_file(path, paths, names):
    problems = []
    for first, text in comments(path, tree.read(path)):
        for at, line in enumerate(FONT.sub("", text).replace("\\-", "-").splitlines()):
            found = [match[1] for match in PATH.finditer(line)]
            line = PATH.sub(" ", line)
            found += [match[1] for match in SHORT.finditer(line)]
            found += [match[1] for match in BARE.finditer(SHORT.sub(" ", line))]
            problems += [f"{path}:{first + at}: {name}: there is no such file"
                         for whole in found for name in alternatives(whole)
                         if not is_known(name, paths, names)]
    return problems


def decisions():
    """Each decision has a number of its own."""
    numbers = [os.path.basename(path)[:4] for path in tree.files(".md", rooms=("doc/adr",))]
    return [f"doc/adr/{number}: {numbers.count(number)} decisions have this number"
            for number in sorted(set(numbers)) if numbers.count(number) > 1]


def main():
    paths = tree_files()
    names = {os.path.basename(path) for path in paths}
    checked = [path for path in tree.files(*CODE, *SCRIPTS, *TEXTS)
               if not path.startswith("tests/data/") and "/corpus/" not in path
               and "/expected/" not in path] + list(TOP)
    known = identifiers()
    tree.finish(decisions() + [problem for path in checked
                               for problem in (check_file(path, paths, names) +
                                               check_identifiers(path, known))],
                f"names: {len(checked)} files")


main()
