# SPDX-License-Identifier: MIT
"""ftr record and what surrounds a process: images that cannot be traced, namespaces, terminals, limits, rights."""
import os
import pty
import re
import shutil
import signal
import subprocess
import unittest

from recording import ENTRY, FTR, IS_ROOT, TIMEOUT, Recording, Trace, build, harness


def can(*command):
    return subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode == 0


def messages():
    try:
        with open("d/extern.dat") as file:
            return [line.split(" ", 1)[1].rstrip("\n") for line in file]
    except FileNotFoundError:
        return []


class Images(Recording):
    """Programs that run within a recording and cannot be traced."""

    def said(self, run, pattern):
        self.assertRegex(run.stderr, pattern)
        self.assertEqual(len(run.stderr.splitlines()), 1, run.stderr)
        self.assertRegex("\n".join(messages()), pattern)

    def test_static(self):
        build("victim.c", "static", "-pg", "-static")
        run = self.record("--force", "sh", "-c", "./static work; ./static work 6; ./victim work", quiet=False)
        self.assertEqual(run.stdout, "15\n21\n15\n")
        self.said(run, r"process \d+: runs untraced: \./static: is statically linked")
        self.assertEqual(len(messages()), 2)
        self.assertIn("statically linked", self.ftr("replay", "--no-pager", "-d", "d").stdout)

    def test_static_along_path(self):
        build("victim.c", "static", "-pg", "-static")
        run = self.record("--force", "env", "PATH=/nowhere:" + os.getcwd(), "static", "work", quiet=False)
        self.said(run, "untraced: static: is statically linked")

    @unittest.skipUnless(IS_ROOT, "needs root")
    def test_set_uid(self):
        shutil.copy("plain", "raised")
        os.chown("raised", 65534, 65534)
        os.chmod("raised", 0o4755)
        os.chmod(".", 0o755)
        run = self.record("--force", "sh", "-c", "./raised work; ./victim work", quiet=False)
        self.assertEqual(run.stdout, "15\n15\n")
        self.said(run, "untraced: ./raised: set-uid")

    def test_scripts_are_traced(self):
        with open("script", "w") as file:
            file.write("#!/bin/sh\n./victim work\n")
        os.chmod("script", 0o755)
        self.assertEqual(self.record("--force", "sh", "-c", "./script; exit 0").stdout, "15\n")
        self.assertEqual(messages(), [])
        self.assertEqual(len(Trace("d").only()), 16)

    def test_silent_parent(self):
        """A shell that makes no call of its own has no data, and nobody misses them."""
        self.record("--force", "sh", "-c", "./victim work; ./victim work")
        report = self.ftr("report", "--no-pager", "-d", "d")
        self.assertEqual((report.returncode, report.stderr), (0, ""))
        os.unlink("d/%d.dat" % Trace("d").listed[0])
        self.assertIn("calls of this task are not shown", self.ftr("report", "--no-pager", "-d", "d").stderr)

    def test_no_environment(self):
        run = self.record("--force", "env", "-i", "./victim", "work")
        self.assertEqual(run.stdout, "15\n")
        self.assertEqual(len(Trace("d").only()), 16)

    def test_recording_in_a_recording(self):
        run = self.record("--force", FTR, "record", "--no-libcall", "-d", "inner", "./victim", "work")
        self.assertEqual(run.stdout, "15\n")
        self.assertEqual(len(Trace("inner").only()), 16)
        shutil.rmtree("inner")

    def test_not_there(self):
        self.record("--force", "sh", "-c", "exec ./nowhere 2>/dev/null", status=127)
        self.assertEqual(messages(), [])


@unittest.skipUnless(IS_ROOT and shutil.which("unshare"), "needs root and unshare")
class Nursery(Recording):
    """Rings made ahead for children: only where a process forks again and again, and none may be left in it."""
    LOOK = "( while read line; do case $line in *ftr-nursery*) echo made;; esac; done </proc/self/maps )"

    def made(self, forks, *options):
        script = "( : ); " * forks + self.LOOK + "; :"
        return self.record("--force", "--no-libcall", *options, "sh", "-c", script).stdout

    def test_from_the_third_fork_on(self):
        self.assertEqual(self.made(1), "")
        self.assertEqual(self.made(2), "made\n")
        self.assertEqual(self.made(9), "made\n")

    def test_not_where_rings_are_overwritten(self):
        self.assertEqual(self.made(9, "--on-full=overwrite"), "")
        self.assertEqual(self.made(9, "--overwrite=1M"), "")


class Orphans(Recording):
    """A child that tells of itself when its parent has ended, or is another program, is what its parent was."""

    def setUp(self):
        super().setUp()
        build("fork_orphan.c", "orphan", "-pg", "-O1")
        build("fork_orphan.c", "of.so", "-pg", "-O1", "-DLIBRARY", "-shared", "-fPIC")

    def check(self, *program):
        for options in ([], ["--no-libcall"], ["--no-libcall", "--summary"]):
            with self.subTest(options=options):
                self.record("--no-event", *options, "./orphan", "./of.so", *program)
                report = self.ftr("report", "--no-pager", "-d", "d", "-f", "call").stdout
                calls = {words[1]: int(words[0]) for words in map(str.split, report.splitlines()[2:])}
                for name in ("of_parent", "of_child", "of_library"):
                    self.assertEqual(calls.get(name), 1, f"{name}: {report}")
                shutil.rmtree("d")

    def test_of_one_that_has_ended(self):
        self.check()

    def test_of_one_that_runs_another_program(self):
        self.check("./victim", "work", "1000")


@unittest.skipUnless(shutil.which("strace") and can("strace", "-o", "/dev/null", "true"), "needs strace")
class OldKernel(Recording):
    """What Linux did not have before 5.3, and what came later, is not needed."""
    LATER = "pidfd_open,pidfd_send_signal,close_range,openat2,faccessat2,clone3,epoll_pwait2"

    def test_ends_are_seen(self):
        for command in (["record", "-d", "d"], ["live", "--no-pager"]):
            run = self.run_program("strace", "-o", "/dev/null", "-e", f"inject={self.LATER}:error=ENOSYS", FTR, *command,
                                   "--force", "--no-event", "sh", "-c", "./victim work; ./victim work & ./victim work; wait; exit 3")
            self.assertEqual((run.returncode, run.stdout.count("15\n")), (3, 3), run.stderr)


class Vfork(Recording):
    """Children that run in their parent's memory are tasks of their own."""

    def tasks_of(self, replay, func):
        return {int(tid) for tid in re.findall(r"\[ *(\d+)\] \| +%s\(" % func, replay)}

    def test_tasks(self):
        self.check("vfork.c", "1 2 3\n4 6 6\n9 7\n", parents=1, forks=19)

    def test_of_threads(self):
        self.check("vfork_threads.c", "240\n", parents=4, forks=40)

    def check(self, source, output, parents, forks):
        for flags in (["-pg", "-O2"], ["-pg", "-mfentry", "-O2"]):
            for options in (["--no-libcall"], []):
                with self.subTest(flags=flags, options=options):
                    build(source, "vforks", "-DTAIL_CALL", "-pthread", *flags)
                    run = self.ftr("record", "-d", "d", "--no-event", *options, "./vforks")
                    self.assertEqual((run.returncode, run.stderr), (0, ""))
                    self.assertEqual(run.stdout, output)
                    self.check_tasks(parents, forks)
                    shutil.rmtree("d")

    def check_tasks(self, parents, forks):
        trace = Trace("d")
        made = [re.search(r"pid=(\d+) ppid=(\d+)", line).groups() for line in trace.words("FORK")]
        children = {int(pid) for pid, _ in made}
        replay = self.ftr("replay", "--no-pager", "-d", "d", "-f", "tid").stdout
        self.assertEqual(len(made), forks)
        self.assertEqual(len(children), forks)
        self.assertTrue({int(ppid) for _, ppid in made} <= set(trace.tasks))
        self.assertEqual(self.tasks_of(replay, "in_child"), children)
        self.assertEqual(len(self.tasks_of(replay, "in_parent")), parents)
        self.assertEqual(self.tasks_of(replay, "in_parent") & children, set())
        depths = {record.depth for tid in trace.tasks if tid not in children for record in trace.tasks[tid]}
        self.assertLess(max(depths), 8)


class Surroundings(Recording):
    """Namespaces, other roots, other users, hardly any resources."""

    def check(self, *words):
        """A process, two threads and a forked child, each of which makes calls."""
        os.chmod(".", 0o755)
        run = self.record("--force", *words, os.getcwd() + "/victim", "family", "2")
        self.assertEqual(run.stdout, "30\n")
        self.assertEqual(sorted(len(task) for task in Trace("d").tasks.values()), [14, 20, 24, 24])
        self.assertEqual(messages(), [])

    def unshare(self, *options):
        if not can("unshare", *options, "true"):
            self.skipTest("no such namespaces here")
        self.check("unshare", *options)

    def test_network(self):
        self.unshare("-n")

    def test_mounts(self):
        self.unshare("-m")

    def test_users(self):
        self.unshare("-U", "-r")

    def test_pids(self):
        self.unshare("-p", "-f")

    def test_all(self):
        self.unshare("-U", "-r", "-n", "-m", "-p", "-f", "-i", "-u")

    def shm(self, command):
        if not can("unshare", "-m", "sh", "-c", command):
            self.skipTest("cannot be mounted here")
        self.check("unshare", "-m", "sh", "-c", command + ' && exec "$0" "$@"')

    def test_shm_small(self):
        self.shm("mount -t tmpfs -o size=512k none /dev/shm")

    def test_shm_read_only(self):
        self.shm("mount -t tmpfs -o ro none /dev/shm")

    def test_shm_absent(self):
        self.shm("mount -t tmpfs none /dev")

    @unittest.skipUnless(IS_ROOT, "needs root")
    def test_other_user(self):
        self.check("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups")

    def test_few_descriptors(self):
        # 0, 1 and 2 are the program's: one is left, where three are needed for a moment.
        self.check("sh", "-c", 'ulimit -n 4; exec "$0" "$@"')

    def test_no_memory(self):
        run = self.record("--force", "./victim", "limited", "5", quiet=False)
        self.assertEqual(run.stdout, "15\n")
        self.assertRegex(run.stderr, r"^ftr: warning: process \d+: cannot allocate a ring.*ulimit -v.*\n$")
        self.assertRegex(messages()[0], "cannot allocate")

    def test_little_memory(self):
        for kilobytes in (8000, 20000, 100000):
            self.record("--force", "sh", "-c", "ulimit -v %d; exec ./victim work" % kilobytes)
            self.assertEqual(len(Trace("d").only()), 16)

    def test_threads_in_little_memory(self):
        """Eight threads with stacks of 8 MB, where there is room for hardly more."""
        build("limits.c", "limits", "-pg", "-O1", "-DTHREADS=8")
        self.record("--force", "sh", "-c", "ulimit -v 90000; exec ./limits")

    def test_small_stack(self):
        self.check("sh", "-c", 'ulimit -s 64; exec "$0" "$@"')


class Names(Recording):
    """What threads are called is shown by every command, whoever tells."""

    @classmethod
    def set_up_class(cls):
        super().set_up_class()
        build("deny_events.c", "deny_events", "-O1")

    def check(self, command, *words):
        shown = re.findall("gamma|beta|alpha|victim", self.ftr(command, "--no-pager", "-d", "d", *words).stdout)
        self.assertEqual(sorted(shown), ["alpha", "beta", "gamma", "gamma"], command)

    def check_all(self):
        self.check("report", "--task")
        self.check("info", "--task")
        self.check("graph", "--task")
        replay = self.ftr("replay", "--no-pager", "-d", "d", "-f", "task").stdout
        self.assertRegex(replay, r"alpha \| +named\(\) {")
        self.assertRegex(replay, r"beta \| +named\(\) {")
        self.assertNotRegex(replay, r"victim \| +named")

    def test_by_the_kernel(self):
        if not self.has_events:
            self.skipTest("not permitted here")
        self.record("./victim", "names")
        self.check_all()

    def test_by_the_runtime(self):
        run = subprocess.run(["./deny_events", "1", FTR, "record", "--no-libcall", "-d", "d", "./victim", "names"],
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=TIMEOUT)
        self.assertIn("perf_event_open", run.stderr)
        self.check_all()


class Jobs(Recording):
    """A shell, a terminal, and ftr with its program as the job in it."""

    def job(self, script, *program):
        """Run the words as a foreground job; @script(shell, terminal) plays the shell and the one who types."""
        reports, report = os.pipe()
        pid, terminal = pty.fork()
        if pid == 0:
            os.close(reports)
            Shell(report, [FTR, "record", "--no-libcall", "-d", "d", *program]).run()
        os.close(report)
        try:
            with os.fdopen(reports) as lines:
                script(terminal, lines)
        finally:
            os.kill(pid, signal.SIGHUP)
            os.close(terminal)
            os.waitpid(pid, 0)

    def read_until(self, terminal, text):
        got = b""
        while text not in got:
            got += os.read(terminal, 1000)
        return got

    def expect(self, reports, line):
        self.assertEqual(reports.readline(), line + "\n")

    def finish(self, terminal, reports, expected=100012):
        os.write(terminal, b"go on\n")
        self.read_until(terminal, b"705082704")
        self.expect(reports, "exited 0")
        calls = [record for record in Trace("d").only() if record.type == ENTRY]
        self.assertEqual(len([record for record in calls if record.depth > 1]), expected)

    def test_stopped_by_the_terminal(self):
        def script(terminal, reports):
            self.read_until(terminal, b"ready")
            os.write(terminal, b"\x1a")
            self.expect(reports, "stopped, 2 of 2 stand still")
            self.finish(terminal, reports)
        for options in ([], ["--syscalls"]):
            with self.subTest(options):
                self.job(script, *options, "./victim", "wait", "100000")

    def test_stops_itself(self):
        def script(terminal, reports):
            self.expect(reports, "stopped, 2 of 2 stand still")
            self.read_until(terminal, b"ready")
            self.finish(terminal, reports, 100013)
        self.job(script, "./victim", "stop", "100000")

    def test_reads_in_the_background(self):
        def script(terminal, reports):
            self.expect(reports, "stopped, 2 of 2 stand still")
            self.read_until(terminal, b"ready")
            self.finish(terminal, reports)
        self.job(script, "--background", "./victim", "wait", "100000")

    def test_takes_the_terminal(self):
        def script(terminal, reports):
            self.read_until(terminal, b"ready")
            self.finish(terminal, reports, 100013)
        self.job(script, "./victim", "foreground", "100000")

    def test_interrupted(self):
        def script(terminal, reports):
            self.read_until(terminal, b"ready")
            os.write(terminal, b"\x03")
            self.expect(reports, "exited 130")
        self.job(script, "./victim", "loop", "1000")

    def state(self, pid):
        with open("/proc/%d/stat" % pid) as file:
            return file.read().rsplit(") ", 1)[1][0]

    def test_signals_are_handed_on(self):
        child = self.start("./victim", "wait", "100000")
        self.wait_for(lambda: Trace("d").listed)
        victim = Trace("d").listed[0]
        child.send_signal(signal.SIGTSTP)
        self.wait_for(lambda: self.state(victim) == "T" and self.state(child.pid) == "T")
        child.send_signal(signal.SIGCONT)
        self.wait_for(lambda: self.state(victim) != "T" and self.state(child.pid) != "T")
        child.send_signal(signal.SIGUSR1)
        child.wait(timeout=TIMEOUT)
        child.communicate()
        self.assertEqual(child.returncode, 128 + signal.SIGUSR1)

    def test_program_is_continued_alone(self):
        child = self.start("./victim", "wait", "100000")
        self.wait_for(lambda: Trace("d").listed)
        victim = Trace("d").listed[0]
        os.kill(victim, signal.SIGSTOP)
        self.wait_for(lambda: self.state(child.pid) == "T")
        os.kill(victim, signal.SIGCONT)
        self.wait_for(lambda: self.state(child.pid) != "T")
        out, _ = child.communicate("go on\n", timeout=TIMEOUT)
        self.assertEqual((out, child.returncode), ("705082704\n", 0))


class Shell:
    """What a shell does with one job: runs it, notices that it stops, takes it to the foreground."""

    def __init__(self, report, words):
        self.report = os.fdopen(report, "w", 1)
        self.in_background = "--background" in words
        self.words = [word for word in words if word != "--background"]

    def run(self):
        signal.signal(signal.SIGTTOU, signal.SIG_IGN)
        signal.signal(signal.SIGHUP, signal.SIG_DFL)    # ends the pause below, also under nohup
        job = os.fork()
        if job == 0:
            os.setpgid(0, 0)
            if not self.in_background:
                os.tcsetpgrp(0, os.getpid())
            signal.signal(signal.SIGTTOU, signal.SIG_DFL)
            os.execv(self.words[0], self.words)
        while True:
            _, status = os.waitpid(job, os.WUNTRACED)
            if not os.WIFSTOPPED(status):
                break
            os.tcsetpgrp(0, os.getpgrp())
            states = self.states(job)
            self.report.write("stopped, %d of %d stand still\n" % (states.count("T") + states.count("t"), len(states)))
            os.tcsetpgrp(0, job)
            os.killpg(job, signal.SIGCONT)
        self.report.write("exited %d\n" % os.waitstatus_to_exitcode(status))
        signal.pause()

    def states(self, job):
        """The letters of the processes in the job, without ftr's own helper."""
        found = []
        for name in os.listdir("/proc"):
            try:
                with open("/proc/%d/stat" % int(name)) as file:
                    comm, rest = file.read().split("(", 1)[1].rsplit(") ", 1)
            except (ValueError, OSError):
                continue
            if int(rest.split()[2]) == job and not (comm == "ftr" and int(name) != job):
                found.append(rest[0])
        return found


if __name__ == "__main__":
    harness.main()
