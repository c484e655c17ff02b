# SPDX-License-Identifier: MIT
"""ftr pack and unpack, record --pack, and every command over packed data."""
import difflib
import filecmp
import glob
import itertools
import os
import random
import resource
import shutil
import signal
import struct
import subprocess
import time

from recording import build, harness

FTR = harness.FTR
TIMEOUT = harness.TIMEOUT
BLOCK_BYTES = 256 * 1024
HEAD_BYTES = 48     # of a block


def content(data):
    """The files, but for what readers keep."""
    found = {}
    for name in os.listdir(data):
        if name.endswith(".index"):
            continue
        with open(os.path.join(data, name), "rb") as file:
            found[name] = file.read()
    return found


def difference(one, other):
    """Of (status, stdout, stderr), as far as it is short."""
    lines = [[f"status {status}", *(out + err).decode(errors="replace").splitlines()] for status, out, err in (one, other)]
    return "\n".join(itertools.islice(difflib.unified_diff(*lines, lineterm="", n=1), 40))


class PackTest(harness.Test):
    has_damaged_data = True     # uftrace is not to read packed data

    @classmethod
    def set_up_class(cls):
        build("threads.c", "threads", "-pg", "-O1")
        build("fork_long.c", "forks", "-pg", "-O1")
        build("exec.c", "execs", "-pg", "-O1")
        build("demo.c", "demo", "-pg", "-O1", "-lm")

    def run_well(self, *words, **options):
        done = self.ftr(*words, **options)
        self.assertEqual(done.returncode, 0, (words, done.stderr))
        return done

    def shown(self, data, *words):
        """What a command prints of the data, under one name for all."""
        os.symlink(data, "shown")
        done = self.ftr(words[0], "--no-pager", "-d", "shown", *words[1:], text=False)
        os.unlink("shown")
        return done.returncode, done.stdout, done.stderr

    COMMANDS = (["replay"], ["replay", "-f", "time,delta,tid,addr"], ["report"], ["report", "-f", "all"], ["graph"],
                ["info"], ["dump"], ["dump", "--format=chrome"], ["dump", "--format=fxt"], ["dump", "--flame-graph"],
                ["report", "-r", "~1ms"], ["replay", "-r", "100us~", "-D", "3"], ["graph", "leaf"], ["report", "--task"],
                ["slowest", "main"], ["replay", "-t", "10us"], ["report", "--json"])

    def same_shown(self, one, other):
        for words in self.COMMANDS:
            first, second = self.shown(one, *words), self.shown(other, *words)
            self.expect(first[0] >= 0 and b"runtime error" not in first[2], f"{words} of {one} fails: {first[0]} {first[2]}")
            self.expect(first == second, f"{words} of {other} prints something else: {difference(first, second)}")

    def pack(self, data):
        done = self.run_well("pack", data)
        self.assertRegex(done.stderr, rf"^ftr: {data}: \d+ bytes of records became \d+\n$")

    def unpack(self, data):
        self.run_well("unpack", data)

    def there_and_back(self, data):
        """Packed it is shown as before; unpacked it is the same, byte for byte."""
        shutil.copytree(data, "packed")
        self.pack("packed")
        self.assertTrue(glob.glob("packed/*.pack"))
        self.assertEqual(glob.glob("packed/[0-9]*.dat") + glob.glob("packed/*.new"), [])
        self.same_shown(data, "packed")
        self.unpack("packed")
        self.assertEqual(content(data), content("packed"))
        shutil.rmtree("packed")

    def test_recordings(self):
        for words in harness.few((["./threads"], ["./forks"], ["./execs"], ["-A", ".", "-R", ".", "./demo"],
                                  ["--probe=memory", "./threads"], ["-e", "./threads"]), short=2):
            with self.subTest(words=words):
                self.run_well("record", "-d", "d", *words)
                self.there_and_back("d")

    def made(self, name, text=None, calls=20000, big=False):
        """A directory with one task and many blocks: calls, or whatever @text is."""
        self.run_well("record", "--no-event", "-d", name, "./demo")
        path = glob.glob(f"{name}/[0-9]*.dat")[0]
        if text is None:
            with open(path, "rb") as file:
                at, word = struct.unpack("<QQ", file.read(16))
            word &= ~0xffc7
            text = b"".join(struct.pack("<QQQQ", at + 100 * i, word | 0x28, at + 100 * i + 60, word | 0x29) for i in range(calls))
        with open(path, "wb") as file:
            file.write(text)
        return path

    def test_any_bytes(self):
        """Cut off, damaged, foreign: what is there comes back, and is shown as before."""
        path = self.made("d")
        with open(path, "rb") as file:
            text = file.read()
        noise = random.Random(1)
        damaged = bytearray(text)
        for _ in range(40):
            damaged[noise.randrange(len(damaged))] = noise.randrange(256)
        holes = text[:BLOCK_BYTES - 40] + bytes(70000) + text[BLOCK_BYTES - 40:]
        cases = (("cut", text[:-9]), ("damaged", bytes(damaged)), ("one byte", b"x"), ("nothing", b""), ("shifted", b"x" + text),
                 ("holes", holes), ("text", text.hex().encode() * 2), ("payloads", self.payloads(text)))
        for name, made in harness.few(cases, short=4):
            with self.subTest(name=name):
                with open(path, "wb") as file:
                    file.write(made)
                shutil.copytree("d", "packed")
                self.run_well("pack", "packed")
                self.same_shown("d", "packed")
                self.run_well("unpack", "packed")
                self.assertEqual(content("d"), content("packed"))
                shutil.rmtree("packed")

    @staticmethod
    def payloads(text):
        """Events with long payloads, over the ends of blocks."""
        at, = struct.unpack("<Q", text[:8])
        made, noise = b"", random.Random(2)
        for i in range(60):
            bytes_nr = noise.randrange(65000)
            made += struct.pack("<QQH", at + i, 4711 << 16 | 0x28 | 4 | 3, bytes_nr) + noise.randbytes(bytes_nr)
            made += bytes(-len(made) % 8) + text[:16]
        return made

    def test_incompressible(self):
        """What would be larger stays as it is."""
        self.made("d", random.Random(3).randbytes(300000))
        done = self.run_well("pack", "-v", "d")
        self.assertIn("nothing to pack", done.stderr)
        self.assertIn("1 files stay as they are", done.stderr)
        self.assertEqual(glob.glob("d/*.pack") + glob.glob("d/*.new"), [])

    def test_small(self):
        self.made("d", calls=100000)
        self.pack("d")
        self.assertLess(os.path.getsize(glob.glob("d/*.pack")[0]), 5 * 100000)

    def test_damage(self):
        """A damaged block costs that block, and unpack gives nothing back that is not the original."""
        path = self.made("d", calls=5 * BLOCK_BYTES // 32)
        name = os.path.basename(path) + ".pack"
        self.pack("d")
        whole = content("d")[name]
        blocks, at = [], 8
        while whole[at:at + 4] == b"blk:":
            bytes_nr, packed_nr = struct.unpack("<II", whole[at + 32:at + 40])
            blocks.append((at, HEAD_BYTES + packed_nr + -packed_nr % 8))
            self.assertEqual(bytes_nr, BLOCK_BYTES)
            at += blocks[-1][1]
        self.assertEqual(len(blocks), 5)
        calls = BLOCK_BYTES // 32

        def calls_of(made):
            with open(f"d/{name}", "wb") as file:
                file.write(made)
            done = self.ftr("report", "--no-pager", "-d", "d", "-f", "call", "--json")
            other = self.ftr("replay", "--no-pager", "-d", "d")
            self.assertEqual((done.returncode, other.returncode), (0, 0))
            before = content("d")
            refused = self.ftr("unpack", "d")
            self.assertEqual(before, content("d")) if refused.returncode else self.pack("d")
            shown = sum(line.endswith(";") for line in other.stdout.splitlines())
            return shown, done.stderr, refused

        def changed(at, nr=1):
            return whole[:at] + bytes(byte ^ 0xff for byte in whole[at:at + nr]) + whole[at + nr:]

        start = blocks[2][0]
        index = blocks[4][0] + blocks[4][1]
        for what, made, lost, text in (
                ("nothing", whole, 0, ""), ("block", changed(start + HEAD_BYTES + 20), 1, "block 3 of 5 is damaged: 262144 bytes"),
                ("head and index", changed(start + 20)[:index], 1, "bytes are in no block; the 4 blocks"),
                ("index", changed(index + 30), 0, "in no block; the 5 blocks"),
                ("cut behind a block", whole[:blocks[3][0]], 2, "has no index"),
                ("cut in a block", whole[:blocks[3][0] + 90], 2, "has no index, and 90 bytes at its end are no whole block"),
                ("cut in a head", whole[:blocks[3][0] + 3], 2, "has no index, and 3 bytes at its end"),
                ("cut in the index", whole[:index + 30], 0, "has no index, and 30 bytes at its end"),
                ("first bytes", changed(0, 8), 0, "")):
            with self.subTest(what=what):
                shown, errors, refused = calls_of(made)
                self.assertEqual(shown, (5 - lost) * calls)
                self.assertIn(text, errors)
                self.assertEqual(errors == "", text == "")
                if what in ("block", "head and index", "index"):
                    self.assertEqual(refused.returncode, 1)
                    self.assertIn("damaged", refused.stderr)
                else:
                    self.assertEqual(refused.returncode, 0)
                    self.assertEqual("1 of the files had no index" in refused.stderr, what.startswith("cut"))
        for made, text in ((whole[:5], "has no index"), (b"", "has no index"),
                           (b"no packed file, but something else that is longer than its head", "not a packed file")):
            with open(f"d/{name}", "wb") as file:
                file.write(made)
            self.assertIn(text, self.ftr("report", "--no-pager", "-d", "d").stderr)

    def test_no_room(self):
        """Neither way anything changes when there is no room; nothing is left behind."""
        path = self.made("d", calls=200000)
        limit = 3000

        def limit_files():
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
        for words in (["pack", "d"], ["unpack", "d"]):
            before = content("d")
            done = self.ftr(*words, preexec_fn=limit_files)
            self.assertEqual(done.returncode, 1)
            self.assertRegex(done.stderr, rf"{os.path.basename(path)}.*File too large; nothing was changed\n$")
            self.assertEqual(content("d"), before)
            self.pack("d") if words[0] == "pack" else None
            limit = 100000

    def test_interrupted(self):
        """Killed at any system call that changes the directory: all data are there, and the next run ends the work."""
        if shutil.which("strace") is None:
            self.skipTest("no strace")
        self.run_well("record", "-d", "plain", "./forks")
        shutil.copytree("plain", "packed")
        self.pack("packed")
        shown = self.shown("plain", "report")
        for words, start in (("pack", "plain"), ("unpack", "packed")):
            for call in ("renameat", "unlinkat", "fsync"):
                for nr in range(1, 6):
                    shutil.copytree(start, "d")
                    done = self.run_program("strace", "-o", "/dev/null", "-e", f"inject={call}:signal=KILL:when={nr}", FTR, words, "d")
                    if "PTRACE" in done.stderr or "ptrace" in done.stderr:
                        self.skipTest("no ptrace here")
                    self.expect(self.shown("d", "report") == shown, f"{words} killed at {call} {nr}: report differs")
                    self.run_well(words, "d")
                    self.run_well("unpack", "d")
                    self.expect(content("d") == content("plain"), f"{words} killed at {call} {nr}: files differ")
                    shutil.rmtree("d")
                    if done.returncode == 0:
                        break

    def test_signal(self):
        """Ctrl-C leaves the directory as it was."""
        self.made("d", calls=400000)
        before = content("d")
        child = self.start_program(FTR, "pack", "d")
        self.wait_for(lambda: glob.glob("d/*.new") or child.poll() is not None)
        child.send_signal(signal.SIGINT)
        error = child.communicate(timeout=TIMEOUT)[1]
        if child.returncode != 0:       # else it was done already
            self.assertIn(child.returncode, (130, -signal.SIGINT))
            self.assertIn("nothing was changed", error)
            self.assertEqual(content("d"), before)

    def test_progress(self):
        """On a terminal, once it takes more than a second."""
        path = self.made("data", calls=400000)
        with open(path, "r+b") as file:
            calls = file.read()
            file.write(5 * calls)
        for command, doing in (("pack", "packing"), ("unpack", "unpacking")):
            terminal, other = os.openpty()
            self.addCleanup(os.close, terminal)
            child = self.start_program(FTR, command, "data", stderr=other, env=dict(os.environ, TERM="xterm"))
            os.close(other)
            self.wait_for(lambda: child.poll() is not None or glob.glob("data/*.new"))
            child.send_signal(signal.SIGSTOP)
            time.sleep(1.2)
            is_stopped = harness.is_alive(child.pid)
            child.send_signal(signal.SIGCONT)
            self.assertEqual(child.wait(TIMEOUT), 0)
            text = self.terminal_text(terminal)
            if not is_stopped:
                self.skipTest("it was done before it could be stopped")
            self.assertRegex(text, rf"\r\x1b\[K{doing}: \d+%, [\d.]+ of [\d.]+ MB, \d+ MB/s, \d+ s left")
            self.assertRegex(text, r"\r\x1b\[Kftr: data: \d+ bytes of records became \d+\r\n$")

    @staticmethod
    def terminal_text(terminal):
        """All that was written there: the kernel gives it in parts, and EIO when nobody has the other end any more."""
        text = b""
        while True:
            try:
                part = os.read(terminal, 65536)
            except OSError:
                part = b""
            text += part
            if part == b"":
                return text.decode()

    def test_refused(self):
        os.mkdir("empty")
        for words in (["pack", "empty"], ["unpack", "empty"], ["pack", "nowhere"], ["pack", "demo"]):
            done = self.ftr(*words)
            self.assertEqual((done.returncode, done.stdout), (1, ""), words)
            self.assertEqual(len(done.stderr.splitlines()), 1)
        for words in (["--summary"], ["--host=localhost"]):
            done = self.ftr("record", "--pack", *words, "./demo")
            self.assertEqual(done.returncode, 2)
            self.assertIn("--pack", done.stderr)

    def test_uftrace(self):
        if shutil.which("uftrace") is None:
            self.skipTest("no uftrace")
        self.run_well("record", "-d", "d", "./threads")
        self.pack("d")
        done = self.run_program("uftrace", "report", "--no-pager", "-d", "d")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("unsupported file version: 260", done.stderr)
        self.unpack("d")
        self.assertEqual(self.run_program("uftrace", "report", "--no-pager", "-d", "d").returncode, 0)

    # While recording.

    def calls(self, data):
        done = self.run_well("report", "--no-pager", "-d", data, "-f", "call", "-s", "func")
        self.assertEqual(done.stderr, "")
        rows = [line.split() for line in done.stdout.splitlines()[2:]]
        return {row[1]: int(row[0]) for row in rows if not row[1].startswith("linux:")}

    def test_record(self):
        """The same calls as without, of threads, forks and execs; unpacked, uftrace's own format."""
        for words in harness.few((["./threads"], ["./forks"], ["./execs"], ["--probe=memory", "./threads"],
                                  ["--overwrite=64M", "./threads"], ["--num-thread=3", "./threads"]), short=2):
            with self.subTest(words=words):
                self.run_well("record", "--no-event", "-d", "plain", *words)
                self.run_well("record", "--no-event", "--pack", "-d", "packed", *words)
                self.assertEqual(glob.glob("packed/[0-9]*.dat") + glob.glob("packed/*.event"), [])
                if "--probe=memory" not in words:
                    self.assertEqual(self.calls("plain"), self.calls("packed"))
                shutil.copytree("packed", "unpacked")
                self.unpack("unpacked")
                self.same_shown("unpacked", "packed")
                shutil.rmtree("unpacked")

    def test_exact(self):
        """Under the counter clock the very same bytes."""
        exact = ("record", "--no-event", "--clock=counter", "-b", "16M", "--no-randomize-addr")
        self.run_well(*exact, "-d", "plain", "-A", ".", "./demo")
        self.run_well(*exact, "--pack", "-d", "packed", "-A", ".", "./demo")
        self.unpack("packed")
        one, other = ([value for name, value in content(data).items() if name.endswith(".dat") and name[0].isdigit()]
                      for data in ("plain", "packed"))
        self.assertEqual(one, other)

    def test_record_disk_full(self):
        def limit():
            resource.setrlimit(resource.RLIMIT_FSIZE, (100000, 100000))
        build("victim.c", "victim", "-pg", "-O0")
        done = self.ftr("record", "--no-libcall", "--pack", "-d", "d", "./victim", "work", "3000000", preexec_fn=limit)
        self.assertEqual(done.returncode, 0)
        self.assertIn("LOST", done.stderr)
        self.assertIn("File too large", done.stderr)
        self.assertEqual(self.ftr("report", "--no-pager", "-d", "d").returncode, 0)

    def test_max_size(self):
        build("victim.c", "victim", "-pg", "-O0")
        done = self.ftr("record", "--no-event", "--no-libcall", "--pack", "--max-size=100K", "-d", "d", "./victim", "work", "3000000")
        self.assertRegex(done.stderr, "recording ends here: .*--max-size")
        self.assertLess(sum(entry.stat().st_size for entry in os.scandir("d")), 1_000_000)
        self.assertGreater(self.calls("d")["leaf"], 10000)

    def test_recorder_killed(self):
        """What was packed until then can be read."""
        build("victim.c", "victim", "-pg", "-O0")
        child = self.start_program(FTR, "record", "--no-libcall", "--pack", "-d", "d", "./victim", "work", "100000000",
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.wait_for(lambda: sum(os.path.getsize(path) for path in glob.glob("d/[0-9]*.pack")) > 5000)
        child.kill()
        child.wait()
        harness.kill_descendants()
        done = self.run_well("report", "--no-pager", "-d", "d", "-f", "call")
        self.assertRegex(done.stdout, r"\d{4,}  leaf")
        self.assertIn("has no index", done.stderr)
        shown = self.shown("d", "replay")[1]
        self.unpack("d")
        self.assertEqual(self.shown("d", "replay")[1], shown)


if __name__ == "__main__":
    harness.main()
