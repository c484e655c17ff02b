# SPDX-License-Identifier: MIT
"""Programs that nobody prepared: their functions are patched as they are, or left, and nothing differs."""
import os
import re
import shutil
import subprocess

from patched import CALLS, LIBRARY, NO_LIBCALL, has
from recording import AsNative, CC, FTR, SRCDIR, harness

PROG = os.path.join(SRCDIR, "tests", "prog")
ALL = [*NO_LIBCALL, "-P", "."]

START = """
	.globl	_start
	.type	_start, @function
_start:	.cfi_startproc
	endbr64
	UNDEFINED
	xor	%ebp, %ebp
	mov	%rdx, %r9
	pop	%rsi
	mov	%rsp, %rdx
	and	$-16, %rsp
	push	%rax
	push	%rsp
	xor	%r8d, %r8d
	xor	%ecx, %ecx
	lea	main(%rip), %rdi
	call	*__libc_start_main@GOTPCREL(%rip)
	hlt
	.cfi_endproc
	.size	_start, . - _start
	.section .note.GNU-stack, "", @progbits
"""


def source_text():
    with open(PROG + "/patched_source.c", encoding="ascii") as file:
        return file.read()


class Plain(AsNative):
    """Skips where ftr has no decoder."""

    def setUp(self):
        super().setUp()
        self.compile("empty", "int main(void) { return 0; }\n")
        if "built without a decoder" in self.ftr("record", "-d", "d", "-P", ".", "./empty").stderr:
            self.skipTest("ftr was built without libzydis-dev")

    def record(self, *words):
        """What ftr -v says of a run; the program's output is as it is natively."""
        program = words[words.index("--") + 1:]
        native = subprocess.run(program, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False,
                                timeout=60)
        done = self.ftr("record", "-v", "-d", "d", *words)
        self.assertEqual((done.returncode, done.stdout), (native.returncode, native.stdout), done.stderr)
        return done.stderr

    def patched(self):
        """CALLS without those of functions that are too short, which the ways of compiling differ in."""
        left = re.findall(r"left: too short [^:]*: (.*)", self.record("-P", ".", "--", "./prog"))
        calls = {name: nr for name, nr in CALLS.items() if not any(name in names.split(", ") for names in left)}
        self.assertGreater(len(calls), len(CALLS) - 3)
        return calls


class Ways(Plain):
    """Each way of the compilers, with what changes the layout of a program."""

    def all(self, compiler, *more):
        flags_of_all = [*([level, *pie] for level in ("-O0", "-O1", "-O2", "-O3", "-Os")
                          for pie in (["-pie", "-fPIE"], ["-no-pie", "-fno-pie"])), *more]
        for flags in harness.few(flags_of_all, short=5):
            if has(compiler, *flags):
                with self.subTest(flags=flags):
                    self.compile("prog", "patched_source.c", *flags, compiler=[compiler])
                    counts = self.same_as_native(ALL, "./prog")
                    if "-s" not in flags:
                        self.check(counts, self.patched())
                    elif "-O2" in flags:
                        self.assertEqual(sorted(counts.values())[-2:], sorted(CALLS.values())[-2:])

    def test_gcc(self):
        self.all("gcc", ["-flto"], ["-fcf-protection=full"], ["-s"], ["-fuse-ld=lld"], ["-fuse-ld=gold"],
                 ["-Wl,-z,noseparate-code"], ["-ffunction-sections", "-Wl,--gc-sections"], ["-fno-plt"],
                 ["-falign-functions=1"], ["-mcmodel=large", "-no-pie", "-fno-pie"])

    def test_clang(self):
        if shutil.which("clang") is None:
            self.skipTest("clang is not installed")
        self.all("clang", ["-flto", "-fuse-ld=lld"], ["-fcf-protection=full"], ["-s"])

    def test_the_same_as_compiled_in(self):
        """The trace is that of -mfentry, line by line."""
        replays = []
        short = 'in_child(void)\n{\n\t__asm__ volatile("'
        self.assertIn(short, source_text())
        source = source_text().replace(short, short + "nop;nop;nop;nop")
        for flags, options in ((["-pg", "-mfentry"], []), ([], ["-P", "."])):
            self.compile("prog", source, *flags, compiler=["gcc"])
            subprocess.run([FTR, "record", "-d", "d", "--clock", "counter", *options, "./prog"], check=True,
                           stdout=subprocess.DEVNULL)
            text = subprocess.run([FTR, "replay", "-d", "d", "--no-pager", "-f", "none"], check=True, text=True,
                                  stdout=subprocess.PIPE).stdout
            replays.append(re.sub(r"task: \d+", "task", text))
        self.assertEqual(replays[0], replays[1])
        self.assertIn("qsort", replays[1])

    def test_filters_and_arguments(self):
        self.compile("prog", "patched_source.c", "-g")
        self.assertEqual(self.same_as_native([*ALL, "-F", "middle"], "./prog"),
                         {"middle": 5, "leaf": 10, "unlikely": 1})
        self.same_as_native([*ALL, "-A", "middle@arg1", "-R", "middle@retval"], "./prog")
        self.assertIn("middle(3)", self.ftr("replay", "-d", "d", "--no-pager", "-f", "none").stdout)

    def test_estimated_returns(self):
        self.compile("prog", "patched_source.c")
        self.check(self.same_as_native([*ALL, "--estimate-return"], "./prog"), self.patched())

    def test_without_frame_information(self):
        self.compile("prog", "patched_source.c", "-fno-asynchronous-unwind-tables", compiler=["gcc"])
        notes = self.record("-P", ".", "--", "./prog")
        self.assertRegex(notes, r"prog: 0 of 0 functions patched")
        self.assertRegex(notes, r"prog: \d+ left: have no call frame information")
        self.assertRegex(notes, r"warning: .*prog: none of its functions is patched")

    def test_far_away(self):
        """The program lies beyond the reach of a jump from the runtime, and low."""
        for start in ("0x10000", "0x200000000000"):
            flags = ["-no-pie", "-fno-pie", "-mcmodel=large", "-Wl,-Ttext-segment=" + start]
            if has("gcc", *flags):
                with self.subTest(start=start):
                    self.compile("prog", "patched_source.c", *flags, compiler=["gcc"])
                    self.check(self.same_as_native(ALL, "./prog"), self.patched())


class Choice(Plain):
    """-P and -U, and what is said about the rest."""

    def test_chosen(self):
        self.compile("prog", "patched_source.c", compiler=["gcc"])
        every = set(CALLS) | {"compare"}
        every -= {"in_child"}           # the last of the section, and too short
        for options, wanted in ((["-P", "."], every), (["-P", "*"], every), (["-P", "middle"], {"middle"}),
                                (["-P", "^m", "-P", "leaf"], {"main", "middle", "many", "leaf"}),
                                (["-P", ".", "-U", "^m"], every - {"main", "middle", "many"}),
                                (["-P", ".@prog"], every)):
            with self.subTest(options=options):
                self.assertEqual(set(self.same_as_native([*NO_LIBCALL, *options], "./prog")), wanted)

    def test_nothing_is_chosen(self):
        self.compile("prog", "patched_source.c")
        done = self.ftr("record", "-d", "d", "-P", "nothing_like_this", "./prog")
        self.assertRegex(done.stderr, r"prog: none of its functions is patched; check the argument of --patch")

    def test_unasked(self):
        """Nothing else is there: the program is patched as with -P., no library is, and -U counts still."""
        self.compile("prog", "patched_source.c", compiler=["gcc"])
        self.assertEqual(self.same_as_native(NO_LIBCALL, "./prog"), self.same_as_native(ALL, "./prog"))
        counts = self.same_as_native([*NO_LIBCALL, "-U", "leaf"], "./prog")
        self.assertIn("middle", counts)
        self.assertNotIn("leaf", counts)
        self.assertRegex(self.record("--", "./prog"), r"prog is not instrumented: its functions are patched as they are")
        self.assertNotIn("patched as", self.record("--force", "--", "./prog"))
        self.assertNotIn("patched as", self.record("--probe=memory", "--", "./prog"))

    def test_what_is_prepared_stays_with_that(self):
        self.compile("prog", "patched_source.c", "-pg")
        self.check(self.same_as_native(ALL, "./prog"), CALLS)
        self.compile("prog", "patched_source.c", "-fpatchable-function-entry=5")
        self.check(self.same_as_native(ALL, "./prog"), CALLS)


class Shapes(Plain):
    """Functions that patching could harm."""

    def test_results(self):
        for flags in (["-O1"], ["-O1", "-no-pie", "-fno-pie"], ["-O1", "-s"], ["-O1", "-s", "-no-pie", "-fno-pie"]):
            with self.subTest(flags=flags):
                self.compile("shapes", os.path.join(PROG, "plain_shapes.c"), *flags, compiler=["gcc"])
                self.record("-P", ".", "--", "./shapes", "3")

    def test_what_is_left_and_why(self):
        self.compile("shapes", os.path.join(PROG, "plain_shapes.c"), "-O1", compiler=["gcc"])
        notes = self.record("-P", ".", "--", "./shapes")
        for reason, names in (("jump to their own start", ["shape_loop"]),
                              ("too short for a jump", ["shape_inside_dense", "shape_tiny", "shape_tiny_next"]),
                              ("begin with instructions that cannot be moved", ["shape_traps"])):
            listed = re.search(r"left: " + reason + r"[^:]*: (.*)", notes).group(1).split(", ")
            self.assertEqual(set(names) - set(listed), set(), reason)
        left = set(re.findall(r"shape_\w+", notes))
        self.assertEqual(left & {"shape_inside", "shape_calls", "shape_calls_dense", "shape_flags_in", "shape_place",
                                 "shape_registers_in", "shape_landing", "shape_stacked_in", "shape_alone"}, set())
        counts = self.report("-f", "call")
        self.assertEqual({name: counts.get(name, 0) for name in
                          ("shape_alone", "shape_calls_dense", "shape_inside", "shape_flags_in", "shape_below",
                           "shape_tiny", "shape_below.cold")},
                         {"shape_alone": 9, "shape_calls_dense": 4, "shape_inside": 4, "shape_flags_in": 8,
                          "shape_below": 4, "shape_tiny": 0, "shape_below.cold": 0})

    def test_the_start(self):
        """Where a program begins is no return address; some C libraries say so behind the endbr64, others nowhere."""
        for undefined in ("", ".cfi_undefined %rip"):
            with self.subTest(undefined=undefined):
                with open("start.s", "w", encoding="ascii") as file:
                    file.write(START.replace("UNDEFINED", undefined))
                self.compile("prog", "patched_source.c", "start.s", "-nostartfiles", "-O1")
                self.assertGreater(self.same_as_native(ALL, "./prog")["main"], 0)

    def test_a_virtual_machine(self):
        """Its return addresses stay, as a program's; a library that has one is left, unless that is asked for."""
        source = os.path.join(PROG, "plain_machine.c")
        self.compile("machine", source, "-O1", "-fno-omit-frame-pointer", "-fno-optimize-sibling-calls")
        for words in ([], ["-P", "."]):
            notes = self.record(*words, "--", "./machine")
            self.assertIn("has a virtual machine's code", notes)
            self.assertEqual({name: nr for name, nr in self.report("-f", "call").items()
                              if name in ("main", "runtime_call", "collect")},
                             {"main": 1, "runtime_call": 1000, "collect": 1000})
        self.compile("libmachine.so", source, "-O1", "-fno-omit-frame-pointer", "-Dmain=machine_main", "-shared", "-fPIC")
        self.compile("user", "int machine_main(void);\nint main(void) { return machine_main(); }\n", "-O1", "-L.",
                     "-lmachine", "-Wl,-rpath,.")
        self.assertIn("libmachine.so: nothing is patched: it has a virtual machine's code",
                      self.record("-P", ".", "-P", ".@libmachine", "--", "./user"))
        self.assertNotIn("virtual", self.record("-e", "-P", ".@libmachine", "--", "./user"))
        self.assertEqual(self.report("-f", "call")["collect"], 1000)

    def test_a_java_machine(self):
        """Its code is made when it runs: it is told by the function that programs have it made by."""
        self.compile("libjvm.so", "int JNI_CreateJavaVM(void) { return 0; }\nint collect(int n) { return n * 3 + 1; }\n", "-O1",
                     "-shared", "-fPIC")
        self.compile("user", "int JNI_CreateJavaVM(void), collect(int);\nint main(void) { return JNI_CreateJavaVM() + collect(0) - 1; }\n",
                     "-O1", "-L.", "-ljvm", "-Wl,-rpath,.")
        self.assertIn("libjvm.so: nothing is patched: it has a virtual machine's code",
                      self.record("-P", ".", "-P", ".@libjvm", "--", "./user"))
        self.assertNotIn("virtual", self.record("-e", "--no-libcall", "-P", ".@libjvm", "--", "./user"))
        self.assertEqual(self.report("-f", "call")["collect"], 1)

    def test_a_stack_from_within_a_handler(self):
        self.compile("prog", "plain_handler.c")
        self.check(self.same_as_native(ALL, "./prog"), {"main": 1, "outer": 1, "inner": 1, "look": 1})


class Libraries(Plain):
    """Those that --patch names."""

    def setUp(self):
        super().setUp()
        for name in ("one", "two"):
            self.library(name, LIBRARY.replace("NAME", name))

    def test_linked(self):
        self.compile("prog", "patched_linked.c", "-lone", "-ltwo")
        counts = self.same_as_native([*ALL, "-P", ".@libone.so"], "./prog")
        self.check(counts, {"main": 1, "one_run": 1, "one_leaf": 3, "one_start": 1, "two_run": 0})
        counts = self.same_as_native([*NO_LIBCALL, "-P", "two_leaf@libtwo.so"], "./prog")
        self.check(counts, {"main": 0, "two_run": 0, "two_leaf": 3, "one_leaf": 0})

    def test_loaded_while_threads_run(self):
        """They come and go, and are mapped again."""
        self.compile("prog", "patched_loader.c")
        counts = self.same_as_native([*ALL, "-P", ".@libone.so", "-P", ".@libtwo.so"], "./prog")
        self.check(counts, {"one_leaf": 60, "one_run": 20, "one_start": 20, "two_leaf": 60, "two_run": 20,
                            "two_start": 20, "use": 40, "main": 1})

    def test_the_c_library_is_left(self):
        self.compile("prog", "patched_linked.c", "-lone", "-ltwo")
        counts = self.same_as_native([*ALL, "-P", ".@libc.so.6"], "./prog")
        self.assertEqual(set(counts), {"main"})

    def test_loaded_under_seccomp(self):
        self.compile("prog", "patched_filtered.c")
        native = self.run_program("./prog")
        done = self.ftr("record", "-d", "d", *ALL, "-P", ".@libone.so", "./prog")
        self.assertEqual((done.stdout, done.returncode), (native.stdout, 0))
        self.assertRegex(done.stderr, r"3 functions of libone.so cannot be patched: a seccomp filter")


class Surroundings(Plain):
    """Systems that allow little."""

    def test_no_memory_becomes_executable(self):
        self.compile("start", "plain_no_new_code.c")
        self.compile("prog", "patched_source.c")
        if self.run_program("./start", "./prog", "again").returncode == 77:
            self.skipTest("the kernel has no PR_SET_MDWE")
        done = self.ftr("record", "-d", "d", *ALL, "./start", os.path.abspath("prog"))
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.check(self.report("-f", "call"), {"middle": 5, "leaf": 10})

    def test_no_descriptors_or_memory(self):
        self.compile("prog", "patched_source.c")
        for limit in ("-n 6", "-v 60000"):
            with self.subTest(limit=limit):
                done = self.run_program("sh", "-c", f"ulimit {limit}; exec {FTR} record -d d --no-event -P . ./prog")
                if "ReserveShadowMemoryRange" not in done.stderr:      # AddressSanitizer, in ftr, needs more
                    self.assertIn(done.returncode, (0, 125), done.stderr)


# What Debian built, stripped, and what makes it work: it must print the same.
PROGRAMS = [
    ["/usr/bin/python3", "-c", "import json, re; print(json.dumps({'a': [re.sub('b+', str(n), 'abba') for n in range(30)]}));"
     "exec('def f(n): return n if n < 2 else f(n-1) + f(n-2)'); print(f(12)); print(sorted(map(hash, range(50)))[:5])"],
    ["/usr/bin/sqlite3", ":memory:", "create table t(a, b); insert into t values(1, 2), (3, 4); select sum(a * b) from t;"],
    ["/usr/bin/git", "hash-object", "/etc/passwd"],
    ["/usr/bin/redis-server", "--version"],
    ["/usr/bin/perl", "-e", "my %h = map { $_ => $_ ** 2 } 1..20; print join(',', map { $h{$_} } sort keys %h), \"\\n\""],
    ["/bin/bash", "-c", "f() { local i; for i in 1 2 3; do echo $((i * $1)); done; }; f 7 | sort -r"],
]


class Programs(Plain):
    """Programs as they are: above 99 % of their functions are patched, and they do what they did."""

    def one(self, program):
        if not os.path.exists(program[0]):
            self.skipTest(program[0] + " is not installed")
        notes = self.record("--no-event", "-P", ".", "--", *program)
        patched, functions = map(int, re.search(r"(\d+) of (\d+) functions patched", notes).groups())
        print(f"{program[0]}: {patched} of {functions} functions patched, {100 * patched / functions:.2f} %")
        self.assertGreater(patched, 0.99 * functions)
        self.assertGreater(sum(self.report("-f", "call").values()), 20)

    def test_cc1(self):
        """gcc's own compiler; its output is what it wrote."""
        compiler = subprocess.run([*CC, "-print-prog-name=cc1"], stdout=subprocess.PIPE, text=True,
                                  check=True).stdout.strip()
        with open("source.c", "w", encoding="ascii") as file:
            file.write(source_text())
        subprocess.run([*CC, "-E", "-D_GNU_SOURCE", "-o", "source.i", "source.c"], check=True)
        self.one([compiler, "-quiet", "-O1", "-o", "/dev/stdout", "source.i"])


def program_test(program):
    return lambda self: self.one(program)


for words in PROGRAMS:
    setattr(Programs, "test_" + os.path.basename(words[0]).replace("-", "_"), program_test(words))


if __name__ == "__main__":
    harness.main()
