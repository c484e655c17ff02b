# SPDX-License-Identifier: MIT
"""What the tests of ftr record share: running it, and reading what it wrote."""
import collections
import ctypes.util
import glob
import os
import re
import struct
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../lib"))
sys.dont_write_bytecode = True
import harness      # noqa: E402 (the path comes first)
from harness import CC, CXX, FTR, IS_ROOT, SRCDIR, TIMEOUT, build, is_alive, shell_status     # noqa: E402,F401

ENTRY, EXIT, LOST, EVENT = range(4)
# A process in the text of system calls.
ETRACE = """\
4123,1,636,513177950!New_proc|argsize=5,prognameisize=9,prognamepsize=9,cwdsize=1
4123,1,636,513177951!PI|/bin/true
4123,1,636,513177952!PP|/bin/true
4123,1,636,513177953!CW|/
4123,1,636,513177954!A[0]true
4123,1,636,513177955!End_of_args|
"""
Record = collections.namedtuple("Record", "time type depth addr")


def run_observed(*words, **options):
    """ftr with its observer of system calls; where nothing may be traced, the tests are skipped."""
    done = subprocess.run([FTR, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=TIMEOUT,
                          check=False, **options)
    if "ptrace must be allowed" in done.stderr:
        raise unittest.SkipTest("nothing may be traced here")
    return done


def terminal_text(terminal):
    """What was written to a terminal whose other end is closed; closes it."""
    text = b""
    try:
        while chunk := os.read(terminal, 4096):
            text += chunk
    except OSError:                 # all of it was read
        pass
    os.close(terminal)
    return text.decode().replace("\r\n", "\n")


def allocators():
    """The libraries that stand in for malloc and are installed; without any, the test is skipped."""
    found = {name: path for name in ("jemalloc", "tcmalloc_minimal")
             if (path := ctypes.util.find_library(name)) is not None}
    if not found:
        raise unittest.SkipTest("no allocator is installed")
    return found.items()


class Trace:
    """A data directory, read strictly: what is not well-formed fails the test."""

    def __init__(self, path):
        self.path = path
        with open(path + "/info", "rb") as file:
            info = file.read()
        assert info[:8] == b"Ftrace!\0" and len(info) > 40
        self.info = dict(line.split(":", 1) for line in info[40:].decode().splitlines()
                         if "=" not in line.split(":", 1)[1][:12])
        tids = re.search(r"tids=([\d,]*)", info[40:].decode())
        self.listed = [int(tid) for tid in tids.group(1).split(",")] if tids else []
        with open(path + "/task.txt") as file:
            self.lines = file.read().splitlines()
        self.tasks = {int(os.path.basename(name)[:-4]): self.read(name)
                      for name in glob.glob(path + "/[0-9]*.dat")}

    @staticmethod
    def read(name):
        with open(name, "rb") as file:
            data = file.read()
        assert len(data) % 16 == 0, name
        records, last = [], 0
        for when, word in struct.iter_unpack("<QQ", data):
            assert word & 0x3c == 0x28, "%s: bad record %x" % (name, word)
            assert when >= last, name + ": time goes backwards"
            last = when
            records.append(Record(when, word & 3, word >> 6 & 1023, word >> 16))
        return records

    def only(self):
        assert len(self.tasks) == 1, list(self.tasks)
        return next(iter(self.tasks.values()))

    def words(self, word):
        return [line for line in self.lines if line.startswith(word + " ")]


class AsNative(harness.Test):
    """Programs and libraries that are compiled here, run untraced and traced: nothing differs."""

    def compile(self, out, source, *flags, compiler=CC):
        """@source is a program, or the name of a file, in tests/prog unless it has a path."""
        if "\n" in source:
            name = out + (".cc" if compiler is CXX else ".c")
            with open(name, "w", encoding="ascii") as file:
                file.write(source)
            source = name
        elif "/" not in source:
            source = os.path.join(SRCDIR, "tests/prog", source)
        libraries = [flag for flag in flags if flag.startswith("-l")]
        ours = ["-L.", "-Wl,-rpath," + self.dir, *libraries] if libraries else []
        done = harness.compile_to(out, *compiler, "-D_GNU_SOURCE", "-O2", "-fno-builtin", *flags, source, *ours,
                                  "-ldl", "-lpthread", stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.assertEqual(done.returncode, 0, done.stdout)

    def library(self, name, source, *flags, compiler=CC):
        self.compile(f"lib{name}.so", source, "-shared", "-fPIC", *flags, compiler=compiler)

    def same_as_native(self, options, *program, **environment):
        """The counts of its calls by name."""
        runs = [subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                               timeout=2 * TIMEOUT, check=False,
                               env=dict(os.environ, ASAN_OPTIONS=harness.ASAN_BEHIND, **environment))
                for command in (program, [FTR, "record", "-d", "d", *options, *program])]
        self.assertEqual((runs[1].returncode, runs[1].stdout, runs[1].stderr),
                         (runs[0].returncode, runs[0].stdout, runs[0].stderr))
        return self.report("-f", "call")

    def report(self, *words):
        text = subprocess.run([FTR, "report", "--no-pager", "-d", "d", *words], stdout=subprocess.PIPE, text=True,
                              check=True).stdout
        return {name: int(nr) for nr, name in re.findall(r"^\s*(\d+)\s+(\S+)", text, re.M)}

    def check(self, counts, wanted):
        self.assertEqual({name: counts.get(name, 0) for name in wanted}, wanted)
        self.assertEqual([name for name in counts if name.startswith("<")], [])


class Recording(harness.Test):
    """Programs of our own are recorded, and what was written is looked at."""

    @classmethod
    def set_up_class(cls):
        build("victim.c", "victim", "-pg", "-O1")
        build("victim.c", "plain", "-O1")
        # Where the kernel permits no perf events, each recording would say so.
        probe = subprocess.run([FTR, "record", "-d", "probe", "./victim", "work"], stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, timeout=TIMEOUT, check=False)
        cls.has_events = b"perf_event_open" not in probe.stderr
        cls.options = ["--no-libcall", "-d", "d"] + ([] if cls.has_events else ["--no-event"])

    def record(self, *words, status=0, quiet=True, **options):
        run = self.ftr("record", *self.options, *words, **options)
        self.assertEqual(run.returncode, status, run.stderr)
        if quiet:
            self.assertEqual(run.stderr, "")
        return run

    def refused(self, status, pattern, *words, **options):
        run = self.ftr("record", "--no-libcall", "-d", "d", *words, **options)
        self.assertEqual(run.returncode, status, run.stderr)
        self.assertRegex(run.stderr, pattern)
        self.assertEqual(len(run.stderr.splitlines()), 1)
        self.assertEqual(run.stdout, "")
        self.assertFalse(os.path.exists("d"))

    def start(self, *words):
        child = self.start_program(FTR, "record", *self.options, *words)
        self.assertEqual(child.stdout.readline(), "ready\n")
        return child
