# SPDX-License-Identifier: MIT
"""diff, check and --json: exit statuses that a build goes by, and lines that scripts read."""
import collections
import json
import os
import re
import shutil
import unittest

from recording import Recording, build, harness

DATA = harness.SRCDIR + "/tests/data"
TRACES = ("threads", "demo-fork", "jumps", "values", "events", "kernel-calls", "lost")


class Gates(Recording):
    def lines(self, *words, status=0):
        run = self.ftr(*words, "--json")
        self.assertEqual(run.returncode, status, run.stderr)
        lines = [json.loads(line) for line in run.stdout.splitlines()]
        for line in lines:
            self.assertEqual(line["v"], 1)
        return lines

    def runs(self, name, program, *words, nr=6):
        paths = [f"{name}.{i}" for i in range(nr)]
        for path in paths:
            run = self.ftr("record", "--no-libcall", "--no-event", "--clock=counter", "-d", path, program, *words)
            self.assertEqual(run.returncode, 0, run.stderr)
        return paths

    def test_diff_of_builds(self):
        """The counter clock: a call takes as long as what it calls is often called."""
        base = self.runs("base", "./victim", "work", "100")
        other = self.runs("other", "./victim", "work", "150")
        lines = self.lines("diff", "--least=0", *base, ":", *other)
        self.assertEqual({line["type"] for line in lines[:-1]}, {"change"})
        end = lines[-1]
        self.assertEqual((end["type"], end["base_runs"], end["other_runs"]), ("diff", 6, 6))
        change = {line["func"]: line for line in lines[:-1]}["main"]
        self.assertEqual(change["verdict"], "worse")
        self.assertEqual(change["delta"], change["other"]["median"] - change["base"]["median"])
        for percent, status in (("20%", 1), ("1000%", 0)):
            run = self.ftr("diff", "--least=0", f"--fail-over={percent}", *base, ":", *other)
            self.assertEqual((run.returncode, run.stderr), (status, ""), run.stdout)
        run = self.ftr("diff", "--least=0", "--fail-over=0", *other, ":", *base)
        self.assertEqual(run.returncode, 0, run.stdout)
        run = self.ftr("diff", "--least=0", *base, ":", *base)
        self.assertRegex(run.stdout, r"# \d+ functions, 0 worse, 0 better\n$")

    def test_diff_counts_as_report_does(self):
        calls = {line["func"]: line["call"] for line in self.lines("report", "-d", f"{DATA}/threads")}
        lines = self.lines("diff", "--by=call", "--all", f"{DATA}/threads", f"{DATA}/threads")
        found = {line["func"]: line for line in lines[:-1]}
        self.assertEqual({name: line["base"]["median"] for name, line in found.items()}, calls)
        self.assertEqual({line["verdict"] for line in found.values()}, {"same"})

    def test_diff_asks_for_both_sides(self):
        for words in ([], ["a"], ["a", "b", "c"], [":", "a"], ["a", ":"], [":"], ["--by=nothing", "a", "b"],
                      ["--fail-over=much", "a", "b"], ["--fail-over=-1", "a", "b"], ["--fail-over=inf", "a", "b"]):
            with self.subTest(words=words):
                run = self.ftr("diff", *words)
                self.assertEqual((run.returncode, run.stdout), (2, ""), run.stderr)
        run = self.ftr("diff", f"{DATA}/threads", "missing")
        self.assertEqual((run.returncode, run.stdout), (1, ""))
        self.assertIn("missing", run.stderr)

    def test_check(self):
        self.record("--clock=counter", "./victim", "work", "7")
        calls = {line["func"]: line for line in self.lines("report", "--no-event", "-f", "+total-max", "-d", "d")}
        name = max(calls, key=lambda func: calls[func]["call"])
        number, longest = calls[name]["call"], calls[name]["total_max"]
        for limit, status in ((f"--max-calls={name}={number}", 0), (f"--max-calls={name}={number - 1}", 1),
                              (f"--max=^{name}$={longest}ns", 0), (f"--max=^{name}$={longest - 1}ns", 1),
                              ("--max=nothing_like_it=1h", 1), ("--max-calls=nothing_like_it=0", 0)):
            for words in (["-d", "d"], ["d"]):
                run = self.ftr("check", limit, *words)
                self.assertEqual((run.returncode, run.stderr), (status, ""), run.stdout)
        lines = self.lines("check", f"--max-calls={name}={number - 1}", "--max=nothing=1s", "--max-total=main=1h", "d", status=1)
        self.assertEqual([(line["type"], line.get("func"), line.get("value"), line.get("kept")) for line in lines[:2]],
                         [("limit", name, number, False), ("limit", None, None, False)])
        self.assertEqual((lines[2]["func"], lines[2]["kept"]), ("main", True))
        self.assertEqual(lines[3], {"v": 1, "type": "check", "limits": 3, "not_kept": 2})

    def test_check_of_memory(self):
        with open("memory.c", "w", encoding="ascii") as file:
            file.write("""#include <stdlib.h>
                void *kept;
                __attribute__((noinline)) void *take(int nr) { void *p = malloc(nr); *(volatile char *)p = 0; return p; }
                __attribute__((noinline)) void again(int nr) { free(take(100)); if (nr > 1) again(nr - 1); }
                __attribute__((noinline)) void leaks(void) { kept = take(1000); }
                __attribute__((noinline)) void quiet(void) { __asm__ volatile(""); }
                int main(void) { again(5); leaks(); quiet(); return 0; }""")
        build(os.path.abspath("memory.c"), "memory", "-pg", "-O1", "-fno-optimize-sibling-calls")
        self.record("--probe=memory,sync", "./memory")
        self.assertEqual(self.ftr("dump", "--fxt", "-o", "d.fxt", "-d", "d").returncode, 0)
        for kind, func, value in (("bytes", "again", 500), ("bytes", "take", 1500), ("bytes", "^main$", 1500),
                                  ("blocks", "take", 6), ("leak", "leaks", 1000), ("leak", "again", 0), ("bytes", "quiet", 0)):
            for path in ("d", "d.fxt"):
                with self.subTest(kind=kind, func=func, path=path):
                    for limit in (value, value - 1):
                        if limit < 0:
                            continue
                        line, end = self.lines("check", f"--max-{kind}={func}={limit}", path, status=int(limit < value))
                        self.assertEqual((line["func"], line["value"], line["most"], line["kept"]),
                                         (func.strip("^$"), value, limit, limit == value))
                        self.assertEqual(end["not_kept"], int(limit < value))
        run = self.ftr("check", "--max-bytes=take=1K", "--max-calls=take=6", "--max-leak=nothing=9", "d")
        self.assertEqual((run.returncode, run.stdout.splitlines()), (1, [
            "take: memory asked for 1500 bytes, limit 1024 bytes: EXCEEDED", "take: calls 6, limit 6",
            "nothing: not called, so that its limit says nothing: NOT CHECKED", "3 limits, 2 not kept"]))

    def test_check_of_waits(self):
        with open("waits.c", "w", encoding="ascii") as file:
            file.write("""#include <pthread.h>
                #include <unistd.h>
                pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
                __attribute__((noinline)) void waits(void) { pthread_mutex_lock(&lock); pthread_mutex_unlock(&lock); }
                void *other(void *arg) { waits(); return arg; }
                int main(void) { pthread_t t; pthread_mutex_lock(&lock); pthread_create(&t, 0, other, 0);
                usleep(50000); pthread_mutex_unlock(&lock); pthread_join(t, 0); return 0; }""")
        build(os.path.abspath("waits.c"), "waits", "-pg", "-O1", "-pthread")
        self.record("--probe=sync", "./waits")
        line = self.lines("check", "--max-wait=waits=1us", "d", status=1)[0]
        self.assertEqual((line["func"], line["kept"], 0 < line["value"]), ("waits", False, True))
        self.assertTrue(self.lines("check", "--max-wait=waits=1h", "d")[0]["kept"])

    def test_check_refuses(self):
        run = self.ftr("check", "--max-bytes=main=1", f"{DATA}/threads")
        self.assertEqual((run.returncode, run.stdout), (1, ""))
        self.assertIn("ftr record --probe=memory", run.stderr)
        for words in (["--max-bytes=f=1x", "d"], ["--max-leak=f", "d"], ["--max-bytes=f=1", "-D", "3", "d"],
                      [], ["d"], ["--max=f"], ["--max=f=5 apples"], ["--max=f=1s", "--etrace=x"], ["--max=(=1s"]):
            with self.subTest(words=words):
                run = self.ftr("check", *words)
                self.assertEqual((run.returncode, run.stdout), (2, ""), run.stderr)
                self.assertEqual(len(run.stderr.splitlines()), 1)

    def test_replay_has_what_flat_has(self):
        for data in TRACES:
            with self.subTest(data=data):
                data = f"{DATA}/{data}"
                flat = self.ftr("replay", "--flat", "--event-full", "--kernel-full", "-d", data).stdout
                wanted = re.findall(r"^\[\d+\] (==>|<==) (\d+)/(\d+): ip \((.*)\), time \((\d+)", flat, re.M)
                marks = {"entry": "==>", "exit": "<=="}
                lines = self.lines("replay", "--event-full", "--kernel-full", "-d", data)
                self.assertEqual([(marks[line["type"]], str(line["tid"]), str(line["depth"]), line["func"],
                                   str(line["time_ns"]))
                                  for line in lines if line["type"] in marks and not line.get("unfinished")
                                  and (marks[line["type"]], str(line["tid"]), str(line["depth"]), line["func"],
                                       str(line["time_ns"])) in set(wanted)], wanted)
                events = len(re.findall(r"^\[\d+\] !!! ", flat, re.M))
                self.assertEqual(sum(line["type"] == "event" for line in lines), events)
                self.assertEqual(sum(line["type"] == "lost" for line in lines), len(re.findall(r"^\[\d+\] XXX ", flat, re.M)))
                self.assertEqual([line["time_ns"] for line in lines], sorted(line["time_ns"] for line in lines))

    def test_replay_sums_are_those_of_report(self):
        for data in ("threads", "jumps", "values"):
            with self.subTest(data=data):
                data = f"{DATA}/{data}"
                calls, own = collections.Counter(), collections.Counter()
                for line in self.lines("replay", "--no-event", "-d", data):
                    if line["type"] == "exit":      # a forked child began in calls of its parent
                        calls[line["func"]] += not line.get("began_before", False)
                        own[line["func"]] += line["duration_ns"] - line["callees_ns"]
                report = self.lines("report", "--no-event", "-d", data)
                self.assertEqual({line["func"]: line["call"] for line in report}, dict(calls))
                self.assertEqual({line["func"]: line["self"] for line in report}, dict(own))

    def test_values(self):
        lines = self.lines("replay", "-d", f"{DATA}/values")
        self.assertIn(("ff", "1.500000, 2.500000, 3.500000"), [(line["func"], line.get("args")) for line in lines if "func" in line])
        self.assertIn(("ee", "GREEN"), [(line["func"], line.get("retval")) for line in lines if "func" in line])

    def test_report_has_every_column(self):
        """As CSV has them."""
        text = self.ftr("report", "--format=csv", "-f", "all", "-d", f"{DATA}/events").stdout.splitlines()
        lines = self.lines("report", "-f", "all", "-d", f"{DATA}/events")
        self.assertEqual([set(line) for line in lines],
                         [set(text[0].replace("-", "_").split(",")) | {"v", "type"}] * (len(text) - 1))
        self.assertEqual([line["func"] for line in lines], [row.rsplit(",", 1)[1] for row in text[1:]])
        self.assertEqual([str(line["total"]) for line in lines], [row.split(",")[0] for row in text[1:]])

    def test_graph(self):
        nodes = {line["id"]: line for line in self.lines("graph", "-d", f"{DATA}/demo-fork")}
        folded = {}
        for node in nodes.values():
            path, at = [], node
            while "parent" in at:
                self.assertLess(at["parent"], at["id"])
                path.insert(0, at["func"])
                at = nodes[at["parent"]]
            if path and node["self"]:
                folded[";".join(path)] = folded.get(";".join(path), 0) + node["self"]
        text = self.ftr("dump", "--flame-graph", "--sample-time=1ns", "-d", f"{DATA}/demo-fork").stdout
        self.assertEqual(folded, {stack: int(nr) for stack, nr in re.findall(r"^(.*) (\d+)$", text, re.M)})
        for words in (["main"], ["--task"]):
            run = self.ftr("graph", "--json", "-d", f"{DATA}/threads", *words)
            self.assertEqual((run.returncode, run.stdout), (2, ""))

    def test_info(self):
        for data in TRACES:
            lines = self.lines("info", "-d", f"{DATA}/{data}")
            self.assertEqual([line["type"] for line in lines], ["trace"] + ["task"] * lines[0]["tasks"])
            self.assertEqual(lines[0]["format"], "uftrace")

    def test_every_member_is_documented(self):
        with open(harness.SRCDIR + "/doc/json.md", encoding="utf-8") as file:
            document = file.read()
        seen = set()
        for data in TRACES:
            for words in (["replay", "--event-full"], ["report"], ["graph"], ["info"]):
                for line in self.lines(*words, "-d", f"{DATA}/{data}"):
                    seen |= set(line) | {line["type"]}
        self.assertEqual([word for word in sorted(seen) if f"`{word}`" not in document], [])

    def test_odd_names(self):
        shutil.copytree(f"{DATA}/threads", "odd")
        os.chmod("odd", 0o755)
        with open("odd/threads.sym", "rb") as file:
            symbols = file.read()
        os.chmod("odd/threads.sym", 0o644)
        with open("odd/threads.sym", "wb") as file:
            file.write(re.sub(rb" main$", b' m"\\\\\x01\xff', symbols, flags=re.M))
        self.assertIn('m"\\\x01\ufffd', [line["func"] for line in self.lines("report", "-d", "odd")])

    def test_a_reader_that_goes_away(self):
        build("threads.c", "many", "-pg", "-O1")
        self.record("--clock=counter", "./many")
        done = self.run_program("sh", "-c", f"{harness.FTR} replay --json -d d | head -n 1")
        self.assertEqual((done.stdout.count("\n"), done.stderr), (1, ""))


if __name__ == "__main__":
    harness.main()
