# SPDX-License-Identifier: MIT
"""FXT files as other tracers write them, and what commands show of them."""
import os
import re
import subprocess
import sys

from recording import FTR, SRCDIR, TIMEOUT, harness
from fxt_made import Made

INSTANT, COUNTER, BEGIN, END = 0, 1, 2, 3
ASYNC_BEGIN, ASYNC_INSTANT, ASYNC_END, FLOW_BEGIN, FLOW_STEP, FLOW_END = range(5, 11)
INT32, UINT32, STRING, POINTER, KOID, BOOL = 1, 2, 6, 7, 8, 9


class ForeignTest(harness.Test):
    def setUp(self):
        super().setUp()
        self.path = os.path.join(self.dir, "x.fxt")

    def run_ftr(self, command, made, *options):
        made.save(self.path)
        return subprocess.run([FTR, command, "--no-pager", "--color=no", *options, self.path], text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=TIMEOUT, check=True)

    def replay(self, made, *options):
        """What replay says below its head, without the columns of time and task."""
        lines = self.run_ftr("replay", made, *options).stdout.splitlines()[1:]
        return [line.partition(" | ")[2] for line in lines]

    def report(self, made, *options):
        """Name -> (calls, total time)."""
        lines = self.run_ftr("report", made, "-f", "total,call", "--format=csv", *options).stdout.splitlines()
        rows = [line.split(",") for line in lines]
        total, call, name = (rows[0].index(field) for field in ("total", "call", "func"))
        return {row[name]: (int(row[call]), int(row[total] or 0)) for row in rows[1:]}

    def test_operations_and_arrows_have_durations(self):
        made = Made()
        made.event(ASYNC_BEGIN, (10, 10), "net", "get", 100, [made.arg(INT32, "port", 80)], 7)
        made.event(ASYNC_BEGIN, (10, 10), "net", "get", 110, [], 7)     # one within it
        made.event(ASYNC_BEGIN, (20, 20), "net", "get", 120, [], 7)     # another process's
        made.event(ASYNC_INSTANT, (10, 11), "net", "get", 130, [], 7)
        made.event(FLOW_BEGIN, (10, 10), "net", "hop", 140, [], 5)
        made.event(FLOW_STEP, (10, 11), "net", "hop", 150, [], 5)
        made.event(FLOW_END, (20, 20), "net", "hop", 160, [], 5)
        made.event(ASYNC_END, (10, 11), "net", "get", 170, [], 7)       # 60 ns
        made.event(ASYNC_END, (10, 11), "net", "get", 200, [], 7)       # 100 ns
        made.event(ASYNC_END, (10, 11), "net", "get", 210, [], 7)       # of nothing
        made.event(ASYNC_END, (20, 20), "net", "get", 220, [], 7)       # 100 ns
        made.event(ASYNC_END, (20, 20), "disk", "get", 230, [], 7)      # of nothing
        self.assertEqual(self.report(made), {"net:get": (3, 260), "net:hop": (1, 20)})
        self.assertEqual(self.report(made, "--no-event"), {})
        self.assertEqual(self.replay(made), [
            "/* net:get begin #7 (port=80) */", "/* net:get begin #7 */", "/* net:get begin #7 */",
            "/* net:get instant #7 */", "/* net:hop flow begin #5 */", "/* net:hop flow step #5 */",
            "/* net:hop flow end #5 */", "/* net:get end #7 */", "/* net:get end #7 */",
            "/* net:get end #7 */", "/* net:get end #7 */", "/* disk:get end #7 */"])
        shown = self.run_ftr("replay", made).stdout.splitlines()
        self.assertEqual([line.split()[:2] for line in shown if " get end" in line.replace("net:", " ")][0],
                         ["0.060", "us"])
        self.assertIn("net:hop flow step #5", self.run_ftr("dump", made).stdout)
        self.assertIn("net:hop flow step #5", "\n".join(self.run_ftr("replay", made, "--flat").stdout.splitlines()))

    def test_koids_have_64_bits(self):
        """Threads, and processes, whose numbers differ above bit 31 only."""
        made, high, higher = Made(), 1 << 32 | 7, 5 << 31 | 7
        made.thread(1, 7, 7)
        made.thread(2, high, high)
        made.thread(3, high, higher)
        for koid, name in ((7, "low"), (high, "high")):
            made.kernel_object(1, koid, name)
        made.kernel_object(2, higher, "other", [made.arg(KOID, "process", high)])
        for i, thread in enumerate((1, 2, 3)):
            made.event(BEGIN, thread, "c", f"f{i}", 100 + i)
        for i, thread in enumerate((1, 2, 3)):
            made.event(END, thread, "c", f"f{i}", 110 + i)
        tasks = self.run_ftr("report", made, "--task").stdout.splitlines()[2:]
        self.assertEqual(sorted(line.split()[-1] for line in tasks), ["high", "low", "other"])
        self.assertEqual(len({line.split()[4] for line in tasks}), 3)
        self.assertEqual(self.report(made), {"f0": (1, 10), "f1": (1, 10), "f2": (1, 10)})

    def test_ids_are_nobody_elses(self):
        """Ids of counters, operations and arrows are not those of uftrace's events."""
        made = Made()
        for kind in (ASYNC_BEGIN, ASYNC_END, FLOW_BEGIN, FLOW_END):
            for ident in (5, 200001, 200002, 2000000):
                made.event(kind, (10, 10), "a", "b", 100 + 10 * kind, [], ident)
        for ident in (5, 100001, 200001, 200002):
            made.event(COUNTER, (10, 10), "c", "d", 300, [made.arg(INT32, "x", 1)], ident)
        for options in ([], ["--event-full"], ["--no-sched"], ["-t", "1s"], ["--no-merge"]):
            shown = self.replay(made, *options)
            self.assertEqual(len(shown), 20, (options, shown))
            self.assertEqual(shown[-4:], ["/* c:d (x=1) */"] * 4)
        self.assertEqual(self.report(made), {"a:b": (8, 8 * 20)})
        self.assertEqual(self.report(made, "--event-full"), {"a:b": (8, 8 * 20)})
        self.assertNotIn("perf-cpu", self.run_ftr("dump", made).stdout)

    def test_counters_in_uftraces_names(self):
        made = Made()
        values = [made.arg(UINT32, "major", 1), made.arg(UINT32, "minor", 2)]
        made.event(COUNTER, (10, 10), "read", "page-fault", 100, values, 10)
        made.event(COUNTER, (10, 10), "read", "page-fault", 110, [made.arg(INT32, "x", 1)], 100001)
        self.assertEqual(self.replay(made, "--event-full"),
                         ["/* read:page-fault (major=1 minor=2) */", "/* read:page-fault (x=1) */"])

    def test_wakeups_say_who_woke(self):
        for order in "<>":
            made = Made(order)
            made.complete((10, 11), "f", 100, 900)
            made.wakeup(3, 200, 11, [made.arg(KOID, "waker", 10), made.arg(INT32, "weight", 5)])
            self.assertEqual(self.replay(made), ["f() {", "  /* linux:sched-wakeup (waker=10, weight=5) */",
                                                 "} /* f */"])

    def test_calls_that_are_written_when_they_end(self):
        for nr in (3, 200, 300, 2000):      # more than a batch, too
            made = Made()
            for i in range(nr):
                made.complete((7, 1), f"f{i}", 100, 200 + i)
            made.complete((7, 1), "inner", 5000, 5100)
            made.complete((7, 1), "outer", 4900, 5200)
            if nr > 250:
                self.assertEqual(len(self.replay(made)), 2 * nr + 2)
                continue
            done = self.run_ftr("report", made)
            self.assertEqual(done.stderr, "", nr)
            self.assertEqual(self.replay(made)[:2], [f"f{nr - 1}() {{", f"  f{nr - 2}() {{"])
        made = Made()
        for time in range(100, 3000, 100):      # runs across the ends of batches
            for i in range(20):
                made.complete((7, 1), f"f{i}", time, time + 10 + i)
        made.complete((7, 1), "first", 1, 2)
        self.assertEqual(self.run_ftr("report", made).stderr, "")

    def test_calls_that_begin_at_one_time(self):
        """The callee is written first, because it ends first; all else is in order."""
        for threads in ((1, 1, 1), (1, 2, 1)):
            for ticks in (None, 500000000):
                for table in (False, True):
                    with self.subTest(threads=threads, ticks=ticks, table=table):
                        made = Made()
                        if ticks is not None:
                            made.init(ticks)
                        for nr in set(threads) if table else ():
                            made.thread(nr, 7, nr)
                        thread = [nr if table else (7, nr) for nr in threads]
                        made.complete(thread[0], "inner", 100, 200)
                        made.complete(thread[1], "other", 100, 150 if thread[1] == thread[0] else 900)
                        made.complete(thread[2], "outer", 100, 500)
                        shown = "".join(self.replay(made, "--tid=1"))
                        self.assertLess(shown.index("outer"), shown.index("inner"), shown)
                        self.assertNotIn("outer();", shown)

    def test_every_type_of_argument_is_dumped(self):
        made = Made()
        made.complete((7, 1), "f", 100, 900, [
            made.arg(0, "nothing"), made.arg(INT32, "i", -1), made.arg(UINT32, "u", 2), made.arg(3, "l", -3),
            made.arg(4, "ul", 4), made.arg(5, "d", 0.5), made.arg(STRING, "s", "text"), made.arg(POINTER, "p", 0x70),
            made.arg(KOID, "k", 8), made.arg(BOOL, "yes", 1), made.arg(BOOL, "no", 0)])
        shown = re.findall(r"^  args\[\d+\] (.*)$", self.run_ftr("dump", made).stdout, re.M)
        self.assertEqual(shown, [
            "null", "i32: 0xffffffff", "u32: 0x00000002", "i64: 0xfffffffffffffffd", "u64: 0x0000000000000004",
            "f64: 0x3fe0000000000000", "str: text", "p: 0x70", "koid: 8", "bool: true", "bool: false"])

    def test_indentation_of_deep_calls_has_a_limit(self):
        depth = 3000
        made = Made()
        for nr in range(depth):
            made.event(BEGIN, (7, 1), "cat", "f", 100 + nr)
        made.event(INSTANT, (7, 1), "cat", "point", 50000)
        for nr in range(depth):
            made.event(END, (7, 1), "cat", "f", 60000 + nr)
        for color, options in ((False, []), (True, ["--color=yes"])):
            shown = [re.sub("\x1b\\[[0-9;]*m", "", line) for line in self.replay(made, *options)]
            self.assertEqual(len(shown), 2 * depth + 1)
            self.assertEqual(shown[1024], " " * 2048 + "f() {", color)
            self.assertEqual(shown[1025], " " * 2048 + "[1025]f() {", color)
            self.assertEqual(shown[depth], " " * 2048 + "[3000]/* cat:point */", color)
            self.assertEqual(shown[depth + 1], " " * 2048 + "[2999]} /* f */", color)
            self.assertEqual(shown[-1], "} /* f */", color)

    def test_names_that_are_ours(self):
        """Values that are called as what ftr says of calls and events stay values, and are so in files of ours."""
        made = Made()
        made.complete((7, 1), "f", 100, 900, [
            made.arg(STRING, "symbol", "main"), made.arg(BOOL, "inferred", 1), made.arg(BOOL, "no_entry", 1),
            made.arg(STRING, "~symbol", "x"), made.arg(INT32, "~", 3), made.arg(UINT32, "tracepoint", 4)])
        made.event(INSTANT, (7, 1), "sched", "run", 200, [
            made.arg(UINT32, "tracepoint", 5), made.arg(UINT32, "cpu", 1), made.arg(STRING, "text", "x=1")])
        shown = self.replay(made)
        self.assertEqual(shown, [
            'f(symbol="main", inferred=true, no_entry=true, ~symbol="x", ~=3, tracepoint=4) {',
            '  /* sched:run (tracepoint=5, cpu=1, text="x=1") */', '} /* f */'])
        again, last = (os.path.join(self.dir, name) for name in ("2.fxt", "3.fxt"))
        for one, other in ((self.path, again), (again, last)):
            subprocess.run([FTR, "convert", one, other], check=True, timeout=TIMEOUT)
        with open(again, "rb") as one, open(last, "rb") as other:
            self.assertEqual(one.read(), other.read())
        lines = subprocess.run([FTR, "replay", "--no-pager", "--color=no", last], stdout=subprocess.PIPE, text=True,
                               timeout=TIMEOUT, check=True).stdout.splitlines()[1:]
        self.assertEqual([line.partition(" | ")[2] for line in lines], shown)

    def blob(self, name, path):
        check = os.path.join(SRCDIR, "tests/roundtrip/fxt_check.py")
        return subprocess.run([sys.executable, check, "--blob", name, path], stdout=subprocess.PIPE, check=True).stdout

    def test_blobs_of_several_records(self):
        """Lines of 2,000 tasks are more than 32,000 bytes."""
        made = Made()
        for tid in range(1000, 3000):
            made.kernel_object(2, tid, f"t{tid}", [made.arg(KOID, "process", 900)])
            made.complete((900, tid), "f", tid * 10, tid * 10 + 5)
        data, again, last = (os.path.join(self.dir, name) for name in ("data", "2.fxt", "3.fxt"))
        made.save(self.path)
        for one, other in ((self.path, data), (data, again), (again, last)):
            subprocess.run([FTR, "convert", one, other], check=True, timeout=TIMEOUT)
        tasks = self.blob("ftr.tasks", again)
        self.assertGreater(len(tasks), 32000)
        self.assertEqual(len(re.findall(rb"^TASK .* tid=\d+ pid=900$", tasks, re.M)), 2000)
        self.assertEqual(self.blob("ftr.tasks", last), tasks)
        tables = [subprocess.run([FTR, "info", "--no-pager", "--task", path], stdout=subprocess.PIPE, text=True,
                                 check=True).stdout for path in (data, again)]
        self.assertEqual(*(re.sub(r" *[0-9.]+ MB$", "", table, flags=re.M) for table in tables))

    def magic_trace(self):
        """Ticks, a longer initialization record, one temporary slot for all names, ties."""
        made = Made()
        made.init(2500000000, 1000, 1700000000000000000)
        made.string(1, "process")
        made.kernel_object(1, 4000, "demo")
        made.kernel_object(2, 4001, "[1] main", [made.arg(KOID, 1, 4000)])
        made.thread(1, 4000, 4001)
        made.string(2, "address")
        made.string(3, "symbol")
        for kind, name, ticks in ((BEGIN, "main", 2500), (BEGIN, "foo", 5000), (END, "foo", 5000),
                                  (BEGIN, "bar", 5000), (BEGIN, "baz", 7500), (END, "baz", 10000),
                                  (END, "bar", 10000), (END, "main", 12500)):
            made.string(20, name)
            args = [made.arg(POINTER, 2, 0x401000), made.arg(STRING, 3, 20)] if kind == BEGIN else []
            made.event(kind, 1, 0, 20, ticks, args)
        return made

    def test_magic_trace(self):
        made = self.magic_trace()
        self.assertEqual(self.report(made), {"main": (1, 4000), "foo": (1, 0), "bar": (1, 2000), "baz": (1, 1000)})
        what = '(address=0x401000, symbol="%s")'
        self.assertEqual(self.replay(made), [
            f"main{what % 'main'} {{", f"  foo{what % 'foo'};", f"  bar{what % 'bar'} {{",
            f"    baz{what % 'baz'};", "  } /* bar */", "} /* main */"])
        self.assertIn("[1] main", self.run_ftr("graph", made, "--task").stdout)


if __name__ == "__main__":
    harness.main()
