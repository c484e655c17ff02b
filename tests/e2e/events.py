# SPDX-License-Identifier: MIT
"""Scheduling and task events: recorded, chosen, lost, and not permitted."""
import errno
import glob
import json
import os
import re
import resource
import signal
import struct
import subprocess

from recording import FTR, IS_ROOT, TIMEOUT, Recording, build, harness

NOBODY = 65534
COMM, EXIT, FORK, SWITCH, LOST = 3, 4, 7, 14, 2
NAMES = "linux:schedule, linux:task-new, linux:task-exit, linux:task-name"


def perf_records(data="d"):
    """(type, misc, bytes) of each record, read strictly."""
    records = []
    for name in glob.glob(data + "/perf-cpu*.dat"):
        with open(name, "rb") as file:
            content = file.read()
        pos, last = 0, 0
        while pos < len(content):
            kind, misc, size = struct.unpack_from("<IHH", content, pos)
            assert size >= 24 and size % 8 == 0 and pos + size <= len(content), name
            when = struct.unpack_from("<Q", content, pos + size - 8)[0]
            assert when >= last, name + ": time goes backwards"
            records.append((kind, misc, content[pos:pos + size]))
            pos, last = pos + size, when
    return records


def kinds(data="d"):
    return {kind for kind, _, _ in perf_records(data)}


class Events(Recording):
    @classmethod
    def set_up_class(cls):
        super().set_up_class()
        build("switches.c", "switches", "-pg", "-O1")
        build("deny_events.c", "deny_events", "-O1")
        os.chmod(".", 0o755)
        cls.options = ["--no-libcall", "-d", "d"]

    def need_events(self):
        if not self.has_events:
            self.skipTest("no perf events here")

    def info(self):
        run = self.ftr("info", "--no-pager", "-d", "d")
        self.assertEqual(run.stderr, "")
        return re.search(r"^# events +: (.*)$", run.stdout, re.MULTILINE).group(1)

    def features(self):
        with open("d/info", "rb") as file:
            return struct.unpack_from("<Q", file.read(), 16)[0]

    def shown(self, *words):
        return self.ftr("replay", "--no-pager", "-d", "d", "-f", "none", *words).stdout

    def nests(self, chrome):
        """Each end is that of what began last."""
        stacks = {}
        for event in chrome["traceEvents"]:
            stack = stacks.setdefault(event["tid"], [])
            if event["ph"] == "B":
                stack.append(event["name"])
            elif event["ph"] == "E":
                self.assertEqual(stack.pop(), event["name"])
        self.assertEqual([stack for stack in stacks.values() if stack], [])

    # What is recorded, and what is not when it is not wanted.

    def test_recorded(self):
        self.need_events()
        self.record("./switches", "nap", "9")    # on a slow machine a nap may be over before the task sleeps
        self.assertEqual(self.info(), NAMES)
        self.assertTrue(self.features() >> 8 & 1)
        self.assertEqual(len(glob.glob("d/perf-cpu*.dat")), os.sysconf("SC_NPROCESSORS_ONLN"))
        self.assertLessEqual({COMM, EXIT, SWITCH}, kinds())
        self.assertRegex(self.shown("--no-merge"), r"nap\(\) \{\n *(/\* linux:.* \*/\n *)*/\* linux:sched-out \*/\n")
        self.assertIn('/* linux:task-name (comm="switches") */', self.shown("--event-full"))
        self.assertIn("linux:schedule", self.ftr("report", "--no-pager", "-d", "d").stdout)

    def test_no_event(self):
        run = self.record("--no-event", "./switches", "nap")
        self.assertEqual(run.stderr, "")
        self.assertEqual(self.info(), "none: --no-event")
        self.assertFalse(self.features() >> 8 & 1)
        self.assertEqual(glob.glob("d/perf-cpu*.dat"), [])

    def test_no_sched(self):
        self.need_events()
        self.record("--no-sched", "./switches", "nap")
        self.assertEqual(self.info(), "linux:task-new, linux:task-exit, linux:task-name")
        self.assertEqual(kinds(), {COMM, EXIT})

    def test_event(self):
        self.need_events()
        self.record("--no-event", "-E", "linux:schedule", "./switches", "nap")
        self.assertEqual(self.info(), "linux:schedule")
        self.assertEqual(kinds(), {SWITCH})
        self.record("--no-event", "-E", "linux:task-[en]*,linux:task-exit", "./switches", "nap")
        self.assertEqual(kinds(), {COMM, EXIT})
        self.record("--no-sched", "--Event=linux:*", "./switches", "nap")
        self.assertEqual(self.info(), NAMES)
        self.refused_event("linux:sched", "sched:sched_switch", "")

    def refused_event(self, *names):
        for name in names:
            run = self.ftr("record", "-d", "e", "-E", name, "./switches", "nap")
            self.assertEqual(run.returncode, 2)
            self.assertRegex(run.stderr, "unknown event .*choose from|neither .* declares such an event; .*@kernel|"
                             "events of programs are not recorded on .* yet")
            self.assertFalse(os.path.exists("e"))

    def test_counter_clock(self):
        self.record("--clock", "counter", "./switches", "nap")
        self.assertIn("counter", self.info())
        self.assertEqual(glob.glob("d/perf-cpu*.dat"), [])

    def test_clocks(self):
        self.need_events()
        for clock in ("mono_raw", "boot", "realtime"):
            self.record("--clock", clock, "./switches", "nap")
            self.assertRegex(self.shown(), r"nap\(\) \{\n.*/\* linux:sched")

    def test_syscalls(self):
        self.need_events()
        if self.ftr("record", "--syscalls", "-d", "e", "./switches", "nap").returncode != 0:
            self.skipTest("nothing may be traced here")
        self.record("--syscalls", "/bin/true", quiet=False)
        self.assertEqual(self.info(), "none: no functions are recorded")
        self.record("--syscalls", "./switches", "nap", quiet=False)
        self.assertEqual(kinds(), {COMM, EXIT})
        self.record("--syscalls", "-E", "linux:schedule", "./switches", "nap", quiet=False)
        self.assertIn(SWITCH, kinds())

    def test_live(self):
        self.need_events()
        words = ["--no-pager", "--no-merge", "-f", "none", "./switches", "nap"]
        self.assertIn("linux:sched-out", self.ftr("live", *words).stdout)
        self.assertNotIn("linux:", self.ftr("live", "--no-sched", *words).stdout)

    def test_exports(self):
        self.need_events()
        self.record("./switches", "nap")
        chrome = json.loads(self.ftr("dump", "-d", "d", "--chrome").stdout)
        self.nests(chrome)
        self.assertIn("linux:schedule", {event["name"] for event in chrome["traceEvents"]})
        self.assertEqual(self.ftr("convert", "d", "e.fxt").returncode, 0)
        self.assertEqual(self.ftr("replay", "--no-pager", "-d", "e.fxt", "-f", "none").stdout, self.shown())

    # Which tasks.

    def test_keep_pid(self):
        self.need_events()
        child = subprocess.Popen([FTR, "record", "--no-libcall", "-d", "d", "--keep-pid", "./switches", "disable"])
        self.assertEqual(child.wait(TIMEOUT), 0)
        self.wait_for(lambda: "linux:sched-out" in self.shown("--no-merge") and self.info() == NAMES)
        self.assertLessEqual({COMM, EXIT, SWITCH}, kinds())

    def test_not_switched_off_by_the_program(self):
        self.need_events()
        self.record("./switches", "disable")
        self.assertIn("linux:sched-out", self.shown("--no-merge"))

    def test_names(self):
        self.need_events()
        self.record("./switches", "names")
        run = self.ftr("info", "--no-pager", "-d", "d")
        self.assertRegex(run.stdout, r"task list +: \d+\(second\), \d+\(first\)\n")
        self.assertIn('linux:task-name (comm="second")', self.shown())

    def test_orphan(self):
        self.need_events()
        self.record("./switches", "orphan")
        self.assertRegex(self.shown("--no-merge"), r"nap\(\) \{\n *(/\* linux:.* \*/\n *)*/\* linux:sched-out")
        self.assertEqual(len([kind for kind, _, _ in perf_records() if kind == EXIT]), 2)

    def test_recorder_killed(self):
        self.need_events()
        child = self.start("./switches", "pingpong", "10")
        self.wait_for(lambda: SWITCH in kinds() and "linux:sched-out" in self.shown("--no-merge"))
        child.kill()
        child.wait(TIMEOUT)
        child.stdin.write("\n\n")
        child.stdin.close()
        self.assertEqual(child.stdout.read(), "done\n")
        child.stdout.close()
        child.stderr.close()
        self.assertTrue(self.features() >> 8 & 1)
        self.assertIn("linux:sched-out", self.shown("--no-merge"))

    # Room.

    def test_lost(self):
        """A recorder that stands still: what the kernel has no room for is counted, there and in the data."""
        self.need_events()
        child = self.start("./switches", "pingpong", "30000")
        child.send_signal(signal.SIGSTOP)
        child.stdin.write("\n")
        child.stdin.flush()
        self.assertEqual(child.stdout.readline(), "done\n")
        child.send_signal(signal.SIGCONT)
        _, err = child.communicate("\n", timeout=TIMEOUT)
        lost = sum(struct.unpack_from("<Q", content, 16)[0] for kind, _, content in perf_records() if kind == LOST)
        self.assertGreater(lost, 0)
        self.assertIn(f"LOST {lost} ", err)
        self.assertIn("--no-sched", err)
        self.nests(json.loads(self.ftr("dump", "-d", "d", "--chrome").stdout))
        self.assertRegex(self.shown(), r"/\* LOST \d+ events of CPU \d+ \*/")

    def test_disk_full(self):
        self.need_events()

        def limit():
            resource.setrlimit(resource.RLIMIT_FSIZE, (20000, 20000))
        child = subprocess.run([FTR, "record", "--no-libcall", "-d", "d", "./switches", "pingpong", "20000"],
                               stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                               preexec_fn=limit, timeout=TIMEOUT)
        self.assertEqual((child.returncode, child.stdout), (0, "ready\ndone\n"))
        self.assertIn("LOST", child.stderr)
        self.assertGreater(len(perf_records()), 0)

    # Rights.

    def denied(self, code, *words):
        return subprocess.run(["./deny_events", str(code), FTR, "record", *self.options, *words, "./switches", "nap"],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=TIMEOUT)

    def test_denied(self):
        for code, remedy in ((errno.EACCES, "CAP_PERFMON"), (errno.EPERM, "CAP_PERFMON"),
                             (errno.ENOSYS, "CONFIG_PERF_EVENTS"), (errno.EMFILE, "Too many open files")):
            run = self.denied(code)
            self.assertEqual(run.returncode, 0)
            self.assertEqual(len(run.stderr.splitlines()), 1, run.stderr)
            self.assertRegex(run.stderr, "perf_event_open: .*" + remedy)
            self.assertIn("--no-event", run.stderr)
            self.assertRegex(self.info(), "^none: perf_event_open: .*" + remedy)
            self.assertFalse(self.features() >> 8 & 1)
            self.assertEqual(glob.glob("d/perf-cpu*.dat"), [])
            self.assertIn("nap();", self.shown())

    def test_paranoid(self):
        """Where the sysctl is why, it is named; here another file stands in its place."""
        with open("paranoid", "w") as file:
            file.write("4\n")
        run = subprocess.run(["unshare", "-m", "sh", "-c", "mount --bind paranoid /proc/sys/kernel/perf_event_paranoid && "
                              'exec "$0" "$@"', "./deny_events", str(errno.EACCES), FTR, "record", *self.options,
                              "./switches", "nap"],
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=TIMEOUT)
        if run.returncode != 0 and "record" not in run.stderr:
            self.skipTest("no mounts here: " + run.stderr)
        self.assertEqual((run.returncode, len(run.stderr.splitlines())), (0, 1), run.stderr)
        self.assertIn("kernel.perf_event_paranoid is 4: set it to 2 with sysctl, or give ftr CAP_PERFMON", run.stderr)
        self.assertRegex(self.info(), "^none: .*kernel.perf_event_paranoid is 4")
        self.assertIn("# perf_event_paranoid : 4", self.ftr("info", "--no-pager", "-d", "d").stdout)

    def test_denied_and_not_wanted(self):
        run = self.denied(errno.EACCES, "--no-event")
        self.assertEqual((run.returncode, run.stderr), (0, ""))

    @staticmethod
    def as_nobody(*words, may_lock=True):
        def become():
            if not may_lock:            # beyond kernel.perf_event_mlock_kb
                resource.setrlimit(resource.RLIMIT_MEMLOCK, (0, 0))
            os.setgid(NOBODY)
            os.setuid(NOBODY)
        return {"preexec_fn": become, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True,
                "args": words}

    def nobodys_directory(self):
        if not IS_ROOT:
            self.skipTest("needs root")
        for name, most in (("perf_event_paranoid", 2), ("perf_event_mlock_kb", 516)):
            with open("/proc/sys/kernel/" + name) as file:
                if int(file.read()) > most:
                    self.skipTest("kernel." + name + " is above " + str(most))
        os.makedirs("nobody", exist_ok=True)
        os.chown("nobody", NOBODY, NOBODY)
        if subprocess.run([FTR, "--version"], stdout=subprocess.DEVNULL, preexec_fn=lambda: os.setuid(NOBODY),
                          check=False).returncode != 0:
            self.skipTest("ftr is not where everybody can run it")

    def test_unprivileged(self):
        self.need_events()
        self.nobodys_directory()
        run = subprocess.run(**self.as_nobody(FTR, "record", "-d", "nobody/d", "./switches", "nap"), timeout=TIMEOUT)
        self.assertEqual((run.returncode, run.stderr), (0, ""))
        self.assertLessEqual({COMM, EXIT, SWITCH}, kinds("nobody/d"))

    def test_little_locked_memory(self):
        """Another ring of the same user takes most of what it may lock: ours are smaller, and that is said."""
        self.need_events()
        self.nobodys_directory()
        hog = subprocess.Popen(**self.as_nobody("./switches", "hog", "512", may_lock=False), stdin=subprocess.PIPE)
        self.assertEqual(hog.stdout.readline(), "ready\n")
        run = subprocess.run(**self.as_nobody(FTR, "record", "-d", "nobody/d", "./switches", "nap", may_lock=False),
                             timeout=TIMEOUT)
        hog.communicate("\n", timeout=TIMEOUT)
        self.assertEqual(run.returncode, 0)
        self.assertRegex(run.stderr, r"^ftr: warning: perf buffers have only \d+ KB a CPU, .*raise kernel.perf_event_mlock_kb")
        self.assertEqual(len(run.stderr.splitlines()), 1)
        self.assertLessEqual({COMM, EXIT, SWITCH}, kinds("nobody/d"))

    def test_no_locked_memory(self):
        self.need_events()
        self.nobodys_directory()
        hogs = [subprocess.Popen(**self.as_nobody("./switches", "hog", "512", may_lock=False), stdin=subprocess.PIPE)
                for _ in range(os.sysconf("SC_NPROCESSORS_ONLN"))]
        self.assertEqual({hog.stdout.readline() for hog in hogs}, {"ready\n"})
        run = subprocess.run(**self.as_nobody(FTR, "record", "-d", "nobody/d", "./switches", "nap", may_lock=False),
                             timeout=TIMEOUT)
        for hog in hogs:
            hog.communicate("\n", timeout=TIMEOUT)
        self.assertEqual(run.returncode, 0)
        self.assertRegex(run.stderr, r"^ftr: warning: not recording scheduling and task events: .*kernel.perf_event_mlock_kb")
        self.assertEqual(glob.glob("nobody/d/perf-cpu*.dat"), [])


if __name__ == "__main__":
    harness.main()
