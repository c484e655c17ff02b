# SPDX-License-Identifier: MIT
"""Whatever walks or unwinds a traced program's stack finds there what it finds untraced."""
import os
import re
import shutil
import subprocess
import unittest

from recording import CC, CXX, SRCDIR, TIMEOUT, Recording, harness

BUILDS = (("-O0", "-pg"), ("-O2", "-pg"), ("-O2", "-pg", "-mfentry"), ("-O1", "-finstrument-functions"))
GCC = "clang" not in CC[0]


def compiles(compiler, *words):
    return subprocess.run([*compiler, *words], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                          check=False).returncode == 0


def source(name):
    return os.path.join(SRCDIR, "tests/prog", name)


def output(*words):
    return subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, timeout=TIMEOUT,
                          check=False).stdout


class Unwinders(Recording):
    def setUp(self):
        super().setUp()
        self.has_libunwind = compiles(CC, "-DHAVE_LIBUNWIND", "-o", "probe.out", source("unwound.c"), "-lunwind")

    def builds(self, has_libunwind=False):
        flags = ["-DHAVE_LIBUNWIND"] if has_libunwind else []
        for build in BUILDS:
            if "-mfentry" in build and not GCC:
                continue
            self.assertTrue(compiles(CC, "-D_GNU_SOURCE", "-g", "-rdynamic", "-fno-optimize-sibling-calls", *build, *flags, "-o", "unwound",
                                     source("unwound.c"), *(["-lunwind"] if flags else [])), build)
            yield build

    def walk(self, how):
        for build in self.builds(how == "libunwind"):
            for options in ("--no-libcall", "--force"):
                with self.subTest(build=build, options=options):
                    native = output("./unwound", how)
                    self.assertIn("inner\n", native)
                    shutil.rmtree("d", ignore_errors=True)
                    run = self.ftr("record", options, "-d", "d", "./unwound", how)
                    traced = [line for line in run.stdout.splitlines() if not line.startswith("ftr_return")]
                    self.assertEqual(traced, native.splitlines())

    def test_backtrace(self):
        self.walk("backtrace")

    def test_backtrace_in_a_handler(self):
        self.walk("handler")

    def test_libunwind(self):
        if not self.has_libunwind:
            self.skipTest("libunwind-dev is not installed")
        self.walk("libunwind")

    @unittest.skipUnless(shutil.which("gdb"), "gdb is not installed")
    def test_gdb(self):
        commands = ["handle SIGUSR2 stop nopass", "set startup-with-shell off", "run", "bt", "kill"]
        batch = [word for command in commands for word in ("-ex", command)]
        gdb = ["gdb", "-nx", "-batch", *batch, "--args", "./unwound", "stop"]
        for build in self.builds():
            with self.subTest(build=build):
                native = self.frames(output(*gdb))
                if "leaf" not in native:
                    self.skipTest("gdb cannot run programs here")
                shutil.rmtree("d", ignore_errors=True)
                traced = self.frames(self.ftr("record", "--force", "--no-libcall", "-d", "d", *gdb).stdout)
                self.assertEqual(traced, native)

    @staticmethod
    def frames(text):
        names = re.findall(r"^#\d+ +(?:0x[0-9a-f]+ in )?(\w+)", text, re.M)
        return [name for name in names if name in ("leaf", "inner", "outer", "main")]

    def same(self, *words):
        """A program's output and status, with and without ftr; its calls by name."""
        for options in (["--no-libcall"], ["--force"]):
            native = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=TIMEOUT,
                                    check=False, text=True)
            shutil.rmtree("d", ignore_errors=True)
            run = self.ftr("record", *options, "-d", "d", *words)
            self.assertEqual((run.returncode, run.stdout, run.stderr),
                             (native.returncode, native.stdout, native.stderr))
        report = self.ftr("report", "--no-pager", "-d", "d", "-f", "call").stdout
        return {name: int(nr) for nr, name in re.findall(r"^\s*(\d+)\s+(\S.*)$", report, re.M)}

    @unittest.skipUnless(shutil.which("rustc"), "rustc is not installed")
    def test_rust_panic(self):
        built = subprocess.run(["rustc", "-O", "-Z", "instrument-mcount", "-o", "panic", source("panic.rs")],
                               env=dict(os.environ, RUSTC_BOOTSTRAP="1"), stderr=subprocess.PIPE, check=False)
        if built.returncode:
            self.skipTest("this rustc does not instrument")
        calls = self.same("./panic")
        self.assertEqual([calls["panic::" + name] for name in ("thrower", "through", "after")], [6, 6, 5])

    def test_static_libstdcxx(self):
        for words in (("-static-libstdc++", "-static-libgcc"), ("-fnon-call-exceptions",)):
            if not compiles(["g++"], "-pg", "-O2", *words, "-o", "exceptions",
                            os.path.join(SRCDIR, "tests/prog/exceptions.cc"), "-lpthread"):
                self.skipTest("no static libstdc++ here")
            self.assertEqual(self.same("./exceptions")["throw_it"], 12)

    def test_exceptions_at_random(self):
        for words in BUILDS + (("-O2", "-pg", "-static-libgcc"), ("-O2", "-pg", "-static-libstdc++"),
                               ("-O2", "-pg", "-static-libstdc++", "-static-libgcc")):
            if not compiles(CXX, *words, "-o", "storm", source("throw_storm.cc"), "-lpthread"):
                continue
            for seed in harness.few("123", short=1):
                with self.subTest(build=words, seed=seed):
                    calls = self.same("./storm", seed)
                    expected = dict(line.split() for line in output("./storm", seed).splitlines())
                    self.assertEqual({name: str(calls[name]) for name in expected}, expected)

    def test_runtime_of_a_plugin(self):
        """libstdc++ and libgcc come with a library that is opened with RTLD_LOCAL."""
        for words in harness.few(BUILDS, short=2):
            self.assertTrue(compiles(["g++"], *words, "-shared", "-fPIC", "-Dmain=run", "-o", "libstorm.so",
                                     source("throw_storm.cc"), "-lpthread"))
            self.assertTrue(compiles(["gcc"], *words, "-o", "host", source("unwinders_host.c"), "-ldl"))
            with self.subTest(build=words):
                calls = self.same("./host")
                self.assertGreater(calls["descend"], 10000)

    def test_boost_context(self):
        if not compiles(["g++"], "-pg", "-O2", "-o", "fibers", source("fibers.cc"), "-lboost_context", "-lpthread"):
            self.skipTest("libboost-context-dev is not installed")
        builds = (("-O0", "-pg"), ("-O2", "-pg"), ("-O2", "-pg", "-mfentry"), ("-finstrument-functions",))
        for build in harness.few(builds, short=2):
            self.assertTrue(compiles(["g++"], *build, "-o", "fibers", source("fibers.cc"), "-lboost_context",
                                     "-lpthread"))
            calls = self.same("./fibers")
            self.assertGreater(calls["leaf"], 300)

    def test_fortified_longjmp(self):
        prog = os.path.join(SRCDIR, "tests/prog/longjmp.c")
        self.assertTrue(compiles(CC, "-pg", "-O2", "-D_FORTIFY_SOURCE=2", "-o", "jump", prog))
        self.assertIn("__longjmp_chk", output("nm", "-D", "jump"))
        calls = self.same("./jump")
        self.assertEqual([calls[name] for name in ("jump_over", "deeper", "after")], [2, 2, 1])


if __name__ == "__main__":
    harness.main()
