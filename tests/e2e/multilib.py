# SPDX-License-Identifier: MIT
"""Programs of 32 bits, and trees of processes of both sizes (doc/adr/0098)."""
import os
import re
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import harness

WAYS = {
    "pg-O0": ("-pg", "-O0"),
    "pg-O2": ("-pg", "-O2"),
    "pg-nopie": ("-pg", "-O1", "-fno-pie", "-no-pie"),
    "fentry": ("-pg", "-mfentry", "-O2", "-fno-pie", "-no-pie"),
    "cyg": ("-finstrument-functions", "-O1"),
}
CALLS = """main() {
  jump() {
    made() {
      leaf();
    }
  }
  made() {
    leaf();
  }
  made() {
    leaf();
  }
  longer() {
    real() {
      leaf();
    }
  }
  real() {
    leaf();
  }
  wide() {
    leaf();
  }
  aligned() {
    leaf();
  }
  popped() {
    leaf();
  }
  registers() {
    leaf();
  }
}
"""


def multilib_flags():
    """How the build compiles for 32 bits; None: it does not."""
    with open(os.path.join(harness.BUILDDIR, "Makefile"), encoding="utf-8") as file:
        found = re.search(r"^MULTILIB_CFLAGS = *(.+)$", file.read(), re.M)
    return found[1].split() or None if found else None


M32 = multilib_flags()
# Where C for 32-bit x86 may take arguments from, and who takes them off the stack.
CONVENTIONS = ("-DIN_REGISTERS=__attribute__((regparm(3)))", "-DPOPPING=__attribute__((stdcall))")


# Of AUDIT_ARCH_X86_64 and AUDIT_ARCH_I386.
X86_64_READLINK = ("0xc000003e", "89")
I386_READLINK = ("0x40000003", "85")


def preloaded(stderr):
    """Which directory each image of exec_filtered.c found libmcount.so in, and libmcount-memory.so if there is one."""
    found = []
    for value in re.findall(r"(?m)^LD_PRELOAD=(.*)$", stderr):
        names = {os.path.basename(os.path.dirname(path)) for path in value.split(":")}
        found += names if len(names) == 1 else [value]
    return found


class Filtered(harness.Test):
    """$PLATFORM makes the dynamic linker read a link, which a filter may kill for."""

    @classmethod
    def set_up_class(cls):
        if M32 is None:
            raise harness.unittest.SkipTest("ftr was built without a runtime for 32-bit programs")
        harness.build("exec_filtered.c", "filtered", "-pg", "-O1")

    def recorded(self, *words):
        path = os.path.abspath("filtered")
        run = self.ftr("record", "--no-event", "--no-libcall", "--probe=memory", path, *words, path, path)
        self.assertEqual(run.returncode, 5, run.stderr)
        self.assertRegex(self.ftr("report", "-f", "call").stdout, r"(?m)^ +3 +show_preloaded$")
        return preloaded(run.stderr)

    def test_readlink(self):
        self.assertEqual(self.recorded(*X86_64_READLINK), ["$PLATFORM", "x86_64", "x86_64"])

    def test_others(self):
        """Where nothing is killed for that, the dynamic linker chooses."""
        self.assertEqual(self.recorded(X86_64_READLINK[0], "101"), ["$PLATFORM"] * 3)
        self.assertEqual(self.recorded(), ["$PLATFORM"] * 3)


class Multilib(harness.Test):
    @classmethod
    def set_up_class(cls):
        if M32 is None:
            raise harness.unittest.SkipTest("ftr was built without a runtime for 32-bit programs")
        with open("nothing.c", "w", encoding="utf-8") as file:
            file.write("int main(void) { return 0; }\n")
        subprocess.run([*harness.CC, *M32, "nothing.c", "-o", "nothing"], check=True)
        cls.beside = [os.path.join(harness.SRCDIR, "tests/lib/with-i386"), os.path.abspath("nothing")]
        if subprocess.run([*cls.beside, "true"], check=False).returncode == harness.SKIP:
            raise harness.unittest.SkipTest("32-bit programs do not run here; install qemu-user-static")
        for way, flags in WAYS.items():
            harness.build("bits.c", f"bits32-{way}", *M32, *CONVENTIONS, *flags)
        harness.build("bits.c", "bits64", "-pg", "-O1")
        harness.build("bits.c", "plain32", *M32, "-O1")

    def run32(self, *words):
        return self.run_program(*self.beside, *words)

    def recorded(self, *words):
        """What ftr record has made in ftr.data, and the same words without it."""
        options = ("--no-event", "--no-libcall")
        shutil.rmtree("ftr.data", ignore_errors=True)
        native, run = self.run32(*words), self.run32(harness.FTR, "record", *options, *words)
        self.assertEqual((run.returncode, run.stdout, run.stderr),
                         (native.returncode, native.stdout, native.stderr))
        return run

    def calls(self, *options):
        return self.ftr("replay", "-f", "none", "--no-comment", *options).stdout

    def test_ways(self):
        """Whatever a function returns, and wherever it takes arguments from, arrives; each call is shown."""
        for way in WAYS:
            with self.subTest(way):
                run = self.recorded(f"./bits32-{way}")
                self.assertEqual(run.returncode, 3)
                self.assertIn("34359738373 2 0.5 5 5\n223 2234 8\n", run.stdout)
                got = sorted(re.findall(r"\w+\(\)", self.calls()))
                self.assertEqual(got, sorted(re.findall(r"\w+\(\)", CALLS)))
                self.assertRegex(self.ftr("report", "-f", "call").stdout, r"(?m)^ +9 +leaf$")

    def test_nesting(self):
        for way in ("pg-O0", "fentry", "cyg"):
            with self.subTest(way):
                self.recorded(f"./bits32-{way}")
                blocks = re.split(r"(?m)^  (?=\w)", self.calls())
                self.assertEqual(blocks[0], "main() {\n")
                self.assertEqual(sorted(block.rstrip("}\n ") for block in blocks),
                                 sorted(block.rstrip("}\n ")
                                        for block in re.split(r"(?m)^  (?=\w)", CALLS)))

    def test_both(self):
        """64 bits start 32 bits, which start 64: one trace, and nothing on their standard error."""
        chain = [os.path.abspath(name) for name in ("bits64", "bits32-pg-O2", "bits64", "bits32-cyg")]
        run = self.recorded(*chain)
        self.assertEqual(run.stderr, "")
        self.assertEqual(run.stdout.count(" ended with 3\n"), 3)
        report = self.ftr("report", "-f", "call").stdout
        self.assertRegex(report, r"(?m)^ +4 +main$")
        self.assertRegex(report, r"(?m)^ +36 +leaf$")
        self.assertEqual(self.ftr("info").stdout.count("bits32-cyg"), 1)

    def test_shell_between(self):
        """A shell that nobody instrumented hands on what both find theirs by."""
        run = self.recorded("/bin/sh", "-c", "./bits32-pg-O0; ./bits64; exit 4")
        self.assertEqual(run.returncode, 4)
        self.assertRegex(self.ftr("report", "-f", "call").stdout, r"(?m)^ +2 +jump$")

    def test_environment(self):
        """The program finds the environment that it finds untraced."""
        with open("env.c", "w", encoding="utf-8") as file:
            file.write("#include <stdio.h>\nextern char **environ;\n"
                       "int main(void) { for (char **e = environ; *e; e++) puts(*e); }\n")
        subprocess.run([*harness.CC, *M32, "-pg", "env.c", "-o", "env"], check=True)
        run = self.recorded("./env")
        self.assertNotIn("LD_PRELOAD", run.stdout)
        self.assertNotIn("FTR_CHANNEL", run.stdout)

    def test_behind_filter(self):
        """What a filter kills 32-bit programs for is not done in them: each image gets its library's name."""
        for name, flags in (("filtered32", M32), ("filtered64", ())):
            harness.build("exec_filtered.c", name, *flags, "-pg", "-O1")
        chain = [os.path.abspath(f"filtered{bits}") for bits in (64, 32, 64, 32, 32)]
        run = self.run32(harness.FTR, "record", "--no-event", "--no-libcall", "./filtered64", *I386_READLINK, *chain)
        self.assertEqual(run.returncode, 5, run.stderr)
        self.assertEqual(preloaded(run.stderr), ["$PLATFORM", "x86_64", "i686", "x86_64", "i686", "i686"])
        self.assertRegex(self.ftr("report", "-f", "call").stdout, r"(?m)^ +6 +show_preloaded$")

    def test_library_calls(self):
        """Bound lazily and at once, position-independent or not, in programs without instrumentation, too."""
        for flags in (("-pg", "-Wl,-z,now"), ("-pg", "-Wl,-z,lazy"), ("-Wl,-z,lazy", "-fcf-protection=full"),
                      ("-pg", "-fno-pie", "-no-pie", "-Wl,-z,lazy")):
            with self.subTest(" ".join(flags)):
                harness.build("bits.c", "bound", *M32, "-O1", *flags)
                native = self.run32("./bound", "./bound")
                shutil.rmtree("ftr.data", ignore_errors=True)
                run = self.run32(harness.FTR, "record", "--no-event", "--force", "./bound", os.path.abspath("bound"))
                self.assertEqual((run.returncode, run.stderr), (3, ""))
                self.assertEqual(run.stdout, native.stdout)
                report = self.ftr("report", "-f", "call").stdout
                for name, calls in (("fflush", 2), ("waitpid", 1), ("execv", 1), ("longjmp", 2)):
                    self.assertRegex(report, rf"(?m)^ +{calls} +{name}$")

    def values(self, *options):
        """What a replay shows of bits_values, built and recorded so: {function: [call, ...]}."""
        shutil.rmtree("ftr.data", ignore_errors=True)
        run = self.run32(harness.FTR, "record", "--no-event", *options, "./values32")
        native = self.run32("./values32")
        self.assertEqual((run.returncode, run.stdout), (native.returncode, native.stdout))
        found = {}
        for call in re.findall(r"(?m)^ +(\w+\(.*?);?$", self.calls()):
            found.setdefault(call.split("(")[0], []).append(call)
        return found, run.stderr

    def test_values(self):
        """Arguments and return values of each kind, in code that is optimised or not, as debug info tells."""
        for flags in (("-pg", "-O0"), ("-pg", "-O2"), ("-pg", "-mfentry", "-O2", "-fno-pie", "-no-pie")):
            with self.subTest(" ".join(flags)):
                harness.build("bits_values.c", "values32", *M32, "-g", "-fno-builtin", *flags, "-Wl,--no-as-needed", "-lm")
                found, warnings = self.values("-a")
                self.assertEqual(warnings, "")
                for call in ("ints(1, 2, 'x', -4, -5000000000, -6) = -705032591",
                             "reals(0.500000, 0.250000, 3.000000, 4) = 7.125000",
                             "single(1.000000) = 0.500000", "longer(1.500000) = 3.000000",
                             "wide(-3000000000) = -9000000000", 'text("hello", "NULL") = "ello"',
                             "next(GREEN) = BLUE", "swapped(pair{...}, 9) = pair{...}", "negative(5) = -5",
                             'chosen(1, "A", 3) = 69',
                             'strlen("four") = 4', "pow(2.000000, 3.000000) = 8.000000", "ldexp(1.000000, 3) = 8.000000",
                             'strtol("-12", 0, 10) = -12', 'strtoll("-5000000000", 0, 10) = -5000000000',
                             "div(7, 2)"):
                    self.assertEqual(found[call.split("(")[0]], [call])
                # Code that is not optimised does not tell which registers it took arguments from.
                given = ("?, ?, ?, ?", "?, ?, ?") if "-O0" in flags else ("1, 2, 3, 4", "5, 6, 7")
                self.assertEqual(found["registers"], [f"registers({given[0]}) = 3"])
                self.assertEqual(found["fast"], [f"fast({given[1]}) = 210"])

    def test_values_by_words(self):
        """Words of a spec: a word of the stack each, registers by their names, 64 bits where they are asked for."""
        harness.build("bits_values.c", "values32", *M32, "-pg", "-O2", "-fno-builtin", "-Wl,--no-as-needed", "-lm")
        found, warnings = self.values(
            "-A", "ints@arg1,arg3/c,arg5/i64,arg7/i32", "-A", "registers@arg1%eax,arg2/i32%edx,arg3%ecx,arg4%stack+1",
            "-A", "single@fparg1/32", "-A", "longer@fparg1/80", "-A", "text@arg1/s",
            "-R", "wide@retval/i64", "-R", "negative@retval", "-R", "single@retval/f32", "-R", "reals@retval/f64",
            "-R", "longer@retval/f80", "-R", "text@retval/s", "-R", "fast@retval/u32")
        self.assertEqual(warnings, "")
        for call in ("ints(1, 'x', -5000000000, -6)", "registers(1, 2, 3, 4)", "single(1.000000) = 0.500000",
                     "longer(1.500000) = 3.000000", 'text("hello") = "ello"', "wide() = -9000000000",
                     "negative() = -5", "reals() = 7.125000", "fast() = 210"):
            self.assertEqual(found[call.split("(")[0]], [call])

    def test_values_without_members(self):
        harness.build("bits_values.c", "values32", *M32, "-g", "-pg", "-O2", "-fno-builtin", "-Wl,--no-as-needed", "-lm")
        found, warnings = self.values("-a", "--value-depth=1")
        self.assertRegex(warnings, "values32 are recorded without members .*--value-depth is for .*64-bit x86")
        self.assertEqual(found["swapped"], ["swapped(pair{...}, 9) = pair{...}"])

    def test_memory(self):
        run = self.run32(harness.FTR, "record", "--no-event", "--probe=memory", "./bits32-pg-O0")
        self.assertEqual((run.returncode, run.stderr), (3, ""))
        self.assertIn("memory:malloc", self.ftr("replay").stdout)

    def test_refused(self):
        """What cannot be had of them is said, with the remedy, and what is recorded stays as it is."""
        run = self.run32(harness.FTR, "record", "./plain32")
        self.assertEqual((run.returncode, run.stdout), (126, ""))
        self.assertRegex(run.stderr, "plain32: calls no hook, and programs for 32-bit x86 are not patched; .*-pg")

    def test_refused_patching(self):
        """Whatever has room for a call, or is asked for, stays as it is: ftr says so, and what to do."""
        harness.build("bits.c", "room32", *M32, "-O1", "-fpatchable-function-entry=5")
        run = self.run32(harness.FTR, "record", "./room32")
        self.assertEqual((run.returncode, run.stdout), (126, ""))
        self.assertRegex(run.stderr, "room32: calls no hook, and programs for 32-bit x86 are not patched; .*-pg")
        for program in ("./plain32", "./room32"):
            run = self.run32(harness.FTR, "record", "--no-event", "-P", "leaf", program)
            self.assertEqual(run.returncode, 3)
            self.assertRegex(run.stderr, f"{program[2:]}: nothing is patched: programs for 32-bit x86 are not, .*-pg")

    def test_without(self):
        """An ftr without the second runtime says so, and does not start the program."""
        os.mkdir("ftr")
        for name in ("ftr", "libmcount.so", "libmcount-nop.so"):
            shutil.copy(os.path.join(os.path.dirname(harness.FTR), name), "ftr")
        run = self.run32("ftr/ftr", "record", "./bits32-pg-O0")
        self.assertEqual((run.returncode, run.stdout), (125, ""))
        self.assertRegex(run.stderr, "built for 32-bit x86, and this ftr has no runtime .*--enable-multilib")
        run = self.run32("ftr/ftr", "record", "--no-event", "--no-libcall", "./bits64",
                         os.path.abspath("bits32-pg-O0"))
        self.assertRegex(run.stderr, "runs untraced: .*bits32-pg-O0: built for 32-bit x86, and this ftr has no")
        self.assertRegex(self.ftr("report", "-f", "call").stdout, r"(?m)^ +1 +main$")


if __name__ == "__main__":
    harness.main()
