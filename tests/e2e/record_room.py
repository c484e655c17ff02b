# SPDX-License-Identifier: MIT
"""ftr record where room runs out: in a ring, on the disk, of what the user allows."""
import glob
import os
import resource
import shutil
import signal
import subprocess
import unittest

from recording import ENTRY, EVENT, EXIT, FTR, LOST, TIMEOUT, Recording, Trace, harness


class RecordRoomTest(Recording):
    def test_disk_full(self):
        def limit():
            resource.setrlimit(resource.RLIMIT_FSIZE, (100000, 100000))
        run = self.record("-b", "4K", "./victim", "work", "50000", quiet=False, preexec_fn=limit)
        self.assertEqual(run.stdout, "1250025000\n")
        self.assertEqual(run.stderr.count(".dat"), 1)
        self.assertIn("LOST", run.stderr)
        self.assertEqual(len(Trace("d").only()), 100000 // 16)

    @unittest.skipUnless(os.getuid() == 0 and shutil.which("unshare"), "needs root and unshare")
    def test_no_space(self):
        if subprocess.run(["unshare", "-m", "true"], stderr=subprocess.DEVNULL).returncode:
            self.skipTest("no new mount namespaces here")
        os.makedirs("small", exist_ok=True)
        run = subprocess.run(["unshare", "-m", "sh", "-c", "mount -t tmpfs -o size=256k none small && "
                              "'%s' record --keep-free=0 --no-libcall -d small/d ./victim work 50000; s=$?; "
                              "'%s' report --no-pager -d small/d >report; exit $s" % (FTR, FTR)],
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=TIMEOUT)
        self.assertEqual((run.returncode, run.stdout), (0, "1250025000\n"), run.stderr)
        self.assertEqual(run.stderr.count("No space left"), 1)
        self.assertIn("LOST", run.stderr)
        with open("report") as file:
            self.assertRegex(file.read(), r"\d+  leaf")

    # The budget.

    def directory_bytes(self):
        return sum(entry.stat().st_size for entry in os.scandir("d"))

    def spent(self, pattern, run):
        self.assertEqual((run.returncode, run.stdout), (0, "1250025000\n" * run.args.count("50000")), run.stderr)
        self.assertRegex(run.stderr, r"recording ends here: .*" + pattern)
        self.assertEqual(len(run.stderr.splitlines()), 1)
        with open("d/extern.dat", encoding="utf-8") as file:
            self.assertRegex(file.read(), r"^\d+\.\d{9} recording ends here: .*" + pattern)
        report = self.ftr("report", "--no-pager", "-d", "d", "-f", "call")
        self.assertRegex(report.stdout, r"\d+  leaf")

    def test_max_size(self):
        run = self.record("--max-size=300K", "-b", "4K", "./victim", "work", "50000", quiet=False)
        self.spent("--max-size", run)
        self.assertLess(self.directory_bytes(), 600_000)
        self.assertGreater(os.path.getsize(glob.glob("d/[0-9]*.dat")[0]), 250_000)

    def test_max_size_of_many_tasks(self):
        """What begins when the recording has ended runs untraced, and the last process is waited for."""
        self.record("--max-size=20K", "./victim", "threads", "40", quiet=False)
        self.assertLess(self.directory_bytes(), 20 * 4096 * 40)
        shell = "./victim work 50000; ./victim work 50000; sleep 0.2; exec ./victim work 50000"
        run = self.ftr("record", *self.options, "--force", "--max-size=100K", "-b", "4K", "sh", "-c", shell)
        self.assertEqual((run.returncode, run.stdout), (0, "1250025000\n" * 3), run.stderr)
        self.assertEqual(run.stderr.count("recording ends here"), 1, run.stderr)
        self.assertEqual(len(run.stderr.splitlines()), 1)
        self.assertLess(self.directory_bytes(), 500_000)

    def test_max_size_of_system_calls(self):
        run = self.ftr("record", "--syscalls", "--no-libcall", "-d", "d", "--max-size=50K", "sh", "-c",
                       "for i in $(seq 800); do /bin/true; done; echo done")
        self.assertEqual((run.returncode, run.stdout), (0, "done\n"), run.stderr)
        self.assertIn("recording ends here", run.stderr)
        self.assertLess(os.path.getsize("d/syscalls.etrace"), 400_000)       # of more than a million

    def test_keep_free(self):
        self.refused(125, r"has \d+ MB free, and 1073741824 MB are to be left.*--keep-free", "--keep-free=1024T",
                     "./victim", "work")
        self.record("--keep-free=1K", "./victim", "work")

    @unittest.skipUnless(os.getuid() == 0 and shutil.which("unshare"), "needs root and unshare")
    def test_keep_free_by_default(self):
        if subprocess.run(["unshare", "-m", "true"], stderr=subprocess.DEVNULL).returncode:
            self.skipTest("no new mount namespaces here")
        os.makedirs("small", exist_ok=True)
        run = subprocess.run(["unshare", "-m", "sh", "-c", "mount -t tmpfs -o size=40m none small && "
                              "'%s' record --no-libcall -b 4K -d small/d ./victim work 2000000; s=$?; "
                              "df --output=avail -k small | tail -n 1; exit $s" % FTR],
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=TIMEOUT)
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertRegex(run.stderr, r"recording ends here: \d+ MB are left on the disk \(--keep-free\)")
        self.assertGreater(int(run.stdout.split()[1]), 500)

    def test_unwritable(self):
        for place in ("/proc/d", "/nowhere/d", "victim/d"):
            run = self.ftr("record", "-d", place, "./victim", "work")
            self.assertEqual((run.returncode, run.stdout), (125, ""))
            self.assertIn(place, run.stderr)
            self.assertEqual(len(run.stderr.splitlines()), 1)

    def test_rings_within_the_limit_of_files(self):
        def limit():
            resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 20))
        self.record("./victim", "work", "10000", preexec_fn=limit)
        calls = [record for record in Trace("d").only() if record.type in (ENTRY, EXIT)]
        self.assertEqual(len(calls), 2 * 10003)

    def test_limits_of_files_that_nothing_fits_into(self):
        """A limit ends neither the program nor the recorder, and the program finds its signals as they were."""
        def limited(nr, *words, ignored=()):
            def limit():
                resource.setrlimit(resource.RLIMIT_FSIZE, (nr, nr))
                for name in (signal.SIGXFSZ, signal.SIGPIPE):
                    signal.signal(name, signal.SIG_IGN if name in ignored else signal.SIG_DFL)
            return self.run_program(FTR, "record", *words, preexec_fn=limit, restore_signals=False)

        run = limited(20000, "-a", "-d", "d", "./victim", "work", "10")     # prototypes alone have more
        self.assertEqual((run.returncode, run.stdout), (125, ""))
        self.assertIn("d/info: File too large; raise ulimit -f", run.stderr)
        for words in ((), ("--keep-pid",), ("--syscalls", "--format=etrace", "-o", "x")):
            for ignored in ((), (signal.SIGXFSZ,), (signal.SIGPIPE,)):
                place = () if "-o" in words else ("--force", "-d", "d")
                run = limited(200, *words, *place, "sh", "-c", "for i in 1 2 3; do /bin/true; done; grep SigIgn /proc/self/status",
                              ignored=ignored)
                if "-o" not in words:       # where nothing can be kept, nothing is run
                    self.assertEqual((run.returncode, run.stdout), (125, ""), run.stderr)
                    run = limited(1 << 20, *words, *place, "grep", "SigIgn", "/proc/self/status", ignored=ignored)
                self.assertEqual(run.returncode, 0, run.stderr)
                mask = int(run.stdout.split()[1], 16) & (1 << 24 | 1 << 12)
                self.assertEqual(mask, sum(1 << nr - 1 for nr in ignored), f"{words} {ignored}")

    def test_wait(self):
        self.record("-b", "4K", "./victim", "work", "100000")
        records = Trace("d").only()
        self.assertEqual(len([r for r in records if r.type in (ENTRY, EXIT)]), 200006)
        stalls = [r for r in records if r.type == EVENT]
        self.assertGreater(len(stalls), 0)
        with open("d/events.txt") as file:
            names = file.read()
        self.assertIn("EVENT: 1000000 ftr:stall-begin\n", names)
        self.assertNotIn("ftr:stack", names)    # there are no coroutines to look for

    def test_drop(self):
        run = self.record("-b", "4K", "--on-full", "drop", "./victim", "work", "1000000",
                          quiet=False)
        records = Trace("d").only()
        lost = sum(r.addr for r in records if r.type == LOST)
        self.assertGreater(lost, 0)
        self.assertIn("LOST", run.stderr)
        kept = len([r for r in records if r.type in (ENTRY, EXIT)])
        self.assertEqual(kept + lost, 2000006)

    def test_overwrite(self):
        self.record("-b", "4K", "--on-full", "overwrite", "./victim", "work", "10000")
        records = Trace("d").only()
        self.assertEqual(records[0].type, LOST)
        self.assertEqual(len(records), 257)
        self.assertEqual((records[-1].type, records[-1].depth), (EXIT, 0))


if __name__ == "__main__":
    harness.main()
