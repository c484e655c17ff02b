# SPDX-License-Identifier: MIT
"""import ftr: events and columns beside what the commands say of the same traces."""
import collections
import gc
import glob
import json
import os
import struct
import sys
import unittest
import warnings

from recording import harness

MODULE = os.path.join(harness.BUILDDIR, "python")
if os.path.exists(MODULE + "/ftr.abi3.so"):
    sys.path.insert(0, MODULE)
    import ftr
else:
    ftr = None

DATA = harness.SRCDIR + "/tests/data"
TRACES = ("demo-args", "demo-fork", "threads", "jumps", "quit", "lost", "events", "kernel", "kernel-calls", "shapes")


@unittest.skipIf(ftr is None, "ftr was built without its module for Python: it needs libpython3-dev, and no sanitizers")
class Module(harness.Test):
    has_damaged_data = True

    def lines(self, command, data, *words):
        run = self.ftr(command, "--json", "-d", f"{DATA}/{data}", *words)
        self.assertEqual(run.returncode, 0, run.stderr)
        return [json.loads(line) for line in run.stdout.splitlines()]

    def read(self, name):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ftr.open(f"{DATA}/{name}")

    def test_trace(self):
        trace = ftr.open(DATA + "/threads")
        self.assertEqual((trace.path, trace.format), (DATA + "/threads", "uftrace"))
        tasks = [line for line in self.lines("info", "threads") if line["type"] == "task"]
        self.assertEqual([(task.tid, task.pid, task.name) for task in trace.tasks],
                         [(task["tid"], task["pid"], task["name"]) for task in tasks])

    def test_events_as_replay_has_them(self):
        for name in TRACES:
            expected = self.lines("replay", name, "--event-full", "--kernel-full")
            found = list(self.read(name).events())
            self.assertEqual([(event.type, event.time, event.tid) for event in found],
                             [(line["type"], line["time_ns"], line["tid"]) for line in expected], name)
            for event, line in zip(found, expected):
                if event.type not in ("entry", "exit", "event"):
                    continue
                self.assertEqual(event.name, line["name" if event.type == "event" else "func"])
                self.assertEqual(event.duration, line.get("duration_ns"))
                if event.type == "event":
                    self.assertEqual(event.args, line.get("data"))
                else:
                    self.assertEqual((event.depth, event.finished), (line["depth"], not line.get("unfinished", False)))

    def test_values(self):
        events = list(ftr.open(DATA + "/demo-args").events())
        args = {event.name: event.args for event in events if event.type == "entry"}
        self.assertEqual(args["scale"], (1.5, 2.0, "x"))
        self.assertEqual(args["middle"], (1, 'hello "you"\n'))
        self.assertEqual((args["call"][1], args["__cxa_atexit"]), (-5, None))
        results = {event.name: event.retval for event in events if event.type == "exit"}
        self.assertEqual((results["middle"], results["call"], results["__cxa_atexit"]), (17, -4, None))

    def test_columns_as_report_has_them(self):
        for name in TRACES:
            columns = self.read(name).calls()
            self.assertEqual({key: (column.format, column.itemsize) for key, column in columns.items() if key != "names"},
                             {"start": ("Q", 8), "duration": ("Q", 8), "self": ("Q", 8), "address": ("Q", 8), "tid": ("i", 4),
                              "depth": ("I", 4), "func": ("I", 4), "finished": ("?", 1), "inherited": ("?", 1)})
            self.assertEqual(len({len(column) for key, column in columns.items() if key != "names"}), 1)
            calls, own = collections.Counter(), collections.Counter()
            for func, self_ns, is_inherited in zip(columns["func"], columns["self"], columns["inherited"]):
                calls[columns["names"][func]] += not is_inherited
                own[columns["names"][func]] += self_ns
            expected = [line for line in self.lines("report", name, "--no-event", "--kernel-full") if line["func"] in calls]
            self.assertEqual({line["func"]: line["call"] for line in expected}, calls, name)
            self.assertEqual({line["func"]: line["self"] for line in expected}, own, name)

    def test_choice(self):
        trace = ftr.open(DATA + "/threads")
        everything = trace.calls()
        tid = trace.tasks[1].tid
        self.assertEqual(set(trace.calls(tids=[tid])["tid"]), {tid})
        self.assertEqual(set(trace.calls(depth=1)["depth"]), {0})
        least = sorted(everything["duration"])[len(everything["duration"]) // 2]
        self.assertGreaterEqual(min(trace.calls(min_ns=least)["duration"]), least)
        first, last = min(everything["start"]), max(everything["start"])
        middle = (first + last) // 2
        self.assertTrue(all(event.time >= middle for event in trace.events(from_ns=middle)))
        self.assertTrue(all(event.time <= middle for event in trace.events(to_ns=middle)))
        self.assertNotIn("malloc", {event.name for event in trace.events(libcalls=False)})
        self.assertIn("malloc", {event.name for event in trace.events()})
        for wrong in ({"tids": 5}, {"tids": ["x"]}, {"depth": "x"}, {"no": 1}):
            self.assertRaises(TypeError, trace.calls, **wrong)
            self.assertRaises(TypeError, trace.events, **wrong)
        self.assertRaises(ftr.Error, trace.calls, tids=[1])

    def test_nothing(self):
        columns = ftr.open(DATA + "/threads").calls(from_ns=1, to_ns=2)
        self.assertEqual([column.tolist() for key, column in columns.items() if key != "names"], [[]] * 9)
        self.assertEqual([column.format for column in (columns["start"], columns["tid"])], ["Q", "i"])

    def test_other_readers_of_columns(self):
        """What numpy.asarray() and pyarrow.py_buffer() ask for: the bytes, contiguous, and their format."""
        columns = ftr.open(DATA + "/threads").calls()
        view = memoryview(columns["duration"])
        self.assertTrue(view.c_contiguous)
        self.assertEqual(struct.unpack(f"{len(view)}Q", bytes(view)), tuple(view))

    def test_readings_are_independent(self):
        trace = ftr.open(DATA + "/threads")
        one, other = trace.events(), trace.events()
        expected = list(trace.events())
        self.assertEqual([next(one) for _ in range(5)], [next(other) for _ in range(5)])
        del trace
        gc.collect()
        self.assertEqual(list(one), expected[5:])
        self.assertEqual(list(one), [])
        del one
        self.assertEqual(next(other), expected[5])

    def test_failures(self):
        with self.assertRaisesRegex(ftr.Error, "nowhere: "):
            ftr.open("nowhere")
        with self.assertRaisesRegex(ftr.Error, "could be read only once"):
            ftr.open("/dev/null")
        self.assertRaises(TypeError, ftr.open)
        self.assertRaises(TypeError, ftr.open, 5)
        self.assertTrue(issubclass(ftr.Error, OSError))

    def test_damage_is_a_warning(self):
        harness.shutil.copytree(DATA + "/demo-plain", "damaged")
        path, = glob.glob("damaged/[0-9]*.dat")
        os.chmod(path, 0o644)
        with open(path, "ab") as file:
            file.write(b"\1" * 16)
        run = self.ftr("replay", "-d", "damaged")
        self.assertIn("warning", run.stderr)
        with self.assertWarns(RuntimeWarning):
            list(ftr.open("damaged").events())
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            with self.assertRaises(RuntimeWarning):
                list(ftr.open("damaged").events())

    def test_formats(self):
        for words, name in ((["--fxt"], "x.fxt"), (["--format=trace.dat"], "x.dat")):
            self.assertEqual(self.ftr("dump", *words, "-o", name, "-d", DATA + "/demo-plain").returncode, 0)
            found = [(event.type, event.name) for event in ftr.open(name).events() if event.type in ("entry", "exit")]
            self.assertEqual(found, [(event.type, event.name) for event in ftr.open(DATA + "/demo-plain").events()
                                     if event.type in ("entry", "exit")])


harness.main()
