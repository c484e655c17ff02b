#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""record -p: coroutines that wait while the program is left, or attached to again, go on as if it had not been."""
import os
import shutil
import signal
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../lib"))
import attaching
import harness
from harness import build

BUILDS = {"fentry": attaching.FENTRY, "plain": []}


class AttachSwitch(attaching.Test):
    @classmethod
    def set_up_class(cls):
        for name, flags in BUILDS.items():
            build("attach_switch.c", f"switch-{name}", "-O2", *attaching.NO_LANDING, *flags)

    def start(self, name):
        child = self.start_program(f"./switch-{name}")
        self.assertEqual(child.stdout.readline(), "ready\n")
        return child

    def ask(self, child, answer):
        child.send_signal(signal.SIGUSR1)
        self.assertEqual(child.stdout.readline(), answer + "\n")

    def record(self, child):
        """Attached, which is seen by no call: there is none until it is asked."""
        shutil.rmtree("data", ignore_errors=True)
        recorder = self.start_program(harness.FTR, "record", "-p", str(child.pid), "-d", "data", "-P", ".")
        self.wait_for(lambda: recorder.poll() is not None or self.has_session())
        harness.pause(0.5)
        return recorder

    @staticmethod
    def has_session():
        if not os.path.exists("data/task.txt"):
            return False
        with open("data/task.txt", encoding="ascii") as file:
            return "SESS" in file.read()

    def end(self, child):
        self.assertIsNone(child.poll())
        child.send_signal(signal.SIGTERM)
        output, _ = child.communicate(timeout=harness.TIMEOUT)
        self.assertEqual((output, child.returncode), ("wrong 0\n", 0))

    def test_left_meanwhile(self):
        for name in BUILDS:
            with self.subTest(name):
                child = self.start(name)
                for _ in range(3):
                    recorder = self.record(child)
                    self.ask(child, "started")
                    self.assertNotIn("warning", self.leave(recorder))
                    self.assertGreater(self.calls("yield"), 0)
                    self.ask(child, "over")
                self.end(child)

    def test_attached_to_again_meanwhile(self):
        """What one recording has left is still known after others, and in the midst of them."""
        for name in BUILDS:
            with self.subTest(name):
                child = self.start(name)
                recorder = self.record(child)
                self.ask(child, "started")
                self.leave(recorder)
                for _ in range(3):
                    self.leave(self.record(child))
                recorder = self.record(child)
                self.ask(child, "over")
                self.ask(child, "started")
                self.leave(recorder)
                self.leave(self.record(child))
                self.ask(child, "over")
                self.end(child)

    def test_recorder_is_killed_meanwhile(self):
        child = self.start("fentry")
        for _ in range(3):
            recorder = self.record(child)
            self.ask(child, "started")
            recorder.kill()
            recorder.communicate()
            recorder = self.record(child)
            self.ask(child, "over")
            self.leave(recorder)
        self.end(child)


harness.main()
