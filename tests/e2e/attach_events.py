#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""record -p: the kernel's events and samples of a program that runs, of all threads that it has and makes."""
import os
import re
import signal
import subprocess
import sys
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../lib"))
import attaching
import harness
import tracefs
from harness import FTR, build

SECONDS = 0.5


def threads(pid):
    return sorted(int(name) for name in os.listdir(f"/proc/{pid}/task"))


def switches(pid):
    """{thread: how often it has waited}"""
    found = {}
    for tid in threads(pid):
        try:
            with open(f"/proc/{pid}/task/{tid}/status", encoding="ascii") as file:
                found[tid] = int(re.search(r"^voluntary_ctxt_switches:\s*(\d+)", file.read(), re.M)[1])
        except OSError:         # it has ended
            pass
    return found


def cpu_ms(pid):
    with open(f"/proc/{pid}/stat", encoding="ascii") as file:
        words = file.read().rpartition(") ")[2].split()
    return (int(words[11]) + int(words[12])) * 1000 / os.sysconf("SC_CLK_TCK")


class AttachEvents(attaching.Test):
    @classmethod
    def set_up_class(cls):
        build("attached.c", "attached.o", "-O1", "-c", "-pg")
        subprocess.run([*harness.CC, "-o", "attached", "attached.o", "-lpthread"], check=True)

    def start(self, *words):
        child = self.start_program("./attached", *words)
        self.assertEqual(child.stdout.readline(), "ready\n")
        return child

    def end(self, child):
        self.assertIsNone(child.poll())
        child.send_signal(signal.SIGTERM)
        output, _ = child.communicate(timeout=harness.TIMEOUT)
        self.assertEqual((output, child.returncode), ("eintr 0 wrong 0\n", 0))

    def record(self, child, *options, why_not):
        """For a while; what it said."""
        recorder = self.attach(child.pid, *options)
        time.sleep(SECONDS)
        errors = self.leave(recorder)
        if why_not in errors:
            self.skipTest(errors.strip())
        return errors

    def events(self, tid, name):
        done = self.ftr("replay", "-d", "data", "--no-pager", "--tid", str(tid))
        self.assertEqual(done.returncode, 0, done.stderr)
        return len(re.findall(rf"/\* {name}\b", done.stdout))

    def test_scheduling(self):
        child = self.start("sleep", "poll", "mutex", "create")
        before = switches(child.pid)
        self.record(child, why_not="not recording scheduling")
        after = switches(child.pid)
        waited = [tid for tid in after if tid in before and after[tid] > before[tid] + 10]
        self.assertGreaterEqual(len(waited), 2)
        for tid in waited:
            self.assertGreater(self.events(tid, "linux:sched(ule|-in|-out)"), 0)
        report = self.ftr("report", "-d", "data", "-f", "call", "--by=event").stdout
        for name in ("linux:sched-in", "linux:sched-out", "linux:task-new", "linux:task-exit"):
            self.assertRegex(report, rf"(?m)^ *[1-9]\d*  {name}$")
        with open("data/task.txt", encoding="ascii") as file:
            later = {int(tid) for tid in re.findall(r"^TASK .*tid=(\d+)", file.read(), re.M)} - set(before)
        self.assertGreater(len(later), 0)
        self.end(child)

    def test_none_on_request(self):
        child = self.start("sleep")
        self.record(child, "--no-event", why_not="-")
        self.assertFalse([name for name in os.listdir("data") if name.startswith("perf-")])
        self.end(child)

    def test_samples(self):
        """As many of each thread as it has run milliseconds."""
        child = self.start("busy", "busy", "sleep")
        before = cpu_ms(child.pid)
        self.record(child, "--no-libcall", "--no-event", "-D", "1", "--sample=1ms",
                    why_not="no samples are taken")
        used = cpu_ms(child.pid) - before
        found = self.ftr("replay", "-d", "data", "--no-pager").stdout
        of_each = [len(re.findall(rf"\[ *{tid}\] .*/\* sample:cpu", found)) for tid in threads(child.pid)]
        self.assertEqual(sum(nr > 20 for nr in of_each), 2, of_each)
        self.assertLessEqual(sum(of_each), used * 1.1 + 30)
        self.end(child)


class OfKernel(AttachEvents):
    @classmethod
    def set_up_class(cls):
        super().set_up_class()
        cls.tracefs = os.path.join(cls.top, "tracefs")
        tracefs.mount(cls.tracefs)
        if not os.path.isdir(cls.tracefs + "/events/sched/sched_switch"):
            tracefs.unmount(cls.tracefs)
            raise unittest.SkipTest("this kernel has no event sched:sched_switch")

    @classmethod
    def tearDownClass(cls):
        tracefs.unmount(cls.tracefs)
        super().tearDownClass()

    test_scheduling = test_none_on_request = test_samples = None

    def test_kernel_events(self):
        child = self.start("sleep", "poll")
        before = switches(child.pid)
        self.record(child, "-E", "sched:sched_switch@kernel", why_not="not recording the kernel's")
        after = switches(child.pid)
        for tid in (tid for tid in after if after[tid] > before[tid] + 10):
            self.assertGreater(self.events(tid, "sched:sched_switch"), 0)
        self.end(child)


harness.main()
