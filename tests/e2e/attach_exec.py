#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""record -p: what a program executes while it is recorded is, too; its environment is what it would be without ftr."""
import os
import shutil
import signal
import subprocess
import sys
import threading
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../lib"))
import attaching
import harness
from attaching import code, mappings
from harness import FTR, IS_ROOT, build

WAYS = ["execv", "execve", "own", "none", "null", "execvp", "execvpe", "execl", "execlp", "execle", "fexecve", "execveat", "number",
        "spawn", "spawnp", "vfork-execve", "vfork-own", "vfork-execvp", "vfork-execl"]
UNSEEN = ["system"]         # which libc does by itself
OURS = ("FTR_CHANNEL", "FTR_PAD", "libmcount", "verify_asan_link_order")
LOOPS = harness.storms(6, short=2)
HOOKS = {"pg": ["-pg"], "plain": []}


class AttachExec(attaching.Test):
    @classmethod
    def set_up_class(cls):
        for name, flags in HOOKS.items():
            build("attach_exec.c", f"start-{name}.o", "-O1", "-c", *flags)
            subprocess.run([*harness.CC, "-o", f"start-{name}", f"start-{name}.o", "-lpthread"], check=True)
        build("attach_exec_target.c", "target", "-O1", "-pg")
        build("attach_exec_target.c", "target-static", "-O1", "-static")

    def setUp(self):
        super().setUp()
        self.file_nr = 0

    def start(self, name="pg"):
        child = self.start_program(f"./start-{name}", env=dict(os.environ, PATH=f"{self.dir}:{os.environ['PATH']}", EMPTY=""))
        self.assertEqual(child.stdout.readline(), "ready\n")
        return child

    @staticmethod
    def ask(child, way, path, word):
        child.stdin.write(f"{way} {path} {word}\n")
        child.stdin.flush()

    def environment(self, child, way, target="target"):
        """What the program that is started so finds in its environment, in its order."""
        self.file_nr += 1
        name = f"environment-{self.file_nr}"
        path = f"{self.dir}/{target}"
        self.ask(child, way, path if way != "system" else f"{path}\t{self.dir}/{name}", f"{self.dir}/{name}")
        self.assertEqual(child.stdout.readline(), "0 same\n", way)
        with open(name, encoding="utf-8") as file:
            lines = file.read().splitlines()
        self.assertEqual(lines.pop(), "end")
        return lines

    def environments(self, child, targets=("target", "target-static"), ways=(*WAYS, *UNSEEN, "thread-execve", "thread-vfork-execve")):
        return {(way, target): self.environment(child, way, target) for way in ways for target in targets}

    def end(self, child):
        """It was not harmed, and nothing was written to its terminal."""
        self.assertIsNone(child.poll())
        output, errors = child.communicate(timeout=harness.TIMEOUT)
        self.assertEqual((output, errors, child.returncode), ("", "", 0))

    def record(self, child, *options, data="data"):
        """Attached, also where it makes no call until it is asked."""
        recorder = self.start_program(FTR, "record", "-v", "-p", str(child.pid), "-d", data, "--max-size=100M", *options)
        self.wait_for(lambda: recorder.poll() is not None or "SESS" in open(f"{data}/task.txt", encoding="ascii").read())
        harness.pause(0.3)      # until its tables are hooked
        return recorder

    def test_every_way(self):
        for name in HOOKS:
            with self.subTest(name):
                child, data = self.start(name), f"data-{name}"
                before, code_before = self.environments(child), code(child.pid)
                self.assertFalse([line for lines in before.values() for line in lines if any(word in line for word in OURS)])
                recorder = self.record(child, data=data)
                meanwhile = self.environments(child)
                errors = self.leave(recorder)
                self.assertEqual(meanwhile, before)
                self.assertEqual(self.environments(child), before)
                self.assertEqual({key: value for key, value in code(child.pid).items() if key in code_before}, code_before)
                self.assertEqual(self.calls("in_target", data), len(WAYS) + 2, errors)
                self.assertRegex(errors, r"warning: .*target-static: is statically linked")
                self.assertNotRegex(errors, "cannot be left|return through")
                replay = self.ftr("replay", "-d", data)
                self.assertEqual((replay.returncode, replay.stderr), (0, ""))
                self.end(child)

    def test_recorder_is_killed(self):
        child = self.start()
        before = self.environments(child)
        recorder = self.record(child)
        recorder.kill()
        recorder.communicate()
        self.assertEqual(self.environments(child), before)
        self.leave(self.record(child, data="again"))
        self.assertEqual(self.environments(child), before)
        self.end(child)

    def test_between_fork_and_exec(self):
        """The recorder ends, or is killed, when the child is there already."""
        child = self.start()
        before = self.environment(child, "execve", "target-static"), self.environment(child, "execve")
        for is_killed in (False, True):
            for target, expected in zip(("target-static", "target"), before):
                name = f"{is_killed}-{target}"
                recorder = self.record(child, data=f"data-{name}")
                self.ask(child, "slow-execve", f"{self.dir}/{target}", f"{self.dir}/{name}")
                self.assertEqual(child.stdout.readline(), "forked\n")
                if is_killed:
                    recorder.kill()
                    recorder.communicate()
                else:
                    self.leave(recorder)
                self.assertEqual(child.stdout.readline(), "0 same\n")
                with open(name, encoding="utf-8") as file:
                    self.assertEqual(file.read().splitlines(), [*expected, "end"])
        self.end(child)

    def test_storm(self):
        """It starts one program after another while recorders come, and go or are killed."""
        child = self.start()
        ways = ["execve", "own", "execvp", "spawn", "vfork-execve", "thread-vfork-own", "thread-spawnp"]
        expected = self.environments(child, ways=ways)
        rounds, is_over = [], threading.Event()

        def start_all():
            while not is_over.is_set():
                for way, target in expected:
                    self.ask(child, way, f"{self.dir}/{target}", f"{self.dir}/{way}-{target}")
                    rounds.append(child.stdout.readline())

        thread = threading.Thread(target=start_all)
        thread.start()
        try:
            for i in range(LOOPS):
                recorder = self.attach(child.pid, data=f"data{i}")
                self.wait_for(lambda data=f"data{i}": self.calls("in_target", data) > 0)
                if i % 3 == 2:
                    recorder.kill()
                    recorder.communicate()
                else:
                    self.assertNotIn("cannot be left", self.leave(recorder))
        finally:
            is_over.set()
            thread.join()
        output, errors = child.communicate(timeout=harness.TIMEOUT)
        self.assertEqual((output, set(rounds), child.returncode), ("", {"0 same\n"}, 0))
        self.assertEqual([line for line in errors.splitlines() if "no reply from the recorder" not in line], [])
        for (way, target), lines in expected.items():
            with open(f"{way}-{target}", encoding="utf-8") as file:
                self.assertEqual(file.read().splitlines(), len(rounds) // len(expected) * [*lines, "end"], (way, target))

    def test_kept_address(self):
        """The program has taken ours for libc's while it was recorded, and calls it when it has been left."""
        child = self.start()
        before = self.environments(child, ways=["execve"])
        recorder = self.record(child)
        self.ask(child, "keep", "nothing", "nothing")
        self.assertEqual(child.stdout.readline(), "0 same\n")
        self.assertEqual(self.environment(child, "kept"), before["execve", "target"])
        self.leave(recorder)
        self.assertEqual(self.calls("in_target"), 1)
        for target in ("target", "target-static"):
            self.assertEqual(self.environment(child, "kept", target), before["execve", target])
        self.end(child)

    def test_opt_out(self):
        child = self.start()
        before = self.environments(child)
        recorder = self.record(child, "--no-exec")
        self.assertEqual(self.environments(child), before)
        self.leave(recorder)
        self.assertGreater(self.calls("before_exec"), 0)
        self.assertEqual(self.calls("in_target"), 0)
        self.end(child)
        self.assertIn("name it with -p PID", self.ftr("record", "--no-exec", "-d", "none", "true").stderr)

    @unittest.skipUnless(IS_ROOT, "needs another user")
    def test_script_without_interpreter(self):
        """execvp and its kin have a shell run it; it sees what it would without ftr."""
        with open("words", "w", encoding="ascii") as file:
            file.write('printenv >"$1"; ./target "$1-target"\n')
        os.chmod("words", 0o755)
        child = self.start()
        seen = {}
        for data in (None, "data"):
            recorder = self.record(child, data=data) if data else None
            for way in ("execvp", "execvpe", "execlp", "vfork-execvp"):
                self.ask(child, way, f"{self.dir}/words", f"{self.dir}/out")
                self.assertEqual(child.stdout.readline(), "0 same\n", way)
                with open("out", encoding="utf-8") as file:
                    lines = [line for line in file.read().splitlines() if not line.startswith(("_=", "SHLVL="))]
                self.assertFalse([line for line in lines if line.startswith(OURS)])
                self.assertEqual(seen.setdefault(way, sorted(lines)), sorted(lines), way)
                os.remove("out")
            if recorder:
                self.leave(recorder)
        self.assertEqual(self.calls("in_target"), 4)
        self.end(child)

    def test_recorder_that_has_ended(self):
        """Between an exec and the start of its program: one that attached is not missed; of others, it is said."""
        for name, said in (("ftr-0123-leaves", ""), ("ftr-0123", "ftr: no reply from the recorder")):
            preload = os.path.join(os.path.dirname(FTR), "libmcount.so")
            run = self.run_program("printenv", env=dict(os.environ, FTR_CHANNEL=name, LD_PRELOAD=preload))
            self.assertEqual(run.returncode, 0)
            self.assertFalse([line for line in run.stdout.splitlines() if line.startswith(OURS)])
            self.assertEqual(run.stderr[:len(said) or None], said)

    def test_child_of_vfork_is_killed(self):
        """In the midst of preparing an exec, as a slow recorder keeps it: the program is left as it was, all the same."""
        child = self.start()
        for i in range(LOOPS):
            recorder = self.record(child, data=f"killed-{i}")
            recorder.send_signal(signal.SIGSTOP)
            self.ask(child, "vfork-execve", f"{self.dir}/target", f"{self.dir}/never")
            self.wait_for(lambda: self.children(child.pid))
            os.kill(self.children(child.pid)[0], signal.SIGKILL)
            self.assertRegex(child.stdout.readline(), "same")
            recorder.send_signal(signal.SIGCONT)
            self.assertNotIn("will return through", self.leave(recorder))
        self.end(child)

    @staticmethod
    def children(pid):
        with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as file:
            return [int(word) for word in file.read().split()]

    def test_set_uid(self):
        child = self.start()
        shutil.copy("target", "target-uid")
        os.chown("target-uid", 65534, 65534)
        os.chmod("target-uid", 0o4755)
        os.chmod(self.dir, 0o777)
        before = self.environments(child, ["target-uid"], ["execve", "vfork-execve", "spawn"])
        recorder = self.record(child)
        self.assertEqual(self.environments(child, ["target-uid"], ["execve", "vfork-execve", "spawn"]), before)
        self.assertIn("target-uid: set-uid", self.leave(recorder))
        self.end(child)

    def test_program_becomes_another(self):
        """The program that was attached to itself, and a program that runs on when the recorder has ended."""
        child = self.start()
        recorder = self.record(child)
        self.ask(child, "self", f"{self.dir}/start-pg", "word")
        self.assertEqual(child.stdout.readline(), "ready\n")
        before = self.calls("before_exec")
        meanwhile = self.environments(child)
        self.assertNotRegex(self.leave(recorder), "cannot be left|return through")
        self.assertGreater(self.calls("before_exec"), before + len(WAYS))
        self.assertEqual(self.calls("in_target"), len(WAYS) + 2)
        self.assertTrue(any("libmcount" in words[-1] for words in mappings(child.pid)))
        self.assertEqual(self.environments(child), meanwhile)
        self.end(child)

    def test_nothing_stays_mapped(self):
        child = self.start()
        sizes = []
        for i in range(4):
            recorder = self.record(child, data=f"data{i}")
            self.environment(child, "execve")
            self.environment(child, "spawn")
            self.leave(recorder)
            sizes.append(sum(int(high, 16) - int(low, 16) for low, high in (words[0].split("-") for words in mappings(child.pid))))
        self.assertEqual(sizes, sizes[:1] * 4)
        self.end(child)

    def test_shell(self):
        """As users do: a shell that waits for commands."""
        child = self.start_program("sh")
        child.stdin.write("echo ready\n")
        child.stdin.flush()
        self.assertEqual(child.stdout.readline(), "ready\n")
        recorder = self.record(child)
        for command in (f"{self.dir}/target {self.dir}/one", f"({self.dir}/target {self.dir}/two)", f"env {self.dir}/target {self.dir}/three"):
            child.stdin.write(f"{command}; echo $?\n")
            child.stdin.flush()
            self.assertEqual(child.stdout.readline(), "0\n")
        self.leave(recorder)
        self.assertEqual(self.calls("in_target"), 3)
        child.stdin.write("env\n")
        output, errors = child.communicate(timeout=harness.TIMEOUT)
        self.assertEqual((errors, [word for word in OURS if word in output]), ("", []))


harness.main()
