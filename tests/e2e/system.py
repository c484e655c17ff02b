# SPDX-License-Identifier: MIT
"""The state of the system: record --system, and what shows it."""
import collections
import json
import os
import re
import shutil
import struct
import subprocess
import sys
import time

from recording import FTR, TIMEOUT, AsNative, harness

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../lib"))
import swap_made    # noqa: E402 (the path comes first)

PERIOD_S = 0.01
NAMES = {"system:memory", "system:load", "system:disk", "system:network", "system:process", "system:thread"}
Sample = collections.namedtuple("Sample", "tid values")


def memory_kb():
    with open("/proc/meminfo", encoding="ascii") as file:
        return {line.split(":")[0]: int(line.split()[1]) for line in file}


class SystemTest(AsNative):
    def setUp(self):
        super().setUp()
        self.compile("system", "system.c", "-pg", "-pthread")

    def run_words(self, *words):
        return subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=TIMEOUT,
                              check=False)

    def output(self, *words):
        done = self.run_words(FTR, *words)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout

    def record(self, *words, options=("--system=10",), into="d"):
        """How long it took."""
        shutil.rmtree(into, ignore_errors=True)
        begin = time.monotonic()
        self.output("record", "-d", into, "--no-libcall", *options, *words)
        return time.monotonic() - begin

    def samples(self, path="d"):
        """{name: [Sample]} as replay shows them."""
        found = collections.defaultdict(list)
        for line in self.output("replay", "-d", path, "--no-pager").splitlines():
            match = re.match(r".*\[ *(\d+)\] \| +/\* (system:\w+) \((.*)\) \*/", line)
            if match:
                values = dict(value.split("=") for value in match.group(3).split(", "))
                found[match.group(2)].append(Sample(int(match.group(1)), values))
        return found

    @staticmethod
    def total(samples, name):
        return sum(int(sample.values[name]) for sample in samples)

    def check_values(self, found, seconds):
        memory = memory_kb()
        for sample in found["system:memory"]:
            self.assertEqual(int(sample.values["total_kb"]), memory["MemTotal"])
            self.assertLess(int(sample.values["used_kb"]), memory["MemTotal"])
        for sample in found["system:load"]:
            self.assertGreater(int(sample.values["tasks"]), 0)
        for name, samples in found.items():
            if name.startswith("system:cpu"):
                used = sum(self.total(samples, what) for what in ("user_ms", "system_ms", "idle_ms"))
                self.assertLess(used, 2000 * seconds + 200)
        used = self.total(found["system:process"], "user_ms") + self.total(found["system:process"], "system_ms")
        self.assertGreater(used, 100)
        self.assertLess(used, 1000 * seconds * os.cpu_count() + 100)
        largest = max(int(sample.values["resident_kb"]) for sample in found["system:process"])
        self.assertGreater(largest, 40 * 1024)
        self.assertEqual(max(int(sample.values["threads"]) for sample in found["system:process"]), 2)
        self.assertLessEqual({sample.values["state"] for sample in found["system:process"]},
                             {f"'{state}'" for state in "RSDTt"})

    def test_counts_and_values(self):
        """So many samples as there are periods, with what /proc says; each thread in its own stream."""
        seconds = self.record("./system")
        found = self.samples()
        self.assertLessEqual(NAMES, found.keys())
        self.assertIn("system:cpu0", found)
        most = seconds / PERIOD_S + 3
        for name in ("system:memory", "system:load", "system:disk", "system:network", "system:process"):
            self.assertGreater(len(found[name]), 10, name)
            self.assertLess(len(found[name]), most, name)
        self.check_values(found, seconds)
        self.assertEqual(len({sample.tid for sample in found["system:thread"]}), 2)
        self.assertEqual(len({sample.tid for sample in found["system:process"]}), 1)

    def test_children(self):
        self.record("./system", "child")
        self.assertEqual(len({sample.tid for sample in self.samples()["system:process"]}), 2)

    def test_default_period(self):
        seconds = self.record("./system", options=["--system"])
        nr = len(self.samples()["system:memory"])
        self.assertGreaterEqual(nr, 2)
        self.assertLess(nr, seconds / 0.1 + 3)

    def test_without(self):
        self.record("./system", options=[])
        self.assertFalse(os.path.exists("d/system.dat"))
        self.assertEqual(self.samples(), {})

    def test_program_that_ends_at_once(self):
        self.compile("demo", "demo.c", "-pg")
        self.record("./demo", options=["--system=1000"])
        found = self.samples()
        self.assertEqual(len(found["system:memory"]), 2)        # at its begin and at its end
        self.assertEqual(len(found["system:disk"]), 1)

    def test_program_that_runs(self):
        """What it used before ftr attached is not counted."""
        program = self.start_program("./system", "child")
        time.sleep(0.1)
        done = self.run_words(FTR, "record", "-d", "d", "--system=10", "-p", str(program.pid))
        if done.returncode != 0 and "ptrace" in done.stderr:
            self.skipTest("nothing may be attached to here")
        self.assertEqual(done.returncode, 0, done.stderr)
        found = self.samples()["system:process"]
        self.assertGreater(len(found), 10)
        self.assertEqual(found[0].values["user_ms"], "0")

    def test_bad_periods(self):
        for word in ("9", "1001", "0", "-10", "x", "", "10ms", "99999999999999999999"):
            for command in ("record", "live"):
                with self.subTest(word=word, command=command):
                    done = self.run_words(FTR, command, f"--system={word}", "./system")
                    self.assertNotEqual(done.returncode, 0)
                    self.assertIn("10 to 1000", done.stderr)
        for option, why in (("--clock=counter", "--clock=counter cannot time them"), ("--summary=1", "excludes --system"),
                            ("--nop", "there can be no samples: --nop"), ("--syscalls", "no functions are recorded")):
            shutil.rmtree("e", ignore_errors=True)
            done = self.run_words(FTR, "record", "-d", "e", "--system", option,
                                  *(["sleep", "0"] if option == "--syscalls" else ["./system"]))
            self.assertNotEqual(done.returncode, 0)
            self.assertIn(why, done.stderr)

    def test_file_that_cannot_be_read(self):
        """Left out, which is said once; the recording goes on."""
        hide = ["unshare", "-rm", "sh", "-c", "mount --bind /proc/kmsg /proc/diskstats && exec \"$@\"", "sh"]
        if self.run_words(*hide, "sh", "-c", "! cat /proc/diskstats").returncode != 0:
            self.skipTest("no mount namespaces here")
        done = self.run_words(*hide, FTR, "record", "-d", "d", "--no-libcall", "--system=10", "./system")
        self.assertEqual(done.returncode, 0)
        self.assertEqual(done.stderr.count("/proc/diskstats"), 1)
        found = self.samples()
        self.assertNotIn("system:disk", found)
        self.assertGreater(len(found["system:memory"]), 10)

    def counters(self, text):
        return [event for event in json.loads(text)["traceEvents"] if event["ph"] == "C"]

    def test_every_format(self):
        self.record("./system", "child")
        found = self.samples()
        nr = sum(len(samples) for samples in found.values())
        counters = self.counters(self.output("dump", "-d", "d", "--chrome"))
        self.assertEqual(len(counters), nr)
        self.assertEqual(sum(event["args"]["user_ms"] for event in counters if event["name"] == "system:process"),
                         self.total(found["system:process"], "user_ms"))
        self.output("convert", "-d", "d", "--to=uftrace", "copy")
        with open("d/system.dat", "rb") as file, open("copy/system.dat", "rb") as other:
            self.assertEqual(sorted(self.records(file.read())), sorted(self.records(other.read())))
        self.run_words(FTR, "dump", "-d", "d", "--format=fxt", "-o", "x.fxt")
        read = self.samples("x.fxt")
        self.assertEqual({name: len(samples) for name, samples in read.items()},
                         {name: len(samples) for name, samples in found.items()})
        self.assertEqual(self.total(read["system:memory"], "used_kb"), self.total(found["system:memory"], "used_kb"))
        self.output("record", "-d", "packed", "--pack", "--no-libcall", "--system=10", "./system")
        self.assertLessEqual(NAMES, self.samples("packed").keys())

    @staticmethod
    def records(data):
        at = 0
        while at < len(data):
            size, = struct.unpack_from("<H", data, at + 6)
            yield data[at:at + size]
            at += size

    def test_swap(self):
        """A message for each sample, by a decoder of its own: its length and its fields."""
        self.record("./system")
        found = self.samples()
        self.run_words(FTR, "dump", "-d", "d", "--format=swap", "-o", "x.swap")
        system = self.system_messages("x.swap")
        self.assertEqual(len(system), 1 + len(found["system:memory"]))
        self.assertEqual([values["memory"] for values in system[1:]],
                         [1024 * int(sample.values["used_kb"]) for sample in found["system:memory"]])
        self.assertEqual(sum(values["tail"][1] for values in system), self.total(found["system:disk"], "reads"))
        self.assertEqual(sum(values["tail"][6] for values in system), self.total(found["system:network"], "bytes_received"))
        self.assertEqual(sum(len(values["processes"]) for values in system), len(found["system:process"]))
        self.assertEqual(sum(len(threads) for values in system for _, threads in values["processes"]),
                         len(found["system:thread"]))
        for values in system:
            self.assertTrue(all(0 <= load <= 100 for load in values["load"]))
            for head, threads in values["processes"]:
                self.assertTrue(all(0 <= load <= 100 for _, load in threads))
                self.assertLessEqual(head[3], head[2])          # resident, virtual
        self.assertGreater(max(load for values in system for load in values["load"]), 0)
        self.check_swap_read(found, system)

    @staticmethod
    def system_messages(path):
        with open(path + ".side", encoding="utf-8") as file:
            side = dict(words for words in (line.rstrip("\n").split("\t") for line in file) if len(words) == 2)
        with open(path, "rb") as file:
            messages = list(swap_made.messages(file.read(), int(side["cpus"]), int(side["devices"])))
        return [values for ident, _, _, values in messages if ident == swap_made.SYSTEM]

    def check_swap_read(self, found, system):
        """The same counters are read back, in each task's calls, and make the same messages; a stream alone has loads."""
        self.assertEqual(self.samples("x.swap"), found)
        self.assertNotIn("swap:SYSTEM", self.output("replay", "--no-pager", "x.swap"))
        self.run_words(FTR, "convert", "x.swap", "y.swap")
        self.run_words(FTR, "convert", "x.swap", "made")
        self.assertEqual(self.samples("made"), found)
        self.assertEqual(self.system_messages("y.swap"), system)
        self.run_words(FTR, "convert", "y.swap", "z.swap")
        for suffix in ("", ".side"):
            with open("y.swap" + suffix, "rb") as file, open("z.swap" + suffix, "rb") as other:
                self.assertEqual(file.read(), other.read())
        self.assertEqual(self.counted("x.swap"), self.counted("d"))
        os.rename("x.swap", "alone.swap")
        self.assertEqual(self.output("replay", "--no-pager", "alone.swap").count("swap:SYSTEM"), len(system) - 1)
        with open("x.swap.side", encoding="utf-8") as file:
            lines = file.read().splitlines()
        self.check_swap_damaged(lines, found)

    def check_swap_damaged(self, lines, found):
        """A line that is none is said and left out; the others are read."""
        at = next(i for i, line in enumerate(lines) if line.startswith("system\t") and "\tmemory\t" in line)
        words = lines[at].split("\t")
        shutil.copy("alone.swap", "x.swap")
        for column, bad in ((1, "x"), (2, "none"), (2, ""), (4, "4294967296"), (6, "1 2 3 4"), (6, "1 2 3 4 5 6"), (6, "1 2 z 4 5")):
            with self.subTest(column=column, bad=bad):
                line = "\t".join(words[:column] + [bad] + words[column + 1:])
                with open("x.swap.side", "w", encoding="utf-8") as file:
                    file.write("\n".join(lines[:at] + [line] + lines[at + 1:]) + "\n")
                done = self.run_words(FTR, "replay", "--no-pager", "x.swap")
                self.assertEqual(done.returncode, 0)
                self.assertEqual(done.stderr.count("damaged line is ignored"), 1, done.stderr)
                self.assertEqual(done.stdout.count("system:memory"), len(found["system:memory"]) - 1)

    def counted(self, path):
        """Counters as Chrome's JSON has them, with their times since the first one."""
        found = self.counters(self.output("dump", "--chrome", "-d", path))
        return [(round(event["ts"] - found[0]["ts"], 3), event["name"], event["pid"], event["args"]) for event in found]

    def test_damage(self):
        """Bytes that are no record are skipped, and the samples behind them shown."""
        self.record("./system")
        nr = len(self.samples()["system:memory"])
        with open("d/system.dat", "r+b") as file:
            data = file.read()
            file.seek(0)
            file.write(data[:80] + b"\xff" * 64 + data[80:])
        done = self.run_words(FTR, "replay", "-d", "d", "--no-pager")
        self.assertEqual(done.returncode, 0)
        self.assertIn("system.dat", done.stderr)
        self.assertGreaterEqual(done.stdout.count("system:memory"), nr - 2)


if __name__ == "__main__":
    harness.main()
