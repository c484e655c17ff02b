# SPDX-License-Identifier: MIT
"""A machine on which ftr reads traces and cannot record."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import harness

DATA = os.path.join(os.environ["srcdir"], "tests/data/demo-plain")


class ReadingAlone(harness.Test):
    def test_recording_is_refused(self):
        for command in (["record"], ["live"], ["record", "--syscalls"], ["record", "--force"]):
            run = self.ftr(*command, "/bin/true")
            self.assertEqual(run.returncode, 126, run)
            self.assertRegex(run.stderr, r"^ftr: /bin/true: ftr does not record on .* yet; record it on 64-bit x86: "
                             r"the data can be read here\n$")
        self.assertEqual(os.listdir("."), [])

    def test_reading(self):
        self.assertIn("main", self.ftr("report", "-d", DATA).stdout)
        self.assertEqual(self.ftr("convert", DATA, "x.fxt").returncode, 0)
        self.assertEqual(self.ftr("replay", "x.fxt").stdout.count("main() {"), 1)


if __name__ == "__main__":
    harness.main()
