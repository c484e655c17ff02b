# SPDX-License-Identifier: MIT
"""Options in files: --opt-file, and the default.opts of a trace."""
import os
import re
import shutil

from recording import SRCDIR, harness

DATA = os.path.join(SRCDIR, "tests/data/demo-plain")

NAMES = r"""
struct Functor {
	int operator()(int x) const { return x + 1; }
	int operator()() { return 1; }
};

namespace {
__attribute__((noinline)) int hidden(int x)
{
	return x * 2;
}
} // namespace

template <typename T> __attribute__((noinline)) T twice(T x)
{
	return x + x;
}

int main()
{
	Functor functor;

	return functor(1) + functor() + hidden(2) + twice<int>(3) == 0;
}
"""


class OptionsTest(harness.Test):
    def setUp(self):
        super().setUp()
        shutil.copytree(DATA, "trace")
        os.chmod("trace", 0o755)

    def write(self, name, text):
        with open(name, "w", encoding="utf-8") as file:
            file.write(text)

    def run_ftr(self, *words, status=0):
        run = self.ftr(*words)
        self.assertEqual(run.returncode, status, run.stderr)
        return run

    def shown(self, *words):
        return self.run_ftr("replay", "--no-pager", "--color=no", *words).stdout

    def test_without_a_command(self):
        """Options before any operand are those of live."""
        for words, answer in ((["--blah"], "unknown option --blah"), (["-d", "trace"], "name the program to run"),
                              ([], "no command given")):
            run = self.ftr(*words)
            self.assertEqual(run.returncode, 2)
            self.assertIn(answer, run.stderr)

    def test_default_opts(self):
        whole, flat = self.shown("-d", "trace"), self.shown("-d", "trace", "-D", "1")
        self.assertNotEqual(whole, flat)
        self.write("trace/default.opts", "-D 1\n")
        self.assertEqual(self.shown("-d", "trace"), flat)
        self.assertEqual(self.shown("trace"), flat)
        self.assertEqual(self.shown("trace", "-D", "99"), whole)    # the command line has the last word

    def test_default_opts_not_for_this_command(self):
        info = self.run_ftr("info", "--no-pager", "-d", "trace").stdout
        self.write("trace/default.opts", "-D 1 --no-such 'damaged\n")
        self.assertEqual(self.run_ftr("info", "--no-pager", "-d", "trace").stdout, info)
        self.write("trace/default.opts", "")
        self.assertEqual(self.run_ftr("info", "--no-pager", "-d", "trace").stdout, info)

    def test_default_opts_of_calls(self):
        # What -t left out while recording is not in the listing; of calls that are exported it is left out, too.
        listing = self.run_ftr("dump", "--no-pager", "-d", "trace").stdout
        self.write("trace/default.opts", "-t 10s\n")
        self.assertEqual(self.run_ftr("dump", "--no-pager", "-d", "trace").stdout, listing)
        self.assertNotIn('"B"', self.run_ftr("dump", "--format=chrome", "-d", "trace").stdout)
        self.assertIn("--time-filter", self.run_ftr("dump", "-t", "1us", "-d", "trace", status=2).stderr)

    def test_opt_file(self):
        expected = self.shown("-d", "trace", "-D", "1", "-f", "time,tid")
        self.write("opts", "# what I always want\n-D 1\t--output-fields \"time,tid\"\n --data 'trace'")
        self.assertEqual(self.shown("--opt-file", "opts"), expected)
        self.assertEqual(self.shown("--opt-file=opts", "-D", "99"), self.shown("-d", "trace", "-f", "time,tid"))

    def test_opt_file_errors(self):
        self.assertIn("nowhere", self.run_ftr("replay", "--opt-file", "nowhere", status=2).stderr)
        self.write("opts", "--no-such")
        self.assertIn("opts: ", self.run_ftr("replay", "--opt-file", "opts", status=2).stderr)
        self.assertEqual(self.run_ftr("replay", "--opt-file", "opts", status=2).stderr.count("opts: "), 1)
        self.write("opts", "-D 1 -F 'main")
        self.assertIn("quote before main has no end", self.run_ftr("replay", "--opt-file", "opts", status=2).stderr)
        self.write("opts", "-D 1 stray")
        self.assertIn("stray", self.run_ftr("replay", "--opt-file", "opts", status=2).stderr)

    def configured(self, text, *words, status=0, **env):
        os.makedirs("home/.config/ftr", exist_ok=True)
        self.write("home/.config/ftr/config", text)
        inherited = {name: value for name, value in os.environ.items() if not name.startswith(("FTR_", "XDG_"))}
        run = self.ftr(*words, env=inherited | {"HOME": os.path.abspath("home")} | env)
        self.assertEqual(run.returncode, status, run.stderr)
        return run

    def test_config(self):
        replay = "replay", "--no-pager", "--color=no", "-d", "trace"
        whole, flat = self.shown("-d", "trace"), self.shown("-d", "trace", "-D", "1")
        with_tid = self.shown("-d", "trace", "-D", "1", "-f", "tid")
        for text, words, expected in (("", (), whole), ("[replay]\n-D 1 # flat", (), flat),
                                      ("[report] -s self\n[all] -D 1 [graph] -D 2", (), flat),
                                      ("[report,replay] -D 1", (), flat), ("[report] -D 1", (), whole),
                                      ("[replay] -D 1 -f tid", (), with_tid), ("[replay] -D 1", ("-D", "99"), whole)):
            with self.subTest(text=text):
                self.assertEqual(self.configured(text, *replay, *words).stdout, expected)
        self.write("opts", "-D 99")
        self.assertEqual(self.configured("[replay] -D 1", *replay, "--opt-file=opts").stdout, whole)
        self.write("trace/default.opts", "-D 99")
        self.assertEqual(self.configured("[replay] -D 1", *replay).stdout, whole)

    def test_config_elsewhere(self):
        replay = "replay", "--no-pager", "--color=no", "-d", "trace"
        whole, flat = self.shown("-d", "trace"), self.shown("-d", "trace", "-D", "1")
        os.makedirs("xdg/ftr")
        self.write("xdg/ftr/config", "[replay] -D 1")
        self.assertEqual(self.configured("[all] --no-such", *replay,
                                         XDG_CONFIG_HOME=os.path.abspath("xdg")).stdout, flat)
        self.assertEqual(self.configured("[all] --no-such", *replay, FTR_CONFIG="xdg/ftr/config").stdout, flat)
        self.assertEqual(self.configured("[all] --no-such", *replay, FTR_CONFIG="").stdout, whole)
        self.assertIn("nowhere", self.configured("", *replay, FTR_CONFIG="nowhere", status=2).stderr)
        self.assertEqual(self.configured("", *replay, HOME="/proc/1/nowhere").stdout, whole)

    def test_config_errors(self):
        replay = "replay", "--no-pager", "-d", "trace"
        for text, reason in (("-D 1", "before the first command"), ("[replay] --no-such", "unknown option --no-such"),
                             ("[replay] stray", "stray is not an option"),
                             ("[all] -D 1 [replya] -D 2", 'no command "replya"; did you mean replay?'),
                             ("[replay] -F \"main", "has no end")):
            run = self.configured(text, *replay, status=2)
            self.assertIn("home/.config/ftr/config: ", run.stderr)
            self.assertIn(reason, run.stderr)

    def test_options_of_formats(self):
        for options in ([], ["--sample-time=10ns"]):
            self.assertEqual(self.run_ftr("convert", "--to=flame-graph", *options, "trace", "-").stdout,
                             self.run_ftr("dump", "--flame-graph", *options, "trace").stdout)
        self.assertNotEqual(self.run_ftr("dump", "--flame-graph", "trace").stdout,
                            self.run_ftr("dump", "--flame-graph", "--sample-time=10ns", "trace").stdout)
        self.assertIn("--to=flame-graph", self.run_ftr("convert", "--sample-time=1ms", "trace", "x.fxt",
                                                       status=2).stderr)

    def test_options_of_other_commands(self):
        for command, unused in (("replay", ["--chrome", "-b", "4M"]), ("report", ["--column-view", "-k"]),
                                ("graph", ["--no-args", "--no-merge"]), ("report", ["--no-args", "--sample-time=1ms"]),
                                ("graph", ["--flame-graph", "--keep-pid"]), ("info", ["-D", "2", "--sort=self"]),
                                ("dump", ["--task-newline", "-A", "main@arg1"])):
            plain = self.run_ftr(command, "--no-pager", "trace")
            run = self.run_ftr(command, "--no-pager", *unused, "trace")
            self.assertEqual(run.stdout, plain.stdout)
            self.assertEqual(len(re.findall(rf"^ftr: warning: {command}: --\S+ has no effect", run.stderr, re.M)), 2)
        self.assertIn("--no-such", self.run_ftr("replay", "--no-such", "trace", status=2).stderr)
        self.assertIn("not support", self.run_ftr("build", "--hide", "main", "trace", status=2).stderr)

    def test_this_machine(self):
        """As a recording keeps it, without any trace."""
        shown = self.run_ftr("info", "--system")
        self.assertEqual(shown.stderr, "")
        self.assertIn(f"\n# kernel version      : {os.uname().sysname} {os.uname().release}\n", shown.stdout)
        self.assertIn(f"\n# hostname            : {os.uname().nodename}\n", shown.stdout)
        recorded = self.run_ftr("info", "trace").stdout
        for row in re.findall(r"^# ([a-z ]+?) *:", shown.stdout, re.M):
            self.assertRegex(recorded, rf"(?m)^# {row} *:")
        for words in (["--task"], ["--symbols"], ["--json"], ["trace"]):
            self.assertIn("--system shows this machine", self.run_ftr("info", "--system", *words, status=2).stderr)

    def test_help_fits_a_terminal(self):
        overview = self.run_ftr("--help").stdout
        commands = re.findall(r"^  (\w+)", overview.partition("commands:\n")[2].partition("\n\n")[0], re.M)
        self.assertGreater(len(commands), 8)
        for command in ["", *commands]:
            head, _, rest = self.run_ftr(*command.split(), "--help").stdout.partition("examples:\n")
            examples, _, rest = rest.partition("\n\n")
            if command != "completion":     # which has no page of its own
                self.assertRegex(examples, rf"(?m)^  ([^#].*)?\bftr( {command}\b|[^#]+$)", "first, and of the command")
                self.assertIn("options", rest)
            # What is to be copied is not broken.
            texts = [line for line in examples.splitlines() if line.startswith("  # ")]
            self.assertEqual([line for line in [*head.splitlines(), *texts, *rest.splitlines()] if len(line) > 80], [])
        self.assertEqual(self.run_ftr("help").stdout, overview)
        self.assertEqual(self.run_ftr("help", "graph").stdout, self.run_ftr("graph", "--help").stdout)
        self.assertIn("not a command", self.run_ftr("help", "grph", status=2).stderr)

    def test_commands_of_uftrace(self):
        for command in ("record", "replay", "live", "report", "graph", "info", "dump", "recv", "script", "tui"):
            self.assertIn(f"ftr {command} ", self.run_ftr(command, "--help").stdout)

    def test_colors(self):
        def words(*args):
            return re.findall("\033\\[36m(\\w+)\033\\[0m", self.run_ftr(*args, "--color=yes", "trace").stdout)
        self.assertEqual(set(words("replay")), set(words("report")))
        self.assertIn("main", words("replay"))
        self.assertIn("\033[90m  3.195 us\033[0m", self.run_ftr("report", "--color=yes", "trace").stdout)

    def at_terminal(self, *words, term):
        terminal, other = os.openpty()
        env = dict(os.environ, TERM=term, PAGER="sed s/^/paged:/")
        self.assertEqual(self.ftr(*words, stdout=other, env=env).returncode, 0)
        os.close(other)
        self.addCleanup(os.close, terminal)
        return os.read(terminal, 4096)

    def test_names_with_parentheses(self):
        self.write("names.cc", NAMES)
        self.assertEqual(self.run_program(*harness.CXX, "-pg", "-O0", "-o", "names", "names.cc").returncode, 0)
        self.assertEqual(self.ftr("record", "--no-libcall", "--no-event", "./names").returncode, 0)

        def names(command, style):
            out = self.run_ftr(command, "--no-pager", "-f", "none", "--demangle=" + style).stdout
            return {line.strip().rstrip(";") for line in out.splitlines()}
        called = {"Functor::operator()", "(anonymous namespace)::hidden", "twice"}
        self.assertLessEqual({name + "()" for name in called}, names("replay", "simple"))
        self.assertLessEqual(called, names("report", "simple"))
        called = {"Functor::operator()()", "(anonymous namespace)::hidden(int)", "int twice<int>(int)"}
        self.assertLessEqual(called, names("replay", "full"))
        self.assertLessEqual(called, names("report", "full"))

    def test_dump_normal(self):
        self.assertEqual(self.run_ftr("dump", "--format=normal", "trace").stdout, self.run_ftr("dump", "trace").stdout)
        self.assertEqual(self.run_ftr("dump", "--chrome", "--format=normal", "trace").stdout,
                         self.run_ftr("dump", "trace").stdout)

    def test_readme_shows_what_is_printed(self):
        if "clang" in harness.CC[-1]:
            self.skipTest("the listing is that of gcc")
        harness.build("demo.c", "demo", "-pg", "-g", "-O2")
        self.assertEqual(self.ftr("record", "./demo").returncode, 0)

        def rows(text):
            found = re.findall(r"^ +[\d.]+ +[um]s +[\d.]+ +[um]s +(\d+)  (\w\S*)$", text, re.M)
            return {name: int(calls) for calls, name in found if ":" not in name}
        with open(os.path.join(SRCDIR, "README.md"), encoding="utf-8") as file:
            shown = file.read().partition("$ ftr report\n")[2].partition("\n\n")[0]
        printed = rows(self.run_ftr("report", "--no-pager").stdout)
        self.assertIn("count_words", printed)
        self.assertEqual(rows(shown), printed)

    def test_pager(self):
        self.assertTrue(self.at_terminal("report", "trace", term="xterm").startswith(b"paged:"))
        self.assertNotIn(b"paged:", self.at_terminal("report", "trace", term="dumb"))

    def test_unreadable(self):
        os.chmod("trace", 0)
        user = {"user": 65534, "group": 65534, "extra_groups": []} if harness.IS_ROOT else {}
        run = self.ftr("report", "-d", "trace", **user)
        os.chmod("trace", 0o755)
        self.assertEqual(run.returncode, 1)
        self.assertRegex(run.stderr, "^ftr: trace: Permission denied; ")


if __name__ == "__main__":
    harness.main()
