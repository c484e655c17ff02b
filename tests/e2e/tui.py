# SPDX-License-Identifier: MIT
"""ftr tui on a pseudo-terminal: what stands on the screen after which keys."""
import fcntl
import glob
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../lib"))
sys.dont_write_bytecode = True
import harness      # noqa: E402 (the path comes first)
from harness import FTR, SRCDIR, TIMEOUT     # noqa: E402

DEMO = os.path.join(SRCDIR, "tests/data/demo-plain")
FORK = os.path.join(SRCDIR, "tests/data/demo-fork")
SOURCES = os.path.join(SRCDIR, "tests/data/filters")
ROWS, COLS = 16, 80
TALLEST, WIDEST = 50, 200          # of what a screen remembers: more than any test has
ENTER, ESCAPE, CLEAR = "\r", "\x1b", "\x15"
WHEEL_UP, WHEEL_DOWN = 64, 65
MOUSE_ON = b"\x1b[?1006;1000h"
DOUBLE = 0.5            # more than between the presses of a double click
DOWN, UP, RIGHT, LEFT = "\x1bOB", "\x1bOA", "\x1bOC", "\x1bOD"
GRAPH = """\
graph: all calls
  TOTAL TIME   FUNCTION
    4.776 us : (1) demo
    1.181 us :  +-(1) __monstartup
    0.400 us :  +-(1) __cxa_atexit
    3.195 us :  +-(1) main
    2.504 us :     +-(1) middle
    0.101 us :     |  +-(2) leaf
    1.873 us :     |  +-(1) strlen
    0.060 us :     +-(2) paint
    0.040 us :     +-(1) scale
    0.181 us :     +-(1) call
    0.050 us :       (1) leaf"""

TIMELINE = """\
timeline: 1 tasks, from 0, a column is 0.106 us
                 v
demo         503 ###########.      +###.         +#############################+"""


class Screen:
    """What a vt100 or an xterm shows: as much of it as ncurses uses."""

    PART = re.compile(rb"\x1b\[([?0-9;]*)([A-Za-z])|\x1b([()].|[=>78DEMHc])|([\x00-\x1f\x7f])|([^\x00-\x1f\x7f]+)")

    def __init__(self, rows, cols):
        self.row = self.col = 0
        self.left = b""
        self.cells = [[" "] * WIDEST for _ in range(TALLEST)]       # more than there ever are
        self.resize(rows, cols)

    def resize(self, rows, cols):
        self.rows, self.cols = rows, cols
        self.region = 0, rows - 1

    def line(self, row):
        return "".join(self.cells[row][:self.cols]).rstrip()

    def text(self):
        return "\n".join(self.line(row) for row in range(self.rows)).rstrip()

    def put(self, data):
        data = self.left + data
        at = 0
        while at < len(data):
            match = self.PART.match(data, at)
            if match is None:           # the rest of it comes with the next bytes
                break
            self.do(match)
            at = match.end()
        self.left = data[at:]

    def do(self, match):
        words, final, other, control, text = match.groups()
        if final is not None:
            self.command([int(word) for word in words.lstrip(b"?").split(b";") if word], final.decode())
        elif control is not None:
            self.control(control)
        elif text is not None:
            for char in text.decode("utf-8", "replace"):
                self.cells[self.row][self.col] = char
                self.col += 1
        elif other == b"M":
            self.feed(self.region[0], -1)

    def feed(self, edge, step):
        """A line down or up; at the edge of the scrolling region that moves instead."""
        top, bottom = self.region
        if self.row != edge:
            self.row += step
        elif step > 0:
            self.cells[top:bottom + 1] = self.cells[top + 1:bottom + 1] + [[" "] * WIDEST]
        else:
            self.cells[top:bottom + 1] = [[" "] * WIDEST] + self.cells[top:bottom]

    def control(self, control):
        if control == b"\r":
            self.col = 0
        elif control == b"\n":
            self.feed(self.region[1], 1)
        elif control == b"\b":
            self.col -= 1
        elif control == b"\t":
            self.col = (self.col // 8 + 1) * 8

    def clear(self, row, begin, end):
        self.cells[row][begin:end] = " " * (end - begin)

    def command(self, numbers, final):
        number = numbers[0] if numbers else 0
        if final == "H":
            self.row, self.col = (number or 1) - 1, (numbers[1] if len(numbers) > 1 else 1) - 1
        elif final in "ABCD":
            step = number or 1
            self.row += {"A": -step, "B": step}.get(final, 0)
            self.col += {"D": -step, "C": step}.get(final, 0)
        elif final == "K":
            self.clear(self.row, 0 if number else self.col, self.col + 1 if number == 1 else WIDEST)
        elif final == "J":
            assert number in (0, 2), number
            if number == 0:
                self.clear(self.row, self.col, WIDEST)
            for row in range(0 if number == 2 else self.row + 1, TALLEST):
                self.clear(row, 0, WIDEST)
        elif final == "r":
            self.region = (number or 1) - 1, (numbers[1] if len(numbers) > 1 else self.rows) - 1
            self.row = self.col = 0
        elif final in "LMSTP@Xb":
            self.change(number or 1, final)
        elif final in "dG":
            self.row, self.col = (number - 1, self.col) if final == "d" else (self.row, number - 1)
        else:
            assert final in "mhlt", final

    def change(self, number, final):
        """Insert, delete and repeat lines and characters."""
        top, bottom = self.region
        top = top if final in "ST" else self.row
        line, col = self.cells[self.row], self.col
        if final in "LT":
            self.cells[top:bottom + 1] = ([[" "] * WIDEST for _ in range(number)]
                                          + self.cells[top:bottom + 1 - number])
        elif final in "MS":
            self.cells[top:bottom + 1] = (self.cells[top + number:bottom + 1]
                                          + [[" "] * WIDEST for _ in range(number)])
        elif final == "P":
            line[col:] = line[col + number:] + [" "] * number
        elif final == "@":
            line[col:] = ([" "] * number + line[col:])[:WIDEST - col]
        elif final == "X":
            self.clear(self.row, col, col + number)
        else:
            line[col:col + number] = line[col - 1] * number
            self.col += number


class TuiTest(harness.Test):
    @classmethod
    def set_up_class(cls):
        run = subprocess.run([FTR, "--version"], stdout=subprocess.PIPE, text=True, check=True)
        cls.is_built_in = "ncurses" in run.stdout

    def begin(self, *words, env=None):
        """Start it at a terminal of its own."""
        if not self.is_built_in:
            self.skipTest("ftr was built without ncurses")
        self.screen = Screen(ROWS, COLS)
        self.sent = b""                 # all that was sent to the terminal
        self.child, self.terminal = pty.fork()
        if self.child == 0:
            try:
                os.environ.update({"TERM": "vt100", "LC_ALL": "C.UTF-8", "ESCDELAY": "50", **(env or {})})
                for name in ("LINES", "COLUMNS"):
                    os.environ.pop(name, None)
                fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLS, 0, 0))
                os.execv(FTR, [FTR, "tui", *words])
            finally:
                os._exit(99)
        self.addCleanup(os.close, self.terminal)

    def read(self):
        """False: the terminal was closed."""
        try:
            data = os.read(self.terminal, 65536)
        except OSError:
            return False
        self.sent += data
        self.screen.put(data)
        return data != b""

    def drain(self):
        """What comes when the screen is given back is no screen of the browser's."""
        try:
            os.read(self.terminal, 65536)
        except OSError:
            pass

    def expect_screen(self, condition, what):
        end = time.monotonic() + TIMEOUT
        while not condition(self.screen):
            ready, _, _ = select.select([self.terminal], [], [], max(0, end - time.monotonic()))
            if not ready or not self.read():
                self.fail(f"expected {what!r}, the screen is:\n{self.screen.text()}")

    def keys(self, *texts):
        for text in texts:
            os.write(self.terminal, text.encode())

    def shows(self, text):
        """The body: without the last line."""
        self.expect_screen(lambda screen: "\n".join(screen.text().split("\n")[:-1]).rstrip() == text, text)

    def says(self, text):
        self.expect_screen(lambda screen: screen.line(screen.rows - 1).startswith(text), text)

    def has(self, text):
        self.expect_screen(lambda screen: text in screen.text(), text)

    def leave(self):
        self.keys("q")
        while self.read():
            pass
        self.assertEqual(os.waitpid(self.child, 0)[1], 0)

    def test_graph_folds(self):
        self.begin("--color=no", DEMO)
        self.shows(GRAPH)
        self.says("1/11  h help")
        self.keys("jjj", DOWN)
        self.says("5/11")
        self.keys(ENTER)
        self.has("(1) middle [+2]")
        self.says("5/9")
        self.keys("u")
        self.says("4/9")
        self.keys("l")                  # middle took longest
        self.says("5/9")
        self.keys("n")
        self.says("6/9")
        self.keys("pp")                 # it is the first
        self.says("5/9")
        self.keys("E")
        self.shows(GRAPH)
        self.keys(UP)
        self.says("4/11")
        self.keys("C")
        self.has("(1) main [+4]")
        self.says("4/4")
        self.keys("e")
        self.shows(GRAPH)
        self.keys("c")
        self.has("(1) middle [+2]")
        self.says("4/8")
        self.leave()

    def test_pages(self):
        self.begin(DEMO)
        self.shows(GRAPH)
        self.keys("R")
        self.has("  Total time   Self time       Calls  Function\n    3.195 us    0.410 us           1  main")
        self.keys("jj", ENTER)
        self.shows("graph: calls of strlen\n"
                   "  TOTAL TIME   FUNCTION\n"
                   "             : backtrace #0: hit 1, time   1.873 us\n"
                   "             :    strlen\n"
                   "             :    middle\n"
                   "             :    main\n"
                   "             :\n"
                   "    1.873 us : (1) strlen")
        self.keys("jj", "g")
        self.has("graph: calls of middle")
        self.has("    2.504 us : (1) middle")
        self.keys("I")
        self.has("# system information")
        self.keys("h")
        self.has("the tree of all calls")
        self.keys("h")
        self.has("# system information")
        self.keys("S")
        self.has("  #1      4.776 us  demo  (process 503,")
        self.keys(ENTER)
        self.shows(GRAPH)
        self.keys("O")
        self.says("the trace does not say where it is in the source")
        self.keys("@")
        self.says("@ does nothing here; h shows the keys")
        self.leave()

    def test_several_sessions(self):
        self.begin(FORK)
        self.has("graph: all calls")
        self.leave()

    def test_search(self):
        self.begin(DEMO)
        self.shows(GRAPH)
        self.keys("/leaf", ENTER)
        self.says("/leaf: 1 of 2")
        self.keys("N")
        self.says("/leaf: 2 of 2")
        self.keys(">")                  # around the end
        self.says("/leaf: 1 of 2")
        self.keys("P")
        self.says("/leaf: 2 of 2")
        self.keys("z")
        self.says("11/11")
        self.keys("/nothing", ENTER)
        self.says("/nothing: not in any line here")
        self.keys("/x\x7f", "main", ESCAPE)
        self.says("11/11")
        self.leave()

    def test_fields_and_order(self):
        self.begin(DEMO)
        self.shows(GRAPH)
        self.keys("f+self,addr", ENTER)
        self.has("  TOTAL TIME   SELF TIME     ADDRESS     FUNCTION")
        self.keys("fnone", ENTER)
        self.has("\n(1) demo\n +-(1) __monstartup")
        self.keys("f", ENTER)
        self.shows(GRAPH)
        self.keys("stotal", ENTER)
        self.has("graph: all calls, by total\n  TOTAL TIME   FUNCTION\n    4.776 us : (1) demo\n"
                 "    3.195 us :  +-(1) main")
        self.keys("s", ENTER)
        self.shows(GRAPH)
        self.keys("fcolour", ENTER)
        self.says('unknown field "colour"; the fields are: total self')
        self.keys("R", "fcall,total-p99", ENTER, "scall", ENTER)
        self.has("report: 9 functions, by call\n       Calls   Total p99  Function\n           3 ")
        self.keys("snumber", ENTER)
        self.says('unknown sort key "number"')
        self.keys("I", "s", ENTER)
        self.says("this page has no order")
        self.leave()

    def test_filters(self):
        self.begin("-N", "paint", DEMO)
        self.expect_screen(lambda screen: "leaf" in screen.text() and "paint" not in screen.text(), "no paint")
        self.keys("F-D 2", ENTER)
        self.says("1/7  h help")
        self.expect_screen(lambda screen: "leaf" not in screen.text() and "paint" not in screen.text(), "two levels")
        self.keys("R")
        self.has("report: 6 functions")
        self.keys("F", CLEAR, "-F 'leaf'", ENTER)
        self.has("report: 1 functions")
        self.keys("F", CLEAR, "-F nosuch", ENTER)
        self.says('warning: --filter: no call of "nosuch"')
        self.keys("F", CLEAR, "--no-such", ENTER)
        self.says("tui: unknown option --no-such")
        self.has("report: 0 functions")         # all is as before
        self.keys("F", CLEAR, "main", ENTER)
        self.says("only options choose what is shown")
        self.keys("F", CLEAR, ENTER, "G")
        self.has("(1) strlen")
        self.leave()

    def test_resizing(self):
        self.begin(DEMO)
        self.shows(GRAPH)
        self.keys("\x1bOB" * 10)
        self.says("11/11")
        self.screen.resize(6, 29)
        fcntl.ioctl(self.terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 6, 29, 0, 0))
        self.shows("graph: all calls\n"
                   "  TOTAL TIME   FUNCTION\n"
                   "    0.040 us :     +-(1) scal\n"
                   "    0.181 us :     +-(1) call\n"
                   "    0.050 us :       (1) leaf")
        self.keys(RIGHT)
        self.has("us :     +-(1) scale")
        self.keys(LEFT)
        self.has("    0.050 us :       (1) leaf")
        self.screen.resize(ROWS, COLS)
        fcntl.ioctl(self.terminal, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLS, 0, 0))
        self.has("(1) scale")
        self.leave()

    def test_editor(self):
        with open("editor", "w", encoding="ascii") as file:
            file.write('#!/bin/sh\necho "$@" >edited\n')
        os.chmod("editor", 0o755)
        self.begin(SOURCES, env={"EDITOR": "./editor -x", "VISUAL": ""})
        self.has("graph: all calls")
        self.keys("/main", ENTER)
        self.says("/main: 1 of")
        self.keys("O", "j")
        self.leave()
        with open("edited", encoding="ascii") as file:
            self.assertRegex(file.read(), r"^-x \+\d+ .*filters\.c\n$")

    def test_interrupted(self):
        self.begin(DEMO)
        self.shows(GRAPH)
        before = termios.tcgetattr(self.terminal)
        self.assertFalse(before[3] & termios.ECHO)
        os.kill(self.child, signal.SIGTERM)
        while self.read():
            pass
        os.waitpid(self.child, 0)
        self.assertTrue(termios.tcgetattr(self.terminal)[3] & termios.ECHO)

    def mouse_begin(self, *words):
        self.begin(*words, env={"TERM": "xterm-256color"})

    def mouse(self, button, row, col=5):
        """A press and its release, on the screen's row and column from 0."""
        place = f"{col + 1};{row + 1}"
        self.keys(f"\x1b[<{button};{place}M")
        if button < WHEEL_UP:
            self.keys(f"\x1b[<{button};{place}m")

    def is_mouse_on(self):
        found = re.findall(rb"\x1b\[\?1006[0-9;]*([hl])", self.sent)
        return found != [] and found[-1] == b"h"

    def test_mouse_selects(self):
        self.mouse_begin(DEMO)
        self.shows(GRAPH)
        self.assertTrue(self.is_mouse_on())
        self.mouse(0, 6)
        self.says("5/11")
        self.mouse(0, 6)                        # it was selected
        self.has("(1) middle [+2]")
        time.sleep(DOUBLE)
        self.mouse(0, 6)
        self.mouse(0, 6)                        # of this double click only one press is Enter
        self.shows(GRAPH)
        self.mouse(0, 5)
        self.mouse(0, 5)                        # and of one on another line
        self.has("(1) main [+4]")
        self.says("4/4")
        for row in (0, 1, 9, ROWS - 1):         # no line is there
            self.mouse(0, row)
            self.mouse(0, row)
        self.mouse(2, 3)                        # nowhere to go back to
        self.says("4/4")
        self.leave()
        self.assertFalse(self.is_mouse_on())

    def test_mouse_wheel(self):
        self.mouse_begin(DEMO)
        self.shows(GRAPH)
        self.mouse(WHEEL_DOWN, 5)               # all of it is there
        self.says("1/11")
        self.screen.resize(6, COLS)
        fcntl.ioctl(self.terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 6, COLS, 0, 0))
        self.says("1/11")                       # it knows its size
        self.shows("\n".join(GRAPH.split("\n")[:5]))
        self.mouse(WHEEL_DOWN, 4)
        self.shows("\n".join(GRAPH.split("\n")[:2] + GRAPH.split("\n")[5:8]))
        self.says("4/11")
        for _ in range(5):
            self.mouse(WHEEL_DOWN, 4)
        self.shows("\n".join(GRAPH.split("\n")[:2] + GRAPH.split("\n")[-3:]))
        self.says("9/11")
        self.mouse(0, 4)
        self.says("11/11")
        self.mouse(WHEEL_UP, 4)
        self.says("8/11")
        for _ in range(5):
            self.mouse(WHEEL_UP, 4)
        self.says("3/11")
        self.leave()

    def test_mouse_sorts_and_goes_back(self):
        self.mouse_begin(DEMO)
        self.shows(GRAPH)
        self.keys("R")
        for col, key in ((20, "self"), (30, "call"), (45, "func"), (2, "total")):
            self.mouse(0, 1, col)
            self.has(f"report: 9 functions, by {key}\n")
        self.mouse(0, 1, 70)                    # behind all of them
        self.keys("f+total-stdv,cpu-list,self-percent", ENTER)
        self.mouse(0, 1, 45)
        self.has("report: 9 functions, by total-stdv\n")
        self.keys("f", ENTER, "/strlen", ENTER)
        self.says("/strlen: 1 of 1")
        self.keys(ENTER)
        self.has("graph: calls of strlen")
        self.keys("h")
        self.has("help\n")
        self.keys("F", "x")
        self.says("options: x")
        self.mouse(0, 4)
        self.mouse(2, 4)                        # the question alone
        self.says("1/")
        self.mouse(2, 4)
        self.has("graph: calls of strlen")
        self.mouse(2, 4)
        self.has("report: 9 functions, by total-stdv")
        self.leave()

    def test_back_to_what_is_gone(self):
        """From the help to the page of a function that what is shown may no longer have."""
        self.begin(DEMO)
        self.shows(GRAPH)
        self.keys("jjjjg")
        self.has("graph: calls of middle")
        self.keys("h", "F-N middle", ENTER)
        self.has("help\n")
        self.keys("h")
        self.has("graph: all calls")
        self.keys("I", ESCAPE)
        self.has("info\n")
        self.leave()

    def test_no_mouse(self):
        for words, term in ((["--no-mouse"], "xterm-256color"), ([], "vt100")):
            self.begin(*words, DEMO, env={"TERM": term})
            self.shows(GRAPH)
            self.leave()
            self.assertNotIn(MOUSE_ON, self.sent)

    def test_mouse_given_back(self):
        for nr in (signal.SIGTERM, signal.SIGSEGV, signal.SIGQUIT):
            if nr == signal.SIGSEGV and os.environ.get("SANITIZERS"):       # which takes it itself
                continue
            self.mouse_begin(DEMO)
            self.shows(GRAPH)
            self.assertTrue(self.is_mouse_on())
            os.kill(self.child, nr)
            while self.read():
                pass
            status = os.waitpid(self.child, 0)[1]
            self.assertFalse(self.is_mouse_on(), nr)
            self.assertTrue(termios.tcgetattr(self.terminal)[3] & termios.ECHO, nr)
            if nr != signal.SIGTERM:            # ncurses ends the program by itself
                self.assertEqual(os.WTERMSIG(status), nr)

    def test_mouse_stopped(self):
        self.mouse_begin(DEMO)
        self.shows(GRAPH)
        # As nobody could continue a leader of a session, it goes on at once.
        end = time.monotonic() + TIMEOUT
        while not re.search(rb"\[\?1006;1000l.*\[\?1006;1000h", self.sent, re.DOTALL):
            self.assertLess(time.monotonic(), end)
            os.kill(self.child, signal.SIGTSTP)         # ncurses ignores it while it draws
            if select.select([self.terminal], [], [], 0.2)[0]:
                self.read()
        done, status = 0, 0
        while done == 0 and time.monotonic() < end:         # another stop on its way drops what was typed
            self.keys("q")
            if select.select([self.terminal], [], [], 0.2)[0]:
                self.drain()
            done, status = os.waitpid(self.child, os.WNOHANG)
        self.assertEqual((done, status), (self.child, 0))

    def resize(self, rows, cols):
        self.screen.resize(rows, cols)
        fcntl.ioctl(self.terminal, termios.TIOCSWINSZ, struct.pack("HHHH", rows, cols, 0, 0))

    def test_timeline(self):
        self.begin(DEMO)
        self.shows(GRAPH)
        self.keys("T")
        self.shows(TIMELINE)
        self.says("0  demo 503  busy 100%  depth 1  __monstartup 100%")
        self.keys(RIGHT * 11)
        self.says("1.166 us  demo 503  busy 14%  depth 1  __monstartup 14%")
        self.keys(RIGHT * 2)
        self.says("1.378 us  demo 503  busy 0%")
        self.keys(LEFT * 20)
        self.says("0  demo 503")
        self.keys("/strlen", ENTER)
        self.says("3.922 us  demo 503  busy 100%  depth 3  middle 89%, strlen 11%")
        self.keys("N")
        self.says("4.028 us  demo 503  busy 100%  depth 3  strlen 100%")
        self.keys("P")
        self.says("3.922 us")
        self.keys("/nothing", ENTER)
        self.says("/nothing: not in what takes most of any column")
        self.resize(6, 20)                      # narrow: cut off
        self.has("timeline: 1 tasks, f\n")
        self.resize(ROWS, COLS)
        self.shows(TIMELINE.replace(" " * 17 + "v", self.screen.line(1)))
        self.leave()

    def test_timeline_zooms(self):
        self.begin(DEMO)
        self.shows(GRAPH)
        self.keys("T/strlen", ENTER, "+")
        self.has("a column is 0.027 us")
        self.keys("+" * 9)
        self.has("a column is 0.001 us")
        self.keys("0")
        self.has(TIMELINE.split("\n")[2])
        self.keys("/strlen", ENTER)
        self.has("strlen 100%")
        self.keys("++-")
        self.has("a column is 0.027 us")
        self.keys("++-")
        self.keys("0/scale", ENTER, "++", ENTER)    # a range for all pages
        self.has("timeline: 1 tasks, from 0, a column is")
        self.keys("R")
        self.expect_screen(lambda screen: "scale" in screen.text() and "__monstartup" not in screen.text(), "a range")
        self.says("1/")
        self.keys("T+", ENTER, "R")                 # a range within it takes its place
        self.expect_screen(lambda screen: screen.text().count(" -r ") == 1, "one range")
        self.keys("F", CLEAR, ENTER, "T")
        self.has(TIMELINE.split("\n")[2])
        self.leave()

    def test_timeline_reads_what_it_shows(self):
        """By an index, screen by screen as without one: zoomed, moved, back."""
        program = os.path.join(self.enterContext(tempfile.TemporaryDirectory()), "story")
        data = program + ".data"
        subprocess.run(["gcc", "-pg", "-O1", "-o", program, os.path.join(SRCDIR, "tests/prog/long_story.c"), "-lpthread"], check=True)
        subprocess.run([FTR, "record", "-d", data, program], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        steps = (RIGHT * 40, "++", RIGHT * 30 + "++", "-", LEFT * 25 + "+++", RIGHT * 9, "0", RIGHT * 55 + "++++")
        screens = []
        for words in (["--no-index"], [], []):      # the second one makes the index
            self.begin("-d", data, *words)
            self.has("graph: all calls")
            self.keys("T")
            self.has("timeline: ")
            shown = []
            for nr, step in enumerate(steps):
                self.keys(step, f"/no{nr}", ENTER)
                self.says(f"/no{nr}: not in")
                shown.append(self.screen.text())
            self.leave()
            screens.append(shown)
            self.assertEqual(bool(glob.glob(f"{data}/*.index")), not words)
        self.assertEqual(screens[1], screens[0])
        self.assertEqual(screens[2], screens[0])

    def test_timeline_of_tasks(self):
        self.begin(FORK)
        self.has("graph: all calls")
        self.keys("T")
        self.has("timeline: 2 tasks, from 0")
        self.says("0  demo 528  busy 86%")
        self.keys("j", RIGHT * 20)
        self.says("423.000 us  demo 540  busy 100%")
        self.keys("h", "h")
        self.says("423.000 us  demo 540  busy 100%")
        self.leave()

    def test_timeline_of_nothing(self):
        self.begin(DEMO)
        self.shows(GRAPH)
        self.keys("TF-F nosuch", ENTER)
        self.has("timeline: 0 tasks")
        self.keys("j+-0/x", ENTER)
        self.says("/x: not in")
        self.leave()

    def test_timeline_mouse(self):
        self.mouse_begin(FORK)
        self.has("graph: all calls")
        self.keys("T")
        self.has("timeline: 2 tasks")
        self.mouse(0, 3, 17 + 20)
        self.says("423.000 us  demo 540  busy 100%")
        self.mouse(0, 3, 17 + 20)
        self.mouse(0, 2, 3)
        self.says("0  demo 528")
        self.leave()

    def test_no_terminal(self):
        run = self.ftr("tui", DEMO)
        self.assertEqual((run.returncode, run.stdout), (1, ""))
        self.assertRegex(run.stderr, "^ftr: tui needs a terminal" if self.is_built_in else "built without ncurses")
        if self.is_built_in:
            self.begin(DEMO, env={"TERM": "dumb"})
            self.expect_screen(lambda screen: "cannot move the cursor" in screen.text(), "a refusal")

    def test_library(self):
        """Only tui loads ncurses, and says what it misses."""
        if not self.is_built_in:
            self.skipTest("built without ncurses")
        os.mkdir("libraries")
        for major in range(5, 8):
            with open(f"libraries/libncursesw.so.{major}", "w", encoding="ascii") as file:
                file.write("no library")
        missing = {"LD_LIBRARY_PATH": os.path.realpath("libraries")}
        report = self.ftr("report", "--no-pager", DEMO, env={**os.environ, **missing})
        self.assertEqual((report.returncode, report.stderr), (0, ""))
        self.begin(DEMO, env=missing)
        self.expect_screen(lambda screen: "tui needs libncursesw.so." in screen.text(), "what is missing")

    def test_pipe(self):
        os.mkfifo("pipe")
        for name in ("pipe", "-"):
            self.begin("-d", name)
            self.has(f"ftr: {name}: tui reads a trace several times")
            while self.read():
                pass
            self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(self.child, 0)[1]), 1)

    def test_no_trace(self):
        self.begin("nowhere")
        self.has("ftr: nowhere")
        while self.read():
            pass
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(self.child, 0)[1]), 1)


if __name__ == "__main__":
    harness.main()
