# SPDX-License-Identifier: MIT
"""What record's rules do at calls besides choosing them, and watch points (-W)."""
import re
import shutil
import unittest

from recording import build, harness

BUILDS = {"pg": ["-pg", "-O2"], "fentry": ["-pg", "-mfentry", "-O2"], "cygprof": ["-finstrument-functions", "-O1"]}


class ActionsTest(harness.Test):
    @classmethod
    def set_up_class(cls):
        for name, flags in BUILDS.items():
            build("actions.c", name, "-rdynamic", *flags)

    def record(self, program, *options):
        """What the program printed: how many addresses of libmcount.so a backtrace has."""
        done = self.ftr("record", "--no-event", "-d", "made", *options, "./" + program)
        self.assertEqual((done.returncode, done.stderr), (0, ""), options)
        return int(done.stdout)

    def shown(self, *options):
        done = self.ftr("replay", "--no-pager", "-d", "made", "-f", "none", *options)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return [line.strip() for line in done.stdout.splitlines() if line.strip()]

    def calls(self):
        """Those of each thread, but for the calls whose number is that of the addresses."""
        with open("made/task.txt", encoding="ascii") as file:
            tids = re.findall(r"^TASK .* tid=(\d+)", file.read(), re.M)
        return [[line for line in self.shown("--tid", tid) if "strstr" not in line] for tid in tids]

    def around(self, pattern):
        """The lines that match, each with the one before and the one behind."""
        lines = self.shown("--no-libcall", "--no-comment")
        return [tuple(lines[i - 1:i + 2]) for i in range(1, len(lines)) if re.search(pattern, lines[i])]

    def test_variables(self):
        for program in BUILDS:
            with self.subTest(program=program):
                self.record(program, "-W", "var:counter", "-W", "var:small", "-W", "var:far_away")
                self.assertEqual(self.around("watch:var"), [
                    ("main() {", "/* watch:var (counter=0) */", "/* watch:var (small=5) */"),
                    ("/* watch:var (counter=0) */", "/* watch:var (small=5) */",
                     "/* watch:var (far_away=1099511627776) */"),
                    ("/* watch:var (small=5) */", "/* watch:var (far_away=1099511627776) */", "bump() {"),
                    ("bump() {", "/* watch:var (counter=1) */", "}"),
                    ("bump() {", "/* watch:var (counter=2) */", "}"),
                    ("idle() {", "/* watch:var (small=7) */", "}")])

    def test_changes_do_not_wait(self):
        """However short a call is, what changed in it is told, with the calls around it."""
        self.record("pg", "-t", "1h", "-W", "var:counter")
        lines = [line for line in self.shown("--no-comment") if not line.startswith("/* linux")]
        self.assertEqual(lines, ["main() {", "/* watch:var (counter=0) */", "bump() {", "/* watch:var (counter=1) */",
                                 "}", "bump() {", "/* watch:var (counter=2) */", "}", "}"])

    def test_cpu(self):
        """Each thread tells of its first."""
        for program in BUILDS:
            self.record(program, "-W", "cpu")
            lines = self.shown()
            for name in ("main", "in_thread"):
                at = next(i for i, line in enumerate(lines) if line.startswith(name + "() {"))
                self.assertRegex(lines[at + 1], r"^/\* watch:cpu \(cpu=\d+\) \*/$")

    def test_variables_that_are_not_there(self):
        for what, reason in (("var:countr", "did you mean counter?"), ("var:wide", "it has 32 bytes"),
                             ("var:of_a_thread", "those of threads"), ("cup", "not one of: cpu, var:NAME"),
                             ("var:main", "no variable")):
            done = self.ftr("record", "-W", what, "./pg")
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn(reason, done.stderr)

    def test_call_sites(self):
        for program in BUILDS:
            with self.subTest(program=program):
                self.record(program, "-T", "idle|bump@callsite")
                found = self.around("callsite")
                self.assertEqual([(re.search(r"\((\w+)\+", line).group(1), call) for _, line, call in found],
                                 [("main", "bump();"), ("main", "idle();"), ("main", "bump();"), ("main", "idle();"),
                                  ("in_thread", "idle();")])
                plain = self.ftr("replay", "--no-pager", "--no-callsite", "-d", "made").stdout
                self.assertNotIn("callsite", plain)
                self.assertIn("idle();", plain)

    def test_live(self):
        done = self.ftr("live", "--no-pager", "--no-sched", "-T", "idle@callsite", "-W", "var:small", "./pg")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("callsite (main+", done.stdout)
        self.assertIn("watch:var (small=7)", done.stdout)

    def test_readings(self):
        for program in BUILDS:
            with self.subTest(program=program):
                self.record(program, "-t", "1h", "-T", "grow@read=proc/statm,read=page-fault")
                lines = self.shown("--no-libcall")
                at = lines.index("grow() {")
                self.assertRegex(lines[at + 1], r"^/\* read:proc/statm \(vmsize=\d+KB vmrss=\d+KB shared=\d+KB\) \*/$")
                self.assertRegex(lines[at + 2], r"^/\* read:page-fault \(major=\d+ minor=\d+\) \*/$")
                size, rss = re.match(r"/\* diff:proc/statm \(vmsize=\+(\d+)KB vmrss=\+(\d+)KB", lines[at + 3]).groups()
                self.assertGreaterEqual(int(size), 8192)
                self.assertGreater(int(rss), 0)
                minor = re.match(r"/\* diff:page-fault \(major=\+\d+ minor=\+(\d+)\)", lines[at + 4]).group(1)
                self.assertGreaterEqual(int(minor), 1)

    def test_recovered(self):
        """The calls of the trace are the same, the addresses that the program finds are its own."""
        for program in BUILDS:
            with self.subTest(program=program):
                before = self.record(program)
                calls = self.calls()
                after = self.record(program, "-T", "backtrace|compare|jumper@recover")
                self.assertLessEqual(after, 1)      # where backtrace itself returns to
                if program != "cygprof":
                    self.assertGreater(before, 6)
                self.assertEqual(self.calls(), calls)
                self.record(program, "-T", ".@recover", "-t", "1h", "-T", "deep@trace")
                self.assertIn("deep() {", self.shown())

    def test_errno(self):
        """What library calls set it to, before they end; it stays what it is."""
        for flags in (["-pg", "-O0"], ["-pg", "-mfentry", "-O2"], ["-finstrument-functions"]):
            build("errnos.c", "errnos", *flags)
            done = self.ftr("record", "--no-event", "-d", "made", "-T", "close|open|getppid@read=errno", "./errnos")
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            shown = self.ftr("replay", "--no-pager", "-d", "made", "-f", "none", "--no-merge").stdout
            found = re.findall(r"(close|open|getppid)\(.*?\) \{\s*(?:/\* libc:errno \((.*?)\) \*/)?", shown)
            self.assertEqual(found,
                             [("close", "errno=EBADF"), ("close", "errno=EBADF"), ("getppid", ""), ("open", "errno=ENOENT"),
                              ("getppid", ""), ("close", "errno=EBADF")], shown)
            if shutil.which("uftrace"):
                done = self.run_program("uftrace", "replay", "--no-pager", "-d", "made", "-f", "none")
                self.assertEqual((done.returncode, done.stderr), (0, ""))
                self.assertEqual(done.stdout.count("close"), 3)

    def test_returned_twice(self):
        """The kernel counts for a child anew: of a call that its parent began it has no difference to tell."""
        build("counted.c", "counted", "-pg", "-O2", "-pthread")
        done = self.ftr("record", "--no-event", "-d", "made", "-T", "halve|work@read=page-fault", "./counted")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        with open("made/task.txt", encoding="ascii") as file:
            parent, child = re.search(r"^FORK .* pid=(\d+) ppid=(\d+)", file.read(), re.M).group(2, 1)
        around = {tid: [line for line in self.shown("--no-libcall", "--no-merge", "--tid", tid) if "libc" not in line]
                  for tid in (parent, child)}
        text = {tid: " ".join(lines) for tid, lines in around.items()}
        self.assertRegex(text[parent], r"halve\(\) \{ /\* read:page-fault .*?\*/ /\* diff:page-fault .*?\*/ \}")
        self.assertRegex(text[child], r"work\(\) \{ /\* read:page-fault .*?\*/ /\* diff:page-fault .*?\*/ \}")
        self.assertEqual(text[child].count("diff:"), 1, text[child])

    COUNTERS = {"pmu-cycle": ("cycles", "instructions"), "pmu-cache": ("refers", "misses"),
                "pmu-branch": ("branch", "misses")}
    REFUSALS = ("this machine has no such performance counters", "does not let programs read performance counters",
                "others have all performance counters", "performance counters: ")

    def test_counters(self):
        """Of each call, in each thread, what the thread itself did; where there are none, that is said at once."""
        build("counted.c", "counted", "-pg", "-O2", "-pthread")
        for kind, (first, second) in self.COUNTERS.items():
            done = self.ftr("record", "--no-event", "-d", "made", "-T", "work@read=" + kind, "./counted")
            if done.returncode != 0:
                self.assertEqual((done.returncode, done.stdout), (2, ""))
                self.assertRegex(done.stderr, r"^ftr: record: work@read=" + kind + ": .*(" + "|".join(self.REFUSALS) + ").*\n$")
                self.skipTest(done.stderr.strip())
            self.assertEqual(done.stderr, "")
            text = " ".join(self.shown("--no-libcall", "--no-merge"))
            values = re.findall(rf"diff:{kind} \({first}=\+(\d+) {second}=\+(\d+)\)", text)
            self.assertEqual(len(values), 13, text)
            if kind == "pmu-cycle":     # a turn of the loop takes two instructions at least
                counts = sorted(int(value) for _, value in values)
                self.assertLess(counts[6], 20000)
                self.assertGreater(counts[7], 400000)

    @unittest.skipUnless(shutil.which("uftrace"), "uftrace is not installed")
    def test_uftrace_reads_it(self):
        self.record("pg", "--no-libcall", "-W", "cpu", "-W", "var:counter", "-T", "idle@callsite",
                    "-T", "grow@read=page-fault")
        done = self.run_program("uftrace", "replay", "--no-pager", "-d", "made", "-f", "none")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("watch:cpu", done.stdout)
        self.assertIn("diff:page-fault", done.stdout)
        self.assertEqual(done.stdout.count("idle();"), 3)


if __name__ == "__main__":
    harness.main()
