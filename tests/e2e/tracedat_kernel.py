# SPDX-License-Identifier: MIT
"""trace.dat of this kernel's events, event for event as Debian's trace-cmd shows them, and as it converts them.

tracefs is mounted in a mount namespace of the test's own; events go to an instance of its own, which is removed at
the end, or by the next run.
"""
import ast
import ctypes
import glob
import os
import re
import shutil
import subprocess
import sys
import unittest

from recording import FTR, SRCDIR, TIMEOUT, harness
import tracedat_made as made
from tracefs import mount, unmount

SYSTEMS = ["sched", "irq", "timer", "task", "signal", "kmem", "block", "net", "workqueue", "raw_syscalls", "power",
           "writeback", "rcu", "skb", "filemap", "syscalls"]
SYSTEMS_MIN = 10        # that have events here
BUFFERS_KB = (256, 1024, 4096)      # of a CPU: where others are busy, their events overwrite ours
SECOND = 10 ** 9
PREFIX = "again: "      # of the instance


def read(*parts):
    with open(os.path.join(*parts), "rb") as file:
        return file.read()


def write(text, *parts):
    with open(os.path.join(*parts), "w", encoding="ascii") as file:
        file.write(text)


class RealMachine(made.Machine):
    """The formats and symbols of the kernel that runs here."""

    def __init__(self, tracefs):
        super().__init__(sys.byteorder == "big", struct_long())
        self.header_texts = [read(tracefs, "events", name) for name in ("header_page", "header_event")]
        self.ftrace = [read(path) for path in sorted(glob.glob(tracefs + "/events/ftrace/*/format"))]
        self.events = {system: [read(path) for path in sorted(glob.glob(f"{tracefs}/events/{system}/*/format"))]
                       for system in SYSTEMS if os.path.isdir(f"{tracefs}/events/{system}")}
        self.kallsyms = read("/proc/kallsyms")
        self.printk = read(tracefs, "printk_formats")
        self.cmdlines = read(tracefs, "saved_cmdlines")

    def headers(self):
        page, event = self.header_texts
        return b"header_page\0" + self.text("Q", page) + b"header_event\0" + self.text("Q", event)


def struct_long():
    return ctypes.sizeof(ctypes.c_long)


class Instance:
    """Buffers of our own."""

    def __init__(self, tracefs):
        for stale in glob.glob(tracefs + "/instances/ftr-test-*"):
            if not os.path.exists("/proc/" + stale.rpartition("-")[2]):
                os.rmdir(stale)
        self.path = f"{tracefs}/instances/ftr-test-{os.getpid()}"
        os.mkdir(self.path)

    def record(self, clock, workload, buffer_kb=256, ours=False):
        """@ours: the events of this process and what it starts, whatever else the machine does meanwhile."""
        write("0", self.path, "tracing_on")
        if ours:
            write("1", self.path, "options/event-fork")
            write(str(os.getpid()), self.path, "set_event_pid")
        write(clock, self.path, "trace_clock")
        write(str(buffer_kb), self.path, "buffer_size_kb")
        for system in SYSTEMS:
            try:
                write("1", self.path, "events", system, "enable")
            except OSError:
                pass                    # this kernel lacks the system
        write("1", self.path, "tracing_on")
        workload()
        write("0", self.path, "tracing_on")
        write("0", self.path, "events/enable")

    def pages(self, cpu):
        pages = []
        path = f"{self.path}/per_cpu/cpu{cpu}/trace_pipe_raw"
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
        try:
            while True:
                page = os.read(descriptor, 4096)
                if not page:
                    break
                pages.append(page.ljust(4096, b"\0"))
        except BlockingIOError:
            pass
        finally:
            os.close(descriptor)
        return b"".join(pages)

    def remove(self):
        os.rmdir(self.path)


class Kernel(harness.Test):
    @classmethod
    def set_up_class(cls):
        if shutil.which("trace-cmd") is None:
            raise unittest.SkipTest("trace-cmd is not installed")
        tracefs = os.path.join(cls.top, "tracefs")
        mount(tracefs)
        try:
            for buffer_kb in BUFFERS_KB:
                cls.record(tracefs, buffer_kb)
                if len(cls.systems()) >= SYSTEMS_MIN:
                    break
        finally:
            unmount(tracefs)

    @classmethod
    def record(cls, tracefs, buffer_kb):
        instance = Instance(tracefs)
        try:
            instance.record("mono", cls.workload, buffer_kb)
            machine = RealMachine(tracefs)
            cpus = [instance.pages(cpu) for cpu in range(os.cpu_count())]
        finally:
            instance.remove()
        options = [(made.TRACECLOCK, b"local [mono]\n\0")]
        with open("six.dat", "wb") as file:
            file.write(made.version6(machine, cpus, options, [(PREFIX[:-2], cpus)]))

    @staticmethod
    def systems():
        """Those that have events in the file."""
        report = subprocess.run([FTR, "report", "--no-pager", "--by=event", "six.dat"], stdout=subprocess.PIPE,
                                text=True, errors="replace", timeout=TIMEOUT, check=True).stdout
        return {system for system in SYSTEMS if f" {system}:" in report}

    @staticmethod
    def workload():
        """A bit of everything: processes, files, a socket, timers."""
        script = ("for i in 1 2 3; do (sleep 0.01; echo $i >file$i; sync file$i; cat file$i) & done; wait; "
                  "ls -lR /etc >list; kill -0 $$; rm -f file? list")
        subprocess.run(["sh", "-c", script], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=TIMEOUT,
                       check=True)
        subprocess.run([sys.executable, "-c", "import socket\na = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)\n"
                        "a.bind(('127.0.0.1', 0))\na.sendto(b'x', a.getsockname())\na.recv(9)\n"],
                       stderr=subprocess.DEVNULL, timeout=TIMEOUT, check=False)

    LINE = re.compile(r"(?:\w+:\s+)?\s*(.{1,16}?)-(\d+)\s+\[(\d+)\]\s+(\d+)\.(\d{9}):\s+(\w+):\s*(.*)")

    def trace_cmd(self, *words):
        return self.run_program("trace-cmd", *words, errors="replace")

    def peer_events(self, name):
        """(time, CPU, tid, name, text) of each event, in order."""
        run = self.trace_cmd("report", "-t", "-N", name)
        self.assertEqual(run.returncode, 0, run.stderr)
        events = []
        for line in run.stdout.splitlines():
            match = self.LINE.fullmatch(line)
            if match is not None:
                _, tid, cpu, seconds, ns, what, text = match.groups()
                events.append((int(seconds) * SECOND + int(ns), int(cpu), int(tid), what, text.rstrip()))
            elif line != "" and not re.match(r"cpus=|(\w+:)?\s*CPU:\d+ \[", line) and events:
                events[-1] = (*events[-1][:4], events[-1][4] + "\n" + line)     # of several lines
        return sorted(events)

    def our_events(self, name):
        """The same, and the names of those that are shown field by field.  Half of them are the instance's, which
        trace-cmd says only of some."""
        run = self.ftr("convert", name, "x.fxt")
        self.assertEqual(run.returncode, 0, run.stderr)
        odd = set(re.findall(r": \w+:(\w+): .*: such events are shown field by field", run.stderr))
        check = self.run_program(sys.executable, os.path.join(SRCDIR, "tests/roundtrip/fxt_check.py"),
                                 "--tracepoints", "x.fxt")
        self.assertEqual(check.returncode, 0, check.stdout[-500:])
        events, prefixed = [], 0
        for line in check.stdout.splitlines():
            words = line.split(" ", 4)
            if len(words) == 5 and ":" in words[3]:
                text = ast.literal_eval(words[4])
                prefixed += text.startswith(PREFIX)
                events.append((int(words[0]), int(words[1]), int(words[2]), words[3].partition(":")[2],
                               text.removeprefix(PREFIX).rstrip()))
        self.assertEqual(2 * prefixed, len(events))
        return sorted(events), odd

    def compare(self, name):
        peer, (ours, odd) = self.peer_events(name), self.our_events(name)
        self.assertEqual(len(ours), len(peer))
        self.assertEqual([event[:4] for event in ours], [event[:4] for event in peer])
        differ = [(one, other) for one, other in zip(ours, peer) if one != other and one[3] not in odd]
        self.assertEqual(differ[:3], [])
        return ours

    def test_version_6(self):
        events = self.compare("six.dat")
        run = self.ftr("dump", "--no-pager", "six.dat")
        systems = set(re.findall(r"\[event\] (\w+):", run.stdout))
        self.assertGreaterEqual(len(systems), SYSTEMS_MIN, systems)
        self.assertGreater(len(events), 1000)

    def test_converted_by_trace_cmd(self):
        for words in (["--compression", "zstd"], ["--compression", "none"], ["--file-version", "6"]):
            run = self.trace_cmd("convert", "-i", "six.dat", "-o", "converted.dat", *words)
            self.assertEqual(run.returncode, 0, run.stderr)
            self.compare("converted.dat")

    def test_written_by_ftr(self):
        """trace-cmd shows of what ftr writes what ftr showed."""
        ours, _ = self.our_events("six.dat")
        self.assertEqual(self.ftr("convert", "six.dat", "written.dat").returncode, 0)
        peer = sorted((*event[:4], event[4].removeprefix(PREFIX.rstrip()).lstrip())
                      for event in self.peer_events("written.dat"))
        self.assertEqual(len(peer), len(ours))
        self.assertEqual([pair for pair in zip(peer, ours) if pair[0] != pair[1]][:3], [])

    def test_lost_events(self):
        """As many as trace-cmd counts."""
        run = self.trace_cmd("report", "-t", "-N", "six.dat")
        peer = sorted(re.findall(r"CPU:(\d+) \[(?:(\d+) )?EVENTS DROPPED\]", run.stdout))
        shown = self.ftr("replay", "--no-pager", "six.dat").stdout
        ours = sorted((cpu, nr) for nr, cpu in re.findall(r"LOST (?:(\d+) )?kernel events? of CPU (\d+)", shown))
        self.assertEqual(ours, peer)


if __name__ == "__main__":
    harness.main()
