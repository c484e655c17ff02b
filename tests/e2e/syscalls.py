# SPDX-License-Identifier: MIT
"""What ftr record --syscalls sees of a process tree, against strace on the same commands."""
import os
import re
import shutil
import subprocess
import unittest

from recording import FTR, harness
from beside_strace import compare, etrace_events, fresh, strace_run

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

# As many processes at once: each waits a while for the others.
WIDE = 200
WIDE_MAKE = """
all: $(patsubst %,out%,$(shell seq """ + str(WIDE) + """))
out%:
	sleep 1; echo $* > in$*; cat < in$* > $@; mv $@ tmp$*; ln tmp$* $@
"""


def many_forks(_expected, got):
    return [] if got["fork"] >= 5 * WIDE else [f"wide: {got['fork']} forks"]


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


class SyscallsTest(harness.Test):
    """Each command runs plain, under strace and under ftr."""

    @classmethod
    def set_up_class(cls):
        if shutil.which("strace") is None:
            raise unittest.SkipTest("strace is not installed")
        if subprocess.run(["strace", "true"], stderr=subprocess.DEVNULL, check=False).returncode != 0:
            raise unittest.SkipTest("nothing may be traced here")

    def setUp(self):
        super().setUp()
        for name in ("MAKEFLAGS", "MAKELEVEL", "MFLAGS"):   # of the make that runs the tests
            os.environ.pop(name, None)

    def compare(self, name, *argv, **options):
        self.problems += compare(name, argv, self.dir, **options)[:60]

    def program(self, name):
        flags, source = PROGRAMS[name]
        binary = os.path.join(self.dir, name)
        subprocess.run(["gcc", "-w", "-x", "c", "-", "-x", "none", "-o", binary, *flags.split()], input=source,
                       text=True, check=True)
        return binary

    def makefile(self, text):
        path = os.path.join(self.dir, "Makefile")
        with open(path, "w", encoding="ascii") as file:
            file.write(text)
        return path

    def test_raw_system_calls(self):
        self.compare("raw", self.program("raw"))

    def test_threads_that_open(self):
        self.compare("openers", self.program("openers"), in_turn=False)

    def test_ways_to_spawn(self):
        def untraced_child(expected, _got):
            expected["exit", "4"] += 1  # strace loses the child of CLONE_UNTRACED
            return []
        self.compare("spawners", self.program("spawners"), expects=untraced_child)

    def test_exec_in_a_thread(self):
        self.compare("execthread", self.program("execthread"))

    def test_script(self):
        self.compare("script", "bash", "-c", SCRIPT)

    def test_make(self):
        makefile = self.makefile(TOP_MAKE)
        self.compare("make", "make", "-s", "-f", makefile)
        self.compare("make -j4", "make", "-s", "-j4", "-f", makefile, in_turn=False)

    def test_many_processes_at_once(self):
        def many_forks(_expected, got):
            return [] if got["fork"] >= 5 * WIDE else [f"wide: {got['fork']} forks"]
        self.compare("wide", "make", "-s", f"-j{WIDE}", "-f", self.makefile(WIDE_MAKE), in_turn=False,
                     expects=many_forks)

    def test_instrumented(self):
        """The calls of functions are recorded as well: of the tracer only its being loaded may show."""
        binary = os.path.join(self.dir, "instrumented")
        subprocess.run(["gcc", "-finstrument-functions", "-w", "-x", "c", "-", "-o", binary, "-lpthread"],
                       input=INSTRUMENTED, text=True, check=True)
        expected = strace_run([binary], fresh(self.dir, None), os.path.join(self.dir, "st"))
        cwd = fresh(self.dir, None)
        subprocess.run([FTR, "record", "--syscalls", "-d", "data", binary], cwd=cwd, check=False)
        text = subprocess.run([FTR, "dump", "-d", "data", "--format=etrace"], cwd=cwd, stdout=subprocess.PIPE, text=True,
                              check=False).stdout
        got = etrace_events(text)
        calls = subprocess.run([FTR, "report", "-d", "data"], cwd=cwd, stdout=subprocess.PIPE, text=True,
                               check=False).stdout
        if not re.search(r" 4  read_once$", calls, re.MULTILINE):
            self.problems.append("instrumented: the calls of read_once are not there:\n" + calls)
        for key in [key for key in got if key[0] == "open" and key[1].endswith("/libmcount.so")]:
            del got[key]
            got["close", key[2]] -= 1
        for key in sorted(set(expected) | set(got), key=str):
            if expected[key] != got[key]:
                self.problems.append(f"instrumented: {key}: strace {expected[key]}, ftr {got[key]}")


if __name__ == "__main__":
    harness.main()
