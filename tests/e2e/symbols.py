# SPDX-License-Identifier: MIT
"""--with-syms: names for a program that was recorded stripped."""
import json
import os
import shutil

from recording import build, harness


class Symbols(harness.Test):
    @classmethod
    def set_up_class(cls):
        build("victim.c", "full", "-pg", "-O1", "-Wl,--build-id")
        build("victim.c", "other", "-pg", "-O0", "-Wl,--build-id")
        for name in ("stripped", "named", "other.data"):
            os.mkdir(name)
        for program, where in (("full", "stripped"), ("full", "named"), ("other", "other.data")):
            shutil.copy(program, where + "/victim")
        harness.subprocess.run(["strip", "stripped/victim"], check=True)

    def set_up_traces(self):
        for name in ("stripped", "named", "other.data"):
            run = self.ftr("record", "--no-event", "--clock=counter", "-d", name + "/trace", f"./{name}/victim", "work", "2")
            self.assertEqual(run.returncode, 0, run.stderr)

    def setUp(self):
        super().setUp()
        self.set_up_traces()

    def names(self, trace, *words):
        """The functions of the program in the order of their calls, and what was said."""
        run = self.ftr("replay", "--json", "--no-libcall", "-d", trace, *words)
        self.assertEqual(run.returncode, 0, run.stderr)
        lines = [json.loads(line) for line in run.stdout.splitlines()]
        return [line["func"] for line in lines if line["type"] == "entry"], run.stderr

    def test_symbols_of_a_recording(self):
        expected, _ = self.names("named/trace")
        self.assertEqual(expected.count("leaf"), 2)
        self.assertNotIn("leaf", self.names("stripped/trace")[0])
        for directory in ("named/trace", "named"):      # NAME.sym, and the program
            self.assertEqual(self.names("stripped/trace", f"--with-syms={directory}"), (expected, ""))

    def test_every_command(self):
        for words in (["report"], ["graph"], ["replay"], ["dump"], ["dump", "--chrome"], ["slowest", "-n", "1"],
                      ["script", "-S", "/bin/cat"]):
            command, *more = words
            run = self.ftr(command, "--with-syms=named", "-d", "stripped/trace", *more)
            self.assertEqual(run.returncode, 0, run.stderr)
            self.assertIn("leaf", run.stdout, words)

    def test_rules_know_the_names(self):
        self.assertEqual(self.names("stripped/trace", "--with-syms=named", "-F", "leaf"), (["leaf", "leaf"], ""))

    def test_another_build(self):
        before, _ = self.names("stripped/trace")
        for directory in ("other.data/trace", "other.data"):
            names, said = self.names("stripped/trace", f"--with-syms={directory}")
            self.assertEqual(names, before)
            self.assertRegex(said, r"^ftr: warning: other.data/\S+: symbols of another build of victim are not used: ")

    def test_nothing_there(self):
        os.mkdir("empty")
        self.assertEqual(self.names("stripped/trace", "--with-syms=empty"), self.names("stripped/trace"))
        run = self.ftr("replay", "-d", "named/trace", "--with-syms=nowhere")
        self.assertEqual((run.returncode, run.stderr), (1, "ftr: --with-syms: nowhere: no such directory\n"))


harness.main()
