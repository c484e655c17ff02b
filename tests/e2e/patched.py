# SPDX-License-Identifier: MIT
"""Programs with room at their functions' entries: every function is patched, wherever it lies, and nothing differs."""
import re
import shutil
import subprocess

from recording import AsNative, FTR, harness

# What of it is called; compare by the C library.  main: in the program and what its child executes.
CALLS = {"main": 2, "middle": 5, "leaf": 10, "unlikely": 1, "floats": 1, "many": 1, "recursive": 51, "jumps": 1,
         "sum": 1, "in_child": 1}
LIBRARY = r"""
__attribute__((noinline)) int NAME_leaf(int n) { __asm__ volatile("" : "+r"(n)); return n + 1; }
__attribute__((constructor)) static void NAME_start(void) { NAME_leaf(0); }
int NAME_run(int n) { return NAME_leaf(NAME_leaf(n)); }
"""
PATCHABLE = ["-fpatchable-function-entry=5"]
NOPS = ["-pg", "-mfentry", "-mnop-mcount", "-mrecord-mcount", "-fno-pie", "-no-pie"]
NOPS_PROLOGUE = ["-pg", "-mno-fentry", "-mnop-mcount", "-mrecord-mcount", "-fno-pie", "-no-pie"]
XRAY = ["-fxray-instrument", "-fxray-instruction-threshold=1"]
NO_LIBCALL = ["--no-libcall", "--no-event"]


def has(compiler, *flags):
    """Does it know them, the linker included?"""
    if shutil.which(compiler) is None:
        return False
    return subprocess.run([compiler, *flags, "-x", "c", "-", "-o", "/dev/null"], input="int main(void) { return 0; }",
                          text=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                          check=False).returncode == 0


class Ways(AsNative):
    """Each way of the compilers to leave room, with what changes the layout of a program."""

    def one(self, compiler, kind, *flags):
        self.compile("prog", "patched_source.c", *kind, *flags, compiler=[compiler])
        self.check_named(self.same_as_native(NO_LIBCALL, "./prog"), "-s" not in flags)

    def check_named(self, counts, has_names):
        if has_names:
            self.check(counts, CALLS)
        else:
            self.assertGreaterEqual(len(counts), len(CALLS) + 1)        # compare; main elsewhere
            self.assertEqual(sorted(counts.values())[-3:], sorted(CALLS.values())[-3:])

    def all(self, compiler, kind, *more):
        if not has(compiler, *kind):
            self.skipTest(f"{compiler} does not know {kind[0]}, or is not installed")
        pies = [[]] if "-no-pie" in kind else [["-pie", "-fPIE"], ["-no-pie", "-fno-pie"]]
        for flags in harness.few([*([level, *pie] for level in ("-O0", "-O2") for pie in pies), *more], short=2):
            if has(compiler, *kind, *flags):
                with self.subTest(flags=flags):
                    self.one(compiler, kind, *flags)

    def test_gcc_patchable(self):
        self.all("gcc", PATCHABLE, ["-flto"], ["-fcf-protection=full"], ["-s"], ["-fuse-ld=lld"], ["-fuse-ld=gold"],
                 ["-Wl,-z,separate-code"], ["-Wl,-z,noseparate-code"], ["-ffunction-sections", "-Wl,--gc-sections"])

    def test_clang_patchable(self):
        self.all("clang", PATCHABLE, ["-flto", "-fuse-ld=lld"], ["-fcf-protection=full"], ["-s"])

    def test_gcc_nops(self):
        self.all("gcc", NOPS, ["-fcf-protection=full"], ["-flto"])

    def test_gcc_nops_behind_the_prologue(self):
        self.all("gcc", NOPS_PROLOGUE, ["-fcf-protection=full"])

    def test_clang_xray(self):
        self.all("clang", XRAY)

    def test_more_room_than_needed(self):
        for compiler, room in (("gcc", "8"), ("gcc", "13,8"), ("clang", "8"), ("clang", "24"), ("clang", "21,5")):
            kind = ["-fpatchable-function-entry=" + room]
            if has(compiler, *kind):
                with self.subTest(compiler=compiler, room=room):
                    self.one(compiler, kind)

    def test_the_same_as_compiled_in(self):
        """The trace is that of -mfentry, line by line."""
        replays = []
        for kind in (["-pg", "-mfentry"], PATCHABLE):
            self.compile("prog", "patched_source.c", *kind, compiler=["gcc"])
            subprocess.run([FTR, "record", "-d", "d", "--clock", "counter", "--no-libcall", "./prog"], check=True,
                           stdout=subprocess.DEVNULL)
            text = subprocess.run([FTR, "replay", "-d", "d", "--no-pager", "-f", "none"], check=True, text=True,
                                  stdout=subprocess.PIPE).stdout
            replays.append(text)
        self.assertEqual(replays[0], replays[1])

    def test_estimated_returns(self):
        self.compile("prog", "patched_source.c", *PATCHABLE)
        self.check(self.same_as_native([*NO_LIBCALL, "--estimate-return"], "./prog"), CALLS)

    def test_library_calls(self):
        self.compile("prog", "patched_source.c", *PATCHABLE)
        counts = self.same_as_native(["--no-event"], "./prog")
        self.check(counts, {**CALLS, "qsort": 1, "waitpid": 2})


    def test_filters_and_arguments(self):
        """What is done at a call is done at patched ones; those behind the prologue have their arguments, too."""
        for kind in (PATCHABLE, NOPS_PROLOGUE):
            if has("gcc", *kind):
                self.compile("prog", "patched_source.c", "-g", *kind, compiler=["gcc"])
                self.assertEqual(self.same_as_native([*NO_LIBCALL, "-F", "middle"], "./prog"),
                                 {"middle": 5, "leaf": 10, "unlikely": 1})
                self.same_as_native([*NO_LIBCALL, "-A", "middle@arg1", "-R", "middle@retval"], "./prog")
                text = self.ftr("replay", "-d", "d", "--no-pager", "-f", "none").stdout
                self.assertRegex(text, r"middle\(3\) \{\n +unlikely\(\);\n +leaf\(\);\n +leaf\(\);\n +\} = 8; /\* middle")


class Choice(AsNative):
    """-P and -U, and what is said about the rest."""

    def setUp(self):
        super().setUp()
        self.compile("prog", "patched_source.c", "-fpatchable-function-entry=5")

    def chosen(self, *options):
        return set(self.same_as_native([*NO_LIBCALL, *options], "./prog"))

    def test_chosen(self):
        every = set(CALLS) | {"compare"}
        self.assertEqual(self.chosen(), every)
        self.assertEqual(self.chosen("-P", "."), every)
        self.assertEqual(self.chosen("--patch", "*"), every)
        self.assertEqual(self.chosen("-P", "middle"), {"middle"})
        self.assertEqual(self.chosen("-P", "middle;leaf"), {"middle", "leaf"})
        self.assertEqual(self.chosen("-P", "^m", "-P", "leaf"), {"main", "middle", "many", "leaf"})
        self.assertEqual(self.chosen("-U", "leaf"), every - {"leaf"})
        self.assertEqual(self.chosen("-P", ".", "-U", "^m"), every - {"main", "middle", "many"})
        self.assertEqual(self.chosen("-U", "leaf", "-P", "^l"), {"leaf"})
        self.assertEqual(self.chosen("-P", ".@prog"), every)
        self.assertEqual(self.chosen("-U", ".@libc", "-P", "leaf@prog"), {"leaf"})

    def test_wrong_patterns_end_it_before_it_begins(self):
        for pattern in ("[", "main@depth=3"):
            done = self.ftr("record", "-d", "d", "-P", pattern, "./prog")
            self.assertEqual((done.returncode, done.stdout), (2, ""))
            self.assertIn("--patch: ", done.stderr)

    def test_a_pattern_of_nothing_ends_it_before_it_begins(self):
        for words, said in ((["-P", "leaf;midle"], r"midle: no function of \S+prog matches midle; did you mean middle\?\n"),
                            (["-U", "midle"], r"midle: no function of \S+prog matches midle; did you mean middle\?\n"),
                            (["-P", "xyz*"], r"no function of \S+prog matches xyz"),
                            (["-P", "printf"], r"libc.so.6, which is not instrumented, has one: name it as FUNC@LIBRARY"),
                            (["-P", ".", "-P", "leaf@other"], "no library that .* begins with other and has a function"),
                            (["-P", "no_such@libc"], "no library that .* begins with libc and has a function")):
            done = self.ftr("record", "-d", "d", *words, "./prog")
            self.assertEqual((done.returncode, done.stdout), (2, ""))
            self.assertRegex(done.stderr, said)

    def test_a_pattern_of_what_is_run(self):
        """A shell has no such function, but the program that it runs."""
        for words, said in ((["-P", "^leaf$"], ""), (["-F", "^leaf$"], "of the programs that it runs, one may")):
            done = self.ftr("record", "-d", "d", "--no-libcall", "--no-event", *words, "sh", "-c", "./prog; true")
            self.assertEqual(done.returncode, 0)
            self.assertIn(said, done.stderr)
            self.assertEqual(set(self.report("-f", "call")), {"leaf"})

    def test_what_can_not_be_patched_is_reported(self):
        done = self.ftr("record", "-d", "d", "-P", "leaf", "-P", "^_start$", "./prog")
        self.assertRegex(done.stderr, r"--patch=\^_start\$: no function of \S+prog that can be patched matches")

    def test_what_is_left_is_listed(self):
        done = self.ftr("record", "-v", "-d", "d", "-U", "leaf", "./prog")
        self.assertRegex(done.stderr, r"prog: 10 functions patched, 1 not chosen by --patch and --unpatch")
        self.compile("prog", "patched_source.c", "-fpatchable-function-entry=4")
        done = self.ftr("record", "-v", "-d", "d", "./prog")
        self.assertRegex(done.stderr, r"prog: 0 functions patched\n")
        self.assertRegex(done.stderr, r"prog: 11 left: have less room than a call needs: .*leaf")

    def test_functions_are_not_recorded_twice(self):
        self.compile("prog", "patched_source.c", "-pg", "-mfentry", "-fpatchable-function-entry=5")
        self.check(self.same_as_native(NO_LIBCALL, "./prog"), CALLS)
        self.check(self.same_as_native([*NO_LIBCALL, "-P", "."], "./prog"), CALLS)
        self.assertRegex(self.ftr("record", "-v", "-d", "d", "./prog").stderr, r"prog: nothing is patched: its functions")


class Libraries(AsNative):
    """Libraries of programs that are patched, instrumented, or neither."""

    def setUp(self):
        super().setUp()
        for name in ("one", "two"):
            self.library(name, LIBRARY.replace("NAME", name), *PATCHABLE)

    def test_linked(self):
        every = {"one_run": 1, "one_leaf": 3, "one_start": 1, "two_run": 1, "two_leaf": 3, "two_start": 1}
        for kind, options, main in ((PATCHABLE, [], 1), (["-pg"], [], 1), ([], ["--force"], 0),
                                    ([], ["--force", "-P", "."], 1)):
            with self.subTest(kind=kind, options=options):
                self.compile("prog", "patched_linked.c", *kind, "-lone", "-ltwo")
                counts = self.same_as_native([*NO_LIBCALL, *options], "./prog")
                self.check(counts, {**every, "main": main})

    def test_far_from_the_runtime(self):
        """Libraries lie beyond the reach of a call, in both directions."""
        self.compile("prog", "patched_linked.c", *PATCHABLE, "-no-pie", "-fno-pie", "-lone", "-ltwo")
        self.check(self.same_as_native(NO_LIBCALL, "./prog"), {"main": 1, "one_leaf": 3, "two_leaf": 3})
        if has("gcc", "-Wl,-Ttext-segment=0x200000000000", "-no-pie"):
            self.compile("prog", "patched_linked.c", *PATCHABLE, "-no-pie", "-fno-pie", "-mcmodel=large",
                         "-Wl,-Ttext-segment=0x200000000000", "-lone", "-ltwo")
            self.check(self.same_as_native(NO_LIBCALL, "./prog"), {"main": 1, "one_leaf": 3, "two_leaf": 3})

    def test_chosen_by_module(self):
        self.compile("prog", "patched_linked.c", *PATCHABLE, "-lone", "-ltwo")
        counts = self.same_as_native([*NO_LIBCALL, "-P", ".@libone"], "./prog")
        self.check(counts, {"main": 0, "one_leaf": 3, "one_run": 1, "two_leaf": 0})
        counts = self.same_as_native([*NO_LIBCALL, "-U", ".@libone", "-U", "main@prog"], "./prog")
        self.check(counts, {"main": 0, "one_leaf": 0, "two_leaf": 3, "two_run": 1})

    def test_loaded_while_threads_run(self):
        self.compile("prog", "patched_loader.c", *PATCHABLE)
        counts = self.same_as_native(NO_LIBCALL, "./prog")
        self.check(counts, {"one_leaf": 60, "one_run": 20, "one_start": 20, "two_leaf": 60, "two_run": 20,
                            "two_start": 20, "use": 40, "main": 1})

    def test_loaded_where_others_were(self):
        """Linked at addresses that overlap, which the loader gives them."""
        for name, address in (("upper", "0x10002000"), ("lower", "0x10000000")):
            self.library(name, LIBRARY.replace("NAME", name), *PATCHABLE, "-Wl,-Ttext-segment=" + address)
        self.compile("prog", "patched_overlap.c", *PATCHABLE)
        counts = self.same_as_native(NO_LIBCALL, "./prog")
        self.check(counts, {"upper_run": 2, "upper_leaf": 6, "lower_run": 2, "lower_leaf": 6})

    def test_loaded_by_an_instrumented_program(self):
        """With -P; its _init does not call us, because the startup code of -pg has that function, too."""
        self.compile("prog", "patched_loader.c", "-pg", "-DROUNDS=1")
        counts = self.same_as_native(NO_LIBCALL, "./prog")
        self.check(counts, {"one_leaf": 0, "use": 2})

    def test_seen_late(self):
        """What may be running already is patched if there is no other thread."""
        self.library("one", LIBRARY.replace("NAME", "one"), *PATCHABLE, "-nostartfiles")
        self.compile("prog", "patched_late.c", *PATCHABLE)
        counts = self.same_as_native([], "./prog")
        self.check(counts, {"main": 1, "one_leaf": 2, "one_run": 1})
        native = self.run_program("./prog", "threads")
        done = self.ftr("record", "-d", "d", "./prog", "threads")
        self.assertEqual(done.stdout, native.stdout)
        self.assertRegex(done.stderr, r"3 functions of libone.so cannot be patched: other threads may be running")
        self.check(self.report("-f", "call"), {"main": 1, "one_leaf": 0})

    def test_shown_again(self):
        self.library("one", LIBRARY.replace("NAME", "one"), *PATCHABLE, "-nostartfiles")
        self.compile("prog", "patched_shown_again.c", *PATCHABLE)
        native = self.run_program("./prog")
        done = self.ftr("record", "-d", "d", "./prog")
        self.assertEqual((done.stdout, done.returncode), (native.stdout, 0))
        self.assertEqual(len(re.findall("3 functions of libone.so cannot be patched", done.stderr)), 1)
        self.check(self.report("-f", "call"), {"one_leaf": 0, "two_leaf": 90, "two_run": 30})

    def test_loaded_under_seccomp(self):
        self.compile("prog", "patched_filtered.c", *PATCHABLE)
        native = self.run_program("./prog")
        done = self.ftr("record", "-d", "d", *NO_LIBCALL, "./prog")
        self.assertEqual((done.stdout, done.returncode), (native.stdout, 0))
        self.assertRegex(done.stderr, r"3 functions of libone.so cannot be patched: a seccomp filter")
        self.check(self.report("-f", "call"), {"main": 1, "one_leaf": 0})


class Peer(AsNative):
    """Debian's uftrace, where it is installed, with -P."""

    def test_calls(self):
        if shutil.which("uftrace") is None:
            self.skipTest("uftrace is not installed")
        self.compile("prog", "patched_source.c", *PATCHABLE)
        done = self.run_program("uftrace", "record", "--no-libcall", "--no-event", "-d", "theirs", "-P", ".", "./prog")
        if done.returncode != 0:
            self.skipTest("uftrace fails: " + done.stderr)
        self.same_as_native(NO_LIBCALL, "./prog")
        text = [self.ftr("report", "--no-pager", "-f", "call", "-d", where).stdout for where in ("d", "theirs")]
        # It has more calls of compare than there are.
        ours, theirs = ({name: int(nr) for nr, name in re.findall(r"^\s*(\d+)\s+(\S+)", one, re.M)
                         if name != "compare"} for one in text)
        self.assertEqual(ours, theirs)


if __name__ == "__main__":
    harness.main()
