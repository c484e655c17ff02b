# SPDX-License-Identifier: MIT
"""Programs notice nothing of the observer: job control, signals, 32 bits, deaths at any point; names, nesting."""
import os
import re
import signal
import subprocess
import sys
import tempfile
import time

FTR = os.path.abspath(os.environ.get("FTR", "./ftr"))
SKIP = 77
problems = []

STOPS = r"""
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>
int main(void)
{
	int status, seen[2];	/* that it goes on: only then may the child end */
	char byte;
	pid_t child;

	if (pipe(seen) < 0)
		return 1;
	child = fork();
	if (child == 0) {
		raise(SIGSTOP);
		read(seen[0], &byte, 1);
		_exit(5);
	}
	waitpid(child, &status, WUNTRACED);
	printf("stopped %d by %d\n", WIFSTOPPED(status), WSTOPSIG(status));
	kill(child, SIGCONT);
	waitpid(child, &status, WCONTINUED);
	printf("continued %d\n", WIFCONTINUED(status));
	write(seen[1], "", 1);
	waitpid(child, &status, 0);
	printf("exit %d\n", WEXITSTATUS(status));
	return 0;
}
"""

NAMES = r"""
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <sys/prctl.h>
#include <unistd.h>
static void *sleeper(void *arg)
{
	sleep(1);
	return arg;
}
int main(void)
{
	pthread_t thread;
	int fd;

	prctl(PR_SET_NAME, "a name that is too long");
	pthread_create(&thread, 0, sleeper, 0);
	pthread_setname_np(thread, "other");
	fd = open("/proc/self/comm", O_WRONLY);
	if (write(fd, "written\n", 8) != 8)
		return 1;
	close(fd);
	return 0;
}
"""

SMALL = r"""
static int call(int nr, long a, long b, long c, long d)
{
	int ret;

	__asm__ volatile("int $0x80" : "=a"(ret) : "a"(nr), "b"(a), "c"(b), "d"(c), "S"(d) : "memory");
	return ret;
}
void _start(void)
{
	int fds[2], fd = call(5, (long)"/etc/passwd", 0, 0, 0);

	call(6, fd, 0, 0, 0);
	call(42, (long)fds, 0, 0, 0);
	call(63, fds[0], 20, 0, 0);
	call(221, fds[1], 1030, 30, 0);
	if (call(2, 0, 0, 0, 0) == 0)
		call(1, 3, 0, 0, 0);
	call(252, 7, 0, 0, 0);
}
"""

STORM = r"""
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>
int main(void)
{
	for (int i = 0; i < 150; i++) {
		pid_t child = fork();

		while (child == 0) {
			pid_t grandchild = fork();

			if (grandchild == 0) {
				execl("/bin/true", "true", (char *)0);
				_exit(1);
			}
			close(open("/etc/passwd", O_RDONLY));
			rename("nothing", "here");
			waitpid(grandchild, 0, 0);
		}
		usleep(i * 37 % 3000);
		kill(child, SIGKILL);
		waitpid(child, 0, 0);
	}
	return 0;
}
"""


def expect(is_true, what):
    if not is_true:
        problems.append(what)


def compile_program(folder, name, source, *flags):
    path = os.path.join(folder, name)
    done = subprocess.run(["gcc", "-w", "-x", "c", "-", "-o", path, *flags], input=source, text=True,
                          stderr=subprocess.DEVNULL, check=False)
    return path if done.returncode == 0 else None


def record(folder, *words, options=()):
    """(exit status, what the program wrote, the text)"""
    output = os.path.join(folder, "out.etrace")
    done = subprocess.run([FTR, "record", "--syscalls", "--format=etrace", "-o", output, *options, *words],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd=folder,
                          timeout=120, check=False)
    with open(output, encoding="utf-8", errors="replace") as file:
        text = file.read()
    check = subprocess.run([FTR, "check", "--etrace", output], stdout=subprocess.PIPE, text=True,
                           check=False)
    expect(check.returncode == 0, f"{words}: {check.stdout[:300]}")
    return done.returncode, done.stdout, text


def check_stops(folder):
    program = compile_program(folder, "stops", STOPS)
    status, said, _ = record(folder, program)
    expect((status, said) == (0, f"stopped 1 by {int(signal.SIGSTOP)}\ncontinued 1\nexit 5\n"),
           f"stops: {status} {said}")
    with subprocess.Popen([FTR, "record", "--syscalls", "--format=etrace", "-o", "/dev/null", "sh", "-c",
                           "echo $$; for i in 1 2 3 4 5; do sleep 0.1; done; exit 9"],
                          stdout=subprocess.PIPE, text=True) as traced:
        pid = int(traced.stdout.readline())
        os.kill(pid, signal.SIGSTOP)
        time.sleep(1)
        expect(traced.poll() is None, "a stopped program went on")
        os.kill(pid, signal.SIGCONT)
        expect(traced.wait(timeout=60) == 9, "a continued program did not end as it does")


def check_signals(folder):
    status, said, text = record(folder, "sh", "-c", "trap 'echo caught' USR1; kill -USR1 $$; kill -9 $$")
    expect((status, said) == (128 + 9, "caught\n"), f"signals: {status} {said}")
    expect("Exit|status=0" in text, "signals: no Exit of who was killed")


def check_names(folder):
    program = compile_program(folder, "names", NAMES, "-lpthread")
    _, _, text = record(folder, program, options=["--thread-names"])
    named = re.findall(r"^(\d+),.*!CN\|(.*)$", text, re.M)
    expect([name for _, name in named] == ["names", "a name that is ", "other", "written"],
           f"names: {named}")
    expect(len({upid for upid, _ in named}) == 2, f"names: of whom? {named}")
    _, _, text = record(folder, program)
    expect("Comm|" not in text, "names without --thread-names")


def check_small(folder):
    program = compile_program(folder, "small", SMALL, "-m32", "-nostdlib", "-static", "-ffreestanding",
                              "-fno-stack-protector", "-fno-pie", "-no-pie")
    if program is None or subprocess.run([program], check=False).returncode != 7:
        print("no 32-bit programs here")
        return
    status, _, text = record(folder, program)
    heads = [line.partition("!")[2] for line in text.splitlines()]
    expect(status == 7, f"32 bits: exit status {status}")
    for head in ("FN|/etc/passwd", "Close|fd=3", "Pipe|fd1=3,fd2=4,flags=0", "Dup|oldfd=3,newfd=20,flags=0",
                 "Dup|oldfd=4,newfd=30,flags=524288", "Exit|status=3", "Exit|status=7"):
        expect(head in heads, f"32 bits: no {head}")


def check_deaths(folder):
    program = compile_program(folder, "storm", STORM)
    status, _, text = record(folder, program)
    expect(status == 0, f"storm: exit status {status}")
    expect(text.count("!SchedFork|") + 1 == text.count("!Exit|"), "storm: a task without an Exit")


def check_nesting(folder):
    status, said, _ = record(folder, "env", "ASAN_OPTIONS=detect_leaks=0", FTR, "record", "--syscalls",
                             "--format=etrace", "-o", "/dev/null", "true")  # LeakSanitizer traces, too
    expect(status == 125 and "cannot observe" in said, f"nested: {status} {said}")


def check_options(folder):
    """What the text's options do, on a stream; and that none of them is accepted where it means nothing."""
    script = "for i in range(3): open('/etc/passwd').close()\nopen('/etc/hosts').close(); open('/etc/passwd').close()"
    words = [FTR, "record", "--syscalls", "--format=etrace", "-o", "-"]
    for options, opens in (([], 4), (["--skip-repeated-opens"], 2)):
        done = subprocess.run([*words, *options, sys.executable, "-c", script], stdout=subprocess.PIPE, text=True,
                              cwd=folder, check=False)
        groups = done.stdout.split("FO|/etc/passwd\n")
        expect(len(groups) - 1 == opens and all("!Close|fd=3\n" in group.split("!Open|")[0] for group in groups[1:]),
               f"{options}: {len(groups) - 1} opens")
    done = subprocess.run([*words, "--etrace-prefix", "true"], stdout=subprocess.PIPE, text=True, cwd=folder,
                          check=False)
    lines = done.stdout.splitlines()
    expect(lines[0] == "INITCWD=" + folder and all(line.startswith("0: ") for line in lines[1:]),
           f"--etrace-prefix: {lines[:2]}")
    data = os.path.join(folder, "plain")
    subprocess.run([FTR, "record", "--syscalls", "-d", data, "true"], check=True)
    for usage in ([FTR, "record", "--syscalls", "--mount", "true"], [FTR, "record", "--syscalls", "-o", "x", "true"],
                  [FTR, "record", "--format=etrace", "true"], [*words, "-d", "x", "true"],
                  [FTR, "dump", "--thread-names", "-d", data],
                  [FTR, "dump", "--chrome", "--etrace-prefix", "-d", data]):
        done = subprocess.run(usage, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                              check=False)
        expect(done.returncode == 2 and "etrace" in done.stderr, f"{usage}: {done.returncode} {done.stderr}")


def check_written_while_running(folder):
    """What a process did can be read before it ends."""
    script = "cat /etc/hostname > /dev/null; read word; exit 5"
    with subprocess.Popen([FTR, "record", "--syscalls", "--format=etrace", "-o", os.path.join(folder, "live"),
                           "sh", "-c", script], stdin=subprocess.PIPE, text=True) as traced:
        end = time.monotonic() + 60
        text = ""
        while "!Exit|" not in text and time.monotonic() < end:
            time.sleep(0.05)
            if os.path.exists(os.path.join(folder, "live")):
                with open(os.path.join(folder, "live"), encoding="utf-8") as file:
                    text = file.read()
        expect("FO|/etc/hostname\n" in text and traced.poll() is None, "the text comes late")
        traced.communicate("go\n")
    expect(traced.returncode == 5, f"exit status {traced.returncode}")


def check_functions(folder):
    """System calls stand in the functions that made them."""
    source = """
#include <fcntl.h>
#include <unistd.h>
__attribute__((noinline)) int reader(const char *path) { return close(open(path, O_RDONLY)); }
int main(void) { reader("/etc/passwd"); reader("/no/such"); return 4; }
"""
    program = compile_program(folder, "functions", source, "-pg", "-O1")
    data = os.path.join(folder, "data")
    done = subprocess.run([FTR, "record", "--syscalls", "-d", data, program], cwd=folder, check=False)
    expect(done.returncode == 4, f"functions: exit status {done.returncode}")
    shown = subprocess.run([FTR, "replay", "-d", data, "--no-pager", "-f", "none"], stdout=subprocess.PIPE,
                           text=True, check=False).stdout
    inner = shown.partition("main() {")[2]
    for line in ('reader() {', 'sys_openat(path="/etc/passwd", flags=O_RDONLY) = 3;',
                 'sys_openat(path="/no/such", flags=O_RDONLY) = ENOENT;'):
        expect(line in inner, f"functions: no {line} in {shown}")
    written = subprocess.run([FTR, "dump", "-d", data, "--format=etrace"], stdout=subprocess.PIPE,
                             stderr=subprocess.DEVNULL, text=True, check=False).stdout
    text = os.path.join(folder, "written.etrace")
    with open(text, "w", encoding="utf-8") as file:
        file.write(written)
    again = subprocess.run([FTR, "dump", "-d", text, "--format=etrace"], stdout=subprocess.PIPE, text=True,
                           check=False).stdout
    expect(again == written, "functions: a text that was read is written differently")
    expect("FO|/etc/passwd" in written and "/no/such" not in written, "functions: dump --format=etrace")


def main():
    with tempfile.TemporaryDirectory(prefix="ftr-life.") as folder:
        folder = os.path.realpath(folder)
        probe = subprocess.run([FTR, "record", "--syscalls", "--format=etrace", "-o", "/dev/null", "true"],
                               stderr=subprocess.PIPE, text=True, check=False)
        if "ptrace must be allowed" in probe.stderr:
            print("skipped: nothing may be traced here")
            sys.exit(SKIP)
        for check in (check_stops, check_signals, check_names, check_small, check_deaths, check_nesting,
                      check_options, check_written_while_running, check_functions):
            check(folder)
    for problem in problems:
        print(problem)
    print(f"{len(problems)} problems")
    sys.exit(1 if problems else 0)


main()
