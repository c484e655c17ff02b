# SPDX-License-Identifier: MIT
"""ftr doctor: what it says of each kind of program is what ftr record does with it."""
import json
import os
import re
import shutil
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../lib"))
sys.dont_write_bytecode = True
import harness      # noqa: E402 (the path comes first)
from harness import CC, IS_ROOT, TIMEOUT     # noqa: E402
from recording import run_observed      # noqa: E402

LIBRARY = "int twice(int n) { return 2 * n; }\n"
CALLER = "int twice(int n);\nint main(void) { return twice(0); }\n"


class Doctor(harness.Test):
    def compile(self, out, source, *flags):
        path = os.path.join(harness.SRCDIR, "tests/prog", source)
        if not source.endswith(".c"):
            path = out + ".c"
            with open(path, "w", encoding="ascii") as file:
                file.write(source)
        subprocess.run([*CC, *flags, "-o", out, path] + (["-L.", "-ltwice"] if source == CALLER else []), check=True,
                       timeout=TIMEOUT)

    def doctor(self, *words, status=0, **options):
        """(modules by name, obstacles, the last object)"""
        done = self.ftr("doctor", "--json", *words, **options)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        objects = [json.loads(line) for line in done.stdout.splitlines()]
        modules = {os.path.basename(one["path"]): one for one in objects if one["type"] == "module"}
        obstacles = [(one["of"], one["text"]) for one in objects if one["type"] == "obstacle"]
        self.assertEqual((objects[-1]["type"], objects[-1]["modules"], objects[-1]["obstacles"],
                          objects[-1]["is_blocked"]),
                         ("doctor", len(modules), len(obstacles), status != 0))
        return modules, obstacles, objects[-1]

    def has_decoder(self):
        self.compile("empty", "int main(void) { return 0; }\n")
        return "without a decoder" not in self.ftr("record", "-d", "e", "-P", ".", "./empty").stderr

    def test_hooks(self):
        self.compile("prog", "doctor_functions.c", "-pg")
        modules, obstacles, whole = self.doctor("./prog")
        self.assertEqual((modules["prog"]["uses"], modules["prog"]["instrumented_by"], modules["prog"]["is_program"]),
                         ("hooks", "-pg", True))
        self.assertGreaterEqual(modules["prog"]["functions"], 3)
        self.assertGreaterEqual(modules["prog"]["libcalls"], 2)
        self.assertEqual(modules["libc.so.6"]["uses"], "outside")
        self.assertEqual([of for of, _ in obstacles if of in ("tracing", "calls", "names")], [])
        self.assertEqual(whole["name"], "./prog")

    def test_prepared(self):
        self.compile("prog", "doctor_functions.c", "-fpatchable-function-entry=5")
        program = self.doctor("./prog")[0]["prog"]
        self.assertEqual((program["uses"], program["instrumented_by"]), ("prepared", "-fpatchable-function-entry"))
        notes = self.ftr("record", "-v", "-d", "d", "./prog").stderr
        self.assertIn(f"prog: {program['seen']} functions patched", notes)

    def test_plain(self):
        if not self.has_decoder():
            self.skipTest("ftr was built without libzydis-dev")
        self.compile("prog", "doctor_functions.c")
        program = self.doctor("./prog")[0]["prog"]
        self.assertEqual(program["uses"], "plain")
        self.assertNotIn("instrumented_by", program)
        notes = self.ftr("record", "-v", "-d", "d", "./prog").stderr
        self.assertIn(f"prog: {program['seen']} of ", notes)

    def test_libraries(self):
        if not self.has_decoder():
            self.skipTest("ftr was built without libzydis-dev")
        self.compile("libtwice.so", LIBRARY, "-shared", "-fPIC")
        self.compile("prog", CALLER, "-Wl,-rpath,$ORIGIN")
        library = self.doctor("./prog")[0]["libtwice.so"]
        self.assertEqual((library["uses"], library["seen"], library["is_program"]), ("plain_asked", 1, False))
        done = self.ftr("doctor", "./prog")
        option = re.search("libtwice.so .* patches it with (-P .@libtwice.so)\n", done.stdout).group(1)
        notes = self.ftr("record", "-v", "-d", "d", *option.split(), "./prog").stderr
        self.assertRegex(notes, "libtwice.so: 1 of 1 functions patched")
        os.remove("libtwice.so")
        obstacles = self.doctor("./prog", status=1)[1]
        self.assertRegex(dict(obstacles)["tracing"], "^libtwice.so: .*No such file or directory; .*LD_LIBRARY_PATH")

    def test_what_is_missing(self):
        self.compile("prog", "doctor_functions.c", "-pg", "-s")
        texts = dict(self.doctor("./prog")[1])
        self.assertIn("find-dbgsym-packages", texts["names"])
        self.assertIn("-g", texts["values"])
        self.compile("prog", "doctor_functions.c", "-pg", "-g")
        self.assertFalse({"names", "values"} & dict(self.doctor("./prog")[1]).keys())

    def test_refused(self):
        """As ftr record refuses it, with the same words."""
        self.compile("static", "doctor_functions.c", "-static")
        self.compile("locked", "doctor_functions.c")
        os.chmod("locked", 0o644)
        for name in ("./static", "./locked"):
            refusal = self.ftr("record", "-d", "d", name).stderr
            text = dict(self.doctor(name, status=1)[1])["tracing"]
            self.assertEqual(refusal, f"ftr: {text}\n")
        self.assertIn('./static: cannot be traced; "tracing" above', self.ftr("doctor", "./static").stdout)

    def test_static(self):
        """However it is built, nothing of it is said to be traced; what the refusal names instead works."""
        for flags in ([], ["-pg"], ["-finstrument-functions"], ["-fpatchable-function-entry=5"], ["-static-pie", "-fPIE"], ["-s"]):
            self.compile("static", "doctor_functions.c", *flags, *([] if "-static-pie" in flags else ["-static"]))
            modules, obstacles, _ = self.doctor("./static", status=1)
            self.assertEqual((modules["static"]["uses"], modules["static"]["seen"]), ("none", 0), flags)
            self.assertRegex(dict(obstacles)["tracing"], "^./static: is statically linked.*without -static.*--syscalls --stack")
            done = run_observed("record", "-d", "d", "--syscalls", "--stack", "./static")
            self.assertEqual((done.returncode, done.stderr), (0, ""), flags)
            calls = self.ftr("replay", "-d", "d")
            self.assertEqual((calls.returncode, calls.stderr), (0, ""))
            self.assertIn("sys_execve", calls.stdout)
            shutil.rmtree("d")

    def test_script(self):
        with open("script", "w", encoding="ascii") as file:
            file.write("#!/bin/sh\n")
        os.chmod("script", 0o755)
        self.assertIn("./script is a script", self.ftr("doctor", "./script").stdout)

    def test_not_there(self):
        for name in ("./nowhere", "nowhere", "2000000000"):
            done = self.ftr("doctor", name)
            self.assertEqual((done.returncode, done.stdout), (1, ""))
            self.assertRegex(done.stderr, "No such file|no such p")
        for words in ([], ["a", "b"]):
            self.assertEqual(self.ftr("doctor", *words).returncode, 2)

    @unittest.skipIf(IS_ROOT, "root may write anywhere")
    def test_directory_that_cannot_be_written_to(self):
        self.compile("prog", "doctor_functions.c", "-pg")
        os.mkdir("closed", 0o555)
        text = dict(self.doctor("../prog", status=1, cwd="closed")[1])["tracing"]
        self.assertIn("name one with -d", text)

    def start_waiting(self, *flags):
        self.compile("prog", "doctor_functions.c", *flags)
        child = self.start_program("./prog", "wait")
        self.assertEqual(child.stdout.readline(), "7\n")
        return child

    def test_process(self):
        child = self.start_waiting("-pg")
        status = self.ftr("doctor", str(child.pid)).returncode
        modules, obstacles, whole = self.doctor(str(child.pid), status=status)
        if status != 0:
            self.skipTest(dict(obstacles)["tracing"])
        self.assertEqual((modules["prog"]["uses"], whole["pid"]), ("hooks", child.pid))
        self.assertEqual(modules["libc.so.6"]["uses"], "outside")
        self.assertIn(f"ftr record -p {child.pid}\n", self.ftr("doctor", str(child.pid)).stdout)
        self.assertIsNone(child.poll())
        child.kill()
        child.wait()
        os.mkdir(str(child.pid))        # a file of that name is meant
        self.assertIn("is a directory", dict(self.doctor("./" + str(child.pid), status=1)[1])["tracing"])

    def test_what_runs_is_patched_as_what_starts(self):
        child = self.start_waiting("-fpatchable-function-entry=5")
        status = self.ftr("doctor", str(child.pid)).returncode
        running, started = (self.doctor(name, status=status)[0]["prog"] for name in (str(child.pid), "./prog"))
        self.assertEqual(running["uses"], "prepared")
        self.assertEqual((running["uses"], running["seen"]), (started["uses"], started["seen"]))
        self.assertGreater(running["seen"], 0)
        self.assertGreaterEqual(running["libcalls"], 2)
        plain = self.start_waiting()
        modules, obstacles, _ = self.doctor(str(plain.pid), status=status)
        self.assertEqual(modules["prog"]["uses"], "plain" if self.has_decoder() else "none")
        self.assertEqual("calls" in dict(obstacles), not self.has_decoder())

    def test_process_as_record_refuses_it(self):
        child = self.start_waiting("-static")
        refusal = self.ftr("record", "-d", "d", "-p", str(child.pid)).stderr
        text = dict(self.doctor(str(child.pid), status=1)[1])["tracing"]
        self.assertEqual(refusal, f"ftr: {text}\n")

    def test_cost(self):
        self.compile("prog", "doctor_functions.c", "-pg")
        os.mkdir("tmp")
        whole = self.doctor("./prog", env=dict(os.environ, TMPDIR=self.dir + "/tmp"))[2]
        if self.has_decoder():
            self.assertGreater(whole["call_ns"], whole["call_untraced_ns"])
        self.assertEqual(os.listdir("tmp"), [])
        shutil.rmtree("tmp")
        done = self.ftr("doctor", "./prog", env=dict(os.environ, TMPDIR=self.dir + "/tmp"))
        self.assertEqual(done.returncode, 0)
        self.assertIn("costs was not measured: ", done.stdout)


harness.main()
