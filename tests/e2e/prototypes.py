# SPDX-License-Identifier: MIT
"""The table of the C library's prototypes is what its installed headers say."""
import os
import re
import sys

from recording import SRCDIR, harness

ROW = re.compile(r'FTR_PROTOTYPE\((\w+),\s*"([^"]*)",\s*"([^"]*)"\)')
DIRECTORY = os.path.join(SRCDIR, "utils/record")
KNOWN_MIN = 225


def rows(text):
    return {name: (args, retval) for name, args, retval in ROW.findall(text)}


class Prototypes(harness.Test):
    def test_as_the_headers_say(self):
        done = self.run_program(sys.executable, os.path.join(DIRECTORY, "prototypes.py"))
        if done.returncode != 0:
            self.skipTest(f"the headers cannot be read: {done.stderr.strip().splitlines()[-1]}")
        with open(os.path.join(DIRECTORY, "prototypes.def"), encoding="ascii") as file:
            table = rows(file.read())
        written = rows(done.stdout)
        both = table.keys() & written.keys()
        self.assertGreater(len(both), KNOWN_MIN)
        for name in sorted(both):
            self.expect(table[name] == written[name], f"{name}: {table[name]}, by the headers {written[name]}")


if __name__ == "__main__":
    harness.main()
