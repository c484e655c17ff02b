# SPDX-License-Identifier: MIT
"""Programs that make it hard for a tracer: they do what they do without one, and nothing is missed."""
import os
import pty
import re
import select
import shutil
import signal
import subprocess
import time
import unittest

from recording import FTR, IS_ROOT, TIMEOUT, build, harness, is_alive, run_observed, shell_status

# Each is run without and with ftr: the same output and exit status.
PROGRAMS = ("traps", "stops", "jail", "seer", "many")


def compile_program(name, *flags):
    path = os.path.abspath(name)
    build(f"unfriendly_{name}.c", path, "-w", "-O1", *flags)
    return path


def record_words():
    return [FTR, "record", "--syscalls", "--format=etrace", "-o", os.path.abspath("out.etrace")]


def read_until(fd, text, seconds=TIMEOUT):
    said, end = "", time.monotonic() + seconds
    while text not in said and select.select([fd], [], [], max(0, end - time.monotonic()))[0]:
        try:
            said += os.read(fd, 4096).decode("utf-8", "replace")
        except OSError:
            break
    return said


def has_terminal(fd, name):
    """Is this the program that keys go to?"""
    try:
        with open(f"/proc/{os.tcgetpgrp(fd)}/comm", encoding="ascii") as file:
            return file.read().strip() == name
    except OSError:
        return False


class UnfriendlyTest(harness.Test):
    """Each program runs without and with ftr."""

    @classmethod
    def set_up_class(cls):
        run_observed("record", "--syscalls", "--format=etrace", "-o", "/dev/null", "true")

    def text_of(self, path="out.etrace"):
        check = self.ftr("check", "--etrace", path)
        self.expect(check.returncode == 0, f"{path}: {check.stdout[:400]}")
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read()

    def run_in(self, words):
        """In an empty directory, as the leader of a session."""
        shutil.rmtree("cwd", ignore_errors=True)
        os.mkdir("cwd")
        return self.run_program(*words, cwd="cwd", stderr=subprocess.STDOUT, process_group=None,
                                start_new_session=True)

    def test_programs(self):
        for name in PROGRAMS:
            program = compile_program(name)
            native = self.run_in([program])
            status = shell_status(native.returncode)
            done = self.run_in(record_words() + [program])
            self.expect((done.returncode, done.stdout) == (status, native.stdout),
                   f"{name}: {status} {native.stdout!r} without, {done.returncode} {done.stdout!r} with ftr")
            self.check_text(name, self.text_of())

    def check_text(self, name, text):
        if name == "many":
            self.expect(text.count("FO|/dev/null\n") == 100000, f"many: {text.count('FO|/dev/null')} opens of 100000")
            self.expect(re.search(r"!New_proc\|argsize=\d+,.*\n(.*\n)*.*!A\[1\]a{900}\n", text) is not None and
                   sum(len(part) for part in re.findall(r"!A\[1\](a+)\n", text)) == 100000,
                   "many: the long argument")
            for line in ("FN|deep", "FO|deep", "RF|deep", "RT|deeper", "LF|deeper", "LT|linked", "Exit|status=5"):
                self.expect(f"!{line}\n" in text, f"many: no {line} of the deep files")
            self.expect(text.count("FN|/etc/passwd\n") == 1, "many: the long path")
        if name == "seer":
            self.expect("FO|/etc/hostname\n" in text, "seer: a file opened while it was not dumpable")
        if name == "traps":
            self.expect(text.count("/fifo\n") == 4, "traps: the fifo")

    def test_daemon(self):
        """The recording ends with the last process, and all of it is there."""
        program = compile_program("daemon")
        made = os.path.join(self.dir, "made-by-daemon")
        done = self.run_in(record_words() + [program, made])
        text = self.text_of()
        self.expect(done.returncode == 0 and os.path.exists(made), f"daemon: {done}")
        self.expect("Exit|status=4" in text and text.count("!Exit|") == 3 and made in text, "daemon: its records")

    def test_killed_recorder(self):
        """Without an observer filtered calls would fail, so the tree ends with it; the recorder is not the observer."""
        slow = "echo $$; sleep 0.2; while :; do cat /dev/null; sleep 0.05; [ ! -e stop ] || exit 0; done"
        with subprocess.Popen([*record_words(), "sh", "-c", slow], stdout=subprocess.PIPE, text=True) as recorder:
            pid = int(recorder.stdout.readline())
            recorder.kill()
            recorder.wait()
            self.wait_for(lambda: not is_alive(pid))
        data = "killed"
        with subprocess.Popen([FTR, "record", "--syscalls", "-d", data, "sh", "-c", slow], stdout=subprocess.PIPE,
                              text=True) as recorder:
            pid = int(recorder.stdout.readline())
            recorder.kill()
            recorder.wait()
            time.sleep(0.5)
            self.expect(is_alive(pid), "killed recorder: the program is gone, too")
            with open("stop", "w", encoding="ascii"):
                pass
            self.wait_for(lambda: not is_alive(pid))
        log = os.path.join(data, "syscalls.etrace")
        self.wait_for(lambda: os.path.getsize(log) > 0)
        check = subprocess.run([FTR, "check", "--etrace", log], stdout=subprocess.PIPE, text=True, check=False)
        self.expect(check.returncode == 0, f"killed recorder: {check.stdout[:300]}")

    def test_signals(self):
        """A signal for ftr alone is the program's; those of a terminal come to it anyway."""
        script = "trap 'echo got INT; exit 7' INT; trap 'echo got TERM; exit 8' TERM; echo $$; while :; do sleep 0.05; done"
        for words in (record_words(), [FTR, "record", "--syscalls", "-d", "signalled"]):
            for number, said, status in ((signal.SIGINT, "got INT\n", 7), (signal.SIGTERM, "got TERM\n", 8)):
                with subprocess.Popen([*words, "bash", "-c", script], stdout=subprocess.PIPE, text=True,
                                      start_new_session=True) as recorder:
                    recorder.stdout.readline()
                    time.sleep(0.2)
                    recorder.send_signal(number)
                    output = recorder.stdout.read()
                    self.expect((output, recorder.wait(timeout=TIMEOUT)) == (said, status),
                           f"{number.name} to ftr: {output!r} {recorder.returncode} {words}")
        self.text_of()

    def test_third_signal(self):
        """A program that ignores signals is ended with the recording by the third one."""
        script = "trap '' TERM; echo $$; while :; do sleep 0.05; done"
        with subprocess.Popen([*record_words(), "sh", "-c", script], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True) as recorder:
            pid = int(recorder.stdout.readline())
            for _ in range(3):
                time.sleep(0.3)
                self.expect(recorder.poll() is None and is_alive(pid), "ended before the third signal")
                recorder.send_signal(signal.SIGTERM)
            status, said = recorder.wait(timeout=TIMEOUT), recorder.stderr.read()
        self.expect(status == 137 and "were killed" in said, f"third signal: {status} {said}")
        self.wait_for(lambda: not is_alive(pid))
        self.text_of()

    def test_job_control(self):
        """A shell on a terminal of its own: stop a job, continue it, end it, all from the keyboard."""
        child, fd = pty.fork()
        if child == 0:
            os.environ.update(PS1="ready> ", ENV="", TERM="dumb")
            os.execv(FTR, [*record_words(), "bash", "--norc", "--noediting", "-i"])
        said = read_until(fd, "ready> ")
        for name, keys, answer in (("bash", b"sleep 1000\n", "sleep 1000"), ("sleep", b"\x1a", "Stopped"),
                                   ("bash", b"jobs\n", "Stopped"), ("bash", b"fg\n", "sleep 1000"),
                                   ("sleep", b"\x03", "ready> "), ("bash", b"cat\n", "cat"),
                                   ("cat", b"\x04", "ready> "), ("bash", b"echo status $?\n", "status 0")):
            self.wait_for(lambda name=name: has_terminal(fd, name))
            os.write(fd, keys)
            got = read_until(fd, answer)
            said += got
            self.expect(answer in got, f"terminal: after {keys} no {answer!r} in {said[-300:]!r}")
            if self.problems:
                break
        os.write(fd, b"exit 3\n")
        read_until(fd, "never said", 5 if self.problems else TIMEOUT)
        if self.problems:
            os.kill(child, signal.SIGKILL)
        self.expect(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 3 or self.problems, "terminal: exit status")
        os.close(fd)
        self.text_of()

    def test_setuid(self):
        """As root it is followed with its privileges; else it runs without, with a warning."""
        if not IS_ROOT:
            self.skipTest("needs root")
        os.chmod(".", 0o755)
        program = compile_program("ids")
        os.chown(program, 65534, 65534)
        os.chmod(program, 0o4755)
        done = self.run_in(record_words() + [program])
        self.expect((done.returncode, done.stdout) == (0, "65534\n"), f"set-uid as root: {done}")
        self.expect("FO|/etc/hostname" in self.text_of(), "set-uid as root: what it opened")
        os.chown(program, 0, 0)
        os.chmod(program, 0o4755)
        open_dir = os.path.join(self.dir, "anyone")
        os.mkdir(open_dir)
        os.chmod(open_dir, 0o777)
        own = os.path.join(open_dir, "ftr")
        shutil.copy(FTR, own)
        done = self.run_in(["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", own, "record", "--syscalls",
                    "--format=etrace", "-o", open_dir + "/out.etrace", program])
        lines = done.stdout.splitlines()
        self.expect(done.returncode == 0 and "65534" in lines and "runs unprivileged" in done.stdout,
               f"set-uid as nobody: {done}")
        self.expect("FO|/etc/hostname" in self.text_of("anyone/out.etrace"), "set-uid as nobody: what it opened")

    def test_hidden(self):
        """A program that is not dumpable runs as it does, and paths that only root could read are reported missing."""
        if not IS_ROOT:
            self.skipTest("needs root")
        os.chmod(".", 0o755)
        program = compile_program("hidden")
        os.mkdir("anyone")
        os.chmod("anyone", 0o777)
        own = shutil.copy(FTR, os.path.join(self.dir, "anyone/ftr"))
        words = ["record", "--syscalls", "--format=etrace", "-o", self.dir + "/anyone/out.etrace", program]
        as_nobody = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", own]
        os.chmod(program, 0o755)
        done = self.run_in([FTR, *words])
        text = self.text_of("anyone/out.etrace")
        self.expect(done.returncode == 3 and "dumpable" not in done.stdout, f"hidden, as root: {done}")
        self.expect("FN|/etc/group" in text, "hidden, as root: what its child opened")
        os.remove("anyone/out.etrace")
        done = self.run_in([*as_nobody, *words])
        text = self.text_of("anyone/out.etrace")
        self.expect(done.returncode == 3 and done.stdout.count("is not dumpable") == 1, f"hidden: {done}")
        self.expect("FO|/etc/passwd" in text and "RF|/tmp/" in text, f"hidden: what it opened and renamed: {text}")
        self.expect("/etc/group" not in text and "FO|\n" in text, "hidden: its child's path")
        self.expect(text.count("!Close|fd=9\n") == 3 and "Close|fd=77" not in text, f"hidden: its closes: {text}")
        os.chmod(program, 0o711)        # not readable: never dumpable
        done = self.run_in([*as_nobody, *words])
        self.expect(done.returncode == 3 and done.stdout.count("is not dumpable") >= 1, f"unreadable: {done}")
        self.text_of("anyone/out.etrace")

    def test_namespaces(self):
        """Paths as the observer sees them: those of a directory made root lie in that directory."""
        if not IS_ROOT or subprocess.run(["unshare", "-m", "true"], stderr=subprocess.DEVNULL,
                                               check=False).returncode != 0:
            self.skipTest("needs root and mount namespaces")
        program = compile_program("namespaces")
        done = self.run_in(record_words() + ["--mount", program])
        text = self.text_of()
        root = os.path.join(self.dir, "cwd", "root")
        self.expect(done.returncode == 0, f"namespaces: {done}")
        for line in (f"FN|{root}/mounted", f"MT|{root}", "FO|/inside", f"FN|{root}/inside", f"FO|{root}/inside",
                     f"RF|{root}/inside", f"RT|{root}/renamed"):
            self.expect("!" + line + "\n" in text, f"namespaces: no {line}")

    def test_nesting(self):
        """Other tracers fail inside as they do under strace; an emptied environment changes nothing."""
        done = self.run_in(record_words() + ["env", "-i", "/bin/sh", "-c", "/bin/cat /etc/hostname >/dev/null"])
        self.expect(done.returncode == 0 and "FO|/etc/hostname" in self.text_of(), f"env -i: {done}")
        if shutil.which("strace") is None:
            self.skipTest("strace is not installed")
        native = self.run_in(["strace", "-f", "-o", "/dev/null", "strace", "-o", "/dev/null", "true"])
        done = self.run_in(record_words() + ["strace", "-o", "/dev/null", "true"])
        self.expect(native.returncode == done.returncode != 0,
               f"strace inside: {done.returncode} {done.stdout[-200:]}, in strace {native.returncode}")

    def test_own_calls(self):
        """What the runtime does in the program's name is not the program's."""
        program = compile_program("descriptors", "-pg", "-pthread")
        data = os.path.join(self.dir, "descriptors.data")
        done = self.run_in([FTR, "record", "--syscalls", "-d", data, program])
        calls = self.run_in([FTR, "report", "-d", data, "-f", "call"]).stdout
        text = self.text_of(data + "/syscalls.etrace")
        self.expect(done.returncode == 0 and "in_thread" in calls, f"own calls: {done} {calls}")
        self.expect((text.count("!SysClone|"), text.count("!Exit|")) == (1, 2), f"own calls: a child is seen: {text}")
        self.expect("call=close_range" not in text, f"own calls: closes are seen: {text}")


if __name__ == "__main__":
    harness.main()
