# SPDX-License-Identifier: MIT
"""What a recorder left that was killed or had no room, and files that were cut: what is whole is shown, and the rest told truly."""
import glob
import os
import re
import shutil
import signal
import time

from recording import build, harness

FTR = harness.FTR
TIMEOUT = harness.TIMEOUT
HEADER_BYTES = 40   # of info
FALSE = re.compile(r"damaged|no record|not a record|unknown line|expected|runtime error|Sanitizer")


class CutTest(harness.Test):
    has_damaged_data = True     # uftrace is not to read it

    @classmethod
    def set_up_class(cls):
        build("demo.c", "prog", "-pg", "-g", "-O0", "-lm")
        build("fork_long.c", "forks", "-pg", "-O1")
        build("sums_forever.c", "forever", "-pg", "-O1")

    def record(self, data, *words):
        done = self.ftr("record", "-d", data, *words)
        self.assertIn(done.returncode, range(100), done.stderr)

    def cut(self, name, size, *words):
        """What a command says of the data without what is behind @size in the file @name."""
        os.rename(f"data/{name}", "whole")
        with open("whole", "rb") as whole, open(f"data/{name}", "wb") as file:
            file.write(whole.read(size))
        done = self.ftr(*words, "--no-pager", "-d", "data", errors="replace")
        os.rename("whole", f"data/{name}")
        self.expect(not FALSE.search(done.stderr), f"{name} cut at {size}: {done.stderr}")
        return done

    @staticmethod
    def places(content, nr=8):
        """Some within lines."""
        step = max(len(content) // nr, 1)
        return [at for at in [*range(1, len(content), step), len(content) - 1] if content[at - 1:at] != b"\n"]

    def test_lines(self):
        """A part of a line is not believed, and spoken of once."""
        self.record("data", "--auto-args", "--srcline", "./prog")
        for pattern in ("info", "task.txt", "sid-*.map", "prog.sym", "prog.dbg"):
            name = os.path.basename(glob.glob(f"data/{pattern}")[0])
            with open(f"data/{name}", "rb") as file:
                content = file.read()
            for size in self.places(content):
                if name == "info" and size <= HEADER_BYTES:
                    continue
                if name == "prog.sym" and content.find(b"\n") > size:
                    continue
                done = self.cut(name, size, "replay")
                self.assertEqual(done.returncode, 0)
                line = content[HEADER_BYTES if name == "info" else 0:size].count(b"\n") + 1
                self.assertEqual(done.stderr.count(f"{name}:{line}: the file ends inside this line"),
                                 0 if name == "prog.dbg" and "main" not in done.stdout else 1, (size, done.stderr))
                self.assertLess(done.stderr.count("unknown layout"), 2)

    def test_names(self):
        """No function gets the name of the one before what was cut off."""
        self.record("data", "--no-libcall", "./prog")
        true = set(re.findall(r"\w+(?=\(\) [{;]|\(\);)", self.ftr("replay", "-d", "data", "-f", "none").stdout))
        with open("data/prog.sym", "rb") as file:
            content = file.read()
        counts = self.ftr("report", "-d", "data", "-f", "call", "-s", "func").stdout
        for size in range(content.index(b"T main") - 60, content.index(b"T main") + 8):
            if content[size - 1:size] == b"\n":
                continue
            done = self.cut("prog.sym", size, "report", "-f", "call", "-s", "func")
            for line in done.stdout.splitlines()[2:]:
                if not re.search(r"[0-9a-f]{6}", line):
                    self.assertIn(line, counts, size)
        self.assertIn("main", true)

    def test_header(self):
        self.record("data", "./prog")
        for size in range(0, HEADER_BYTES, 3):
            done = self.cut("info", size, "report")
            self.assertEqual(done.returncode, 1)
            self.assertIn("info: the file ends inside its header", done.stderr)

    def test_records(self):
        """Each cut is told once, and what was before it is there."""
        self.record("data", "--auto-args", "--probe=memory", "./prog")
        for pattern in ("*.dat", "*.event", "perf-cpu*.dat"):
            name = os.path.basename(max(glob.glob(f"data/{pattern}"), key=os.path.getsize))
            size, shown = os.path.getsize(f"data/{name}"), 0
            for at in range(max(size - 150, 0), size):
                done = self.cut(name, at, "dump")
                self.assertEqual(done.returncode, 0)
                self.assertLess(done.stderr.count("\n"), 2)
                if at % 8 != 0:
                    self.assertIn(f"{name}+0x", done.stderr)
                    self.assertIn("the file ends inside", done.stderr)
                now = done.stdout.count("\n")
                self.assertGreaterEqual(now, shown, (name, at))
                shown = now

    def test_system_calls(self):
        self.record("data", "--syscalls", "./forks")
        with open("data/syscalls.etrace", "rb") as file:
            content = file.read()
        for size in self.places(content, 40):
            done = self.cut("syscalls.etrace", size, "replay")
            self.assertEqual((done.returncode, done.stderr.count("\n")), (0, 1), done.stderr)
            self.assertIn(f"syscalls.etrace:{content[:size].count(bytes([10])) + 1}: the file ends inside this line", done.stderr)

    def test_files(self):
        """Of formats that are one file."""
        self.record("data", "--auto-args", "./prog")
        for suffix, where in (("fxt", "truncated in the last record"), ("swap", "truncated in the last message")):
            self.assertEqual(self.ftr("convert", "data", f"whole.{suffix}").returncode, 0)
            with open(f"whole.{suffix}", "rb") as file:
                content = file.read()
            for size in [*range(len(content) // 4, len(content), len(content) // 30), *range(len(content) - 60, len(content), 3)]:
                with open(f"cut.{suffix}", "wb") as file:
                    file.write(content[:size])
                done = self.ftr("replay", "--no-pager", "-d", f"cut.{suffix}", errors="replace")
                self.expect(not FALSE.search(done.stderr), f"{suffix} cut at {size}: {done.stderr}")
                self.assertEqual((done.returncode, done.stderr.count("\n")), (0, done.stderr.count(where)))
                if suffix == "fxt" and size % 8 != 0:
                    self.assertEqual(done.stderr.count(where), 1, (size, done.stderr))

    def test_no_room(self):
        """A limit of file sizes is said, whatever writes; SIGXFSZ would say nothing."""
        self.record("data", "./prog")
        for words in (["dump", "--fxt", "-o", "out"], ["dump", "--chrome", "-o", "out"], ["dump", "-o", "out"],
                      ["dump", "--format=csv", "-o", "out"], ["replay", "--format=html", "-o", "out"],
                      ["convert", "data", "out.data"]):
            done = self.run_program("sh", "-c", 'ulimit -f 1; exec "$@"', "sh", FTR, *words, *([] if "data" in words else ["-d", "data"]))
            self.assertEqual((done.returncode, done.stderr.count("File too large; raise ulimit -f")), (1, 1), (words, done.stderr))
        self.assertIn("or not all of one", self.ftr("replay", "-d", "out.data").stderr)

    def kill(self, *words):
        """The recorder, in the middle of it."""
        recorder = self.start_program(FTR, "record", "--no-event", *words, "-d", "data", "./forever")
        end = time.monotonic() + TIMEOUT
        while sum(os.path.getsize(name) for name in glob.glob("data/[0-9]*")) < 1000:
            self.assertLess(time.monotonic(), end)
            time.sleep(0.02)
        recorder.send_signal(signal.SIGKILL)
        recorder.wait()

    def test_killed(self):
        """Data without an end say so, as long as nobody writes them."""
        self.kill("--max-size=200M")
        done = self.ftr("report", "-d", "data")
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        self.assertIn("the recording has no end", done.stderr)
        self.assertIn("leaf", done.stdout)
        self.assertNotIn("elapsed", self.ftr("info", "-d", "data").stdout)
        self.assertEqual(self.ftr("convert", "data", "again.data").returncode, 0)
        self.assertEqual(self.ftr("report", "-d", "again.data").stderr, "")
        shutil.rmtree("data")
        self.record("data", "./prog")
        self.assertEqual(self.ftr("report", "-d", "data").stderr, "")
        self.assertIn("elapsed", self.ftr("info", "-d", "data").stdout)

    def test_file_without_task(self):
        """A recorder was killed between a task's file and the line that introduces the task."""
        self.record("data", "./prog")
        shown = self.ftr("replay", "-d", "data").stdout
        for name, content in (("data/5.dat", b""), ("data/6.dat.pack", b""), ("data/7.dat.pack", b"8 bytes.")):
            with open(name, "wb") as file:
                file.write(content)
        done = self.ftr("replay", "-d", "data")
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, shown, ""))
        with open("data/5.dat", "wb") as file:
            file.write(bytes(16))
        self.assertIn("5.dat: task is in neither", self.ftr("replay", "-d", "data").stderr)

    def test_maps(self):
        """Those that a full disk did not take are spoken of once."""
        build("exec.c", "execs", "-pg", "-O1")
        self.record("data", "./execs")
        maps = glob.glob("data/sid-*.map")
        self.assertGreater(len(maps), 1)
        for name in maps:
            os.unlink(name)
        done = self.ftr("report", "-d", "data")
        self.assertEqual(done.stderr.count("\n"), 2, done.stderr)
        self.assertIn(f"{len(maps) - 1} more sessions have no map", done.stderr)

    def test_packed(self):
        """One sentence stands for all files that have no index."""
        self.record("data", "--pack", "./forks")
        for name in glob.glob("data/*.pack"):
            os.truncate(name, os.path.getsize(name) - 1)
        nr = len(glob.glob("data/*.pack"))
        done = self.ftr("report", "-d", "data")
        self.assertEqual(done.stderr.count("\n"), 2, done.stderr)
        self.assertIn("has no index", done.stderr)
        self.assertIn(f"{nr - 1} more packed files have no index", done.stderr)


if __name__ == "__main__":
    harness.main()
