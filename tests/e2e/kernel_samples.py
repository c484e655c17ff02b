# SPDX-License-Identifier: MIT
"""Events of the kernel by perf, where tracefs can only be read: what kernel_events.py asks for, and what differs."""
import re
import shutil
import subprocess
import unittest

from recording import FTR, TIMEOUT, harness
import kernel_events
from kernel_events import GETSID
import tracefs

REFUSED = r"\Aftr: warning: not recording the kernel's events: tracefs: cannot make an instance: Read-only file system"


class KernelSamples(kernel_events.KernelEvents):
    @classmethod
    def set_up_class(cls):
        super().set_up_class()
        done = subprocess.run(["mount", "-o", "remount,bind,ro", cls.tracefs], stderr=subprocess.PIPE, text=True,
                              timeout=TIMEOUT, check=False)
        if done.returncode != 0:
            tracefs.unmount(cls.tracefs)
            raise unittest.SkipTest("tracefs cannot be mounted read-only: " + done.stderr.strip())

    def setUp(self):
        super().setUp()
        run = self.record("-E", GETSID, "./asks", "calls", "1", quiet=False)
        if "; events/" in run.stderr:
            self.skipTest("perf records no tracepoints here: " + run.stderr)
        shutil.rmtree("d")

    def instances(self):
        """None can be made: those that are there are others'."""
        return []

    # An instance's alone.
    test_not_mounted = test_recorder_is_killed = test_not_permitted = test_stopped_by_size = None
    # The kernel takes tens of milliseconds for each of hundreds of events.
    test_kernel_only = test_others_are_not_traced = None

    def test_clocks(self):
        for clock in ("mono", "mono_raw"):
            self.record("--clock", clock, "-E", GETSID, "./asks", "calls", "5")
            self.assertEqual(list(self.asked().values()), [[1] * 5], clock)
        run = self.record("--clock=boot", "-E", GETSID, "./asks", "calls", "5", quiet=False)
        self.assertRegex(run.stderr, REFUSED + r".*; perf: it has no such clock for them; use --clock=mono or mono_raw\n\Z")

    def test_filter_refused(self):
        run = self.record("-E", "sched:sched_process_exit@kernel if prev_nonsense > 5", "-E", GETSID, "./asks",
                          "calls", "2", quiet=False)
        self.assertEqual(run.stderr, "ftr: warning: 1 events are not recorded: events/sched/sched_process_exit: perf: "
                         "Invalid argument; see its filter\n")
        self.assertEqual(list(self.asked().values()), [[1] * 2])

    def test_unknown(self):
        run = self.record("-E", "sched:no_such@kernel", "./asks", "calls", "2", quiet=False)
        self.assertRegex(run.stderr, r"\Aftr: warning: -E sched:no_such@kernel: this kernel has no such event; .*\n" +
                         REFUSED[2:])
        self.assertEqual(run.stderr.count("\n"), 2)
        self.assertEqual(list(self.asked().values()), [[0] * 2])

    def test_functions(self):
        """perf knows none."""
        run = self.record("-k", "-E", GETSID, "./asks", "calls", "2", quiet=False)
        self.assertRegex(run.stderr, r"\Aftr: warning: not recording kernel functions: tracefs: cannot make an instance: "
                         r"Read-only file system; mount tracefs writable\n\Z")
        self.assertEqual(list(self.asked().values()), [[1] * 2])
        run = self.record("-k", "./asks", "calls", "2", quiet=False)
        self.assertRegex(run.stderr, REFUSED + r".*perf: it knows no functions, and no events.*\n\Z")

    def test_lost(self):
        """They are counted, and the trace shows where."""
        run = self.record("--kernel-buffer=16K", "-E", "syscalls:sys_*_getsid@kernel", "./asks", "calls", "200000",
                          quiet=False)
        kept = sum(event["name"].startswith("syscalls:") for event in self.chrome())
        match = re.search(r"LOST (\d+) records: the kernel's buffers", run.stderr)
        self.assertEqual((int(match[1]) if match else 0) + kept, 400000)
        if match:
            self.assertRegex(self.ftr("replay", "--no-pager", "-d", "d").stdout, "LOST .*kernel event")

    def test_few_descriptors(self):
        """Some events are recorded, and the program's limit is its own."""
        run = self.run_program("sh", "-c", 'ulimit -n 80; exec "$@"', "sh", FTR, "record", *self.options, "-E",
                               "syscalls:sys_enter_get*@kernel", "./asks", "calls", "5")
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertRegex(run.stderr, r"\Aftr: warning: \d+ events are not recorded: events/.*: perf: Too many open files; "
                         r"raise ulimit -n, or name fewer events\n\Z")
        self.assertIn("syscalls:sys_enter_get", self.ftr("dump", "-d", "d").stdout)


if __name__ == "__main__":
    harness.main()
