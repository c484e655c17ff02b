# SPDX-License-Identifier: MIT
"""Traces through pipes: what a file shows, a pipe, a FIFO and /dev/stdin show, too."""
import gzip
import lzma
import os
import re
import shutil
import stat
import struct
import subprocess
import threading

from recording import ETRACE, FTR, SRCDIR, TIMEOUT, harness

DATA = os.path.join(SRCDIR, "tests/data/values")
HOLE_BYTES = 256 << 20
PLAIN = ["--no-pager", "--color=no"]


def run(*words, data=None, **options):
    return subprocess.run([FTR, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, input=data,
                          timeout=TIMEOUT, check=False, **options)


def read(path):
    with open(path, "rb") as file:
        return file.read()


def file_formats():
    """Names of the formats that are written and are files."""
    listed = run("--version").stdout.decode()
    names = re.search(r"^ *formats, out +(.*)$", listed, re.M)[1].split()
    done = {name: run("convert", "--to=" + name, DATA, "-") for name in names}
    return [name for name in names if b"writes a directory" not in done[name].stderr]


def measured(*words):
    """Status, errors and resident KiB of a command."""
    with subprocess.Popen([FTR, *words], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as running:
        errors = running.stderr.read().decode()
        _, status, usage = os.wait4(running.pid, 0)
        running.returncode = os.waitstatus_to_exitcode(status)
    return running.returncode, errors, usage.ru_maxrss


def header(record_type, words):
    return record_type | words << 4


def long_trace(calls):
    """FXT: calls of one function, one after the other, in pieces of a MiB."""
    def text(index, content):
        padded = content + bytes(-len(content) % 8)
        return struct.pack("<Q", header(2, 1 + len(padded) // 8) | index << 16 | len(content) << 32) + padded
    yield (struct.pack("<QQQ", 0x0016547846040010, header(1, 2), 10**9) + text(1, b"module") +
           text(2, b"function") + struct.pack("<QQQ", header(3, 3) | 1 << 16, 7, 7))
    event = header(4, 3) | 4 << 16 | 1 << 24 | 1 << 32 | 2 << 48
    for first in range(0, calls, 40000):
        yield b"".join(struct.pack("<QQQ", event, 10 * nr, 10 * nr + 5)
                       for nr in range(first, min(calls, first + 40000)))


class StreamsTest(harness.Test):
    has_damaged_data = True

    @classmethod
    def set_up_class(cls):
        cls.fxt = os.path.join(cls.shared, "a.fxt")
        cls.etrace = os.path.join(cls.shared, "a.etrace")
        assert run("convert", DATA, cls.fxt).returncode == 0
        with open(cls.etrace, "wb") as file:
            file.write(ETRACE.encode())

    def shown(self, *words, data=None, path="-", **options):
        done = run(*words, *PLAIN, data=data, **options)
        self.assertEqual((done.returncode, done.stderr), (0, b""), words)
        self.assertNotEqual(done.stdout, b"", words)
        return done.stdout if path == "-" else done.stdout.replace(path.encode(), b"TRACE")

    def refused(self, *words, data=b"", **options):
        done = run(*words, data=data, **options)
        self.assertEqual((done.returncode, done.stdout), (1, b""), words)
        self.assertEqual(done.stderr.count(b"\n"), 1, done.stderr)
        return done.stderr.decode()

    def through_fifo(self, command, content):
        path = os.path.join(self.dir, "fifo")
        os.mkfifo(path)

        def feed():
            with open(path, "wb") as file:
                file.write(content)
        writer = threading.Thread(target=feed)
        writer.start()
        try:
            return self.shown(command, path, path=path)
        finally:
            writer.join()
            os.unlink(path)

    def test_every_command_and_format(self):
        for path in (self.fxt, self.etrace):
            content = read(path)
            # graph is headed by the last part of the path where the program has no name
            for command in ("replay", "report", "info", "dump") + ("graph", "slowest") * (path == self.fxt):
                with self.subTest(command=command, trace=path):
                    expected = self.shown(command, path, path=path)
                    same = [self.shown(command, "-", data=content),
                            self.shown(command, "-d", "-", data=content),
                            self.shown(command, "/dev/stdin", data=content, path="/dev/stdin"),
                            self.through_fifo(command, content)]
                    for text in same:
                        self.assertEqual(text.replace(b"-", b"TRACE"), expected.replace(b"-", b"TRACE"))

    def test_standard_input_may_be_a_file_or_a_socket(self):
        expected = self.shown("report", self.fxt)
        with open(self.fxt, "rb") as file:
            self.assertEqual(self.shown("report", "-", stdin=file), expected)
        script = f"import socket,subprocess,sys; a, b = socket.socketpair(); " \
                 f"p = subprocess.Popen({[FTR, 'report', '/dev/stdin', *PLAIN]!r}, stdin=b); b.close(); " \
                 f"a.sendall(open({self.fxt!r}, 'rb').read()); a.close(); sys.exit(p.wait())"
        done = subprocess.run(["python3", "-c", script], stdout=subprocess.PIPE, timeout=TIMEOUT, check=True)
        self.assertEqual(done.stdout, expected)

    def test_an_export_is_read_as_it_is_written(self):
        with subprocess.Popen([FTR, "dump", "--fxt", DATA], stdout=subprocess.PIPE) as writing:
            done = subprocess.run([FTR, "report", "-", *PLAIN], stdin=writing.stdout, timeout=TIMEOUT,
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=True)
            self.assertEqual(writing.wait(), 0)
        self.assertEqual((done.stdout, done.stderr), (self.shown("report", self.fxt), b""))

    def test_convert(self):
        made = os.path.join(self.dir, "made.fxt")
        self.assertEqual(run("convert", "-", made, data=read(self.fxt)).returncode, 0)
        self.assertEqual(read(made), read(self.fxt))

    def test_differences(self):
        self.assertEqual(self.shown("report", self.fxt, "--diff=-", data=read(self.fxt), path=": -"),
                         self.shown("report", self.fxt, "--diff=" + self.fxt, path="|")
                         .replace(b"diff: " + self.fxt.encode(), b"diffTRACE"))

    def test_the_input_is_not_written_over(self):
        before = read(self.fxt)
        with open(self.fxt, "rb") as file:
            done = run("convert", "-", self.fxt, stdin=file)
        self.assertEqual(done.returncode, 1)
        self.assertIn(b"part of the trace being read", done.stderr)
        self.assertEqual(read(self.fxt), before)

    def test_every_piece(self):
        """A writer that stops between any two bytes of the head, and now and then later."""
        for content in (read(self.fxt), ETRACE.encode()):
            expected = self.shown("report", "-", data=content)
            with subprocess.Popen([FTR, "report", "-", *PLAIN], stdin=subprocess.PIPE,
                                  stdout=subprocess.PIPE, bufsize=0) as running:
                for pos in range(min(64, len(content))):
                    running.stdin.write(content[pos:pos + 1])
                for pos in range(64, len(content), 111):
                    running.stdin.write(content[pos:pos + 111])
                running.stdin.close()
                self.assertEqual(running.stdout.read(), expected)
                self.assertEqual(running.wait(), 0)

    def test_closed_in_the_middle(self):
        done = run("report", "-", *PLAIN, data=read(self.fxt)[:-12])
        self.assertEqual(done.returncode, 0)
        self.assertRegex(done.stderr.decode(), r"^ftr: warning: standard input\+0x[0-9a-f]+: truncated in the last record; ")

    def test_what_is_no_trace(self):
        self.assertIn("compressed by xz; decompress it first (... | xz -d | ftr ...)",
                      self.refused("report", "-", data=lzma.compress(read(self.fxt))))
        self.assertIn("standard input: empty; ", self.refused("report", "-", data=b""))
        self.assertIn("standard input: not a trace", self.refused("report", "-", data=b"\0" * 100))
        with open("/dev/zero", "rb") as zeros:		# an endless one is not read to its end
            done = run("report", "-", stdin=zeros)
        self.assertEqual(done.returncode, 1)
        self.assertIn(b"standard input: not a trace", done.stderr)

    def test_gzip(self):
        for path in (self.fxt, self.etrace):
            content, packed = read(path), os.path.join(self.dir, "packed.gz")
            half = len(content) // 2
            members = gzip.compress(content[:half]) + gzip.compress(content[half:])
            for data in (gzip.compress(content), members):
                with open(packed, "wb") as file:
                    file.write(data)
                for command in ("replay", "report", "dump"):
                    expected = self.shown(command, path, path=path)
                    self.assertEqual(self.shown(command, packed, path=packed), expected)
                    self.assertEqual(self.shown(command, "-", data=data).replace(b"-", b"TRACE"),
                                     expected.replace(b"-", b"TRACE"))
        packed = gzip.compress(read(self.fxt))
        done = run("report", "-", *PLAIN, data=packed[:-20])
        self.assertEqual(done.returncode, 0)
        self.assertRegex(done.stderr.decode(), r"read failed: .*; the rest of the trace is missing")
        self.assertIn("not a trace", self.refused("report", "-", data=gzip.compress(b"no trace" * 99)))

    def test_no_room_for_a_copy(self):
        error = self.refused("report", "-", data=read(self.fxt), env=dict(os.environ, TMPDIR="/nonexistent"))
        self.assertRegex(error, "standard input: /nonexistent: .*TMPDIR")

    def test_memory(self):
        with subprocess.Popen([FTR, "report", "-", *PLAIN], stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE) as running:
            for piece in long_trace(4000000):
                running.stdin.write(piece)
            running.stdin.close()
            shown = running.stdout.read().decode()
            _, status, usage = os.wait4(running.pid, 0)
            running.returncode = os.waitstatus_to_exitcode(status)
        self.assertEqual(running.returncode, 0)
        self.assertRegex(shown, r"\b4000000  function")
        if os.environ.get("ASAN_OPTIONS") is None:
            self.assertLess(usage.ru_maxrss, 40 << 10)      # KiB, of a trace of 92 MiB

    def test_calls_are_shown_while_the_pipe_is_open(self):
        # task 1 forks task 2, which nothing named before
        pieces = [(b"4194305,0,1,5!Pipe|fd1=3,fd2=4,flags=0\n", b"[      1] | sys_pipe2(fd1=3"),
                  (b"4194305,0,1,7!SchedFork|pid=8388610\n", b"[      1] | sys_fork() = 2"),
                  (b"8388610,0,1,9!Open|fnamesize=2,forigsize=5,flags=0,mode=0,fd=3\n"
                   b"8388610,0,1,10!FN|/a\n8388610,0,1,11!FO|b\n8388610,0,1,12!Cont|two\n8388610,0,1,13!Cont_end|\n",
                   b"[      2] | sys_openat("),
                  (b"4194305,0,1,14!Close|fd=3\n", b"[      1] | sys_close(fd=3)")]
        with subprocess.Popen([FTR, "replay", "--follow", "-", *PLAIN], stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE, bufsize=0) as running:
            for written, shown in pieces:
                running.stdin.write(written)
                line = running.stdout.readline()
                while line.startswith(b"#") or not line.strip():
                    line = running.stdout.readline()
                self.assertIn(shown, line)
            running.stdin.close()
            self.assertEqual((running.stdout.read(), running.wait()), (b"", 0))

    def test_follow_refuses(self):
        self.assertIn("--follow: the whole trace has to be read before it can be shown",
                      self.refused("replay", "--follow", "-", data=read(self.fxt)))
        self.assertIn("--follow: the whole trace has to be read", self.refused("replay", "--follow", DATA))
        done = run("replay", "--follow", "-t", "1us", "-", data=ETRACE.encode())
        self.assertEqual((done.returncode, done.stdout), (2, b""))
        self.assertIn(b"--follow excludes --time-filter", done.stderr)

    def test_memory_of_a_growing_trace(self):
        def text(first):
            return b"".join(b"4194305,0,%d,5!Open|fnamesize=40,forigsize=40,flags=0,mode=0,fd=3\n"
                            b"4194305,0,%d,6!FN|%s\n4194305,0,%d,7!FO|%s\n" % (at, at, b"a" * 40, at, b"b" * 40)
                            for at in range(first, first + 1000))
        for words in (["report"], ["replay", "--follow"]):
            with self.subTest(words=words), \
                 open(os.path.join(self.dir, "shown"), "wb") as out, \
                 subprocess.Popen([FTR, *words, "-", *PLAIN], stdin=subprocess.PIPE, stdout=out) as running:
                for first in range(1, 100001, 1000):
                    running.stdin.write(text(first))
                # Of all but what the pipe holds.  What a child has in the end is also what Python had when it forked it.
                peak_kib = int(re.search(rb"VmHWM:\s*(\d+) kB", read(f"/proc/{running.pid}/status"))[1])
                running.stdin.close()
                self.assertEqual(running.wait(), 0)
                shown = read(out.name)
                self.assertEqual(shown.count(b"sys_openat("), 100000 if words != ["report"] else 0)
                self.assertEqual(len(re.findall(rb"\b100000  sys_openat\b", shown)), words == ["report"])
                if os.environ.get("ASAN_OPTIONS") is None:
                    self.assertLess(peak_kib, 12 << 10)     # 25 MiB when all is kept

    def put_in_place_of_each_file(self, kind, put):
        """Yield, for each file of a data directory in turn, the directory with something else in its place."""
        for name in sorted(os.listdir(DATA)):
            directory = os.path.join(self.dir, f"{kind}.{name}")
            shutil.copytree(DATA, directory)
            os.chmod(directory, 0o755)
            os.unlink(os.path.join(directory, name))
            put(os.path.join(directory, name))
            yield name, directory

    def test_data_files_must_be_regular(self):
        kinds = {"fifo": os.mkfifo, "zero": lambda path: os.symlink("/dev/zero", path),
                 "socket": lambda path: os.mknod(path, stat.S_IFSOCK | 0o600)}
        for kind, put in kinds.items():
            for name, directory in self.put_in_place_of_each_file(kind, put):
                with self.subTest(kind=kind, name=name):
                    status, errors, resident = measured("report", "-d", directory, *PLAIN)
                    self.assertEqual(status, 1 if name == "info" else 0)
                    self.assertIn(f"{name}: a FIFO, device or socket where a regular file is expected", errors)
                    if os.environ.get("ASAN_OPTIONS") is None:
                        self.assertLess(resident, 64 << 10)

    def test_holes_are_not_read(self):
        def hole(path):
            with open(path, "wb") as file:
                file.truncate(HOLE_BYTES)
        for name, directory in self.put_in_place_of_each_file("hole", hole):
            with self.subTest(name=name):
                status, errors, resident = measured("report", "-d", directory, *PLAIN)
                self.assertEqual(status, 1 if name == "info" else 0)
                self.assertIn(f"{name}: the file ends in a hole of {HOLE_BYTES >> 20} MB, which is skipped", errors)
                if os.environ.get("ASAN_OPTIONS") is None:
                    self.assertLess(resident, 64 << 10)
        path = shutil.copy(self.fxt, os.path.join(self.dir, "hole.fxt"))
        os.truncate(path, HOLE_BYTES)
        status, errors, _ = measured("report", path, *PLAIN)
        self.assertEqual(status, 0)
        self.assertIn("hole.fxt: the file ends in a hole", errors)

    def test_an_option_file_has_an_end(self):
        done = run("report", "--opt-file=/dev/zero")
        self.assertEqual(done.returncode, 2)
        self.assertIn(b"more than 64 MB that cannot be mapped", done.stderr)

    def test_writers_stream(self):
        formats = file_formats()
        self.assertLessEqual({"fxt", "chrome"}, set(formats))
        for name in formats:
            with self.subTest(format=name):
                path = os.path.join(self.dir, "made." + name)
                done = run("convert", "--to=" + name, DATA, path)
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertEqual(run("convert", "--to=" + name, DATA, "-").stdout, read(path))
                self.assertEqual(run("dump", "--format=" + name, "-o", "-", DATA).stdout, read(path))

    def test_a_reader_that_goes_away(self):
        for name in file_formats():
            with self.subTest(format=name), \
                 subprocess.Popen([FTR, "convert", "--to=" + name, self.fxt, "-"], stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE) as running:
                running.stdout.close()
                self.assertNotIn(b"Broken pipe", running.stderr.read())
                self.assertEqual(running.wait(timeout=TIMEOUT), 0)


if __name__ == "__main__":
    harness.main()
