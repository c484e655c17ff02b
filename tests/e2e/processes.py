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


@unittest.skipUnless(IS_ROOT and shutil.which("unshare"), "needs root and unshare")
class Surroundings(Recording):
    """Namespaces, other roots, other users, hardly any resources."""

    def check(self, *words):
        """A process, two threads and a forked child, each of which makes calls."""
        os.chmod(".", 0o755)
        run = self.record("--force", *words, os.getcwd() + "/victim", "family", "2")
        self.assertEqual(run.stdout, "30\n")
        self.assertEqual(sorted(len(task) for task in Trace("d").tasks.values()), [14, 20, 24, 24])
        self.assertEqual(messages(), [])

    def unshare(self, *options):
        if not can("unshare", *options, "true"):
            self.skipTest("no such namespaces here")
        self.check("unshare", *options)

    def test_network(self):
        self.unshare("-n")

    def test_mounts(self):
        self.unshare("-m")

    def test_users(self):
        self.unshare("-U", "-r")

    def test_pids(self):
        self.unshare("-p", "-f")

    def test_all(self):
        self.unshare("-U", "-r", "-n", "-m", "-p", "-f", "-i", "-u")

    def shm(self, command):
        if not can("unshare", "-m", "sh", "-c", command):
            self.skipTest("cannot be mounted here")
        self.check("unshare", "-m", "sh", "-c", command + ' && exec "$0" "$@"')

    def test_shm_small(self):
        self.shm("mount -t tmpfs -o size=512k none /dev/shm")

    def test_shm_read_only(self):
        self.shm("mount -t tmpfs -o ro none /dev/shm")

    def test_shm_absent(self):
        self.shm("mount -t tmpfs none /dev")

    def test_other_user(self):
        self.check("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups")

    def test_few_descriptors(self):
        # 0, 1 and 2 are the program's: one is left, where three are needed for a moment.
        self.check("sh", "-c", 'ulimit -n 4; exec "$0" "$@"')

    def test_small_stack(self):
        self.check("sh", "-c", 'ulimit -s 64; exec "$0" "$@"')


if __name__ == "__main__":
    unittest.main(verbosity=1)
