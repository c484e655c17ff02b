# SPDX-License-Identifier: MIT
"""dump --format=html: the data inside of the page, decoded anew, and the page in a browser where there is one."""
import base64
import glob
import json
import os
import re
import shutil
import subprocess
import tempfile
import unittest
from xml.sax.saxutils import unescape

from recording import TIMEOUT, Recording, harness

HOSTILE = "</script><script>alert(1)</script>"
CHROMIUM = shutil.which("chromium")


def page_of(path):
    with open(path, encoding="utf-8") as file:
        text = file.read()
    scripts = re.findall(r"<script[^>]*>(.*?)</script>", text, re.S)
    assert len(scripts) == 2, "the data and the program"
    return json.loads(scripts[0])


def numbers_of(text):
    """The LEB128 numbers of some base64."""
    value = shift = 0
    for byte in base64.b64decode(text + "=" * (-len(text) % 4)):
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            yield value
            value = shift = 0


class Span:
    """start, end, ns, func (0: not running), calls, is_run, text (or None), depth: as utils/export/html_spans.h says."""

    def __init__(self, numbers, end, depth):
        self.depth = depth
        self.start = end + next(numbers)
        self.ns = next(numbers)
        self.end = self.start + self.ns
        kind = next(numbers)
        self.func, self.is_run = kind >> 2, kind & 3 == 2
        self.text = next(numbers) if kind & 3 == 1 else None
        self.calls = min(self.func, 1)
        if self.is_run:
            self.calls, self.ns = next(numbers), next(numbers)


def spans_of(task, base=0):
    """The spans of a task, whose times count from base on."""
    numbers = numbers_of(task["rows"])
    for depth in range(next(numbers)):
        end = base
        for _ in range(next(numbers)):
            span = Span(numbers, end, depth)
            end = span.end
            yield span
    assert not any(numbers), "what fills up the base64"


def tree_of(page):
    """[name, time, calls, callees] of the root, without a name."""
    numbers, nodes = numbers_of(page["tree"]), [[None, 0, 0, []]]
    for _ in range(page["nodes"]):
        parent, func, ns, calls = nodes[-next(numbers)], next(numbers), next(numbers), next(numbers)
        node = ["(not running)" if func == 0 else None if func == 1 else page["funcs"][func - 2][0], ns, calls, []]
        parent[3].append(node)
        nodes.append(node)
    return nodes[0]


class TextPage(Recording):
    """--format=html of what prints text: the same text, with the terminal's colours."""

    def text_of(self, *words):
        run = self.ftr(*words, "-d", "d", "--format=html")
        self.assertEqual((run.returncode, run.stderr), (0, ""))
        head, _, rest = run.stdout.partition("<body>\n<pre>\n")
        self.assertIn("<title>ftr: d</title>", head)
        body, _, end = rest.rpartition("</pre>")
        self.assertEqual(end, "\n</body>\n</html>\n")
        return unescape(re.sub(r"</?span[^>]*>", "", body)), body

    def test_same_text(self):
        self.record("--clock=counter", "-A", ".@arg1", "./victim", "threads", "3")
        for words in (("replay",), ("replay", "--flat"), ("report",), ("report", "--task"), ("report", "--avg-self"),
                      ("graph",), ("graph", "main"), ("graph", "--task"), ("report", "--diff", "d")):
            with self.subTest(words=words):
                text, body = self.text_of(*words)
                self.assertEqual(text, self.ftr(*words, "-d", "d", "--no-pager", "--color=no").stdout)
                self.assertEqual("<span class=" in body, "\x1b" in self.ftr(*words, "-d", "d", "--color=yes").stdout)
                self.assertNotIn("<span", self.text_of(*words, "--color=no")[1])

    def test_to_a_file(self):
        self.record("./victim", "work", "1")
        for words in (("replay",), ("report",), ("graph",), ("report", "--format=csv"), ("graph", "--json")):
            for html in ([], ["--format=html"]) if len(words) == 1 else ([],):
                with self.subTest(words=words, html=html):
                    printed = self.ftr(*words, *html, "-d", "d", "--no-pager", "-o", "-").stdout
                    run = self.ftr(*words, *html, "-d", "d", "-o", "x.text")
                    self.assertEqual((run.returncode, run.stdout, run.stderr), (0, "", ""))
                    with open("x.text", encoding="utf-8") as file:
                        self.assertEqual(file.read(), printed)
        for html in ([], ["--format=html"]):
            for path, cause in (("none/x", "No such file or directory"), ("d/info", "part of the trace being read")):
                run = self.ftr("report", *html, "-d", "d", "-o", path)
                self.assertEqual(run.returncode, 1)
                self.assertRegex(run.stderr, rf"^ftr: {path}: .*{cause}")

    def test_failures(self):
        self.record("./victim", "work", "1")
        for words in (("replay", "--json"), ("graph", "--json")):
            run = self.ftr(*words, "-d", "d", "--format=html")
            self.assertEqual((run.returncode, run.stdout), (2, ""))
            self.assertIn("--format=html; leave one out", run.stderr)
        with open("/dev/full", "w", encoding="ascii") as full:
            done = subprocess.run([harness.FTR, "report", "-d", "d", "--format=html"], stdout=full, text=True,
                                  stderr=subprocess.PIPE, timeout=TIMEOUT, check=False)
        self.assertEqual((done.returncode, done.stderr), (1, "ftr: standard output: No space left on device\n"))
        pipe = subprocess.Popen([harness.FTR, "replay", "-d", "d", "--format=html"], stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE)
        pipe.stdout.close()
        self.assertEqual((pipe.stderr.read(), pipe.wait(timeout=TIMEOUT)), (b"", 0))
        pipe.stderr.close()


class Html(Recording):
    def page(self, *words):
        run = self.ftr("dump", "--format=html", "-o", "x.html", "-d", "d", *words)
        self.assertEqual((run.returncode, run.stderr), (0, ""))
        return page_of("x.html")

    def report(self):
        text = self.ftr("report", "--no-pager", "--no-event", "-d", "d", "-f", "call").stdout
        return {name: int(nr) for nr, name in re.findall(r"^\s*(\d+)\s+(\S.*)$", text, re.M)}

    def test_calls_are_those_of_report(self):
        self.record("--clock=counter", "./victim", "threads", "5")
        page = self.page("--no-event")
        counts, tids = {}, set()
        for task in page["tasks"]:
            tids.add(task["tid"])
            end = {}
            for span in spans_of(task):
                self.assertLessEqual(span.end, page["ns"])
                name = page["funcs"][span.func - 1][0]
                counts[name] = counts.get(name, 0) + 1
                self.assertEqual((span.is_run, span.calls), (False, 1))
                self.assertGreaterEqual(span.start, end.get(span.depth, 0))     # beside each other
                end[span.depth] = span.end
        self.assertEqual(counts, self.report())
        self.assertEqual({func[0]: func[1] for func in page["funcs"] if func}, counts)
        self.assertEqual(len(tids), 6)
        self.assertEqual((page["grain"], page["leftOut"]), (0, 0))

    def sums(self, page):
        """Calls and time by task and depth."""
        sums = {}
        for task in page["tasks"]:
            for span in spans_of(task):
                old = sums.get((task["tid"], span.depth), (0, 0))
                sums[(task["tid"], span.depth)] = (old[0] + span.calls, old[1] + span.ns)
        return sums

    def test_short_neighbours_are_merged(self):
        self.record("./victim", "work", "5000")
        exact, page = self.page(), self.page("--html-calls=1000")
        spans = [span for task in page["tasks"] for span in spans_of(task)]
        self.assertLessEqual(len(spans), 1000)
        self.assertGreater(len(spans), 100)
        self.assertEqual((exact["grain"], page["leftOut"]), (0, 0))
        self.assertGreater(page["grain"], 0)
        self.assertEqual(self.sums(page), self.sums(exact))
        for span in spans:
            self.assertLess(span.end - span.start, page["grain"] * 2 if span.is_run else float("inf"))
        self.assertEqual({func[0]: func[1] for func in page["funcs"] if func}, self.report())
        self.assertIn("main", [page["funcs"][span.func - 1][0] for span in spans if span.func])
        self.assertEqual(page["tree"], exact["tree"])

    def test_the_tree_is_that_of_graph(self):
        self.record("./victim", "work", "50")
        lines = self.ftr("graph", "-d", "d", "--json", "--no-event").stdout.splitlines()
        nodes = {node["id"]: node for node in map(json.loads, lines) if node["type"] == "node"}

        def path(node):
            return path(nodes[node["parent"]]) + (node["func"],) if "parent" in node else ()

        def paths(node, above):
            for name, ns, calls, callees in node[3]:
                yield (*above, name), ns, calls
                yield from paths([None, 0, 0, callees], (*above, name))

        wanted = sorted((path(node), node["total"], node["call"]) for node in nodes.values() if "parent" in node)
        self.assertEqual(sorted(paths(tree_of(self.page("--no-event")), ())), wanted)

    def test_what_nobody_sees_of_the_tree_is_one_node(self):
        self.record("./victim", "names")
        page = self.page("--no-event")

        hidden = []

        def check(node):
            self.assertLessEqual(sum(child[1] for child in node[3]), node[1] if node[0] else float("inf"))
            hidden.extend(child[2] for child in node[3] if child[0] is None)
            return node[2] + sum(map(check, node[3]))

        calls = check(tree_of(page))
        self.assertGreater(sum(hidden), 0)
        self.assertLessEqual(calls, sum(self.report().values()))    # without what those call in turn

    def test_arguments_and_return_values(self):
        self.record("-A", "work@arg1", "-A", "leaf@arg1", "-R", "leaf@retval", "./victim", "work", "6")
        page, found = self.page("--no-event"), {}
        for task in page["tasks"]:
            for span in spans_of(task):
                text = None if span.text is None else page["texts"][span.text]
                found.setdefault(page["funcs"][span.func - 1][0], []).append(text)
        self.assertEqual(found["work"], ["(6)"])
        self.assertEqual(found["main"], [None])
        values = re.findall(r"leaf\((\d+)\) = (\d+);", self.ftr("replay", "-d", "d", "--no-pager", "--no-event").stdout)
        self.assertEqual(found["leaf"], [f"({argument}) = {value}" for argument, value in values])
        self.assertEqual(len(values), 6)
        self.assertEqual(len(set(page["texts"])), len(page["texts"]))
        self.assertEqual(page["textsLeftOut"], 0)

    def test_arguments_of_merged_calls_are_dropped(self):
        self.record("-A", "work@arg1", "-A", "leaf@arg1", "./victim", "work", "5000")
        page = self.page("--html-calls=1000")
        used = {span.text for task in page["tasks"] for span in spans_of(task) if span.text is not None}
        self.assertIn("(5000)", page["texts"])
        self.assertLess(len(page["texts"]), 1000)
        self.assertEqual(used, set(range(len(page["texts"]))))

    def hostile(self):
        """A function whose name ends the element that it stands in."""
        self.record("./victim", "work", "2")
        with open("d/victim.sym", encoding="ascii") as file:
            text = file.read()
        with open("d/victim.sym", "w", encoding="ascii") as file:
            file.write(re.sub(r" leaf$", " " + HOSTILE, text, flags=re.M))

    def test_a_name_that_ends_the_script(self):
        self.hostile()
        page = self.page()
        self.assertIn([HOSTILE, 2], [func[:2] for func in page["funcs"] if func])

    def test_an_empty_trace(self):
        self.record("./victim", "work", "3")
        for path in glob.glob("d/[0-9]*.dat"):
            open(path, "wb").close()
        page = self.page("--no-event")
        self.assertEqual((page["ns"], [func for func in page["funcs"] if func]), (0, []))

    # ftr view

    def view(self, *options, **environment):
        screens = ("BROWSER", "DISPLAY", "WAYLAND_DISPLAY")
        others = {name: value for name, value in os.environ.items() if name not in screens}
        return self.ftr("view", *options, env={**others, **environment})

    def test_view_without_a_screen(self):
        self.record("./victim", "work", "3")
        run = self.view("d")
        self.assertEqual((run.returncode, run.stdout), (0, ""))
        self.assertEqual(run.stderr, "ftr: ftr.html: there is no screen here; open it in a browser\n")
        self.page()
        with open("x.html", encoding="utf-8") as dumped, open("ftr.html", encoding="utf-8") as viewed:
            self.assertEqual(viewed.read(), dumped.read())

    def test_view_starts_a_browser(self):
        self.record("./victim", "work", "3")
        with open("browser", "w", encoding="ascii") as file:
            file.write('#!/bin/sh\necho "$#:$1" >shown.new\nmv shown.new shown\n')
        os.chmod("browser", 0o755)
        run = self.view("-d", "d", BROWSER="./browser")
        self.assertEqual((run.returncode, run.stdout, run.stderr), (0, "", "ftr: ftr.html: shown by ./browser\n"))
        self.wait_for(lambda: os.path.exists("shown"))
        with open("shown", encoding="ascii") as file:
            self.assertEqual(file.read(), "1:ftr.html\n")
        run = self.view("-d", "d", BROWSER="./missing")
        self.assertEqual(run.returncode, 0)
        self.assertEqual(run.stderr, "ftr: warning: ftr.html: ./missing: No such file or directory; "
                         "open it in a browser, or set BROWSER\n")

    def test_view_writes_where_it_is_told(self):
        self.record("./victim", "work", "3")
        run = self.view("-o", "-", "-F", "work", "d", BROWSER="./missing")
        self.assertEqual((run.returncode, run.stderr), (0, ""))
        self.assertIn("</html>", run.stdout)
        self.assertFalse(os.path.exists("ftr.html"))
        run = self.view("-o", "no/x.html", "d")
        self.assertEqual(run.returncode, 1)
        self.assertIn("no/x.html: No such file or directory", run.stderr)

    @unittest.skipUnless(CHROMIUM, "chromium is not installed")
    def test_in_a_browser(self):
        self.hostile()
        self.page()
        with tempfile.TemporaryDirectory() as profile:
            run = subprocess.run([CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
                                  "--disable-background-networking", "--disable-component-update", "--disable-sync",
                                  "--user-data-dir=" + profile, "--enable-logging=stderr", "--virtual-time-budget=3000",
                                  "--dump-dom", "file://" + self.dir + "/x.html"],
                                 stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=TIMEOUT, check=False)
        self.assertNotIn(":CONSOLE", run.stderr)
        rows = re.findall(r"<tr[^>]*>(?:<td>([^<]*)</td>){6}</tr>", run.stdout)
        self.assertIn(HOSTILE.replace("<", "&lt;").replace(">", "&gt;"), rows)
        self.assertIn("victim", re.search(r'<b id="title">(.*?)</b>', run.stdout)[1])


if __name__ == "__main__":
    harness.main()
