# SPDX-License-Identifier: MIT
"""ftr COMMAND TRACE: every command takes every format that is read, chosen by content."""
import gzip
import lzma
import os
import re
import shutil
import subprocess

from recording import ETRACE, FTR, SRCDIR, TIMEOUT, harness

DATA = os.path.join(SRCDIR, "tests/data/values")
PLAIN = ["--no-pager", "--color=no"]


def run(*words):
    return subprocess.run([FTR, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          timeout=TIMEOUT)


def formats(direction):
    return re.search(rf"^ *formats, {direction} +(.*)$", run("--version").stdout, re.M)[1].split()


NEEDED = {"check": ["--max-calls=main=1"], "script": ["-S", "/bin/cat"], "view": ["-o", "-"]}      # what a command does not go without


class OperandTest(harness.Test):
    @classmethod
    def set_up_class(cls):
        listed = run("--help").stdout.partition("commands:\n")[2].partition("\n\n")[0]
        names = re.findall(r"^  (\w+)", listed, re.M)
        usages = {name: re.search("^usage: (.*)$", run(name, "--help").stdout, re.M)[1]
                  for name in names}
        # tui needs a terminal.
        cls.commands = [name for name in names if "[TRACE]" in usages[name] and name != "tui"]
        cls.traces = [DATA]
        for name in sorted(set(formats("in")) & set(formats("out"))):
            path = os.path.join(cls.shared, "a trace of " + name)    # the name says nothing
            made = run("convert", "--to=" + name, DATA, path)
            assert made.returncode == 0, made.stderr
            if "not in the output" not in made.stderr:
                cls.traces.append(path)

    def shown(self, *words):
        done = run(words[0], *PLAIN, *words[1:])
        self.assertEqual((done.returncode, done.stderr), (0, ""), words)
        self.assertNotEqual(done.stdout, "", words)
        return done.stdout

    def test_every_command_and_format(self):
        self.assertLessEqual({"replay", "report", "info", "dump"}, set(self.commands))
        self.assertGreaterEqual(len(self.traces), 3)
        for trace in self.traces:
            for command in self.commands:
                with self.subTest(command=command, trace=trace):
                    words = [command, *NEEDED.get(command, [])]
                    self.assertEqual(self.shown(*words, trace), self.shown(*words, "-d", trace))

    def test_shows_the_same_of_every_format(self):
        for command in ("replay", "report"):
            expected = self.shown(command, DATA)
            for trace in self.traces:
                with self.subTest(command=command, trace=trace):
                    self.assertEqual(self.shown(command, trace), expected)

    def test_the_name_of_the_program(self):
        program = re.search(r"^# exe image +: .*/(\w+)$", self.shown("info", DATA), re.M)[1]
        shutil.copytree(DATA, "ftr.data")
        for name in (program, "./" + program, "/elsewhere/" + program):
            for command in ("replay", "report", "info", "dump", "graph"):
                with self.subTest(command=command, name=name):
                    self.assertEqual(self.shown(command, name), self.shown(command, DATA))
                    self.assertEqual(self.shown(command, "-d", DATA, name), self.shown(command, DATA))
            self.assertEqual(self.shown("graph", name, "main"), self.shown("graph", DATA, "main"))
            self.assertEqual(self.shown("graph", "--task", name), self.shown("graph", "--task", DATA))
        self.assertEqual(self.shown("graph", "-D", "2", program), self.shown("graph", "-D", "2", DATA))
        self.assertIn("other: No such file", self.refused("report", "other"))
        self.assertIn("no calls of \"other\"", self.refused("graph", "other"))

    def test_graph_in_either_order(self):
        self.assertEqual(self.shown("graph", "main", DATA), self.shown("graph", DATA, "main"))

    def test_default_data(self):
        self.assertIn("ftr.data: No such file", self.refused("report"))
        shutil.copytree(DATA, "uftrace.data")
        done = run("report", *PLAIN)
        self.assertEqual((done.returncode, done.stderr), (0, "ftr: no ftr.data here: reading uftrace.data\n"))
        self.assertEqual(done.stdout, self.shown("report", DATA))
        os.symlink(FTR, "uftrace")
        done = subprocess.run(["./uftrace", "report", *PLAIN], capture_output=True, text=True, timeout=TIMEOUT)
        self.assertEqual(done.stderr, "")
        os.rename("uftrace.data", "ftr.data")
        self.assertEqual(self.shown("report"), self.shown("report", DATA))
        done = subprocess.run(["./uftrace", "report", *PLAIN], capture_output=True, text=True, timeout=TIMEOUT)
        self.assertEqual(done.stderr, "ftr: no uftrace.data here: reading ftr.data\n")
        os.chdir("ftr.data")
        done = run("info", *PLAIN)
        self.assertEqual((done.returncode, done.stderr), (0, "ftr: no ftr.data here: reading this directory\n"))

    def test_the_text_of_system_calls(self):
        path = os.path.join(self.dir, "text")
        with open(path, "w", encoding="utf-8") as file:
            file.write(ETRACE)
        self.assertIn("sys_execve", self.shown("replay", path))
        self.assertIn("sys_execve", self.shown("report", path))
        self.assertIn("[entry] sys_execve(0) depth: -\n", self.shown("dump", path))

    def test_convert_takes_the_data_from_either(self):
        first, second = os.path.join(self.dir, "1.fxt"), os.path.join(self.dir, "2.fxt")
        self.assertEqual(run("convert", DATA, first).returncode, 0)
        self.assertEqual(run("convert", "-d", DATA, second).returncode, 0)
        with open(first, "rb") as one, open(second, "rb") as two:
            self.assertEqual(one.read(), two.read())

    def test_a_directory_needs_no_suffix(self):
        os.mkdir("v1.0")
        for path in ("plain", "./plain2", "v1.0/plain", "x.data", "v1.0/x.data"):
            self.assertEqual(run("convert", DATA, path).returncode, 0, path)
            self.assertTrue(os.path.exists(path + "/info"))
        self.assertIn("--to=FORMAT", self.refused("convert", DATA, "v1.0/x.y", status=2))

    def test_one_too_many(self):
        for words in (["-d", DATA, "x"], [DATA, "x"]):
            done = run("report", *words)
            self.assertEqual((done.returncode, done.stdout), (2, ""))
            self.assertIn("unexpected operand x", done.stderr)

    def test_no_trace(self):
        done = run("replay", os.path.join(SRCDIR, "COPYING"))
        self.assertEqual(done.returncode, 1)
        self.assertIn("not a trace in any format", done.stderr)

    def refused(self, *words, status=1):
        done = run(*words)
        self.assertEqual((done.returncode, done.stdout), (status, ""), words)
        self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
        return done.stderr

    def test_the_input_is_not_written_over(self):
        own, link, hard = (os.path.join(self.dir, name) for name in ("own.fxt", "link.fxt", "hard.fxt"))
        self.assertEqual(run("convert", DATA, own).returncode, 0)
        os.symlink("own.fxt", link)
        os.link(own, hard)
        with open(own, "rb") as file:
            before = file.read()
        for words in (["convert", own, own], ["convert", own, link], ["convert", own, hard],
                      ["dump", "--fxt", "-o", own, own], ["dump", "-o", own, own]):
            self.assertIn("part of the trace being read", self.refused(*words))
            with open(own, "rb") as file:
                self.assertEqual(file.read(), before, words)

    def test_no_file_of_the_input_is_written_over(self):
        data = os.path.join(self.dir, "data")
        shutil.copytree(DATA, data)
        info = os.path.join(data, "info")
        with open(info, "rb") as file:
            before = file.read()
        for words in (["dump", "--fxt", "-o", info, data], ["convert", "--to=fxt", data, info]):
            self.assertIn("part of the trace being read", self.refused(*words))
        with open(info, "rb") as file:
            self.assertEqual(file.read(), before)
        new = os.path.join(data, "new.fxt")
        self.assertEqual(run("convert", data, new).returncode, 0)

    def test_standard_output(self):
        self.assertIn("no format has this suffix", self.refused("convert", DATA, "-", status=2))
        self.assertIn("standard output", self.refused("convert", "--to=uftrace", DATA, "-", status=2))
        path = os.path.join(self.dir, "3.fxt")
        self.assertEqual(run("convert", DATA, path).returncode, 0)
        with open(path, "rb") as file:
            expected = file.read()
        for words in (["convert", "--to=fxt", DATA, "-"], ["dump", "--fxt", DATA]):
            done = subprocess.run([FTR, *words], stdout=subprocess.PIPE, check=True, timeout=TIMEOUT)
            self.assertEqual(done.stdout, expected, words)

    def test_what_holds_a_trace(self):
        path = os.path.join(self.dir, "4.fxt")
        self.assertEqual(run("convert", DATA, path).returncode, 0)
        for pack, suffix in ((gzip, ".gz"), (lzma, ".xz")):
            with open(path, "rb") as file, pack.open(path + suffix, "wb") as packed:
                packed.write(file.read())
        self.assertEqual(self.shown("replay", path + ".gz"), self.shown("replay", path))
        self.assertIn("compressed by xz; decompress it first (xz -d ", self.refused("replay", path + ".xz"))

    def test_a_full_disk_is_said(self):
        self.assertIn("No space left on device", self.refused("dump", "--fxt", "-o", "/dev/full", DATA))

    def test_a_reader_that_goes_away(self):
        with subprocess.Popen([FTR, "dump", "--fxt", "-o", "-", DATA], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE) as running:
            running.stdout.close()
            self.assertEqual(running.stderr.read(), b"")
            self.assertEqual(running.wait(timeout=TIMEOUT), 0)


if __name__ == "__main__":
    harness.main()
