#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""ftr ctl -P and -U: which functions are patched changes while threads run in them."""
import os
import re
import signal
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../lib"))
import attaching
import harness
from attaching import code
from harness import FTR, TIMEOUT, build

BUILDS = {"plain": ["-fcf-protection=none"], "patched": ["-fpatchable-function-entry=5"], "fentry": ["-pg", "-mfentry"]}
FLIPS = harness.storms(4, short=2) * 2
ALL = "outer() {\nmiddle() {\nleaf();\nleaf();\n} /* middle */\n} /* outer */\n"
LEAVES = "leaf();\nleaf();\n"


class ControlPatch(attaching.Test):
    @classmethod
    def set_up_class(cls):
        for name, flags in BUILDS.items():
            build("controlled.c", name, "-O1", *flags, compiler=["gcc"])
        build("attach_library.c", "libattached.so", "-O1", "-shared", "-fPIC", "-fcf-protection=none", compiler=["gcc"])
        build("attach_code.c", "storm-plain", "-O1", "-DLIBRARY", "-fcf-protection=none", "-Wl,--no-as-needed",
              f"{os.getcwd()}/libattached.so", compiler=["gcc"])
        build("attach_code.c", "storm-patched", "-O1", "-fpatchable-function-entry=5", "-DPREPARED", compiler=["gcc"])

    def kinds(self):
        has_decoder = "without a decoder" not in self.ftr("record", "-d", "probe", "-P", ".", "true").stderr
        return ["patched"] + (["plain"] if has_decoder else [])

    def step(self, child):
        child.stdin.write("step\n")
        child.stdin.flush()
        self.assertEqual(child.stdout.readline(), "step\n")

    def pid_of(self, child):
        self.wait_for(lambda: os.path.exists("d/task.txt") and "SESS" in open("d/task.txt").read())
        return int(re.search(r"^SESS .* pid=(\d+) ", open("d/task.txt").read(), re.M).group(1))

    def state(self, pid):
        run = self.ftr("ctl", str(pid))
        self.assertEqual((run.returncode, run.stderr), (0, ""))
        return run.stdout

    def change(self, pid, *words):
        """Made, when this returns; how many functions are patched then."""
        run = self.ftr("ctl", *words, str(pid))
        self.assertEqual((run.returncode, run.stdout, run.stderr), (0, "", ""), words)
        self.wait_for(lambda: "changing" not in self.state(pid))
        return int(re.search(r"^patched +: (\d+) function", self.state(pid), re.M).group(1))

    def calls(self, tid):
        run = self.ftr("replay", "-f", "none", "--tid", str(tid), "d")
        self.assertEqual((run.returncode, run.stderr), (0, ""))
        lines = [line.strip() for line in run.stdout.splitlines() if "linux:" not in line]
        return "\n".join(re.sub(r"/\* external-data: control: (.*) \*/", r"<\1>", line) for line in lines)

    CHANGES = (
        (["-U", "middle"], "unpatch middle", "outer() {\n" + LEAVES + "} /* outer */\n"),
        (["-U", "outer", "-P", "middle"], "unpatch outer, patch middle", "middle() {\n" + LEAVES + "} /* middle */\n"),
        (["-U", "."], "unpatch .", ""),
        (["-P", "leaf"], "patch leaf", LEAVES),
        (["--reset"], "reset", ALL),
        (["--reset", "-U", "mid.*", "--depth=1"], "reset, unpatch mid.*, depth 1", "outer();\n"),
    )

    def test_started(self):
        for kind in self.kinds():
            child = self.start_program(FTR, "record", "--agent", "--no-libcall", "--clock=counter", "-d", "d", "-P", ".", "-U",
                                       "main", f"./{kind}")
            self.step(child)
            pid = self.pid_of(child)
            for words, _, _ in self.CHANGES:
                self.change(pid, *words)
                self.step(child)
            out, err = child.communicate(timeout=TIMEOUT)
            self.assertEqual((child.returncode, out, err), (0, "", ""))
            self.assertEqual(self.calls(pid), (ALL + "".join(f"<{text}>\n{calls}" for _, text, calls in self.CHANGES)).strip())
            os.rename("d", f"d-{kind}")

    def test_attached(self):
        """And what was patched is put back, byte for byte, whatever was asked for last."""
        for kind in self.kinds():
            child = self.start_program(f"./{kind}", "2")
            self.step(child)
            before = code(child.pid)
            recorder = self.start_program(FTR, "record", "--agent", "--no-libcall", "-d", "d", "-P", "leaf", "-p", str(child.pid))
            self.wait_for(lambda: self.ftr("ctl", str(child.pid)).returncode == 0)
            self.wait_for(lambda: (self.step(child), "calls           : 0" not in self.state(child.pid))[1])
            for words in (["-U", "leaf"], ["-P", "outer"], ["-P", "leaf", "-U", "outer"], ["-P", "."]):
                self.change(child.pid, *words)
                self.step(child)
            recorder.send_signal(signal.SIGINT)
            _, err = recorder.communicate(timeout=TIMEOUT)
            self.assertEqual(recorder.returncode, 0, err)
            after = code(child.pid)
            self.assertEqual([key for key in before if after.get(key) != before[key]], [])
            self.step(child)
            child.communicate(timeout=TIMEOUT)
            self.assertEqual(child.returncode, 0)
            calls = self.calls(child.pid)
            self.assertIn("<unpatch leaf>\n<patch outer>\nouter();\n<patch leaf, unpatch outer>\nleaf();\nleaf();\n<patch .>\n" + ALL,
                          calls + "\n")
            os.rename("d", f"d-attached-{kind}")

    def storm(self, kind, *words):
        child = self.start_program(FTR, "record", "--agent", "--no-libcall", "--trace=off", "-d", "d", *words, f"./storm-{kind}",
                                   "many", "loop", "wait")
        self.assertEqual(child.stdout.readline(), "ready\n")
        return child, self.pid_of(child)

    def end(self, child, pid):
        os.kill(pid, signal.SIGTERM)
        out, err = child.communicate(timeout=TIMEOUT)
        self.assertIn("wrong 0\n", out, err)

    def test_while_threads_run(self):
        """A thousand functions of threads that call nothing else, to and fro: each result is right."""
        for kind in self.kinds():
            child, pid = self.storm(kind)
            counts = set()
            for flip in range(FLIPS):
                counts.add(self.change(pid, "-U", "." if flip % 2 else "f0[0-4].*"))
                counts.add(self.change(pid, "-P", "."))
            self.assertGreaterEqual(max(counts), 800)     # some lie on two pages
            self.assertLess(self.change(pid, "-U", "."), 5)     # main, or what a thread waits in
            self.end(child, pid)
            os.rename("d", f"d-storm-{kind}")

    def test_killed_recorder(self):
        """In the midst of a change: what is patched stays so, and the program goes on."""
        for flip in range(FLIPS):
            child, pid = self.storm(self.kinds()[flip % len(self.kinds())])
            recorder = int(re.search(r"process (\d+)", self.state(pid)).group(1))
            self.ftr("ctl", "-U", ".", str(pid))
            time.sleep(flip * 0.003)
            os.kill(recorder, signal.SIGKILL)
            time.sleep(0.1)
            self.assertRegex(open(f"/proc/{pid}/status").read(), r"State:\t[RS]")
            os.kill(pid, signal.SIGTERM)
            self.assertIn("wrong 0\n", child.stdout.read())
            child.communicate(timeout=TIMEOUT)
            os.rename("d", f"d-killed-{flip}")

    def test_library(self):
        """One that was named when the recording started, and one that was not."""
        if "plain" not in self.kinds():
            self.skipTest("without a decoder nothing is patched that was not prepared")
        for words, status in (([], 1), (["-P", "library_inner@libattached"], 0)):
            child, pid = self.storm("plain", *words)
            run = self.ftr("ctl", "-U", ".@libattached", "-P", "library_call@libattached", str(pid))
            self.assertEqual((run.returncode, run.stdout), (status, ""), run.stderr)
            if status != 0:
                self.assertRegex(run.stderr, "has to be planned when it is loaded.*--patch=FUNC@LIBRARY")
            self.end(child, pid)
            os.rename("d", f"d-library-{status}")

    def test_refused(self):
        """What calls a hook by itself is not patched; what is wrong changes nothing."""
        child = self.start_program(FTR, "record", "--agent", "--no-libcall", "-d", "d", "./fentry")
        self.step(child)
        pid = self.pid_of(child)
        for words, text in ((["-P", "leaf"], "nothing of process .* can be patched: .*--filter"), (["-U", "leaf"], "can be patched")):
            run = self.ftr("ctl", *words, str(pid))
            self.assertEqual((run.returncode, run.stdout), (1, ""))
            self.assertRegex(run.stderr, text)
        child.communicate(timeout=TIMEOUT)
        os.rename("d", "d-fentry")
        child = self.start_program(FTR, "record", "--agent", "--no-libcall", "-d", "d", "./patched")
        self.step(child)
        pid = self.pid_of(child)
        for words, text in ((["-P", "nonesuch"], "no function of .* matches nonesuch"), (["-P", "leaf@depth=2"], "only FUNC"),
                            (["-P", "("], "\\("), (["-P", "leaf", "--depth=x"], "no number")):
            run = self.ftr("ctl", "-U", ".", *words, str(pid))
            self.assertEqual((run.returncode, run.stdout), (1, ""), words)
            self.assertRegex(run.stderr, text)
        self.step(child)
        child.communicate(timeout=TIMEOUT)
        self.assertEqual(self.calls(pid).count(ALL.strip()), 2)


if __name__ == "__main__":
    harness.main()
