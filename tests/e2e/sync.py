# SPDX-License-Identifier: MIT
"""Where threads wait for each other: record --probe=sync, and what reads its events."""
import collections
import errno
import glob
import os
import re
import shutil
import subprocess

from recording import CXX, FTR, TIMEOUT, AsNative, harness

import swap_made

Wait = collections.namedtuple("Wait", "kind object caller result")

PROGRAMS = (
    ("python3", "-c", "import threading as t; b = t.Barrier(3); ts = [t.Thread(target=b.wait) for i in range(3)];"
     "[x.start() for x in ts]; [x.join() for x in ts]; print(b.broken)"),
    ("xz", "-T2", "-c", "/bin/bash"), ("sort", "--parallel=2", "/etc/services"), ("git", "--version"), ("ls", "/"),
)


class SyncTest(AsNative):
    def output(self, *words):
        done = subprocess.run([FTR, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                              timeout=TIMEOUT, check=False)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout

    def waits(self, path="d", may_wait=False):
        """All waits, each with its end, by task in order; a program may end while a thread waits."""
        tid, found, begun = 0, [], {}
        for line in self.output("dump", "-d", path).splitlines():
            start = re.match(r"[\d.]+ +(\d+): \[event\] sync:", line)
            if start:
                tid = int(start.group(1))
            match = re.match(r"  sync:([\w-]+)-(wait|done): (.*)", line)
            if match is None:
                continue
            values = dict(word.split("=", 1) for word in match.group(3).split(", "))
            if match.group(2) == "wait":
                self.assertNotIn(tid, begun)
                begun[tid] = (match.group(1), values["object"], re.sub(r"^&(\w+)\+.*", r"\1", values["caller"]))
            else:
                kind, thing, caller = begun.pop(tid)
                self.assertEqual((kind, thing), (match.group(1), values["object"]))
                found.append(Wait(kind, thing, caller, int(values["result"])))
        self.assertTrue(may_wait or not begun, begun)
        return found

    # What each function of the program waits for, with what the wait answers.  A barrier answers one of two with -1.
    EACH = {
        "wait_mutex": [("mutex", 0)], "wait_read": [("rwlock-read", 0)], "wait_write": [("rwlock-write", 0)],
        "wait_sem": [("sem", 0)], "wait_cond": [("cond", 0)], "wait_barrier": [("barrier", -1), ("barrier", 0)],
        "wait_join": 9 * [("join", 0)], "cancelled_cond": [("cond", errno.ECANCELED)],
        "cancelled_sem": [("sem", errno.ECANCELED)],
        "timeouts": [("mutex", errno.EDEADLK), ("mutex", errno.ETIMEDOUT), ("cond", errno.ETIMEDOUT),
                     ("sem", errno.ETIMEDOUT), ("mutex", errno.ETIMEDOUT), ("cond", errno.ETIMEDOUT)],
    }

    def test_each(self):
        for flags in ([], ["-pg"], ["-finstrument-functions"], ["-no-pie", "-O0"]):
            self.compile("waits", "sync_waits.c", *flags)
            for libcalls in ([], ["--no-libcall"], ["--nest-libcall"]):
                with self.subTest(flags=flags, libcalls=libcalls):
                    self.same_as_native(["--no-event", "--probe=sync", *libcalls], "./waits")
                    found = collections.defaultdict(list)
                    for wait in self.waits():
                        found[wait.caller].append((wait.kind, wait.result))
                    found["wait_barrier"].sort()
                    self.assertEqual(dict(found), self.EACH)

    def test_free(self):
        """What is taken at once is no event."""
        self.compile("waits", "sync_waits.c", "-pg")
        self.same_as_native(["--no-event", "--probe=sync"], "./waits", "free")
        self.assertEqual(self.waits(), [])

    def test_off(self):
        self.compile("maps", "memory_maps.c")
        for options, wanted in ((["--probe=memory"], "1 \n"), (["--probe=sync"], "0 \n"), (["--probe=sync,memory"], "1 \n")):
            done = subprocess.run([FTR, "record", "-d", "d", *options, "./maps"], stdout=subprocess.PIPE, text=True,
                                  timeout=TIMEOUT, check=False)
            self.assertEqual((done.returncode, done.stdout), (0, wanted))

    def test_storm(self):
        for flags in ([], ["-pg"]):
            self.compile("storm", "sync_storm.cc", "-std=c++17", *flags, compiler=CXX)
            for options in ([], ["--probe=memory"], ["-F", "main"] if flags else ["--nest-libcall"]):
                self.same_as_native(["--no-event", "--probe=sync", *options], "./storm")
                waits = self.waits()
                self.assertEqual(sum(wait.kind == "join" for wait in waits), 9)
                self.assertEqual({wait.result for wait in waits}, {0})
                shutil.rmtree("d")

    def test_sums(self):
        """How long, in replay and report."""
        self.compile("waits", "sync_waits.c", "-pg")
        self.same_as_native(["--no-event", "--probe=sync"], "./waits")
        replay = self.output("replay", "-d", "d", "--no-pager", "--no-libcall")
        self.assertRegex(replay, r"\d [mu]s \[ *\d+\] \| +/\* sync:mutex-done \(object=0x[0-9a-f]+, result=0\) \*/\n")
        rows = {line.split()[-1]: line.split() for line in
                self.output("report", "-d", "d", "--no-pager", "--by=event").splitlines()[2:]}
        self.assertEqual((rows["sync:mutex-wait"][0], rows["sync:mutex-done"][-2]), ("4", "4"))
        self.assertEqual(len(rows["sync:mutex-done"]), 10)

    def test_by_lock(self):
        self.compile("waits", "sync_waits.c", "-pg")
        self.same_as_native(["--no-event", "--probe=sync"], "./waits")
        rows = re.findall(r"(?m) +(\d+)  ([\w-]+) 0x[0-9a-f]+ in (\w+)$", self.output("report", "-d", "d", "--no-pager", "--by=lock"))
        found = collections.Counter()
        for calls, kind, caller in rows:
            found[caller, kind] += int(calls)
        wanted = collections.Counter((caller, kind) for caller, waits in self.EACH.items() for kind, result in waits)
        self.assertEqual(found, wanted)
        self.same_as_native(["--no-event"], "./waits", "free")
        done = self.ftr("report", "-d", "d", "--by=lock")
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertIn("record them with ftr record --probe=sync", done.stderr)

    def test_converted(self):
        self.compile("waits", "sync_waits.c", "-pg")
        self.same_as_native(["--no-event", "--probe=sync"], "./waits")
        wanted = self.waits()
        self.output("convert", "d", "x.fxt")
        self.output("dump", "--format=swap", "-o", "x.swap", "-d", "d")
        for source in ("d", "x.fxt", "x.swap"):
            shutil.rmtree("made", ignore_errors=True)
            self.output("convert", source, "made")
            self.assertEqual(self.waits("made"), wanted)
            self.assertGreater(len(glob.glob("made/*.event")), 1)
            if shutil.which("uftrace"):
                subprocess.run(["uftrace", "replay", "--no-pager", "-d", "made"], stdout=subprocess.DEVNULL,
                               timeout=TIMEOUT, check=True)

    # Of each kind of wait: the message, of what type its object is, and the number of its begin.
    MESSAGES = {"mutex": (0x0110, 3, 1), "rwlock-read": (0x0110, 5, 1), "rwlock-write": (0x0110, 5, 1), "cond": (0x0110, 4, 5),
                "barrier": (0x0110, 7, 1), "sem": (0x0110, 2, 1), "join": (0x0108, 0, 4)}

    def test_messages(self):
        """A wait is two messages of SWAP, by the tables alone."""
        self.compile("waits", "sync_waits.c", "-pg")
        self.same_as_native(["--no-event", "--probe=sync"], "./waits")
        self.output("dump", "--format=swap", "-o", "x.swap", "-d", "d")
        with open("x.swap", "rb") as stream, open("x.swap.side", encoding="utf-8") as side:
            numbers = dict(line.split() for line in side if line.startswith(("cpus\t", "devices\t")))
            found = list(swap_made.messages(stream.read(), int(numbers["cpus"]), int(numbers["devices"])))
        begun, ended = {}, []
        for ident, _, _, values in found:
            if ident not in (0x0108, 0x0110):
                continue
            thing, kind = values.get("object", values.get("pthread")), values.get("sync_type", values.get("thread_type"))
            self.assertEqual((values["args"], values["return"][0]), ([], "x"))
            if values["tid"] not in begun:
                begun[values["tid"]] = (ident, kind, values["api_type"], values["api"], thing)
                self.assertEqual((values["return"][1], values["caller"] != 0), (0, True))
            else:
                row = begun.pop(values["tid"])
                self.assertEqual((ident, kind, values["api_type"] - 1, values["api"], thing), row)
                ended.append((*row[:3], hex(thing), values["return"][1]))
        self.assertEqual(begun, {})
        self.assertEqual(sorted(ended), sorted((*self.MESSAGES[wait.kind], wait.object, wait.result) for wait in self.waits()))

    def test_programs(self):
        with open(FTR, "rb") as file:
            if b"__asan_init" in file.read():
                self.skipTest("programs of others do not bear AddressSanitizer's libraries")
        for program in PROGRAMS:
            if shutil.which(program[0]) is None:
                continue
            with self.subTest(program=program):
                self.binary_as_native(program)

    def binary_as_native(self, program):
        runs = [subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=2 * TIMEOUT, check=False)
                for command in (program, [FTR, "record", "-d", "d", "--no-event", "--force", "--probe=sync", *program])]
        self.assertEqual((runs[1].returncode, runs[1].stdout), (runs[0].returncode, runs[0].stdout), runs[1].stderr)
        self.waits(may_wait=True)


if __name__ == "__main__":
    harness.main()
