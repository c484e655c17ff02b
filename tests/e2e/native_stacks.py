# SPDX-License-Identifier: MIT
"""record -T FUNC@backtrace: the stack that a call was made on, compared with what backtrace(3) finds untraced."""
import json
import os
import re
import subprocess
import unittest

from recording import CC, CXX, FTR, Recording, build, harness

BUILDS = {"pg": ["-pg"], "fentry": ["-pg", "-mfentry"], "cyg": ["-finstrument-functions"],
          "entries": ["-fpatchable-function-entry=5"]}
CALLS = 10      # of wanted(): see the program


class NativeStacks(Recording):
    @classmethod
    def set_up_class(cls):
        super().set_up_class()
        for name, flags in BUILDS.items():
            build("native_stacks.c", name, "-O2", *([] if "clang" in CC[0] else ["-fno-ipa-icf"]), *flags)
        subprocess.run([FTR, "record", *cls.options, "-T", "wanted@backtrace", "./pg"], stderr=subprocess.DEVNULL,
                       timeout=harness.TIMEOUT, check=True)
        if not os.path.exists("d/calls.stacks"):
            raise unittest.SkipTest("ftr was built without libunwind")

    def native(self, program):
        """[[(module, offset)]] of each call, the innermost caller first."""
        run = subprocess.run(["./" + program], stdout=subprocess.PIPE, text=True, env=dict(os.environ, SHOW="1"),
                             timeout=harness.TIMEOUT, check=True)
        stacks = [[(module, int(offset, 16)) for module, offset in re.findall(r"(\S+)\+([0-9a-f]+)", line)]
                  for line in run.stdout.splitlines() if line.startswith("STACK")]
        return [stack[2:] for stack in stacks]      # without show and wanted

    def stored(self):
        """{number: [(module, offset, name)]}, the innermost first."""
        frames, stacks = {}, {}
        for line in open("d/calls.stacks").read().splitlines():
            kind, number, *rest = line.split("\t")
            if kind == "F":
                frames[int(number, 16)] = (os.path.basename(rest[2]), int(rest[0], 16), rest[3])
            else:
                stacks[int(number, 16)] = [frames[int(frame, 16)] for frame in rest[0].split(",")]
        self.assertEqual(len({tuple(stack) for stack in stacks.values()}), len(stacks))
        return stacks

    def numbers(self):
        text = self.ftr("dump", "-d", "d").stdout
        return [int(number) for number in re.findall(r"ftr:backtrace.*?stack=(\d+)", text)]

    def shown(self):
        """[[name, outermost first]] before each call of wanted."""
        run = self.ftr("replay", "--no-pager", "-d", "d")
        self.assertEqual((run.returncode, run.stderr), (0, ""))
        found, stack = [], []
        for line in run.stdout.splitlines():
            caller = re.search(r"backtrace \[ *\d+\] \| /\* \[ *(\d+)\] (.*) \*/$", line)
            if caller:
                self.assertEqual(int(caller[1]), len(stack))
                stack.append(caller[2])
            elif stack:
                self.assertIn("wanted(", line)
                found.append(stack)
                stack = []
        return found

    def run_recorded(self, program, *words, status=0):
        patch = ["-P", "."] if program == "entries" else []
        self.record(*patch, "-T", "wanted@backtrace", "./" + program, *words, status=status, quiet=status == 0)

    def test_as_backtrace(self):
        """What is stored is within the calls that backtrace(3) finds to return to: right behind, or, interrupted, there."""
        for program in BUILDS:
            with self.subTest(program=program):
                self.run_recorded(program)
                native, stored, numbers = self.native(program), self.stored(), self.numbers()
                self.assertEqual((len(native), len(numbers)), (CALLS, CALLS))
                for wanted, number in zip(native, numbers):
                    got = [(module, offset) for module, offset, _ in stored[number]]
                    self.assertEqual(len(got), len(wanted), (wanted, got))
                    for one, other in zip(got, wanted):
                        self.assertIn(one, [other, (other[0], other[1] - 1)])
                shown = self.shown()
                self.assertEqual([[name for _, _, name in reversed(stored[number]) if name] for number in numbers],
                                 [[name for name in stack if "+0x" not in name] for stack in shown])
                self.assertEqual(shown[0][-4:], ["main", "middle", "bare_outer", "bare_inner"])
                self.assertEqual(max(stack.count("deep") for stack in shown), 501)

    def test_library_calls(self):
        """Of functions of a library, too, whose entries in the GOT lead to the hook."""
        for program in BUILDS:
            with self.subTest(program=program):
                run = self.ftr("record", "--no-event", "-d", "d", "-T", "qsort@backtrace", "./" + program)
                self.assertEqual(run.returncode, 0, run.stderr)
                stored = self.stored()
                self.assertEqual([[name for _, _, name in stored[number]][0] for number in self.numbers()], ["main"])

    def test_one_for_all(self):
        """A program that is killed at once; and of a thousand calls from one place there is one stack."""
        for program in BUILDS:
            with self.subTest(program=program):
                self.run_recorded(program, "loop", status=137)
                self.assertEqual(set(self.numbers()), {1})
                self.assertEqual(len(self.numbers()), 1000)
                self.assertEqual([name for _, _, name in self.stored()[1]][:5],
                                 ["bare_inner", "bare_outer", "middle", "loop", "main"])

    def test_nothing_unasked(self):
        self.record("./pg")
        self.assertFalse(os.path.exists("d/calls.stacks"))
        self.assertEqual(self.numbers(), [])

    def lines(self, *words):
        """[call with its callers, joined by semicolons], of each call that there is; all of them end, but at the end of a range."""
        run = self.ftr("dump", "--chrome", "--stack", *words, "-d", "d")
        self.assertEqual((run.returncode, run.stderr), (0, ""))
        lines, tasks = [], {}
        for event in json.loads(run.stdout)["traceEvents"]:
            line = tasks.setdefault(event.get("tid"), [])
            if event["ph"] == "B":
                line.append(event["name"])
                lines.append(";".join(line))
            elif event["ph"] == "E":
                line.pop()
        if "-r" not in words:
            self.assertEqual([line for line in tasks.values() if line], [])
        return lines

    def calls(self, *words):
        """{function: CALLS}"""
        run = self.ftr("report", "--no-pager", "--no-event", *words, "-d", "d")
        self.assertEqual((run.returncode, run.stderr), (0, ""))
        return {line.split()[-1]: int(line.split()[-2]) for line in run.stdout.splitlines()[2:]
                if line.split()[-2].isdigit()}

    def test_callers(self):
        """Functions that are not traced are between the traced call and the call, once for each."""
        for program in BUILDS:
            with self.subTest(program=program):
                self.run_recorded(program)
                plain, stacks = self.calls(), self.calls("--stack")
                self.assertNotIn("bare_inner", plain)
                self.assertEqual({name: stacks[name] for name in plain}, plain)
                self.assertEqual(stacks["bare_inner"], stacks["bare_outer"])
                self.assertEqual(stacks["bare_inner"], plain["wanted"] - plain["compare"])
                lines = self.lines()
                middle = ";middle;bare_outer;bare_inner;wanted"
                self.assertTrue(any(line.endswith("main" + middle) for line in lines), lines)
                self.assertTrue(any(line.endswith("thread" + middle) for line in lines), lines)
                self.assertTrue(any(line.endswith("coroutine" + middle) for line in lines), lines)
                self.assertTrue(any(line.endswith("tail_last;bare_outer;bare_inner;wanted") for line in lines), lines)
                self.assertEqual(max(line.split(";").count("deep") for line in lines), 501)
                self.assertFalse(any("<lost>" in line or "compare;compare" in line for line in lines), lines)
                graph = self.ftr("graph", "-f", "none", "bare_inner", "-d", "d").stdout
                self.assertRegex(graph, r"(?s)bare_outer.*bare_inner.*wanted")

    def test_callers_in_a_library(self):
        """With several stacks nested: each has what is between it and the recorded call around it."""
        self.record("--no-libcall", "-T", "wanted@backtrace", "-T", "compare@backtrace", "./pg", quiet=True)
        lines = [line.split(";") for line in self.lines()]
        nested = [line for line in lines if "compare" in line and line[-1] == "wanted"]
        self.assertTrue(nested)
        for line in nested:
            self.assertEqual(line[-2:], ["compare", "wanted"])
            self.assertEqual((line.count("main"), line.count("compare")), (1, 1))
            self.assertGreater(line.index("compare"), line.index("main") + 1)   # qsort of the C library

    def test_callers_selected(self):
        """By task, function and depth of the calls that there are, and of a packed directory."""
        self.run_recorded("pg")
        whole = self.lines()
        threads = {int(tid) for tid in re.findall(r"tid=(\d+)", open("d/task.txt").read())}
        parts = [self.lines("--tid", str(tid)) for tid in threads]
        self.assertEqual(sorted(line for part in parts for line in part), sorted(whole))
        self.assertEqual(set(self.calls("--stack", "-F", "bare_inner")), {"bare_inner", "wanted"})
        self.assertNotIn("bare_inner", self.calls("--stack", "-N", "bare_outer"))
        self.assertEqual(self.calls("--stack", "-r", "0~1h"), self.calls("--stack"))
        self.assertEqual(self.ftr("pack", "d").returncode, 0)
        self.assertEqual(self.lines(), whole)

    def slices(self, nr):
        """-r of @nr parts of the trace, beside each other."""
        lines = self.ftr("replay", "-f", "time", "--no-event", "-d", "d").stdout.splitlines()
        times = [int(line.split()[0].replace(".", "")) for line in lines if line[:20].strip()[:1].isdigit()]
        step = (times[-1] - times[0]) // nr + 1
        for start in range(times[0], times[-1] + 1, step):
            yield "~".join("%d.%09d" % divmod(time, 10 ** 9) for time in (start, start + step - 1))

    def test_left_by_jumps(self):
        """What a jump leaves ends with it, in a part of the trace and above a threshold, too."""
        jumps = ["main", "middle", "bare_outer", "bare_inner", "wanted"]
        for program, flags in BUILDS.items():
            build("native_jumps.c", "jumps-" + program, "-O2", *flags)
            patch = ["-P", "."] if program == "entries" else []
            with self.subTest(program=program):
                self.record("--no-libcall", *patch, "-T", "wanted@backtrace", "./jumps-" + program)
                whole = [line.split(";") for line in self.lines()]
                self.assertEqual([line[-5:] for line in whole if line[-1] == "wanted"], [jumps] * 200)
                self.assertEqual(self.calls("--stack"), {name: 200 for name in jumps} | {"main": 1})
                parts = [line.split(";") for part in self.slices(7) for line in self.lines("-r", part)]
                parts = [line[-5:] for line in parts if line[-1] == "wanted"]
                self.assertEqual((set(map(tuple, parts)), len(parts) >= 200), ({tuple(jumps)}, True))
                above = [self.calls("--stack", "-t", least) for least in ("200ns", "1us", "5us")]
                for calls in above:
                    self.assertEqual({calls.get(name, 0) for name in jumps[2:]}, {calls.get("wanted", 0)})
                self.assertEqual(self.ftr("dump", "--chrome", "--stack", "-t", "1us", "-d", "d").returncode, 0)

    def test_converted(self):
        """As a directory, as FXT, and from there on: the same stacks, of the same calls."""
        self.run_recorded("pg")
        rule = ["-T", "wanted@backtrace"]
        whole = [self.ftr(*words, "d").stdout for words in (["report", "--stack"], ["graph"], ["replay", *rule])]
        self.assertIn("bare_inner", whole[0])
        for source, target in (("d", "d2"), ("d", "d.fxt"), ("d.fxt", "d3"), ("d3", "e.fxt"), ("d.fxt", "f.fxt")):
            run = self.ftr("convert", source, target)
            self.assertEqual((run.returncode, run.stderr), (0, ""))
            self.assertEqual([self.ftr(*words, target).stdout
                              for words in (["report", "--stack"], ["graph"], ["replay", *rule])], whole)
        for path in ("d3/calls.stacks", "f.fxt"):
            self.assertEqual(open(path, "rb").read(), open({"f.fxt": "d.fxt"}.get(path, "d2/calls.stacks"), "rb").read())
        with open("d.fxt", "rb") as file:
            damaged = file.read().replace(b"\nS\t1\t", b"\nS\t9\t", 1)
        with open("damaged.fxt", "wb") as file:
            file.write(damaged)
        run = self.ftr("replay", "damaged.fxt")
        self.assertEqual(run.returncode, 0)
        self.assertRegex(run.stderr, r"^ftr: warning: ftr\.stacks:\d+: no frame or stack; what follows is not shown\n$")

    def test_callers_of_methods(self):
        """C++, called back by a library that is not traced."""
        source = harness.SRCDIR + "/tests/prog/native_callers.cc"
        subprocess.run([*CXX, "-O2", "-DLIBRARY", "-shared", "-fPIC", "-o", "libplain.so", source], check=True)
        subprocess.run([*CXX, "-O2", "-pg", "-o", "methods", source, "./libplain.so"], check=True)
        self.record("--no-libcall", "-T", "shop::Basket::add@backtrace", "-T", "back@backtrace", "./methods", quiet=True)
        lines = [line.split(";") for line in self.lines()]
        line, other = [line for line in lines if line[-1] == "shop::Basket::add"]
        self.assertEqual(line, other)
        self.assertEqual(line[-4:], ["plain::twice", "plain::once", "back", "shop::Basket::add"])
        self.assertEqual(line.count("main"), 1)
        self.assertEqual(self.calls("--stack")["plain::once"], 2)

    def test_without_stacks(self):
        """Numbers of stacks that are not there, or of a file that is damaged: the traced calls are shown, as ever."""
        self.run_recorded("pg")
        whole = open("d/calls.stacks", "rb").read()
        full = self.shown()
        os.remove("d/calls.stacks")
        traced = self.shown()
        self.assertEqual(len(traced), CALLS)
        self.assertEqual(traced[0], ["main", "middle"])
        for step in range(7, len(whole), len(whole) // 20):
            for damaged in (whole[:step], whole[:step] + b"\x01\t,\n" + whole[step:],
                            whole[:step] + bytes([whole[step] ^ 0x15]) + whole[step + 1:]):
                with open("d/calls.stacks", "wb") as file:
                    file.write(damaged)
                for command in (["replay", "--no-pager"], ["dump"], ["report", "--no-pager"], ["dump", "--chrome"]):
                    run = self.ftr(*command, "-d", "d")
                    self.assertEqual(run.returncode, 0, run.stderr)
                    self.assertRegex(run.stderr, r"^(ftr: warning: calls.stacks:\d+: (no frame or stack|the file ends inside).*\n)*$")
        with open("d/calls.stacks", "wb") as file:
            file.write(whole[:whole.index(b"S\t2\t")])
        some = self.shown()
        self.assertEqual((some[0], some[1:]), (full[0], traced[1:]))


if __name__ == "__main__":
    harness.main()
