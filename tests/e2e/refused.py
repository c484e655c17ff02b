# SPDX-License-Identifier: MIT
"""A machine on which less is recorded than on x86-64: what is not is refused, with the reason."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import harness

DATA = os.path.join(os.environ["srcdir"], "tests/data/demo-plain")


class Refused(harness.Test):
    def test_what_is_not_there_yet(self):
        for options in ((), ("--all",)):
            run = self.ftr("record", *options, "-p", str(os.getpid()))
            self.assertEqual((run.returncode, run.stdout), (126, ""))
            self.assertRegex(run.stderr, "ftr does not attach to programs on .* yet; start the program by ftr record")
        self.assertEqual(os.listdir("."), [])

    def test_reading(self):
        self.assertIn("main", self.ftr("report", "-d", DATA).stdout)
        self.assertEqual(self.ftr("convert", DATA, "x.fxt").returncode, 0)
        self.assertEqual(self.ftr("replay", "x.fxt").stdout.count("main() {"), 1)


if __name__ == "__main__":
    harness.main()
