# SPDX-License-Identifier: MIT
"""record's rules and times: what is recorded is what they say, however a program is instrumented."""
import os
import re
import shutil
import unittest
from random import Random

from recording import Trace, build, harness

BUILDS = {"pg": ["-pg", "-O2"], "fentry": ["-pg", "-mfentry", "-O2"],
          "cygprof": ["-finstrument-functions", "-O1"]}

MID = "mid(leaf leaf)"
SLOW = f"slow(usleep {MID})"
AGAIN = "again(again(again leaf) leaf)"
TOP = f"top({MID} {SLOW})"

# Options, and the calls that are recorded.
CHOICES = [
    ("-F slow", SLOW),
    ("-F slow -F again", f"{SLOW} {AGAIN}"),
    ("-F top -N slow", f"top({MID})"),
    ("-F top -N slow -F slow", TOP),
    ("-N mid", f"main(run(top(slow(usleep)) {AGAIN}))"),
    ("-F !mid", f"main(run(top(slow(usleep)) {AGAIN}))"),
    ("-N ^m", ""),
    ("-F mid -N leaf", "mid mid"),
    ("-D 2", "main(run)"),
    ("-F mid -D 1", "mid mid"),
    ("-F again -D 2", AGAIN),           # each chosen call begins anew
    ("-F run -T top@depth=1", f"run(top {AGAIN})"),
    ("-T slow@depth=1", f"main(run(top({MID} slow) {AGAIN}))"),
    ("-t 10ms", "main(run(top(slow(usleep))))"),
    ("-t 10ms -T again@trace", "main(run(top(slow(usleep)) again(again(again))))"),
    ("-T slow@time=10ms", f"main(run(top({MID} slow(usleep)) {AGAIN}))"),
    ("-T main@time=10s -F top", TOP),   # which is outside of what is chosen
    ("-t 10ms -N leaf -T leaf@trace", "main(run(top(slow(usleep))))"),
    ("-C usleep", "main(run(top(slow(usleep))))"),
    ("-C leaf -N top", "main(run(again(again(leaf) leaf)))"),
    ("-H mid", "main(run(top(leaf leaf slow(usleep leaf leaf)) again(again(again leaf) leaf)))"),
    ("-H mid -D 4", "main(run(top(leaf leaf slow) again(again leaf)))"),
    ("-T slow@trace_off", f"main(run(top({MID})))"),
    ("--trace=off -T slow@trace_on", f"{SLOW} {AGAIN}"),
    ("--disable -F again@trace_on", AGAIN),
    ("-T slow@finish -T again@trace_on", f"main(run(top({MID})))"),
    # What a rule does at a call that is left out.
    ("-t 10ms -T mid@trace_off", "main(run(top))"),
    ("-t 10ms --trace=off -T mid@trace_on", "slow(usleep)"),
    ("-C usleep -T mid@trace_off -T slow@trace_on", "main(run(top(slow(usleep))))"),
    ("-t 10ms -T leaf@sample=2,trace", "main(run(top(mid(leaf) slow(usleep mid(leaf))) again(again(leaf))))"),
    # It leads to no call, and keeps none around it, which is left out itself.
    ("-C usleep -D 2", ""),
    ("-t 10ms -T leaf@trace -D 4", "main(run(top(slow) again(leaf)))"),
    ("-t 1h -T usleep@time=1ms -H usleep", ""),
    ("-F s*w --match=glob", SLOW),
    ("-F usleep@plt", "usleep"),
    ("-F usleep@libc", "usleep"),
    ("-F slow -N .@libc.so", f"slow({MID})"),
    ("-N .@libm", f"main(run({TOP} {AGAIN}))"),
    ("-F usleep", "usleep"),
    ("-Z 1000", ""),
    ("-F top@hide", f"{MID} {SLOW}"),
    ("-F slow@nosuchlibrary", ""),
    ("-F mid -F slow -T mid@clear", SLOW),
    ("-N mid -T mid@clear=notrace -F slow", SLOW),
    ("-F leaf@sample=2", "leaf leaf leaf"),
    ("-T leaf@sample=2", "main(run(top(mid(leaf) slow(usleep mid(leaf))) again(again(again leaf))))"),
    ("-F mid@sample=2 -T leaf@sample=3", "mid(leaf)"),
    ("-T mid@sample=2,rate=1000000/s", f"main(run(top({MID} slow(usleep)) {AGAIN}))"),
    ("-F leaf@rate=1000000/s -D 1", "leaf leaf leaf leaf leaf leaf"),
]

# Rules that are decided when the data are read, and what is shown then: not of cygprof, which leaves no values.
DEFERRED = [
    ("-F again@if:arg1==1", "again(again leaf)"),
    ("-F again@if:arg1>0", AGAIN),
    ("-N mid@if:retval>=3", f"main(run(top(slow(usleep)) {AGAIN}))"),
    ("-N again@if:arg1<2", f"main(run({TOP} again(leaf)))"),
    ("-F top -N slow@if:arg1>1", f"top({MID})"),
    ("-F top -N main@if:arg1==1", ""),
    ("-H again@if:!(arg1)", f"main(run({TOP} again(again(leaf) leaf)))"),
    ("-D 3 -T top@depth=9,if:arg1==2", f"main(run({TOP} again))"),
    ("-T run@depth=2,if:duration>10s -D 2", "main(run)"),
    ("-C leaf@if:arg1==2", "main(run(top(mid(leaf) slow(mid(leaf)))))"),
    ("-F leaf@if:arg1==2,hide -F usleep", "usleep"),
    ("-T slow@trace_off,if:arg1==2", f"main(run(top({MID})))"),
    ("--trace=off -T slow@trace_on,if:arg1==2", f"{SLOW} {AGAIN}"),
    ("-F slow@color=red", SLOW),
    ("-F slow -F nosuch@kernel", SLOW),
    ("-F s*w@if:arg1==2 --match=glob", SLOW),
    (" ".join(f"-T {name}@hide,if:{condition}" for name in ("mid", "leaf", "slow", "again", "usleep")
              for condition in ("arg1==77", "arg1==78")) + " -F again@if:arg1==1", "again(again leaf)"),
]


def tree(shown):
    """main(run(top ...)): the calls of ftr replay's listing."""
    text = " ".join(re.sub(r"/\*.*?\*/", "", line).strip() for line in shown.splitlines())
    text = re.sub(r"\(\);", " ", text)
    text = re.sub(r"\(\) \{", "(", text).replace("}", ")")
    return re.sub(r" *([()]) *", r"\1", re.sub(r"\s+", " ", text)).replace(")", ") ").replace(
        " )", ")").strip()


class FiltersTest(harness.Test):
    @classmethod
    def set_up_class(cls):
        for name, flags in BUILDS.items():
            build("filters.c", name, *flags, "-Wl,--no-as-needed", "-lm")

    def recorded(self, program, *options, words=()):
        done = self.ftr("record", "--no-event", "-d", "made", *options, "./" + program, *words)
        self.assertEqual((done.returncode, done.stderr), (0, ""), options)
        return self.replayed()

    def replayed(self, *options, data="made"):
        done = self.ftr("replay", "--no-pager", "--no-args", "-d", data, "-f", "none", *options)
        self.assertEqual(done.returncode, 0, done.stderr)
        return tree(done.stdout)

    def test_choices(self):
        for program in BUILDS:
            for options, calls in CHOICES:
                if "nosuch" not in options:         # such a library is refused
                    with self.subTest(program=program, options=options):
                        self.assertEqual(self.recorded(program, *options.split()), calls)

    def test_as_analysis_chooses(self):
        """The same rules, applied to all calls when they are shown."""
        for program in BUILDS:
            self.recorded(program)
            for options, calls in CHOICES:
                if "finish" not in options:         # of the process, not of what is shown of it
                    with self.subTest(program=program, options=options):
                        self.assertEqual(self.replayed(*options.split()), calls)

    def test_what_is_decided_later(self):
        for program in ("pg", "fentry"):
            self.recorded(program, "-A", ".@arg1", "-R", ".@retval")
            os.rename("made", "all")
            for options, calls in DEFERRED:
                with self.subTest(program=program, options=options):
                    self.assertEqual(self.replayed(*options.split(), data="all"), calls)
                    self.assertEqual(self.recorded(program, *options.split()), calls)
            shutil.rmtree("all")

    def test_what_is_left_out_all_the_same(self):
        """A call that no verdict of a condition would show is not recorded."""
        self.recorded("pg", "-F", "again@if:arg1==1")
        os.remove("made/default.opts")
        self.assertEqual(self.replayed(), "again(again leaf)")

    def test_source_files(self):
        build("filters.c", "lines", "-pg", "-g", "-O1")
        with open("other.c", "w", encoding="ascii") as file:
            file.write('#line 1 "elsewhere/leaf.h"\n__attribute__((noinline)) int leaf(int n) { return n + 1; }\n'
                       '#line 1 "own.c"\nint main(void) { return leaf(1) > 9; }\n')
        self.run_program(*harness.CC, "-pg", "-g", "-O1", "other.c", "-o", "other")
        for options, calls in (("-L filters.c --no-libcall", f"main(run({TOP} {AGAIN}))".replace("usleep ", "")),
                               ("-L filters.c -N run", "main")):
            self.assertEqual(self.recorded("lines", *options.split()), calls)
        for options, calls in (("-L leaf.h", "leaf"), ("-L own.c --no-libcall", "main"), ("-L leaf.h@hide", "main"),
                               ("-L leaf.h -A leaf@arg1", "leaf"), ("-L leaf.h -a", "leaf")):
            self.assertEqual(self.recorded("other", *options.split()), calls)
        for program, file, reason in (("other", "nosuch.c", "no function of .* is of a source file that matches"),
                                      ("other", "leaf.x", r"; did you mean leaf\.h\?"),
                                      ("pg", "filters.c", "has no debug info, .*; compile with -g")):
            done = self.ftr("record", "-L", file, "-d", "none", f"./{program}")
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertRegex(done.stderr, reason)
            self.assertFalse(os.path.exists("none"))
        done = self.ftr("record", "-L", "leaf.h", "-d", "run", "sh", "-c", "./other; true")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("warning: record: leaf.h", done.stderr)
        self.assertEqual(self.replayed(data="run"), "leaf")
        self.recorded("other", "--srcline")
        self.assertFalse(os.path.exists("made/default.opts"))
        self.assertEqual(self.replayed("-L", "leaf.h"), "leaf")
        self.assertIn('"srcline":"elsewhere/leaf.h:1"',
                      self.ftr("dump", "--chrome", "-d", "made").stdout.replace(os.getcwd() + "/", ""))

    def test_options_for_readers(self):
        with_quotes = "-F", "slow@if:arg2 !~ \"it's\" || arg1==2"
        self.assertEqual(self.recorded("pg", *with_quotes), SLOW)
        for options, text in (((), None), (("-F", "slow"), None), (("-t", "10ms"), "-t 10ms\n"),
                              (("-t", "1500us"), "-t 1.500ms\n"), (("-t", "999ns"), "-t 999ns\n"),
                              (("-t", "1234567ns"), "-t 1.234ms\n"), (("-t", "120s"), "-t 120s\n"),
                              (("-t", "90m"), "-t 90m\n"),
                              (("-t", "10ms", "-T", "again@trace"), None),
                              (("-D", "2", "-Z", "3", "-T", "again@arg1,color=red", "--match", "exact"),
                               "--match exact\n-T 'again@color=red'\n-D 2\n-Z 3\n")):
            with self.subTest(options=options):
                self.recorded("pg", *options)
                self.assertEqual(os.path.exists("made/default.opts"), text is not None)
                if text is not None:
                    with open("made/default.opts", encoding="ascii") as file:
                        self.assertEqual(file.read(), text)

    @unittest.skipUnless(shutil.which("uftrace"), "uftrace is not installed")
    def test_uftrace_takes_the_options(self):
        for options, calls in (("-t 1500us", "main(run(top(slow)))"), ("-F slow@color=red", "slow(mid(leaf leaf))"),
                               ("-t 10ms -N again@color=red -D 2", "main(run)")):
            with self.subTest(options=options):
                self.recorded("pg", "--no-libcall", *options.split())
                done = self.run_program("uftrace", "replay", "--no-pager", "-d", "made", "-f", "none")
                self.assertEqual((done.returncode, tree(done.stdout)), (0, calls), done.stderr)

    def test_random_choices(self):
        """Whatever is combined: what is recorded is what analysis shows of all calls."""
        random = Random(12)
        names = ["main", "run", "top", "mid", "slow", "again", "leaf", "usleep"]
        conditions = [[]] * 6 + [["if:arg1>1"], ["if:retval==2"], ["if:arg1==1||retval>3"]]
        actions = ["depth=1", "depth=2", "trace_on", "trace_off", "notrace", "filter", "hide", "sample=2", "trace",
                   "time=10ms", "size=60"]
        self.recorded("fentry", "-A", ".@arg1", "-R", ".@retval")
        os.rename("made", "all")
        for _ in range(harness.times(60, short=15)):
            options = []
            for _ in range(random.randint(1, 4)):
                name, kind = random.choice(names), random.choice("FFNNHTTTTDtCZ")
                if kind == "D":
                    options.append(f"-D{random.randint(1, 5)}")
                elif kind == "t":
                    options.append("-t10ms")
                elif kind == "Z":
                    options.append(f"-Z{random.choice([30, 60, 100])}")
                else:
                    words = [random.choice(actions)] if kind == "T" else []
                    words += random.choice(conditions)
                    options += ["-" + kind, name + ("@" + ",".join(words) if words else "")]
            with self.subTest(options=" ".join(options)):
                recorded = self.recorded("fentry", *options)
                self.assertEqual(recorded, self.replayed(*options, data="all"))

    def random_condition(self, random, depth=0):
        choice = random.random()
        if depth < 3 and choice < 0.45:
            parts = [self.random_condition(random, depth + 1) for _ in range(2)]
            return f"({parts[0]}{random.choice(['&&', '||'])}{parts[1]})"
        if choice < 0.55:
            return f"!({self.random_condition(random, depth + 1)})"
        subject = f"arg{random.randint(1, 5)}"
        literal = random.choice([-2147483648, -65535, -2, -1, 0, 1, 2, 3, 97, 127, 200, 65535, 2147483647, 4294967294,
                                 -4294967296, "'a'"])
        return subject if choice < 0.6 else f"{subject}{random.choice('== != >= <= > < &'.split())}{literal}"

    def told_condition(self, random, depth=0):
        """As random_condition, of told() of tests/prog/conditions.c."""
        choice = random.random()
        if depth < 3 and choice < 0.4:
            parts = [self.told_condition(random, depth + 1) for _ in range(2)]
            return f"({parts[0]}{random.choice(['&&', '||'])}{parts[1]})"
        if choice < 0.5:
            return f"!({self.told_condition(random, depth + 1)})"
        order = random.choice("== != >= <= > <".split())
        if choice < 0.7:
            literal = random.choice(["GET", "GET *", "*", "", "*X*c", "a*", "?*", "a??z", "g[e]t*", "\\?\\*", "<0x*>", "NULL",
                                     "nine*...", "*cut off*", "x" * 300])
            subject = random.choice(["arg1", "arg9"])
            return random.choice([f'{subject}{random.choice([order, "~", "!~"])}"{literal}"', subject])
        if choice < 0.85:
            literal = random.choice(["0", "0.1", "1.5", "-1.5", "2", "3", "-3", "1e300", "1e39", "-1e400"])
            return random.choice([f"fparg{random.choice('12')}{order}{literal}", "fparg1", "fparg2"])
        literal = random.choice([-300, -65000, -4, -1, 0, 1, 2, 4, 7, 255, 18446744073709551615])
        return f"arg{random.choice([2, 5, 6, 7, 8, 10])}{random.choice([order, '&'])}{literal}"

    def conditioned(self, program, *options, data, warning=""):
        shutil.rmtree(data, ignore_errors=True)
        done = self.ftr("record", "--no-event", "-d", data, *options, program)
        self.assertEqual(done.returncode, 0, options)
        self.assertRegex(done.stderr, f"^{warning}$", options)

    def listed(self, *options, data):
        done = self.ftr("replay", "--no-pager", "-d", data, "-f", "none", *options)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def test_random_conditions(self):
        """What integers decide is not written, and is what readers find of all calls; with and without debug info."""
        random = Random(29)
        for nr, flags in enumerate((["-pg", "-g", "-O0"], ["-pg", "-mfentry", "-g", "-O2"], ["-pg", "-O2"],
                                    ["-finstrument-functions", "-g", "-O0"])):
            program = f"./conditions{nr}"
            specs = [[], ["-A", "taken@arg1/i8,arg2/u16,arg3/x32,arg4/c,arg5/u64"]]
            warning = "" if "-pg" in flags else "ftr: warning: calls of .* have no values: .*\n"
            build("conditions.c", program[2:], *flags)
            for _ in range(harness.times(15, short=4)):
                spec = random.choice(specs if "-g" in flags else [["-A", "taken@arg1,arg2,arg3,arg4,arg5"], specs[1]])
                condition = self.random_condition(random)
                options = [random.choice(["-F", "-N"]), f"taken@if:{condition}",
                           *random.choice([[], ["-F", "between"], ["-N", "leaf"]])]
                with self.subTest(flags=flags, options=options, spec=spec):
                    self.conditioned(program, *(spec or ["-A", "taken"]), data="all", warning=warning)
                    self.conditioned(program, *options, *spec, data="some", warning=warning)
                    self.assertEqual(self.listed(data="some"), self.listed(*options, data="all"))
                    if "-pg" in flags and options[0] == "-F" and len(options) == 2:
                        shown = self.listed(data="some")
                        os.remove("some/default.opts")
                        self.assertEqual(self.listed(data="some"), shown)

    def test_random_conditions_on_others(self):
        """The same of texts, floats and arguments on the stack."""
        random = Random(31)
        spec = "told@arg1/s,fparg1/64,fparg2/32,arg2/i32,arg5/i32,arg6/i32,arg7/i16%stack+1,arg8/u64%stack+2," \
               "arg9/s%stack+3,arg10/i8%stack+4"
        for nr, flags in enumerate((["-pg", "-g", "-O0"], ["-pg", "-mfentry", "-g", "-O2"], ["-pg", "-O2"])):
            program = f"./told{nr}"
            build("conditions.c", program[2:], *flags)
            for _ in range(harness.times(15, short=4)):
                chosen = random.choice([[], ["-A", spec]]) if "-g" in flags else ["-A", spec]
                options = [random.choice(["-F", "-N"]), f"told@if:{self.told_condition(random)}"]
                with self.subTest(flags=flags, options=options, spec=chosen):
                    self.conditioned(program, *(chosen or ["-A", "told"]), data="all")
                    self.conditioned(program, *options, *chosen, data="some")
                    self.assertEqual(self.listed(data="some"), self.listed(*options, data="all"))

    def test_decided_on_others(self):
        """What comparisons of texts, floats and the stack leave out is not in the file."""
        build("conditions.c", "told", "-pg", "-g", "-O0")
        for condition in ('arg1~"GET*"', 'arg1=="GET"', "!(arg1~*T*)", "fparg1==0.1", "fparg2<0", "arg6==-4",
                          'arg9=="POST /"', "arg7==-300||arg10==40", 'arg1~a??z&&fparg1==0.1'):
            with self.subTest(condition=condition):
                self.conditioned("./told", "-F", f"told@if:{condition}", data="some")
                shown = self.listed(data="some")
                self.assertIn("told(", shown)
                os.remove("some/default.opts")
                self.assertEqual(self.listed(data="some"), shown)
        for condition in ('arg1~"[G]*"', "arg1~G\\*", "arg1->x==1"):  # left to readers
            self.conditioned("./told", "-F", f"told@if:{condition}", data="some")
            shown = self.listed(data="some")
            os.remove("some/default.opts")
            self.assertGreater(len(self.listed(data="some")), len(shown))

    def random_program(self, random, name):
        """Functions that call each other, themselves and the C library, to a depth that an argument bounds."""
        functions = [f"f{n}" for n in range(random.randint(3, 8))]
        lines = ["#include <stdlib.h>", "static volatile int sink;",
                 *(f"int {function}(int n);" for function in functions)]
        for function in functions:
            lines.append(f"__attribute__((noinline, noclone)) int {function}(int n)\n{{\n\tint sum = n;\n")
            for _ in range(random.randint(0, 3)):
                called = random.choice(functions + ["abs"])
                lines.append(f"\tif (n > {random.randint(0, 2)})\n\t\tsum += {called}(n - {random.randint(1, 2)});")
            lines.append("\tsink += sum;\n\treturn sum;\n}")
        lines.append(f"int main(void)\n{{\n\treturn f0({random.randint(3, 5)}) + f1(3) == -1;\n}}")
        with open(name + ".c", "w", encoding="ascii") as file:
            file.write("\n".join(lines) + "\n")
        flags = random.choice(list(BUILDS.values()))
        self.run_program(*harness.CC, *flags, "-fno-builtin", "-fno-optimize-sibling-calls", name + ".c", "-o", name)
        return ["main", "abs", *functions]

    def test_random_programs(self):
        """The same of any program, with rules that count and clear, and patterns."""
        random = Random(48)
        actions = ["depth=1", "depth=3", "trace_on", "trace_off", "notrace", "filter", "hide", "sample=2", "sample=3",
                   "clear", "clear=filter+notrace", "rate=1000000000/s", "backtrace", "trace", "caller", "time=1h", "size=40"]
        for nr in range(harness.times(12, short=3)):
            names = self.random_program(random, f"made{nr}") + ["^f[0-3]$", "^f", ".@plt", "[mb]"]
            self.recorded(f"made{nr}")
            os.rename("made", "all")
            for _ in range(8):
                options = [f"-D{random.randint(1, 6)}"] if random.random() < 0.3 else []
                options += random.choice([["-t1h"], ["-Z50"], [], [], [], []])
                for _ in range(random.randint(1, 4)):
                    kind = random.choice("FFNHTTTTC")
                    rule = random.choice(names)
                    if kind == "T":
                        rule += ("," if "@" in rule else "@") + random.choice(actions)
                    options += ["-" + kind, rule]
                with self.subTest(program=nr, options=" ".join(options)):
                    done = self.ftr("record", "--no-event", "-d", "made", *options, f"./made{nr}")
                    if "no function of" in done.stderr:
                        self.assertEqual(done.returncode, 2)
                        continue
                    self.assertEqual((done.returncode, done.stderr), (0, ""))
                    self.assertEqual(self.replayed(), self.replayed(*options, data="all"))
            shutil.rmtree("all")

    def test_live(self):
        for options, calls in (("-F slow", SLOW), ("-D 2", "main(run)"), ("-F slow@color=red", SLOW),
                               ("-t 10ms", "main(run(top(slow(usleep))))"), ("-F slow@depth=1", "slow"),
                               ("-D 1 -F slow@color=red", "slow")):
            done = self.ftr("live", "--no-pager", "--no-event", "-f", "none", *options.split(), "./pg")
            self.assertEqual((done.returncode, tree(done.stdout)), (0, calls), done.stderr)

    def test_all_of_it(self):
        for program in BUILDS:
            self.assertEqual(self.recorded(program), f"main(run({TOP} {AGAIN}))")

    def test_estimated_returns(self):
        for options, calls in (("-F slow", SLOW), ("-N mid", f"main(run(top(slow(usleep)) {AGAIN}))"),
                               ("-D 2", "main(run)"), ("-F mid -N leaf", "mid mid")):
            with self.subTest(options=options):
                self.assertEqual(self.recorded("pg", "--estimate-return", *options.split()), calls)

    def test_rate(self):
        """By a clock that counts its readings there is but one second."""
        for options, calls in (("-F mid@rate=1/s", MID), ("-F leaf@rate=5/s,sample=2", "leaf leaf leaf"),
                               ("-F leaf@rate=5/s", "leaf leaf leaf leaf leaf")):
            self.assertEqual(self.recorded("pg", "--clock=counter", *options.split()), calls)

    def test_backtraces(self):
        """The calls around are recorded, too, and shown where they are asked for."""
        self.recorded("pg", "-F", "slow", "-T", "mid@backtrace")
        done = self.ftr("replay", "--no-pager", "-d", "made")
        found = [name for name in re.findall(r"  backtrace \[ *\d+\] \| /\* \[ *\d+\] (.*) \*/", done.stdout)
                 if "_start" not in name and "libc" not in name]     # as in the native stack, where that is recorded
        self.assertEqual(found, ["main", "run", "top", "slow"])

    def test_threads(self):
        for options in (["-F", "slow"], ["-N", "mid"], ["-t", "10ms"]):
            self.recorded("pg", *options, words=["threads"])
            counts = [len(task) for task in Trace("made").tasks.values()]
            self.assertEqual(len(counts), 2)
            self.assertGreater(min(counts), 0)

    def test_jumps(self):
        for program in BUILDS:
            for options, calls in (("-F jumps", "jumps(jumps(jumps(jumps(longjmp))))"),
                                   ("-N jumps", "main(_setjmp mid(leaf))"),
                                   ("-F mid", "mid(leaf)"), ("-F main -D 2", "main(_setjmp jumps mid)"),
                                   ("-H jumps -F main -N longjmp", "main(_setjmp mid(leaf))")):
                with self.subTest(program=program, options=options):
                    self.assertEqual(self.recorded(program, *options.split(), words=["jump"]), calls)

    def test_open_calls_outlive_fork(self):
        self.recorded("pg", "-t", "10s", words=["fork"])
        os.remove("made/default.opts")
        shown = self.ftr("replay", "--no-pager", "-d", "made", "-f", "none", "--no-merge").stdout
        for name in ("main", "splits"):
            self.assertIn(f"{name}()", shown)

    def test_times_are_kept(self):
        """An ENTRY that waited has the time of the call, not that of its being put."""
        self.recorded("pg", "-t", "10ms")
        times = [record.time for task in Trace("made").tasks.values() for record in task]
        self.assertEqual(times, sorted(times))
        self.assertGreater(times[-1] - times[0], 20_000_000)
        self.assertLess(times[3] - times[0], 10_000_000)

    def test_what_matches_nothing(self):
        done = self.ftr("record", "-F", "solw", "./pg")
        self.assertEqual(done.returncode, 2)
        self.assertIn("did you mean slow?", done.stderr)
        self.assertEqual(len(done.stderr.splitlines()), 1)

    def test_what_cannot_be_recorded(self):
        for options, reason in ((["-A", "slow@arg1,if:arg1>2"], "or on ftr replay"),
                                ([f"--filter=slow@if:arg1>{n}" for n in range(9)], "more than 8; join some")):
            done = self.ftr("record", *options, "./pg")
            self.assertEqual(done.returncode, 2, options)
            self.assertIn(reason, done.stderr)

    def libraries(self):
        """A program that calls instrumented libinner.so, and with an argument opens libopened.so."""
        sources = {
            "inner": "__attribute__((noinline)) int inner_part(int n) { return n + 1; }\n"
                     "int inner(int n) { return inner_part(n) + 1; }\n",
            "opened": "__attribute__((noinline)) int opened_part(int n) { return n + 1; }\n"
                      "int opened(int n) { return opened_part(n) + 1; }\n",
            "user": "int inner(int);\nint main(void) { return inner(1) - 3; }\n",
            "opener": "#include <dlfcn.h>\nint main(void) { int (*f)(int) = (int (*)(int))dlsym("
                      'dlopen("./libopened.so", RTLD_NOW), "opened"); return f(1) - 3; }\n'}
        for name, text in sources.items():
            with open(name + ".c", "w", encoding="ascii") as file:
                file.write(text)
        for name in ("inner", "opened"):
            self.run_program(*harness.CC, "-pg", "-O1", "-fPIC", "-shared", name + ".c", "-o", f"lib{name}.so")
        self.run_program(*harness.CC, "-pg", "-O1", "user.c", "-o", "user", "-L.", "-linner", "-Wl,-rpath,$ORIGIN")
        self.run_program(*harness.CC, "-pg", "-O1", "opener.c", "-o", "opener", "-ldl")

    def test_functions_of_libraries(self):
        self.libraries()
        for options, calls in (("-F inner_part", "inner_part"), ("-F ^inner_", "inner_part"),
                               ("-F inner_part@libinner", "inner_part"), ("-F inner@plt", "inner(inner(inner_part))"),
                               ("-F inner@libinner -H inner@plt", "inner(inner_part)"),
                               ("-N .@libinner", "main")):
            with self.subTest(options=options):
                self.assertEqual(self.recorded("user", *options.split()), calls)
        done = self.ftr("record", "-F", "opened_part", "--no-event", "-d", "made", "./opener")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("warning: record: opened_part: no function of", done.stderr)
        self.assertEqual(self.replayed(), "opened_part")
        done = self.ftr("record", "-F", "opened_part@libopened", "--no-event", "-d", "made", "./user",
                        env=dict(os.environ, LD_PRELOAD=os.path.abspath("libopened.so"),
                                 ASAN_OPTIONS=harness.ASAN_BEHIND))
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        for options, reason in ((["-F", "inner_part_"], "did you mean"),
                                (["-F", "inner_part@libouter"], "begins with libouter and has"),
                                (["-N", "opened@libinner"], "begins with libinner and has"),
                                (["-F", "qsort_r"], "libc.so.6, which is not instrumented, has one")):
            done = self.ftr("record", *options, "./user")
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn(reason, done.stderr)

    def test_library_calls_that_are_left_out(self):
        for options, status in ((["-F", "usleep"], 2), (["-A", "usleep@plt,arg1"], 0), (["-T", "usl.*@depth=2"], 0)):
            done = self.ftr("record", "--no-libcall", "-d", "made", *options, "./pg")
            self.assertEqual(done.returncode, status, done.stderr)
            self.assertIn("of a library, which --no-libcall leaves out", done.stderr)
        for option in ("-N", "-H"):
            self.assertNotIn("usleep", self.recorded("pg", option, "usleep", "--no-libcall"))

    def test_wrong_text(self):
        done = self.ftr("record", "-T", "slow@deph=2", "./pg")
        self.assertEqual(done.returncode, 2)
        self.assertIn("^", done.stderr.splitlines()[-1])
        for options, place, reason in ((["-F", "slow@filter@notrace"], 5, "alone"), (["-L", "filters.c@hid"], 10, "@hide")):
            done = self.ftr("record", *options, "./pg")
            self.assertEqual(done.returncode, 2)
            self.assertIn(reason, done.stderr)
            self.assertEqual(done.stderr.splitlines()[-1], " " * (place + 2) + "^")
        done = self.ftr("record", "-F", "slow@notrce", "./pg")
        self.assertEqual(done.returncode, 2)
        self.assertIn("did you mean notrace?", done.stderr)

    OVERLOADS = """
#include <string>
#define KEEP __attribute__((noipa))
namespace ns {
KEEP int f(int n) { return n; }
KEEP int f(char *s) { return *s; }
template <class T> KEEP T most(T a, T b) { return a > b ? a : b; }
KEEP std::string text(int) { return "text"; }
struct op { KEEP int operator[](int n) { return n; } KEEP int operator[](long) { return 1; } KEEP int operator+(int n) { return n; } };
}
KEEP int call(int (*of)(int)) { return of(1); }
int main()
{
	char letter[] = "a";
	ns::op op;

	return ns::f(1) + ns::f(letter) + ns::most(1, 2) + (int)ns::most(1.5, 2.5) + (int)ns::text(1).size() + op[1] + op[2L] +
	       (op + 3) + call(ns::f) < 0;
}
"""

    def test_one_of_several(self):
        """C++ functions of one name, by what tells them apart; recorded as analysis chooses."""
        with open("overloads.cc", "w", encoding="ascii") as file:
            file.write(self.OVERLOADS)
        build(os.path.abspath("overloads.cc"), "overloads", "-pg", "-O1", compiler=["g++"])
        self.recorded("overloads", "--no-libcall")
        os.rename("made", "all")
        for name, calls in (("ns::f(int)", "ns::f ns::f"), ("ns::f(char*)", "ns::f"), ("ns::f", "ns::f ns::f ns::f"),
                            ("ns::most<int>", "ns::most"), ("double ns::most<double>(double,double)", "ns::most"),
                            ("ns::text", "ns::text::cxx11"), ("ns::text[abi:cxx11](int)", "ns::text::cxx11"),
                            ("ns::op::operator[]", "ns::op::operator[] ns::op::operator[]"),
                            ("ns::op::operator[](long)", "ns::op::operator[]"), ("ns::op::operator+", "ns::op::operator+"),
                            ("call(int (*)(int))", "call(ns::f)")):
            with self.subTest(name=name):
                self.assertEqual(self.recorded("overloads", "--no-libcall", "-F", name, "-H", "^std::"), calls)
                self.assertEqual(self.replayed("-F", name, "-H", "^std::", data="all"), calls)
        for options, reason in ((["-F", "ns::f(long)"], "no function of"), (["-A", "ns::f(int)"], "or mangled: _ZN2ns1fEi"),
                                (["-F", "ns::f(int)@if:arg1==1"], "or mangled: _ZN2ns1fEi")):
            done = self.ftr("record", *options, "./overloads")
            self.assertEqual((done.returncode, len(done.stderr.splitlines())), (2, 1))
            self.assertIn(reason, done.stderr)


if __name__ == "__main__":
    harness.main()
