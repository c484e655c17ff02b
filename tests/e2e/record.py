# SPDX-License-Identifier: MIT
"""ftr record under bad circumstances: programs that cannot be traced, deaths, full disks, hostile programs."""
import glob
import os
import re
import resource
import shutil
import signal
import struct
import subprocess
import time
import unittest

from recording import CC, ENTRY, EVENT, EXIT, FTR, LOST, TIMEOUT, Recording, Trace, build, harness


class RecordTest(Recording):
    # Programs that cannot be traced.

    def test_missing(self):
        self.refused(127, "nowhere: no such program", "nowhere")
        self.refused(127, "No such file", "./nowhere")

    def test_name_in_this_directory(self):
        self.record("victim", "work", "5")
        self.assertEqual(len(Trace("d").only()), 16)
        shutil.rmtree("d")
        shutil.copy("plain", "first")
        os.mkdir("bin")
        shutil.move("first", "bin/victim")
        self.refused(126, "victim: not instrumented", "victim", "work",     # PATH comes first
                     env=dict(os.environ, PATH=self.dir + "/bin:" + os.environ["PATH"]))
        shutil.copy("victim", "locked")
        os.chmod("locked", 0o644)
        self.refused(126, "locked: not executable; run chmod", "locked")
        self.refused(126, "bin: is a directory", "bin")

    def test_not_executable(self):
        shutil.copy("victim", "locked")
        os.chmod("locked", 0o644)
        self.refused(126, "chmod", "./locked")
        self.refused(126, "directory", "/tmp")

    def test_not_instrumented(self):
        self.refused(126, "not instrumented.*-pg", "./plain", "work")
        run = self.record("--force", "./plain", "work")
        self.assertEqual(run.stdout, "15\n")

    def test_static(self):
        for flag in ("-static", "-static-pie"):
            build("victim.c", "static", "-pg", flag)
            self.refused(126, "static.*without -static.*--syscalls", "./static", "work")
            status = subprocess.run(["./static", "work"], stdout=subprocess.DEVNULL, timeout=TIMEOUT).returncode
            self.record("--syscalls", "./static", "work", status=status if status >= 0 else 128 - status)
            shutil.rmtree("d")

    def test_stripped(self):
        build("victim.c", "stripped", "-pg", "-s")
        self.record("./stripped", "work", "5")
        self.assertEqual(len(Trace("d").only()), 16)

    def test_other_class(self):
        with open("victim", "rb") as file:
            image = bytearray(file.read())
        for machine, name in ((40, "64-bit, ELF machine 40"), (183, "64-bit Arm")):
            image[18] = machine
            with open("foreign", "wb") as file:
                file.write(image)
            os.chmod("foreign", 0o755)
            self.refused(126, f"another machine \\({name}\\)", "./foreign")

    def test_no_program(self):
        for name, content in (("empty", b""), ("text", b"hello\n"), ("cut", b"\x7fELF\2\1\1")):
            with open(name, "wb") as file:
                file.write(content)
            os.chmod(name, 0o755)
            self.refused(126, "not a program", "./" + name)

    def test_script(self):
        with open("script", "w") as file:
            file.write("#!/bin/sh\necho $((6 * 7))\n")
        os.chmod("script", 0o755)
        self.refused(126, "script.*interpreter.*sh", "./script")
        self.assertEqual(self.record("--force", "./script").stdout, "42\n")

    @unittest.skipUnless(os.getuid() == 0, "needs root")
    def test_set_uid(self):
        shutil.copy("victim", "raised")
        os.chown("raised", 65534, 65534)
        os.chmod("raised", 0o4755)
        self.refused(126, "set-uid", "./raised", "work")

    def test_runtime_missing(self):
        self.refused(125, "libmcount.so.*--libmcount-path", "--libmcount-path", "/nowhere",
                     "./victim")
        os.makedirs("damaged", exist_ok=True)
        with open("damaged/libmcount.so", "w") as file:
            file.write("no library\n")
        self.refused(125, "install", "--libmcount-path", "damaged", "./victim")

    def test_runtime_cut_short(self):
        runtime = os.path.join(os.path.dirname(os.path.abspath(FTR)), "libmcount.so")
        os.makedirs("short", exist_ok=True)
        with open(runtime, "rb") as whole, open("short/libmcount.so", "wb") as cut:
            cut.write(whole.read(20000))
        self.refused(125, "truncated", "--libmcount-path", "short", "./victim")

    def test_runtime_is_something_else(self):
        with open("other.c", "w") as file:
            file.write("int other;\n")
        os.makedirs("other", exist_ok=True)
        subprocess.run([*CC, "-shared", "-fPIC", "other.c", "-o", "other/libmcount.so"], check=True)
        run = self.record("--libmcount-path", "other", "./victim", "status", "3", status=3,
                          quiet=False)
        self.assertIn("connected", run.stderr)

    def test_options(self):
        self.refused(2, "no function of .* matches x", "-A", "x@arg1", "./victim")
        self.refused(2, "no-such", "--no-such", "./victim")
        self.refused(2, "program", )

    def test_not_a_trace(self):
        os.mkdir("d")
        with open("d/letter", "w"):
            pass
        run = self.ftr("record", "--no-libcall", "-d", "d", "./victim", "work")
        self.assertEqual(run.returncode, 125)
        self.assertIn("not a trace", run.stderr)
        self.assertEqual(os.listdir("d"), ["letter"])

    # The program gets what is its own.

    def test_arguments_are_the_programs(self):
        self.refused(126, "not instrumented", "/bin/echo", "-d", "x", "--help")
        run = self.record("--force", "/bin/echo", "-d", "x", "--force")
        self.assertEqual(run.stdout, "-d x --force\n")

    def test_exit_status(self):
        self.record("./victim", "status", "77", status=77)
        self.assertEqual(Trace("d").info["exit_status"], str(77 << 8))

    def test_looks_the_same_inside(self):
        # (natively -pg also starts a profiling timer, which tracing has no use for)
        native = subprocess.run(["./plain", "look"], stdout=subprocess.PIPE, text=True)
        self.assertEqual(self.record("./victim", "look").stdout, native.stdout)

    def at_terminal(self, *words):
        """What ftr record writes to a terminal, in lines."""
        terminal, other = os.openpty()
        status = self.ftr("record", *words, stderr=other, stdout=subprocess.DEVNULL).returncode
        os.close(other)
        text = b""
        try:
            while chunk := os.read(terminal, 4096):
                text += chunk
        except OSError:                 # the other end is closed
            pass
        os.close(terminal)
        lines = text.decode().splitlines()
        return status, [line for line in lines if "perf_event_open" not in line]

    def test_closing_line_on_a_terminal(self):
        status, lines = self.at_terminal("--no-libcall", "-d", "d", "./victim", "threads", "3")
        self.assertEqual((status, len(lines)), (0, 1), lines)
        calls = sum(r.type == ENTRY for task in Trace("d").tasks.values() for r in task)
        self.assertRegex(lines[0], rf"^ftr: {calls} calls, 4 tasks, [\d.]+ KB in d; next: ftr replay d, or report$")
        size = sum(os.path.getsize(name) for name in glob.glob("d/*") if os.path.isfile(name))
        self.assertAlmostEqual(float(lines[0].split()[5]), size / 1024, delta=0.1)
        self.assertEqual(self.at_terminal("./victim", "work", "2")[1][0].split("; ")[1], "next: ftr replay, or report")

    def test_death_and_loss_on_a_terminal(self):
        status, lines = self.at_terminal("--no-libcall", "-d", "d", "./victim", "abort")
        self.assertEqual(status, 128 + signal.SIGABRT)
        self.assertEqual(lines[0], "ftr: ./victim was killed by signal 6 (Aborted)")
        self.assertRegex(lines[1], "^ftr: .* in d;")
        status, lines = self.at_terminal("--no-libcall", "--on-full=drop", "-b", "4K", "-d", "d", "./victim", "work",
                                         "1000000")
        self.assertRegex(lines[-1], "^ftr: warning: LOST [0-9]+ records: ")
        self.assertRegex(lines[-2], "^ftr: .* in d;")

    def test_without_a_recorder(self):
        # The library alone, as in a process that has lost the channel, changes nothing either.
        runtime = os.path.join(os.path.dirname(os.path.abspath(FTR)), "libmcount.so")
        for program in (["sh", "-c", "exit 3"], ["./victim", "status", "3"]):
            run = subprocess.run(program, env={**os.environ, "LD_PRELOAD": runtime}, timeout=TIMEOUT,
                                 stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
            self.assertEqual((run.returncode, run.stdout), (3, b""))
        self.record("--force", "sh", "-c", "exit 3", status=3)

    def test_keep_pid(self):
        child = subprocess.Popen([FTR, "record", *self.options, "--keep-pid", "./victim", "pid"],
                                 stdout=subprocess.PIPE, text=True)
        out, _ = child.communicate(timeout=TIMEOUT)
        self.assertEqual(int(out), child.pid)
        self.assertEqual(child.returncode, 0)
        self.wait_for(lambda: Trace("d").listed == [child.pid] and len(Trace("d").only()) == 16)
        for mode, number, status in (("status", "7", 7 << 8), ("kill", "1", 9)):
            self.ftr("record", "--no-libcall", "-d", "d", "--keep-pid", "./victim", mode, number)
            self.wait_for(lambda: Trace("d").info.get("exit_status") == str(status))

    # Deaths.

    def test_deaths(self):
        for mode, signo in (("abort", signal.SIGABRT), ("segv", signal.SIGSEGV),
                            ("kill", signal.SIGKILL)):
            self.record("./victim", mode, "1000", status=128 + signo)
            trace = Trace("d")
            self.assertEqual(int(trace.info["exit_status"]) & 127, signo)
            calls = [r for r in trace.only() if r.depth == 3 or r.depth == 2]
            self.assertGreaterEqual(len(calls), 2002, mode)

    def test_open_calls_of_the_killed(self):
        self.record("--no-event", "./victim", "kill", "1000", status=128 + signal.SIGKILL)
        records = Trace("d").only()
        self.assertEqual(len(records), 2 * 1001 + 2)        # main and mode_kill are open
        replay = self.ftr("replay", "--no-pager", "-d", "d", "-f", "none", "--no-comment").stdout
        self.assertEqual(replay.splitlines()[:3], ["main() {", "  mode_kill() {", "    work() {"])

    def test_no_call_at_all(self):
        with open("early.c", "w") as file:
            file.write("#include <unistd.h>\n__attribute__((constructor, no_instrument_function)) "
                       "static void early(void) { _exit(4); }\nint main(void) { return 0; }\n")
        subprocess.run([*CC, "-pg", "early.c", "-o", "early"], check=True)
        self.record("./early", status=4)
        self.assertEqual(Trace("d").only(), [])
        self.assertEqual(self.ftr("replay", "--no-pager", "-d", "d").returncode, 0)

    def test_recorder_killed(self):
        child = self.start("./victim", "wait", "100000")
        self.wait_for(lambda: Trace("d").tasks and len(Trace("d").only()) > 20)
        child.kill()
        child.wait()
        out, _ = child.communicate("go on\n", timeout=TIMEOUT)
        self.assertEqual(out, "705082704\n")        # the program's own, to its end
        trace = Trace("d")
        self.assertEqual(trace.listed, list(trace.tasks))
        self.assertEqual([r.type for r in trace.only()][:3], [ENTRY, ENTRY, ENTRY])

    def test_terminated(self):
        child = self.start("./victim", "loop", "1000")
        child.send_signal(signal.SIGTERM)
        child.communicate(timeout=TIMEOUT)
        self.assertEqual(child.returncode, 128 + signal.SIGTERM)
        self.assertGreater(len(Trace("d").only()), 20)

    def test_interrupted_at_the_terminal(self):
        child = subprocess.Popen([FTR, "record", *self.options, "./victim", "loop", "1000"],
                                 stdout=subprocess.PIPE, process_group=0, text=True)
        self.assertEqual(child.stdout.readline(), "ready\n")
        os.killpg(child.pid, signal.SIGINT)
        child.communicate(timeout=TIMEOUT)
        self.assertEqual(child.returncode, 128 + signal.SIGINT)
        self.assertGreater(len(Trace("d").only()), 20)

    def test_child_outlives_and_execs(self):
        for _ in range(10):
            self.record("./victim", "heir")
            self.assertEqual(len(Trace("d").words("SESS")), 2)

    def test_child_outlives(self):
        self.record("./victim", "daemon", "50")
        trace = Trace("d")
        self.assertEqual(len(trace.words("FORK")), 1)
        child = int(re.search(r"pid=(\d+)", trace.words("FORK")[0]).group(1))
        self.assertEqual(len([r for r in trace.tasks[child] if r.type == ENTRY]), 51)

    def test_daemon(self):
        self.record("./victim", "service", "50")
        trace = Trace("d")
        child = int(re.search(r"pid=(\d+)", trace.words("FORK")[-1]).group(1))
        self.assertEqual(len([r for r in trace.tasks[child] if r.type == ENTRY]), 51)

    def test_stop_while_a_child_goes_on(self):
        child = subprocess.Popen([FTR, "record", *self.options, "--force", "sh", "-c", "sleep 30 &"],
                                 stderr=subprocess.PIPE, process_group=0, text=True)
        self.wait_for(lambda: os.path.exists("d/task.txt") and Trace("d").words("SESS"))
        time.sleep(0.3)
        os.killpg(child.pid, signal.SIGTERM)
        child.communicate(timeout=TIMEOUT)

    # Many of them.

    def test_threads(self):
        self.record("./victim", "threads", "300")
        trace = Trace("d")
        self.assertEqual(len(trace.tasks), 301)
        self.assertEqual(sorted(trace.listed), sorted(trace.tasks))
        self.assertEqual(len(trace.words("TASK")), 301)
        self.assertEqual(sum(len(records) == 24 for records in trace.tasks.values()), 300)

    def test_thousands_of_threads(self):
        def few_descriptors():
            """Each thread's first call needs some for a moment."""
            resource.setrlimit(resource.RLIMIT_NOFILE, (64, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
        self.record("--no-event", "./victim", "brief", "3000", preexec_fn=few_descriptors)
        trace = Trace("d")
        calls = [len([r for r in records if r.type == ENTRY]) for records in trace.tasks.values()]
        self.assertEqual(sum(calls), 2 + 2 * 3000)

    @unittest.skipUnless(os.getuid() == 0 and shutil.which("unshare"), "needs root and unshare")
    def test_pid_namespace(self):
        if subprocess.run(["unshare", "-pf", "true"], stderr=subprocess.DEVNULL).returncode:
            self.skipTest("no new pid namespaces here")
        self.record("--force", "unshare", "-pf", "./victim", "threads", "5")
        self.check_outer_numbers(6)
        self.record("--force", "unshare", "-pf", "./victim", "children", "5")
        self.check_outer_numbers(6)
        forks = [re.search(r" pid=(\d+) ppid=(\d+)", line) for line in Trace("d").words("FORK")]
        self.assertEqual(forks[0].group(1), forks[1].group(2))      # unshare's child
        self.assertEqual(len({fork.group(2) for fork in forks[1:]}), 1)

    def check_outer_numbers(self, count):
        tids = list(Trace("d").tasks)
        self.assertEqual(len(tids), count)
        self.assertGreater(min(tids), count)        # inside they are 1, 2, 3 ...

    def test_children(self):
        self.record("./victim", "children", "40")
        trace = Trace("d")
        self.assertEqual(len(trace.words("FORK")), 40)
        self.assertEqual(len(trace.words("SESS")), 1)
        self.assertEqual(len(trace.tasks), 41)

    def test_spawn(self):
        self.record("./victim", "spawn")
        trace = Trace("d")
        parent, child = [re.search(r" pid=(\d+)", line)[1] for line in trace.words("SESS")]
        self.assertEqual(len(trace.words("FORK")), 1)
        self.assertIn(f" pid={child} ppid={parent}", trace.words("FORK")[0])
        self.record("./victim", "shell")        # which has no calls to show
        self.assertEqual(Trace("d").words("FORK"), [])
        self.assertEqual(self.ftr("replay", "--no-pager", "-d", "d").stderr, "")

    def test_exec(self):
        self.record("./victim", "exec", "20")
        trace = Trace("d")
        self.assertEqual(len(trace.words("SESS")), 21)
        self.assertEqual(len(glob.glob("d/*.map")), 21)
        leaves = [r for r in trace.only() if r.type == EXIT and r.depth == 3]
        self.assertEqual(len(leaves), 3 * 21)

    def test_exec_right_behind_calls(self):
        """The recorder may have looked at the clock long before."""
        self.record("./victim", "slow-exec", "6")
        calls = [r for r in Trace("d").only() if r.depth == 2]
        self.assertEqual(len(calls), 6 * 2 * 2)
        took = [leave.time - enter.time for enter, leave in zip(calls[::2], calls[1::2])]
        self.assertEqual([ns for ns in took if ns < 49000], [])

    def test_several_threads_drain(self):
        self.record("-b", "4K", "--num-thread", "4", "./victim", "parallel", "30000")
        trace = Trace("d")
        self.assertEqual(len(trace.tasks), 9)
        counts = [len([r for r in records if r.type in (ENTRY, EXIT)]) for records in trace.tasks.values()]
        self.assertEqual(sorted(counts)[1:], [2 * 30002] * 8)

    def test_detach(self):
        child = subprocess.Popen([FTR, "record", *self.options, "--detach", "./victim", "leave", "5"],
                                 stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.assertEqual(child.wait(timeout=TIMEOUT), 0)
        child.stdin.write("go on\n")     # to the one that was left
        child.stdin.close()
        self.assertEqual(child.stdout.read(), "15\n")
        self.assertEqual(child.stderr.read(), "")
        child.stdout.close()
        child.stderr.close()

    def test_images_after_the_recording(self):
        # What was left running does not complain of a recorder that is gone.
        child = subprocess.Popen([FTR, "record", *self.options, "--detach", "./victim", "leave-exec"],
                                 stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.assertEqual(child.wait(timeout=TIMEOUT), 0)
        out, err = child.communicate("go on\n", timeout=TIMEOUT)
        self.assertEqual((out, err), ("15\n15\n", ""))

    @unittest.skipUnless(shutil.which("strace"), "strace is not installed")
    def test_no_system_call_in_the_hook(self):
        def calls_of(n):
            subprocess.run(["strace", "-f", "-qq", "-o", "calls", FTR, "record", "--no-libcall", "--no-event",
                            "--no-randomize-addr", "-d", "d",
                            "./victim", "work", str(n)], check=True, stdout=subprocess.DEVNULL, timeout=TIMEOUT,
                           env={**os.environ, "ASAN_OPTIONS": "detect_leaks=0"})    # that needs ptrace itself
            victim = Trace("d").listed[0]
            with open("calls") as file:
                return re.findall(r"^%d +(\w+)\(" % victim, file.read(), re.M)
        few, many = calls_of(10), calls_of(20000)
        self.assertEqual(few, many)

    def test_real_time(self):
        with open("/proc/sys/kernel/sched_rt_runtime_us") as file:
            self.assertNotEqual(file.read(), "")
        child = self.start("--rt-prio", "7", "./victim", "wait", "5")
        with open("/proc/%d/stat" % child.pid) as file:
            words = file.read().rsplit(") ", 1)[1].split()
        _, err = child.communicate("go on\n", timeout=TIMEOUT)
        if err:
            self.assertRegex(err, "rt-prio=7.*ulimit -r")
        else:
            self.assertEqual(words[37:39], ["7", "1"])      # rt_priority, SCHED_FIFO

    # Not enough room.

    def test_disk_full(self):
        def limit():
            import resource
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
            import resource
            resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 20))
        self.record("./victim", "work", "10000", preexec_fn=limit)
        calls = [record for record in Trace("d").only() if record.type in (ENTRY, EXIT)]
        self.assertEqual(len(calls), 2 * 10003)

    def test_wait(self):
        self.record("-b", "4K", "./victim", "work", "100000")
        records = Trace("d").only()
        self.assertEqual(len([r for r in records if r.type in (ENTRY, EXIT)]), 200006)
        stalls = [r for r in records if r.type == EVENT]
        self.assertGreater(len(stalls), 0)
        with open("d/events.txt") as file:
            self.assertIn("EVENT: 1000000 ftr:stall-begin\n", file.read())

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

    # Programs that mean harm.

    def fake(self, mode, *words, status=0, quiet=True):
        self.record("--force", "-b", "64K", *words, "./fake", mode, status=status, quiet=quiet)
        return Trace("d").only()

    def test_hole(self):
        records = self.fake("hole", "--clock", "counter", status=128 + 9)
        self.assertEqual([r.time for r in records], [1000, 2000, 3000])

    def test_backwards(self):
        records = self.fake("backwards", "--clock", "counter")
        self.assertEqual([r.time for r in records], [5000, 5000, 6000, 6500])

    def test_deep(self):
        records = self.fake("deep", "--clock", "counter")
        self.assertEqual([r.depth for r in records[:1500]],
                         [min(i, 1023) for i in range(1500)])
        self.assertEqual([r.depth for r in records[1500:]],
                         [min(i, 1023) for i in reversed(range(1500))])

    def test_future(self):
        records = self.fake("future")
        now = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
        self.assertEqual(len(records), 3)
        self.assertLess(records[-1].time, now)

    def test_fake_overwrite(self):
        records = self.fake("overwrite", "--clock", "counter", "--on-full", "overwrite")
        self.assertEqual(records[0].type, LOST)
        self.assertEqual([r.time for r in records[1:]], list(range(2 * 4096 + 5, 3 * 4096 + 5)))

    # Records with a payload (fake_tracee.c says what is in it).

    def payload_records(self, mode, *words, **options):
        """(index, payload or None) of each call, as it stands in the file; events are left out."""
        self.record("--force", "-b", "64K", "--clock", "counter", *words, "./fake", mode, **options)
        with open(glob.glob("d/[0-9]*.dat")[0], "rb") as file:
            data = file.read()
        at, found = 0, []
        while at < len(data):
            when, word = struct.unpack_from("<QQ", data, at)
            self.assertEqual(word & 0x38, 0x28, "at %#x" % at)
            at += 16
            if word & 3 == EVENT:
                if word & 4:
                    self.assertEqual(struct.unpack_from("<H", data, at)[0], 4)
                    at += 8
                continue
            self.assertEqual(word >> 16, 0x401000)
            self.assertEqual(word & 3, when // 64 % 2)
            size = (when // 64 * 37 % 1020 + 1) if word & 4 else 0
            found.append((when // 64, data[at:at + size] if word & 4 else None))
            self.assertEqual(data[at + size:at + (size + 7) // 8 * 8].strip(b"\0"), b"")
            at += (size + 7) // 8 * 8
        self.assertEqual(at, len(data))
        return found

    def check_payloads(self, found):
        for index, (when, payload) in enumerate(found):
            self.assertEqual(when, index)
            wanted = bytes((index + i) & 255 | 128 for i in range(index * 37 % 1020 + 1)) if index // 2 % 2 else None
            self.assertEqual(payload, wanted, index)

    def test_payload(self):
        found = self.payload_records("payload")
        self.check_payloads(found)
        self.assertEqual(len(found), 100)
        # Without a specification of the arguments it is passed over, and everything else is shown.
        dump = self.ftr("dump", "--no-pager", "-d", "d")
        self.assertEqual(dump.returncode, 0)
        self.assertEqual(len(re.findall("^.*(?:entry|exit)", dump.stdout, re.M)), 100, dump.stdout)

    def test_payload_of_events(self):
        self.record("--force", "--clock", "counter", "./fake", "payload-event")
        shown = [self.ftr("dump", "--no-pager", "-d", "d").stdout]
        if shutil.which("uftrace"):
            shown.append(subprocess.run(["uftrace", "dump", "--no-pager", "-d", "d"], stdout=subprocess.PIPE,
                                        text=True, check=True).stdout)
        for text in shown:
            self.assertIn("watch:cpu", text)
            self.assertIn("read:page-fault", text)
            self.assertEqual(len(re.findall("entry|exit", text)), 2, text)

    def test_payload_killed(self):
        for _ in range(3):
            found = self.payload_records("payload-killed", status=128 + 9)
            self.check_payloads(found)
            self.assertGreater(len(found), 100)

    def test_payload_lies(self):
        found = self.payload_records("payload-lies", quiet=False)
        self.assertEqual([when for when, _ in found], [4 * i + j for i in range(10) for j in (0, 1)])

    def test_payload_flips(self):
        found = self.payload_records("payload-flips", quiet=False)
        self.assertEqual([when for when, _ in found], list(range(len(found))))
        self.assertEqual(len(found), 3 * 4096 // 2)

    def test_garbage(self):
        # Some of it may be calls with arguments, whose length cannot be told from the file.
        self.record("--force", "-b", "64K", "./fake", "garbage", quiet=False)
        self.assertEqual(self.ftr("dump", "--no-pager", "-d", "d").returncode, 0)

    def test_gone(self):
        self.assertEqual(len(self.fake("gone")), 1)

    def test_shrink(self):
        self.assertEqual(len(self.fake("shrink")), 1)

    def test_control_is_read_only(self):
        self.assertEqual(len(self.fake("control", "--clock", "counter")), 4)

    def test_requests(self):
        self.assertEqual(len(self.fake("requests", "--clock", "counter", quiet=False)), 4)

    # A peer.

    @unittest.skipUnless(shutil.which("uftrace"), "uftrace is not installed")
    def test_uftrace_reads_it(self):
        self.record("-b", "4K", "./victim", "work", "3000")
        run = subprocess.run(["uftrace", "report", "-d", "d", "-f", "call"],
                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        calls = {words[1]: int(words[0]) for words in map(str.split, run.stdout.splitlines())
                 if len(words) == 2 and words[0].isdigit()}
        self.assertEqual(calls.get("leaf"), 3000, run.stdout)
        self.assertEqual(calls.get("main"), 1)


if __name__ == "__main__":
    harness.main()
