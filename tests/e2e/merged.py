# SPDX-License-Identifier: MIT
"""A data directory and a trace.dat that was recorded meanwhile, shown as one: of any clock, given or found."""
import os
import re
import shutil
import subprocess
import sys

from recording import FTR, TIMEOUT, harness
import tracedat_kernel
import tracedat_made as made
from tracefs import mount, unmount

SECOND = 10 ** 9
MONO, LOCAL = b"local [mono]\n\0", b"[local] mono\n\0"
PROGRAM = """#include <unistd.h>
__attribute__((noinline)) void nap(int us) { usleep(us); }
int main(void)
{
	unsigned random = 1;

	for (int i = 0; i < NAPS; i++) {
		random = random * 1103515245 + 12345;
		nap(100 + (random >> 16) % 3000);
	}
	return 0;
}
"""


class Merged(harness.Test):
    def record(self, naps=40, *options):
        with open("nap.c", "w", encoding="ascii") as file:
            file.write(PROGRAM)
        subprocess.run(["gcc", "-pg", "-O1", f"-DNAPS={naps}", "nap.c", "-o", "nap"], check=True, timeout=TIMEOUT)
        run = self.ftr("record", "--no-libcall", "-d", "d", *options, "./nap")
        self.assertEqual(run.returncode, 0, run.stderr)

    def events(self):
        """(seconds and nanoseconds as one number, tid, what) of the directory alone."""
        run = self.ftr("dump", "--no-pager", "-d", "d")
        found = re.findall(r"^(\d+)\.(\d{9}) +(\d+): \[(\w+) *\] ([\w:-]+)", run.stdout, re.M)
        return [(int(s) * SECOND + int(ns), int(tid), kind, what) for s, ns, tid, kind, what in found]

    def naps(self):
        return [(time, tid) for time, tid, kind, what in self.events() if (kind, what) == ("entry", "nap")]

    def switches(self):
        outs = [(time, tid) for time, tid, _, what in self.events() if what == "linux:sched-out"]
        if len(outs) < 20:
            self.skipTest("perf did not record switches of tasks: " + (self.ftr("info", "-d", "d").stdout or "?"))
        return outs

    def save(self, records, clock, path="x.dat"):
        """@records: (time, data), all on CPU 1."""
        machine = made.Machine()
        pages = made.Pages(machine)
        for time, data in sorted(records):
            pages.put(time, data)
        with open(path, "wb") as file:
            file.write(made.version6(machine, [b"", pages.data()], [(made.TRACECLOCK, clock)] if clock else []))

    def said(self, times, change=lambda time: time):
        machine = made.Machine()
        return [(change(time), machine.said(tid, f"nap{i}", i)) for i, (time, tid) in enumerate(times)]

    def replay(self, *words):
        run = self.ftr("replay", "--no-pager", "-f", "none", *words)
        self.assertEqual(run.returncode, 0, run.stderr)
        return run

    def check_inside(self, run, nr):
        """Each event is inside of the call that it is of, in order; others that made it wait may be before it."""
        self.assertEqual(re.findall(r"nap\(\) \{\n(?: +/\* (?:linux|sched):.*\n)* +/\* my:said \(nap(\d+) \1\) \*/", run.stdout),
                         [str(i) for i in range(nr)], run.stdout[:3000])

    # Clocks.

    def test_the_same_clock(self):
        self.record()
        naps = self.naps()
        self.save(self.said(naps, lambda time: time + 500), MONO)
        run = self.replay("d", "x.dat")
        self.assertEqual(run.stderr, "ftr: x.dat: its clock is that of the calls\n")
        self.check_inside(run, 40)

    def test_a_given_offset(self):
        self.record()
        naps = self.naps()
        self.save(self.said(naps, lambda time: time + 500 + 3 * SECOND), b"[uptime]\0")
        run = self.replay("--clock-offset=-3s", "d", "x.dat")
        self.assertEqual(run.stderr, "ftr: x.dat: -3.000000000 s are added to its times\n")
        self.check_inside(run, 40)
        run = self.ftr("replay", "--clock-offset=soon", "d", "x.dat")
        self.assertEqual((run.returncode, run.stdout), (2, ""))
        self.assertIn('--clock-offset: "soon" is not a time', run.stderr)
        run = self.ftr("replay", "--clock-offset=1s", "d")
        self.assertEqual((run.returncode, run.stdout), (2, ""))
        self.assertIn("--clock-offset: there is no trace.dat", run.stderr)

    def found(self, change, *outs):
        machine = made.Machine()
        naps = self.naps()
        records = self.said([(time + 500, tid) for time, tid in naps], change)
        records += [(change(time - 300), machine.switch(tid, "nap", 0, "idle")) for time, tid in outs]
        self.save(records, None)
        run = self.replay("d", "x.dat")
        self.check_inside(run, 40)
        return run.stderr

    def test_an_offset_that_switches_tell(self):
        self.record()
        outs = self.switches()
        said = self.found(lambda time: time + 12345 * SECOND, *outs)
        self.assertRegex(said, r"^ftr: x.dat: -12344\.999999(700|6\d\d) s are added to its times: \d+ of \d+ switches of tasks "
                         r"lie on the program's then.*\n$")
        # The other started later, ended before, and saw tasks that are not ours.
        some = outs[len(outs) // 3:-len(outs) // 4] + [(time + 7777, 1) for time, _ in outs]
        self.assertRegex(self.found(lambda time: time + 12345 * SECOND, *some), r"-12344\.999999(700|6\d\d) s")

    def test_clocks_that_drift(self):
        self.record()
        outs = self.switches()
        first = outs[0][0]
        said = self.found(lambda time: time + SECOND + (time - first) // 5000, *outs)
        drift = re.search(r"and (-?\d+\.\d) us a second, by which the clocks drift", said)
        self.assertIsNotNone(drift, said)
        self.assertAlmostEqual(float(drift[1]), -200, delta=30)

    def test_nothing_to_find_it_by(self):
        self.record()
        self.save(self.said(self.naps()), LOCAL)
        run = self.ftr("replay", "d", "x.dat")
        self.assertEqual((run.returncode, run.stdout), (1, ""))
        self.assertIn("trace-cmd record -C mono", run.stderr)
        self.assertIn("--clock-offset", run.stderr)
        self.assertEqual(run.stderr.count("\n"), 1)

    # Ways.

    def test_every_command(self):
        self.record()
        naps = self.naps()
        self.save(self.said(naps, lambda time: time + 500), MONO)
        self.assertIn("my:said", self.ftr("report", "--by=event", "d", "x.dat").stdout)
        self.assertEqual(self.ftr("dump", "d", "x.dat").stdout.count("my:said"), 40 * 2)
        self.assertIn("nap", self.ftr("graph", "d", "x.dat").stdout)
        run = self.ftr("dump", "--format=fxt", "-o", "x.fxt", "d", "x.dat")
        self.assertEqual(run.returncode, 0, run.stderr)
        self.check_inside(self.replay("x.fxt"), 40)

    def test_in_the_directory(self):
        self.record()
        self.save(self.said(self.naps(), lambda time: time + 500), MONO)
        os.rename("x.dat", "d/trace.dat")
        self.check_inside(self.replay("d"), 40)
        with open("d/trace.dat", "wb") as file:
            file.write(b"no trace.dat")
        run = self.replay("d")
        self.assertIn("events of the kernel are not shown", run.stderr)
        self.assertIn("nap()", run.stdout)

    def test_record_takes_it_along(self):
        self.save([(1, made.Machine().said(1, "old", 1))], MONO)
        self.record(40, "--merge=x.dat")
        with open("x.dat", "rb") as x, open("d/trace.dat", "rb") as y:
            self.assertEqual(x.read(), y.read())
        self.assertIn("trace.dat: its clock is that of the calls", self.replay("d").stderr)
        os.unlink("x.dat")
        run = self.ftr("record", "-d", "e", "--merge=x.dat", "./nap")
        self.assertEqual(run.returncode, 0)
        self.assertRegex(run.stderr, r'x\.dat: No such file.*cp x\.dat e/trace\.dat')

    def test_refused(self):
        self.record()
        self.save([], MONO)
        for words, text in ((("x.dat", "x.dat"), "unexpected operand"),
                            (("d", "nap.c"), "unexpected operand"),
                            (("d", "missing.dat"), "unexpected operand")):
            run = self.ftr("replay", *words)
            self.assertNotEqual(run.returncode, 0)
            self.assertIn(text, run.stderr)
        run = self.ftr("dump", "--format=fxt", "-o", "x.fxt", "d")
        run = self.ftr("replay", "d", "x.fxt")
        self.assertEqual(run.returncode, 1)
        self.assertIn("x.fxt: is fxt, which has nothing of the kernel", run.stderr)

    # The kernel's own.

    def test_this_kernel(self):
        """Whatever it records, what a nap is made of lies in the nap."""
        tracefs = os.path.abspath("tracefs")
        mount(tracefs)
        try:
            for clock in ("local", "mono"):
                self.kernel(tracefs, clock)
        finally:
            unmount(tracefs)

    def kernel(self, tracefs, clock):
        shutil.rmtree("d", ignore_errors=True)
        instance = tracedat_kernel.Instance(tracefs)
        try:
            instance.record(clock, self.record, 4096, ours=True)
            machine = tracedat_kernel.RealMachine(tracefs)
            cpus = [instance.pages(cpu) for cpu in range(os.cpu_count())]
        finally:
            instance.remove()
        with open("x.dat", "wb") as file:
            file.write(made.version6(machine, cpus, [(made.TRACECLOCK, f"[{clock}]\0".encode())]))
        if clock != "mono":
            self.switches()
        run = self.replay("d", "x.dat")
        self.assertIn("added to its times" if clock == "local" else "that of the calls", run.stderr)
        inside = re.findall(r"^ *nap\(\) \{\n((?:  .*\n)*?) *\} /\* nap", run.stdout, re.M)
        slept = [body for body in inside if "sched:sched_switch" in body and
                 re.search(r"syscalls:sys_enter_(clock_)?nanosleep|raw_syscalls:sys_enter", body)]
        self.assertGreater(len(slept), 20, run.stdout[:6000])


if __name__ == "__main__":
    harness.main()
