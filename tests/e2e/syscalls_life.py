# SPDX-License-Identifier: MIT
"""Programs notice nothing of the observer: job control, signals, 32 bits, deaths at any point; names, nesting."""
import os
import re
import signal
import subprocess
import sys
import time

from recording import FTR, TIMEOUT, build, harness, run_observed


def compile_program(name, *flags):
    """Its path, or None where it cannot be built."""
    try:
        build(f"observed_{name}.c", name, *flags)
    except subprocess.CalledProcessError:
        return None
    return os.path.abspath(name)


def can_run(program):
    """Such that it exits with 7; not where the kernel knows nothing of 32 bits."""
    try:
        return subprocess.run([program], check=False).returncode == 7
    except OSError:
        return False


class LifeTest(harness.Test):
    """Each program runs observed, in a directory of its own."""

    @classmethod
    def set_up_class(cls):
        run_observed("record", "--syscalls", "--format=etrace", "-o", "/dev/null", "true")

    def record(self, *words, options=()):
        """(exit status, what the program wrote, the text)"""
        output = "out.etrace"
        done = subprocess.run([FTR, "record", "--syscalls", "--format=etrace", "-o", output, *options, *words],
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              timeout=TIMEOUT, check=False)
        with open(output, encoding="utf-8", errors="replace") as file:
            text = file.read()
        check = subprocess.run([FTR, "check", "--etrace", output], stdout=subprocess.PIPE, text=True,
                               check=False)
        self.expect(check.returncode == 0, f"{words}: {check.stdout[:300]}")
        return done.returncode, done.stdout, text

    def test_stops(self):
        program = compile_program("stops")
        status, said, _ = self.record(program)
        self.expect((status, said) == (0, f"stopped 1 by {int(signal.SIGSTOP)}\ncontinued 1\nexit 5\n"),
               f"stops: {status} {said}")
        with subprocess.Popen([FTR, "record", "--syscalls", "--format=etrace", "-o", "/dev/null", "sh", "-c",
                               "echo $$; for i in 1 2 3 4 5; do sleep 0.1; done; exit 9"],
                              stdout=subprocess.PIPE, text=True) as traced:
            pid = int(traced.stdout.readline())
            os.kill(pid, signal.SIGSTOP)
            time.sleep(1)
            self.expect(traced.poll() is None, "a stopped program went on")
            os.kill(pid, signal.SIGCONT)
            self.expect(traced.wait(timeout=TIMEOUT) == 9, "a continued program did not end as it does")

    def test_signals(self):
        status, said, text = self.record("sh", "-c", "trap 'echo caught' USR1; kill -USR1 $$; kill -9 $$")
        self.expect((status, said) == (128 + 9, "caught\n"), f"signals: {status} {said}")
        self.expect("Exit|status=0" in text, "signals: no Exit of a killed process")

    def test_names(self):
        program = compile_program("names")
        _, _, text = self.record(program, options=["--thread-names"])
        named = re.findall(r"^(\d+),.*!CN\|(.*)$", text, re.M)
        self.expect([name for _, name in named] == ["names", "a name that is ", "other", "written"],
               f"names: {named}")
        self.expect(len({upid for upid, _ in named}) == 2, f"names: of whom? {named}")
        _, _, text = self.record(program)
        self.expect("Comm|" not in text, "names without --thread-names")

    def test_small(self):
        program = compile_program("32bit", "-m32", "-nostdlib", "-static", "-ffreestanding",
                                  "-fno-stack-protector", "-fno-pie", "-no-pie")
        if program is None or not can_run(program):
            self.skipTest("no 32-bit programs here")
        status, _, text = self.record(program)
        heads = [line.partition("!")[2] for line in text.splitlines()]
        self.expect(status == 7, f"32 bits: exit status {status}")
        for head in ("FN|/etc/passwd", "Close|fd=3", "Pipe|fd1=3,fd2=4,flags=0", "Dup|oldfd=3,newfd=20,flags=0",
                     "Dup|oldfd=4,newfd=30,flags=524288", "Exit|status=3", "Exit|status=7"):
            self.expect(head in heads, f"32 bits: no {head}")

    def test_deaths(self):
        program = compile_program("deaths")
        status, _, text = self.record(program)
        self.expect(status == 0, f"storm: exit status {status}")
        self.expect(text.count("!SchedFork|") + 1 == text.count("!Exit|"), "storm: a task without an Exit")

    def test_nesting(self):
        status, said, _ = self.record("env", "ASAN_OPTIONS=detect_leaks=0", FTR, "record", "--syscalls",
                                 "--format=etrace", "-o", "/dev/null", "true")  # LeakSanitizer traces, too
        self.expect(status == 125 and "cannot observe" in said, f"nested: {status} {said}")

    def test_options(self):
        """What the text's options do, on a stream; and that none of them is accepted where it means nothing."""
        script = "for i in range(3): open('/etc/passwd').close()\nopen('/etc/hosts').close(); open('/etc/passwd').close()"
        words = [FTR, "record", "--syscalls", "--format=etrace", "-o", "-"]
        for options, opens in (([], 4), (["--skip-repeated-opens"], 2)):
            done = subprocess.run([*words, *options, sys.executable, "-c", script], stdout=subprocess.PIPE, text=True,
                                  check=False)
            groups = done.stdout.split("FO|/etc/passwd\n")
            self.expect(len(groups) - 1 == opens and all("!Close|fd=3\n" in group.split("!Open|")[0] for group in groups[1:]),
                   f"{options}: {len(groups) - 1} opens")
        done = subprocess.run([*words, "--etrace-prefix", "true"], stdout=subprocess.PIPE, text=True,
                              check=False)
        lines = done.stdout.splitlines()
        self.expect(lines[0] == "INITCWD=" + self.dir and all(line.startswith("0: ") for line in lines[1:]),
               f"--etrace-prefix: {lines[:2]}")
        data = "plain"
        subprocess.run([FTR, "record", "--syscalls", "-d", data, "true"], check=True)
        for usage in ([FTR, "record", "--syscalls", "--mount", "true"], [FTR, "record", "--syscalls", "-o", "x", "true"],
                      [FTR, "record", "--format=etrace", "true"], [*words, "-d", "x", "true"],
                      [*words, "-D", "3", "true"], [*words, "--max-size=1M", "true"], [*words, "-F", "x", "true"],
                      [FTR, "dump", "--thread-names", "-d", data],
                      [FTR, "dump", "--chrome", "--etrace-prefix", "-d", data]):
            done = subprocess.run(usage, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                  check=False)
            self.expect(done.returncode == 2 and "etrace" in done.stderr, f"{usage}: {done.returncode} {done.stderr}")

    def test_written_while_running(self):
        """What a process did can be read before it ends."""
        script = "cat /etc/hostname > /dev/null; read word; exit 5"
        with subprocess.Popen([FTR, "record", "--syscalls", "--format=etrace", "-o", "live",
                               "sh", "-c", script], stdin=subprocess.PIPE, text=True) as traced:
            end = time.monotonic() + TIMEOUT
            text = ""
            while "!Exit|" not in text and time.monotonic() < end:
                time.sleep(0.05)
                if os.path.exists("live"):
                    with open("live", encoding="utf-8") as file:
                        text = file.read()
            self.expect("FO|/etc/hostname\n" in text and traced.poll() is None, "the text comes late")
            traced.communicate("go\n")
        self.expect(traced.returncode == 5, f"exit status {traced.returncode}")

    def test_functions(self):
        """System calls stand in the functions that made them."""
        program = compile_program("functions", "-pg", "-O1")
        data = "data"
        done = subprocess.run([FTR, "record", "--syscalls", "-d", data, program], check=False)
        self.expect(done.returncode == 4, f"functions: exit status {done.returncode}")
        shown = subprocess.run([FTR, "replay", "-d", data, "--no-pager", "-f", "none"], stdout=subprocess.PIPE,
                               text=True, check=False).stdout
        inner = shown.partition("main() {")[2]
        for line in ('reader() {', 'sys_openat(path="/etc/passwd", flags=O_RDONLY) = 3;',
                     'sys_openat(path="/no/such", flags=O_RDONLY) = ENOENT;'):
            self.expect(line in inner, f"functions: no {line} in {shown}")
        written = subprocess.run([FTR, "dump", "-d", data, "--format=etrace"], stdout=subprocess.PIPE,
                                 stderr=subprocess.DEVNULL, text=True, check=False).stdout
        text = "written.etrace"
        with open(text, "w", encoding="utf-8") as file:
            file.write(written)
        again = subprocess.run([FTR, "dump", "-d", text, "--format=etrace"], stdout=subprocess.PIPE, text=True,
                               check=False).stdout
        self.expect(again == written, "functions: a text that was read is written differently")
        self.expect("FO|/etc/passwd" in written and "/no/such" not in written, "functions: dump --format=etrace")


if __name__ == "__main__":
    harness.main()
