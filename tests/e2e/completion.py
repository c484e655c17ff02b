# SPDX-License-Identifier: MIT
"""What the shells offer behind ftr, in the shells themselves."""
import os
import re
import select
import shutil
import subprocess
import unittest

from recording import TIMEOUT, harness

# What zsh's own functions are asked for.
ZSH = """\
compdef() { :; }
_describe() { print -rl -- ${(P)2%%:*}; }
_command_names() { print -rl -- ${(k)commands}; }
_files() { print -rl -- *; }
_arguments() { print -rl -- "$@"; }
. ./script
words=("$@")
CURRENT=$#
_ftr
"""
BASH = """\
. ./script
COMP_WORDS=("$@")
COMP_CWORD=$(($# - 1))
compopt() { :; }
_ftr
printf '%s\\n' "${COMPREPLY[@]}"
"""


class CompletionTest(harness.Test):
    def setUp(self):
        super().setUp()
        for name in ("a file", "afile"):
            with open(name, "w", encoding="ascii"):
                pass

    def script(self, shell):
        if shutil.which(shell) is None:
            raise unittest.SkipTest(shell + " is not installed")
        done = self.ftr("completion", shell)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        with open("script", "w", encoding="utf-8") as file:
            file.write(done.stdout)

    def check(self, offered):
        self.assertLessEqual({"record", "replay", "report"}, offered("re"))
        self.assertIn("afile", offered("afi"))
        self.assertEqual(offered("report", "--av"), {"--avg-self", "--avg-total"})
        self.assertEqual(offered("replay", "--color", ""), {"yes", "no", "auto"})
        self.assertEqual(offered("replay", "afi"), {"afile"})
        self.assertIn("--clock", offered("record", "--cl"))
        for words in (("record", "./afile"), ("record", "-d", "x", "./afile"), ("live", "--no-event", "./afile")):
            self.assertEqual(offered(*words, "a"), {"afile", "a file"})
            self.assertEqual(offered(*words, "--cl"), set())
        self.assertIn("--clock", offered("record", "-d", "x", "--cl"))
        self.assertIn("afile", offered("record", "-d", "afi"))

    def test_bash(self):
        self.script("bash")

        def offered(*words):
            done = self.run_program("bash", "--norc", "-c", BASH, "bash", "ftr", *words)
            self.assertEqual(done.stderr, "")
            return {word.rstrip("=") for word in done.stdout.splitlines() if word}
        self.check(offered)
        self.assertEqual(offered("replay", "--color", "=", "y"), {"yes"})
        self.assertEqual(offered("record", "--data", "=", "x", "./afile", "--cl"), set())

    def test_fish(self):
        self.script("fish")
        env = dict(os.environ, HOME=self.dir, XDG_CONFIG_HOME=self.dir, XDG_DATA_HOME=self.dir)

        def offered(*words):
            line = "ftr " + " ".join(words)
            done = self.run_program("fish", "--no-config", "-c", f"source ./script; complete -C '{line}'", env=env)
            self.assertEqual(done.stderr, "")
            return {line.partition("\t")[0].rstrip("=") for line in done.stdout.splitlines()}
        self.check(offered)

    def test_zsh(self):
        self.script("zsh")

        def offered(*words):
            done = self.run_program("zsh", "-f", "-c", ZSH, "zsh", "ftr", *words)
            self.assertEqual(done.stderr, "")
            return set(done.stdout.splitlines())
        first = offered("re")
        self.assertLessEqual({"record", "replay", "report", "afile", "ls"}, first)
        self.assertEqual([word for word in first if ":" in word or "Record and replay" in word], [])
        report, record = offered("report", "-"), offered("record", "-")
        self.assertIn("--color=[Colour the output\\: yes, no, auto (default\\: auto)]:SET:(yes no auto)", report)
        self.assertIn("--avg-self[Show average, minimum and maximum self time]", report)
        self.assertTrue([word for word in report if word.startswith("-d+[")])
        self.assertIn("*:file:_files", report)
        self.assertLessEqual({"-A", "-*", "1:program:_ftr_program", "*:file:_files"}, record)


@unittest.skipUnless(shutil.which("zsh"), "zsh is not installed")
class ZshTest(harness.Test):
    """zsh itself, at a terminal, with its own functions, and a person who types."""

    def setUp(self):
        super().setUp()
        for name, mode in (("victim", 0o755), ("notes.txt", 0o644)):
            with open(name, "w", encoding="ascii"):
                os.chmod(name, mode)
        os.mkdir("functions")
        with open("functions/_ftr", "w", encoding="utf-8") as file:
            file.write(self.ftr("completion", "zsh").stdout)
        self.terminal, other = os.openpty()
        self.addCleanup(os.close, self.terminal)
        os.mkdir("bin")     # without what is installed here: of "replace", say, "repl" may be the beginning, too
        for name in ("mv", "rm"):
            os.symlink(shutil.which(name), f"bin/{name}")
        self.shell = subprocess.Popen([shutil.which("zsh"), "-f", "-i"], stdin=other, stdout=other, stderr=other,
                                      start_new_session=True,
                                      env=dict(os.environ, TERM="dumb", HOME=self.dir, PATH=f"{self.dir}/bin"))
        os.close(other)
        self.type("PS1=; LISTMAX=100000; setopt no_beep; fpath=($PWD/functions $fpath); autoload -U compinit; "
                  "compinit -u -d $PWD/dump; print READ''Y\n", "READY")

    def type(self, keys, until):
        os.write(self.terminal, keys.encode())
        shown = ""
        while not re.search(until, shown, re.S):
            ready, _, _ = select.select([self.terminal], [], [], TIMEOUT)
            self.assertTrue(ready, shown)
            shown += os.read(self.terminal, 4096).decode(errors="replace")
        return shown

    def completed(self, line):
        """What the line is behind the key; the shell prints it, as the last word of a command."""
        shown = self.type(f"{line}\t\x01print -r -- $((6*7))'<\x05>'\n", "42<[^\n]*>")
        return re.search("42<([^\n]*)>", shown).group(1), shown

    def test_words(self):
        listed = self.completed("ftr re")[1]
        for word in ("record", "recv", "replay", "report"):
            self.assertRegex(listed, rf"\n{word} +-- \w")
        for typed, wanted in (("ftr repl", "ftr replay"), ("ftr replay --time-f", "ftr replay --time-filter"),
                              ("ftr report --color=y", "ftr report --color=yes"),
                              ("ftr record ./vi", "ftr record ./victim"),
                              ("ftr record -d x ./victim no", "ftr record -d x ./victim notes.txt"),
                              ("ftr record ./victim --clo", "ftr record ./victim --clo"),
                              ("ftr recv --po", "ftr recv --port")):
            self.assertEqual(self.completed(typed)[0].rstrip(" ="), wanted)     # zsh takes those back itself


if __name__ == "__main__":
    harness.main()
