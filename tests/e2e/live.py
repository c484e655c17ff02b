# SPDX-License-Identifier: MIT
"""ftr PROGRAM: shows the calls, passes the status on, and leaves nothing behind."""
import os
import signal
import time

from recording import FTR, TIMEOUT, build, harness


class LiveTest(harness.Test):
    @classmethod
    def set_up_class(cls):
        build("victim.c", "victim", "-pg", "-O1")

    def setUp(self):
        super().setUp()
        os.mkdir("tmp")
        self.env = dict(os.environ, TMPDIR=self.dir + "/tmp")

    def live(self, *words, status=0):
        run = self.ftr(*words, env=self.env)
        self.assertEqual(run.returncode, status, run.stderr)
        self.assertEqual(os.listdir("tmp"), [])
        return run

    def test_shows_the_calls(self):
        run = self.live("./victim", "work", "2")
        if "perf_event_open" not in run.stderr:         # nothing to say but that they are not permitted
            self.assertEqual(run.stderr, "")
        self.assertTrue(run.stdout.startswith("3\n# DURATION"), run.stdout)
        self.assertEqual(run.stdout.count(" leaf();\n"), 2)

    def test_name_in_this_directory(self):
        self.assertEqual(self.live("victim", "work", "2").stdout.count(" leaf();\n"), 2)
        self.assertEqual(self.live("live", "victim", "work", "2").stdout.count(" leaf();\n"), 2)

    def test_status_is_the_programs(self):
        self.assertIn("mode_status", self.live("./victim", "status", "5", status=5).stdout)
        self.live("live", "./victim", "abort", status=128 + signal.SIGABRT)

    def test_options_of_both(self):
        run = self.live("-f", "none", "--no-merge", "-b", "64K", "./victim", "work", "1")
        self.assertIn("leaf() {\n", run.stdout)
        self.assertNotIn("us", run.stdout)

    def test_cannot_be_run(self):
        self.assertEqual(self.live("./victim.missing", status=127).stdout, "")
        self.assertEqual(self.live("live", "./victim.missing", status=127).stdout, "")
        self.assertEqual(self.live("/tmp", status=126).stdout, "")

    def test_keeps_what_it_shall_keep(self):
        self.live("--record", "./victim", "work", "1")
        self.assertTrue(os.path.exists("ftr.data/info"))
        self.live("-d", "kept", "./victim", "work", "1")
        self.assertTrue(os.path.exists("kept/info"))

    def test_interrupted(self):
        child = self.start_program(FTR, "./victim", "loop", "1000", env=self.env)
        self.assertEqual(child.stdout.readline(), "ready\n")
        self.assertEqual(len(os.listdir("tmp")), 1)
        os.killpg(child.pid, signal.SIGINT)     # ends the program
        time.sleep(0.2)
        os.killpg(child.pid, signal.SIGINT)     # ends the listing
        child.communicate(timeout=TIMEOUT)
        self.assertEqual(child.returncode, 128 + signal.SIGINT)
        self.assertEqual(os.listdir("tmp"), [])


if __name__ == "__main__":
    harness.main()
