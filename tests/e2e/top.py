# SPDX-License-Identifier: MIT
"""top: tables of a program that runs, while it runs; it notices nothing, and nothing is left."""
import os
import re
import select
import signal
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../lib"))
import attaching
import harness
from harness import FTR, TIMEOUT, build

ROUNDS = 25
OUTPUT = "begins\nends\n"
ROW = re.compile(r"^ *([\d.]+) +([\d.]+) +(\d+) +(\d+) +([\d.]+ +[num]?s) +(\S+)$", re.M)


def tables(text):
    """[{function: (self percent, total percent, calls a second, calls)}]"""
    return [{row[5]: (float(row[0]), float(row[1]), int(row[2]), int(row[3])) for row in ROW.findall(part)}
            for part in text.split("# ")[1:]]


class Prepared(harness.Test):
    @classmethod
    def set_up_class(cls):
        build("top_busy.c", "busy", "-pg", "-O1")

    def setUp(self):
        super().setUp()
        os.mkdir("tmp")
        self.env = dict(os.environ, TMPDIR=self.dir + "/tmp")

    def watch(self, *words, status=3, output=OUTPUT):
        done = self.ftr("top", "--no-libcall", *words, env=self.env)
        self.assertEqual((done.returncode, done.stdout), (status, output), done.stderr)
        self.assertEqual(os.listdir("tmp"), [])
        return done.stderr

    def test_counts(self):
        """Each interval, and in the end all calls; the output is the program's alone."""
        found = tables(self.watch("./busy", str(ROUNDS)))
        self.assertGreaterEqual(len(found), 2)
        calls = {name: row[3] for table in found for name, row in table.items()}     # the last of each
        self.assertEqual(calls, {"main": 1, "heavy": ROUNDS, "light": ROUNDS, "leaf": 21 * ROUNDS})
        for name in ("heavy", "light"):
            self.assertEqual(sum(table.get(name, (0, 0, 0))[2] for table in found), ROUNDS)
        self.assertEqual(found[-1]["main"][3], 1)
        last = tables(self.watch("--since-start", "./busy", "5"))[-1]
        self.assertGreaterEqual(last["heavy"][1], last["leaf"][0] * 0.9)        # which it spends its time in
        self.assertLess(last["heavy"][0], last["heavy"][1])

    def test_order(self):
        for key, of in (("self", 0), ("total", 1), ("call", 3)):
            found = tables(self.watch("-s", key, "--since-start", "./busy", "12"))
            values = [row[of] for row in found[-1].values()]
            self.assertEqual(values, sorted(values, reverse=True), key)
        self.assertEqual(list(tables(self.watch("-s", "func", "--since-start", "./busy", "2"))[-1]),
                         ["heavy", "leaf", "light", "main"])
        self.assertEqual([len(table) for table in tables(self.watch("--rows=2", "./busy", "2"))][0], 2)

    def test_filters(self):
        found = tables(self.watch("-F", "light", "./busy", "3"))
        self.assertEqual(sum(table.get("light", (0, 0, 0))[2] for table in found), 3)
        self.assertNotIn("heavy", found[-1])

    def test_so_many_tables(self):
        """Then it runs on, unwatched."""
        self.assertEqual(len(tables(self.watch("-n", "1", "./busy", str(ROUNDS)))), 1)

    def test_into_a_file(self):
        self.assertEqual(self.watch("-o", "file", "./busy", "2"), "")
        with open("file", encoding="ascii") as file:
            self.assertEqual(tables(file.read())[-1]["light"][3], 2)
        self.assertIn("no/such", self.watch("-o", "no/such", "./busy", "2", status=125, output=""))

    def test_reader_that_goes(self):
        """The program runs to its end all the same."""
        done = subprocess.run(["bash", "-c", f"{{ '{FTR}' top ./busy 12 2>&1 >out; echo $? >status; }} | head -n 1"],
                              stdout=subprocess.PIPE, text=True, timeout=TIMEOUT, env=self.env, check=False)
        self.assertRegex(done.stdout, "^# ./busy: ")
        with open("out", encoding="ascii") as out, open("status", encoding="ascii") as status:
            self.assertEqual((out.read(), status.read()), (OUTPUT, "3\n"))
        self.assertEqual(os.listdir("tmp"), [])

    def test_interrupted(self):
        for signo in (signal.SIGINT, signal.SIGTERM):
            top = self.start_program(FTR, "top", "./busy", "0", env=self.env)
            self.assertEqual(top.stdout.readline(), "begins\n")
            top.stderr.readline()
            os.killpg(top.pid, signo)
            top.communicate(timeout=TIMEOUT)
            self.assertEqual(os.listdir("tmp"), [])

    def test_refused(self):
        for words, said in ((["-d", "x", "./busy"], "-d names no place"), ([], "ftr top -p PID"),
                            (["-n", "0", "./busy"], "too small"), (["-s", "size", "./busy"], "size"),
                            (["-A", "leaf@arg1", "./busy"], "top keep nothing but sums"),
                            (["--keep-pid", "./busy"], "nobody who shows")):
            self.assertIn(said, self.watch(*words, status=2, output=""))
        self.assertIn("not-there", self.watch("./not-there", status=127, output=""))


class Running(attaching.Test):
    @classmethod
    def set_up_class(cls):
        build("top_busy.c", "busy", "-pg", "-O1")

    def start(self):
        child = self.start_program("./busy")
        self.assertEqual(child.stdout.readline(), "begins\n")
        return child

    def end(self, child, before):
        self.assertEqual({key: value for key, value in attaching.code(child.pid).items() if key in before}, before)
        child.send_signal(signal.SIGTERM)
        output, _ = child.communicate(timeout=TIMEOUT)
        self.assertEqual((output, child.returncode), ("ends\n", 3))

    def test_left_as_it_was(self):
        child = self.start()
        before = attaching.code(child.pid)
        done = self.ftr("top", "--no-libcall", "--since-start", "-n", "2", "-p", str(child.pid))
        self.assertEqual(done.returncode, 0, done.stderr)
        found = tables(done.stdout)
        self.assertEqual(len(found), 2)
        self.assertGreater(found[-1]["leaf"][3], found[-1]["light"][3])
        self.wait_for(lambda: "TracerPid:\t0\n" in open(f"/proc/{child.pid}/status", encoding="ascii").read())
        self.end(child, before)

    def test_keys(self):
        """On a terminal it is drawn in place, and does what keys say."""
        child = self.start()
        before = attaching.code(child.pid)
        terminal, other = os.openpty()
        top = subprocess.Popen([FTR, "top", "--color=no", "--no-libcall", "-p", str(child.pid)], stdin=other,
                               stdout=other, stderr=subprocess.PIPE, process_group=0)
        os.close(other)
        text = ""

        def shown(what):
            nonlocal text
            end = time.monotonic() + TIMEOUT
            while what not in text and time.monotonic() < end:
                if select.select([terminal], [], [], 1)[0]:
                    text += os.read(terminal, 65536).decode()
            self.assertIn(what, text)
            text = text[text.index(what):]

        shown(", by self")
        os.write(terminal, b"s")
        shown(", by total")
        os.write(terminal, b"a")
        shown(", by total, all since the beginning")
        os.write(terminal, b"q")
        _, errors = top.communicate(timeout=TIMEOUT)
        self.assertEqual(top.returncode, 0, errors)
        os.close(terminal)
        self.end(child, before)


harness.main()
