# SPDX-License-Identifier: MIT
"""Events of the kernel, recorded along with the program's calls: -E SYSTEM:EVENT@kernel, -k."""
import glob
import json
import os
import re
import shutil
import signal
import struct
import subprocess
import unittest

from recording import FTR, TIMEOUT, Recording, build, harness
import tracefs

NOBODY = 65534
GETSID = "syscalls:sys_enter_getsid@kernel"
GETSID_NR = 124 if os.uname().machine == "x86_64" else 156
KERNEL_BIT = 2


class KernelEvents(Recording):
    @classmethod
    def set_up_class(cls):
        super().set_up_class()
        build("kernel_events.c", "asks", "-pg", "-O1")
        os.chmod(".", 0o755)
        cls.tracefs = os.path.join(cls.top, "tracefs")
        tracefs.mount(cls.tracefs)
        if not os.path.isdir(cls.tracefs + "/events/syscalls/sys_enter_getsid"):
            tracefs.unmount(cls.tracefs)
            raise unittest.SkipTest("this kernel has no events of system calls")

    @classmethod
    def tearDownClass(cls):
        tracefs.unmount(cls.tracefs)
        super().tearDownClass()

    def tearDown(self):
        super().tearDown()
        self.assertEqual(self.instances(), [])

    def instances(self):
        """Of recorders that have ended: others may be at work on this machine."""
        return [path for path in glob.glob(self.tracefs + "/instances/ftr.*")
                if not os.path.exists("/proc/" + path.rpartition("/ftr.")[2].split(".")[0])]

    def chrome(self, data="d"):
        run = self.ftr("dump", "--chrome", "--event-full", "-d", data)
        self.assertEqual(run.returncode, 0, run.stderr)
        return json.loads(run.stdout)["traceEvents"]

    def asked(self, data="d"):
        """For each task its calls of ask() and how many events lie inside of each."""
        tasks, open_in = {}, {}
        for event in self.chrome(data):
            if event["name"] == "ask":
                if event["ph"] == "B":
                    tasks.setdefault(event["tid"], []).append(0)
                open_in[event["tid"]] = event["ph"] == "B"
            elif event["name"] == GETSID.partition("@")[0]:
                self.assertTrue(open_in.get(event["tid"]), event)
                tasks[event["tid"]][-1] += 1
        return tasks

    def features(self):
        with open("d/info", "rb") as file:
            return struct.unpack_from("<Q", file.read(), 16)[0]

    # Complete and at its place.

    def test_each_call_has_its_event(self):
        self.record("-E", GETSID, "./asks", "calls", "2000")
        self.assertEqual(list(self.asked().values()), [[1] * 2000])
        self.assertTrue(self.features() >> KERNEL_BIT & 1)
        self.assertRegex(self.ftr("info", "--no-pager", "-d", "d").stdout, r"# events +: .*\b1 of the kernel's")
        self.assertTrue({"kernel_header", "kallsyms"} <= set(os.listdir("d")))

    def test_threads(self):
        self.record("-E", GETSID, "./asks", "threads", "20")
        self.assertEqual(sorted(self.asked().values()), [[1]] * 20)

    def test_children(self):
        self.record("-E", GETSID, "./asks", "children", "20")
        self.assertEqual(sorted(self.asked().values()), [[1]] * 20)

    def test_others_are_not_traced(self):
        """Only the program's tasks, and whom they have to do with."""
        other = self.start_program("sh", "-c", "while :; do read x </proc/uptime; done")
        self.record("-E", "syscalls:sys_enter_*@kernel", "./asks", "children", "5")
        other.kill()
        tids = {int(name[2:-4]) for name in glob.glob("d/[0-9]*.dat")}
        self.assertEqual({event["tid"] for event in self.chrome() if "sys_enter" in event["name"]} - tids, set())
        seen = set()
        for name in glob.glob("d/kernel-cpu*.dat"):
            with open(name, "rb") as file:
                seen |= {other.pid} if struct.pack("<HBBi", 0, 0, 0, other.pid)[4:] in file.read() else set()
        self.assertEqual(seen, set())

    def test_clocks(self):
        for clock in ("mono", "mono_raw", "boot"):
            self.record("--clock", clock, "-E", GETSID, "./asks", "calls", "5")
            self.assertEqual(list(self.asked().values()), [[1] * 5], clock)

    def test_keep_pid(self):
        run = subprocess.run([FTR, "record", *self.options, "--keep-pid", "-E", GETSID, "./asks", "calls", "5"],
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=TIMEOUT, check=False)
        self.assertEqual((run.returncode, run.stderr), (0, ""))     # its end is that of standard error
        self.assertEqual(list(self.asked().values()), [[1] * 5])

    def test_not_mounted(self):
        """tracefs need not be in the tree of files."""
        run = self.run_program("unshare", "-m", "sh", "-c", 'umount -a -t tracefs && exec "$@"', "sh", FTR, "record",
                               *self.options, "-E", GETSID, "./asks", "calls", "5")
        self.assertEqual((run.returncode, run.stderr), (0, ""))
        self.assertEqual(list(self.asked().values()), [[1] * 5])

    def test_live(self):
        run = self.ftr("live", "--no-pager", "--no-libcall", "--no-sched", "-E", GETSID, "./asks", "calls", "3")
        self.assertEqual(len(re.findall(r"ask\(\) \{\n.*/\* syscalls:sys_enter_getsid", run.stdout)), 3)

    # What is shown.

    def test_report_by_event(self):
        """System calls have durations, from their two events."""
        self.record("--no-event", "-E", "syscalls:sys_*_getsid@kernel", "./asks", "threads", "30")
        run = self.ftr("report", "--no-pager", "-d", "d", "--by", "event", "-f", "call")
        self.assertEqual(sorted(run.stdout.splitlines()[2:]),
                         [f"{30:10}  {name}" for name in ("syscalls: getsid", "syscalls:sys_enter_getsid",
                                                         "syscalls:sys_exit_getsid")])
        run = self.ftr("report", "--no-pager", "-d", "d", "--by", "event", "-f", "total,total-max")
        self.assertRegex(run.stdout, r"\d [um]s +\d+\.\d+ .s  syscalls: getsid\n")
        self.record("--no-event", "./asks", "threads", "2")
        run = self.ftr("report", "--no-pager", "-d", "d", "--by", "event")
        self.assertEqual((run.returncode, run.stderr), (1, "ftr: report: no events in this trace; record them with "
                                                        "ftr record -E\n"))

    def test_kernel_only(self):
        """What happens inside of the program's calls; with --kernel-full everything."""
        self.record("--no-event", "-E", "syscalls:sys_enter_*@kernel", "./asks", "calls", "3")
        lines = self.ftr("replay", "--no-pager", "-f", "none", "-d", "d", "--kernel-only").stdout.splitlines()
        self.assertEqual(len([line for line in lines if "sys_enter_getsid" in line]), 3)
        self.assertEqual([line for line in lines if "/* syscalls:" not in line], [])
        full = self.ftr("replay", "--no-pager", "-f", "none", "-d", "d", "--kernel-only", "--kernel-full")
        self.assertIn("sys_enter_brk", full.stdout)
        self.assertNotIn("ask()", full.stdout)
        self.assertEqual(self.ftr("replay", "--no-pager", "-d", "d", "--kernel-only", "--no-event").stdout.count("/*"),
                         0)

    # What is chosen.

    def names(self):
        return {event["name"] for event in self.chrome() if ":" in event["name"]}

    def test_names(self):
        self.record("--no-event", "-E", "syscalls:sys_*_getsid@kernel;sched:sched_process_*@kernel", "./asks",
                    "children", "2")
        names = self.names()
        self.assertLessEqual({"syscalls:sys_enter_getsid", "syscalls:sys_exit_getsid", "sched:sched_process_exit"},
                             names)
        self.assertEqual({name for name in names if not re.match("syscalls:sys_.*_getsid|sched:sched_process_", name)},
                         set())

    def test_filter(self):
        """The kernel's own language; commas are part of it."""
        self.record("--no-event", "-E", "sched:sched_process_exit@kernel,syscalls:sys_enter_[wg]*@kernel "
                    "if __syscall_nr == %d || common_preempt_count > 250" % GETSID_NR, "./asks", "children", "3")
        self.assertEqual(self.names(), {"sched:sched_process_exit", "syscalls:sys_enter_getsid"})

    def test_filter_refused(self):
        run = self.record("-E", "sched:sched_process_exit@kernel if prev_nonsense > 5", "-E", GETSID, "./asks",
                          "calls", "2", quiet=False)
        self.assertRegex(run.stderr, r'\Aftr: warning: sched:sched_process_exit is not recorded: its filter '
                         r'"prev_nonsense > 5" is refused: .*\n\Z')
        self.assertEqual(list(self.asked().values()), [[1] * 2])

    def test_unknown(self):
        run = self.record("-E", "sched:no_such@kernel", "./asks", "calls", "2", quiet=False)
        self.assertRegex(run.stderr, r"\Aftr: warning: -E sched:no_such@kernel: this kernel has no such event; .*\n\Z")
        self.assertEqual(list(self.asked().values()), [[0] * 2])

    def test_misnamed(self):
        self.refused(2, "name it as SYSTEM:EVENT@kernel", "-E", "sched@kernel", "./asks")
        if os.uname().machine == "x86_64":      # elsewhere no program's events are recorded
            self.refused(2, "neither .*asks nor .*--list-event .*@kernel", "-E", "sched:sched_switch", "./asks")

    def test_list(self):
        listed = self.ftr("record", "--list-event").stdout.splitlines()
        self.assertIn(GETSID, listed)
        self.assertIn("linux:schedule", listed)
        with open(self.tracefs + "/available_events", encoding="ascii") as file:
            available = {line.strip() + "@kernel" for line in file}
        self.assertEqual({name for name in listed if name.endswith("@kernel")}, available)

    def test_functions(self):
        """Recorded, or refused in one line."""
        run = self.record("-K", "3", "-E", GETSID, "./asks", "calls", "2", quiet=False)
        self.assertEqual(list(self.asked().values()), [[1] * 2])
        if run.stderr == "":
            self.assertTrue(any("getsid" in event["name"] and ":" not in event["name"] for event in self.chrome()))
        else:
            self.assertRegex(run.stderr, r"\Aftr: warning: not recording kernel functions: .*\n\Z")

    # What is lost, refused, or killed.

    def test_lost(self):
        """They are counted, and the trace shows where."""
        run = self.record("--kernel-buffer=4K", "-E", "syscalls:*@kernel", "./asks", "calls", "20000", quiet=False)
        match = re.search(r"LOST (\d+) records: the kernel's buffers .*--kernel-buffer", run.stderr)
        self.assertIsNotNone(match, run.stderr)
        events = self.chrome()
        kept = sum(event["name"].startswith("syscalls:") for event in events)
        self.assertGreater(kept, 0)
        self.assertGreaterEqual(int(match[1]) + kept, 40000)
        self.assertRegex(self.ftr("replay", "--no-pager", "-d", "d").stdout, "LOST .*kernel event")

    def test_not_permitted(self):
        out = os.path.join(self.top, "nobody")
        os.mkdir(out)
        os.chmod(out, 0o777)
        self.addCleanup(shutil.rmtree, out)
        run = self.ftr("record", "--no-libcall", "--no-event", "-d", out + "/d", "-E", GETSID, "./asks", "calls", "2",
                       user=NOBODY, group=NOBODY, extra_groups=[])
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertRegex(run.stderr, r"\Aftr: warning: not recording the kernel's events: .*root\n\Z")
        self.assertEqual(list(self.asked(out + "/d").values()), [[0] * 2])

    def test_no_clock(self):
        for clock in ("realtime", "counter"):
            run = self.record("--clock", clock, "-E", GETSID, "./asks", "calls", "2", quiet=False)
            self.assertRegex(run.stderr, r"\Aftr: warning: not recording the kernel's events: .*clock.*\n\Z")

    def test_recorder_is_killed(self):
        """Its instance stays, and the next recorder removes it."""
        child = self.start_program(FTR, "record", *self.options, "-E", GETSID, "./asks", "wait")
        self.assertEqual(child.stdout.readline(), "ready\n")
        made = glob.glob(f"{self.tracefs}/instances/ftr.{child.pid}.*")
        self.assertEqual(len(made), 1)
        child.send_signal(signal.SIGKILL)
        child.wait(TIMEOUT)
        self.assertTrue(os.path.isdir(made[0]))
        run = self.ftr("record", "--no-libcall", "-d", "e", "-E", GETSID, "./asks", "calls", "2")
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertFalse(os.path.isdir(made[0]))

    def test_program_is_killed(self):
        child = self.start_program(FTR, "record", *self.options, "-E", GETSID, "./asks", "wait")
        self.assertEqual(child.stdout.readline(), "ready\n")
        child.send_signal(signal.SIGTERM)
        self.assertEqual(child.wait(TIMEOUT), 128 + signal.SIGTERM)
        self.assertEqual(list(self.asked().values()), [[1]])

    def test_stopped_by_size(self):
        run = self.record("--max-size=100K", "--no-event", "-E", "syscalls:*@kernel", "./asks", "calls", "50000",
                          quiet=False)
        self.assertIn("recording ends here", run.stderr)

    # Read by others.

    def test_uftrace(self):
        if shutil.which("uftrace") is None:
            self.skipTest("uftrace is not installed")
        self.record("--no-event", "-E", GETSID, "-E", "kmem:kmalloc@kernel", "./asks", "calls", "5")
        run = self.run_program("uftrace", "replay", "--no-pager", "--event-full", "-d", "d")
        self.assertEqual(len(re.findall(r"ask\(\) \{\n.*/\* syscalls:sys_enter_getsid", run.stdout)), 5, run.stderr)

    def test_long_format(self):
        """uftrace has room for 4096 bytes of one; what is longer is kept beside."""
        with open(self.tracefs + "/events/kmem/kmalloc/format", encoding="ascii") as file:
            text = file.read()
        if len(text) <= 4096:
            self.skipTest("it is not long on this kernel")
        self.record("-E", "kmem:kmalloc@kernel", "./asks", "children", "2")
        with open("d/kernel_header", encoding="ascii") as file:
            self.assertIn("TRACEFS: events/kmem/kmalloc/format: 4096\n", file.read())
        with open("d/kernel_formats", encoding="ascii") as file:
            self.assertEqual(file.read(), f"TRACEFS: events/kmem/kmalloc/format: {len(text)}\n{text}")
        run = self.ftr("replay", "--no-pager", "--event-full", "-d", "d")
        self.assertEqual(run.stderr, "")
        self.assertRegex(run.stdout, r"kmem:kmalloc \(call_site=\w+\+0x.*gfp_flags=GFP_")


if __name__ == "__main__":
    harness.main()
