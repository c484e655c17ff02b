# SPDX-License-Identifier: MIT
"""Storms of tasks that are created while their creators end: nothing hangs, and each task is announced and ends.

FTR_STORMS is the number of storms of each kind (default 150).
"""
import os
import random
import re
import shutil
import signal
import subprocess
import time
import unittest

from recording import FTR, TIMEOUT, build, harness, run_observed

STORMS = harness.storms(150, short=30)
SECONDS = TIMEOUT + STORMS // 5

CREATORS = ("thread", "fork", "raw_fork", "vfork", "sibling", "all")
ENDERS = ("return", "exit_group", "exec", "kill", "fault", "parent")


def is_pending(pid, signal_nr):
    """Has the process not taken the signal yet?"""
    try:
        with open(f"/proc/{pid}/status", encoding="utf-8") as file:
            words = dict(line.split(":\t", 1) for line in file if ":\t" in line)
    except OSError:
        return False
    return any(int(words[name], 16) >> (signal_nr - 1) & 1 for name in ("SigPnd", "ShdPnd") if name in words)


class StormTest(harness.Test):

    @classmethod
    def set_up_class(cls):
        run_observed("record", "--syscalls", "--format=etrace", "-o", "/dev/null", "true")
        build("observed_storm.c", "storm", "-w", "-O1")

    def check_text(self, name, what):
        """Every task is announced before its first line, and has an Exit."""
        check = self.ftr("check", "--etrace", name)
        self.expect(check.returncode == 0, f"{what}: {check.stdout[:400]}")
        with open(name, encoding="ascii") as file:
            text = file.read()
        tasks = {line.partition(",")[0] for line in text.splitlines()}
        announced = re.findall(r"!SchedFork\|pid=(\d+)$", text, re.M)
        exits = re.findall(r"^(\d+),.*!Exit\|", text, re.M)
        self.expect(len(set(announced)) == len(announced), f"{what}: a task was announced twice")
        self.expect(len(tasks) == len(announced) + 1, f"{what}: {len(tasks)} tasks, {len(announced)} SchedFork")
        self.expect(len(exits) == len(tasks), f"{what}: {len(tasks)} tasks, {len(exits)} Exit")
        return len(tasks)

    def storm(self, creator, ender, seed):
        # Its parent waits for it, as a shell does: that one must come back, too.
        script = f"./storm {creator} {ender} {STORMS} {seed}; exit 7"
        done = self.ftr("record", "--syscalls", "--format=etrace", "-o", "text", "sh", "-c", script, timeout=SECONDS)
        self.expect(done.returncode == 7, f"{creator} {ender}: exit status {done.returncode}: {done.stderr}")
        self.expect(self.check_text("text", f"{creator} {ender}") > STORMS, f"{creator} {ender}: no storms")

    def test_threads(self):
        for seed, ender in enumerate(ENDERS):
            self.storm("thread", ender, seed)

    def test_processes(self):
        for seed, creator in enumerate(CREATORS[1:]):
            for ender in ("exec", "parent", ENDERS[seed % len(ENDERS)]):
                self.storm(creator, ender, seed)

    def test_root(self):
        """The program itself ends so: its end is as without the observer."""
        for seed in range(min(STORMS, 1000) // 5):
            ender, status = (("return", 0), ("kill", 137), ("exec", 0), ("exit_group", 0))[seed % 4]
            done = self.ftr("record", "--syscalls", "--format=etrace", "-o", "text", "./storm", "thread", ender, "0",
                            str(seed))
            self.expect(done.returncode == status, f"root {ender}: exit status {done.returncode}: {done.stderr}")
            self.check_text("text", f"root {ender} {seed}")

    def test_requests(self):
        """Three signals end ftr at whatever moment they come, and what it observes with it."""
        random.seed(1)
        for _ in range(10):
            child = self.start_program(FTR, "record", "--syscalls", "--format=etrace", "-o", "text", "sh", "-c",
                                       "trap '' TERM; echo go; while :; do /bin/true; done")
            child.stdout.readline()
            for _ in range(3):
                time.sleep(random.random() / 50)
                child.send_signal(signal.SIGTERM)
                time.sleep(0.02)
                while is_pending(child.pid, signal.SIGTERM):    # two at one moment would be one
                    time.sleep(0.01)
            child.communicate(timeout=TIMEOUT)
            self.expect(child.returncode == 137, f"exit status {child.returncode}")

    @unittest.skipUnless(shutil.which("strace"), "strace is not installed")
    def test_calls(self):
        """A stop costs two waits at most, and signals cost none."""
        script = "i=0; while [ $i -lt 100 ]; do /bin/true; i=$((i + 1)); done"
        done = self.run_program("strace", "-c", "-o", "calls", FTR, "record", "--syscalls", "--format=etrace", "-o",
                                "text", "sh", "-c", script)
        if done.returncode != 0:
            self.skipTest("strace cannot trace ftr here")
        with open("calls", encoding="ascii") as file:
            calls = {words[-1]: int(words[3]) for words in map(str.split, file)
                     if len(words) > 4 and words[3].isdigit()}
        self.expect(calls["wait4"] < calls["ptrace"], f"{calls}")
        self.expect(calls.get("rt_sigtimedwait", 0) < 10, f"{calls}")

    def test_directory(self):
        """The same, with a recorder beside the observer, and its data read."""
        script = f"./storm thread exec {STORMS} 1; ./storm all parent {STORMS} 2; exit 7"
        done = self.ftr("record", "--syscalls", "-d", "data", "sh", "-c", script, timeout=SECONDS)
        self.expect(done.returncode == 7, f"directory: exit status {done.returncode}: {done.stderr}")
        self.check_text("data/syscalls.etrace", "directory")


if __name__ == "__main__":
    harness.main()
