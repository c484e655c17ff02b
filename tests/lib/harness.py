# SPDX-License-Identifier: MIT
"""The frame of the end-to-end tests: a directory for each test, programs that end with it, counted results.

A script is a module of unittest classes that derive from Test and ends in harness.main().  It runs under
tests/lib/guard, started by make check or else by main() itself, which gives every program default signal
dispositions, no terminal, and limits of time, file size and disk space.  Within the script, what one test leaves
running is killed before the next one begins.
"""
import atexit
import ctypes
import glob
import hashlib
import os
import platform
import re
import resource
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import time
import unittest
import zlib

IS_ROOT = os.geteuid() == 0


def is_open_to_all(path):
    """May every user run the file and what lies beside it?"""
    while path != "/":
        if not os.stat(path).st_mode & stat.S_IXOTH:
            return False
        path = os.path.dirname(path)
    return True


def where_all_may_run(ftr):
    """As root, ftr, or a copy of it where its directory is root's alone: some tests give up their rights."""
    if not IS_ROOT or "FTR_GUARDED" not in os.environ or is_open_to_all(os.path.realpath(ftr)):
        return ftr
    directory = tempfile.mkdtemp(prefix="ftr-copy-")
    atexit.register(shutil.rmtree, directory)
    os.chmod(directory, 0o755)
    for path in [ftr, *glob.glob(os.path.join(os.path.dirname(ftr), "libmcount*.so"))]:
        shutil.copy(path, directory)
        os.chmod(os.path.join(directory, os.path.basename(path)), 0o755)
    for path in glob.glob(os.path.join(os.path.dirname(ftr), "*")):    # of 32-bit programs (doc/adr/0098)
        copy = os.path.join(directory, os.path.basename(path))
        if os.path.islink(path) and os.readlink(path) in (".", "i686"):
            os.symlink(os.readlink(path), copy)
        elif os.path.basename(path) == "i686":
            shutil.copytree(path, copy)
            os.chmod(copy, 0o755)
    return os.path.join(directory, os.path.basename(ftr))


FTR = os.path.abspath(os.environ.get("FTR", "./ftr"))
SRCDIR = os.path.abspath(os.environ.get("srcdir", os.path.join(os.path.dirname(__file__), "../..")))
BUILDDIR = os.path.abspath(os.environ.get("builddir", os.path.dirname(FTR)))
FTR = where_all_may_run(FTR)
GUARD = os.path.join(BUILDDIR, "tests/lib/guard")
CC = os.environ.get("CC", "gcc").split()
CXX = os.environ.get("CXX", "g++").split()
TELLS_FROM_S = float(os.environ.get("FTR_TEST_TELLS", 5))
USERS_OF_PROCESSORS = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
SLOWNESS = int(os.environ.get("FTR_TEST_SLOWNESS", 1))      # of a machine that is emulated, say
TIMEOUT = 180 * SLOWNESS        # finds what hangs; says nothing about how long anything should take
SKIP = 77
# AddressSanitizer, in ftr, refuses a library of the test before its own, but for this.
ASAN_BEHIND = ":".join(filter(None, [os.environ.get("ASAN_OPTIONS"), "verify_asan_link_order=0"]))
PR_SET_CHILD_SUBREAPER = 36


IS_SHORT = bool(os.environ.get("FTR_TEST_SHORT"))


def long(test):
    """A test that takes long, and that others stand for where time is short."""
    return unittest.skipIf(IS_SHORT, "takes long: ./check --long and make check run it")(test)


def times(usual, short):
    """How often to try what random numbers choose: the usual number, or another where time is short."""
    return short if IS_SHORT else usual


def storms(usual, short):
    """How often to try what goes wrong only at times."""
    return int(os.environ.get("FTR_STORMS", times(usual, short)))


def few(items, short):
    """All of the items, or so many of them, from the first to the last, where time is short."""
    items = list(items)
    return [items[i * len(items) // short] for i in range(short)] if IS_SHORT and short < len(items) else items


ASAN_OPTIONS = os.environ.get("ASAN_OPTIONS", "")


def leaks_looked_for(name):
    """AddressSanitizer's options for a test: it takes half of a short process's time to look for leaks."""
    is_one = not IS_SHORT or zlib.crc32(name.encode()) % 3 == 0
    return ASAN_OPTIONS if is_one else ASAN_OPTIONS.replace("detect_leaks=1", "detect_leaks=0")


def pause(seconds):
    """For something that does not show, or so that something has time to happen."""
    time.sleep(seconds * SLOWNESS)


KEPT = os.environ.get("FTR_TEST_KEPT")      # what compilers made in one build's tests, for those of another


def kept_path(words):
    """Where what the compiler makes of these words is kept: it depends on them and on the files that they name."""
    key = hashlib.sha256()
    for word in words:
        key.update(word.replace(SRCDIR, "").encode() + b"\0")
        if not os.path.isfile(word):
            continue
        with open(word, "rb") as file:
            text = file.read()
        if b'#include "' in text and not word.startswith(SRCDIR):
            return None
        key.update(text)
    return os.path.join(KEPT, key.hexdigest())


def compile_to(out, *words, **options):
    """The completed process of the compiler, which has made @out."""
    path = kept_path([*words, out]) if KEPT else None
    if path is not None and os.path.exists(path):
        shutil.copy(path, out)
        return subprocess.CompletedProcess(words, 0, "")
    done = subprocess.run([*words, "-o", out], check=False, timeout=TIMEOUT, **options)
    if path is not None and done.returncode == 0 and os.access(KEPT, os.W_OK):
        shutil.copy(out, f"{path}.{os.getpid()}")
        os.rename(f"{path}.{os.getpid()}", path)
    return done


def build(source, out, *flags, compiler=None):
    """Compile a program of tests/prog."""
    if compiler is None:
        compiler = CXX if source.endswith(".cc") else CC
    programs = os.path.join(SRCDIR, "tests/prog")
    defined = [] if source.endswith(".cc") else ["-D_GNU_SOURCE="]       # a program's own definition is the same
    compile_to(out, *compiler, *defined, "-I", SRCDIR, "-I", os.path.join(programs, platform.machine()), *flags,
               os.path.join(programs, source), "-lpthread").check_returncode()


def shell_status(returncode):
    """As a shell and ftr give it: 128 + N for signal N."""
    return returncode if returncode >= 0 else 128 - returncode


def process_state(pid):
    """(state, parent), None when it is gone."""
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as file:
            words = file.read().rpartition(") ")[2].split()
            return words[0], int(words[1])
    except (OSError, IndexError):
        return None


def is_alive(pid):
    state = process_state(pid)
    return state is not None and state[0] not in "ZX"


def descendants():
    parents = {}
    for name in os.listdir("/proc"):
        if name.isdigit():
            state = process_state(name)
            if state is not None:
                parents[int(name)] = state[1]
    found, last = {os.getpid()}, 0
    while len(found) != last:
        last = len(found)
        found |= {pid for pid, parent in parents.items() if parent in found}
    return found - {os.getpid()}


def kill_descendants(kept=frozenset()):
    """Whatever was started but for what is kept, and whatever that started: this process is their subreaper."""
    end = time.monotonic() + TIMEOUT
    while time.monotonic() < end:
        try:
            if os.waitpid(-1, os.WNOHANG)[0] != 0:
                continue
        except ChildProcessError:
            return
        found = descendants() - kept
        if kept and not found:
            return
        for pid in found:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        time.sleep(0.002)


def link_tree(source, target):
    shutil.copytree(source, target, symlinks=True, copy_function=os.link)


def data_directories(top):
    return sorted(path for path, _, files in os.walk(top) if "info" in files and "task.txt" in files)


# What uftrace 0.13 says of sound data, too: directories without calls; formats of the kernel that its library does
# not understand.  Its graph ends where records were LOST more than once between a few calls, its dump at long values.
SAID_OF_SOUND_DATA = re.compile(r"No data available|trace-cmd: |unknown op|Error: expected type")
ENDS_OF_READERS = {("graph", -signal.SIGSEGV), ("dump", -signal.SIGABRT)}


def complaints(reader, data):
    """What another reader of data directories finds wrong."""
    for command in ("replay", "report", "graph", "dump"):
        done = subprocess.run([reader, command, "--no-pager", "-d", data], stdout=subprocess.DEVNULL, check=False,
                              stderr=subprocess.PIPE, timeout=TIMEOUT, errors="replace")
        if (command, done.returncode) in ENDS_OF_READERS:
            continue
        text = [line for line in done.stderr.splitlines() if line and not SAID_OF_SOUND_DATA.search(line)]
        if done.returncode < 0 or text:
            yield f"{reader} {command} {os.path.basename(data)}: {done.returncode} {' '.join(text)[-300:]}"


class Test(unittest.TestCase):
    """Each test works in a directory of its own, which begins with what set_up_class() of its class made."""

    maxDiff = 10000
    has_damaged_data = False    # on purpose: other readers are not to judge it
    kept = frozenset()          # processes that all tests of the class have in common

    @classmethod
    def setUpClass(cls):
        cls.top = os.path.realpath(tempfile.mkdtemp(prefix="ftr-e2e-"))
        cls.shared = os.path.join(cls.top, "shared")
        os.chmod(cls.top, 0o711)        # some tests give up their rights
        os.mkdir(cls.shared)
        os.chdir(cls.shared)
        cls.set_up_class()

    @classmethod
    def set_up_class(cls):
        """Runs in the directory that all tests of the class get."""

    @classmethod
    def tearDownClass(cls):
        os.chdir("/")
        kill_descendants()
        shutil.rmtree(cls.top)

    def setUp(self):
        self.problems = []
        if os.environ.get("SANITIZERS"):
            os.environ["ASAN_OPTIONS"] = leaks_looked_for(self.id())
        self.dir = os.path.join(self.top, "test")
        link_tree(self.shared, self.dir)
        os.chmod(self.dir, 0o711)
        os.chdir(self.dir)

    def tearDown(self):
        kill_descendants(self.kept)
        for reader in [] if self.has_damaged_data else os.environ.get("FTR_READ_BY", "").split():
            for data in data_directories(self.dir):
                self.problems += complaints(reader, data)
        os.chdir("/")
        shutil.rmtree(self.dir)
        self.assertEqual(self.problems, [])

    def expect(self, is_true, what):
        """A failure that lets the test go on."""
        if not is_true:
            self.problems.append(what)

    def run_program(self, *words, **options):
        """The completed process.  It is a job of its own, so that it can be stopped and interrupted."""
        options = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, "timeout": TIMEOUT,
                   "check": False, "process_group": 0, **options}
        return subprocess.run(words, **options)

    def ftr(self, *words, **options):
        return self.run_program(FTR, *words, **options)

    def start_program(self, *words, **options):
        options = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True,
                   "process_group": 0, **options}
        child = subprocess.Popen(words, **options)
        for stream in (child.stdin, child.stdout, child.stderr):
            if stream is not None:
                self.addCleanup(self.close, stream)
        return child

    @staticmethod
    def close(stream):
        try:
            stream.close()
        except BrokenPipeError:
            pass

    def wait_for(self, condition):
        end = time.monotonic() + TIMEOUT
        while time.monotonic() < end:
            try:
                if condition():
                    return
            except (OSError, AssertionError):
                pass                    # not all of it is there yet
            time.sleep(0.02)
        self.fail(f"waited {TIMEOUT} s for it")


def processor_s():
    """Of this process and all that it has waited for, in seconds."""
    return sum(usage.ru_utime + usage.ru_stime for usage in map(resource.getrusage, USERS_OF_PROCESSORS))


class Result(unittest.TextTestResult):
    """Counts tests; a test with several failures is one."""

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.passed, self.failed = 0, set()
        self.before_s = processor_s()

    def startTest(self, test):
        super().startTest(test)
        self.before_s = processor_s()

    def stopTest(self, test):
        super().stopTest(test)
        took_s = processor_s() - self.before_s
        if took_s > TELLS_FROM_S:
            self.stream.writeln(f"{took_s:5.1f} s of a processor  {test.id()}")

    def addSuccess(self, test):
        super().addSuccess(test)
        self.passed += 1

    def addFailure(self, test, err):
        super().addFailure(test, err)
        self.failed.add(test.id())

    def addError(self, test, err):
        super().addError(test, err)
        self.failed.add(test.id())

    def addSubTest(self, test, subtest, err):
        super().addSubTest(test, subtest, err)
        if err is not None:
            self.failed.add(test.id())

    def addSkip(self, test, reason):
        super().addSkip(test, reason)
        self.stream.writeln(f"skipped: {test.id()}: {reason}")

    def status(self):
        """Print the counts; the exit status."""
        print(f"{self.passed} passed, {len(self.failed)} failed, {len(self.skipped)} skipped")
        if self.failed:
            return 1
        return 0 if self.passed or not self.skipped else SKIP


def main():
    if "FTR_GUARDED" not in os.environ:
        if not os.path.exists(GUARD):
            sys.exit(f"{GUARD} is missing: make tests/lib/guard, and set FTR to the path of ftr")
        os.execv(GUARD, [GUARD, sys.executable, *sys.argv])
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    runner = unittest.TextTestRunner(stream=sys.stdout, resultclass=Result)
    result = unittest.main("__main__", testRunner=runner, exit=False).result
    sys.exit(result.status())
