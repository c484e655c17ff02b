# SPDX-License-Identifier: MIT
"""ftr record and what surrounds a process: images that cannot be traced, namespaces, terminals, limits, rights."""
import os
import re
import resource
import shutil
import subprocess
import unittest

from recording import CC, FTR, TIMEOUT, Recording, Trace, build

IS_ROOT = os.getuid() == 0


def can(*command):
    return subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode == 0


def messages():
    try:
        with open("d/extern.dat") as file:
            return [line.split(" ", 1)[1].rstrip("\n") for line in file]
    except FileNotFoundError:
        return []


class Images(Recording):
    """Programs that run within a recording and cannot be traced."""

    def said(self, run, pattern):
        self.assertRegex(run.stderr, pattern)
        self.assertEqual(len(run.stderr.splitlines()), 1, run.stderr)
        self.assertRegex("\n".join(messages()), pattern)

    def test_static(self):
        build("victim.c", "static", "-pg", "-static")
        run = self.record("--force", "sh", "-c", "./static work; ./static work 6; ./victim work", quiet=False)
        self.assertEqual(run.stdout, "15\n21\n15\n")
        self.said(run, r"process \d+: runs untraced: \./static: is statically linked")
        self.assertEqual(len(messages()), 2)
        self.assertIn("statically linked", self.ftr("replay", "--no-pager", "-d", "d").stdout)

    def test_static_along_path(self):
        build("victim.c", "static", "-pg", "-static")
        run = self.record("--force", "env", "PATH=/nowhere:" + os.getcwd(), "static", "work", quiet=False)
        self.said(run, "untraced: static: is statically linked")

    @unittest.skipUnless(IS_ROOT, "needs root")
    def test_set_uid(self):
        shutil.copy("plain", "raised")
        os.chown("raised", 65534, 65534)
        os.chmod("raised", 0o4755)
        os.chmod(".", 0o755)
        run = self.record("--force", "sh", "-c", "./raised work; ./victim work", quiet=False)
        self.assertEqual(run.stdout, "15\n15\n")
        self.said(run, "untraced: ./raised: is set-uid")

    def test_scripts_are_traced(self):
        with open("script", "w") as file:
            file.write("#!/bin/sh\n./victim work\n")
        os.chmod("script", 0o755)
        self.assertEqual(self.record("--force", "sh", "-c", "./script; exit 0").stdout, "15\n")
        self.assertEqual(messages(), [])
        self.assertEqual(len(Trace("d").only()), 16)

    def test_no_environment(self):
        run = self.record("--force", "env", "-i", "./victim", "work")
        self.assertEqual(run.stdout, "15\n")
        self.assertEqual(len(Trace("d").only()), 16)

    def test_not_there(self):
        self.record("--force", "sh", "-c", "exec ./nowhere 2>/dev/null", status=127)
        self.assertEqual(messages(), [])


if __name__ == "__main__":
    unittest.main(verbosity=1)
