#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""record -p: a program that runs is attached to, recorded and left as it was."""
import ctypes
import os
import re
import shutil
import signal
import subprocess
import sys
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../lib"))
import attaching
import harness
from attaching import FENTRY, code, mappings
from harness import FTR, IS_ROOT, build

BUILDS = {"pg": ["-pg"], "fentry": FENTRY, "cyg": ["-finstrument-functions"], "entries": ["-fpatchable-function-entry=5"], "plain": []}
ALL = ["busy", "epoll", "sleep", "poll", "semaphore", "signal", "mutex", "allocate", "create"]
CHURN = ["fork", "exec", "dlopen", "jump", "handle", "create", "busy"]
STEPS = [*range(1, 14), 17, 20, 30, 40, 60, 90, 130, 200, 300]      # requests of ptrace at which the recorder is killed
LOOPS = harness.storms(4, short=2)
PTRACE_SEIZE = 0x4206


class Attach(attaching.Test):
    @classmethod
    def set_up_class(cls):
        # Linked without -pg, which would have it send itself SIGPROF.
        for name, flags in BUILDS.items():
            build("attached.c", f"attached-{name}.o", "-O1", "-c", *flags)
            subprocess.run([*harness.CC, "-o", f"attached-{name}", f"attached-{name}.o", "-lpthread"], check=True)
        build("attach_wide.c", "wide", "-O1", *BUILDS["cyg"])
        build("attach_vfork.c", "vfork", "-O1", *BUILDS["cyg"], "-lpthread")
        build("attach_successor.c", "successor.o", "-O1", "-c", "-pg")
        subprocess.run([*harness.CC, "-o", "successor", "successor.o", "-lpthread"], check=True)
        build("attached.c", "attached-static", "-O1", "-static")
        build("attach_fault.c", "fault.so", "-shared", "-fPIC")

    def start(self, name, *words):
        child = self.start_program(f"./attached-{name}", *words)
        self.assertEqual(child.stdout.readline(), "ready\n")
        return child

    def end(self, child):
        """It was not harmed."""
        self.assertIsNone(child.poll())
        child.send_signal(signal.SIGTERM)
        output, _ = child.communicate(timeout=harness.TIMEOUT)
        self.assertEqual((output, child.returncode), ("eintr 0 wrong 0\n", 0))

    def record_at_signal(self, child):
        """The recorder of a program that calls nothing until SIGUSR1, and has done so."""
        self.assertEqual(child.stdout.readline(), "ready\n")
        recorder = self.start_program(FTR, "record", "-p", str(child.pid), "-d", "data")
        self.wait_for(lambda: recorder.poll() is not None or self.has_begun("data"))
        harness.pause(0.3)      # until its tables are hooked
        child.send_signal(signal.SIGUSR1)
        self.assertEqual(child.stdout.readline(), "done\n")
        self.wait_for(lambda: self.has_calls("data"))
        return recorder

    def test_successor(self):
        """Calls of a dead thread, and those of one that has its stack: the newest are put back."""
        child = self.start_program("./successor")
        self.assertNotIn("warning", self.leave(self.record_at_signal(child)))
        child.send_signal(signal.SIGTERM)
        output, _ = child.communicate(timeout=harness.TIMEOUT)
        self.assertEqual((output, child.returncode), ("wrong 0\n", 0))
        self.assertEqual(self.calls("first"), 1)

    def test_child_of_vfork(self):
        """One that was there before has its parent's thread-local storage: it is not recorded, and its parent is."""
        child = self.start_program("./vfork")
        recorder = self.record_at_signal(child)
        threads = set(os.listdir(f"/proc/{child.pid}/task"))
        self.assertNotIn("warning", self.leave(recorder))
        self.leave(self.attach(child.pid, data="again"))
        child.send_signal(signal.SIGTERM)
        output, _ = child.communicate(timeout=harness.TIMEOUT)
        self.assertEqual((output, child.returncode), ("wrong 0\n", 0))
        self.assertEqual(self.calls("child_call"), 0)
        self.assertGreater(self.calls("parent_call"), 0)
        with open("data/task.txt", encoding="ascii") as file:
            self.assertLessEqual(set(re.findall(r"\btid=(\d+)", file.read())), threads)

    def test_wide_registers(self):
        """All of the vector registers are the program's, while it is borrowed and if its borrower is killed."""
        child = self.start_program("./wide")
        if child.stdout.readline() == "none\n":
            self.skipTest("the machine has no wide vector registers")
        for i in range(LOOPS):
            recorder = self.start_program(FTR, "record", "-p", str(child.pid), "-d", f"killed{i}", "--max-size=100M")
            time.sleep(0.1 * i)
            recorder.kill()
            recorder.wait()
            self.leave(self.attach(child.pid, data=f"data{i}"))
            self.assertGreater(self.calls("traced", f"data{i}"), 0)
        child.send_signal(signal.SIGTERM)
        output, _ = child.communicate(timeout=harness.TIMEOUT)
        self.assertEqual((output, child.returncode), ("wrong 0\n", 0))

    @staticmethod
    def has_begun(data):
        return os.path.exists(f"{data}/task.txt") and os.path.getsize(f"{data}/task.txt") > 0

    def test_every_instrumentation(self):
        for name in BUILDS:
            with self.subTest(name):
                data = f"data-{name}"
                child = self.start(name, *ALL)
                before = code(child.pid)
                errors = self.leave(self.attach(child.pid, data=data))
                self.assertRegex(errors, r"attached: one thread was kept for [\d.]+ ms")
                self.assertRegex(errors, r"left: .* all \d+ were stopped for at most [\d.]+ ms")
                self.assertEqual({key: value for key, value in code(child.pid).items() if key in before}, before)
                self.assertGreater(self.calls("nanosleep" if name == "plain" else "fib", data), 0)
                info = self.ftr("info", "-d", data).stdout
                self.assertIn(f"./attached-{name} {' '.join(ALL)}", info)
                self.assertEqual(self.replayed(data), 0)
                self.end(child)

    def test_again_and_again(self):
        child = self.start("fentry", *ALL, *CHURN)
        counts = set()
        for i in range(LOOPS):
            self.leave(self.attach(child.pid, data=f"data{i}"))
            self.assertGreater(self.calls("fib", f"data{i}"), 0)
            counts.add(sum("libmcount" in words[-1] for words in mappings(child.pid)))
        self.assertEqual(len(counts), 1)
        self.end(child)

    def test_nothing_stays_mapped(self):
        """The first recorder leaves the library, and some pages of it: the next ones take their places."""
        child = self.start("fentry", "sleep", "epoll")
        sizes = []
        for i in range(LOOPS):
            self.leave(self.attach(child.pid, data=f"data{i}"))
            ranges = [[int(address, 16) for address in words[0].split("-")] for words in mappings(child.pid)]
            sizes.append(sum(end - start for start, end in ranges))     # neighbours may be one mapping, or two
        self.assertEqual(sizes, sizes[:1] * LOOPS)
        self.end(child)

    def test_program_that_changes(self):
        """It forks, execs, loads libraries, starts threads, jumps, and handles signals meanwhile."""
        for name in ("pg", "cyg"):
            child = self.start(name, *CHURN)
            self.leave(self.attach(child.pid, data=f"data-{name}"))
            self.assertGreater(self.calls("fib", f"data-{name}"), 0)
            self.end(child)

    def test_exceptions(self):
        """Nobody is left while an unwinder reads return addresses."""
        for name, flags in {"fentry": FENTRY, "plain": []}.items():
            build("attach_throw.cc", "throw.o", "-O1", "-c", *flags)
            subprocess.run([*harness.CXX, "-o", f"throw-{name}", "throw.o", "-lpthread"], check=True)
            child = self.start_program(f"./throw-{name}")
            self.assertEqual(child.stdout.readline(), "ready\n")
            before = code(child.pid)
            for i in range(2 * LOOPS):
                errors = self.leave(self.attach(child.pid, data=f"data-{name}-{i}"))
                self.assertNotIn("will return through", errors)
                self.assertIsNone(child.poll())
            self.assertEqual({key: value for key, value in code(child.pid).items() if key in before}, before)
            child.send_signal(signal.SIGTERM)
            output, _ = child.communicate(timeout=harness.TIMEOUT)
            self.assertEqual((output, child.returncode), ("wrong 0\n", 0))

    def runtime_put(self):
        """Another file, as an upgrade does."""
        os.makedirs("lib", exist_ok=True)
        shutil.copy(os.path.join(os.path.dirname(os.path.abspath(FTR)), "libmcount.so"), "lib/new.so")
        os.rename("lib/new.so", "lib/libmcount.so")

    def test_runtime_is_replaced(self):
        child = self.start("fentry", *ALL)
        self.runtime_put()
        recorder = self.attach(child.pid, "--libmcount-path", "lib")
        self.runtime_put()
        self.assertRegex(self.leave(recorder), r"cannot be left as it was: .*lib/libmcount.so, which was replaced .*start the program anew")
        again = self.ftr("record", "-p", str(child.pid), "-d", "again", "--libmcount-path", "lib")
        self.assertEqual(again.returncode, 125)
        self.assertRegex(again.stderr, r"loaded another .*lib/libmcount.so, which was replaced .*start the program anew")
        self.end(child)

    def test_signal_that_is_waited_for(self):
        child = self.start("fentry", "suspend", "busy")
        for i in range(LOOPS):
            self.leave(self.attach(child.pid, data=f"data{i}"))
        self.assertIsNone(child.poll())
        child.send_signal(signal.SIGTERM)
        output, _ = child.communicate(timeout=harness.TIMEOUT)
        self.assertIn(" wrong 0\n", output)

    def test_recorder_is_killed(self):
        child = self.start("fentry", *ALL)
        before = code(child.pid)
        recorder = self.attach(child.pid)
        recorder.kill()
        recorder.communicate()
        time.sleep(0.1)
        self.assertIsNone(child.poll())
        self.leave(self.attach(child.pid, data="again"))
        self.assertGreater(self.calls("fib", "again"), 0)
        self.assertEqual({key: value for key, value in code(child.pid).items() if key in before}, before)
        self.end(child)

    def kill_at(self, pid, step, is_leaving):
        data, start = f"data-{is_leaving}-{step}", f"{self.dir}/from-{is_leaving}-{step}"
        environment = dict(os.environ, ASAN_OPTIONS=harness.ASAN_BEHIND, LD_PRELOAD=f"{self.dir}/fault.so",
                           FTR_TEST_STEP=str(step), FTR_TEST_FROM=start)
        if not is_leaving:
            open(start, "w", encoding="ascii").close()
        recorder = self.start_program(FTR, "record", "-p", str(pid), "-d", data, env=environment)
        self.wait_for(lambda: recorder.poll() is not None or "SESS" in open(f"{data}/task.txt", encoding="ascii").read())
        is_over = recorder.poll() is None
        if is_over:
            open(start, "w", encoding="ascii").close()
            recorder.send_signal(signal.SIGINT)
        recorder.communicate(timeout=harness.TIMEOUT)
        self.wait_for(lambda: "TracerPid:\t0\n" in open(f"/proc/{pid}/status", encoding="ascii").read())

    def test_killed_at_each_step(self):
        child = self.start("fentry", "sleep", "epoll")
        for is_leaving, steps in ((False, STEPS), (True, STEPS[1::3])):
            for step in steps:
                self.kill_at(child.pid, step, is_leaving)
                self.assertIsNone(child.poll(), f"step {step}")
        self.leave(self.attach(child.pid, data="again"))
        self.assertGreater(self.calls("fib", "again"), 0)
        self.assertIsNone(child.poll())
        child.send_signal(signal.SIGTERM)
        output, _ = child.communicate(timeout=harness.TIMEOUT)
        self.assertIn(" wrong 0\n", output)

    def test_the_recording_ends_first(self):
        child = self.start("fentry", "busy")
        recorder = self.attach(child.pid, "--max-size=64K")
        _, errors = recorder.communicate(timeout=harness.TIMEOUT)
        self.assertEqual(recorder.returncode, 0, errors)
        self.assertIn("recording ends here", errors)
        self.end(child)

    def test_the_program_ends_first(self):
        child = self.start("fentry", "busy", "sleep")
        recorder = self.attach(child.pid)
        self.end(child)
        _, errors = recorder.communicate(timeout=harness.TIMEOUT)
        self.assertGreater(self.calls("fib"), 0, errors)

    def test_live(self):
        child = self.start("fentry", "sleep")
        recorder = self.start_program(FTR, "live", "-p", str(child.pid), "-d", "data")
        self.wait_for(lambda: self.has_calls("data"))
        recorder.send_signal(signal.SIGINT)
        output, errors = recorder.communicate(timeout=harness.TIMEOUT)
        self.assertIn("fib", output, errors)
        self.end(child)

    def refused(self, pid, text, *options, words=(), **run):
        done = self.ftr("record", "-p", str(pid), "-d", "refused", *options, *words, **run)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn(text, done.stderr)
        self.assertFalse(os.path.exists("refused"))

    def test_refusals(self):
        child = self.start("fentry", "sleep")
        self.refused(999999999, "there is no process 999999999")
        thread = max(int(name) for name in os.listdir(f"/proc/{child.pid}/task"))
        self.refused(thread, f"{thread} is a thread; attach to its process, {child.pid}")
        self.refused(child.pid, "name no other", words=["./attached-pg"])
        self.refused(child.pid, "-p excludes", "--keep-pid")
        self.refused(child.pid, "-p excludes", "--probe=memory")
        static = self.start("static", "sleep")
        self.refused(static.pid, "is linked statically")
        filtered = self.start("fentry", "seccomp", "sleep")
        self.refused(filtered.pid, "has a seccomp filter")
        for other in (child, static, filtered):
            self.end(other)

    def test_all_processes(self):
        """Of a tree, each with its name; one that cannot be attached to is named, and the others are recorded."""
        with open("tree.sh", "w", encoding="ascii") as file:
            file.write("./attached-pg sleep & ./attached-static sleep &\n"
                       "sh -c './attached-fentry sleep poll & ./attached-cyg mutex & wait' &\nwait; echo ends\n")
        root = self.start_program("sh", "tree.sh")
        for _ in range(4):
            self.assertEqual(root.stdout.readline(), "ready\n")
        tree = harness.descendants()
        names = {pid: open(f"/proc/{pid}/comm", encoding="ascii").read().strip() for pid in tree}
        children = {name: pid for pid, name in names.items() if name.startswith("attached")}
        self.assertEqual(len(children), 4)
        before = {pid: code(pid) for pid in tree}
        recorder = self.start_program(FTR, "record", "-v", "-p", str(root.pid), "--all", "-d", "data", "--no-libcall")
        traced = {name: pid for name, pid in children.items() if name != "attached-static"}
        self.wait_for(lambda: recorder.poll() is not None or
                      all(os.path.getsize(f"data/{pid}.dat") > 0 for pid in traced.values()))
        errors = self.leave(recorder)
        self.assertRegex(errors, rf"warning: process {children['attached-static']} is not recorded: .*statically")
        for pid, was in before.items():
            self.assertEqual({key: value for key, value in code(pid).items() if key in was}, was)
        report = self.ftr("report", "-d", "data", "--task", "--no-event", "--no-pager")
        self.assertEqual(report.stderr, "")
        for name, pid in traced.items():
            self.assertRegex(report.stdout, rf"(?m) {pid} +\d+  {name[:15]} *$")
        graph = self.ftr("graph", "-d", "data", "--task", "--no-event", "--no-pager").stdout
        self.assertEqual([int(word) for word in re.findall(r"\[ *(\d+)\]", graph) if int(word) == root.pid], [root.pid])
        for pid in children.values():
            os.kill(pid, signal.SIGTERM)
        output, _ = root.communicate(timeout=harness.TIMEOUT)
        self.assertEqual(output, 4 * "eintr 0 wrong 0\n" + "ends\n")
        self.assertIn("name it with -p PID", self.ftr("record", "--all", "-d", "none", "true").stderr)

    def test_traced_already(self):
        child = self.start("fentry", "sleep")
        tracer = os.fork()
        if tracer == 0:
            ctypes.CDLL(None).ptrace(PTRACE_SEIZE, child.pid, None, None)
            time.sleep(harness.TIMEOUT)
            os._exit(0)
        self.wait_for(lambda: f"TracerPid:\t{tracer}\n" in open(f"/proc/{child.pid}/status", encoding="ascii"))
        self.refused(child.pid, f"is traced by process {tracer} already")
        os.kill(tracer, signal.SIGKILL)
        os.waitpid(tracer, 0)
        self.end(child)

    def test_started_by_ftr(self):
        launched = self.start_program(FTR, "record", "-d", "outer", "./attached-fentry", "sleep")
        self.assertEqual(launched.stdout.readline(), "ready\n")
        pid = int(self.run_program("pgrep", "-P", str(launched.pid)).stdout.split()[0])
        self.refused(pid, "was started by ftr")
        os.kill(pid, signal.SIGTERM)
        launched.communicate(timeout=harness.TIMEOUT)

    def test_recorded_already(self):
        """The first recording goes on, and the program can be recorded again when it has ended."""
        child = self.start("fentry", "sleep", "epoll", "mutex")      # a busy one fills a file up to the limit of tests
        recorder = self.attach(child.pid, data="first")
        self.refused(child.pid, "another ftr records it")
        before = self.calls("fib", "first")
        self.wait_for(lambda: self.calls("fib", "first") > before)
        self.leave(recorder)
        self.leave(self.attach(child.pid, data="second"))
        self.end(child)

    @unittest.skipUnless(IS_ROOT, "needs another user")
    def test_another_user(self):
        child = self.start("fentry", "sleep")
        done = self.run_program("setpriv", "--reuid=65534", "--clear-groups", FTR, "record", "-p", str(child.pid),
                                "-d", "/nonexistent/data")
        self.assertIn("may not be traced", done.stderr)
        self.end(child)

    @unittest.skipUnless(IS_ROOT, "needs another user")
    def test_program_of_another_user(self):
        child = self.start_program("setpriv", "--reuid=65534", "--clear-groups", "./attached-fentry", "sleep")
        self.assertEqual(child.stdout.readline(), "ready\n")
        self.leave(self.attach(child.pid))
        self.assertGreater(self.calls("fib"), 0)
        self.end(child)


harness.main()
