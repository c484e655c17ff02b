#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""record -p: functions are patched while threads run in them, and what was patched is put back, byte for byte."""
import ctypes
import hashlib
import os
import re
import shutil
import signal
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../lib"))
import attaching
import harness
from attaching import IS_X86, code, mappings
from harness import FTR, build

ENTRIES = ["-fpatchable-function-entry=5", "-DPREPARED"]
BUILDS = {"entries": ENTRIES, "plain": []}
if IS_X86:
    BUILDS.update(plain=["-fcf-protection=none"], nop=["-pg", "-mfentry", "-mnop-mcount", "-mrecord-mcount", "-fno-pie", "-c"])
ALL = ["many", "loop", "wait"]
WRITES = [1, 2, 3, 5, 8, 13]    # of code, at which the recorder is killed
LOOPS = harness.storms(4, short=2)


class AttachCode(attaching.Test):
    @classmethod
    def set_up_class(cls):
        for program, define in ("code", "-DCODE"), ("stale", "-DSTALE"):
            for name, flags in BUILDS.items():  # clang has no -mnop-mcount, and gcc is what ./check installs
                build("attach_code.c", f"{program}-{name}", "-O1", define, *flags, compiler=["gcc"])
            if "nop" in BUILDS:     # linked without -pg, which would have it send itself SIGPROF
                os.rename(f"{program}-nop", f"{program}-nop.o")
                subprocess.run(["gcc", "-no-pie", "-o", f"{program}-nop", f"{program}-nop.o", "-lpthread"], check=True)
            if shutil.which("clang"):
                build("attach_code.c", f"{program}-xray", "-O1", define, "-fxray-instrument",
                      "-fxray-instruction-threshold=1", compiler=["clang"])
        build("attach_library.c", "libattached.so", "-O1", "-shared", "-fPIC")
        build("attach_code.c", "code-library.o", "-O1", "-DLIBRARY", "-c")
        subprocess.run([*harness.CC, "-o", "code-library", "code-library.o", f"{os.getcwd()}/libattached.so", "-lpthread"], check=True)
        build("attach_fault.c", "fault.so", "-shared", "-fPIC")

    def names(self):
        names = [name for name in BUILDS if name != "plain"]
        if os.path.exists("code-xray"):
            names.append("xray")
        return names + ["plain"] if self.has_decoder() else names

    def names_with_midst(self):
        """Where one instruction is replaced there is none."""
        return [name for name in self.names() if IS_X86 or name != "plain"]

    def has_decoder(self):
        return "without a decoder" not in self.ftr("record", "-d", "probe", "-P", ".", "true").stderr

    def start(self, name, *words, program="code"):
        child = self.start_program(f"./{program}-{name}", *words)
        self.assertEqual(child.stdout.readline(), "ready\n")
        return child

    @staticmethod
    def release(child):
        """By its main thread: the kernel chooses another one while that is stopped, where the handler's frame would stay."""
        ctypes.CDLL(None).tgkill(child.pid, child.pid, signal.SIGUSR2)

    def end(self, child):
        self.assertIsNone(child.poll())
        child.send_signal(signal.SIGTERM)
        output, _ = child.communicate(timeout=harness.TIMEOUT)
        self.assertEqual((output, child.returncode), ("wrong 0\n", 0))

    def check_code(self, pid, before):
        after = code(pid)
        self.assertEqual([key for key in before if after.get(key) != before[key]], [])

    def patched(self, errors):
        found = re.search(r"(\d+) functions patched in ([\d.]+) ms: all (\d+) threads were stopped (\d+) times?", errors)
        self.assertIsNotNone(found, errors)
        return int(found[1]), float(found[2]), int(found[3]), int(found[4])

    def test_every_kind(self):
        for name in self.names():
            with self.subTest(name):
                data = f"data-{name}"
                child = self.start(name, *ALL, "many")
                before = code(child.pid)
                recorder = self.attach(child.pid, data=data)
                self.wait_for(lambda: self.calls("f0995", data) > 0)
                errors = self.leave(recorder)
                self.check_code(child.pid, before)
                functions, _, threads, _ = self.patched(errors)
                self.assertGreater(functions, 850)
                self.assertEqual(threads, 5)
                self.assertEqual(self.calls("looping", data), 0)    # which was entered before
                self.assertEqual(self.replayed(data), 0)
                self.end(child)

    def test_some_functions(self):
        for name in self.names():
            with self.subTest(name):
                data = f"data-{name}"
                child = self.start(name, *ALL)
                before = code(child.pid)
                recorder = self.attach(child.pid, "-P", "^f000[1-4]$", "-U", "^f0002$", "--no-libcall", data=data)
                self.wait_for(lambda: self.calls("f0003", data) > 0)
                errors = self.leave(recorder)
                self.assertEqual(self.patched(errors)[0], 3, errors)
                self.assertEqual([bool(self.calls(f"f000{n}", data)) for n in range(6)],
                                 [False, True, False, True, True, False])
                self.check_code(child.pid, before)
                self.end(child)

    def test_library(self):
        """FUNC@LIBRARY, as it is; the program that calls it is not chosen."""
        if not self.has_decoder():
            self.skipTest("without a decoder")
        child = self.start("library", "library", "library")
        before = code(child.pid)
        recorder = self.attach(child.pid, "-P", "^library_.*@libattached.so", "--no-libcall")
        self.wait_for(lambda: self.calls("library_call") > 0)
        self.assertEqual(self.patched(self.leave(recorder))[0], 2)
        self.assertEqual(self.calls("leaf"), 0)
        self.check_code(child.pid, before)
        self.end(child)

    def test_thread_in_first_instructions(self):
        """It stays there: its function is left.  It goes on: the function is patched."""
        for name in set(self.names_with_midst()) & {"entries", "plain"}:
            with self.subTest(name):
                child = self.start(name, *ALL, "held")
                before = code(child.pid)
                errors = self.leave(self.attach(child.pid, data=f"held-{name}"))
                self.assertIn("1 function left: first instructions with a thread in their midst", errors)
                self.assertGreater(self.patched(errors)[3], 1)
                self.assertNotIn("will return through", errors)
                self.check_code(child.pid, before)
                self.release(child)
                recorder = self.attach(child.pid, data=f"free-{name}")
                self.wait_for(lambda: self.calls("held", f"free-{name}") > 0)
                self.assertNotIn("left: first instructions with", self.leave(recorder))
                self.check_code(child.pid, before)
                self.end(child)

    def test_parked_in_first_instructions(self):
        """A coroutine stays there, on a stack that no thread is on: its function is left until it goes on."""
        for name in set(self.names_with_midst()) & {"entries", "plain"}:
            with self.subTest(name):
                child = self.start(name, *ALL, "parked", program="stale")
                before = code(child.pid)
                errors = self.leave(self.attach(child.pid, data=f"parked-{name}"))
                self.assertIn("1 function left: first instructions with a thread in their midst", errors)
                self.check_code(child.pid, before)
                self.release(child)
                recorder = self.attach(child.pid, data=f"resumed-{name}")
                self.wait_for(lambda: self.calls("held", f"resumed-{name}") > 0)
                self.leave(recorder)
                self.check_code(child.pid, before)
                self.end(child)

    def test_words_of_calls_that_have_returned(self):
        """They are in arrays of threads that sleep: nobody goes there, and functions are patched and put back."""
        for name in self.names():
            with self.subTest(name):
                data = f"data-{name}"
                child = self.start(name, *ALL, "many", "later", "caught", "stale", program="stale")
                before = code(child.pid)
                recorder = self.attach(child.pid, data=data)
                self.release(child)
                self.assertEqual([child.stdout.readline() for _ in range(2)], 2 * ["asleep\n"])
                self.check_left(child.pid, self.leave(recorder), before)
                # Now some of its calls are open since a recording that has ended.
                self.check_left(child.pid, self.leave(self.attach(child.pid, data=f"again-{name}")), before)
                self.end(child)

    def test_handlers_that_are_not_recorded(self):
        """Threads sleep in them on top of what calls have left, also within the frame that the kernel made."""
        for name in self.names():
            with self.subTest(name):
                child = self.start(name, *ALL, "many", "later", "caught", program="stale")
                before = code(child.pid)
                self.release(child)
                self.assertEqual([child.stdout.readline() for _ in range(2)], 2 * ["asleep\n"])
                self.check_left(child.pid, self.leave(self.attach(child.pid, data=f"caught-{name}")), before)
                self.end(child)

    def check_left(self, pid, errors, before):
        self.assertNotIn("left: first instructions with", errors)
        self.assertNotIn("will return through", errors)
        self.assertGreater(self.patched(errors)[0], 850)
        self.check_code(pid, before)

    def test_words_below_unknown_code(self):
        """Where a thread's stack cannot be unwound to its end every word counts."""
        for name in self.names_with_midst():
            with self.subTest(name):
                child = self.start(name, *ALL, "unknown", program="stale")
                before = code(child.pid)
                errors = self.leave(self.attach(child.pid, data=f"data-{name}"))
                self.assertRegex(errors, r"\d+ functions left: first instructions with a thread in their midst")
                self.check_code(child.pid, before)
                self.end(child)

    def test_again_and_again(self):
        for name in self.names():
            with self.subTest(name):
                child = self.start(name, *ALL, "many")
                before, counts = code(child.pid), []
                for i in range(LOOPS):
                    errors = self.leave(self.attach(child.pid, data=f"data-{name}-{i}"))
                    self.assertGreater(self.patched(errors)[0], 850)
                    self.check_code(child.pid, before)
                    counts.append(sum("memfd" in words[-1] or "libmcount" in words[-1] for words in mappings(child.pid)))
                    shutil.rmtree(f"data-{name}-{i}")
                self.assertEqual(counts, counts[:1] * LOOPS)
                self.end(child)

    def test_events(self):
        """Events that a program declares are switched on while its threads come by them, and off; who counts is told."""
        if not IS_X86:
            self.skipTest("the functions of tests/prog/sdt_sites.c are x86-64's")
        if not self.has_decoder():
            self.skipTest("without a decoder")
        build("sdt_sites.c", "sites.o", "-O1", "-c", "-Dmain=sites_main")
        build("attach_sites.c", "sites", "-O1", f"{os.getcwd()}/sites.o")
        child = self.start_program("./sites")
        self.assertEqual(child.stdout.readline(), "ready\n")
        before = code(child.pid)
        for i in range(LOOPS):
            data = f"sites{i}"
            recorder = self.attach(child.pid, "-E", "sites:*", "--no-libcall", "--force", data=data)
            # It is not reached without its counter.
            self.wait_for(lambda: "/* sites:counted (1) */" in self.events(data))
            self.leave(recorder)
            self.check_code(child.pid, before)
            shown = self.events(data)
            self.assertLessEqual({"/* sites:calls (10) */", "/* sites:jumps (6) */", "/* sites:loops (3) */",
                                  "/* sites:first (1) */", "/* sites:second (-2) */", "/* sites:third (2) */"}, shown)
            shutil.rmtree(data)
        recorder = self.attach(child.pid, "-E", "sites:*", "--no-libcall", "--force", data="killed")
        recorder.kill()
        recorder.communicate(timeout=harness.TIMEOUT)
        self.leave(self.attach(child.pid, "-P", "^main$", data="after"))    # which lowers what was left raised
        self.check_code(child.pid, before)
        child.send_signal(signal.SIGTERM)
        output, _ = child.communicate(timeout=harness.TIMEOUT)
        self.assertEqual((output, child.returncode), ("wrong 0\ncounter 0\n", 0))

    def events(self, data):
        shown = self.ftr("replay", "--no-pager", "-f", "none", "-d", data).stdout
        return set(re.findall(r"/\* sites:.*? \*/", shown))

    def test_what_a_program_computes(self):
        """A program of many functions, again and again, writes what it writes alone."""
        if not self.has_decoder():
            self.skipTest("without a decoder")
        text = "".join(f"{i * i} {hashlib.sha256(bytes([i % 256])).hexdigest()}\n" for i in range(6000))
        with open("text", "w", encoding="ascii") as file:
            file.write(text)
        command = "for i in 1 2 3; do xz -9 -T2 -k -c text; done | sha256sum"
        alone = self.run_program("bash", "-c", command).stdout
        shell = self.start_program("bash", "-c", "echo $$; while read -r line; do " + command + "; done",
                                   stdin=subprocess.PIPE)
        pid = int(shell.stdout.readline())
        before = code(pid)
        for i in range(LOOPS):
            shell.stdin.write("again\n")
            shell.stdin.flush()
            recorder = self.attach(pid, "--no-libcall", data=f"data{i}")
            self.assertEqual(shell.stdout.readline(), alone)
            self.leave(recorder)
            self.check_code(pid, before)
        shell.stdin.close()
        self.assertEqual(shell.wait(timeout=harness.TIMEOUT), 0)

    def kill_at(self, pid, step, is_leaving):
        data, start = f"data-{is_leaving}-{step}", f"{self.dir}/from-{is_leaving}-{step}"
        environment = dict(os.environ, ASAN_OPTIONS=harness.ASAN_BEHIND, LD_PRELOAD=f"{self.dir}/fault.so",
                           FTR_TEST_WRITE=str(step), FTR_TEST_FROM=start)
        if not is_leaving:
            open(start, "w", encoding="ascii").close()
        recorder = self.start_program(FTR, "record", "-p", str(pid), "-d", data, "--no-libcall", env=environment)
        self.wait_for(lambda: recorder.poll() is not None or self.has_calls(data))
        if is_leaving and recorder.poll() is None:
            open(start, "w", encoding="ascii").close()
            recorder.send_signal(signal.SIGINT)
        elif recorder.poll() is None:
            recorder.send_signal(signal.SIGINT)
        _, errors = recorder.communicate(timeout=harness.TIMEOUT)
        if recorder.returncode not in (0, -signal.SIGKILL):
            self.assertRegex(errors, "no thread is at a place .*; try again")
        self.wait_for(lambda: "TracerPid:\t0\n" in open(f"/proc/{pid}/status", encoding="ascii").read())
        return recorder.returncode == -signal.SIGKILL

    def test_killed_at_each_write(self):
        """A recorder that dies while it patches, or puts back, leaves a program that runs; the next one cleans up."""
        for name in self.names():
            with self.subTest(name):
                child = self.start(name, *ALL, "many")
                before, killed = code(child.pid), 0
                for is_leaving in (False, True):
                    for step in harness.few(WRITES, short=2):
                        killed += self.kill_at(child.pid, step, is_leaving)
                        self.assertIsNone(child.poll(), f"write {step}")
                        shutil.rmtree(f"data-{is_leaving}-{step}", ignore_errors=True)
                self.assertGreater(killed, 1)
                self.leave(self.attach(child.pid, data=f"again-{name}"))
                self.assertGreater(self.calls("f0995", f"again-{name}"), 0)
                self.check_code(child.pid, before)
                self.end(child)

    def test_recorder_is_killed(self):
        """What is patched then runs untraced."""
        child = self.start("entries", *ALL, "many")
        before = code(child.pid)
        recorder = self.attach(child.pid)
        recorder.kill()
        recorder.communicate()
        self.leave(self.attach(child.pid, data="again"))
        self.check_code(child.pid, before)
        self.end(child)


harness.main()
