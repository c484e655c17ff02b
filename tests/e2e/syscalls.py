# SPDX-License-Identifier: MIT
"""What ftr record --syscalls sees of a process tree, against strace on the same commands."""
import os
import re
import shutil
import subprocess
import unittest

from recording import FTR, build, harness
from beside_strace import compare, etrace_events, fresh, strace_run

# Programs, and how they are compiled.
PROGRAMS = {
    "raw": ["-static"],
    "openers": [],
    "spawners": [],
    "execthread": [],
}

SCRIPT = r"""
echo 'int main(void){return 0;}' > a.c
gcc -c a.c -o a.o && gcc a.o -o a && ./a
python3 -c 'import subprocess; subprocess.run(["true", ""])'
mv a b; ln b c; ln -s b d; mv nothing here 2>/dev/null
printf '#!/bin/sh\nexit 4\n' > s; chmod +x s; ./s
(kill -9 $BASHPID)
cat a.c | grep main > out
exit 3
"""

# gcc, also where ftr is built with another: clang writes to files of random names first.
TOP_MAKE = """
CC = gcc
OBJS = $(patsubst %,f%.o,1 2 3 4 5 6 7 8)
all: prog
prog: $(OBJS) main.o
	$(CC) -o $@ $^
f%.c:
	echo 'int f$*(void){return $*;}' > $@
main.c:
	echo 'int main(void){return 0;}' > $@
"""

# As many processes at once: each waits a while for the others.
WIDE = harness.times(200, short=40)
WIDE_MAKE = """
all: $(patsubst %,out%,$(shell seq """ + str(WIDE) + """))
out%:
	sleep 1; echo $* > in$*; cat < in$* > $@; mv $@ tmp$*; ln tmp$* $@
"""


def many_forks(_expected, got):
    return [] if got["fork"] >= 5 * WIDE else [f"wide: {got['fork']} forks"]


class SyscallsTest(harness.Test):
    """Each command runs plain, under strace and under ftr."""

    @classmethod
    def set_up_class(cls):
        if shutil.which("strace") is None:
            raise unittest.SkipTest("strace is not installed")
        if subprocess.run(["strace", "true"], stderr=subprocess.DEVNULL, check=False).returncode != 0:
            raise unittest.SkipTest("nothing may be traced here")

    def setUp(self):
        super().setUp()
        for name in ("MAKEFLAGS", "MAKELEVEL", "MFLAGS"):   # of the make that runs the tests
            os.environ.pop(name, None)

    def compare(self, name, *argv, **options):
        self.problems += compare(name, argv, self.dir, **options)[:60]

    def program(self, name):
        binary = os.path.join(self.dir, name)
        build(f"observed_{name}.c", binary, "-w", *PROGRAMS[name])
        return binary

    def makefile(self, text):
        path = os.path.join(self.dir, "Makefile")
        with open(path, "w", encoding="ascii") as file:
            file.write(text)
        return path

    def test_raw_system_calls(self):
        self.compare("raw", self.program("raw"))

    def test_threads_that_open(self):
        self.compare("openers", self.program("openers"), in_turn=False)

    def test_ways_to_spawn(self):
        def untraced_child(expected, _got):
            expected["exit", "4"] += 1  # strace loses the child of CLONE_UNTRACED
            return []
        self.compare("spawners", self.program("spawners"), expects=untraced_child)

    def test_exec_in_a_thread(self):
        self.compare("execthread", self.program("execthread"))

    def test_script(self):
        self.compare("script", "bash", "-c", SCRIPT)

    def test_make(self):
        makefile = self.makefile(TOP_MAKE)
        self.compare("make", "make", "-s", "-f", makefile)
        self.compare("make -j4", "make", "-s", "-j4", "-f", makefile, in_turn=False)

    def test_many_processes_at_once(self):
        def many_forks(_expected, got):
            return [] if got["fork"] >= 5 * WIDE else [f"wide: {got['fork']} forks"]
        self.compare("wide", "make", "-s", f"-j{WIDE}", "-f", self.makefile(WIDE_MAKE), in_turn=False,
                     expects=many_forks)

    def test_instrumented(self):
        """The calls of functions are recorded as well: of the tracer only its being loaded may show."""
        binary = os.path.join(self.dir, "instrumented")
        build("observed_instrumented.c", binary, "-finstrument-functions", "-w")
        expected = strace_run([binary], fresh(self.dir, None), os.path.join(self.dir, "st"))
        cwd = fresh(self.dir, None)
        subprocess.run([FTR, "record", "--syscalls", "-d", "data", binary], cwd=cwd, check=False)
        text = subprocess.run([FTR, "dump", "-d", "data", "--format=etrace"], cwd=cwd, stdout=subprocess.PIPE, text=True,
                              check=False).stdout
        got = etrace_events(text)
        calls = subprocess.run([FTR, "report", "-d", "data"], cwd=cwd, stdout=subprocess.PIPE, text=True,
                               check=False).stdout
        if not re.search(r" 4  read_once$", calls, re.MULTILINE):
            self.problems.append("instrumented: the calls of read_once are not there:\n" + calls)
        for key in [key for key in got if key[0] == "open" and key[1].endswith("/libmcount.so")]:
            del got[key]
            got["close", key[2]] -= 1
        for key in sorted(set(expected) | set(got), key=str):
            if expected[key] != got[key]:
                self.problems.append(f"instrumented: {key}: strace {expected[key]}, ftr {got[key]}")


if __name__ == "__main__":
    harness.main()
