# SPDX-License-Identifier: MIT
"""Long readings: progress on a terminal, Ctrl-C that leaves a result; colours and pager by the environment."""
import json
import os
import re
import select
import signal
import subprocess
import time

from recording import FTR, TIMEOUT, Recording, harness

DATA = harness.SRCDIR + "/tests/data/threads"
SECOND = 1.0        # after which progress is shown: the test waits for longer


class Manners(Recording):
    def big(self):
        """So many calls that their text fills a pipe many times over."""
        self.record("--clock=counter", "./victim", "work", "20000")

    def start_dump(self, *words, **options):
        """ftr, which waits for the reader of a pipe in the middle of the trace."""
        words = words or ("--chrome",)
        child = subprocess.Popen([FTR, "dump", "-d", "d", *words], stdout=subprocess.PIPE, process_group=0, **options)
        self.addCleanup(child.stdout.close)
        self.addCleanup(child.wait)
        self.addCleanup(child.kill)
        self.assertTrue(select.select([child.stdout], [], [], TIMEOUT)[0])
        return child

    def at_terminal(self, term="xterm"):
        terminal, other = os.openpty()
        self.addCleanup(os.close, terminal)
        child = self.start_dump(stderr=other, env=dict(os.environ, TERM=term))
        os.close(other)
        time.sleep(1.5 * SECOND)
        self.assertEqual(len(json.loads(child.stdout.read())["traceEvents"]) > 20000, True)
        self.assertEqual(child.wait(TIMEOUT), 0)
        text = b""
        while select.select([terminal], [], [], 0)[0]:
            try:
                text += os.read(terminal, 4096)
            except OSError:
                break
        return text.decode()

    def test_progress_on_a_terminal(self):
        self.big()
        text = self.at_terminal()
        self.assertRegex(text, r"\r\x1b\[Kreading: \d+%, [\d.]+ of [\d.]+ MB, \d+ MB/s, \d+ s left")
        self.assertTrue(text.endswith("\r\x1b[K"), repr(text[-40:]))      # nothing of it stays
        self.assertEqual(self.at_terminal(term="dumb"), "")

    def test_no_progress_elsewhere(self):
        self.big()
        child = self.start_dump(stderr=subprocess.PIPE)
        self.addCleanup(child.stderr.close)
        time.sleep(1.5 * SECOND)
        child.stdout.read()
        self.assertEqual((child.stderr.read(), child.wait(TIMEOUT)), (b"", 0))

    def interrupt(self, *words):
        child = self.start_dump(*words, stderr=subprocess.PIPE)
        self.addCleanup(child.stderr.close)
        child.send_signal(signal.SIGINT)
        out = child.stdout.read().decode()
        err, status = child.stderr.read().decode(), child.wait(TIMEOUT)
        self.assertEqual(status, 128 + signal.SIGINT)
        self.assertRegex(err, r"^ftr: warning: interrupted: the result is that of the first \d+ events\n$")
        return out

    def test_an_interrupted_reading_leaves_a_result(self):
        self.big()
        whole = json.loads(self.ftr("dump", "--chrome", "-d", "d").stdout)["traceEvents"]
        events = json.loads(self.interrupt())["traceEvents"]
        self.assertLess(len(events), len(whole))
        phases = [event["ph"] for event in events if event["ph"] in "BE"]
        self.assertIn(phases.count("B") - phases.count("E"), range(10))     # what was open stays so, as at a trace's end
        nr = len(events) - 10
        self.assertEqual(events[:nr // 2], whole[:nr // 2])

    def test_an_interrupted_listing_ends_at_a_line(self):
        self.big()
        whole = self.ftr("dump", "-d", "d").stdout
        for words in ((), ("-v",), ("--tid", re.search(r"reading (\d+)\.dat", whole)[1]), ("-r", "~100s")):
            out = self.interrupt("--no-index", *words)
            self.assertTrue(out.endswith("\n"))
            self.assertLess(len(out), len(self.ftr("dump", "-d", "d", "--no-index", *words).stdout))

    def test_whoever_ignores_interrupts_goes_on(self):
        self.big()
        child = self.start_dump(preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_IGN))
        child.send_signal(signal.SIGINT)
        self.assertGreater(len(json.loads(child.stdout.read())["traceEvents"]), 20000)
        self.assertEqual(child.wait(TIMEOUT), 0)

    def test_twice_is_enough(self):
        self.big()
        child = self.start_dump(stderr=subprocess.DEVNULL)
        child.send_signal(signal.SIGINT)
        deadline = time.monotonic() + TIMEOUT
        while child.poll() is None and time.monotonic() < deadline:
            child.send_signal(signal.SIGINT)
            time.sleep(0.01)
        self.assertEqual(child.wait(TIMEOUT), -signal.SIGINT)

    def colored(self, **environment):
        env = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "CLICOLOR_FORCE")}
        return "\x1b[" in self.ftr("report", "-d", DATA, env=dict(env, **environment)).stdout

    def test_colors_by_the_environment(self):
        self.assertFalse(self.colored())
        self.assertTrue(self.colored(CLICOLOR_FORCE="1"))
        self.assertFalse(self.colored(CLICOLOR_FORCE="0"))
        self.assertFalse(self.colored(CLICOLOR_FORCE="1", NO_COLOR="1"))

    def test_the_pager_of_ftr_comes_first(self):
        terminal, other = os.openpty()
        self.addCleanup(os.close, terminal)
        env = dict(os.environ, TERM="xterm", PAGER="sed s/^/pager:/", FTR_PAGER="sed s/^/own:/")
        run = self.ftr("report", "-d", DATA, stdout=other, env=env)
        os.close(other)
        self.assertEqual(run.returncode, 0)
        self.assertTrue(os.read(terminal, 4096).startswith(b"own:"))


if __name__ == "__main__":
    harness.main()
