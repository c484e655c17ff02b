# SPDX-License-Identifier: MIT
"""What ftr record --syscalls sees of a process tree, against strace on the same commands."""
import os
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
sys.dont_write_bytecode = True
from beside_strace import FTR, compare, etrace_events, fresh, strace_run  # noqa: E402

SKIP = 77

PROGRAMS = {
    "raw": ("-static", r"""
#define _GNU_SOURCE
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <linux/openat2.h>
int main(void)
{
	struct open_how how = { .flags = O_RDONLY };
	int fds[2];

	syscall(SYS_close, syscall(SYS_open, "/etc/passwd", O_RDONLY));
	syscall(SYS_close, syscall(SYS_creat, "made", 0644));
	syscall(SYS_close, syscall(SYS_openat2, AT_FDCWD, "made", &how, sizeof(how)));
	syscall(SYS_open, "/no/such/file", O_RDONLY);
	syscall(SYS_close, 99);
	syscall(SYS_pipe, fds);
	syscall(SYS_dup2, fds[0], 10);
	syscall(SYS_dup3, fds[1], 11, O_CLOEXEC);
	syscall(SYS_dup, 10);
	fcntl(11, F_DUPFD, 20);
	fcntl(11, F_DUPFD_CLOEXEC, 30);
	fcntl(11, F_GETFL);
	syscall(SYS_rename, "made", "moved");
	syscall(SYS_renameat, AT_FDCWD, "moved", AT_FDCWD, "made");
	syscall(SYS_renameat2, AT_FDCWD, "made", AT_FDCWD, "moved", 1);
	syscall(SYS_link, "moved", "linked");
	syscall(SYS_symlink, "moved", "sym");
	syscall(SYS_rename, "nothing", "here");
	if (syscall(SYS_fork) == 0)
		syscall(SYS_exit_group, 300);
	syscall(SYS_exit_group, 7);
}
"""),
    "openers": ("-lpthread", r"""
#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>
static void *opener(void *arg)
{
	for (int i = 0; i < 200; i++)
		close(open("/etc/passwd", O_RDONLY));
	return arg;
}
int main(void)
{
	pthread_t threads[8];

	for (int i = 0; i < 8; i++)
		pthread_create(&threads[i], 0, opener, 0);
	for (int i = 0; i < 8; i++)
		pthread_join(threads[i], 0);
	return 0;
}
"""),
    "spawners": ("", r"""
#define _GNU_SOURCE
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <linux/sched.h>
extern char **environ;
int main(void)
{
	char *argv[] = { "true", 0 };
	struct clone_args args = { .exit_signal = SIGCHLD };
	pid_t pid;

	posix_spawn(&pid, "/bin/true", 0, 0, argv, environ);
	waitpid(pid, 0, 0);
	pid = vfork();
	if (pid == 0) {
		execv("/bin/false", argv);
		_exit(1);
	}
	waitpid(pid, 0, 0);
	pid = syscall(SYS_clone3, &args, sizeof(args));
	if (pid == 0)
		_exit(3);
	waitpid(pid, 0, 0);
	args.flags = CLONE_UNTRACED;
	pid = syscall(SYS_clone3, &args, sizeof(args));
	if (pid == 0)
		_exit(4);
	if (args.flags != CLONE_UNTRACED)
		_exit(9);
	waitpid(pid, 0, 0);
	syscall(SYS_clone, CLONE_SIGHAND, 0, 0, 0, 0);
	return 0;
}
"""),
    "execthread": ("-lpthread", r"""
#include <pthread.h>
#include <semaphore.h>
#include <unistd.h>
static sem_t has_clone_returned;	/* before the exec ends its thread: else strace does not see it return */
static void *other(void *arg)
{
	pause();
	return arg;
}
static void *runner(void *arg)
{
	sem_wait(&has_clone_returned);
	execl("/bin/sh", "sh", "-c", "exit 6", (char *)0);
	return arg;
}
int main(void)
{
	pthread_t a, b;

	pthread_create(&a, 0, other, 0);
	pthread_create(&b, 0, runner, 0);
	sem_post(&has_clone_returned);
	pthread_join(a, 0);
	return 1;
}
"""),
}

SCRIPT = r"""
echo 'int main(void){return 0;}' > a.c
gcc -c a.c -o a.o && gcc a.o -o a && ./a
python3 -c 'import subprocess; subprocess.run(["true", ""])'
mv a b; ln b c; ln -s b d; mv nothing here 2>/dev/null
printf '#!/bin/sh\nexit 4\n' > s; chmod +x s; ./s
(kill -9 $BASHPID)
cat a.c | grep main > out
exit 3
"""

# gcc, also where ftr is built with another: clang writes to files of random names first.
TOP_MAKE = """
CC = gcc
OBJS = $(patsubst %,f%.o,1 2 3 4 5 6 7 8)
all: prog
prog: $(OBJS) main.o
	$(CC) -o $@ $^
f%.c:
	echo 'int f$*(void){return $*;}' > $@
main.c:
	echo 'int main(void){return 0;}' > $@
"""


def untraced_child(expected, _got):
    expected["exit", "4"] += 1  # strace loses the child of CLONE_UNTRACED
    return []


def many_forks(_expected, got):
    return [] if got["fork"] >= 5 * WIDE else [f"wide: {got['fork']} forks"]


EXPECTS = {"spawners": untraced_child, "wide": many_forks}
SIDE_BY_SIDE = ("make -j4", "openers", "wide")  # who is first decides about descriptors, make also how many

# As many processes at once: each waits a while for the others.
WIDE = 200
WIDE_MAKE = """
all: $(patsubst %,out%,$(shell seq """ + str(WIDE) + """))
out%:
	sleep 1; echo $* > in$*; cat < in$* > $@; mv $@ tmp$*; ln tmp$* $@
"""


def cases(work):
    """(name, argv): what is run, in a directory of its own each time."""
    for name, (flags, source) in PROGRAMS.items():
        binary = os.path.join(work, name)
        build = subprocess.run(["gcc", "-w", "-x", "c", "-", "-x", "none", "-o", binary, *flags.split()],
                               input=source, text=True, check=False)
        if build.returncode == 0:
            yield name, [binary]
    yield "script", ["bash", "-c", SCRIPT]
    makefile = os.path.join(work, "Makefile.top")
    with open(makefile, "w", encoding="ascii") as file:
        file.write(TOP_MAKE)
    yield "make", ["make", "-s", "-f", makefile]
    yield "make -j4", ["make", "-s", "-j4", "-f", makefile]
    makefile = os.path.join(work, "Makefile.wide")
    with open(makefile, "w", encoding="ascii") as file:
        file.write(WIDE_MAKE)
    yield "wide", ["make", "-s", f"-j{WIDE}", "-f", makefile]


INSTRUMENTED = r"""
#include <fcntl.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>
static void read_once(void)
{
	close(open("/etc/passwd", O_RDONLY));
}
static void *reader(void *arg)
{
	read_once();
	return arg;
}
int main(void)
{
	pthread_t thread;

	for (int i = 0; i < 3; i++) {
		pthread_create(&thread, 0, reader, 0);
		pthread_join(thread, 0);
	}
	if (fork() == 0) {
		read_once();
		_exit(3);
	}
	wait(0);
	return 0;
}
"""


def compare_instrumented(work):
    """The calls of functions are recorded as well: of the tracer only its being loaded may show."""
    binary = os.path.join(work, "instrumented")
    build = subprocess.run(["gcc", "-finstrument-functions", "-w", "-x", "c", "-", "-o", binary, "-lpthread"],
                           input=INSTRUMENTED, text=True, check=False)
    if build.returncode != 0:
        return ["instrumented: does not build"]
    expected = strace_run([binary], fresh(work, None), os.path.join(work, "st"))
    cwd = fresh(work, None)
    subprocess.run([FTR, "record", "--syscalls", "-d", "data", binary], cwd=cwd, check=False)
    text = subprocess.run([FTR, "dump", "-d", "data", "--format=etrace"], cwd=cwd, stdout=subprocess.PIPE, text=True,
                          check=False).stdout
    got = etrace_events(text)
    calls = subprocess.run([FTR, "report", "-d", "data"], cwd=cwd, stdout=subprocess.PIPE, text=True,
                           check=False).stdout
    problems = []
    if not re.search(r" 4  read_once$", calls, re.MULTILINE):
        problems.append("instrumented: the calls of read_once are not there:\n" + calls)
    for key in [key for key in got if key[0] == "open" and key[1].endswith("/libmcount.so")]:
        del got[key]
        got["close", key[2]] -= 1
    for key in sorted(set(expected) | set(got), key=str):
        if expected[key] != got[key]:
            problems.append(f"instrumented: {key}: strace {expected[key]}, ftr {got[key]}")
    print(f"instrumented: {sum(got.values())} records, {len(problems)} problems")
    return problems


def main():
    for name in ("MAKEFLAGS", "MAKELEVEL", "MFLAGS"):  # of the make that runs us
        os.environ.pop(name, None)
    if shutil.which("strace") is None:
        print("skipped: strace is not here")
        sys.exit(SKIP)
    if subprocess.run(["strace", "true"], stderr=subprocess.DEVNULL, check=False).returncode != 0:
        print("skipped: nothing may be traced here")
        sys.exit(SKIP)
    problems = []
    with tempfile.TemporaryDirectory(prefix="ftr-syscalls.") as work:
        work = os.path.realpath(work)
        wanted = sys.argv[1:]
        for name, argv in cases(work):
            if not wanted or name in wanted:
                problems += compare(name, argv, work, in_turn=name not in SIDE_BY_SIDE,
                                    expects=EXPECTS.get(name))
        if not wanted or "instrumented" in wanted:
            problems += compare_instrumented(work)
    for problem in problems[:60]:
        print(problem)
    sys.exit(1 if problems else 0)


main()
