# SPDX-License-Identifier: MIT
"""CPU samples: record --sample, and what shows them."""
import collections
import os
import re
import resource
import shutil
import subprocess
import unittest

from recording import FTR, TIMEOUT, AsNative, harness

Sample = collections.namedtuple("Sample", "tid stack")
PERIOD = 0.001
BUILDS = (["-pg"], ["-finstrument-functions"], ["-fno-omit-frame-pointer", "-O1"],
          ["-pg", "-mfentry", "-O1", "-fno-omit-frame-pointer"])


def own_of(sums):
    return {name: own for name, (own, _) in sums.items() if own > 0}


class SampleTest(AsNative):
    def output(self, *words):
        done = subprocess.run([FTR, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                              timeout=TIMEOUT, check=False)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout

    def sample(self, *words, options=()):
        """Record into d; what the program and the recorder used of the processors."""
        shutil.rmtree("d", ignore_errors=True)
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        done = subprocess.run([FTR, "record", "-d", "d", "--no-event", "--sample=1ms", *options, *words],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=TIMEOUT, check=False)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        if "--sample: no samples are taken" in done.stderr:
            raise unittest.SkipTest("no perf events here: " + done.stderr.strip())
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    def samples(self, path="d", *options):
        """All of them, each stack with the innermost function first."""
        return [Sample(int(match.group(1)), match.group(2).split(" < ")) for match in
                re.finditer(r"\[ *(\d+)\] .*/\* sample:cpu \((.*)\) \*/",
                            self.output("replay", "-d", path, "--no-pager", "--event-full", *options))]

    def sums(self, path="d"):
        """{function: (its samples, those below it, too)}"""
        rows = self.output("report", "-d", path, "--no-pager", "--by=sample", "-f", "self-samples,samples").splitlines()
        return {row.split(None, 2)[2]: tuple(int(word) for word in row.split()[:2]) for row in rows[2:]}

    def folded(self, path="d"):
        lines = self.output("dump", "-d", path, "--flame-graph", "--samples").splitlines()
        return {tuple(line.rpartition(" ")[0].split(";")): int(line.rpartition(" ")[2]) for line in lines}

    def test_each(self):
        """Where it was, and by whom called, however the program was built; as often as it ran so long."""
        for flags in BUILDS:
            with self.subTest(flags=flags):
                self.compile("samples", "samples.c", *flags)
                seconds = self.sample("./samples", "20", options=["--no-libcall"])
                sums, folded = self.sums(), self.folded()
                total = sum(own for own, _ in sums.values())
                self.assertGreater(total, 0)
                self.assertLessEqual(total, 1.1 * seconds / PERIOD)     # who is pre-empted has some more
                self.assertEqual(total, sum(folded.values()))
                self.assertEqual(total, len(self.samples()))
                inside = {stack: nr for stack, nr in folded.items() if "spin" in stack}
                started = sum(nr for stack, nr in folded.items() if {"main", "thread"} & set(stack))
                self.assertGreaterEqual(sum(inside.values()), started * 9 // 10)    # before, the program is loaded
                names = {stack[:stack.index("spin") + 1][-3:] for stack in inside}
                self.assertLessEqual(names, {("main", "heavy", "spin"), ("main", "light", "spin"), ("thread", "heavy", "spin")})
                self.assertGreaterEqual(sums["heavy"][1], sums["light"][1])
                self.assertEqual(sums["spin"][1], sum(inside.values()))
                self.assertEqual(sums["main"][1], sum(nr for stack, nr in folded.items() if "main" in stack))

    def test_in_place(self):
        """Replay shows each within the call that was open."""
        self.compile("samples", "samples.c", "-pg")
        self.sample("./samples", options=["--no-libcall"])
        open_calls = collections.defaultdict(list)
        found = 0
        for line in self.output("replay", "-d", "d", "--no-pager", "-f", "tid").splitlines()[1:]:
            tid, text = re.match(r" *\[ *(\d+)\] \| +(.*)", line).groups()
            if text.startswith("/* sample:cpu"):
                found += open_calls[tid][-1:] == ["spin"]
            elif text.endswith("{"):
                open_calls[tid].append(text[:text.index("(")])
            elif text.startswith("}"):
                open_calls[tid].pop()
        self.assertGreater(found, 0)

    def test_everywhere(self):
        """The same in every format that keeps them."""
        self.compile("samples", "samples.c", "-pg")
        self.sample("./samples", options=["--no-libcall"])
        sums = self.sums()
        for name in ("x.fxt", "x.swap"):
            subprocess.run([FTR, "dump", "-d", "d", f"--format={name[2:]}", "-o", name], check=True, timeout=TIMEOUT,
                           stderr=subprocess.DEVNULL)
            if name == "x.swap":        # without the callers, where no call tells of them
                self.assertEqual(own_of(self.sums(name)), own_of(sums))
            else:
                self.assertEqual(self.sums(name), sums)
        self.output("convert", "-d", "d", "--to=uftrace", "copy")
        self.assertEqual((self.sums("copy"), self.folded("copy")), (sums, self.folded()))
        self.assertEqual(self.samples("copy"), self.samples())
        chrome = self.output("dump", "-d", "d", "--chrome")
        self.assertEqual(chrome.count('"name":"sample:cpu"'), len(self.samples()))

    def test_children(self):
        """Of each process, whether it calls a traced function or not."""
        self.compile("samples", "samples.c", "-pg")
        self.sample("sh", "-c", "./samples & ./samples; wait", options=["--unpatch=.", "--force"])
        tids = {sample.tid for sample in self.samples() if "spin" in sample.stack}
        self.assertGreaterEqual(len(tids), 2)

    def test_native(self):
        self.compile("samples", "samples.c", "-pg")
        for options in (["--sample=100us"], ["--sample", "--keep-pid"], ["--sample", "--estimate-return"]):
            self.same_as_native(options, "./samples", "1")

    def test_flight(self):
        """A flight recorder holds them back as it does calls."""
        self.compile("samples", "samples.c", "-pg")
        self.sample("./samples", options=["--no-libcall", "--overwrite=1M"])
        self.assertGreater(len(self.samples()), 0)

    def test_refusals(self):
        self.compile("samples", "samples.c", "-pg")
        for options, words in ((["--clock=counter"], "cannot time them"), (["--summary"], "excludes --sample"),
                               (["--nop"], "--nop"), (["--sample=1us"], "--sample: ")):
            done = subprocess.run([FTR, "record", "-d", "d", "--sample", *options, "./samples", "1"], timeout=TIMEOUT,
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
            self.assertIn(done.returncode, (2, 125))
            self.assertIn(words, done.stderr)
            self.assertFalse(os.path.exists("d/info"))
            shutil.rmtree("d", ignore_errors=True)

    def test_none(self):
        self.compile("samples", "samples.c", "-pg")
        self.same_as_native(["--no-event"], "./samples", "1")
        done = subprocess.run([FTR, "report", "-d", "d", "--by=sample"], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              text=True, timeout=TIMEOUT, check=False)
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertIn("record them with ftr record --sample", done.stderr)


if __name__ == "__main__":
    harness.main()
