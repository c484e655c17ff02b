# SPDX-License-Identifier: MIT
"""Files that are run again and again: the recorder is not asked, and nothing else is as if it had not been (doc/adr/0110)."""
import os
import re
import shutil
import struct
import time
import unittest

from recording import IS_ROOT, Recording, Trace, build, harness

SETTLED_S = 3.1         # since a file was changed: then the recorder tells of it
COMM = 3


def messages():
    try:
        with open("d/extern.dat", encoding="utf-8") as file:
            return [line.split(" ", 1)[1].rstrip("\n") for line in file]
    except FileNotFoundError:
        return []


def names():
    """Of tasks, as the records of perf tell them: (tid, time, name)."""
    found, at = [], 0
    if not os.path.exists("d/perf-cpu0.dat"):
        return found
    with open("d/perf-cpu0.dat", "rb") as file:
        data = file.read()
    while at < len(data):
        kind, _, size = struct.unpack_from("<IHH", data, at)
        if kind == COMM:
            _, tid, name = struct.unpack_from("<II16s", data, at + 8)
            when, = struct.unpack_from("<Q", data, at + size - 8)
            found.append((tid, when, name.rstrip(b"\0").decode()))
        at += size
    return found


class Known(Recording):
    """"./exec_known look" says what the recorder was asked; each third run of a file is one that it was not asked about."""

    @classmethod
    def set_up_class(cls):
        super().set_up_class()
        build("victim.c", "static", "-pg", "-static")
        build("exec_known.c", "exec_known", "-pg", "-O1")
        build("deny_events.c", "deny_events", "-O1")

    def setUp(self):
        """Files of its own: what is done to them would be done to those of other tests."""
        super().setUp()
        for name in ("victim", "static", "exec_known"):
            shutil.copy(name, "copy")
            os.rename("copy", name)

    def settle(self, *paths):
        """Files that were made just now may be changed once more without that being seen."""
        changed = max(os.stat(path).st_ctime for path in ("victim", "exec_known", *paths))
        time.sleep(max(0, changed + SETTLED_S - time.time()))

    def shell(self, script, quiet=True, status=0):
        return self.record("--force", "sh", "-c", script, quiet=quiet, status=status)

    def said(self, run, pattern, count=1):
        """On the terminal once, in the trace each time."""
        lines = [line for line in run.stderr.splitlines() if not line.startswith("_mcleanup")]    # of gprof
        self.assertEqual(len(lines), 1, run.stderr)
        self.assertRegex(lines[0], r"\Aftr: warning: process \d+: runs untraced: " + pattern)
        self.assertEqual(len(re.findall("runs untraced: " + pattern, "\n".join(messages()))), count)

    @staticmethod
    def known(line):
        return set(line.split()[1:])

    @staticmethod
    def inode(path):
        return str(os.stat(path).st_ino)

    # What is left out, and what is not.

    def test_asked_twice(self):
        self.settle()
        one = "./victim work; ./exec_known look; "
        lines = self.shell(one * 8).stdout.splitlines()
        looks = [line for line in lines if line != "15"]
        self.assertEqual(self.known(looks[-1]), {self.inode("victim"), self.inode("exec_known")})
        self.assertEqual(self.known(looks[0]), set())
        self.assertIn(self.inode("victim"), self.known(looks[1]))
        answered = [int(line.split()[0]) for line in looks]
        steps = [after - before for before, after in zip(answered, answered[1:])]
        self.assertGreaterEqual(steps[0], 4, steps)     # EXEC and SESSION of each image,
        self.assertEqual(steps[3:], [2] * 4, steps)     # and without the first

    def test_trace_is_the_same(self):
        self.settle()
        self.shell("./victim work; " * 6 + ":")
        trace = Trace("d")
        sessions = [re.search('pid=([0-9]+) sid=([0-9a-f]+) exename="(.*)"', line).groups()
                    for line in trace.words("SESS")]
        victims = [(int(pid), sid) for pid, sid, name in sessions if name.endswith("/victim")]
        self.assertEqual(len(victims), 6)
        self.assertEqual(len(sessions), 7)
        shell = sessions[0][0]
        for pid, sid in victims:
            self.assertEqual(len([entry for entry in trace.tasks[pid] if entry.depth == 1]), 2)   # work, within main
            self.assertIn("/victim", open("d/sid-%s.map" % sid, encoding="utf-8").read())
            mine = [line.split()[0] for line in trace.lines if "pid=%d " % pid in line + " "]
            self.assertEqual(mine.count("FORK"), 1, trace.lines)
            self.assertIn("TASK", mine)
            self.assertTrue(any("pid=%d ppid=%s" % (pid, shell) in line for line in trace.words("FORK")))
        self.assertEqual(messages(), [])

    def test_ways(self):
        """How an exec names its file does not matter."""
        self.settle()
        os.mkdir("below")
        ways = ("run ./victim", "run victim", "fd ./victim", "at . victim", "below below ../victim", "spawn ./victim",
                "along victim", "thread ./victim", "run %s/victim" % os.getcwd(), "children 5 ./victim",
                "run ./exec_known fd ./exec_known at . victim")
        for way in ways:
            with self.subTest(way):
                run = self.shell('PATH=/nowhere:.:$PATH; for i in 1 2 3 4; do ./exec_known %s work; done' % way)
                times = 4 * (5 if "children" in way else 1)
                self.assertEqual(run.stdout, "15\n" * times)
                self.assertEqual(messages(), [])
                sessions = [line for line in Trace("d").words("SESS") if line.endswith('/victim"')]
                self.assertEqual(len(sessions), times)
                shutil.rmtree("d")

    def test_not_there(self):
        """Asked for by who searches by exec itself; what is there after all is told of."""
        self.settle()
        run = self.shell("./victim work; ./victim work; ./victim work; mv victim away; ./exec_known run ./victim work; "
                         "mv static victim; ./exec_known run ./victim work", quiet=False)
        self.assertEqual(run.stdout, "15\n" * 4)
        self.said(run, r"\./victim: is statically linked")

    def test_young_file(self):
        """It may be changed again before a clock of the file system has gone on."""
        self.settle()
        looks = [line for line in self.shell("cp victim young; " + "./young work; ./exec_known look; " * 4)
                 .stdout.splitlines() if line != "15"]
        self.assertEqual(self.known(looks[-1]), {self.inode("exec_known")})

    # What is changed when it is known.

    def changed(self, change, pattern, runs=2):
        self.settle()
        run = self.shell("./victim work; " * 4 + change + "; " + "./victim work; " * runs, quiet=False)
        self.assertEqual(run.stdout, "15\n" * (4 + runs))
        self.said(run, pattern, runs)

    def test_replaced(self):
        self.changed("mv static victim", r"\./victim: is statically linked")

    def test_written_in_place(self):
        """Also with as many bytes."""
        os.truncate("victim", os.stat("static").st_size)
        self.changed("cat static >victim", r"\./victim: is statically linked")

    def test_link_that_leads_elsewhere(self):
        os.rename("victim", "real")
        os.symlink("real", "victim")
        self.changed("ln -sf static victim", r"\./victim: is statically linked")

    @unittest.skipUnless(IS_ROOT, "needs root")
    def test_set_uid(self):
        os.chmod(".", 0o755)
        self.changed("chown 65534 victim; chmod u+s victim", r"\./victim: set-uid")

    def test_back_again(self):
        self.settle()
        run = self.shell("./victim work; " * 4 + "mv victim real; mv static victim; ./victim work; mv real victim; "
                         "./victim work", quiet=False)
        self.assertEqual(run.stdout, "15\n" * 6)
        self.said(run, r"\./victim: is statically linked")
        sessions = [line for line in Trace("d").words("SESS") if line.endswith('/victim"')]
        self.assertEqual(len(sessions), 5)

    # What depends on more than the file is never known.

    def test_script(self):
        os.rename("victim", "inner")
        with open("victim", "w", encoding="ascii") as file:
            file.write("#!%s/inner work\n" % os.getcwd())
        os.chmod("victim", 0o755)
        shutil.copy("static", "inner-static")
        self.settle("inner")
        looked = "./exec_known look >looked; "
        run = self.shell("./victim 5; " * 4 + looked + "mv inner-static inner; ./victim 5", quiet=False)
        self.said(run, r"\./victim: is statically linked")
        with open("looked", encoding="ascii") as file:
            self.assertNotIn(self.inode("victim"), self.known(file.read()))

    @unittest.skipUnless(IS_ROOT, "needs root")
    def test_rights_that_one_user_has(self):
        """A file of root's that is set-uid raises nobody but others."""
        os.chmod(".", 0o755)
        shutil.copy("victim", "raised")
        os.chmod("raised", 0o4755)
        self.rights_told("set-uid")

    @unittest.skipUnless(IS_ROOT, "needs root")
    def test_capabilities(self):
        os.chmod(".", 0o755)
        shutil.copy("victim", "raised")
        try:
            os.setxattr("raised", "security.capability", struct.pack("<5I", 0x02000001, 1 << 10, 0, 0, 0))
        except OSError as err:
            self.skipTest(str(err))
        self.rights_told("set-uid, set-gid or has capabilities")

    def rights_told(self, why):
        self.settle("raised")
        run = self.shell("./raised work; ./raised work; ./raised work; ./exec_known look; "
                         "./exec_known as 65534 ./raised work", quiet=False)
        lines = run.stdout.splitlines()
        self.assertEqual(lines[:3] + lines[4:], ["15"] * 4)
        self.assertNotIn(self.inode("raised"), self.known(lines[3]))
        self.said(run, r"\./raised: " + why)

    @unittest.skipUnless(IS_ROOT, "needs root")
    def test_another_user(self):
        """Who runs it does not matter where it gives no rights."""
        os.chmod(".", 0o755)
        self.settle()
        run = self.shell("./exec_known as 65534 ./victim work; " * 5)
        self.assertEqual(run.stdout, "15\n" * 5)
        self.assertEqual(messages(), [])

    @unittest.skipUnless(IS_ROOT, "needs root")
    def test_another_root(self):
        """The same path is another file there."""
        inside = "root" + os.getcwd()
        os.makedirs(inside)
        shutil.copy("static", os.path.join(inside, "victim"))
        self.settle()
        path = os.path.join(os.getcwd(), "victim")
        run = self.shell("%s work; " % path * 4 + "./exec_known in root %s work" % path, quiet=False)
        self.assertEqual(run.stdout, "15\n" * 5)
        self.said(run, re.escape(path) + ": is statically linked")

    def test_another_directory(self):
        os.mkdir("below")
        shutil.copy("static", "below/victim")
        self.settle()
        run = self.shell("./victim work; " * 4 + "cd below; ./victim work; ../exec_known run victim work", quiet=False)
        self.assertEqual(run.stdout, "15\n" * 6)
        self.assertEqual(len(messages()), 2)
        self.assertIn("runs untraced: ./victim: is statically linked", run.stderr)
        self.assertIn("runs untraced: victim: is statically linked", run.stderr)

    def test_along_path(self):
        """What is found first along PATH later is another file."""
        os.mkdir("first")
        os.mkdir("second")
        shutil.copy("victim", "second/prog")
        shutil.copy("static", "prog-static")
        self.settle("second/prog")
        path = "%s/first:%s/second" % (os.getcwd(), os.getcwd())
        search = "PATH=%s ./exec_known along prog work; " % path
        run = self.shell(search * 4 + "mv prog-static first/prog; " + search, quiet=False)
        self.assertEqual(run.stdout, "15\n" * 5)
        self.said(run, "prog: is statically linked")

    # What surrounds it.

    def test_behind_a_filter(self):
        """That kills for a look at a file: also images that inherit it do not look."""
        self.settle()
        once = "./exec_known run ./exec_known run ./victim work; "
        run = self.shell(once * 4 + "./exec_known filtered ./exec_known run ./exec_known along ./victim work")
        self.assertEqual(run.stdout, "15\n" * 5)
        sessions = [line for line in Trace("d").words("SESS") if line.endswith('/victim"')]
        self.assertEqual(len(sessions), 5)

    def names_before(self, *words):
        """A child has its parent's name until it runs another program, also where nobody was told of that."""
        self.settle()
        run = self.run_program("./deny_events", "1", harness.FTR, "record", "--no-libcall", "-d", "d", "./exec_known",
                               *words, "./victim", "work")
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertIn("perf_event_open", run.stderr)
        forks = [int(re.search("pid=([0-9]+) ", line)[1]) for line in Trace("d").words("FORK")]
        self.assertEqual(len(forks), 12)
        return [[name for tid, _, name in names() if tid == fork] for fork in forks]

    def test_names(self):
        for found in self.names_before("named", "12"):
            self.assertEqual(found[:1], ["before exec"])
            self.assertNotIn("victim", found)

    def test_names_as_the_image(self):
        for found in self.names_before("children", "12"):
            self.assertEqual(found, [])

    def test_system_calls(self):
        """The runtime's look at a file is none of the program's calls."""
        self.settle()
        run = self.record("--force", "--syscalls", "sh", "-c", "./victim work; " * 5, quiet=False)
        if "ptrace must be allowed" in run.stderr:
            self.skipTest("nothing may be traced here")
        self.assertEqual(run.stdout, "15\n" * 5)


if __name__ == "__main__":
    harness.main()
