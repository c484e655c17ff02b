# SPDX-License-Identifier: MIT
"""Who makes, ends, cancels and detaches threads: record --probe=thread."""
import collections
import errno
import re
import shutil
import subprocess

from recording import FTR, TIMEOUT, AsNative, harness

import swap_made


class ThreadsTest(AsNative):
    def output(self, *words):
        done = self.ftr(*words)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def calls(self, path="d"):
        """By caller: what was called with what, and what it answered; which thread has a number."""
        found, begun, tid, threads = collections.defaultdict(list), {}, 0, {}
        for line in self.output("dump", "-d", path).splitlines():
            start = re.match(r"[\d.]+ +(\d+): \[event\] (?:thread|sync):", line)
            if start:
                tid = int(start.group(1))
            match = re.match(r"  (?:thread|sync):([\w]+)(-wait|-done)?: (.*)", line)
            if match is None:
                continue
            kind, values = match.group(1), dict(word.split("=", 1) for word in match.group(3).split(", "))
            if match.group(2) != "-done":
                caller = re.sub(r"^&(\w+)\+.*", r"\1", values["caller"])
                if kind == "exit":
                    found[caller].append((kind, values["answer"]))
                else:
                    begun[tid] = (kind, values, caller)
                continue
            kind, begin, caller = begun.pop(tid)
            thread = values.get("thread", values.get("object"))
            self.assertIn(begin.get("thread", begin.get("object", thread)), (thread,))
            if kind == "create":
                threads[thread] = begin["routine"].lstrip("&")
                found[caller].append((kind, begin["routine"].lstrip("&"), begin["is_detached"], int(values["result"])))
            else:
                found[caller].append((kind, threads.get(thread, "itself"), int(values["result"])))
        self.assertEqual(begun, {})
        return dict(found)

    EACH = {
        "joined": [("create", "leaves", "0", 0), ("join", "leaves", 0)], "leaves": [("exit", "0x7")],
        "cancelled": [("create", "sleeps", "0", 0), ("cancel", "sleeps", 0), ("join", "sleeps", 0)],
        "detached": [("create", "returns", "0", 0), ("detach", "returns", 0), ("create", "returns", "1", 0),
                     ("join", "itself", errno.EDEADLK)],
    }

    def test_each(self):
        for flags in ([], ["-pg"], ["-finstrument-functions"]):
            self.compile("calls", "thread_calls.c", "-pthread", *flags)
            for options in ([], ["--no-libcall"], ["--probe=sync,file,memory"]):
                with self.subTest(flags=flags, options=options):
                    self.same_as_native(["--no-event", "--probe=thread", *options], "./calls")
                    self.assertEqual(self.calls(), self.EACH)

    def test_converted(self):
        self.compile("calls", "thread_calls.c", "-pthread", "-pg")
        self.same_as_native(["--no-event", "--probe=thread"], "./calls")
        self.output("convert", "d", "x.fxt")
        self.output("dump", "--format=swap", "-o", "x.swap", "-d", "d")
        for source in ("d", "x.fxt", "x.swap"):
            with self.subTest(source=source):
                shutil.rmtree("other", ignore_errors=True)
                self.output("convert", source, "other")
                self.assertEqual(self.calls("other"), self.EACH)

    def test_messages(self):
        """PROBE_THREAD of SWAP, by the tables alone: new 0, exit 3, wait 4 and 5, other 8."""
        self.compile("calls", "thread_calls.c", "-pthread", "-pg")
        self.same_as_native(["--no-event", "--probe=thread"], "./calls")
        self.output("dump", "--format=swap", "-o", "x.swap", "-d", "d")
        with open("x.swap", "rb") as stream, open("x.swap.side", encoding="utf-8") as side:
            numbers = dict(line.split() for line in side if line.startswith(("cpus\t", "devices\t")))
            found = [values for ident, _, _, values in swap_made.messages(stream.read(), int(numbers["cpus"]), int(numbers["devices"]))
                     if ident == 0x0108]
        self.assertEqual(collections.Counter(values["api_type"] for values in found), {0: 4, 3: 1, 4: 3, 5: 3, 8: 2})
        self.assertTrue(all(values["pthread"] != 0 for values in found if values["api_type"] != 3))


if __name__ == "__main__":
    harness.main()
