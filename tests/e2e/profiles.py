# SPDX-License-Identifier: MIT
"""dump as svg, speedscope and pprof: each file decoded anew, and its sums beside those of report and graph."""
import glob
import gzip
import json
import re
import xml.etree.ElementTree as ElementTree

from recording import Recording, build, harness

DATA = harness.SRCDIR + "/tests/data"
SVG = "{http://www.w3.org/2000/svg}"


def fields_of(message):
    """A message of protocol buffers: (number, value) of each field."""
    at = 0

    def varint():
        nonlocal at
        value = shift = 0
        while True:
            byte = message[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    while at < len(message):
        tag = varint()
        if tag & 7 == 0:
            yield tag >> 3, varint()
        else:
            assert tag & 7 == 2, f"wire type {tag & 7}"
            size = varint()
            assert at + size <= len(message)
            yield tag >> 3, message[at:at + size]
            at += size


class Profile:
    """pprof's, with names in place of numbers."""
    def __init__(self, path):
        with gzip.open(path) as file:
            fields = list(fields_of(file.read()))

        def all_of(number):
            return [value for at, value in fields if at == number]

        self.strings = [text.decode("utf-8") for text in all_of(6)]
        assert self.strings[0] == "" and len(set(self.strings)) == len(self.strings)
        mappings = {dict(fields_of(message))[1]: dict(fields_of(message)) for message in all_of(3)}
        functions = {dict(fields_of(message))[1]: dict(fields_of(message)) for message in all_of(5)}
        self.types = [tuple(self.strings[value] for _, value in fields_of(message)) for message in all_of(1)]
        self.files = {self.strings[mapping[5]] for mapping in mappings.values()}
        self.lines, names = {}, {}
        for message in all_of(4):
            location = dict(fields_of(message))
            function = functions[dict(fields_of(location[4]))[1]]
            assert location.get(3, 0) == 0 or location[2] in mappings
            names[location[1]] = self.strings[function[2]]
            self.lines[self.strings[function[2]]] = (self.strings[function.get(4, 0)], function.get(5, 0))
        self.samples = []
        for message in all_of(2):
            sample = list(fields_of(message))
            stack = [names[value] for number, value in sample if number == 1]
            self.samples.append((stack[::-1], [value for number, value in sample if number == 2]))


class Profiles(Recording):
    def dump(self, name, path, *words, data="d"):
        run = self.ftr("dump", "--format=" + name, "-o", path, "-d", data, *words)
        self.assertEqual(run.returncode, 0, run.stderr)
        return run.stderr

    def folded(self, data="d", *words):
        self.dump("flame-graph", "x.folded", "--sample-time=1ns", *words, data=data)
        with open("x.folded", encoding="utf-8") as file:
            return {tuple(stack.split(";")): int(nr) for stack, nr in (line.rsplit(" ", 1) for line in file)}

    def test_pprof_has_the_sums_of_the_flame_graph(self):
        for data in ("threads", "demo-fork", "jumps", "values"):
            with self.subTest(data=data):
                data = f"{DATA}/{data}"
                self.dump("pprof", "x.pb.gz", data=data)
                profile = Profile("x.pb.gz")
                self.assertEqual(profile.types, [("calls", "count"), ("time", "nanoseconds")])
                times = {}
                for stack, (_, ns) in profile.samples:
                    times[tuple(stack)] = times.get(tuple(stack), 0) + ns
                self.assertEqual({stack: ns for stack, ns in times.items() if ns > 0}, self.folded(data))

    def test_pprof_by_weights(self):
        """The weights are those of the flame graph, the counts those of the tree; each has the names that pprof knows."""
        for data, by, types in (("weights", "bytes", [("alloc_objects", "count"), ("alloc_space", "bytes")]),
                                ("weights", "blocks", [("alloc_objects", "count"), ("alloc_objects", "count")]),
                                ("weights", "leak", [("inuse_objects", "count"), ("inuse_space", "bytes")]),
                                ("weights", "wait", [("contentions", "count"), ("delay", "nanoseconds")]),
                                ("samples", "samples", [("samples", "count"), ("samples", "count")])):
            with self.subTest(by=by):
                path = f"{DATA}/{data}"
                self.dump("pprof", "x.pb.gz", "--by=" + by, data=path)
                profile, sums, counts = Profile("x.pb.gz"), {}, {}
                self.assertEqual(profile.types, types)
                for stack, (nr, value) in profile.samples:
                    sums[tuple(stack)] = sums.get(tuple(stack), 0) + value
                    counts[tuple(stack)] = counts.get(tuple(stack), 0) + nr
                self.assertEqual({stack: value for stack, value in sums.items() if value > 0}, self.folded(path, "--by=" + by))
                if by in ("bytes", "blocks"):
                    self.assertEqual({stack: nr for stack, nr in counts.items() if nr > 0}, self.folded(path, "--by=blocks"))
                elif by == "samples":
                    self.assertEqual(counts, sums)

    def test_pprof_has_calls(self):
        self.record("--clock=counter", "./victim", "threads", "5")
        self.dump("pprof", "x.pb.gz", "--no-event")
        profile, counts = Profile("x.pb.gz"), {}
        for stack, (calls, _) in profile.samples:
            counts[stack[-1]] = counts.get(stack[-1], 0) + calls
        text = self.ftr("report", "--no-pager", "--no-event", "-d", "d", "-f", "call").stdout
        self.assertEqual(counts, {name: int(nr) for nr, name in re.findall(r"^\s*(\d+)\s+(\S.*)$", text, re.M)})
        self.assertTrue(any(file.endswith("/victim") for file in profile.files), profile.files)

    def test_source_lines(self):
        self.dump("pprof", "x.pb.gz", data=f"{DATA}/values")
        profile = Profile("x.pb.gz")
        self.dump("speedscope", "x.speedscope.json", data=f"{DATA}/values")
        with open("x.speedscope.json", encoding="utf-8") as file:
            frames = {frame["name"]: (frame.get("file"), frame.get("line")) for frame in json.load(file)["shared"]["frames"]}
        with open(f"{DATA}/values/values.dbg", encoding="utf-8") as file:
            lines = re.findall(r"^F: \w+ (\w+)\nL: (\d+) (\S+)$", file.read(), re.M)
        self.assertGreater(len(lines), 3)
        for name, line, path in lines:
            if name in frames:
                self.assertEqual((frames[name], profile.lines[name]), ((path, int(line)),) * 2)

    def check_profile(self, profile, frames, times):
        """Speedscope's rules; adds what each stack took by itself."""
        stack, at = [], profile["startValue"]
        self.assertEqual((profile["type"], profile["unit"]), ("evented", "nanoseconds"))
        for event in profile["events"]:
            self.assertGreaterEqual(event["at"], at)
            if stack:
                key = tuple(frames[frame]["name"] for frame in stack)
                times[key] = times.get(key, 0) + event["at"] - at
            at = event["at"]
            if event["type"] == "O":
                stack.append(event["frame"])
            else:
                self.assertEqual((event["type"], stack.pop()), ("C", event["frame"]))
        self.assertEqual(stack, [])
        self.assertLessEqual(at, profile["endValue"])

    def test_speedscope_has_the_times_of_the_flame_graph(self):
        for data in ("threads", "demo-fork", "jumps", "values"):
            with self.subTest(data=data):
                data = f"{DATA}/{data}"
                self.dump("speedscope", "x.speedscope.json", data=data)
                with open("x.speedscope.json", encoding="utf-8") as file:
                    page = json.load(file)
                times = {}
                for profile in page["profiles"]:
                    self.check_profile(profile, page["shared"]["frames"], times)
                calls = {stack: ns for stack, ns in times.items() if ns > 0 and not stack[0].startswith("linux:")}
                self.assertEqual(calls, self.folded(data))

    def test_speedscope_of_many_calls_in_turn(self):
        """More than the blocks in memory hold."""
        build("threads.c", "threads", "-pg", "-O1")
        self.record("--clock=counter", "./threads")
        self.dump("speedscope", "x.speedscope.json", "--no-event")
        with open("x.speedscope.json", encoding="utf-8") as file:
            page = json.load(file)
        times = {}
        for profile in page["profiles"]:
            self.check_profile(profile, page["shared"]["frames"], times)
        self.assertGreater(max(len(profile["events"]) for profile in page["profiles"]), 1000)
        self.assertEqual({stack: ns for stack, ns in times.items() if ns > 0}, self.folded("d", "--no-event"))

    def test_speedscope_closes_what_rules_left_open(self):
        self.dump("speedscope", "x.speedscope.json", "-t", "1us", "-N", "b", data=f"{DATA}/threads")
        with open("x.speedscope.json", encoding="utf-8") as file:
            page = json.load(file)
        for profile in page["profiles"]:
            self.check_profile(profile, page["shared"]["frames"], {})

    def test_svg_is_nested_and_says_what_it_left_out(self):
        for data, words in (("threads", []), ("demo-fork", []), ("values", ["--svg-width=300"])):
            with self.subTest(data=data):
                self.dump("svg", "x.svg", *words, data=f"{DATA}/{data}")
                root = ElementTree.parse("x.svg").getroot()
                rows = {}
                for group in root.iter(SVG + "g"):
                    rect = group.find(SVG + "rect")
                    left = float(rect.get("x"))
                    rows.setdefault(int(rect.get("y")), []).append((left, left + float(rect.get("width"))))
                    self.assertRegex(group.find(SVG + "title").text, r"^.+: [\d.]+ (us|ms|s) \([\d.]+%\), self ")
                below = None
                for row in sorted(rows, reverse=True):
                    bars = sorted(rows[row])
                    for one, next_one in zip(bars, bars[1:]):
                        self.assertLessEqual(one[1], next_one[0] + 0.15)      # beside each other
                    for left, right in bars if below else []:
                        self.assertTrue(any(left >= at - 0.15 and right <= end + 0.5 for at, end in below))
                    below = bars
                notes = "".join(text.text or "" for text in root.iter(SVG + "text"))
                nodes = len(self.dump_nodes(data))
                drawn = sum(len(bars) for bars in rows.values())
                left_out = re.search(r"(\d+) call stacks narrower", notes)
                self.assertEqual(drawn + int(left_out[1] if left_out else 0), nodes)

    def dump_nodes(self, data):
        """The nodes of the call tree, its roots with them."""
        self.dump("mermaid", "x.mmd", data=f"{DATA}/{data}")
        with open("x.mmd", encoding="utf-8") as file:
            return re.findall(r"^    n\d+\[", file.read(), re.M)

    def test_hostile_names(self):
        self.record("--clock=counter", "./victim", "work", "3")
        [symbols] = glob.glob("d/victim*.sym")
        with open(symbols, "rb") as file:
            text = file.read()
        with open(symbols, "wb") as file:
            file.write(re.sub(rb" leaf$", b" <b>&\"]]>\001\303x", text, flags=re.M))
        for name, path in (("svg", "x.svg"), ("speedscope", "x.speedscope.json"), ("pprof", "x.pb.gz")):
            self.dump(name, path)
        self.assertIn("<b>&\"]]>", " ".join(title.text for title in ElementTree.parse("x.svg").iter(SVG + "title")))
        with open("x.speedscope.json", encoding="utf-8") as file:
            names = [frame["name"] for frame in json.load(file)["shared"]["frames"]]
        self.assertIn("<b>&\"]]>\x01\ufffdx", names)
        self.assertIn("<b>&\"]]>\x01\ufffdx", Profile("x.pb.gz").strings)

    def test_formats_have_the_names_that_others_give_them(self):
        for name, other in (("flame-graph", "folded"), ("jsonl", "json")):
            runs = [self.ftr("dump", f"--format={word}", f"{DATA}/threads") for word in (name, other)]
            self.assertEqual([(run.returncode, run.stdout != "") for run in runs], [(0, True)] * 2)
            self.assertEqual(*(run.stdout for run in runs))
        self.assertNotIn("folded", self.ftr("dump", "--help").stdout, "each is listed once")

    def test_convert_knows_the_suffixes(self):
        for path, head in (("x.svg", b"<?xml"), ("x.speedscope.json", b'{"$schema"'), ("x.pb.gz", b"\x1f\x8b"),
                           ("x.json", b'{"traceEvents"')):
            run = self.ftr("convert", f"{DATA}/threads", path)
            self.assertEqual(run.returncode, 0, run.stderr)
            with open(path, "rb") as file:
                self.assertEqual(file.read(len(head)), head)


if __name__ == "__main__":
    harness.main()
