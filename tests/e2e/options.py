# SPDX-License-Identifier: MIT
"""Options in files: --opt-file, and the default.opts of a trace."""
import os
import re
import shutil

from recording import SRCDIR, harness

DATA = os.path.join(SRCDIR, "tests/data/demo-plain")


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

    def test_opt_file(self):
        expected = self.shown("-d", "trace", "-D", "1", "-f", "time,tid")
        self.write("opts", "# what I always want\n-D 1\t--output-fields \"time,tid\"\n --data 'trace'")
        self.assertEqual(self.shown("--opt-file", "opts"), expected)
        self.assertEqual(self.shown("--opt-file=opts", "-D", "99"), self.shown("-d", "trace", "-f", "time,tid"))

    def test_opt_file_errors(self):
        self.assertIn("nowhere", self.run_ftr("replay", "--opt-file", "nowhere", status=2).stderr)
        self.write("opts", "--no-such")
        self.assertIn("opts: ", self.run_ftr("replay", "--opt-file", "opts", status=2).stderr)
        self.write("opts", "-D 1 stray")
        self.assertIn("stray", self.run_ftr("replay", "--opt-file", "opts", status=2).stderr)

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
                                ("graph", ["--flame-graph", "--keep-pid"]), ("info", ["-D", "2", "--sort=self"]),
                                ("dump", ["--task-newline", "-A", "main@arg1"])):
            plain = self.run_ftr(command, "--no-pager", "trace")
            run = self.run_ftr(command, "--no-pager", *unused, "trace")
            self.assertEqual(run.stdout, plain.stdout)
            self.assertEqual(len(re.findall(rf"^ftr: warning: {command}: --\S+ has no effect", run.stderr, re.M)), 2)
        self.assertIn("--no-such", self.run_ftr("replay", "--no-such", "trace", status=2).stderr)
        self.assertIn("not support", self.run_ftr("replay", "--hide", "main", "trace", status=2).stderr)
        self.assertIn("not support", self.run_ftr("check", "--hide", "main", "trace", status=2).stderr)


if __name__ == "__main__":
    harness.main()
