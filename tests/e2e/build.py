# SPDX-License-Identifier: MIT
"""ftr build: translations (beside bear's, where it is installed), what was made from what, what is unused."""
import json
import os
import shutil
import subprocess
import sys
import tempfile

FTR = os.path.abspath(os.environ.get("FTR", "./ftr"))
SKIP = 77
problems = []

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
""",
}


def expect(is_true, what):
    if not is_true:
        problems.append(what)


def make_tree(folder):
    os.makedirs(os.path.join(folder, "sub"))
    for name, text in FILES.items():
        with open(os.path.join(folder, name), "w", encoding="ascii") as file:
            file.write(text)
    os.chmod(os.path.join(folder, "ccache"), 0o755)


def ftr_build(folder, *words):
    done = subprocess.run([FTR, "build", *words], cwd=folder, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, check=False)
    return done.returncode, done.stdout


def load(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def check_database(folder):
    entries = load(os.path.join(folder, "compile_commands.json"))
    got = {os.path.relpath(entry["file"], folder): entry for entry in entries}
    expect(sorted(got) == ["a.c", "c.c", "main2.c", "sub/b.c"] and len(entries) == 4,
           f"translations: {[entry['file'] for entry in entries]}")
    if problems:
        return
    expect(got["a.c"]["arguments"][0] == "gcc", f"a wrapper: {got['a.c']}")
    expect(got["a.c"]["output"] == "a.o.tmp", f"output: {got['a.c']}")
    expect(got["c.c"]["arguments"] == ["gcc", "-c", "-O1", "-DX=1 2", "c.c"], f"response: {got['c.c']}")
    expect(got["c.c"]["output"] == "c.o", f"output: {got['c.c']}")
    expect(got["sub/b.c"]["directory"] == os.path.join(folder, "sub"), f"directory: {got['sub/b.c']}")


def check_questions(folder):
    def names(*words):
        status, text = ftr_build(folder, *words)
        expect(status == 0, f"{words}: {text}")
        return {os.path.relpath(line, folder) for line in text.splitlines()}

    inputs = names("--inputs-of", "prog")
    for name in ("a.c", "a.h", "sub/b.c", "c.c", "main.c", "main2.c", "a.o", "gen.sh"):
        expect(name in inputs, f"inputs of prog: no {name}")
    expect("unused.c" not in inputs, "inputs of prog: unused.c")
    inputs = names("--inputs-of", "a.o")
    expect("a.h" in inputs and "c.c" not in inputs, f"inputs of a.o: {sorted(inputs)}")
    inputs = names("--inputs-of", "sub/b.o")
    expect("sub/b.c" in inputs, "through a pipe: sub/b.c is not an input of sub/b.o")
    outputs = names("--outputs-of", "a.h")
    expect({"a.o", "prog"} <= outputs and "c.o" not in outputs, f"outputs of a.h: {sorted(outputs)}")
    unused = names("--unused", ".")
    expect("unused.c" in unused and not unused & {"a.c", "a.h", "gen.sh", "ccache"},
           f"unused: {sorted(unused)}")
    status, text = ftr_build(folder, "--files")
    line = next((line for line in text.splitlines() if line[4:].startswith(folder + "/main2.c\t")), "")
    expect(status == 0 and line.startswith("rw-") and "sed s/0/1/" in line, f"files: {line!r}")
    status, text = ftr_build(folder, "--processes")
    expect(status == 0 and " make -s\n" in text and " gcc -c main2.c\n" in text, f"processes: {text}")
    status, text = ftr_build(folder, "--inputs-of", "nothing")
    expect(status == 1 and "did not touch" in text, f"nothing: {status} {text}")


def check_other_traces(folder):
    """A trace in another format answers as the directory does."""
    questions = ["--files", "--processes", "--inputs-of", "prog", "-o", "out.json"]
    status, text = ftr_build(folder, *questions)
    database = load(os.path.join(folder, "out.json"))
    for name in ("x.fxt", "x.etrace"):
        subprocess.run([FTR, "convert", "ftr.data", name], cwd=folder, check=True)
        got = ftr_build(folder, "-d", name, *questions)
        if name == "x.etrace":      # which holds no failures: some exit statuses and files are not there
            expect(got[0] == 0, f"{name}: {got[1]}")
        else:
            expect(got == (status, text), f"{name}: {got[1]}")
        expect(load(os.path.join(folder, "out.json")) == database, f"{name}: another database")
    status, text = ftr_build(folder, "-d", "Makefile", "--files")
    expect(status == 1 and "Makefile" in text, f"no trace: {status} {text}")


def check_status(folder):
    status, _ = ftr_build(folder, "-d", "other", "-o", "other.json", "--", "sh", "-c", "exit 3")
    expect(status == 3, f"exit status {status}")
    expect(load(os.path.join(folder, "other.json")) == [], "a build without translations")


def check_bear(folder):
    if shutil.which("bear") is None:
        return
    subprocess.run(["make", "-s", "clean"], cwd=folder, stderr=subprocess.DEVNULL, check=False)
    for name in ("a.o", "sub/b.o", "c.o", "main2.o", "main2.c", "prog"):
        os.unlink(os.path.join(folder, name))
    subprocess.run(["bear", "--output", "bear.json", "--", "make", "-s"], cwd=folder, check=False,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    ours = {entry["file"] for entry in load(os.path.join(folder, "compile_commands.json"))}
    theirs = {os.path.normpath(os.path.join(entry["directory"], entry["file"]))
              for entry in load(os.path.join(folder, "bear.json"))}
    expect(theirs <= ours, f"bear also has {sorted(theirs - ours)}")


def main():
    for name in ("MAKEFLAGS", "MAKELEVEL", "MFLAGS"):  # of the make that runs us
        os.environ.pop(name, None)
    with tempfile.TemporaryDirectory(prefix="ftr-build.") as folder:
        folder = os.path.realpath(folder)
        make_tree(folder)
        status, text = ftr_build(folder, "--", "make", "-s")
        if "ptrace must be allowed" in text:
            print("skipped: nothing may be traced here")
            sys.exit(SKIP)
        expect(status == 0 and text == "", f"ftr build -- make: {status} {text}")
        check_database(folder)
        check_questions(folder)
        check_other_traces(folder)
        check_status(folder)
        check_bear(folder)
    for problem in problems:
        print(problem)
    print(f"{len(problems)} problems")
    sys.exit(1 if problems else 0)


main()
