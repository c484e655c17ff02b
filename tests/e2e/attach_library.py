#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""record -p: libraries that the program opens while it is recorded are recorded, too, and left as they were."""
import itertools
import os
import random
import shutil
import signal
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../lib"))
import attaching
import harness
from attaching import code, mappings
from harness import build

KINDS = {"pg": ["-pg"], "entries": ["-fpatchable-function-entry=5"], "cyg": ["-finstrument-functions"],
         "plain": attaching.NO_LANDING}
CALLS = {"sym": "dlsym", "version": "dlvsym", "table": "nothing but dlopen"}
ROUNDS = harness.storms(4, short=2)


class AttachLibrary(attaching.Test):
    @classmethod
    def set_up_class(cls):
        with open("version.map", "w", encoding="ascii") as file:
            file.write("ONE { library_call; };\n")
        for kind, flags in KINDS.items():
            build("attach_library.c", f"lib{kind}.so", "-O1", "-shared", "-fPIC", "-DSTORES", *flags,
                  f"-Wl,--version-script={os.getcwd()}/version.map", compiler=["gcc"])
            for option, flag in (("norelro", "-Wl,-z,norelro"), ("symbolic", "-Wl,-Bsymbolic")):
                build("attach_library.c", f"lib{kind}-{option}.so", "-O1", "-shared", "-fPIC", *flags, flag, compiler=["gcc"])
            build("attach_library.c", f"lib{kind}-begins.so", "-O1", "-shared", "-fPIC", "-DBEGINS", *flags, compiler=["gcc"])
        build("attach_library.c", "libwaits.so", "-O1", "-shared", "-fPIC", "-pg", "-DWAITS", compiler=["gcc"])
        build("attach_opener.c", "opener", "-O1", "-rdynamic", "-ldl")
        build("attach_storm.c", "storm", "-O1", "-rdynamic", "-ldl")

    def kinds(self):
        without = "without a decoder" in self.ftr("record", "-d", "probe", "-P", ".", "true").stderr
        return [kind for kind in KINDS if kind != "plain" or not without]

    def start(self, kind, how, threads=2):
        child = self.start_program("./opener", f"./lib{kind}.so", how, str(threads))
        self.assertEqual(child.stdout.readline(), "ready\n")
        return child

    def ask(self, child, answer):
        child.send_signal(signal.SIGUSR1)
        self.assertEqual(child.stdout.readline(), answer + "\n")

    def end(self, child, errors=""):
        self.assertIsNone(child.poll())
        child.send_signal(signal.SIGTERM)
        output, said = child.communicate(timeout=harness.TIMEOUT)
        self.assertEqual((output.splitlines()[-1], said, child.returncode), ("wrong 0", errors, 0))

    def record(self, child, kind, data="data"):
        """The program itself is not patched but for what opens the library, so that only that and the library's are recorded."""
        before = code(child.pid)
        recorder = self.start_program(harness.FTR, "record", "-v", "-p", str(child.pid), "-d", data, "--no-libcall",
                                      "-P", "^library_open$", "-P", f"^library_.*@lib{kind}.so")
        self.wait_for(lambda: recorder.poll() is not None or self.is_attached(child.pid, data))
        end = time.monotonic() + harness.SLOWNESS       # one that follows a killed one may find all as it wants it
        while code(child.pid) == before and time.monotonic() < end:
            time.sleep(0.05)
        return recorder

    @staticmethod
    def is_attached(pid, data):
        """It says what it has done when it ends; but once it is loaded it asks, and is hooked some ms later."""
        if not os.path.exists(f"{data}/task.txt") or not any("libmcount" in words[-1] for words in mappings(pid)):
            return False
        with open(f"{data}/task.txt", encoding="ascii") as file:
            is_there = "SESS" in file.read()
        harness.pause(0.3)
        return is_there

    def library_code(self, pid, kind):
        return [text for (path, _), text in code(pid).items() if path.endswith(f"/lib{kind}.so")]

    def own_code(self, kind):
        """That of the library where nobody traces it."""
        child = self.start(kind, "sym", 0)
        self.ask(child, "opened")
        found = self.library_code(child.pid, kind)
        self.end(child)
        self.assertEqual(len(found), 1)
        return found

    def calls_are_there(self, data="data"):
        self.wait_for(lambda: self.calls("library_call", data) > 0)

    def test_every_kind(self):
        expected = {kind: self.own_code(kind) for kind in self.kinds()}
        for kind, how in harness.few(itertools.product(expected, CALLS), short=5):
            with self.subTest(f"{kind}: {CALLS[how]}"):
                data = f"data-{kind}-{how}"
                child = self.start(kind, how)
                before = code(child.pid)
                recorder = self.record(child, kind, data)
                self.ask(child, "opened")
                self.calls_are_there(data)
                self.leave(recorder)
                self.assertEqual(self.calls("library_open", data), 1)
                self.assertAlmostEqual(self.calls("library_inner", data) / self.calls("library_call", data), 2, 0)
                self.assertEqual(self.library_code(child.pid, kind), expected[kind])
                self.assertEqual({key: text for key, text in code(child.pid).items() if key in before}, before)
                self.end(child)

    def test_constructors(self):
        """What a library calls before dlopen returns, each time that it is opened; it is left as it was, too."""
        for kind in self.kinds():
            with self.subTest(kind):
                data, name = f"begins-{kind}", f"{kind}-begins"
                child = self.start(name, "sym", 0)
                recorder = self.record(child, name, data)
                for _ in range(ROUNDS):
                    self.ask(child, "opened")
                    self.ask(child, "closed")
                self.ask(child, "opened")
                self.assertNotIn("warning", self.leave(recorder))
                self.assertEqual(self.calls("library_begin", data), ROUNDS + 1)
                self.assertGreater(self.calls("library_call", data), ROUNDS)     # the program calls it, too
                self.assertEqual(self.library_code(child.pid, name), self.own_code(name))
                self.ask(child, "closed")
                self.ask(child, "opened")
                self.end(child)

    def test_opened_again_and_again(self):
        """In its old place or another one; the last time it stays open, and is left as it was."""
        for kind in self.kinds():
            with self.subTest(kind):
                data = f"again-{kind}"
                child = self.start(kind, "sym")
                recorder = self.record(child, kind, data)
                for _ in range(ROUNDS):
                    self.ask(child, "opened")
                    time.sleep(random.uniform(0, 0.1))
                    self.ask(child, "closed")
                self.ask(child, "opened")
                self.calls_are_there(data)
                self.leave(recorder)
                self.assertEqual(self.calls("library_open", data), ROUNDS + 1)
                self.assertEqual(self.library_code(child.pid, kind), self.own_code(kind))
                self.ask(child, "closed")
                self.ask(child, "opened")
                self.end(child)

    def test_recorder_is_killed(self):
        """The next one puts back what was patched in the library, too."""
        for kind in self.kinds():
            with self.subTest(kind):
                child = self.start(kind, "sym")
                recorder = self.record(child, kind, f"killed-{kind}")
                self.ask(child, "opened")
                time.sleep(random.uniform(0, 0.1))
                recorder.kill()
                recorder.communicate()
                recorder = self.record(child, kind, f"next-{kind}")
                self.calls_are_there(f"next-{kind}")
                self.leave(recorder)
                self.assertEqual(self.library_code(child.pid, kind), self.own_code(kind))
                self.end(child)

    def test_killed_while_a_thread_attaches(self):
        """It finishes by itself what it was made to do, which the next recorder waits for."""
        child = self.start("waits", "sym")
        self.leave(self.record(child, "waits", "first"))
        self.ask(child, "waiting")
        recorder = self.start_program(harness.FTR, "record", "-p", str(child.pid), "-d", "killed", "-P", "^library_")
        harness.pause(0.7)     # until its thread waits for the dynamic linker
        self.assertIsNone(recorder.poll())
        recorder.kill()
        recorder.communicate()
        recorder = self.record(child, "waits")
        self.assertEqual(child.stdout.readline(), "opened\n")
        self.calls_are_there()
        self.assertNotIn("warning", self.leave(recorder))
        self.end(child)

    def test_left_while_it_opens(self):
        for kind in self.kinds():
            with self.subTest(kind):
                child = self.start(kind, "sym", 1)
                for i in range(ROUNDS):
                    recorder = self.record(child, kind, f"left-{kind}-{i}")
                    child.send_signal(signal.SIGUSR1)
                    time.sleep(random.uniform(0, 0.01))
                    self.leave(recorder)
                    child.stdout.readline()
                    self.ask(child, "closed")
                self.ask(child, "opened")
                self.assertEqual(self.library_code(child.pid, kind), self.own_code(kind))
                self.end(child)

    def test_storm(self):
        """One library comes to lie where another one was, attached to or not, left or killed at any moment."""
        paths = [f"./lib{kind}{option}.so" for kind in self.kinds() for option in ("", "-norelro", "-symbolic")]
        child = self.start_program("./storm", *paths)
        self.assertEqual(child.stdout.readline(), "ready\n")
        for i in range(2 * ROUNDS):
            data = f"storm-{i}"
            recorder = self.start_program(harness.FTR, "record", "-p", str(child.pid), "-d", data, "--no-event", "-P",
                                          "^library_.*@libplain" if i % 2 else "^library_use$", "--max-size=200M")
            self.wait_for(lambda: recorder.poll() is not None or os.path.exists(f"{data}/task.txt"))
            time.sleep(random.uniform(0, 0.4))
            recorder.send_signal(signal.SIGKILL if i % 3 == 2 else signal.SIGINT)
            _, said = recorder.communicate(timeout=harness.TIMEOUT)
            for reason in ("not what the file has", "refuses access"):      # it was unmapped meanwhile
                self.assertNotIn(reason, said)
            self.assertIsNone(child.poll())
            shutil.rmtree(data, ignore_errors=True)
        self.end(child)

    def test_that_is_not_there(self):
        """dlerror tells so, as ever."""
        child = self.start("missing", "sym", 0)
        recorder = self.start_program(harness.FTR, "record", "-p", str(child.pid), "-d", "data", "-P", "^library_open$")
        self.wait_for(lambda: recorder.poll() is not None or self.is_attached(child.pid, "data"))
        self.ask(child, "closed")
        self.leave(recorder)
        child.send_signal(signal.SIGTERM)
        output, errors = child.communicate(timeout=harness.TIMEOUT)
        self.assertEqual((output, errors), ("wrong 1\n", "./libmissing.so: cannot open shared object file: "
                                            "No such file or directory\n"))


harness.main()
