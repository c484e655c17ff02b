# SPDX-License-Identifier: MIT
"""dump --format=html: what the page shows beside calls (lanes), as data inside of it."""
import itertools
import json
import os
import re
import subprocess

from recording import SRCDIR, Recording, build, harness, run_observed
from fxt_made import Made
import tracedat_made

INSTANT, COUNTER, ASYNC_BEGIN, ASYNC_END = 0, 1, 5, 7
THREAD = (10, 10)


def lanes_of(path):
    with open(path, encoding="utf-8") as file:
        return json.loads(re.findall(r"<script[^>]*>(.*?)</script>", file.read(), re.S)[0])["lanes"]


class Lanes:
    """Decoded: times from the beginning."""

    def __init__(self, lanes):
        self.names = [name for name, _, _ in lanes["names"]]
        self.thinned = {name: (seen, every) for name, seen, every in lanes["names"] if every > 1}
        self.left_out = lanes["leftOut"]
        self.tasks = {task["tid"]: task for task in lanes["tasks"]}
        self.values = {(v["pid"], v["tid"], self.names[v["name"]]): self.parted(v["points"], 4) for v in lanes["values"]}
        self.units = {self.names[v["name"]]: v["unit"] for v in lanes["values"]}

    @staticmethod
    def parted(numbers, width):
        rows = [numbers[i:i + width] for i in range(0, len(numbers), width)]
        return [[time, *row[1:]] for time, row in zip(itertools.accumulate(row[0] for row in rows), rows)]

    def lane(self, tid, lane):
        """[time, size, name], or of runs the CPU."""
        return [[time, size, what - 1 if lane == "runs" else self.names[what] if lane != "blocks" else None]
                for time, size, what in self.parted(self.tasks[tid].get(lane, []), 3)]

    def marks(self, tid):
        return [[time, self.names[name], text] for time, name, text in self.parted(self.tasks[tid].get("marks", []), 3)]


def begun():
    made = Made()
    made.init(1000000000)
    return made


class OfMade(harness.Test):
    def lanes(self, made, *options):
        made.save("x.fxt")
        run = self.ftr("dump", "--format=html", "-o", "x.html", *options, "x.fxt")
        self.assertEqual((run.returncode, run.stderr), (0, ""))
        return Lanes(lanes_of("x.html"))

    def test_scheduling(self):
        made = begun()
        made.complete(THREAD, "main", 1000, 9000)
        made.switch(3, 2000, 10, 0)
        made.switch(1, 4000, 0, 10)
        made.switch(1, 5000, 10, 0, 0)
        made.switch(0, 6000, 0, 10)
        lanes = self.lanes(made)
        self.assertEqual(lanes.lane(10, "runs"), [[0, 1000, 3], [3000, 1000, 1], [5000, 3000, 0]])
        self.assertEqual(lanes.marks(10), [])

    def test_marks_and_spans(self):
        made = begun()
        made.complete(THREAD, "main", 1000, 9000)
        made.event(ASYNC_BEGIN, THREAD, "net", "get", 2000, [], 7)
        made.event(INSTANT, THREAD, "ui", "</script>", 3000, [made.arg(6, "key", "</b>")])
        made.event(ASYNC_END, THREAD, "net", "get", 5000, [], 7)
        lanes = self.lanes(made)
        self.assertEqual(lanes.lane(10, "spans"), [[1000, 3000, "net:get"]])
        self.assertEqual(lanes.marks(10), [[1000, "net:get", "net:get begin #7 "],
                                           [2000, "ui:</script>", 'key="</b>"']])

    def test_counters(self):
        made = begun()
        made.complete(THREAD, "main", 1000, 9000)
        for time, value in ((2000, 2.5), (3000, float("nan")), (4000, float("inf")), (5000, -1e300)):
            made.event(COUNTER, THREAD, "net", "load", time, [made.arg(5, "level", value), made.arg(6, "text", "no")], 3)
        made.event(COUNTER, THREAD, "net", "load", 6000, [made.arg(4, "level", 12345678901)], 0)
        lanes = self.lanes(made)
        self.assertEqual(lanes.values, {
            (10, 0, "net:load #3 level"): [[1000, 2.5, 2.5, 2.5], [2000, None, None, None], [3000, None, None, None],
                                           [4000, -1e300, -1e300, -1e300]],
            (10, 0, "net:load level"): [[5000, *3 * [12345678901]]]})

    def test_a_counter_in_bounded_memory(self):
        made, nr = begun(), 100000
        values = [i * 7919 % 10007 for i in range(nr)]
        for i, value in enumerate(values):
            made.event(COUNTER, THREAD, "net", "load", 1000 + i, [made.arg(1, "level", value)], 0)
        points = self.lanes(made).values[10, 0, "net:load level"]
        self.assertLessEqual(len(points), 4096)
        self.assertGreater(len(points), 2000)
        ends = [point[0] for point in points[1:]] + [nr]
        for (start, low, high, last), end in zip(points, ends):
            part = values[start:end]
            self.assertEqual((low, high, last), (min(part), max(part), part[-1]))

    def test_so_many_marks(self):
        made = begun()
        for i in range(5000):
            made.event(INSTANT, THREAD, "ui", "often", 1000 + i)
        for i in (100, 2000, 4500):
            made.event(INSTANT, THREAD, "ui", "rare", 1000 + i)
        made.event(COUNTER, THREAD, "net", "load", 900, [made.arg(1, "level", 1)], 0)
        lanes = self.lanes(made, "--html-calls=1000")
        self.assertEqual(lanes.thinned, {"ui:often": (5000, 8)})
        marks = lanes.marks(10)
        self.assertEqual(sorted(time for time, name, _ in marks if name == "ui:rare"), [200, 2100, 4600])
        self.assertEqual([time for time, name, _ in marks if name == "ui:often"], list(range(100, 5100, 8)))

    def test_only_the_longest(self):
        made = begun()
        made.complete(THREAD, "main", 1000, 1000 + 10000 * 3000)
        for i in range(3000):
            made.switch(0, 1000 + 10000 * i, 0, 10)
            made.switch(0, 1000 + 10000 * i + i % 1000 + 1, 10, 0)
        lanes = self.lanes(made, "--html-calls=1000")
        runs = lanes.lane(10, "runs")
        nr, least = lanes.left_out["runs"]
        self.assertEqual(len(runs) + nr, 3000)
        self.assertTrue(0 < len(runs) <= 1000 and all(ns >= least for _, ns, _ in runs))
        longer = sum(i % 1000 + 1 > least for i in range(3000))
        self.assertGreaterEqual(len(runs), longer)
        self.assertEqual(sum(ns > least for _, ns, _ in runs), longer)

    def test_many_of_one_length(self):
        """All are as long as the least that is kept: some are."""
        made = begun()
        made.complete(THREAD, "main", 1000, 1000 + 10000 * 3000)
        for i in range(3000):
            made.switch(0, 1000 + 10000 * i, 0, 10)
            made.switch(0, 1500 + 10000 * i, 10, 0)
        lanes = self.lanes(made, "--html-calls=1000")
        self.assertEqual(lanes.left_out["runs"], [3000 - len(lanes.lane(10, "runs")), 500])
        self.assertTrue(400 < len(lanes.lane(10, "runs")) <= 1000)


class OfKernel(harness.Test):
    def test_tracepoints(self):
        """Every event of the kernel that replay shows is a mark, or a run."""
        data = os.path.join(SRCDIR, "tests/data/kernel")
        run = self.ftr("dump", "--format=html", "-o", "x.html", "-d", data)
        self.assertEqual(run.returncode, 0, run.stderr)
        lanes = Lanes(lanes_of("x.html"))
        rows = self.ftr("dump", "--format=jsonl", "--rows=events", "-d", data).stdout.splitlines()
        wanted, found = {}, {}
        for row in map(json.loads, rows):
            if not row["name"].startswith("linux:sched-"):
                wanted[row["tid"], row["name"]] = wanted.get((row["tid"], row["name"]), 0) + 1
        for tid in lanes.tasks:
            for _, name, _ in lanes.marks(tid):
                found[tid, name] = found.get((tid, name), 0) + 1
        self.assertEqual(found, wanted)
        self.assertTrue(any(name.startswith("sched:") for _, name in found), found)
        self.assertTrue(any(lanes.lane(tid, "kernel") for tid in lanes.tasks))


class OfSwitches(harness.Test):
    """A trace.dat in which sched_switch alone says who runs."""

    def made(self, *cpus):
        """Of each CPU: [(time, task that leaves it, task that gets it) or (time, text, task)]."""
        machine, files = tracedat_made.switches_machine(), []
        for events in cpus:
            pages = tracedat_made.Pages(machine)
            for time, one, other in events:
                pages.put(time, machine.said(other, one, 1) if isinstance(one, str) else
                          machine.switch(one, f"t{one}", other, f"t{other}"))
            files.append(pages.data())
        with open("x.dat", "wb") as file:
            file.write(tracedat_made.version6(machine, files))

    def lanes(self, *options, data="x.dat"):
        run = self.ftr("dump", "--format=html", "-o", "x.html", *options, data)
        self.assertEqual((run.returncode, run.stderr), (0, ""))
        return Lanes(lanes_of("x.html"))

    def runs(self, *options, **trace):
        lanes = self.lanes(*options, **trace)
        return {tid: lanes.lane(tid, "runs") for tid in lanes.tasks if lanes.lane(tid, "runs")}

    def test_who_runs_where(self):
        """12 goes on to the end; 10 moves to another CPU; an idle one is nobody's."""
        self.made([(1000, 0, 10), (1500, 10, 11), (2200, 11, 0), (3000, 0, 12), (3300, "here", 12)],
                  [(1100, 0, 12), (1700, 12, 10), (2600, 10, 0), (3600, "late", 0)])
        self.assertEqual(self.runs(), {10: [[0, 500, 0], [700, 900, 1]], 11: [[500, 700, 0]],
                                       12: [[100, 600, 1], [2000, 600, 0]]})
        self.assertEqual([name for _, name, _ in self.lanes().marks(11)], ["sched:sched_switch"])

    def test_since_before(self):
        """Who first leaves a CPU has had it since its first event."""
        self.made([(1000, "here", 10), (1500, 10, 11), (1800, 11, 10)], [(2000, 12, 0)])
        self.assertEqual(self.runs(), {10: [[0, 500, 0], [800, 200, 0]], 11: [[500, 300, 0]]})

    def test_missed(self):
        """Of a switch that was lost is known what the task did last."""
        self.made([(1000, 0, 10), (1200, "here", 10), (2000, 11, 12), (2500, 12, 0)],
                  [(1000, 0, 11), (1500, "there", 11), (2600, 0, 0)])
        self.assertEqual(self.runs(), {10: [[0, 200, 0]], 11: [[0, 500, 1]], 12: [[1000, 500, 0]]})

    def test_converted(self):
        self.made([(1000, 0, 10), (1500, 10, 11), (2200, 11, 0), (3000, 0, 11), (3500, 11, 0)])
        wanted = {10: [[0, 500, 0]], 11: [[500, 700, 0], [2000, 500, 0]]}
        self.assertEqual(self.runs(), wanted)
        run = self.ftr("convert", "x.dat", "d")
        self.assertEqual((run.returncode, run.stderr), (0, ""))
        self.assertEqual(self.runs(data="d"), wanted)

    def test_the_tasks_own_events_count(self):
        """Where a trace has both, those of perf say who runs."""
        data, events = os.path.join(SRCDIR, "tests/data/kernel"), {}
        for row in map(json.loads, self.ftr("dump", "--format=jsonl", "--rows=events", "-d", data).stdout.splitlines()):
            if row["name"] == "sched:sched_switch" or row["name"].startswith("linux:sched-"):
                events.setdefault(row["tid"], []).append(row["name"])
        self.assertTrue(any("sched:sched_switch" in names for names in events.values()))
        perf = {tid: [name for name in names if name.startswith("linux:")] for tid, names in events.items()}
        run = self.ftr("dump", "--format=html", "-o", "x.html", "-d", data)
        self.assertEqual(run.returncode, 0, run.stderr)
        lanes = Lanes(lanes_of("x.html"))
        self.assertEqual({tid: len(lanes.lane(tid, "runs")) for tid in lanes.tasks},
                         {tid: sum(name != "linux:sched-in" for name in names) + (names[-1:] == ["linux:sched-in"])
                          for tid, names in perf.items()})


class OfRecorded(Recording):
    @classmethod
    def set_up_class(cls):
        super().set_up_class()
        build("memory_totals.c", "totals", "-pg", "-O1")
        build("memory_storm.c", "storm", "-pg", "-O1")

    def lanes(self, *options):
        run = self.ftr("dump", "--format=html", "-o", "x.html", "-d", "d", *options)
        self.assertEqual((run.returncode, run.stderr), (0, ""))
        return Lanes(lanes_of("x.html"))

    def test_memory(self):
        """Blocks are those of report; what is in use is what was given and not given back."""
        self.record("--probe=memory", "./totals")
        lanes, live, totals, most = self.lanes(), {}, 0, 0
        rows = self.ftr("dump", "--format=jsonl", "--rows=events", "-d", "d").stdout.splitlines()
        for row in map(json.loads, rows):
            data = dict(re.findall(r"(\w+)=(\w+)", row["data"]))
            if row["name"] in ("memory:free", "memory:delete"):
                live.pop(data["address"], None)
            elif row["name"] in ("memory:malloc", "memory:calloc", "memory:new", "memory:memalign", "memory:realloc"):
                if row["name"] == "memory:realloc":
                    live.pop(data["from"], None)
                live[data["address"]] = int(data["bytes"])
                totals += 1
            most = max(most, sum(live.values()))
        (points,) = (points for (_, tid, name), points in lanes.values.items() if name == "memory in use")
        self.assertEqual(points[-1][3], sum(live.values()))
        self.assertEqual(lanes.units["memory in use"], "B")
        blocks = [block for tid in lanes.tasks for block in lanes.lane(tid, "blocks")]
        self.assertEqual(len(blocks), totals)
        self.assertGreater(totals, 0)

    def test_many_blocks(self):
        """Fewer stand for all: no bytes are lost."""
        self.record("--probe=memory", "./storm")
        whole = self.lanes()
        number = sum(len(whole.lane(tid, "blocks")) for tid in whole.tasks)
        self.assertGreaterEqual(number, 60000)
        fewer = self.lanes("--html-calls=1000")
        kept = [block for tid in fewer.tasks for block in fewer.lane(tid, "blocks")]
        left_out, grain = fewer.left_out["blocks"]
        self.assertEqual(len(kept) + left_out, number)
        self.assertLessEqual(len(kept), 1000)
        self.assertTrue(all(size >= grain for _, size, _ in kept))
        all_bytes, kept_bytes = (sum(size for tid in lanes.tasks for _, size, _ in lanes.lane(tid, "blocks"))
                                 for lanes in (whole, fewer))
        self.assertTrue(all_bytes - grain * len(whole.tasks) < kept_bytes <= all_bytes)

    def test_what_was_read(self):
        self.record("-T", "leaf@read=proc/statm,read=page-fault", "./victim", "work", "5")
        lanes = self.lanes()
        (tid,) = lanes.tasks
        found = {name: len(points) for (_, of, name), points in lanes.values.items()}
        self.assertEqual(found, {"read:proc/statm vmsize": 5, "read:proc/statm vmrss": 5, "read:proc/statm shared": 5,
                                 "read:page-fault major": 5, "read:page-fault minor": 5})
        self.assertEqual({of for (_, of, name) in lanes.values if "fault" in name}, {tid})
        self.assertEqual(lanes.units["read:proc/statm vmrss"], "KB")
        self.assertEqual(len([name for _, name, _ in lanes.marks(tid) if name == "diff:page-fault"]), 5)

    def test_system_calls(self):
        run_observed("record", "--syscalls", "-d", "d", "./victim", "work", "5")
        wanted = {}
        for line in self.ftr("dump", "--format=jsonl", "-d", "d").stdout.splitlines():
            row = json.loads(line)
            if row["function"].startswith("sys_"):
                wanted[row["function"]] = wanted.get(row["function"], 0) + 1
        lanes, found = self.lanes(), {}
        for tid in lanes.tasks:
            for _, _, name in lanes.lane(tid, "syscalls"):
                found[name] = found.get(name, 0) + 1
        self.assertEqual(found, wanted)
        self.assertIn("sys_openat", found)


class TwoTraces(Recording):
    """ftr view A B."""

    def set_up_traces(self):
        for name in ("a", "b"):
            self.record("-d", name, "./victim", "work", "3")

    def test_both_are_in_the_page(self):
        self.set_up_traces()
        run = self.ftr("view", "-o", "x.html", "a", "b")
        self.assertEqual((run.returncode, run.stdout, run.stderr), (0, "", ""))
        with open("x.html", encoding="utf-8") as file:
            text = file.read()
        data = [json.loads(part) for part in
                re.findall(r"<script[^>]*application/json[^>]*>(.*?)</script>", text, re.S)]
        self.assertEqual([one["path"] for one in data], ["a", "b"])
        for name, one in zip("ab", data):
            self.ftr("dump", "--format=html", "-o", "one.html", "-d", name)
            with open("one.html", encoding="utf-8") as file:
                alone = file.read()
            self.assertEqual(json.loads(re.findall(r"<script[^>]*>(.*?)</script>", alone, re.S)[0]), one)
        self.assertEqual(text.count("<!DOCTYPE html>"), 1)
        self.assertEqual(re.sub(r"<script[^>]*application/json.*?</script>\n", "", text, flags=re.S),
                         re.sub(r"<script[^>]*application/json.*?</script>\n", "", alone, flags=re.S))
        self.assertEqual(self.ftr("view", "-o", "-", "-d", "a", "b").stdout, text)

    def test_refused(self):
        self.set_up_traces()
        for status, words, pattern in (
                (1, ("a", "missing"), "missing: No such file"), (1, ("missing", "b"), "missing: No such file"),
                (2, ("a", "b", "c"), "unexpected operand c"), (2, ("--serve", "a", "b"), "leave it or b out"),
                (2, ("-", "-"), "standard input is one trace")):
            run = self.ftr("view", *words, *([] if "--serve" in words else ["-o", "x.html"]), stdin=subprocess.DEVNULL)
            self.assertEqual((run.returncode, run.stdout), (status, ""), words)
            self.assertIn(pattern, run.stderr)
            self.assertFalse(os.path.exists("x.html"))
        run = self.ftr("view", "-o", "b/info", "a", "b")
        self.assertEqual(run.returncode, 1)
        self.assertIn("is part of the trace being read", run.stderr)
        self.assertEqual(self.ftr("report", "-d", "b").returncode, 0)


if __name__ == "__main__":
    harness.main()
