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
# Least CPU ns of a call that is not observed: the shortest there is, and one that does something.
OUTSIDE = r"""
#include <fcntl.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return t.tv_sec * 1e9 + t.tv_nsec;
}
int main(void)
{
	static char buf[4096];
	double least[2] = { 1e9, 1e9 };
	int fd = open("/dev/zero", O_RDONLY);

	for (int round = 0; round < 400; round++) {
		for (int which = 0; which < 2; which++) {
			double start = now(), took;

			for (int i = 0; i < 1000; i++)
				if (which == 0)
					syscall(SYS_getppid);
				else if (read(fd, buf, sizeof(buf)) < 0)
					return 1;
			took = (now() - start) / 1000;
			if (took < least[which])
				least[which] = took;
		}
	}
	printf("%.1f %.1f\n", least[0], least[1]);
	return 0;
}
"""


# Opens and closes a file so often, in calls of functions.
CALLERS = r"""
#include <fcntl.h>
#include <unistd.h>
#define OWN __attribute__((noinline, noclone))
static volatile int sink;
static OWN void inner(void) { close(open("/dev/null", O_RDONLY)); sink++; }
static OWN void middle(void) { inner(); sink++; }
static OWN void outer(void) { middle(); sink++; }
int main(void)
{
	for (int i = 0; i < %d; i++)
		outer();
	return 0;
}
"""
OPENS = 2000


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


def measure_make(modes, folder, rounds):
    best = {}
    for _ in range(rounds):
        for name, prefix in modes.items():
            subprocess.run(["make", "-s", "clean"], cwd=folder, check=True)
            took = cpu_seconds(prefix + ["make", "-s"], folder)
            best[name] = min(best.get(name, took), took)
    return best


def measure_outside(modes, folder, rounds):
    """{mode: [ns of getppid, of a read]}"""
    program = folder + "/outside"
    subprocess.run(["gcc", "-O2", "-x", "c", "-", "-o", program], input=OUTSIDE, text=True, check=True)
    best = {}
    for _ in range(rounds * 3):
        for name, prefix in modes.items():
            text = subprocess.run(prefix + [program], cwd=folder, stdout=subprocess.PIPE, text=True,
                                  check=True).stdout
            took = [float(word) for word in text.split()]
            best[name] = [min(pair) for pair in zip(best.get(name, took), took)]
    return best


def measure_stacks(folder, rounds):
    """{mode: us added to a call}"""
    program = folder + "/callers"
    subprocess.run(["gcc", "-O2", "-x", "c", "-", "-o", program], input=CALLERS % OPENS, text=True, check=True)
    ours = [FTR, "record", "--syscalls", "-d", folder + "/data"]
    modes = {"native": [], "ftr": ours, "ftr --stack": ours + ["--stack"]}
    if shutil.which("strace"):
        theirs = ["strace", "-f", "-e", "trace=openat,close", "-o", folder + "/strace"]
        modes.update({"strace": theirs, "strace -k": theirs + ["-k"]})
    best = {}
    for _ in range(rounds):
        for name, prefix in modes.items():
            took = cpu_seconds(prefix + [program], folder)
            best[name] = min(best.get(name, took), took)
    return {name: (took - best["native"]) / (2 * OPENS) * 1e6 for name, took in best.items()}


def show(title, unit, best):
    print(title)
    for name, took in best.items():
        print(f"  {name:26} {took:8.3f} {unit:2} {took / best['native']:7.3f}")


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
        print(f"CPU time, least of {rounds} rounds in which all take turns, and its ratio to native")
        show(f"make of {FILES} C files", "s", measure_make(modes, folder, rounds))
        outside = measure_outside(modes, folder, rounds)
        for which, title in enumerate(("getppid, not observed", "read of 4096 bytes, not observed")):
            show(title, "ns", {name: took[which] for name, took in outside.items()})
        print(f"{OPENS} times openat and close")
        for name, took in measure_stacks(folder, rounds).items():
            print(f"  {name:26} {took:8.2f} us added to a call")


main()
