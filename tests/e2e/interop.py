# SPDX-License-Identifier: MIT
"""Debian's uftrace reads what ftr recorded, ftr what uftrace recorded: the same calls in the same order."""
import collections
import difflib
import glob
import os
import re
import shutil
import subprocess
import unittest

from recording import FTR, TIMEOUT, build, harness

UFTRACE = shutil.which("uftrace")
SHOWN = (["replay", "-f", "none", "--no-merge"],
         ["replay", "-f", "tid,duration,delta,time"],
         ["replay", "--event-full", "-f", "tid,duration,elapsed"],
         ["replay", "--flat", "-f", "none"],
         ["report", "-s", "func", "-f", "call"],
         ["report", "-s", "total,func"],
         ["graph", "-f", "total,self"],
         ["graph", "main"])
TREES = (["graph", "-f", "total,self"], ["graph", "-f", "total", "main"], ["graph", "--task", "-f", "none"])
# Options of record about what is recorded of which calls: examples.c, by either tool.
CHOICES = ("", "-F handle_request", "-N read_block", "-D 2", "-F handle_request -D 2", "-F ^read -N free", "-N malloc@plt",
           "-C read_block", "-C malloc", "-Z 40", "--no-libcall", "-l", "--nest-libcall --libname", "-e", "--match=glob -F read_*",
           "--match=glob -N *_block", "-L examples.c", "--disable -T main@trace-on", "--clock=mono_raw",
           "-T handle_request@depth=1", "-T handle_request@filter,depth=2", "-T handle_request@notrace",
           "-T read_block@time=1ns", "-T handle_request@size=10", "-T read_block@color=red", "-T read_block@caller",
           "--signal=SIGUSR1@trace-on", "-T read_block@arg1/i32", "-T read_block@retval/i32", "-T read_block@retval",
           "-A read_block@arg1/i32,arg2/s -D 3", "-A read_block@arg1/x32", "-A read_block@arg1/u64",
           "-A read_block@arg1/i32%rdi", "-R read_block@retval/x32", "-A read_block", "-R read_block", "-e -A read_block",
           "-A . -R .", "-A ^m@arg1", "-A m*@arg1 --match=glob", "-A malloc -R malloc -F handle_request",
           "-A malloc@arg1/x --no-libcall", "-a -F read_block", "-a -N read_block", "-a -D 2", "-a -Z 40", "-a --srcline")
# ... where what they record is not the same: time decides, uftrace hides nothing when it records, and leaves calls open.
READ_ALIKE = ("-t 1us", "-a -t 1us", "-H handle_request", "-T handle_request@hide", "-T handle_request@finish",
              "-T read_block@read=proc/statm", "-T read_block@read=page-fault")
RECORD = re.compile(r"^(\S+) .*?\[(entry|exit|event)")


def words_of(text):
    """Widths of columns differ between the versions of uftrace; what stands in them does not."""
    return [line.split() for line in text.splitlines() if line.strip()]


def records_of(dump):
    """The records, each with its file: the programs lay out the rest differently."""
    file, records = "", []
    for line in dump.splitlines():
        if line.startswith("reading"):
            file = line.split()[1].rpartition("/")[2]
        elif RECORD.match(line):
            records.append(file + " " + line)
    return "\n".join(records)


def ties_of(dump):
    """How many records of different files have the very same time: nothing says which of them was first."""
    files = collections.defaultdict(set)
    for record in records_of(dump).splitlines():
        file, time, line = record.split(None, 2)
        files[time].add("events" if "[event" in line else file)
    return sum(len(of_one) > 1 for of_one in files.values())


def settled(flat):
    """What `replay --flat` shows, each line without its number, those of one time in an order of their own."""
    return sorted((re.search(r"time \((\d+)", line)[1], line.split("]", 1)[1].split()) for line in flat.splitlines()
                  if "time (" in line)


def is_beyond_uftrace(data):
    """It refuses what has no calls."""
    return not os.path.exists(data + "/kernel_header") and not any(os.path.getsize(name) for name in glob.glob(data + "/[0-9]*.dat"))


@unittest.skipUnless(UFTRACE, "uftrace is not installed")
class Interop(harness.Test):
    def output(self, tool, command, data, *words):
        """uftrace's options end at the first operand."""
        done = self.run_program(tool, command, "--no-pager", "-d", data, *words, errors="replace")
        if tool == FTR:
            self.assertEqual((done.returncode, done.stderr), (0, ""), (command, data, words))
        return done.stdout

    def compare(self, what, theirs, ours):
        theirs, ours = words_of(theirs), words_of(ours)
        self.assertNotEqual(ours, [], what)
        if theirs != ours:
            lines = difflib.unified_diff(*([" ".join(line) for line in text] for text in (theirs, ours)), "uftrace", "ftr",
                                         lineterm="", n=1)
            self.fail(f"{what}:\n" + "\n".join(list(lines)[:20]))

    def same(self, data, command, *words):
        theirs, ours = (self.output(tool, command, data, *words) for tool in (UFTRACE, FTR))
        if command == "replay" and words_of(theirs) != words_of(ours) and ties_of(self.output(FTR, "dump", data)) > 0:
            if "--flat" in words:
                self.assertEqual(settled(theirs), settled(ours))
            return
        self.compare(" ".join([command, *words]), theirs, ours)

    def record(self, *options):
        """The program by either tool; the data directories."""
        for tool, data in ((FTR, "by-ftr"), (UFTRACE, "by-uftrace")):
            done = subprocess.run([tool, "record", "--no-pager", *options, "-d", data, "./prog"], timeout=TIMEOUT,
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
            self.assertEqual(done.returncode, 0, done.stdout)
        return "by-ftr", "by-uftrace"

    def check(self, program, *flags):
        build(program + ".c", "prog", "-g", "-O1", *flags)
        for data in self.record():
            for words in SHOWN:
                with self.subTest(data=data, words=words):
                    self.same(data, *words)
            with self.subTest(data=data, words=["dump"]):
                self.compare("dump", *(records_of(self.output(tool, "dump", data)) for tool in (UFTRACE, FTR)))

    def test_demo(self):
        for flags in (["-pg"], ["-pg", "-mfentry"], ["-finstrument-functions"]):
            with self.subTest(flags=flags):
                self.check("demo", *flags)

    def test_source_lines(self):
        """uftrace knows those of C; of C++ it leaves out many."""
        build("demo.c", "prog", "-g", "-O1", "-pg")
        for data in self.record("-a") + (harness.SRCDIR + "/tests/data/filters",):
            for command in ("replay", "report", "graph"):
                with self.subTest(data=data, command=command):
                    self.assertRegex(self.output(FTR, command, data, "--srcline"), r"\w\.(c|cc):\d+(\]| \*/)")
                    self.same(data, command, "--srcline", "--no-libcall", *(["--no-args"] if command == "replay" else []))

    def test_values(self):
        """Of functions with and without specs, by prototypes of the C library, all or some."""
        build("examples.c", "prog", "-g", "-O1", "-pg", "-DREQUESTS=4")
        for options in (["-A", "malloc"], ["-T", ".@plt,auto-args"], ["-a"], ["-A", "read_block@arg1/i32,arg2/s"],
                        ["-A", "read_block@arg1/i32,arg2/s", "-R", "malloc"]):
            for data in self.record(*options):
                with self.subTest(options=options, data=data):
                    self.assertRegex(self.output(FTR, "replay", data), r"(malloc|read_block)\([0-9]")
                    self.same(data, "replay")

    def recorded(self, *options):
        """What each tool shows of what each recorded: calls and values, without those of a profiler's start and addresses."""
        shown = {}
        for data in self.record("--no-event", *options):
            for tool in (UFTRACE, FTR):
                text = self.output(tool, "replay", data, "-f", "none")
                text = re.sub(r"(?m)^(__monstartup|__cxa_atexit)\(.*\n", "", text)
                shown[tool, data] = re.sub(r"0x[5-7]\w{9,}", "ADDRESS", text)
        return shown

    def test_options_of_record(self):
        build("examples.c", "prog", "-g", "-O1", "-pg", "-DREQUESTS=4")
        for options in harness.few(CHOICES, short=9):
            with self.subTest(options=options):
                shown = self.recorded(*options.split())
                self.assertRegex(shown[FTR, "by-ftr"], r"\w\(")
                self.assertEqual(set(shown.values()), {shown[FTR, "by-ftr"]})
        for options in harness.few(READ_ALIKE, short=4):
            with self.subTest(options=options):
                shown = self.recorded(*options.split())
                for data in ("by-ftr", "by-uftrace"):
                    self.assertEqual(shown[FTR, data], shown[UFTRACE, data])

    def test_threads(self):
        for flags in harness.few((["-pg"], ["-pg", "-mfentry"], ["-finstrument-functions"]), short=1):
            with self.subTest(flags=flags):
                self.check("threads", *flags)

    def test_scheduling(self):
        self.check("scheduling", "-pg")

    def test_estimated_returns(self):
        """Ends of calls that the processor was taken from: uftrace takes them as they are."""
        build("scheduling.c", "prog", "-g", "-O1", "-pg")
        done = self.run_program(FTR, "record", "--estimate-return", "-d", "data", "./prog")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("pre-empted", self.output(FTR, "replay", "data"))
        for command in ("replay", "report", "graph"):
            done = self.run_program(UFTRACE, command, "--no-pager", "-d", "data")
            self.assertNotIn("inverted time", done.stdout + done.stderr, command)

    def test_options_of_files(self):
        build("demo.c", "prog", "-g", "-O1", "-pg")
        with open("some.opts", "w", encoding="ascii") as file:
            file.write("--no-libcall\n-D 2\n")
        for data in self.record():
            full = self.output(FTR, "replay", data, "-f", "none")
            self.assertNotEqual(self.output(FTR, "replay", data, "-f", "none", "--opt-file", "some.opts"), full)
            self.same(data, "replay", "-f", "none", "--opt-file", "some.opts")
        for data in self.record("-t", "1us"):
            with open(data + "/default.opts", encoding="ascii") as file:
                self.assertEqual(file.read().split(), ["-t", "1us"])
            for command in ("replay", "report", "graph"):
                self.same(data, command)

    def test_names_of_a_directory(self):
        """Of a program that has lost its own."""
        build("demo.c", "prog", "-g", "-O1", "-pg")
        for data in self.record("--no-libcall"):
            os.makedirs("names-" + data)
            os.rename(data + "/prog.sym", f"names-{data}/prog.sym")
            os.rename("prog", "whole")
            subprocess.run(["strip", "-o", "prog", "whole"], check=True)
            self.assertNotRegex(self.output(FTR, "replay", data, "-f", "none"), r"\bmain\(")
            self.assertRegex(self.output(FTR, "replay", data, "-f", "none", "--with-syms", "names-" + data), r"\bmain\(")
            self.same(data, "replay", "-f", "none", "--with-syms", "names-" + data)
            self.same(data, "report", "-s", "func", "-f", "call", "--with-syms", "names-" + data)
            os.rename("whole", "prog")

    def test_texts_of_the_user(self):
        """uftrace shows them without the depth of the call that they are in, and where filters leave that out, not at all."""
        build("demo.c", "prog", "-g", "-O1", "-pg")
        for data in self.record("--no-event"):
            entry = re.search(r"(?m)^(\d+)\.(\d+) .*entry\] main", self.output(FTR, "dump", data))
            with open(data + "/extern.dat", "w", encoding="ascii") as file:
                file.write(f"# of the user\n\n{entry[1]}.{int(entry[2]) + 1:09} begun, it says\n")
            self.assertIn("/* external-data: begun, it says */", self.output(FTR, "replay", data))
            self.same(data, "replay", "-f", "none")

    def texts(self, data, *words):
        """A replay, without ends of calls: uftrace ends none at a trace-off, and shows texts without depth, and none between calls."""
        for tool in (UFTRACE, FTR):
            lines = self.output(tool, "replay", data, "-f", "none", *words).splitlines()
            yield [line.strip() if "external-data" in line else line for line in lines if not line.strip().startswith("}")
                   and (tool == UFTRACE or not line.startswith("/* external-data"))]

    def test_texts_of_the_user_in_filters(self):
        """One behind each entry and exit: shown are those of the calls that are."""
        build("demo.c", "prog", "-g", "-O1", "-pg")
        for data in self.record("--no-event"):
            dump = self.output(FTR, "dump", data)
            with open(data + "/extern.dat", "w", encoding="ascii") as file:
                for seconds, ns, kind, name in re.findall(r"(?m)^(\d+)\.(\d+) .*\[(entry|exit) *\] (\w+)", dump):
                    time = int(seconds) * 10 ** 9 + int(ns) + 5
                    file.write(f"{time // 10 ** 9}.{time % 10 ** 9:09} after {kind} of {name}\n")
            for words in ("-F count_words", "-F next_word", "-F table_find -F next_word", "-N count_word", "-N table_find", "-D 2",
                          "-D 3", "-F count_words -D 2", "-F count_word -N table_find", "-T count_word@trace-off",
                          "-T count_word@depth=1", "-H count_word"):
                with self.subTest(data=data, words=words):
                    theirs, ours = self.texts(data, *words.split())
                    self.assertEqual(ours, theirs)
                    self.assertIn("external-data", "".join(ours))

    def test_trees(self):
        for program in ("args", "vectors", "realign", "longjmp", "graph"):
            build(program + ".c", "prog", "-g", "-O1", "-pg", "-lm")
            for data in self.record("--no-libcall"):
                for words in TREES:
                    with self.subTest(program=program, data=data, words=words):
                        self.same(data, *words)


class Conversions(harness.Test):
    """Traces of other formats, which say less of a program than a recording does, as directories for uftrace."""

    def converted(self):
        for path in sorted(glob.glob(harness.SRCDIR + "/tests/fuzz/corpus/*/*")):
            if path.split("/")[-2] not in ("fxt", "swap", "trace.dat"):
                continue
            shutil.rmtree("data", ignore_errors=True)
            done = self.ftr("convert", "--to=uftrace", path, "data", errors="replace")
            self.assertEqual(done.returncode, 0, path + ": " + done.stderr)
            with open("data/info", "rb") as file:
                yield path, file.read()[40:].decode(errors="replace")

    def test_what_uftrace_must_find(self):
        for path, info in self.converted():
            self.assertRegex(info, r"(?m)^exename:", path)
            self.assertRegex(info, r"(?m)^pattern_type:.", path)  # or it finds no arguments
            tids = re.search(r"(?m)^taskinfo:tids=(.*)$", info)[1].split(",")
            self.assertNotIn("0", tids, path)           # its version 0.19 takes no idle task for one
            self.assertIn(f"taskinfo:nr_tid={len([tid for tid in tids if tid])}\n", info, path)

    @unittest.skipUnless(UFTRACE, "uftrace is not installed")
    def test_read_by_uftrace(self):
        read_nr = 0
        for path, _ in self.converted():
            if is_beyond_uftrace("data"):
                continue
            for words in (["replay"], ["report"], ["dump"], ["dump", "--graphviz"]):
                done = self.run_program(UFTRACE, *words, "--no-pager", "-d", "data", errors="replace")
                self.assertEqual((done.returncode, done.stderr), (0, ""), (path, words))
            read_nr += 1
        self.assertGreater(read_nr, 20)


if __name__ == "__main__":
    harness.main()
