# SPDX-License-Identifier: MIT
"""record --agent and ftr ctl: what is recorded changes while the program runs."""
import os
import re
import shutil
import signal
import socket
import struct
import subprocess
import unittest

from recording import FTR, IS_ROOT, TIMEOUT, Recording, build, harness, run_observed

UFTRACE = shutil.which("uftrace")
HEADER = struct.Struct("=HHI")
MAGIC, CLOSE, QUERY, GET_OPT, SET_OPT, OK, ERR, CHANGE = 0xface, 200, 201, 202, 203, 204, 205, 220
TRACE, DEPTH, TIME, PATTERN, FILTER, CALLER, TRIGGER = (1 << bit for bit in range(7))
OTHER_USER = 65534
KINDS = {"pg": ["-pg"], "fentry": ["-pg", "-mfentry"], "cyg": ["-finstrument-functions"],
         "patched": ["-fpatchable-function-entry=5"]}


def connected(pid):
    client = socket.socket(socket.AF_UNIX)
    client.settimeout(TIMEOUT)
    client.connect(f"\0ftr-agent-{pid}")
    return client


def ask(client, kind, data=b""):
    client.sendall(HEADER.pack(MAGIC, kind, len(data)) + data)
    magic, kind, size = HEADER.unpack(client.recv(HEADER.size, socket.MSG_WAITALL))
    assert magic == MAGIC
    return kind, client.recv(size, socket.MSG_WAITALL) if size else b""


def set_option(client, option, value):
    return ask(client, SET_OPT, struct.pack("=I", option) + value)[0]


class Control(Recording):
    @classmethod
    def set_up_class(cls):
        for kind, flags in KINDS.items():
            build("controlled.c", kind, "-O1", "-g", *flags)

    def run_controlled(self, *words, program="./pg", threads=0):
        """ftr, with the program at its first step, which is pid."""
        child = self.start_program(FTR, "record", "--agent", "--clock=counter", "--no-libcall", "-d", "d", *words, program,
                                   str(threads))
        self.step(child)
        tasks = open("d/task.txt").read()
        return child, int(re.search(r"^SESS .* pid=(\d+) ", tasks, re.M).group(1))

    def step(self, child, line="step"):
        child.stdin.write(line + "\n")
        child.stdin.flush()
        self.assertEqual(child.stdout.readline(), line + "\n")

    def finish(self, child):
        """Without a complaint but that uftrace cannot reach the agent, where its directory is another user's."""
        out, err = child.communicate(timeout=TIMEOUT)
        err = re.sub(r"ftr: warning: agent of process \d+: /tmp/uftrace: .*, ftr ctl can\n", "", err)
        self.assertEqual((child.returncode, out, err), (0, "", ""))

    def change(self, pid, *words):
        run = self.ftr("ctl", *words, str(pid))
        self.assertEqual((run.returncode, run.stdout, run.stderr), (0, "", ""), words)

    def state(self, pid):
        run = self.ftr("ctl", str(pid))
        self.assertEqual((run.returncode, run.stderr), (0, ""))
        return [tuple(line.split(": ", 1)) for line in re.sub(" +: ", ": ", run.stdout).splitlines()]

    def replay(self, *words):
        run = self.ftr("replay", "-f", "none", "d", *words)
        self.assertEqual((run.returncode, run.stderr), (0, ""))
        lines = [line.strip() for line in run.stdout.splitlines() if not line.startswith("#")]
        return "\n".join(re.sub(r"/\* external-data: control: (.*) \*/", r"<\1>", line) for line in lines)

    ALL = "outer() {\nmiddle() {\nleaf();\nleaf();\n} /* middle */\n} /* outer */\n"

    def test_changes(self):
        """Of calls that are made by those that were open when they were made, too."""
        changes = (
            (["--trace=off"], "trace off", ""),
            (["--trace=on"], "trace on", self.ALL),
            (["-D", "2"], "depth 2", "outer();\n"),
            (["-D", "3"], "depth 3", "outer() {\nmiddle();\n} /* outer */\n"),
            (["-D", "0", "-N", "middle"], "depth 0, notrace middle", "outer();\n"),
            (["-T", "middle@clear"], "trigger middle@clear", self.ALL),
            (["-F", "middle"], "filter middle", "middle() {\nleaf();\nleaf();\n} /* middle */\n"),
            (["--reset"], "reset", self.ALL),
            (["-N", "main"], "notrace main", ""),
            (["--reset", "--hide=middle"], "reset, hide middle", "outer() {\nleaf();\nleaf();\n} /* outer */\n"),
            (["--reset", "-t", "2us"], "reset, time-filter 2us", "outer() {\nmiddle();\n} /* outer */\n"),
            (["--reset", "-C", "nothing|leaf"], "reset, caller-filter nothing|leaf", self.ALL),
            (["--reset", "-T", "leaf@sample=2"], "reset, trigger leaf@sample=2",
             "outer() {\nmiddle() {\nleaf();\n} /* middle */\n} /* outer */\n"),
            (["--reset", "--match=glob", "-N", "le*"], "reset, match glob, notrace le*", "outer() {\nmiddle();\n} /* outer */\n"),
        )
        for kind in KINDS:
            child, pid = self.run_controlled(program="./" + kind)
            for words, _, _ in changes:
                self.change(pid, *words)
                self.step(child)
            self.finish(child)
            wanted = "main() {\n" + self.ALL + "".join(f"<{text}>\n{shown}" for _, text, shown in changes) + "} /* main */"
            self.expect(self.replay() == wanted, f"{kind}:\n{self.replay()}\n--- is not\n{wanted}")
            shutil.rmtree("d")

    def test_threads(self):
        """The first that makes a call has the change fetched; from then on all obey."""
        child, pid = self.run_controlled(threads=8)
        for words in (["--trace=off"], ["-N", "outer", "--trace=on"], ["--reset"], ["-D", "2"], ["-D", "0"]):
            self.change(pid, *words)
            self.step(child)
        self.finish(child)
        calls = {line.split()[-1]: int(line.split()[-2]) for line in self.ftr("report", "d").stdout.splitlines()[2:]}
        self.assertEqual(calls, {"main": 1, "thread": 8, "outer": 9 * 4, "middle": 9 * 3, "leaf": 9 * 2 * 3})
        self.assertEqual(self.ftr("check", "--max-calls=main=1", "d").stderr, "")

    def test_state(self):
        child, pid = self.run_controlled("-D", "9", "-N", "leaf")
        self.change(pid, "-t", "3us", "-F", "outer;middle", "--trace=off", "-Z", "1")
        state = self.state(pid)
        words = dict(state)
        self.assertEqual([line for line in state if line[0] in ("filter", "notrace")],
                         [("notrace", "leaf"), ("filter", "outer"), ("filter", "middle")])
        self.assertEqual(words["program"], os.path.realpath("pg"))
        self.assertEqual((words["data"], words["tracing"], words["depth"], words["time-filter"], words["size-filter"]),
                         ("d", "off", "9", "3.000 us", "1"))
        self.assertEqual((words["changes"], words["processes"], words["tasks"]), ("1", "1", "1"))
        self.change(pid, "--reset")
        words = dict(self.state(pid))
        self.assertEqual((words["tracing"], words["depth"], words["notrace"]), ("on", "9", "leaf"))
        self.assertEqual({"filter", "time-filter", "size-filter"} & words.keys(), set())
        self.finish(child)

    def test_refused_as_a_whole(self):
        child, pid = self.run_controlled()
        for words, text in ((["--trace=perhaps"], "neither on nor off"), (["-D", "x"], "no number"), (["-t", "x"], "no time"),
                            (["-Z", "x"], "no size"), (["-F", "nonesuch"], "no function of .* matches nonesuch"),
                            (["-F", "leaf@depht=2"], 'no action "depht"'), (["-A", "leaf@arg0"], "arguments count from 1"),
                            (["-A", "nonesuch"], "no function of .* matches nonesuch"), (["-R", "leaf@retval/q"], "retval/q"),
                            (["-A", "leaf@arg1,plt"], "plt"), (["--dump"], "no flight recorder"),
                            (["-T", "leaf@dump"], "flight recorder"), (["-F", "leaf@if:arg1==1"], "decided on reading"),
                            (["-T", "leaf@color=red"], "done on reading"), (["-T", "leaf@backtrace"], "done on reading"),
                            (["--match=like"], "no kind of pattern"), (["-N", "leaf;" * 1025], "begin anew")):
            run = self.ftr("ctl", "-D", "1", *words, str(pid))
            self.assertEqual((run.returncode, run.stdout), (1, ""), words)
            self.assertRegex(run.stderr, text)
        self.assertEqual(dict(self.state(pid))["changes"], "0")
        self.step(child)
        self.finish(child)
        self.assertEqual(self.replay(), "main() {\n" + 2 * self.ALL + "} /* main */")

    VALUES = (
        (["-A", "leaf@arg1"], "argument leaf@arg1", ("leaf(1)", "leaf(2)")),
        (["-R", "leaf"], "retval leaf", ("leaf(1) = 112", "leaf(2) = 118")),
        (["--trace=on", "-N", "outer"], "trace on, notrace outer", ()),
        (["--reset"], "reset", ("leaf()", "leaf()")),
        (["-T", "leaf@auto-args"], "trigger leaf@auto-args", ("leaf(1) = 112", "leaf(2) = 118")),
        (["-T", "lea.*@arg1"], "trigger lea.*@arg1", ("leaf(1) = 112", "leaf(2) = 118")),
        (["--reset", "-a"], "reset, auto-args", ("leaf(1) = 112", "leaf(2) = 118")),
        (["--reset", "-t", "1ns", "-A", "leaf@arg1"], "reset, time-filter 1ns, argument leaf@arg1", ("leaf(1)", "leaf(2)")),
    )

    def leaves(self, *calls):
        return f"outer() {{\nmiddle() {{\n{calls[0]};\n{calls[1]};\n}} /* middle */\n}} /* outer */\n" if calls else ""

    def test_values(self):
        """From one call to the next, by specs, debug info and triggers; a function keeps the layout that it has once."""
        for kind in ("pg", "fentry", "patched"):
            child, pid = self.run_controlled(program="./" + kind)
            for words, _, _ in self.VALUES:
                self.change(pid, *words)
                self.step(child)
            for words, text in ((["-A", "leaf@arg2/s"], "the arguments of leaf cannot become other ones .* they are arg1 "),
                                (["-R", "leaf@retval/x"], "the return value of leaf cannot become"),
                                (["--match=glob", "-A", "l*@arg1"], "by one kind of patterns in a trace")):
                run = self.ftr("ctl", "--trace=off", *words, str(pid))
                self.assertEqual((run.returncode, run.stdout), (1, ""), words)
                self.assertRegex(run.stderr, text)
            self.step(child)
            self.finish(child)
            wanted = ("main() {\n" + self.ALL + "".join(f"<{text}>\n{self.leaves(*calls)}" for _, text, calls in self.VALUES) +
                      self.leaves("leaf(1)", "leaf(2)") + "} /* main */")
            self.expect(self.replay() == wanted, f"{kind}:\n{self.replay()}\n--- is not\n{wanted}")
            shutil.rmtree("d")

    def test_values_from_the_start(self):
        """They stay as they are, and may be asked for again; others come beside them."""
        child, pid = self.run_controlled("-A", "leaf@arg2/s")
        run = self.ftr("ctl", "-a", str(pid))
        self.assertEqual((run.returncode, run.stdout, run.stderr), (0, "", ""))     # specs count before debug info
        self.step(child)
        self.change(pid, "--reset", "-R", "leaf")
        self.step(child)
        run = self.ftr("ctl", "-A", "leaf@arg1", str(pid))
        self.assertEqual((run.returncode, run.stdout), (1, ""))
        self.finish(child)
        both = self.leaves('leaf("one") = 112', 'leaf("two") = 118')
        self.assertEqual(self.replay(), "main() {\n" + self.leaves('leaf("one")', 'leaf("two")') + "<auto-args>\n" + both +
                         "<reset, retval leaf>\n" + both + "} /* main */")

    def test_values_while_threads_run(self):
        """Each record is read as it was written, whoever obeyed when."""
        child, pid = self.run_controlled(threads=8)
        for _ in range(8):
            for words in (["-a"], ["--reset"], ["-A", "leaf@arg1/i32,arg2/s", "-t", "1us"], ["--reset", "-R", "leaf"], ["--reset"]):
                run = self.ftr("ctl", *words, str(pid))     # of those that conflict with -a, nothing is done
                self.assertEqual(run.returncode, 1 if words[0] == "-A" else 0, run.stderr)
                self.step(child)
        self.finish(child)
        self.assertEqual(self.ftr("check", "--max-calls=main=1", "d").stderr, "")
        calls = set(re.findall(r"leaf\([^)]*\)|} = .*leaf", self.replay()))
        self.assertLessEqual({"leaf()", 'leaf(1, "one")', 'leaf(2, "two")'}, calls)
        self.assertLessEqual({call for call in calls if "(" in call}, {"leaf()", 'leaf(1, "one")', 'leaf(2, "two")'})

    def test_values_of_those_that_are_served(self):
        """Their stream has said which values there are."""
        child = self.start_program(FTR, "serve", "--agent", "--no-libcall", "--bind=127.0.0.1", "./pg")
        self.step(child)
        pid = int(open(f"/proc/{child.pid}/task/{child.pid}/children").read().split()[-1])
        for words in (["-A", "leaf@arg1"], ["-R", "leaf"], ["-a"]):
            run = self.ftr("ctl", *words, str(pid))
            self.assertEqual((run.returncode, run.stdout), (1, ""))
            self.assertIn("to ftr serve", run.stderr)
        self.change(pid, "--trace=off")
        self.step(child)
        child.communicate(timeout=TIMEOUT)

    def test_ends(self):
        """Also with readers' rules in the data: -t is none, for it may change."""
        child, pid = self.run_controlled("-t", "1s")
        self.change(pid, "-t", "0")
        self.step(child)
        self.change(pid, "--finish")
        self.step(child)
        for words in ([], ["--trace=off"]):
            run = self.ftr("ctl", *words, str(pid))
            self.assertEqual(run.returncode, 1 if words else 0)
            self.assertIn("has ended", run.stderr if words else run.stdout)
        _, err = child.communicate(timeout=TIMEOUT)
        self.assertIn("recording ends here: ftr ctl finished it", err)
        self.assertIn(self.ALL, self.replay())

    def test_nothing_to_change(self):
        run = self.ftr("record", "--agent", "--nop", "./pg")
        self.assertEqual((run.returncode, run.stdout), (2, ""))
        self.assertIn("--agent changes what is recorded, and --nop records nothing", run.stderr)
        build("controlled.c", "static", "-static")
        run = run_observed("record", "--agent", "--syscalls", "-d", "d", "./static", stdin=subprocess.DEVNULL)
        self.assertEqual(run.returncode, 0)
        self.assertRegex(run.stderr, "--agent: no functions of .*static are recorded, so there is nothing to change")

    def test_dump(self):
        child, pid = self.run_controlled("--overwrite=1M")
        self.change(pid, "--dump")
        self.wait_for(lambda: "leaf" in self.ftr("replay", "d").stdout)
        self.finish(child)

    def test_exec_and_children(self):
        """Each image has an agent, of one recording; it goes with its process."""
        script = "mkfifo f; ./pg <f & exec 3>f; echo $!; read a; exec 3>&-; wait"
        child = self.start_program(FTR, "record", "-g", "--no-libcall", "-d", "d", "--force", "/bin/sh", "-c", script)
        pid = int(child.stdout.readline())
        self.wait_for(lambda: self.ftr("ctl", str(pid)).returncode == 0)
        self.change(pid, "--trace=off")
        parent = int(re.search(r"^SESS .* pid=(\d+) ", open("d/task.txt").read(), re.M).group(1))
        self.assertEqual(dict(self.state(parent))["tracing"], "off")
        child.stdin.write("\n")
        child.stdin.close()
        self.wait_for(lambda: "no process" in self.ftr("ctl", str(pid)).stderr)
        self.assertEqual(child.wait(TIMEOUT), 0)
        self.assertFalse(os.path.exists(f"/tmp/uftrace/{pid}.socket"))

    def test_nobody_there(self):
        child = self.start_program(FTR, "record", "-d", "d", "./pg")
        self.step(child)
        pid = int(re.search(r" pid=(\d+) ", open("d/task.txt").read()).group(1))
        gone = self.run_program("sh", "-c", "echo $$").stdout.strip()
        for words, text in (([str(pid), "--trace=off"], f"process {pid} has no agent: .*--agent"), ([gone], "there is no process"),
                            ([str(os.getpid())], "has no agent")):
            run = self.ftr("ctl", *words)
            self.assertEqual((run.returncode, run.stdout), (1, ""))
            self.assertRegex(run.stderr, f"^ftr: ctl: .*{text}.*\n$")
        for words in ([], ["x"], ["0"], ["-1"], ["1", "2"], ["99999999999"]):
            run = self.ftr("ctl", *words)
            self.assertEqual((run.returncode, run.stdout), (2, ""), words)
        child.communicate(timeout=TIMEOUT)

    @unittest.skipUnless(IS_ROOT, "only root can be another user")
    def test_other_users(self):
        child, pid = self.run_controlled()
        run = self.ftr("ctl", "--trace=off", str(pid), user=OTHER_USER, group=OTHER_USER, extra_groups=[], cwd="/")
        self.assertEqual((run.returncode, run.stdout), (1, ""))
        self.assertIn("recorded by another user", run.stderr)
        self.finish(child)
        self.assertEqual(self.replay(), "main() {\n" + self.ALL + "} /* main */")

    @unittest.skipUnless(IS_ROOT, "only root can be another user")
    def test_impostor(self):
        """Another user who listens at the address of a process is not told anything."""
        code = ("import os, socket, sys; s = socket.socket(socket.AF_UNIX); s.bind(f'\\0ftr-agent-{os.getppid()}')\n"
                "s.listen(); print('ready', flush=True); c = s.accept()[0]; print(len(c.recv(100)))")
        impostor = self.start_program("/usr/bin/env", "python3", "-c", code, user=OTHER_USER, group=OTHER_USER,
                                      extra_groups=[], cwd="/")
        self.assertEqual(impostor.stdout.readline(), "ready\n")
        run = self.ftr("ctl", "--trace=off", str(os.getpid()), user=OTHER_USER - 1, group=OTHER_USER - 1, extra_groups=[],
                       cwd="/")
        self.assertEqual((run.returncode, run.stdout), (1, ""))
        self.assertEqual(impostor.stdout.readline(), "0\n")

    def test_killed_recorder(self):
        child, pid = self.run_controlled()
        recorder = int(dict(self.state(pid))["recorder"].split()[1])
        os.kill(recorder, signal.SIGKILL)
        self.wait_for(lambda: self.ftr("ctl", str(pid)).returncode == 1)
        self.assertIn("has no agent", self.ftr("ctl", str(pid)).stderr)
        self.step(child)
        child.communicate(timeout=TIMEOUT)

    def test_hostile_clients(self):
        """Garbage, cut messages, hundreds who say nothing, and some who do not read: the others are answered."""
        child, pid = self.run_controlled()
        for data in (b"\0", b"\xff" * 4, b"GET / HTTP/1.1\r\n\r\n", HEADER.pack(MAGIC, SET_OPT, 1 << 31),
                     HEADER.pack(MAGIC, CHANGE, 60000), HEADER.pack(0, QUERY, 0), HEADER.pack(MAGIC, CHANGE, 9) + b"trace\0off"):
            client = connected(pid)
            client.sendall(data)
            client.shutdown(socket.SHUT_WR)
            try:
                while client.recv(4096):
                    pass
            except ConnectionResetError:
                pass
            client.close()
        client = connected(pid)
        for kind, data in ((CHANGE, b"trace"), (CHANGE, b"trace\0"), (CHANGE, b"\0\0"), (SET_OPT, b""), (SET_OPT, b"\1\0\0\0"),
                           (SET_OPT, struct.pack("=Ii", 512, 1)), (0, b""), (65535, b"x" * 65536)):
            self.assertEqual(ask(client, kind, data)[0], ERR, (kind, data[:20]))
        self.assertEqual(ask(client, CHANGE)[0], OK)        # no change is none
        silent = [connected(pid) for _ in range(300)]
        deaf = connected(pid)
        deaf.setblocking(False)
        try:
            while True:
                deaf.send(HEADER.pack(MAGIC, 221, 0) * 100)
        except (BlockingIOError, BrokenPipeError, ConnectionResetError):
            pass
        self.change(pid, "-D", "1")
        self.assertEqual(dict(self.state(pid))["depth"], "1")
        self.step(child)
        for client in silent + [deaf]:
            client.close()
        self.change(pid, "-D", "0")
        self.step(child)
        self.finish(child)
        self.assertEqual(self.replay(), "main() {\n" + self.ALL + "<depth 1>\n<depth 0>\n" + self.ALL + "} /* main */")

    def test_many_changes(self):
        """Clients at once; each change is whole."""
        child, pid = self.run_controlled(threads=4)
        clients = [subprocess.Popen([FTR, "ctl", "-D", str(n % 4), "-t", f"{n % 4}ms", str(pid)]) for n in range(40)]
        for _ in range(100):
            self.step(child)
        self.assertEqual({client.wait(TIMEOUT) for client in clients}, {0})
        words = dict(self.state(pid))
        self.assertEqual(words["changes"], "40")
        self.assertEqual(words.get("depth", "0"), words.get("time-filter", "0.000").split(".")[0])
        self.finish(child)
        self.assertEqual(self.ftr("check", "--max-calls=main=1", "d").stderr, "")

    def test_protocol_of_uftrace(self):
        """What its clients from 0.14 on send."""
        child, pid = self.run_controlled()
        client = connected(pid)
        kind, data = ask(client, QUERY)
        self.assertEqual((kind, struct.unpack("=I", data)[0] & 127), (OK, 127))
        for option, value in ((TRACE, struct.pack("=i", 0)), (TRACE, struct.pack("=i", 1)), (DEPTH, struct.pack("=i", 2)),
                              (DEPTH, struct.pack("=i", 1024)), (TIME, struct.pack("=Q", 2000)), (TIME, struct.pack("=Q", 0)),
                              (PATTERN, struct.pack("=i", 3)), (FILTER, b"!lea*\0"), (TRIGGER, b"*@clear\0"), (PATTERN, struct.pack("=i", 2)),
                              (CALLER, b"middle\0"), (FILTER, b"middle;outer\0")):
            self.assertEqual(set_option(client, option, value), OK, (option, value))
            if option != PATTERN:
                self.step(child)
        self.assertEqual(set_option(client, FILTER, b"nonesuch\0"), ERR)
        self.assertEqual(ask(client, GET_OPT)[0], OK)
        self.assertEqual(ask(client, CLOSE)[0], OK)
        self.assertEqual(client.recv(1), b"")
        self.finish(child)
        short = "outer() {\nmiddle();\n} /* outer */\n"
        wanted = (f"main() {{\n{self.ALL}<trace off>\n<trace on>\n{self.ALL}<depth 2>\nouter();\n<depth 1024>\n{self.ALL}"
                  f"<time-filter 2000ns>\n{short}<time-filter 0ns>\n{self.ALL}"
                  f"<filter !lea*>\n{short}<trigger *@clear>\n{self.ALL}<caller-filter middle>\n{short}"
                  f"<filter middle;outer>\n{short}}} /* main */")
        self.assertEqual(self.replay(), wanted)

    @unittest.skipUnless(UFTRACE, "uftrace is not installed")
    def test_uftrace_asks_ours(self):
        child, pid = self.run_controlled()
        if not os.path.exists(f"/tmp/uftrace/{pid}.socket"):
            self.finish(child)
            self.skipTest("/tmp/uftrace is another user's")
        run = self.run_program(UFTRACE, "live", "-p", str(pid))
        self.assertEqual((run.returncode, run.stdout, run.stderr), (0, "", ""))
        self.step(child)
        self.finish(child)

    @unittest.skipUnless(UFTRACE, "uftrace is not installed")
    def test_asks_that_of_uftrace(self):
        """0.13 takes no options at all; it is told from newer ones."""
        child = self.start_program(UFTRACE, "record", "-g", "-d", "d", "./pg")
        self.step(child)
        pid = int(open(f"/proc/{child.pid}/task/{child.pid}/children").read().split()[0])
        if not os.path.exists(f"/tmp/uftrace/{pid}.socket"):
            self.skipTest("/tmp/uftrace is another user's")
        for words in ([], ["--trace=off"]):
            run = self.ftr("ctl", *words, str(pid))
            self.assertEqual((run.returncode, run.stdout), (1, ""), run.stderr)
            self.assertRegex(run.stderr, "uftrace" if words else "uftrace.*tells nothing")
        self.step(child)
        child.communicate(timeout=TIMEOUT)

    def test_asks_newer_ones_of_uftrace(self):
        """An agent of its protocol without our messages: each option in turn, or what it does not know."""
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(f"\0ftr-agent-{os.getpid()}")
        listener.listen()
        got = []

        def serve(child):
            client = listener.accept()[0]
            while header := client.recv(HEADER.size, socket.MSG_WAITALL):
                _, kind, size = HEADER.unpack(header)
                data = client.recv(size, socket.MSG_WAITALL) if size else b""
                got.append((kind, data))
                answer = struct.pack("=I", 127) if kind == QUERY else b""
                client.sendall(HEADER.pack(MAGIC, ERR if b"bad" in data else OK, len(answer)) + answer)
            client.close()
            return child.communicate(timeout=TIMEOUT), child.returncode

        run = self.start_program(FTR, "ctl", "--trace=off", "-D", "3", "-t", "1us", "-F", "f", "-C", "c", "-T", "f@hide",
                                 str(os.getpid()))
        self.assertEqual(serve(run), (("", ""), 0))
        self.assertEqual(got, [(QUERY, b""), (SET_OPT, struct.pack("=Ii", TRACE, 0)), (SET_OPT, struct.pack("=Ii", DEPTH, 3)),
                               (SET_OPT, struct.pack("=IQ", TIME, 1000)), (SET_OPT, struct.pack("=I", FILTER) + b"f\0"),
                               (SET_OPT, struct.pack("=I", CALLER) + b"c\0"), (SET_OPT, struct.pack("=I", TRIGGER) + b"f@hide\0"),
                               (CLOSE, b"")])
        for words, text in ((["--hide", "f"], "does not know it"), ([], "tells nothing"), (["-F", "bad"], "refuses it")):
            (out, err), status = serve(self.start_program(FTR, "ctl", *words, str(os.getpid())))
            self.assertEqual((out, status), ("", 1))
            self.assertIn(text, err)
        listener.close()


if __name__ == "__main__":
    harness.main()
