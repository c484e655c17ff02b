# SPDX-License-Identifier: MIT
"""What ftr record --syscalls costs: make of 31 C files, beside strace and no observer, interleaved."""
import os
import resource
import shutil
import subprocess
import sys
import tempfile

FTR = os.path.abspath(os.environ.get("FTR", "./ftr"))
FILES = 31
CALLS = ("execve,execveat,clone,clone3,fork,vfork,exit,exit_group,open,openat,openat2,creat,pipe,pipe2,"
         "rename,renameat,renameat2,link,linkat,symlink,symlinkat,close,close_range,dup,dup2,dup3,"
         "fcntl,mount,umount2,prctl")
OUTSIDE = "import os\nfor i in range(3000000): os.getppid()\n"


def make_sources(folder):
    functions = "\n".join(f"int f%d_{i}(int a) {{ char b[64]; snprintf(b, 64, \"%%d\", a + {i}); "
                          "return atoi(b) + (int)strlen(b); }" for i in range(60))
    for number in range(FILES):
        with open(f"{folder}/f{number}.c", "w", encoding="ascii") as file:
            file.write("#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n" +
                       functions % ((number,) * 60) + "\n")
    with open(f"{folder}/Makefile", "w", encoding="ascii") as file:
        file.write("all: $(patsubst %.c,%.o,$(wildcard f*.c))\n"
                   "f%.o: f%.c\n\tgcc -O1 -c $< -o $@\nclean:\n\trm -f *.o\n")


def cpu_seconds(command, folder):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, cwd=folder, check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (after.ru_utime - before.ru_utime) + (after.ru_stime - before.ru_stime)


def measure(program, modes, folder, rounds, clean=None):
    best = {}
    for _ in range(rounds):
        for name, prefix in modes.items():
            if clean:
                subprocess.run(clean, cwd=folder, check=True)
            took = cpu_seconds(prefix + program, folder)
            best[name] = min(best.get(name, took), took)
    return best


def main():
    for name in ("MAKEFLAGS", "MAKELEVEL", "MFLAGS"):  # of the make that runs us
        os.environ.pop(name, None)
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 3
    with tempfile.TemporaryDirectory(prefix="ftr-bench.") as folder:
        make_sources(folder)
        modes = {"native": [],
                 "ftr, data directory": [FTR, "record", "--syscalls", "-d", folder + "/data"],
                 "ftr, etrace text": [FTR, "record", "--syscalls", "--format=etrace", "-o",
                                      folder + "/text"]}
        if shutil.which("strace"):
            modes["strace -f --seccomp-bpf"] = ["strace", "-f", "--seccomp-bpf", "-e", "trace=" + CALLS,
                                                "-o", folder + "/strace"]
        print(f"CPU time, least of {rounds} rounds")
        for title, program, clean in (
                (f"make of {FILES} C files", ["make", "-s"], ["make", "-s", "clean"]),
                ("3 million calls that are not observed", [sys.executable, "-c", OUTSIDE], None)):
            best = measure(program, modes, folder, rounds, clean)
            print(title)
            for name, took in best.items():
                print(f"  {name:26} {took:7.3f} s   {took / best['native']:.3f}")


main()
