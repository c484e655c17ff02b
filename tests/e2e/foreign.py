# SPDX-License-Identifier: MIT
"""Another machine than x86-64 reads what was recorded there."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import harness

DATA = os.path.join(os.environ["srcdir"], "tests/data/demo-plain")


class Foreign(harness.Test):
    def test_reading(self):
        self.assertIn("main", self.ftr("report", "-d", DATA).stdout)
        self.assertEqual(self.ftr("convert", DATA, "x.fxt").returncode, 0)
        self.assertEqual(self.ftr("replay", "x.fxt").stdout.count("main() {"), 1)


if __name__ == "__main__":
    harness.main()
