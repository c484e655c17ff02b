# SPDX-License-Identifier: MIT
"""record --summary: sums instead of calls, as report of the calls would show them."""
import os
import re
import signal
import struct
import subprocess
import time

from recording import build, harness

FTR = harness.FTR
TIMEOUT = harness.TIMEOUT
HEAD_BYTES = 16


class SummaryTest(harness.Test):
    def record(self, data, *words, status=0):
        done = self.ftr("record", "--no-event", "-d", data, *words)
        self.assertEqual((done.returncode, done.stderr), (status, ""), words)

    def report(self, data, *words):
        done = self.ftr("report", "--no-pager", "-d", data, *words)
        self.assertEqual((done.returncode, done.stderr), (0, ""), words)
        return done.stdout

    def calls(self, data):
        """By name, without what stands for missing records."""
        rows = [line.split() for line in self.report(data, "-f", "call", "-s", "func").splitlines()[2:]]
        return {row[1]: int(row[0]) for row in rows if row[1] != "<lost>"}

    def same(self, *program, options=()):
        """Everything that both tell, under the counter clock, which a wait for room in a buffer reads, too."""
        exact = ("--clock=counter", "-b", "16M")
        self.record("full", *exact, *options, *program)
        self.record("sums", *exact, "--summary", *options, *program)
        fields = "total,total-avg,total-min,total-max,total-stdv,self,self-avg,self-min,self-max,self-stdv,call,size"
        for words in ([], ["-s", "call"], ["-f", fields], ["--format=csv"], ["--json"], ["--avg-total"]):
            with self.subTest(program=program, words=words):
                self.assertEqual(self.report("sums", *words), self.report("full", *words))
        return self.calls("sums")

    def test_same_as_calls(self):
        """One task whose order is fixed: equal to the nanosecond; so are recursion, jumps and coroutines."""
        for name, flags, libraries in (("demo", [], ["-lm"]), ("recursion", [], []), ("longjmp", [], []), ("args", [], ["-lm"]),
                                       ("graph", ["-O2"], []), ("generators", [], [])):
            with self.subTest(program=name):
                build(name + ".c", "prog", "-pg", "-O1", *flags, *libraries)
                self.assertNotEqual(self.same("./prog"), {})

    def test_tasks(self):
        """Threads, forks, execs and loaded libraries: the same numbers of calls."""
        build("threads.c", "threads", "-pg", "-O1")
        build("fork_long.c", "forks", "-pg", "-O1")
        build("fork_counts.c", "counts", "-pg", "-O1")
        build("exec.c", "execs", "-pg", "-O1")
        for program in "./threads", "./execs", "./forks", "./counts":
            with self.subTest(program=program):
                self.record("full", program)
                self.record("sums", "--summary", program)
                self.assertEqual(self.calls("sums"), self.calls("full"))
                self.assertEqual(self.calls("sums")["main"], 3 if program == "./execs" else 1)
        self.assertEqual([name for name in os.listdir("sums") if name.endswith(".dat")], ["summary.dat"])

    def test_memory(self):
        """What is written does not grow with the number of calls."""
        build("flight.c", "flight", "-pg", "-O1")
        self.record("sums", "--no-libcall", "--summary", "./flight", "mark")
        self.assertLess(os.path.getsize("sums/summary.dat"), 4096)
        self.assertEqual(self.calls("sums")["leaf"], 200_000)

    def test_refused(self):
        """Options that would record more, with the reason; the program is not run."""
        build("demo.c", "prog", "-pg", "-O1", "-lm")
        for words in (["--overwrite=1M"], ["--syscalls"], ["-A", "main"], ["-a"], ["-W", "cpu"], ["--probe=memory"],
                      ["-T", "main@backtrace"], ["-T", "main@read=proc/statm"], ["-k"], ["-E", "sched:*@kernel"],
                      ["--host=nowhere"], ["--on-full=overwrite"], ["--nop"], ["--summary=0"], ["--summary=100000"],
                      ["--summary=soon"]):
            with self.subTest(words=words):
                done = self.ftr("record", "--summary", *words, "-d", "none", "./prog")
                self.assertEqual((done.returncode, done.stdout), (2, ""), done.stderr)
                self.assertRegex(done.stderr, r"^ftr: (record: )?--summary")
                self.assertFalse(os.path.exists("none"))

    def test_asked_for_calls(self):
        """What shows calls says where there are none."""
        build("demo.c", "prog", "-pg", "-O1", "-lm")
        self.record("sums", "--summary", "./prog")
        for words in (["replay"], ["graph"], ["dump"], ["dump", "--chrome"], ["report", "--task"], ["report", "--by=event"],
                      ["report", "-F", "main"], ["report", "-t", "1ms"], ["report", "-f", "total-max-ts"], ["slowest", "main"],
                      ["dump", "--format=csv"]):
            with self.subTest(words=words):
                done = self.ftr(words[0], "-d", "sums", *words[1:])
                self.assertNotEqual(done.returncode, 0)
                self.assertIn("was recorded with --summary", done.stderr)
        self.assertEqual(self.ftr("info", "-d", "sums").returncode, 0)
        for words, status in ((["diff", "sums", "sums"], 0), (["check", "-d", "sums", "--max-calls=main=1"], 0),
                              (["check", "-d", "sums", "--max-calls=strcmp=1"], 1)):
            self.assertEqual(self.ftr(*words).returncode, status, words)

    def test_rows(self):
        """dump --rows=sums writes those of the calls."""
        build("demo.c", "prog", "-pg", "-O1", "-lm")
        self.same("./prog")
        rows = []
        for data in ("full", "sums"):
            done = self.ftr("dump", "--format=csv", "--rows=sums", "-d", data)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            rows.append(sorted(re.sub(r'"[0-9a-f]{16}"', "", line) for line in done.stdout.splitlines()))
        self.assertEqual(*rows)

    def test_killed_recorder(self):
        """Intervals that had ended are there, and half of a block does no harm."""
        build("sums_forever.c", "forever", "-pg", "-O1")
        recorder = subprocess.Popen([FTR, "record", "--no-event", "--summary=1", "-d", "sums", "./forever"])
        end = time.monotonic() + TIMEOUT
        while not os.path.exists("sums/summary.dat") or os.path.getsize("sums/summary.dat") <= HEAD_BYTES:
            self.assertLess(time.monotonic(), end)
            time.sleep(0.05)
        recorder.send_signal(signal.SIGKILL)
        recorder.wait()
        done = self.ftr("report", "-d", "sums", "-f", "call")
        self.assertEqual((done.returncode, done.stderr.count("\n")), (0, 1))
        self.assertIn("the recording has no end", done.stderr)
        self.assertIn("leaf", done.stdout)
        with open("sums/summary.dat", "ab") as file:
            file.write(struct.pack("<II", 1000, 0) + b"cut off")
        done = self.ftr("report", "-d", "sums", "-f", "call")
        self.assertEqual(done.returncode, 0)
        self.assertIn("1 damaged or cut off", done.stderr)
        self.assertIn("leaf", done.stdout)

    def test_intervals(self):
        """-r chooses those that lie in it."""
        build("demo.c", "prog", "-pg", "-O1", "-lm")
        self.record("sums", "--summary=1", "./prog")
        whole = self.calls("sums")
        self.assertEqual(self.report("sums", "-r", "0~1h", "-f", "call"), self.report("sums", "-f", "call"))
        done = self.ftr("report", "-d", "sums", "-r", "1h~2h", "-f", "call")
        self.assertEqual([name for name in whole if name in done.stdout.split()], [])

    def test_no_summary(self):
        build("demo.c", "prog", "-pg", "-O1", "-lm")
        self.record("sums", "--summary", "./prog")
        for text in (b"", b"FTRSUMRY", b"x" * 100):
            with self.subTest(text=text):
                with open("sums/summary.dat", "wb") as file:
                    file.write(text)
                done = self.ftr("report", "-d", "sums")
                self.assertEqual(done.returncode, 1)
                self.assertIn("summary.dat: not a summary of version 1", done.stderr)


if __name__ == "__main__":
    harness.main()
