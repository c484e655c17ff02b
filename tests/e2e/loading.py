# SPDX-License-Identifier: MIT
"""Libraries that are loaded, unloaded, put before others, or in a namespace of their own: nothing changes."""
import os
import re
import subprocess

from recording import CXX, FTR, AsNative, allocators, harness

# Two libraries of the same size: one comes to where the other was.
PLUGIN = r"""
#include <unistd.h>
__attribute__((noinline)) int NAME_leaf(int n) { return n + (CALL() < 0xffffffff); }
__attribute__((constructor)) static void start(void) { NAME_leaf(0); }
int run(int n) { return NAME_leaf(n); }
"""
class LoadingTest(AsNative):
    def skip_with_sanitizer(self):
        with open(FTR, "rb") as file:
            if b"__asan_init" in file.read():
                self.skipTest("AddressSanitizer, in ftr itself, bears no auditor and no other allocator")

    def test_auditors(self):
        self.skip_with_sanitizer()
        self.library("one", PLUGIN.replace("NAME", "one").replace("CALL", "getuid"))
        self.library("two", PLUGIN.replace("NAME", "two").replace("CALL", "getgid"))
        self.compile("loader", "loading_loader.c", "-pg")
        for flags in ([], ["-DFRAMES=0"], ["-DFRAMES=256"]):
            self.library("audit", "loading_auditor.c", *flags)
            for options in (["--force"], ["-l"], ["--nest-libcall"], ["--no-libcall", "-e"]):
                with self.subTest(flags=flags, options=options):
                    counts = self.same_as_native(options, "./loader", LD_AUDIT=self.dir + "/libaudit.so")
                    # clang calls mcount by the PLT: an auditor of PLT calls stands between.
                    if not flags or "clang" not in os.environ.get("CC", ""):
                        self.check(counts, {"main": 1})

    def test_the_next_one(self):
        self.library("inter", "loading_interposer.c")
        for flags in ([], ["-pg"], ["-no-pie"]):
            self.compile("interposed", "loading_interposed.c", *flags)
            for options in (["--force"], ["-l"], ["--force", "-e"]):
                with self.subTest(flags=flags, options=options):
                    counts = self.same_as_native(options, "./interposed", LD_PRELOAD=self.dir + "/libinter.so")
                    self.check(counts, {"getppid": 2, "dlsym": 4 if "-l" in options else 1})

    def test_wrappers_behind_ours(self):
        self.library("wrap", "loading_wrapped.c", "-DLIBRARY")
        behind = self.dir + "/libwrap.so"
        for flags in ([], ["-pg"]):
            self.compile("wrapped", "loading_wrapped.c", *flags)
            native = subprocess.run(["./wrapped"], stdout=subprocess.PIPE, text=True, check=True,
                                    env=dict(os.environ, LD_PRELOAD=behind)).stdout
            self.assertEqual(len(native.splitlines()), 7)
            for options in (["--force", "--no-libcall"], ["-l"]):
                with self.subTest(flags=flags, options=options):
                    self.same_as_native(options, "./wrapped", LD_PRELOAD=behind)

    def test_allocators(self):
        self.skip_with_sanitizer()
        for name, path in allocators():
            for flags in ([], ["-pg"], ["-no-pie"]):
                self.compile("allocating", "loading_allocating.c", *flags)
                for options in (["--force"], ["-l"], ["--force", "-e"]):
                    with self.subTest(name, flags=flags, options=options):
                        counts = self.same_as_native(options, "./allocating", LD_PRELOAD=path,
                                                     MALLOC_CONF="narenas:3")
                        self.assertGreaterEqual(counts["malloc"], 8000)
                        self.check(counts, {"realloc": 4000})

    def test_another_at_the_same_address(self):
        for flags in ([], ["-pg"], ["-finstrument-functions"]):
            for name, call in (("one", "getuid"), ("two", "getgid")):
                self.library(name, PLUGIN.replace("NAME", name).replace("CALL", call), *flags)
            self.compile("loader", "loading_loader.c", *flags)
            with self.subTest(flags=flags):
                counts = self.same_as_native(["-l"], "./loader")
                # As a library call, and as a function; but the calls of -finstrument-functions read the address.
                inner = 2 if "-pg" in flags else 1
                self.check(counts, {"getuid": 4, "getgid": 4, "one_leaf": 4 * inner, "two_leaf": 4 * inner})

    def test_namespaces(self):
        for flags in ([], ["-pg"], ["-finstrument-functions"]):
            for name, call in (("one", "getuid"), ("two", "getgid")):
                self.library(name, PLUGIN.replace("NAME", name).replace("CALL", call), *flags)
            self.compile("loader", "loading_loader.c", *flags)
            for options in (["-l"], ["--force"]):
                with self.subTest(flags=flags, options=options):
                    counts = self.same_as_native(options, "./loader", "dlmopen")
                    self.check(counts, {"dlmopen": 4, "dlsym": 4})

    def test_constructors_of_cxx(self):
        for flags in (["-pg"], ["-finstrument-functions"]):
            self.library("one", "loading_constructors.cc", *flags, compiler=CXX)
            self.library("two", "loading_constructors.cc", *flags, compiler=CXX)
            self.compile("loader", "loading_loader.c", *flags)
            for options in (["--no-libcall"], ["-e", "--no-libcall"]):
                with self.subTest(flags=flags, options=options):
                    counts = self.same_as_native(options, "./loader")
                    self.check(counts, {"Item::Item": 8, "Item::~Item": 8, "run": 4})

    def opened(self):
        """Functions that were called inside of dlopen, which took a while, in a replay."""
        replay = subprocess.run([FTR, "replay", "--no-pager", "-d", "d", "-f", "duration"], stdout=subprocess.PIPE,
                                text=True, check=True).stdout
        took = [float(ms) for ms in re.findall(r"([0-9.]+) ms \| +} /\* dlopen", replay)]
        self.assertEqual(len([ms for ms in took if ms >= 20]), 3, replay)
        nested = re.findall(r"\| ( *)dlopen\(\) {\n.*\| ( *)start\(\)", replay)
        self.assertTrue(all(len(outer) + 2 == len(inner) for outer, inner in nested), replay)
        return len(nested)

    def test_dlopen_lasts(self):
        """By its caller's search path, by that of its caller's loader, and where its caller does not matter."""
        os.mkdir("sub")
        self.compile("sub/libdep.so", "int dependency(void)\n{ return 7; }\n", "-shared", "-fPIC")
        for instrumented in ("-pg", "-finstrument-functions"):
            self.compile("sub/libplug.so", "loading_plug.c", "-shared", "-fPIC", instrumented, "-Lsub", "-ldep",
                         "-Wl,--disable-new-dtags")
            for tags, found in (("--enable-new-dtags", 0), ("--disable-new-dtags", 3)):
                paths = ["-Wl,-rpath,$ORIGIN/sub", "-Wl," + tags]
                self.compile("opener", "loading_opener.c", instrumented, *paths)
                self.library("opener", "loading_opener.c", "-DLIBRARY", instrumented, *paths)
                self.compile("opened", "void open_all(void);\nint main(void) { open_all(); return 0; }\n",
                             instrumented, "-lopener")
                for program, options in (("./opener", []), ("./opened", ["--nest-libcall"])):
                    for path in ("", self.dir + "/sub"):
                        with self.subTest(instrumented=instrumented, tags=tags, program=program, path=path):
                            self.same_as_native(["--no-event", *options], program, LD_LIBRARY_PATH=path)
                            if path or (found and program == "./opener"):
                                self.assertEqual(self.opened(), 3)


if __name__ == "__main__":
    harness.main()
