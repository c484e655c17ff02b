# SPDX-License-Identifier: MIT
"""Whoever copies a command line from README.md or from the examples of a manual page gets what it promises."""
import collections
import glob
import os
import re
import shutil
import subprocess

from recording import CC, FTR, SRCDIR, TIMEOUT, harness

# prog is also old, new and server.
MAKEFILE = """\
.PHONY: prog
prog:
	{cc} -pg -g -O1 -include src/a.h -o prog prog.c
"""
# What stands for a thing of the reader's in an example: a process, a task, a server; and less work.
STANDS_FOR = (("doctor 1234", "doctor $$"), ("--tid 6134", "--tid $TID"),
              ("curl -s https://example.org/x.fxt", "cat prog.fxt"), ("/tmp/", ""),
              ("ftr view --serve", "timeout -s INT 1 ftr view --serve || test $? = 124"),
              ("seq ${i}00000 ${i}20000", "seq ${i}000 ${i}200"))
# No example of how ftr runs, or one that needs what only its own test has: a database, another
# machine, scripts, a terminal, a process that is not somebody else's.
NOT_RUN = re.compile(r"^\./quickstart|^\./check|^sudo |ftr load --to=|ftr tui|ftr recv\b|ftr serve\b|ftr top -p| --host=| -S \S+\.(lua|py)\b")
# Two judge by the clock; a process may not be attached to; one that is controlled is not there.
STATUSES = {"--fail-over": {0, 1}, "check --max ": {0, 1}, "ftr doctor $$": {0, 1}, "ftr ctl ": {1}}


def without_roff(line):
    for mark, text in (("\\-", "-"), ("\\(aq", "'"), ("\\e", "\\")):
        line = line.replace(mark, text)
    return re.sub(r"\\f[BIRP]", "", line)


def examples_of_manual(path):
    with open(path, encoding="utf-8") as file:
        section = re.split(r"(?m)^\.SH ", file.read())
    lines = [line for part in section if re.match(r"EXAMPLES?\n", part) for line in part.splitlines()[1:]]
    is_literal = False
    for line in lines:
        if line in (".nf", ".fi"):
            is_literal = line == ".nf"
        elif line.startswith(".B "):
            yield without_roff(line[3:])
        elif is_literal and not line.startswith("."):
            yield without_roff(line)


def examples_of_readme():
    """In listings and in sentences; those with a PLACEHOLDER are no commands."""
    with open(os.path.join(SRCDIR, "README.md"), encoding="utf-8") as file:
        text = file.read()
    for listing, inline in re.findall(r"(?m)^    \$ (.*)$|`(ftr [^`]*)`", text):
        if listing or not re.search(r"(^|[ =\[])[A-Z]+\b", inline):
            yield listing or inline


class Examples(harness.Test):
    @classmethod
    def set_up_class(cls):
        os.mkdir("src")
        os.symlink(os.path.join(SRCDIR, "tests"), "tests")
        for name, text in (("src/a.h", "#define REQUESTS 4\n"), ("Makefile", MAKEFILE.format(cc=CC[-1]))):
            with open(name, "w", encoding="ascii") as file:
                file.write(text)
        shutil.copy(os.path.join(SRCDIR, "tests/prog/examples.c"), "prog.c")
        subprocess.run([CC[-1], "-pg", "-g", "-O1", "-o", "prog", "prog.c"], check=True)
        for name in ("old", "new", "server"):
            shutil.copy("prog", name)
        for data in ("ftr.data", "ftr.data.old", "old.data", "new.data", "before.data", "after.data"):
            subprocess.run([FTR, "record", "--no-event", "-d", data, "./prog"], check=True, timeout=TIMEOUT)
        subprocess.run([FTR, "dump", "--fxt", "-o", "prog.fxt"], check=True, timeout=TIMEOUT)
        shutil.copy(os.path.join(SRCDIR, "tests/fuzz/corpus/trace.dat/little64.dat"), "trace.dat")

    def setUp(self):
        super().setUp()
        tid = os.path.basename(glob.glob("ftr.data/[0-9]*.dat")[0])[:-len(".dat")]
        os.mkdir("bin")
        os.symlink(FTR, "bin/ftr")
        self.env = dict(os.environ, PATH=f"{self.dir}/bin:{os.environ['PATH']}", TID=tid, PAGER="cat")

    def run_example(self, example):
        for shown, stands_for in STANDS_FOR:
            example = example.replace(shown, stands_for)
        done = self.run_program("bash", "-o", "pipefail", "-c", example, env=self.env, errors="replace")
        if "ptrace must be allowed" in done.stderr:
            self.skipTest("nothing may be traced here")
        allowed = next((statuses for word, statuses in STATUSES.items() if word in example), {0})
        self.assertIn(done.returncode, allowed, f"{example}\n{done.stderr}")
        self.assertNotRegex(done.stderr, "has no effect|does not begin", example)
        return done.stdout

    def run_examples(self, examples):
        printed = collections.OrderedDict((example, self.run_example(example)) for example in examples
                                          if not NOT_RUN.search(example))
        self.assertTrue(printed)
        return printed

    def test_readme(self):
        printed = self.run_examples(examples_of_readme())
        calls, differences = (next(text for line, text in printed.items() if word in line)
                              for word in ("-f self,call -s call", "--diff c.data"))
        self.assertIn("strcoll", calls)
        self.assertRegex(differences, r"-\d+ +strcoll\n")

    def test_rules(self):
        self.run_examples(examples_of_manual(os.path.join(SRCDIR, "doc/ftr-rules.7")))


def add_manual(path):
    def test(self):
        self.run_examples(examples_of_manual(path))
    name = re.sub(r"\W", "_", os.path.basename(path)[:-len(".1")])
    setattr(Examples, f"test_{name}", test)


for manual in sorted(glob.glob(os.path.join(SRCDIR, "doc/*.1"))):
    if not manual.endswith(("/ftr-load.1", "/ftr-recv.1", "/ftr-script.1", "/ftr-serve.1", "/ftr-tui.1")):
        add_manual(manual)

if __name__ == "__main__":
    harness.main()
