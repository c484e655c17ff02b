# SPDX-License-Identifier: MIT
"""record --syscalls --stack: on which stacks programs that nobody prepared make their system calls."""
import os
import re
import shutil
import subprocess
import unittest

from recording import FTR, Recording, build, harness, run_observed

STRACE = shutil.which("strace")
PROGRAMS = {"pie": ["-O2", "-fPIE", "-pie"], "fixed": ["-O2", "-no-pie"], "frames": ["-O1", "-fno-omit-frame-pointer"],
            "static": ["-O2", "-static", "-DSTATIC"]}
if os.uname().machine != "x86_64":
    del PROGRAMS["static"]          # linkers make no table of unwind information there; its entries are read of x86-64's
# What does not depend on the C library.
KNOWN = {"main", "outer", "middle", "inner", "thread", "child", "plug", "deep", "on_signal"}


class Stacks(Recording):
    @classmethod
    def set_up_class(cls):
        if "built without libunwind" in subprocess.run([FTR, "record", "--syscalls", "--stack", "-d", "probe", "/bin/true"],
                                                       stderr=subprocess.PIPE, text=True, check=False).stderr:
            raise unittest.SkipTest("ftr was built without libunwind")
        for name, flags in PROGRAMS.items():
            build("observed_stacks.c", name, *flags)
        build("observed_stacks.c", "lib.so", "-O2", "-DLIBRARY", "-shared", "-fPIC")

    def observe(self, *words):
        run = run_observed("record", "--syscalls", "--stack", "--no-event", "-d", "d", *words)
        self.assertEqual((run.returncode, run.stdout, run.stderr), (0, "", ""))
        return self.stacks()

    def frames(self):
        """[(path, offset, name)] by number - 1, and the stacks as lists of those, innermost first."""
        frames, stacks = [], []
        for line in open("d/syscalls.stacks").read().splitlines():
            kind, number, *rest = line.split("\t")
            if kind == "F":
                self.assertEqual(int(number, 16), len(frames) + 1)
                frames.append((rest[2], int(rest[0], 16), rest[3]))
            else:
                self.assertEqual((kind, int(number, 16)), ("S", len(stacks) + 1))
                stacks.append([frames[int(frame, 16) - 1] for frame in rest[0].split(",")])
        self.assertEqual(len(set(map(tuple, stacks))), len(stacks))
        return stacks

    def stacks(self):
        """[(tid, call, [name, outermost first])] as replay shows them."""
        run = self.ftr("replay", "-f", "tid", "d")
        self.assertEqual((run.returncode, run.stderr), (0, ""))
        shown, stack = [], []
        for line in run.stdout.splitlines():
            frame = re.match(r" *backtrace \[ *\d+\] \| /\* \[ *(\d+)\] (.*) \*/$", line) or \
                re.match(r" *\[ *\d+\] \| /\* \[ *(\d+)\] (.*) \*/$", line)
            call = re.match(r" *\[ *(\d+)\] \| *(sys_\w+)\(", line)
            if frame:
                self.assertEqual(int(frame[1]), len(stack))
                stack.append(frame[2])
            elif call:
                shown.append((int(call[1]), call[2], stack))
                stack = []
        return shown

    def known(self, shown, call="sys_openat"):
        return [[name for name in stack if name in KNOWN] for _, what, stack in shown
                if what == call and KNOWN & set(stack)]

    WANTED = [["main", "outer", "middle", "inner"], ["thread", "outer", "middle", "inner"],
              ["main", "on_signal", "middle", "inner"]]

    def test_programs(self):
        for name in PROGRAMS:
            with self.subTest(program=name):
                shown = self.observe("./" + name)
                opened = self.known(shown)
                child = ["main", "child", "outer", "middle", "inner"]
                self.assertEqual(opened[:3] + opened[4:], self.WANTED + [child])
                self.assertEqual(opened[3][-1], "inner")
                self.assertEqual(set(opened[3][:-1]), {"deep"})
                self.assertEqual(self.known(shown, "sys_close"), opened)
                self.assertEqual(self.known(shown, "sys_execve"), [["main", "child"]])
                threads = {tid for tid, _, stack in shown if "thread" in stack}
                self.assertEqual(len(threads), 1)
                self.assertEqual([stack for _, what, stack in shown if what == "sys_exit" and stack], [])
                shutil.rmtree("d")

    def test_library_that_is_opened(self):
        shown = self.observe("./pie", os.path.abspath("lib.so"))
        self.assertIn(["main", "plug", "middle", "inner"], self.known(shown))
        paths = {path for stack in self.frames() for path, _, name in stack if name == "plug"}
        self.assertEqual(paths, {os.path.abspath("lib.so")})

    def test_stripped(self):
        """Without names the stacks are no shorter: .eh_frame stays."""
        for name in PROGRAMS.keys() & {"pie", "static"}:
            depths = []
            for program in (name, "stripped"):
                subprocess.run(["strip", "-o", "stripped", name], check=True)
                self.observe("./" + program)
                depths.append(sorted(len(stack) for stack in self.frames() if not any("libm" in f[0] for f in stack)))
                shutil.rmtree("d")
            self.assertEqual(depths[0], depths[1])

    def test_moved_while_it_runs(self):
        """The program's file is gone when its stacks are asked for: addresses are left."""
        shutil.copy("pie", "gone")
        shown = self.observe("/bin/sh", "-c", "rm gone; exec 3<&0; ./pie", "gone")
        self.assertIn(["main", "outer", "middle", "inner"], self.known(shown))

    @unittest.skipUnless(STRACE, "strace is not installed")
    def test_same_as_strace(self):
        """Address by address; of static programs strace -k has the innermost frame alone."""
        for name in ("pie", "fixed", "frames"):
            run = self.run_program(STRACE, "-f", "-k", "-o", "trace", "-e", "trace=openat,close,execve", "./" + name)
            if run.returncode != 0 or not re.search(r"^ > ", open("trace").read(), re.M):
                self.skipTest("strace -k does not work here")
            theirs = set()
            for block in re.split(r"^(?! > )", open("trace").read(), flags=re.M):
                stack = re.findall(r"^ > (\S*?)\(.*\) \[0x([0-9a-f]+)\]", block, re.M)
                own = [int(addr, 16) for path, addr in stack if path == os.path.realpath(name)]
                if own and len(own) < 100 and "--- SIG" not in block:
                    theirs.add(tuple(own))
            self.observe("./" + name)
            ours = set()
            for stack in self.frames():
                own = [offset + (i > 0) for i, (path, offset, _) in enumerate(stack) if path == os.path.realpath(name)]
                if own and len(own) < 100:
                    ours.add(tuple(own))
            missing = {stack for stack in theirs if stack not in ours}
            self.assertEqual(missing, set(), f"{name}: {sorted(ours)}")
            self.assertGreaterEqual(len(theirs), 5)
            shutil.rmtree("d")

    def test_callers(self):
        self.observe("./pie")
        graph = self.ftr("graph", "-f", "none", "inner", "d").stdout
        self.assertIn("sys_openat", graph)
        for caller in ("main", "thread", "child", "on_signal"):
            self.assertIn(caller, graph)
        plain = self.ftr("report", "d").stdout
        self.assertNotIn("inner", plain)
        rows = {line.split()[-1]: line.split() for line in self.ftr("report", "--stack", "d").stdout.splitlines()[2:]}
        # Five opens and five closes, of which each is one call of those that it was made in.
        self.assertEqual(rows["inner"][-2], "10")
        self.assertEqual(rows["thread"][-2], "2")
        self.assertEqual(rows["deep"][-2], str(2 * 254))
        folded = self.ftr("dump", "--flame-graph", "--stack", "d").stdout
        self.assertRegex(folded, r"(?m)main;outer;middle;inner;\S*;sys_openat \d+$")
        self.assertNotIn("inner", self.ftr("dump", "--flame-graph", "d").stdout)

    def test_recorded_calls_come_first(self):
        """Where functions are recorded, too, graph does not repeat them."""
        build("observed_stacks.c", "pg", "-O1", "-pg")
        self.observe("--no-libcall", "./pg")
        graph = self.ftr("graph", "-f", "none", "d").stdout
        self.assertEqual(len(re.findall(r"\) thread$", graph, re.M)), 1, graph)
        # libunwind of other machines does not step through return stubs: the calls that are recorded lie around it.
        wanted = ["main", "outer", "middle", "inner"] if os.uname().machine == "x86_64" else ["inner"]
        self.assertIn(wanted, self.known(self.stacks()))

    def test_text_keeps_its_rules(self):
        self.observe("./pie")
        run = self.ftr("check", "--etrace", "d/syscalls.etrace")
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
        run = self.ftr("convert", "d", "d.fxt")
        self.assertEqual((run.returncode, run.stderr), (0, ""))
        self.assertIn("sys_openat", self.ftr("replay", "d.fxt").stdout)

    def test_converted(self):
        self.observe("./pie")
        run = self.ftr("convert", "d", "d2")
        self.assertEqual((run.returncode, run.stderr), (0, ""))
        for words in (["replay"], ["graph"], ["report", "--stack"]):
            self.assertEqual(self.ftr(*words, "d2").stdout, self.ftr(*words, "d").stdout)
        self.assertIn("inner", self.ftr("report", "--stack", "d2").stdout)

    def test_refused(self):
        for words, text in ((["--stack", "./pie"], "add --syscalls"),
                            (["--syscalls", "--stack", "--format=etrace", "./pie"], "records system calls only")):
            run = self.ftr("record", *words)
            self.assertEqual((run.returncode, run.stdout), (2, ""))
            self.assertIn(text, run.stderr)
        run = self.ftr("dump", "--stack", harness.SRCDIR + "/tests/data/threads")
        self.assertEqual(run.returncode, 2)

    def test_damage(self):
        self.observe("./pie")
        whole = open("d/syscalls.stacks", "rb").read()
        self.has_damaged_data = True
        frames = whole.count(b"\nF\t") + 1
        for damaged in (whole[:len(whole) // 2], whole.replace(b"\t", b" "), b"S\t1\t1\n", b"F\t2\t1\t1\t/x\ty\n", b"F\t1\t0\t1\t/x\ty\n",
                        b"F\t1\n", b"F\t1\tzz\t1\t/x\ty\n", whole + b"S\tffffffff\t1\n", whole + b"S\t1\t%x\n" % (frames + 1),
                        b"\0" * 1000, b"", b"X\n" + whole, re.sub(rb"(?m)^F\t1\t", b"F\t3\t", whole, count=1)):
            with open("d/syscalls.stacks", "wb") as file:
                file.write(damaged)
            for command in ("replay", "graph", "report"):
                run = self.ftr(command, "d")
                self.assertEqual(run.returncode, 0, run.stderr)
                self.assertIn("sys_openat", run.stdout)
                self.assertRegex(run.stderr, r"^(ftr: warning: .*syscalls.stacks:\d+: (no frame or stack|the file ends inside).*\n)*$")
        os.remove("d/syscalls.stacks")
        self.assertEqual(self.ftr("replay", "d").stderr, "")


if __name__ == "__main__":
    harness.main()
