# SPDX-License-Identifier: MIT
"""ftr build: translations (beside bear's, where it is installed), what was made from what, what is unused."""
import json
import os
import shutil
import unittest

from recording import harness, run_observed

FILES = {
    "a.c": '#include "a.h"\nint a(void) { return A; }\n',
    "a.h": "#define A 1\n",
    "sub/b.c": "int b(void) { return 2; }\n",
    "c.c": "int c(void) { return 3; }\n",
    "main.c": "int main(void) { return 0; }\n",
    "unused.c": "int unused;\n",
    "flags.rsp": "-O1 -DX=\"1 2\" c.c\n",
    "ccache": "#!/bin/sh\nexec \"$@\"\n",
    "gen.sh": "cat main.c | sed 's/0/1/' > main2.c\n",
    "Makefile": """
all: prog
prog: a.o sub/b.o c.o main2.o
	gcc -o $@ $^
a.o: a.c
	./ccache gcc -c -MD -MF a.d $< -o $@.tmp && mv $@.tmp $@
sub/b.o:
	cd sub && gcc -pipe -c b.c
c.o:
	gcc -c @flags.rsp
main2.c:
	sh gen.sh
main2.o: main2.c
	gcc -c main2.c
	echo 'int conftest;' > conftest.c && gcc -c conftest.c && rm conftest.c conftest.o
	gcc -E main2.c > /dev/null
	gcc --version > /dev/null
	gcc sub/pre.h && gcc -x c-header pre -o made.gch
	! gcc -c missing.c 2> /dev/null
	! gcc -c missing.h 2> /dev/null
""",
    "sub/pre.h": "#define PRE 1\n",
    "pre": "#define PRE 2\n",
}


def load(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


class BuildTest(harness.Test):
    """One build, recorded once; the tests ask about it."""

    @staticmethod
    def make_tree(folder):
        os.makedirs(os.path.join(folder, "sub"))
        for name, text in FILES.items():
            with open(os.path.join(folder, name), "w", encoding="ascii") as file:
                file.write(text)
        os.chmod(os.path.join(folder, "ccache"), 0o755)

    @classmethod
    def set_up_class(cls):
        cls.make_tree("tree")
        cls.tree = os.path.join(cls.shared, "tree")
        os.chdir("tree")
        done = run_observed("build", "--", "make", "-s")
        assert (done.returncode, done.stdout, done.stderr) == (0, "", ""), done

    def setUp(self):
        super().setUp()
        os.chdir(self.tree)         # the recorded names are those of this directory

    def ftr_build(self, *words):
        done = self.ftr("build", *words)
        return done.returncode, done.stdout + done.stderr

    def test_database(self):
        entries = load("compile_commands.json")
        got = {os.path.relpath(entry["file"], self.tree): entry for entry in entries}
        self.expect(sorted(got) == ["a.c", "c.c", "main2.c", "pre", "sub/b.c", "sub/pre.h"] and len(entries) == 6,
               f"translations: {[entry['file'] for entry in entries]}")
        if self.problems:
            return
        self.expect(got["a.c"]["arguments"][0] == "gcc", f"a wrapper: {got['a.c']}")
        self.expect(got["a.c"]["output"] == "a.o.tmp", f"output: {got['a.c']}")
        self.expect(got["c.c"]["arguments"] == ["gcc", "-c", "-O1", "-DX=1 2", "c.c"], f"response: {got['c.c']}")
        self.expect(got["c.c"]["output"] == "c.o", f"output: {got['c.c']}")
        self.expect((got["sub/pre.h"]["output"], got["pre"]["output"]) == ("sub/pre.h.gch", "made.gch"),
               f"precompiled headers: {got['sub/pre.h']} {got['pre']}")
        self.expect(os.path.exists("sub/pre.h.gch"), "where gcc puts a precompiled header")
        self.expect(got["sub/b.c"]["directory"] == os.path.join(self.tree, "sub"), f"directory: {got['sub/b.c']}")

    def test_questions(self):
        def names(*words):
            status, text = self.ftr_build(*words)
            self.expect(status == 0, f"{words}: {text}")
            return {os.path.relpath(line, self.tree) for line in text.splitlines()}

        inputs = names("--inputs-of", "prog")
        for name in ("a.c", "a.h", "sub/b.c", "c.c", "main.c", "main2.c", "a.o", "gen.sh"):
            self.expect(name in inputs, f"inputs of prog: no {name}")
        self.expect("unused.c" not in inputs, "inputs of prog: unused.c")
        inputs = names("--inputs-of", "a.o")
        self.expect("a.h" in inputs and "c.c" not in inputs, f"inputs of a.o: {sorted(inputs)}")
        inputs = names("--inputs-of", "sub/b.o")
        self.expect("sub/b.c" in inputs, "through a pipe: sub/b.c is not an input of sub/b.o")
        outputs = names("--outputs-of", "a.h")
        self.expect({"a.o", "prog"} <= outputs and "c.o" not in outputs, f"outputs of a.h: {sorted(outputs)}")
        unused = names("--unused", ".")
        self.expect("unused.c" in unused and not unused & {"a.c", "a.h", "gen.sh", "ccache"},
               f"unused: {sorted(unused)}")
        status, text = self.ftr_build("--files")
        line = next((line for line in text.splitlines() if line[4:].startswith(self.tree + "/main2.c\t")), "")
        self.expect(status == 0 and line.startswith("rw-") and "sed s/0/1/" in line, f"files: {line!r}")
        status, text = self.ftr_build("--processes")
        self.expect(status == 0 and " make -s\n" in text and " gcc -c main2.c\n" in text, f"processes: {text}")
        status, text = self.ftr_build("--inputs-of", "nothing")
        self.expect(status == 1 and "not used by the build" in text, f"nothing: {status} {text}")

    def test_other_traces(self):
        """A trace in another format answers as the directory does."""
        questions = ["--files", "--processes", "--inputs-of", "prog", "-o", "out.json"]
        status, text = self.ftr_build(*questions)
        database = load("out.json")
        for name in ("x.fxt", "x.etrace"):
            self.assertEqual(self.ftr("convert", "ftr.data", name).returncode, 0)
            got = self.ftr_build("-d", name, *questions)
            if name == "x.etrace":      # which holds no failures: some exit statuses and files are not there
                self.expect(got[0] == 0, f"{name}: {got[1]}")
            else:
                self.expect(got == (status, text), f"{name}: {got[1]}")
            self.expect(load("out.json") == database, f"{name}: another database")
        with open("x.etrace", "rb") as stream:
            done = self.ftr("build", "--etrace", "-", "--inputs-of", "prog", stdin=stream)
        self.expect((done.returncode, done.stdout) == self.ftr_build("-d", "x.etrace", "--inputs-of", "prog"),
                    "--etrace -: another answer")
        status, text = self.ftr_build("-d", "Makefile", "--files")
        self.expect(status == 1 and "Makefile" in text, f"no trace: {status} {text}")

    def test_status(self):
        status, _ = self.ftr_build("-d", "other", "-o", "other.json", "--", "sh", "-c", "exit 3")
        self.expect(status == 3, f"exit status {status}")
        self.expect(load("other.json") == [], "a build without translations")

    @unittest.skipUnless(shutil.which("bear"), "bear is not installed")
    def test_bear(self):
        for name in ("a.o", "sub/b.o", "c.o", "main2.o", "main2.c", "prog"):
            os.unlink(name)
        self.run_program("bear", "--output", "bear.json", "--", "make", "-s")
        ours = {entry["file"] for entry in load("compile_commands.json")}
        theirs = {os.path.normpath(os.path.join(entry["directory"], entry["file"]))
                  for entry in load("bear.json")}
        self.expect(theirs <= ours, f"bear also has {sorted(theirs - ours)}")


if __name__ == "__main__":
    harness.main()
