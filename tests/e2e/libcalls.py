# SPDX-License-Identifier: MIT
"""Library calls: every layout of a linker, those that libraries make, and more of them than stubs."""
import glob
import os
import re
import shutil
import subprocess
import unittest

from recording import FTR, SRCDIR, TIMEOUT, AsNative, harness

# How the program is compiled and linked; the tool that must be there for it.
LAYOUTS = {
    "lazy": ("-Wl,-z,lazy", None),
    "eager": ("-Wl,-z,now", None),
    "eager, no relro": ("-Wl,-z,now -Wl,-z,norelro", None),
    "full relro": ("-Wl,-z,now -Wl,-z,relro", None),
    "lazy, relro": ("-Wl,-z,lazy -Wl,-z,relro", None),
    ".plt.sec": ("-fcf-protection=full -Wl,-z,ibtplt -Wl,-z,lazy", None),
    ".plt.sec, full relro": ("-fcf-protection=full -Wl,-z,ibtplt -Wl,-z,now", None),
    "no plt": ("-fno-plt", None),
    "no plt, no pie": ("-fno-plt -no-pie -fno-pie", None),
    "no pie": ("-no-pie -fno-pie -Wl,-z,lazy", None),
    "no pie, eager": ("-no-pie -fno-pie -Wl,-z,now", None),
    "fixed address": ("-no-pie -fno-pie -Wl,-Ttext-segment=0x30000000", None),
    "gold": ("-fuse-ld=gold -Wl,-z,lazy", "ld.gold"),
    "lld": ("-fuse-ld=lld -Wl,-z,lazy", "ld.lld"),
    "lld, eager": ("-fuse-ld=lld -Wl,-z,now", "ld.lld"),
    "lld, no pie": ("-fuse-ld=lld -no-pie -fno-pie", "ld.lld"),
    "lld, .plt.sec": ("-fuse-ld=lld -fcf-protection=full -Wl,-z,force-ibt", "ld.lld"),
    "mold": ("-fuse-ld=mold -Wl,-z,lazy", "mold"),
    "mold, eager": ("-fuse-ld=mold -Wl,-z,now", "mold"),
    "mold, no plt": ("-fuse-ld=mold -fno-plt", "mold"),
    "sysv hash": ("-Wl,--hash-style=sysv -Wl,-z,lazy", None),
    "packed relocations": ("-Wl,-z,pack-relative-relocs -Wl,-z,lazy", None),
}
LAYOUT_CALLS = {"getpid": 3, "memcpy": 2, "memmove": 1, "strlen": 1, "printf": 5, "dlsym": 4, "dlvsym": 1,
                "time": 1}

PROGRAMS = (
    ("gcc", "-c", "small.c"), ("git", "--version"), ("perl", "-e", "use POSIX; print floor(3.5)"),
    ("python3", "-c", "import json; print(json.dumps([1, {}]))"), ("bash", "-c", "echo $((6 * 7)) | cat"),
    ("openssl", "sha256", "small.c"), ("curl", "--version"), ("ls", "-a", "/usr"), ("make", "--version"),
    ("sort", "small.c"), ("tar", "cf", "/dev/null", "small.c"),
)

NEST_CALLS = {"getpid": 2, "getpgrp": 1, "getppid": 1, "getpid_twice": 1, "getuid": 3, "getgid": 3, "geteuid": 3,
              "dependency_work": 3, "dependency_leaf": 3, "library_work": 1, "dlopen": 3, "dlclose": 3}


class Jumps(AsNative):
    """A longjmp is recorded as uftrace records it."""

    def dumped(self, tool, data):
        """(what, function, depth) of each record of main before the signals: uftrace does not see kill."""
        text = subprocess.run([tool, "dump", "--no-pager", "-d", data], stdout=subprocess.PIPE, text=True,
                              check=True).stdout
        records = re.findall(r"\[(entry|exit) *\] (\w+)\(.*depth: (\d+)", text)
        names = [name for _, name, _ in records]
        return records[names.index("main"):names.index("sigaction")]

    def uftrace(self, *words):
        return subprocess.run(["uftrace", *words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              timeout=TIMEOUT, check=True).stdout

    def replayed(self, data):
        """uftrace's view of main."""
        text = self.uftrace("replay", "--no-pager", "-f", "none", "-d", data)
        return text[text.index("main() {"):text.index("  sigaction();")]

    @unittest.skipUnless(shutil.which("uftrace"), "uftrace is not installed")
    def test_records(self):
        for flags in (["-pg"], ["-pg", "-mfentry"], ["-finstrument-functions"]):
            with self.subTest(flags=flags):
                self.compile("jumps", os.path.join(SRCDIR, "tests/prog/jumps.c"), *flags)
                self.same_as_native(["--no-event"], "./jumps")
                self.uftrace("record", "--no-event", "-d", "theirs", "./jumps")
                ours = self.dumped(FTR, "d")
                self.assertEqual(ours, self.dumped("uftrace", "theirs"))
                self.assertEqual(ours.count(("exit", "_setjmp", "2")), 8)
                self.assertEqual(self.replayed("d"), self.replayed("theirs"))
                shutil.rmtree("d")
                shutil.rmtree("theirs")


class LibcallsTest(AsNative):
    def test_layouts(self):
        for name, (flags, tool) in harness.few(LAYOUTS.items(), short=4):
            with self.subTest(name):
                if tool and not shutil.which(tool):
                    self.skipTest(tool + " is not installed")
                self.compile("layout", os.path.join(SRCDIR, "tests/prog/layout.c"), *flags.split())
                for options in (["--force"], ["-l"]):
                    self.check(self.same_as_native(options, "./layout"), LAYOUT_CALLS)

    def nest_build(self, *flags):
        self.library("one", "libcalls_library.c", *flags)
        self.library("three", "libcalls_dependency.c", *flags)
        self.library("two", "libcalls_plugin.c", "-lthree", *flags)

    def test_libraries_calls(self):
        for flags in harness.few((["-Wl,-z,lazy"], ["-Wl,-z,now"], ["-fno-plt"]), short=2):
            self.nest_build(*flags)
            for instrumentation in ([], ["-pg"], ["-finstrument-functions"]):
                with self.subTest(flags=flags, instrumentation=instrumentation):
                    self.compile("nest", "libcalls_program.c", "-lone", *instrumentation)
                    counts = self.same_as_native(["-l"], "./nest", "./libtwo.so")
                    # With a __gmon_start__ of the program's own, plugins are seen at dlsym.
                    self.check(counts, dict(NEST_CALLS, getuid=0) if "-pg" in instrumentation else NEST_CALLS)
                    counts = self.same_as_native(["--force"], "./nest", "./libtwo.so")
                    self.check(counts, {"library_work": 1, "getpid": 0, "geteuid": 0})

    def test_installed_programs(self):
        """As they come, from anywhere; gcc runs others by vfork, OpenSSL compares addresses of functions."""
        with open("small.c", "w", encoding="ascii") as file:
            file.write("int main(void) { return 0; }\n")
        for command in PROGRAMS:
            if shutil.which(command[0]) is None:
                continue
            for options in (["--force"], ["-l"], ["--force", "-e"]):
                with self.subTest(command=command, options=options):
                    self.assertGreater(sum(self.same_as_native(options, *command).values()), 0)

    def test_names_of_libraries(self):
        self.library("one", "libcalls_library.c")
        self.compile("named", "#include <stdio.h>\nint library_work(int n);\nint puts(const char *s) "
                     "{ return fputs(s, stdout); }\nint main(void) { return library_work(0) + puts(\"\") > 3; }\n",
                     "-lone", "-Wl,--export-dynamic")
        self.same_as_native(["-l"], "./named")
        counts = self.report("-f", "call", "--libname")
        self.check(counts, {"library_work@libone.so": 1, "getpid@libc.so.6": 2, "getppid@libc.so.6": 1,
                            "getpid_twice@libone.so": 1, "fputs@libc.so.6": 1})

    def test_addresses_that_stay(self):
        self.compile("layout", os.path.join(SRCDIR, "tests/prog/layout.c"))
        bases = set()
        for _ in range(2):
            self.same_as_native(["--force", "--no-randomize-addr"], "./layout")
            with open(glob.glob("d/sid-*.map")[0], encoding="ascii") as file:
                bases.add(file.readline().split("-")[0])
        self.assertEqual(bases, {"555555554000"})

    def test_no_pltbind(self):
        self.compile("bound", "#include <stdio.h>\n#include <stdlib.h>\n#include <unistd.h>\nint main(void)\n"
                     "{\n\tputs(getenv(\"LD_BIND_NOT\") ? \"not bound\" : \"bound\");\n"
                     "\treturn getpid() + getpid() == 0;\n}\n", "-Wl,-z,lazy")
        run = subprocess.run([FTR, "record", "-d", "d", "--force", "--no-pltbind", "./bound"],
                             stdout=subprocess.PIPE, text=True, check=True, timeout=TIMEOUT)
        self.assertEqual(run.stdout, "not bound\n")
        self.check(self.report("-f", "call"), {"getpid": 2, "puts": 1})

    def test_nop(self):
        victim = os.path.join(SRCDIR, "tests/prog/victim.c")
        for flags in (["-pg"], ["-pg", "-mfentry"], ["-finstrument-functions"]):
            self.compile("victim", victim, "-I", SRCDIR, *flags, "-lpthread")
            self.assertEqual(self.same_as_native(["--nop"], "./victim", "work"), {})
        run = subprocess.run([FTR, "--nop", "./victim", "work"], stdout=subprocess.PIPE, text=True, check=True)
        self.assertRegex(run.stdout, r"^15\n# DURATION.*\n$")

    def test_where_the_runtime_is(self):
        self.compile("layout", os.path.join(SRCDIR, "tests/prog/layout.c"))
        built = os.path.join(os.path.dirname(FTR), "libmcount.so")
        if not os.path.exists(built):
            self.skipTest("ftr is installed")
        for place, option in (("one/libmcount", "--libmcount-path"), ("one", "--libmcount-path"),
                              ("two", "--library-path")):
            os.makedirs(place, exist_ok=True)
            shutil.copy(built, place)
            top = place.split("/", maxsplit=1)[0]
            self.same_as_native(["--force", option, top], "./layout")
            with open(glob.glob("d/sid-*.map")[0], encoding="ascii") as file:
                wanted = "one/libmcount" if top == "one" else place
                self.assertIn(f"{self.dir}/{wanted}/libmcount.so", file.read())
        run = subprocess.run([FTR, "record", "--force", "--libmcount-path", "none", "./layout"],
                             stderr=subprocess.PIPE, text=True, check=False)
        self.assertEqual(run.returncode, 125)
        self.assertIn("none/libmcount.so", run.stderr)

    def many(self, nr):
        """A library of that many functions, and a function work() that calls each."""
        self.library("many", "".join(f"int f{i}(int n) {{ return n + {i}; }}\n" for i in range(nr)), "-O0")
        calls = "".join(f"\tn += f{i}(n) & 7;\n" for i in range(nr))
        declarations = "".join(f"int f{i}(int n);\n" for i in range(nr))
        return declarations + "int work(void)\n{\n\tint n = 0;\n" + calls + "\treturn n;\n}\n"

    def test_more_calls_than_stubs(self):
        nr = 14000
        self.compile("many", self.many(nr) + '#include <stdio.h>\nint main(void) { printf("%d\\n", work()); }\n',
                     "-O0", "-lmany")
        for options in (["--force"], ["-l"]):
            counts = self.same_as_native(options, "./many")
            self.check(counts, {f"f{i}": 1 for i in range(nr)})

    def test_no_stub_left(self):
        """More stubs are mapped from libmcount.so, which is gone when the plugin comes."""
        stubs, nr = 8192, 9000
        self.library("plugin", self.many(nr), "-O0", "-lmany")
        self.compile("loader", "libcalls_no_stub_left.c")
        built = os.path.join(os.path.dirname(FTR), "libmcount.so")
        if not os.path.exists(built):
            self.skipTest("ftr is installed")
        os.mkdir("gone")
        shutil.copy(built, "gone")
        runs = [subprocess.run([*words, "./loader", "./libplugin.so", "gone/libmcount.so"], stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True, timeout=TIMEOUT, check=True)
                for words in ([FTR, "record", "-d", "d", "-l", "--libmcount-path", "gone"], [])]
        self.assertEqual(runs[0].stdout, runs[1].stdout)
        said = r"process \d+: makes more library calls than ftr has stubs for, and libmcount.so cannot be " \
               r"remapped; some calls are not recorded\n"
        self.assertRegex(runs[0].stderr, "ftr: warning: " + said)
        with open("d/extern.dat", encoding="ascii") as file:
            self.assertRegex(file.read(), r"[\d.]+ " + said)
        counts = self.report("-f", "call")
        recorded = [name for name in counts if name[0] == "f" and name[1:].isdigit()]
        # Those that the rest of the process calls take some.
        self.assertLess(len(recorded), stubs)
        self.assertGreater(len(recorded), stubs - 1000)
        self.check(counts, {name: 1 for name in recorded})


if __name__ == "__main__":
    harness.main()
