# SPDX-License-Identifier: MIT
"""What tracing takes of a call: measured by record, shown by info, noted and taken off by report and graph."""
import os
import re
import shutil
import subprocess

from recording import FTR, SRCDIR, TIMEOUT, Trace, build, harness, terminal_text

DATA = os.path.join(SRCDIR, "tests/data/threads")
PLAIN = ["--no-pager", "--color=no"]


class OverheadTest(harness.Test):
    def setUp(self):
        super().setUp()
        shutil.copytree(DATA, "ftr.data")
        with open("ftr.data/info", "a", encoding="ascii") as file:
            file.write("ftr_overhead:20 10\n")

    def shown(self, command, *words):
        done = self.ftr(command, *PLAIN, *words)
        self.assertEqual((done.returncode, done.stderr), (0, ""), words)
        return done.stdout

    def on_terminal(self, *words):
        terminal, other = os.openpty()
        subprocess.run([FTR, *words, *PLAIN], stdin=subprocess.DEVNULL, stdout=other, check=True,
                       timeout=TIMEOUT)
        os.close(other)
        return terminal_text(terminal)

    def times(self, *words):
        """Calls and total ns of each function."""
        rows = [line.split(",") for line in
                self.shown("report", "--format=csv", "-f", "total,call", *words).splitlines()[1:]]
        return {name: (int(calls), int(total)) for total, calls, name in rows}

    def test_is_measured(self):
        build("graph.c", "prog", "-pg", "-O0")
        for clock in ("mono", "mono_raw"):
            self.record("--clock=" + clock)
        self.assertEqual(self.record("--clock=counter"), None)

    def record(self, *words):
        self.assertEqual(self.ftr("record", "-d", "made", *words, "./prog").returncode, 0)
        bounds = Trace("made").info.get("ftr_overhead")
        if bounds is not None:              # a machine may be too slow to tell
            self.assertRegex(bounds, r"^\d{1,3} \d{1,3}$")
            self.assertIn(f"{bounds.split()[0]} ns of each call", self.shown("info", "-d", "made"))
        return bounds

    def test_info(self):
        self.assertIn("# tracing takes       : 20 ns of each call, 10 ns of its caller (at most)\n",
                      self.shown("info"))
        self.ftr("convert", "ftr.data", "other")
        self.assertEqual(self.shown("info", "-d", "other").count("tracing takes"), 1)

    def test_is_taken_off(self):
        before, after = self.times(), self.times("--subtract")
        for name in ("leaf", "strlen", "half"):
            calls, total = before[name]
            self.assertEqual(after[name], (calls, total - 20 * calls), name)
        self.assertEqual(after["linux:schedule"], before["linux:schedule"])
        inside = sum(calls for calls, _ in (before["leaf"], before["strlen"]))
        calls, total = before["middle"]
        self.assertEqual(after["middle"], (calls, total - 20 * calls - 30 * inside))
        self.assertIn(f"    {(total - 20 * calls - 30 * inside) / 1000:.3f} us : ",
                      self.shown("graph", "--subtract", "middle"))

    def test_is_noted_on_a_terminal(self):
        text = self.on_terminal("report")
        self.assertTrue(text.startswith(self.shown("report")), text)
        self.assertRegex(text, r"\n\n# mostly tracing: half\n# up to 20 ns of each call are the "
                               r"tracer's; --subtract takes them off\n$")
        self.assertEqual(self.on_terminal("report", "--subtract"), self.shown("report", "--subtract"))
        self.assertEqual(self.on_terminal("report", DATA), self.shown("report", DATA))

    def test_damaged(self):
        for value in ("x 10", "20", "20 10 5", "99999999999 1", ""):
            with open("ftr.data/info", "a", encoding="ascii") as file:
                file.write(f"ftr_overhead:{value}\n")
            done = self.ftr("info", *PLAIN)
            self.assertEqual(done.returncode, 0)
            self.assertRegex(done.stderr, r"damaged value is ignored: ftr_overhead:" + re.escape(value))


if __name__ == "__main__":
    harness.main()
