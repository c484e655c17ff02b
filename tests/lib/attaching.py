# SPDX-License-Identifier: MIT
"""What tests of record -p have in common."""
import os
import platform
import re
import signal

import harness
from harness import FTR

IS_X86 = platform.machine() == "x86_64"
NO_LANDING = ["-fcf-protection=none"] if IS_X86 else []
FENTRY = ["-pg", "-mfentry"] if IS_X86 else ["-pg"]


def mappings(pid):
    with open(f"/proc/{pid}/maps", encoding="ascii") as file:
        return [line.split(maxsplit=5) for line in file]


def code(pid):
    """What can be executed of the program and its libraries, by address."""
    parts = {}
    with open(f"/proc/{pid}/mem", "rb") as memory:
        for words in mappings(pid):
            path = words[5].strip() if len(words) > 5 else ""
            if "x" not in words[1] or not path.startswith("/") or "libmcount" in path:
                continue
            low, high = (int(word, 16) for word in words[0].split("-"))
            memory.seek(low)
            parts[path, low] = memory.read(high - low)
    return parts


class Test(harness.Test):
    def setUp(self):
        super().setUp()
        probe = self.ftr("record", "-p", "1999999999", "-d", "none")
        if "was built without libunwind" in probe.stderr:
            self.skipTest("built without libunwind")

    def attach(self, pid, *options, data="data"):
        """The recorder, which is recording.  That of a test that failed does not fill the disk."""
        recorder = self.start_program(FTR, "record", "-v", "-p", str(pid), "-d", data, "--max-size=100M", *options)
        self.wait_for(lambda: recorder.poll() is not None or self.has_calls(data))
        return recorder

    @staticmethod
    def has_calls(data):
        return any(name.endswith(".dat") and name[0].isdigit() and os.path.getsize(f"{data}/{name}") > 0
                   for name in os.listdir(data))

    def leave(self, recorder, status=0):
        recorder.send_signal(signal.SIGINT)
        _, errors = recorder.communicate(timeout=harness.TIMEOUT)
        self.assertEqual(recorder.returncode, status, errors)
        return errors

    def replayed(self, data):
        """Status of replay, of the first calls: programs that call all the time make some millions."""
        return self.ftr("replay", "--no-pager", "-d", data, "-r", "~1ms").returncode

    def calls(self, function, data="data"):
        report = self.ftr("report", "-d", data, "-f", "call").stdout
        found = re.search(rf"^ *(\d+)  {function}$", report, re.M)
        return int(found[1]) if found else 0
