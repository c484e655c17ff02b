# SPDX-License-Identifier: MIT
"""ftr record under bad circumstances: programs that cannot be traced, deaths, many tasks."""
import glob
import os
import re
import resource
import shutil
import signal
import subprocess
import time
import unittest

from recording import CC, ENTRY, EXIT, FTR, TIMEOUT, Recording, Trace, build, harness, terminal_text


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
        run = self.ftr("record", "-v", "-d", "d", "victim", "work",         # PATH comes first
                       env=dict(os.environ, PATH=self.dir + "/bin:" + os.environ["PATH"]))
        self.assertRegex(run.stderr, "victim:? (is )?not instrumented")
        shutil.rmtree("d", ignore_errors=True)
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
        run = self.record("--force", "./plain", "work")
        self.assertEqual(run.stdout, "15\n")
        shutil.rmtree("d")
        run = self.ftr("record", "-v", "-d", "d", "./plain", "work")
        if "without a decoder" in run.stderr:
            self.assertEqual(run.returncode, 126)
            self.assertRegex(run.stderr, "not instrumented.*-pg")
        else:
            self.assertEqual((run.returncode, run.stdout), (0, "15\n"))
            self.assertRegex(run.stderr, r"plain is not instrumented: its functions are patched as they are \(-P \.\)")

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
        self.assertRegex(self.ftr("record", "-v", "-d", "d", "./script").stderr, "sh.*not instrumented")
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
        self.refused(2, "no function of .* matches x", "-T", "x@color=red", "./victim")     # which readers do
        self.refused(2, "no function of .* matches x", "-F", "x@if:duration>1ms", "./victim")
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
        return status, [line for line in terminal_text(terminal).splitlines() if "perf_event_open" not in line]

    def test_closing_line_on_a_terminal(self):
        status, lines = self.at_terminal("--no-libcall", "-d", "d", "./victim", "threads", "3")
        self.assertEqual((status, len(lines)), (0, 1), lines)
        calls = sum(r.type == ENTRY for task in Trace("d").tasks.values() for r in task)
        self.assertRegex(lines[0], rf"^ftr: {calls} calls, 4 tasks, [\d.]+ KB in d; next: ftr replay d, or report$")
        size = sum(os.path.getsize(name) for name in glob.glob("d/*") if os.path.isfile(name))
        self.assertAlmostEqual(float(lines[0].split()[5]), size / 1024, delta=0.1)
        self.assertEqual(self.at_terminal("./victim", "work", "2")[1][0].split("; ")[1], "next: ftr replay, or report")
        self.assertEqual(self.at_terminal("--summary", "./victim", "work", "2")[1][0].split("; ")[1], "next: ftr report")

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
