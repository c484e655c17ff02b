# SPDX-License-Identifier: MIT
"""trace.dat that ftr writes, opened by the libraries of KernelShark and trace-cmd (libkshark, libtracecmd)."""
import os
import re
import subprocess

from recording import SRCDIR, TIMEOUT, harness
import tracedat_made as made

LIBRARIES = ("libkshark", "libtracecmd")


class Libraries(harness.Test):
    def setUp(self):
        super().setUp()
        try:
            flags = subprocess.run(["pkg-config", "--cflags", "--libs", *LIBRARIES], stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True, timeout=TIMEOUT, check=False)
        except FileNotFoundError:
            self.skipTest("pkg-config is not installed")
        if flags.returncode != 0:
            self.skipTest(flags.stderr.strip())
        subprocess.run(["gcc", "-w", os.path.join(SRCDIR, "tests/e2e/show_tracedat.c"), "-o", "show",
                        *flags.stdout.split()], check=True, timeout=TIMEOUT)

    def show(self, library, path):
        run = self.run_program("./show", library, path)
        self.assertEqual((run.returncode, run.stderr), (0, ""))
        return run.stdout.splitlines()

    def test_calls_and_events_of_a_program(self):
        harness.build("threads.c", "prog", "-pg", "-O1")
        self.assertEqual(self.ftr("record", "-d", "d", "./prog").returncode, 0)
        self.assertEqual(self.ftr("convert", "d", "x.dat").returncode, 0)
        dump = self.ftr("dump", "--no-pager", "-d", "d").stdout
        ours = sorted((int(tid), int(seconds) * 10 ** 9 + int(ns), kind) for seconds, ns, tid, kind in
                      re.findall(r"^(\d+)\.(\d{9}) +(\d+): \[(entry|exit)", dump, re.M))
        self.assertGreater(len(ours), 20)
        for library in ("kshark", "tracecmd"):
            lines = self.show(library, "x.dat")
            self.assertEqual([line for line in lines if "?" in line], [])
            theirs = sorted((int(tid), int(time), kind) for tid, time, kind in
                            re.findall(r"^(\d+) (\d+) \d+ ftrace/funcgraph_(entry|exit)", "\n".join(lines), re.M))
            self.assertEqual(theirs, ours, library)
            self.assertEqual(len([line for line in lines if "linux.text/" in line]),
                             len(re.findall(r"\[event *\] linux:", dump)), library)
        self.assertTrue(any(" main() {" in line for line in self.show("kshark", "x.dat")))

    def test_records_that_are_kept(self):
        for is_big in (False, True):
            for long_bytes in (4, 8):
                machine = made.Machine(is_big, long_bytes)
                pages, other = made.Pages(machine), made.Pages(machine)
                pages.put(1000, machine.said(10, "hello", 7))
                pages.put(2000, machine.switch(10, "w", 12, "o"))
                other.put(1500, machine.said(11, "of an instance", 1))
                with open("x.dat", "wb") as file:
                    file.write(made.version6(machine, [pages.data(), b""], (), [("net", [b"", other.data()])]))
                self.assertEqual(self.ftr("convert", "x.dat", "y.dat").stderr, "")
                for library in ("kshark", "tracecmd"):
                    shown = self.show(library, "x.dat")
                    self.assertEqual(len(shown), 2)
                    self.assertEqual(self.show(library, "y.dat"), shown)


if __name__ == "__main__":
    harness.main()
