# SPDX-License-Identifier: MIT
"""Events that programs and libraries declare (SDT): recorded with their arguments, and nothing differs."""
import os
import shutil
import subprocess

from recording import CXX, SRCDIR, AsNative, build, harness

EVENTS = """\
/* sites:calls (10) */
/* sites:jumps (5) */
/* sites:jumps (6) */
/* sites:loops (3) */
/* sites:loops (2) */
/* sites:loops (1) */
/* sites:near (2) */
/* sites:into (2) */
/* sites:first (1) */
/* sites:second (-2) */
/* sites:third (2) */
/* sites:operands (18, 52, 4660, 11, 44, 1.500000, 4711, 16, null) */
/* sites:wild (null, null, -7) */
/* sites:counted (1) */
/* sites:keeps (100, 115, 112, 77, 78, 100) */
""".splitlines()
ALONE = ["--force", "--no-libcall", "--no-event"]


class Sdt(AsNative):
    @classmethod
    def set_up_class(cls):
        super().set_up_class()
        build("sdt_sites.c", "sites", "-O1")

    def setUp(self):
        super().setUp()
        if "decoder" in self.ftr("record", "-d", "no", *ALONE, "-E", "sites:keeps", "./sites").stderr:
            self.skipTest("ftr was built without libzydis-dev")

    def record(self, *words, program="./sites"):
        native = subprocess.run([program], stdout=subprocess.PIPE, text=True, check=False, timeout=60)
        done = self.ftr("record", "-d", "d", *words, program)
        self.assertEqual((done.returncode, done.stdout), (native.returncode, native.stdout), done.stderr)
        return done.stderr

    def events(self, data="d", *words):
        shown = self.ftr("replay", "--no-pager", "-f", "none", *words, "-d", data)
        self.assertEqual(shown.stderr, "")
        return [line.strip() for line in shown.stdout.splitlines() if "sites:" in line]

    def test_alone(self):
        """At every place that can have it; a place that cannot is named, and why."""
        said = self.record(*ALONE, "-E", "sites:*")
        self.assertIn("events are not recorded, as they are followed by instructions that cannot be moved: "
                      "sites:special at 0x", said)
        self.assertEqual(said.count(" at 0x"), 1)
        shown = self.events()
        self.assertEqual([line for line in shown if ":ends" not in line], EVENTS)
        self.assertEqual([line for line in shown if ":ends" in line], ["/* sites:ends (11) */", "/* sites:ends (6) */"])

    def test_within_calls(self):
        """Beside functions that are patched as they are, and that are instrumented."""
        said = self.record("--no-event", "-E", "sites:*")       # padding is theirs
        self.assertIn("as they have no room for a jump: sites:", said)
        self.assertEqual([line for line in self.events() if ":ends" not in line],
                         [line for line in EVENTS if line.split()[1] not in ("sites:near", "sites:into")])
        self.assertIn("main() {", self.ftr("replay", "--no-pager", "-f", "none", "-d", "d").stdout)
        build("sdt_sites.c", "pg", "-O1", "-pg")
        self.record("--no-event", "-E", "sites:*", program="./pg")     # at whose entries there may be room for calls
        self.assertEqual([line for line in self.events() if ":ends" not in line],
                         [line for line in EVENTS if ":into" not in line])

    def test_chosen(self):
        self.record(*ALONE, "-E", "sites:f*,sites:near")
        self.assertEqual(self.events(), ["/* sites:near (2) */", "/* sites:first (1) */"])

    def test_on_other_ways(self):
        """As directory, FXT and directory again, and to a reader that knows no arguments."""
        self.record(*ALONE, "-E", "sites:*")
        shown = self.events()
        for last, name in (("d", "copy.data"), ("d", "d.fxt"), ("d.fxt", "back.data")):
            done = self.ftr("convert", last, name)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(self.events(name), shown, name)
        chrome = self.ftr("dump", "--format=chrome", "-d", "d").stdout
        self.assertIn('"sites:third"', chrome)
        uftrace = shutil.which("uftrace")
        if uftrace is not None:
            other = subprocess.run([uftrace, "replay", "--no-pager", "-f", "none", "--event-full", "-d", "d"], check=True, text=True,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60)
            self.assertEqual([line.split()[1] for line in other.stdout.splitlines() if "sites:" in line],
                             [line.split()[1] for line in shown])

    def test_unknown(self):
        """Said before anything runs."""
        done = self.ftr("record", "-d", "none", "-E", "sites:secnd", "./sites")
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertIn("did you mean sites:second?", done.stderr)
        self.assertFalse(os.path.exists("none"))

    def test_list(self):
        done = self.ftr("record", "--list-event", "./sites")
        self.assertEqual([line for line in done.stdout.splitlines() if line.startswith("sites:")],
                         sorted({"sites:special", "sites:ends", *(line.split()[1] for line in EVENTS)}))
        self.assertNotIn("sites:", self.ftr("record", "--list-event").stdout)
        self.assertEqual(self.ftr("record", "--list-event", "./none").returncode, 127)

    def test_libraries(self):
        """Of the C++ library, which throws: also by a note in the midst of a cleanup."""
        self.compile("throws", "#include <cstdio>\nint main() { int n = 0; for (int i = 0; i < 3; i++)\n"
                     "try { try { throw i; } catch (int) { throw; } } catch (int i) { n += i; }\n"
                     'printf("%d\\n", n); }\n', "-O2", compiler=CXX)
        if "libstdcxx:throw" not in self.ftr("record", "--list-event", "./throws").stdout:
            self.skipTest("this C++ library declares no events")
        self.assertEqual(self.record(*ALONE, "-E", "libstdcxx:*", program="./throws"), "")
        shown = self.ftr("replay", "--no-pager", "-f", "none", "-d", "d").stdout
        self.assertEqual([shown.count(name) for name in (":throw ", ":catch ", ":rethrow ")], [3, 6, 3])

    def test_threads_and_processes(self):
        build("sdt_sites.c", "sites.o", "-O1", "-c", "-Dmain=sites_main")
        self.compile("many", "#include <pthread.h>\n#include <sys/wait.h>\n#include <unistd.h>\n"
                     "long site_loops(long);\nstatic void *run(void *arg) { site_loops(1); return arg; }\n"
                     "int main(void) { pthread_t t[4]; int i; for (i = 0; i < 4; i++) pthread_create(&t[i], 0, run, 0);\n"
                     "for (i = 0; i < 4; i++) pthread_join(t[i], 0);\n"
                     "if (fork() == 0) { run(0); _exit(0); } wait(0); return 0; }\n",
                     "-O1", "sites.o")
        self.record(*ALONE, "-E", "sites:loops", program="./many")
        self.assertEqual(len(self.events()), 15)

    def test_real_header(self):
        """As sys/sdt.h makes notes, by both compilers."""
        with open("real.c", "w", encoding="ascii") as file:
            file.write("#include <sys/sdt.h>\nvolatile double half = 0.5;\n__attribute__((noinline)) void tell(int i)\n"
                       "{ DTRACE_PROBE3(sites, real, i, half * i, (long)-i); }\n"
                       "int main(void) { tell(0); tell(1); tell(2); return 0; }\n")
        for compiler in ("gcc", "clang"):
            for level in ("-O0", "-O2"):
                made = subprocess.run([compiler, level, "-o", "real", "real.c"], stderr=subprocess.PIPE, check=False,
                                      timeout=60)
                if made.returncode != 0:
                    continue            # no such compiler, or no such header
                with self.subTest(compiler=compiler, level=level):
                    self.assertEqual(self.record(*ALONE, "-E", "sites:real", program="./real"), "")
                    self.assertEqual(self.events(), [f"/* sites:real ({i}, {i * 0.5:.6f}, {-i}) */" for i in range(3)])


if __name__ == "__main__":
    harness.main()
