# SPDX-License-Identifier: MIT
"""dump as rows for databases: RowBinary, CSV and JSON lines hold the same, with the sums of report."""
import collections
import csv
import io
import json
import re
import struct
import subprocess

from recording import FTR, TIMEOUT, Recording, harness

DATA = harness.SRCDIR + "/tests/data"
TRACES = ("threads", "demo-fork", "jumps", "values", "events", "structs")
INHERITED = 16      # a bit of a call's flags


def documented():
    """The columns of doc/rows.md, each with its type: {table: {name: type}}."""
    with open(harness.SRCDIR + "/doc/rows.md", encoding="utf-8") as file:
        parts = re.split(r"^## (\w+)$", file.read(), flags=re.M)[1:]
    return {name: dict(re.findall(r"^\| `(\w+)` \| (\w+) \|", text, re.M)) for name, text in zip(parts[::2], parts[1::2])}


NUMBERS = {"UInt8": "<B", "Int16": "<h", "Int32": "<i", "UInt32": "<I", "UInt64": "<Q", "Int64": "<q"}


def decoded(data, columns):
    at, rows = 0, []
    while at < len(data):
        row = {}
        for name, kind in columns.items():
            if kind == "String":
                size = shift = 0
                while True:
                    byte, at = data[at], at + 1
                    size |= (byte & 127) << shift
                    shift += 7
                    if byte < 128:
                        break
                row[name] = data[at:at + size].decode("utf-8")
                assert at + size <= len(data)
                at += size
            else:
                row[name], = struct.unpack_from(NUMBERS[kind], data, at)
                at += struct.calcsize(NUMBERS[kind])
        rows.append(row)
    return rows


class Rows(Recording):
    def dump(self, name, data, *words):
        done = subprocess.run([FTR, "dump", "--format=" + name, "-d", data, *words], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, timeout=TIMEOUT, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def rows(self, data, table, *words):
        """As all three encodings have them."""
        columns = documented()[table]
        words = [f"--rows={table}", *words]
        rows = decoded(self.dump("rowbinary", data, *words), columns)
        for row in rows:
            self.assertLess(max(value for value in row.values() if isinstance(value, int)), 1 << 63)
        lines = [json.loads(line) for line in self.dump("jsonl", data, *words).splitlines()]
        self.assertEqual([list(line) for line in lines], [list(columns)] * len(rows))
        self.assertEqual(lines, rows)
        text = list(csv.DictReader(io.StringIO(self.dump("csv", data, *words).decode("utf-8"), newline="")))
        self.assertEqual(text, [{name: str(value) for name, value in row.items()} for row in rows])
        return rows

    def json_lines(self, *words):
        return [json.loads(line) for line in self.ftr(*words, "--json").stdout.splitlines()]

    def test_calls_are_those_of_report(self):
        for data in TRACES:
            with self.subTest(data=data):
                data = f"{DATA}/{data}"
                calls, own = collections.Counter(), collections.Counter()
                for row in self.rows(data, "calls"):
                    calls[row["function"]] += not row["flags"] & INHERITED
                    own[row["function"]] += row["self"]
                report = self.json_lines("report", "--no-event", "-d", data)
                self.assertEqual(dict(calls), {line["func"]: line["call"] for line in report})
                for line in self.json_lines("replay", "--no-event", "-d", data):
                    if line["type"] == "exit":
                        own[line["func"]] -= line["duration_ns"] - line["callees_ns"]
                self.assertEqual({name: ns for name, ns in own.items() if ns}, {})

    def test_parents(self):
        for data in TRACES:
            with self.subTest(data=data):
                rows = self.rows(f"{DATA}/{data}", "calls")
                by_id = {(row["tid"], row["call"]): row for row in rows}
                self.assertEqual(len(by_id), len(rows))
                callees = collections.Counter()
                for row in rows:
                    self.assertLessEqual(row["self"], row["duration"])
                    if row["parent"] == 0:
                        self.assertEqual(row["depth"], 0)
                        continue
                    parent = by_id[row["tid"], row["parent"]]
                    self.assertEqual(row["depth"], parent["depth"] + 1)
                    self.assertLess(row["parent"], row["call"])
                    self.assertGreaterEqual(row["start"], parent["start"])
                    callees[row["tid"], row["parent"]] += row["duration"]
                for key, row in by_id.items():
                    self.assertLessEqual(callees[key], row["duration"])

    def test_events_are_those_of_replay(self):
        for data in TRACES:
            with self.subTest(data=data):
                data = f"{DATA}/{data}"
                rows = self.rows(data, "events", "--event-full")
                lines = [line for line in self.json_lines("replay", "--event-full", "-d", data) if line["type"] == "event"]
                self.assertEqual([(row["tid"], row["name"], row["data"], row["cpu"]) for row in rows],
                                 [(line["tid"], line["name"], line.get("data", ""), line.get("cpu", -1)) for line in lines])
                starts = {row["time"] - line["time_ns"] for row, line in zip(rows, lines)}
                self.assertLessEqual(len(starts), 1)
                calls = {(row["tid"], row["call"]) for row in self.rows(data, "calls", "--event-full")}
                self.assertLessEqual({(row["tid"], row["call"]) for row in rows if row["call"]}, calls)

    def test_paths_are_those_of_graph(self):
        for data in TRACES:
            with self.subTest(data=data):
                data = f"{DATA}/{data}"
                rows = self.rows(data, "paths")
                numbers = {(row["minute"], row["path"]): row for row in rows}
                self.assertEqual(len(numbers), len(rows))
                names, added = {}, collections.Counter()
                for row in sorted(rows, key=lambda row: row["depth"]):
                    above = (row["program"],)
                    if row["depth"] > 0:
                        parent = numbers[row["minute"], row["parent"]]
                        self.assertEqual((parent["depth"], parent["program"]), (row["depth"] - 1, row["program"]))
                        self.assertLessEqual(parent["first"], row["first"])
                        above = names[row["parent"]]
                    names[row["path"]] = line = (*above, row["function"])
                    for column in ("calls", "total", "self"):
                        added[line, column] += row[column]
                    if row["calls"] == 1 and row["total_max"] == row["total"]:
                        self.assertEqual((row["total_min"], row["self_min"], row["self_max"]),
                                         (row["total"], row["self"], row["self"]))
                nodes, expected = {}, collections.Counter()
                for line in self.json_lines("graph", "--no-event", "-d", data):
                    nodes[line["id"]] = path = (*nodes.get(line.get("parent"), ()), line["func"])
                    for column, name in (("calls", "call"), ("total", "total"), ("self", "self")):
                        expected[path, column] += line[name] if len(path) > 1 else 0
                self.assertEqual(+added, +expected)

    def test_numbers_of_paths_stay(self):
        """They are stored: those of another version must be the same."""
        self.assertEqual({row["path"] for row in self.rows(f"{DATA}/threads", "paths") if row["function"] == "fact"},
                         {8650315586623767025, 3934446527348791841, 4195672536255533393, 6293522434778333761})

    def test_who_where_and_what(self):
        self.record("-A", "main@arg1", "-R", "main@retval", "./victim", "work", "3")
        rows = self.rows("d", "calls")
        with open("d/info", "rb") as file:
            host = re.search(rb"osinfo:hostname=(.*)\n", file.read())[1].decode()
        row = {row["function"]: row for row in rows}["main"]
        self.assertEqual((row["host"], row["pid"], row["tid"], row["flags"] & 1), (host, row["tid"], row["pid"], 0))
        self.assertTrue(row["module"].endswith("/victim"))
        self.assertRegex(row["build_id"], "^[0-9a-f]{8,}$")
        self.assertRegex(row["run"], "^[0-9a-f]{16}$")
        self.assertEqual((row["args"], row["retval"]), ("3", "0"))
        self.assertLess(abs(row["start"] / 1e9 - harness.time.time()), 3600)        # UNIX time

    def test_odd_names(self):
        self.record("--clock=counter", "./victim", "work", "3")
        with open("d/victim.sym", encoding="utf-8") as file:
            text = file.read()
        with open("d/victim.sym", "w", encoding="utf-8") as file:
            file.write(re.sub(r" leaf$", ' a"b, \\\\ é', text, flags=re.M))
        self.assertIn('a"b, \\ é', {row["function"] for row in self.rows("d", "calls")})

    def test_convert_by_suffix(self):
        for name in ("rowbinary", "csv", "jsonl"):
            self.assertEqual(self.ftr("convert", f"{DATA}/values", "x." + name).returncode, 0)
            with open("x." + name, "rb") as file:
                self.assertEqual(file.read(), self.dump(name, f"{DATA}/values"))


if __name__ == "__main__":
    harness.main()
