# SPDX-License-Identifier: MIT
"""The page of ftr view in a browser, used as people use it: mouse, wheel and keys; what it shows is read and looked at."""
import json
import os
import re
import shutil
import subprocess
import unittest

import recording
from recording import FTR, TIMEOUT, harness
import browser
from fxt_made import Made
import tracedat_made

PROCESS, THREAD = (10, 10), (10, 11)
WHOLE_NS = 1000000
HIT = {"light": (0xd6, 0, 0x6c), "dark": (0xff, 0x5f, 0xa8)}
BACK = {"light": (255, 255, 255), "dark": (0x17, 0x19, 0x1c)}


def made_calls():
    """Two tasks whose calls begin and end at round times."""
    made = Made()
    made.init(1000000000)
    made.kernel_object(1, 10, "program")
    made.kernel_object(2, 10, "program", [made.arg(8, "process", 10)])
    made.kernel_object(2, 11, "helper", [made.arg(8, "process", 10)])
    for thread, name, begin, end in (
            (PROCESS, "main", 0, 1000000), (PROCESS, "parse", 100000, 400000), (PROCESS, "leaf", 200000, 300000),
            (PROCESS, "work", 500000, 900000), (THREAD, "worker", 200000, 800000), (THREAD, "leaf", 250000, 350000)):
        made.complete(thread, name, begin, end)
    return made


@unittest.skipUnless(browser.IS_THERE, "chromium and its chromedriver are not installed")
class Page(harness.Test):
    """One browser for all tests of the class: it takes seconds to start."""

    @classmethod
    def set_up_class(cls):
        cls.home = os.path.join(cls.top, "home")
        os.mkdir(cls.home)
        cls.browser = browser.Browser(cls.home)
        cls.make_page()

    @classmethod
    def tearDownClass(cls):
        cls.browser.close()
        super().tearDownClass()

    @staticmethod
    def write_page(path, *words):
        done = subprocess.run([FTR, "dump", "--format=html", "-o", path, *words], stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, timeout=TIMEOUT, check=False)
        assert (done.returncode, done.stdout) == (0, ""), done.stdout

    def setUp(self):
        super().setUp()
        self.browser.size(1200, 800)
        self.browser.scheme("light")
        self.open()

    def tearDown(self):
        """The browser goes on; what a test started besides has ended."""
        os.chdir("/")
        shutil.rmtree(self.dir)
        self.assertEqual(self.browser.log(), [])

    def open(self, fragment="", name="x.html"):
        self.browser.open("about:blank")
        self.browser.open(f"file://{self.dir}/{name}{fragment}")
        self.browser.settle()

    def range(self):
        """Begin and end of what is in view, by the address."""
        self.browser.settle()
        found = re.search(r"#(-?\d+)-(\d+)", self.browser.run("return location.href"))
        return int(found[1]), int(found[2])

    def x(self, time):
        """Where a time is in the window."""
        left, _, width, _ = self.browser.box("#timeline")
        start, end = self.browser.run("return [view.start, view.end]")
        return left + (time - start) / (end - start) * width

    def y(self, tid, depth):
        """Where calls of a depth are."""
        top = self.browser.run("const task = trace.tasks.find(task => task.tid === arguments[0]);"
                               "return task.callsY + (arguments[1] + 0.5) * ROW", tid, depth)
        return self.browser.box("#timeline")[1] + top

    def rows(self):
        """The table: function -> cells by the head of their column."""
        heads = [text.strip(" ▾▴") for text in self.browser.run(
            "return [...document.querySelectorAll('#table th')].map(e => e.textContent)")]
        rows = self.browser.run("return [...document.querySelectorAll('#table tbody tr')]"
                                ".map(row => [...row.cells].map(cell => cell.textContent))")
        return {row[-1]: dict(zip(heads, row)) for row in rows}

    def click_row(self, name):
        self.browser.run("[...document.querySelectorAll('#table tbody tr')]"
                         ".find(row => row.lastChild.textContent === arguments[0]).id = 'clicked'", name)
        self.browser.click_on("#clicked")

    def near(self, found, wanted, within):
        for one, other in zip(found, wanted, strict=True):
            self.assertLessEqual(abs(one - other), within, f"{found}, not {wanted}")


class Calls(Page):
    @classmethod
    def make_page(cls):
        made_calls().save("x.fxt")
        cls.write_page("x.html", "x.fxt")

    # the timeline

    def test_wheel_zooms_around_the_pointer(self):
        for time in (250000, 800000):
            with self.subTest(time=time):
                self.open()
                x = self.x(time)
                self.browser.wheel(x, self.y(10, 0), -200)
                start, end = self.range()
                self.assertLess(end - start, WHOLE_NS * 0.6)
                self.near([self.x(time)], [x], 1)
                self.browser.wheel(x, self.y(10, 0), 600)
                self.assertGreaterEqual(self.range()[1] - self.range()[0], WHOLE_NS)
        self.open("#400000-500000")
        self.browser.wheel(600, self.y(10, 0), 0, right=120)     # to the side: moves
        self.near(self.range(), (410000, 510000), 200)

    def test_a_drag_moves(self):
        self.open("#400000-520000")
        y = self.y(10, 0)
        self.browser.drag((800, y), (600, y))
        self.near(self.range(), (420000, 540000), 200)
        self.assertEqual(self.browser.text("#details"), "")      # it was no click
        self.browser.drag((100, y), (1100, y))
        self.near(self.range(), (320000, 440000), 200)

    def test_keys(self):
        self.open("#400000-500000")
        for key, wanted in (("d", (420000, 520000)), ("a", (400000, 500000)), ("Right", (420000, 520000)),
                            ("Left", (400000, 500000)), ("w", (420000, 480000)), ("s", (402000, 498000)),
                            ("Up", (421200, 478800)), ("Down", (403920, 496080))):
            self.browser.keys(key)
            self.near(self.range(), wanted, 2)
        self.browser.keys("0")
        self.assertEqual(self.range(), (0, WHOLE_NS))

    def test_click_shows_a_call(self):
        self.browser.click(self.x(250000), self.y(10, 2))
        self.browser.settle()
        text = self.browser.text("#details")
        for part in ("leaf", "100.000 us", "at 200.000 us", "program 10", "← parse ← main"):
            self.assertIn(part, text)
        self.assertNotIn("work", text)
        picture = self.browser.screenshot()
        self.assertEqual(picture.at(self.x(200000) + 1, self.y(10, 2)), HIT["light"])    # it is marked
        self.assertNotEqual(picture.at(self.x(100000) + 1, self.y(10, 1)), HIT["light"])
        self.browser.click(self.x(950000), self.y(10, 2))        # where no call is
        self.browser.settle()
        self.assertEqual(self.browser.text("#details"), "")

    def test_double_click_shows_a_call_alone(self):
        self.browser.click(self.x(700000), self.y(10, 1), times=2)
        self.near(self.range(), (480000, 920000), 2)

    def test_a_tip(self):
        self.browser.move(self.x(700000), self.y(10, 1))
        self.assertIn("work  400.000 us", self.browser.text("#tip"))
        self.browser.move(self.x(450000), self.y(10, 1))
        self.assertEqual(self.browser.text("#tip"), "")

    def test_search(self):
        self.browser.keys("/", *"LEAF")
        self.browser.settle()
        self.assertEqual(self.browser.text("#found"), "1 functions, 2 calls")
        picture = self.browser.screenshot()
        for tid, depth, time in ((10, 2, 200000), (11, 1, 250000)):
            self.assertEqual(picture.at(self.x(time) + 1, self.y(tid, depth)), HIT["light"])
        self.assertNotEqual(picture.at(self.x(500000) + 1, self.y(10, 1)), HIT["light"])
        marked = self.browser.run("return [...document.querySelectorAll('tr.hit')].map(e => e.lastChild.textContent)")
        self.assertEqual(marked, ["leaf"])
        self.browser.keys("Backspace", "Backspace", "Backspace", "Backspace", *"wor", "Escape", "w")
        self.browser.settle()
        self.assertEqual(self.browser.text("#found"), "2 functions, 2 calls")
        self.near(self.range(), (200000, 800000), 2)             # "w" zoomed: the field was left

    # addresses

    def test_a_place_and_back(self):
        self.open("#100000-400000")
        self.assertEqual(self.range(), (100000, 400000))
        self.assertEqual(self.browser.text("#range"), "300.000 us from 100.000 us")
        self.browser.open(f"file://{self.dir}/x.html#500000-900000")
        self.browser.settle()
        self.assertEqual(self.browser.text("#range"), "400.000 us from 500.000 us")
        self.assertEqual(set(self.rows()), {"main", "work", "worker"})
        self.browser.back()
        self.browser.settle()
        self.assertEqual(self.browser.text("#range"), "300.000 us from 100.000 us")
        for bad in ("#", "#5-", "#900-100", "#x-y"):
            self.open(bad)
            self.assertEqual(self.browser.text("#range"), "1.000 ms from 0 ns")
        self.browser.wheel(600, self.y(10, 0), -100)
        self.browser.click_on("#whole")
        self.assertEqual(self.range(), (0, WHOLE_NS))

    # table and flame graph

    def test_table_follows_the_range(self):
        self.assertEqual(self.rows()["leaf"], {"total": "200.000 us", "self": "200.000 us", "calls": "2",
                                               "least": "100.000 us", "most": "100.000 us", "function": "leaf"})
        self.open("#250000-350000")
        rows = {name: (row["calls"], row["total"], row["self"]) for name, row in self.rows().items()}
        self.assertEqual(rows, {"main": ("1", "100.000 us", "0 ns"), "parse": ("1", "100.000 us", "50.000 us"),
                                "leaf": ("2", "150.000 us", "150.000 us"), "worker": ("1", "100.000 us", "0 ns")})

    def test_click_in_the_table(self):
        self.click_row("work")
        self.browser.settle()
        self.assertEqual(self.browser.text("#details"), "longest: work  400.000 us at 500.000 us in program 10 ← main")
        picture = self.browser.screenshot()
        self.assertEqual(picture.at(self.x(500000) + 1, self.y(10, 1)), HIT["light"])

    def test_table_is_sorted(self):
        self.assertEqual(list(self.rows()), ["main", "worker", "work", "parse", "leaf"])
        self.browser.click_on("#table th:last-child")
        self.assertEqual(list(self.rows()), ["leaf", "main", "parse", "work", "worker"])
        self.browser.click_on("#table th:last-child")
        self.assertEqual(list(self.rows()), ["worker", "work", "parse", "main", "leaf"])

    def test_flame_graph(self):
        self.browser.click_on("#show-flame")
        self.browser.settle()
        left, top, width, _ = self.browser.box("#flame")
        for x, row, text in ((0.1, 0, "main  1.000 ms  62.5 %"), (0.1, 1, "work  400.000 us  25.0 %"),
                             (0.3, 1, "parse  300.000 us  18.8 %"), (0.27, 2, "leaf  100.000 us  6.3 %"),
                             (0.8, 0, "worker  600.000 us  37.5 %")):
            self.browser.move(left + x * width, top + 17 * row + 8)
            self.assertEqual(self.browser.text("#tip"), text)
        self.browser.move(left + 0.6 * width, top + 17 + 8)      # nothing was called there
        self.assertEqual(self.browser.text("#tip"), "")
        picture = self.browser.screenshot()
        self.assertEqual(picture.at(left + 0.6 * width, top + 17 + 8), BACK["light"])
        self.assertNotEqual(picture.at(left + 0.4 * width, top + 17 + 8), BACK["light"])

    # windows

    def test_light_and_dark(self):
        for scheme in ("light", "dark", "light"):
            self.browser.scheme(scheme)
            self.browser.settle()
            picture = self.browser.screenshot()
            self.assertEqual(picture.at(self.x(950000), self.y(10, 1)), BACK[scheme])
            self.assertNotEqual(picture.at(self.x(150000), self.y(10, 1)), BACK[scheme])
            inks = picture.colours(*self.browser.box("#title"))
            self.assertGreater(len(inks), 3, "the title is written")

    def test_another_size(self):
        for size in ((700, 500), (1600, 1000)):
            self.browser.size(*size)
            self.browser.settle()
            self.assertEqual(self.browser.run("return [document.querySelector('#timeline canvas').width,"
                                              "document.documentElement.scrollWidth]"), [size[0], size[0]])
            self.browser.click(self.x(250000), self.y(10, 2))
            self.assertIn("leaf", self.browser.text("#details"))


class Lanes(Page):
    @classmethod
    def make_page(cls):
        made = made_calls()
        made.switch(0, 100000, 10, 0)
        made.switch(1, 300000, 0, 10)
        made.switch(1, 500000, 10, 0)
        for time, value in ((200000, 2.5), (600000, 7.5)):
            made.event(1, PROCESS, "net", "load", time, [made.arg(5, "level", value)], 0)
        made.event(0, PROCESS, "ui", "click", 400000, [made.arg(1, "x", 3)])
        made.event(5, PROCESS, "net", "get", 100000, [], 7)
        made.event(7, PROCESS, "net", "get", 450000, [], 7)
        made.save("x.fxt")
        cls.write_page("x.html", "x.fxt")
        many = made_calls()
        for i in range(5000):
            many.event(0, PROCESS, "ui", "often", 100 * i)
        many.save("many.fxt")
        cls.write_page("many.html", "--html-calls=1000", "many.fxt")
        machine = tracedat_made.switches_machine()
        pages = tracedat_made.Pages(machine)
        for time, one, other in ((0, 0, 10), (400000, 10, 11), (700000, 11, 0), (1000000, 0, 10)):
            pages.put(WHOLE_NS + time, machine.switch(one, "one", other, "other"))
        with open("kernel.dat", "wb") as file:
            file.write(tracedat_made.version6(machine, [pages.data()]))
        cls.write_page("kernel.html", "kernel.dat")

    def lane(self, group, label):
        """The middle of a lane, from the top of the window; None: it is not shown."""
        y = self.browser.run("""
            let now = "", found = null;
            walkGroups(group => { now = group.title; }, (track, y) => {
                if (now === arguments[0] && track.label.startsWith(arguments[1]))
                    found = y + track.height / 2;
            });
            return found;""", group, label)
        return y if y is None else y + self.browser.box("#timeline")[1]

    def tip_at(self, time, y):
        self.browser.move(self.x(time), y)
        return self.browser.text("#tip")

    def test_scheduling(self):
        y, cpus = self.lane("program 10", "running"), [self.lane("CPUs", f"CPU {cpu}") for cpu in (0, 1)]
        picture = self.browser.screenshot()
        is_box = [[picture.at(self.x(time), line) != BACK["light"] for time in (90000, 200000, 400000, 700000)]
                  for line in (y, *cpus)]
        self.assertEqual(is_box, [[True, False, True, False], [True, False, False, False], [False, False, True, False]])
        self.assertEqual(self.tip_at(90000, y), "CPU 0 for 100.000 us at 0 ns in program 10")
        self.assertEqual(self.tip_at(400000, cpus[1]), "program 10 for 200.000 us at 300.000 us in program 10")
        self.assertEqual(self.tip_at(200000, y), "")

    def test_switches_alone(self):
        """A trace.dat with sched_switch and nothing else."""
        self.open(name="kernel.html")
        cpu = self.lane("CPUs", "CPU 0")
        self.assertEqual(self.tip_at(200000, cpu), "worker 10 for 400.000 us at 0 ns in worker 10")
        self.assertEqual(self.tip_at(500000, cpu), "my task-1 11 for 300.000 us at 400.000 us in my task-1 11")
        self.assertEqual(self.tip_at(800000, cpu), "")
        self.assertEqual(self.tip_at(500000, self.lane("my task-1 11", "running")),
                         "CPU 0 for 300.000 us at 400.000 us in my task-1 11")
        picture = self.browser.screenshot()
        self.assertEqual([picture.at(self.x(time), cpu) != BACK["light"] for time in (200000, 500000, 800000)],
                         [True, True, False])

    def test_a_counter(self):
        y = self.lane("process 10", "net:load level")
        self.assertIn("net:load level = 2.5", self.tip_at(400000, y))
        self.assertIn("net:load level = 7.5 at 600.000 us of process 10", self.tip_at(800000, y))
        self.assertEqual(self.tip_at(190000, y), "")
        picture = self.browser.screenshot()
        heights = []
        for time in (400000, 800000):
            column = [picture.at(self.x(time), line) for line in range(int(y) - 16, int(y) + 16)]
            heights.append(next(i for i, colour in enumerate(column) if colour[2] > colour[0] + 60))
        self.assertGreater(heights[0], heights[1] + 15)      # 2.5 is drawn below 7.5

    def test_marks_and_spans(self):
        y = self.lane("program 10", "events")
        self.browser.click(self.x(400000) + 2, y)
        self.assertEqual(self.browser.text("#details"), "ui:click at 400.000 us in program 10  x=3")
        self.browser.settle()
        self.assertEqual(self.browser.screenshot().at(self.x(400000), y), HIT["light"])
        self.browser.click(self.x(420000), y)                # nothing is so near
        self.assertEqual(self.browser.text("#details"), "")
        self.assertEqual(self.tip_at(300000, self.lane("program 10", "spans")),
                         "net:get for 350.000 us at 100.000 us in program 10")
        self.browser.click(self.x(300000), self.lane("program 10", "spans"), times=2)
        self.near(self.range(), (82500, 467500), 2)

    def test_folding(self):
        before = self.y(11, 0)
        left, top, _, _ = self.browser.box("#timeline")
        head = self.lane("CPUs", "CPU 0") - 17
        self.browser.click(left + 300, head)
        self.browser.settle()
        self.assertIsNone(self.lane("CPUs", "CPU 0"))
        self.near([self.y(11, 0)], [before - 2 * 17], 0.1)
        self.browser.click(left + 300, head)
        self.browser.settle()
        self.near([self.y(11, 0)], [before], 0.1)
        self.assertGreater(head, top)

    def test_kinds_are_hidden(self):
        for kind, group, label in (("runs", "program 10", "running"), ("marks", "program 10", "events"),
                                   ("values", "process 10", "net:load"), ("cpus", "CPUs", "CPU 1")):
            self.assertIsNotNone(self.lane(group, label))
            self.browser.click_on("#lane-" + kind)
            self.assertIsNone(self.lane(group, label))
        self.browser.settle()
        self.browser.click(self.x(250000), self.y(10, 2))
        self.assertIn("leaf", self.browser.text("#details"))
        self.browser.click_on("#lane-runs")
        self.assertIsNotNone(self.lane("program 10", "running"))

    def test_search_in_lanes(self):
        self.browser.keys("/", *"click")
        self.browser.settle()
        self.assertEqual(self.browser.text("#found"), "0 functions, 0 calls, 1 in lanes")
        self.assertEqual(self.browser.screenshot().at(self.x(400000), self.lane("program 10", "events")), HIT["light"])

    def test_up_and_down(self):
        """In a low window, what does not fit is scrolled to: by keys, by the wheel with Alt, by drags."""
        self.browser.size(1000, 400)
        self.browser.settle()
        left, top, _, height = self.browser.box("#timeline")
        place = self.y(11, 1)
        self.assertGreater(place, top + height)
        self.browser.keys("PageDown")
        self.browser.settle()
        moved = place - self.y(11, 1)
        self.assertGreater(moved, 50)
        self.browser.drag((left + 500, top + 60), (left + 500, top + 90))
        self.browser.settle()
        self.near([self.y(11, 1)], [place - moved + 30], 1)
        self.browser.keys("PageDown", "PageDown", "PageDown")
        self.browser.settle()
        self.browser.click(self.x(300000), self.y(11, 1))
        self.assertIn("leaf", self.browser.text("#details"))

    def test_what_is_left_out_is_said(self):
        self.assertEqual(self.browser.text("#left-out"), "")
        self.open(name="many.html")
        self.assertEqual(self.browser.text("#left-out"), "not drawn: of 5,000 ui:often all but every 8th")


class Weights(Page):
    """Flame graph and table by what is not time, parts of them, and two ranges against each other."""

    @classmethod
    def make_page(cls):
        made = made_calls()
        for out, back in ((120000, 180000), (600000, 700000)):
            made.switch(0, out, 10, 0)
            made.switch(0, back, 0, 10)
        made.save("x.fxt")
        cls.write_page("x.html", "x.fxt")
        recording.build("memory_totals.c", "totals", "-pg", "-O1")
        done = subprocess.run([FTR, "record", "--no-libcall", "--no-event", "--probe=memory", "-d", "d", "./totals"],
                              stdout=subprocess.DEVNULL, timeout=TIMEOUT, check=False)
        assert done.returncode == 0
        cls.write_page("memory.html", "-d", "d")

    def flame_tips(self, *places):
        """What stands in the flame graph at parts of its width, in rows."""
        left, top, width, _ = self.browser.box("#flame")
        texts = []
        for part, row in places:
            self.browser.move(left + part * width, top + 17 * row + 8)
            texts.append(self.browser.text("#tip"))
        return texts

    def click_flame(self, part, row):
        left, top, width, _ = self.browser.box("#flame")
        self.browser.click(left + part * width, top + 17 * row + 8)
        self.browser.settle()

    def cells(self, *heads):
        return {name: tuple(row[head] for head in heads) for name, row in self.rows().items()}

    def select(self, start, end):
        y = self.y(10, 0)
        self.browser.drag((self.x(start), y), (self.x(end), y), key="Shift")
        self.browser.settle()

    def test_by_time_not_running(self):
        self.browser.choose("#by", 1)
        self.browser.settle()
        self.assertEqual(self.cells("total", "self", "waits"), {
            "main": ("160.000 us", "0 ns", "0"), "parse": ("60.000 us", "60.000 us", "1"),
            "work": ("100.000 us", "100.000 us", "1")})
        self.browser.click_on("#show-flame")
        self.browser.settle()
        self.assertEqual(self.flame_tips((0.5, 0), (0.3, 1), (0.9, 1), (0.5, 2)), [
            "main  160.000 us  100.0 %", "work  100.000 us  62.5 %", "parse  60.000 us  37.5 %", ""])
        self.browser.click_on("#show-table")
        self.select(100000, 150000)
        self.assertEqual(set(self.cells("total")), {"main", "parse"})

    def test_by_bytes(self):
        self.open(name="memory.html")
        self.browser.choose("#by", 1)
        self.browser.settle()
        text = subprocess.run([FTR, "dump", "--format=jsonl", "--rows=events", "-d", "d"], stdout=subprocess.PIPE,
                              text=True, timeout=TIMEOUT, check=True).stdout
        sizes = [int(re.search(r"bytes=(\d+)", row["data"])[1]) for row in map(json.loads, text.splitlines())
                 if row["call"] and row["name"] in ("memory:malloc", "memory:calloc", "memory:realloc")]
        shown = f"{sum(sizes) / 1024:,.1f} KB".replace(".0 KB", " KB")
        self.assertEqual(self.cells("total", "self", "blocks"), {"main": (shown, shown, str(len(sizes)))})
        self.browser.click_on("#show-flame")
        self.browser.settle()
        self.assertIn(f"main  {shown}  ", self.flame_tips((0.01, 0))[0])

    def test_into_a_call_and_back(self):
        self.browser.click_on("#show-flame")
        self.browser.settle()
        self.click_flame(0.3, 1)                              # parse
        self.assertEqual(self.flame_tips((0.9, 0), (0.9, 1), (0.9, 2), (0.1, 3)), [
            "all  1.600 ms  100.0 %", "main  1.000 ms  62.5 %", "parse  300.000 us  18.8 %", "leaf  100.000 us  6.3 %"])
        self.browser.click_on("#show-table")
        self.browser.settle()
        self.assertEqual(self.cells("total", "self", "calls"), {"parse": ("300.000 us", "140.000 us", "1"),
                                                                "leaf": ("100.000 us", "100.000 us", "1")})
        self.browser.click_on("#show-flame")
        self.browser.settle()
        self.click_flame(0.9, 1)                              # its caller
        self.assertEqual(self.flame_tips((0.9, 1)), ["main  1.000 ms  62.5 %"])
        self.browser.keys("Escape")
        self.browser.settle()
        self.assertEqual(self.flame_tips((0.8, 0)), ["worker  600.000 us  37.5 %"])

    def test_select(self):
        self.select(250000, 350000)
        self.assertEqual(self.cells("total")["leaf"], ("150.000 us",))
        self.assertIn("100.000 us from ", self.browser.text("#selected"))
        self.near([int(n) for n in re.findall(r"\d+", self.browser.run("return location.hash"))],
                  (0, WHOLE_NS, 250000, 350000), 1000)
        self.assertNotEqual(self.browser.screenshot().at(self.x(300000), self.y(11, 3)), BACK["light"])
        self.open("#0-1000000,500000-900000")                # a link has it, too
        self.assertEqual(set(self.rows()), {"main", "work", "worker"})
        self.browser.keys("Escape")
        self.browser.settle()
        self.assertIn("leaf", self.rows())
        self.assertEqual(self.browser.text("#selected"), "")

    def test_two_ranges(self):
        self.open("#0-1000000,100000-400000")
        self.browser.click_on("#pin")
        self.open_in_place("#0-1000000,500000-900000")
        self.assertEqual(self.browser.text("#pinned"), "B, what is seen, against A: 300.000 us from 100.000 us")
        self.assertEqual(self.cells("A total", "B total", "more", "A calls", "B calls"), {
            "work": ("0 ns", "400.000 us", "+400.000 us", "0", "1"),
            "parse": ("300.000 us", "0 ns", "−300.000 us", "1", "0"),
            "leaf": ("200.000 us", "0 ns", "−200.000 us", "2", "0"),
            "main": ("300.000 us", "400.000 us", "+100.000 us", "1", "1"),
            "worker": ("200.000 us", "300.000 us", "+100.000 us", "1", "1")})
        self.assertEqual(list(self.rows())[:3], ["work", "parse", "leaf"])       # what differs most
        self.browser.click_on("#show-flame")
        self.browser.settle()
        self.assertEqual(self.flame_tips((0.1, 0), (0.1, 1), (0.5, 1)), [
            "main  A 300.000 us  B 400.000 us (+33.3 %)", "work  A 0 ns  B 400.000 us",
            "parse  A 300.000 us  B 0 ns (-100.0 %)"])
        picture, (left, top, width, _) = self.browser.screenshot(), self.browser.box("#flame")
        red, _, blue = picture.at(left + 0.2 * width, top + 17 + 8)
        self.assertGreater(red, blue + 60)
        red, _, blue = picture.at(left + 0.5 * width, top + 17 + 8)
        self.assertGreater(blue, red + 60)
        self.browser.click_on("#unpin")
        self.browser.click_on("#show-table")
        self.browser.settle()
        self.assertEqual(self.cells("total")["work"], ("400.000 us",))

    def open_in_place(self, fragment):
        self.browser.open(f"file://{self.dir}/x.html{fragment}")
        self.browser.settle()

    def test_many_turns_of_the_wheel(self):
        """Browsers refuse addresses that change too often: the last one is there, and nothing was refused."""
        y = self.y(10, 0)
        for _ in range(60):
            for down in (-40, -40, -40, 40, 40):
                self.browser.wheel(600, y, down)
        self.near(self.range(), self.browser.run("return [view.start, view.end]"), 1)
        self.assertLess(self.range()[1] - self.range()[0], 10000)


class TwoTraces(Page):
    @classmethod
    def make_page(cls):
        made_calls().save("a.fxt")
        other = made_calls()
        other.complete(PROCESS, "work", 920000, 970000)
        other.complete(THREAD, "only_b", 810000, 860000)
        other.save("b.fxt")
        done = subprocess.run([FTR, "view", "-o", "x.html", "a.fxt", "b.fxt"], stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, timeout=TIMEOUT, check=False)
        assert (done.returncode, done.stdout) == (0, ""), done.stdout
        recording.build("memory_totals.c", "totals", "-pg", "-O1")
        recording.build("victim.c", "victim", "-pg", "-O1", "-g")
        rich = ("record", "--no-libcall", "--no-event", "--srcline", "-A", "^work@arg1/i32", "-R", "^work@retval/i32")
        for words in (("record", "--no-libcall", "--no-event", "--probe=memory", "-d", "d", "./totals"),
                      ("view", "-o", "memory.html", "d", "d"), (*rich, "-d", "a", "./victim", "work", "3"),
                      (*rich, "-d", "b", "./victim", "work", "5"), ("view", "-o", "rich.html", "a", "b")):
            subprocess.run([FTR, *words], stdout=subprocess.DEVNULL, timeout=TIMEOUT, check=True)

    def test_bytes_of_both(self):
        self.open(name="memory.html")
        self.browser.choose("#by", 1)
        self.browser.settle()
        main = self.rows()["main"]
        self.assertEqual((main["A total"], main["A blocks"], main["more"]), (main["B total"], main["B blocks"], "0 B"))
        self.assertGreater(int(main["A blocks"]), 100)

    def shown(self):
        return {name: (row["A total"], row["B total"], row["more"]) for name, row in self.rows().items()}

    def test_compared(self):
        self.assertEqual(self.browser.text("#pinned"), "B, what is seen, against A: a.fxt, all")
        rows = self.shown()
        self.assertEqual(rows["work"], ("400.000 us", "450.000 us", "+50.000 us"))
        self.assertEqual(rows["only_b"], ("0 ns", "50.000 us", "+50.000 us"))
        self.assertEqual(rows["leaf"], ("200.000 us", "200.000 us", "0 ns"))
        self.browser.click_on("#show-flame")
        self.browser.settle()
        left, top, width, _ = self.browser.box("#flame")
        self.browser.move(left + 0.1 * width, top + 17 + 8)
        self.assertEqual(self.browser.text("#tip"), "work  A 400.000 us  B 450.000 us (+12.5 %)")

    def details(self):
        self.browser.settle()
        return self.browser.text("#details").split("\n")

    def test_clicks_tell_of_both(self):
        """Arguments, result, place and callers of a call: in the timeline of either trace, and of both in the table."""
        self.open(name="rich.html")
        work = {"A": r"work\(3\) = \d+  [\d.]+ \w+ at [\d.]+ \w+ in \w+ \d+ \(\S*victim.c:\d+\) ← mode_work ← main",
                "B": r"work\(5\) = \d+  [\d.]+ \w+ at [\d.]+ \w+ in \w+ \d+ \(\S*victim.c:\d+\) ← mode_work ← main"}
        for number, side in enumerate("AB"):
            self.browser.choose("#which", number)
            self.browser.settle()
            start, end, depth, tid = self.browser.run("""
                for (const task of trace.tasks)
                    for (const row of task.rows)
                        for (let i = 0; i < row.nr; i++)
                            if (nameOf(row.func[i]) === "work")
                                return [row.start[i], row.end[i], row.depth, task.tid];""")
            self.browser.run("viewSet(arguments[0], arguments[1])", start, end)
            self.browser.settle()
            self.browser.click(self.x((start + end) / 2), self.y(tid, depth))
            self.assertRegex("\n".join(self.details()), "^" + work[side] + "$")
            self.browser.run("viewSet(0, trace.ns)")
            self.browser.settle()
        self.click_row("work")
        both = self.details()
        self.assertEqual(len(both), 2)
        self.assertRegex(both[0], "^longest of A: " + work["A"] + "$")
        self.assertRegex(both[1], "^longest of B: " + work["B"] + "$")
        self.assertEqual(self.browser.run("return nameOf(view.picked.func)"), "work")     # of B, which is shown

    def test_a_click_on_what_one_has_not(self):
        """The flame graph: the call by these callers alone; then what only B has."""
        self.browser.click_on("#show-flame")
        self.browser.settle()
        box = ("const [left, top] = [$('flame').getBoundingClientRect().left, $('flame').getBoundingClientRect().top];"
               "const b = flameBoxes.find(b => nodeName(b.node) === arguments[0]); return [left + b.x + b.w / 2, top + b.y + 8]")
        self.browser.click(*self.browser.run(box, "only_b"))
        self.assertEqual(self.details(), ["longest of A: no call drawn by itself",
                                          "longest of B: only_b  50.000 us at 810.000 us in helper 11"])
        self.browser.keys("Escape")
        self.browser.settle()
        self.browser.click(*self.browser.run(box, "parse"))
        self.browser.settle()
        self.browser.click(*self.browser.run(box, "leaf"))
        self.assertEqual(self.details(), [
            f"longest of {side}: leaf  100.000 us at 200.000 us in program 10 ← parse ← main" for side in "AB"])

    def test_the_other_one_is_shown(self):
        self.browser.click(self.x(840000), self.y(11, 0))
        self.assertIn("only_b", self.browser.text("#details"))
        self.browser.choose("#which", 0)
        self.browser.settle()
        self.assertEqual(self.browser.text("#details"), "")
        self.browser.click(self.x(840000), self.y(11, 0))
        self.browser.settle()
        self.assertEqual(self.browser.text("#details"), "")  # A has none there
        self.assertEqual({more for _, _, more in self.shown().values()}, {"0 ns"})
        self.assertIn("@0", self.browser.run("return location.hash"))
        self.open("#0-500000@0")
        self.assertEqual(self.browser.run("return document.getElementById('which').value"), "0")
        self.near(self.range(), (0, 500000), 2)


if __name__ == "__main__":
    harness.main()
