# SPDX-License-Identifier: MIT
"""ftr graph over what ftr recorded: trees of processes, system calls in functions, new images, depth."""
import os
import re
import shutil
import subprocess

from recording import harness

SCRIPT = """\
/bin/true 'two words'
(exit 3)
./not-there 2>/dev/null
sh -c 'kill -9 $$' 2>/dev/null
exit 5
"""

FIRST_IMAGE = """\
(1) main
(1) replace
 +-(1) reader
 |  +-(1) sys_openat
 |  |
 |  +-(1) sys_close
 |
 +-(1) sys_execve
"""

SECOND_IMAGE = """\
(1) main
(1) reader
 +-(2) sys_openat
 |
 +-(2) sys_close
"""


class GraphTest(harness.Test):
    def path(self, name):
        return os.path.join(self.dir, name)

    def run_ftr(self, *words, status=0):
        done = self.ftr(*words, stdin=subprocess.DEVNULL)
        self.assertEqual(done.returncode, status, done.stderr)
        return done

    def observe(self, *command, status=0):
        done = self.ftr("record", "--syscalls", *command)
        if done.returncode == 125:
            self.skipTest(done.stderr)
        self.assertEqual(done.returncode, status, done.stderr)

    def build(self, source, *flags):
        with open(self.path("prog.c"), "w", encoding="ascii") as file:
            file.write(source)
        subprocess.run(["gcc", "-pg", "-g", *flags, "-o", self.path("prog"), self.path("prog.c")],
                       check=True)

    def graph(self, *words):
        return self.run_ftr("graph", "--no-pager", *words).stdout

    def test_tree_of_processes(self):
        with open(self.path("job"), "w", encoding="ascii") as file:
            file.write(SCRIPT)
        self.observe("sh", "job", status=5)
        shown = self.graph("--task", "-f", "exit,command").splitlines()
        self.assertEqual(shown[1], "#      EXIT   TASK NAME")
        self.assertEqual(shown[2], "          5 : sh: sh job")
        text = "\n".join(shown)
        self.assertRegex(text, r'\n          0 :  \+----true: /bin/true "two words"\n')
        self.assertRegex(text, r"\n          3 :  \+----sh\n")
        self.assertRegex(text, r"\n        127 :  \+----sh: \./not-there \(ENOENT\)\n")
        self.assertRegex(text, r'\n    SIGKILL :  \+----sh: sh -c "kill -9 \$\$"\n')
        self.run_ftr("convert", "ftr.data", "job.fxt")
        self.assertEqual(self.graph("--task", "-f", "exit,command", "job.fxt").splitlines(), shown)
        self.run_ftr("convert", "ftr.data", "job.etrace")	# holds no failure, no signal
        self.assertEqual(self.graph("--task", "-f", "exit,command", "job.etrace").splitlines()[:7], shown[:7])

    def test_columns_are_there_when_they_are_known(self):
        self.build("int main(void) { return 3; }")
        self.run_ftr("record", "./prog", status=3)
        head = "# TOTAL TIME   SELF TIME     TID      TASK NAME"
        self.assertEqual(self.graph("--task").splitlines()[1], head)
        self.assertIn("          3 : prog: " + self.path("prog") + "\n", self.graph("--task", "-f", "exit,command"))
        shutil.rmtree(self.path("ftr.data"))
        self.observe("./prog", status=3)
        head = "# TOTAL TIME   SELF TIME     TID          EXIT   TASK NAME"
        shown = self.graph("--task").splitlines()
        self.assertEqual(shown[1], head)
        self.assertTrue(shown[2].endswith("          3 : prog: ./prog"), shown)

    def trees(self, *words):
        """The text of each session's tree."""
        parts = self.graph("-f", "none", *words).split("FUNCTION CALL GRAPH ==========\n")[1:]
        return [re.sub(" +\n", "\n", part.partition("\n\n")[0]) + "\n" for part in parts]

    def test_system_calls_are_callees_and_images_are_apart(self):
        harness.build("graph_images.c", self.path("prog"), "-pg", "-g", "-O1")
        self.observe("--no-libcall", "./prog")
        second, first = self.trees("main")
        self.assertEqual(first, FIRST_IMAGE)
        self.assertEqual(second, SECOND_IMAGE)
        second, first = self.trees()
        self.assertIn(" +-(1) main\n", first)
        self.assertRegex(second, r"^\(1\) prog\n \+-\(\d+\) sys_openat\n")	# what the loader opened
        self.assertNotIn("sys_execve", second)

    def test_any_depth(self):
        self.build("int down(int n) { int ret = n == 0 ? 0 : down(n - 1) + 1;"
                   " __asm__ volatile(\"\" : \"+r\"(ret)); return ret; }"
                   "int main(void) { return down(30000) & 1; }", "-O1")
        self.run_ftr("record", "--no-event", "./prog")      # it may be pre-empted at any depth
        lines = self.graph("-f", "none").splitlines()
        self.assertEqual(sum(line.endswith("(1) down") for line in lines), 30001)
        self.assertLess(max(len(line) for line in lines), 100)
        self.assertIn(" hit 1, time ", self.graph("down"))

    def test_what_is_not_there(self):
        self.build("int main(void) { return 0; }")
        self.run_ftr("record", "./prog")
        done = self.run_ftr("graph", "mian", status=1)
        self.assertEqual((done.stdout, done.stderr),
                         ("", 'ftr: ftr.data: no calls of "mian"; did you mean main?\n'))


if __name__ == "__main__":
    harness.main()
