# SPDX-License-Identifier: MIT
"""What is done with files: record --probe=file, and what reads its events."""
import collections
import errno
import os
import re
import shutil
import subprocess

from recording import FTR, TIMEOUT, AsNative, harness

import swap_made

Call = collections.namedtuple("Call", "kind first argument path to caller result")

PROGRAMS = (
    ("python3", "-c", "import os, threading as t\ndef f(i):\n  for k in range(20):\n    open(f'x{i}', 'w').write('a' * 1000)\n"
     "    assert len(open(f'x{i}').read()) == 1000\n  os.unlink(f'x{i}')\nts = [t.Thread(target=f, args=(i,)) for i in range(3)]\n"
     "[x.start() for x in ts]; [x.join() for x in ts]; print(sorted(os.listdir('/usr'))[0])"),
    ("sqlite3", "y.db", "create table if not exists t (a); insert into t values (7); select count(*) > 0 from t;"),
    ("sort", "/etc/passwd"), ("tar", "cf", "-", "/etc/passwd"), ("ls", "/usr"), ("git", "--version"), ("bash", "-c", "echo a | cat"),
)


class FilesTest(AsNative):
    def output(self, *words):
        done = subprocess.run([FTR, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                              timeout=TIMEOUT, check=False)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout

    def to_swap(self):
        """Forks and calls that a cancelled thread has left have no message, which is said."""
        done = self.ftr("dump", "--format=swap", "-o", "x.swap", "-d", "d")
        self.assertEqual(done.returncode, 0, done.stderr)

    def calls(self, path="d", may_be_open=False):
        """All calls on files, each with its end, in the order of their ends."""
        tid, found, begun = 0, [], collections.defaultdict(list)
        for line in self.output("dump", "-d", path).splitlines():
            start = re.match(r"[\d.]+ +(\d+): \[event\] file:", line)
            if start:
                tid = int(start.group(1))
            match = re.match(r"  file:(\w+?)(-done)?: (.*)", line)
            if match is None:
                continue
            values = dict(re.findall(r'(\w+)=("[^"]*"|[^,]+)', match.group(3)))
            if match.group(2) is None:
                first, second = (list(values.values()) + ["", ""])[:2]
                begun[tid].append(Call(match.group(1), int(first), "" if "&" in second else second, values.get("path", "").strip('"'),
                                       values.get("to", "").strip('"') if "path" in values else "",
                                       re.sub(r"^&(\w+)\+.*", r"\1", values["caller"]), None))
            else:
                call = begun[tid].pop()
                self.assertEqual((call.kind, call.first), (match.group(1), int(values.get("fd", values.get("dir")))))
                found.append(call._replace(result=int(values["result"])))
        self.assertTrue(may_be_open or not any(begun.values()), begun)
        return found

    AT = -100
    ABC = "a" * 477 + "..."
    # kind, descriptor or directory, argument, paths, result
    EACH = {
        "early": [("open", AT, "0", "/dev/null", "", 3), ("close", 3, "", "", "", 0)],
        "descriptors": [
            ("open", AT, "0xc2", "made", "", 3), ("fstat", 3, "", "", "", 0), ("write", 3, "10", "", "", 10), ("write", 3, "7", "", "", 7),
            ("write", 3, "2", "", "", 2), ("seek", 3, "-3", "", "", 14), ("read", 3, "64", "", "", 3), ("read", 3, "4", "", "", 4),
            ("read", 3, "5", "", "", 5), ("lock", 3, "2", "", "", 0), ("unlock", 3, "8", "", "", 0), ("lock", 3, "6", "", "", 0),
            ("setsize", 3, "5", "", "", 0), ("flush", 3, "", "", "", 0), ("setmode", 3, "0600", "", "", 0),
            ("dup", 3, "50", "", "", 50), ("dup", 3, "60", "", "", 60), ("write", 60, "3", "", "", 3), ("close", 60, "", "", "", 0),
            ("close", 50, "", "", "", 0), ("close", 3, "", "", "", 0)],
        "paths": [
            ("mkdir", AT, "0700", "dir", "", 0), ("open", AT, "0x10000", "dir", "", 3), ("open", 3, "0x41", "below", "", 4),
            ("write", 4, "2", "", "", 2), ("close", 4, "", "", "", 0), ("close", 3, "", "", "", 0),
            ("rename", AT, "0", "made", "dir/moved", 0), ("link", AT, "0", "dir/moved", "linked", 0),
            ("symlink", AT, "0", "linked", "points", 0), ("chmod", AT, "0644", "linked", "", 0), ("truncate", AT, "1", "linked", "", 0),
            ("opendir", AT, "0x10000", "dir", "", 3), *4 * [("readdir", 3, "", "", "", 1)], ("readdir", 3, "", "", "", 0),
            ("close", 3, "", "", "", 0), ("unlink", AT, "0", "points", "", 0), ("unlink", AT, "0", "linked", "", 0),
            ("unlink", AT, "0", "dir/moved", "", 0), ("unlink", AT, "0", "dir/below", "", 0), ("unlink", AT, "0x200", "dir", "", 0)],
        "looks": [
            ("stat", AT, "0", "/dev/null", "", 0), ("stat", AT, "0x100", "/dev/null", "", 0), ("open", AT, "0x10000", "/dev", "", 3),
            ("stat", 3, "0x100", "null", "", 0), ("stat", 3, "0x1000", "", "", 0), ("stat", 3, "0", "null", "", 0), ("fstat", 3, "", "", "", 0),
            ("access", AT, "0", "/dev/null", "", 0), ("access", 3, "06", "null", "", 0), ("access", AT, "04", "/dev/null", "", 0),
            ("access", AT, "02", "/dev/null", "", 0), ("close", 3, "", "", "", 0), ("stat", AT, "0", "missing/other", "", -errno.ENOENT),
            ("stat", AT, "0x100", "<0x8>", "", -errno.EFAULT), ("fstat", 77, "", "", "", -errno.EBADF),
            ("access", AT, "01", "/dev/null", "", -errno.EACCES)],
        "errors": [
            ("open", AT, "0", "missing/file", "", -errno.ENOENT), ("open", AT, "0", "<0x8>", "", -errno.EFAULT),
            ("rename", AT, "0", "<0x0>", "<0xffffffffffffffff>", -errno.EFAULT), ("write", 77, "0", "", "", -errno.EBADF),
            ("lock", 0, "6", "", "", -errno.EFAULT), ("read", 77, "1", "", "", -errno.EBADF), ("close", -1, "", "", "", -errno.EINVAL),
            ("open", AT, "0", ABC, "", -errno.ENAMETOOLONG), ("open", AT, "0", "missing/file", "", -errno.ENOENT)],
        "streams": [
            ("open", AT, "0x242", "stream", "", 3), ("write", 3, "0", "", "", 13), ("write", 3, "5", "", "", 5), ("write", 3, "6", "", "", 6),
            ("write", 3, "1", "", "", 1), ("seek", 3, "0", "", "", 0), ("read", 3, "64", "", "", 13), ("read", 3, "0", "", "", 5),
            ("read", 3, "1", "", "", 1), ("read", 3, "64", "", "", 6), ("read", 3, "1", "", "", 0), ("flush", 3, "", "", "", 0),
            ("close", 3, "", "", "", 0), ("write", -1, "6", "", "", 6), ("close", -1, "", "", "", 0), ("unlink", AT, "0", "stream", "", 0)],
        "cancelled_read": [("read", 3, "1", "", "", -errno.ECANCELED)],
        "cancelling": [("close", 3, "", "", "", 0), ("close", 4, "", "", "", 0)],
        # The child between vfork and exec stands behind.
        "children": [("open", AT, "0x1", "/dev/null", "", 3), ("write", 3, "6", "", "", 6), ("close", 3, "", "", "", 0),
                     ("dup", 3, "1", "", "", 1), ("close", 3, "", "", "", 0)],
    }

    def of_functions(self, calls):
        found = collections.defaultdict(list)
        for call in calls:
            if call.caller in self.EACH:
                found[call.caller].append((call.kind, call.first, call.argument, call.path, call.to, call.result))
        return dict(found)

    def test_each(self):
        for flags in ([], ["-pg"], ["-O2", "-D_FORTIFY_SOURCE=2", "-w"], ["-finstrument-functions", "-D_FILE_OFFSET_BITS=64"]):
            self.compile("calls", "file_calls.c", "-pthread", *flags)
            for libcalls in ([], ["--no-libcall"], ["--probe=sync,memory"]):
                with self.subTest(flags=flags, libcalls=libcalls):
                    self.same_as_native(["--no-event", "--probe=file", *libcalls], "./calls")
                    self.maxDiff = None
                    self.assertEqual(self.of_functions(self.calls(may_be_open=True)), self.EACH)

    def sums(self, path="d"):
        rows = {}
        for line in self.output("report", "-d", path, "--no-pager", "--by=file", "-f",
                                "call,error,read-bytes,written-bytes").splitlines()[2:]:
            *numbers, name = line.split(None, 4)
            rows[name] = tuple(int(number) for number in numbers)
        return rows

    def test_by_file(self):
        self.compile("calls", "file_calls.c", "-pthread")
        self.same_as_native(["--no-event", "--probe=file"], "./calls")
        rows = self.sums()
        # made: opened, 14 calls by its descriptor, 2 duplicates made, 1 write and 2 ends of those, closed, renamed
        self.assertEqual(rows["made"], (22, 0, 12, 22))
        self.assertEqual(rows["dir/below"], (4, 0, 0, 2))
        self.assertEqual(rows["stream"], (14, 0, 25, 25))
        self.assertEqual(rows["missing/file"], (2, 2, 0, 0))
        self.assertEqual(rows["(no descriptor)"], (3, 1, 0, 6))
        self.same_as_native(["--no-event"], "./calls")
        done = self.ftr("report", "-d", "d", "--by=file")
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertIn("record them with ftr record --probe=file", done.stderr)

    def test_storm(self):
        """Threads, handlers and forked children at once; the program counts, too."""
        self.compile("calls", "file_calls.c", "-pthread", "-pg")
        done = self.ftr("record", "-d", "d", "--no-event", "--probe=file", "./calls", "storm")
        handled, written, has_read = (int(word) for word in done.stderr.split())
        rows = self.sums()
        for i in range(4):
            self.assertEqual(rows[f"storm{i}"][1:], (0, has_read // 4, written // 4))
        self.assertEqual(rows["storm100"][1:], (0, 20 * has_read // 4, 20 * written // 4))
        self.assertGreaterEqual(rows["/dev/null"][3], handled)

    def test_strace(self):
        """As many calls with the same results as strace sees, of a program that calls by no other way."""
        if shutil.which("strace") is None:
            self.skipTest("no strace")
        self.compile("calls", "file_calls.c", "-pthread")
        done = subprocess.run(["strace", "-e", "trace=read,write,pwrite64,ftruncate,rename,link,symlink,mkdir,lseek,dup2,flock",
                               "./calls"], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, timeout=TIMEOUT, check=False)
        if done.returncode != 0:
            self.skipTest("strace may not trace here")
        text = done.stderr[done.stderr.index('write(3, "0123456789"'):]
        seen = collections.Counter(re.findall(r"(?m)^(rename|link|symlink|mkdir|ftruncate|dup2|flock)\(", text))
        self.same_as_native(["--no-event", "--probe=file"], "./calls")
        calls = [call for call in self.calls(may_be_open=True) if call.caller in ("descriptors", "paths", "errors")]
        found = collections.Counter(call.kind for call in calls)
        self.assertEqual([found["rename"], found["link"], found["symlink"], found["mkdir"], found["setsize"], found["dup"] - 1],
                         [seen["rename"], seen["link"], seen["symlink"], seen["mkdir"], seen["ftruncate"], seen["dup2"]])

    def test_off(self):
        self.compile("maps", "memory_maps.c")
        done = self.ftr("record", "-d", "d", "--no-event", "--probe=file", "./maps")
        self.assertEqual((done.returncode, done.stdout), (0, "0 \n"))

    def test_converted(self):
        self.compile("calls", "file_calls.c", "-pthread", "-pg")
        self.same_as_native(["--no-event", "--probe=file"], "./calls")
        wanted = self.calls(may_be_open=True)
        sums = self.sums()
        self.output("convert", "d", "x.fxt")
        self.to_swap()
        for source in ("d", "x.fxt", "x.swap"):
            with self.subTest(source=source):
                shutil.rmtree("other", ignore_errors=True)
                self.output("convert", source, "other")
                self.assertEqual(sorted(self.calls("other", True), key=str), sorted(wanted, key=str))
                self.assertEqual(self.sums("other"), sums)
        if shutil.which("uftrace"):
            subprocess.run(["uftrace", "replay", "--no-pager", "-d", "d"], stdout=subprocess.DEVNULL, timeout=TIMEOUT, check=True)
        for words in (("dump", "--chrome"), ("dump", "--format=csv"), ("dump", "--flame-graph"), ("replay",), ("graph",)):
            self.assertNotEqual(self.ftr(*words, "-d", "d").stdout, "")

    # Of each kind: what the messages' api_type is at the begin (None: it has one message, at its end).
    API_TYPES = {"read": 2, "write": 4, "lock": 14}
    ONCE = {"open": 0, "close": 1, "readdir": 6, "opendir": 6, "mkdir": 6, "unlock": 16, "chmod": 7, "setmode": 7, "seek": 8, "flush": 8,
            "unlink": 8, "rename": 8, "link": 8, "symlink": 8, "stat": 8, "fstat": 8, "access": 7, "setsize": 12, "truncate": 12, "dup": 12}

    def test_messages(self):
        """A call is one or two messages of SWAP, by the tables alone."""
        self.compile("calls", "file_calls.c", "-pthread", "-pg")
        self.same_as_native(["--no-event", "--probe=file"], "./calls")
        self.to_swap()
        with open("x.swap", "rb") as stream, open("x.swap.side", encoding="utf-8") as side:
            numbers = dict(line.split() for line in side if line.startswith(("cpus\t", "devices\t")))
            found = [values for ident, _, _, values in swap_made.messages(stream.read(), int(numbers["cpus"]), int(numbers["devices"]))
                     if ident == 0x0104]
        wanted = collections.Counter()
        for call in self.calls(may_be_open=True):
            result = (-1, -call.result) if call.result < 0 else (call.result, 0)
            if call.kind in self.ONCE:
                wanted[(self.ONCE[call.kind], *result)] += 1
            else:
                wanted[(self.API_TYPES[call.kind], 0, 0)] += 1
                wanted[(self.API_TYPES[call.kind] + 1, *result)] += 1
        signed = collections.Counter((values["api_type"], values["return"][1], values["errno"]) for values in found)
        self.assertEqual(signed - wanted, collections.Counter())
        self.assertEqual(wanted - signed, collections.Counter())
        self.assertIn(("made", 10, 4), {(values["path"], values["bytes"], values["api_type"]) for values in found})
        self.assertIn(("dir/below", 2, 5), {(values["path"], values["bytes"], values["api_type"]) for values in found})

    def test_programs(self):
        with open(FTR, "rb") as file:
            if b"__asan_init" in file.read():
                self.skipTest("programs of others do not bear AddressSanitizer's libraries")
        for program in PROGRAMS:
            if shutil.which(program[0]) is None:
                continue
            with self.subTest(program=program):
                runs = [subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=2 * TIMEOUT, check=False)
                        for command in (program, [FTR, "record", "-d", "d", "--no-event", "--force", "--probe=file", *program])]
                self.assertEqual((runs[1].returncode, runs[1].stdout), (runs[0].returncode, runs[0].stdout), runs[1].stderr)
                self.assertNotEqual(self.calls(may_be_open=True), [])
                if program[0] == "python3":
                    rows = self.sums()
                    self.assertEqual([rows[f"x{i}"][2:] for i in range(3)], 3 * [(20000, 20000)])
                shutil.rmtree("d")


if __name__ == "__main__":
    harness.main()
