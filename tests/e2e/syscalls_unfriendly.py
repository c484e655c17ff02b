# SPDX-License-Identifier: MIT
"""Programs that make it hard for a tracer: they do what they do without one, and nothing is missed."""
import os
import pty
import re
import select
import shutil
import signal
import subprocess
import time
import unittest

from recording import FTR, IS_ROOT, TIMEOUT, harness, is_alive, run_observed, shell_status

# Each is run without and with ftr: the same output and exit status.
PROGRAMS = {
    # Breakpoints of its own, SIGTRAP by hand, values of queued signals, system calls interrupted by signals.
    "traps": r"""
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>
static volatile int traps, value, alarms;
static void on_trap(int nr) { traps++; }
static void on_value(int nr, siginfo_t *info, void *context) { value = info->si_value.sival_int; }
static void on_alarm(int nr) { alarms++; }
int main(void)
{
	struct sigaction queued = { .sa_sigaction = on_value, .sa_flags = SA_SIGINFO };
	struct sigaction alarmed = { .sa_handler = on_alarm };
	struct itimerval soon = { { 0, 0 }, { 0, 50000 } };
	int fd, status;

	signal(SIGTRAP, on_trap);
	__asm__ volatile("int3");
	raise(SIGTRAP);
	kill(getpid(), SIGTRAP);
	sigaction(SIGRTMIN + 3, &queued, 0);
	sigqueue(getpid(), SIGRTMIN + 3, (union sigval){ .sival_int = 4711 });
	sigaction(SIGALRM, &alarmed, 0);
	mkfifo("fifo", 0600);
	setitimer(ITIMER_REAL, &soon, 0);
	fd = open("fifo", O_RDONLY);	/* it has no writer: the alarm ends it */
	printf("%d traps, value %d, open %d %s, %d alarms\n", traps, value, fd, fd < 0 && errno == EINTR ?
	       "EINTR" : "", alarms);
	fflush(stdout);
	alarmed.sa_flags = SA_RESTART;
	sigaction(SIGALRM, &alarmed, 0);
	if (fork() == 0) {
		usleep(300000);
		_exit(open("fifo", O_WRONLY) < 0);
	}
	setitimer(ITIMER_REAL, &soon, 0);
	fd = open("fifo", O_RDONLY);	/* begins again after the alarm */
	wait(&status);
	printf("open %d, %d alarms, status %d\n", fd, alarms, status);
	raise(SIGSEGV);
	return 0;
}
""",
    "stops": r"""
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>
int main(void)
{
	static const int signals[] = { SIGSTOP, SIGTSTP, SIGTTIN, SIGTTOU };
	int status, seen[2];	/* that it goes on: only then may the child */
	char byte;

	setpgid(0, 0);
	if (pipe(seen) < 0)
		return 1;
	for (int i = 0; i < 4; i++) {
		pid_t child = fork();

		if (child == 0) {
			setpgid(0, 0);
			raise(signals[i]);
			close(open("/etc/passwd", O_RDONLY));
			read(seen[0], &byte, 1);
			raise(signals[i]);
			read(seen[0], &byte, 1);
			_exit(i);
		}
		for (int j = 0; j < 2; j++) {
			waitpid(child, &status, WUNTRACED);
			printf("%d: stopped %d by %d\n", i, WIFSTOPPED(status), WSTOPSIG(status));
			kill(child, SIGCONT);
			waitpid(child, &status, WCONTINUED);
			printf("%d: continued %d\n", i, WIFCONTINUED(status));
			write(seen[1], "", 1);
		}
		waitpid(child, &status, 0);
		printf("%d: exit %d\n", i, WEXITSTATUS(status));
	}
	return 0;
}
""",
    "jail": r"""
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>
int main(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EXDEV),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { 4, code };
	int before = open("/etc/passwd", O_RDONLY), after;

	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	printf("filter %ld\n", syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program));
	after = open("/etc/passwd", O_RDONLY);
	printf("%d %d %s\n", before >= 0, after, errno == EXDEV ? "EXDEV" : "?");
	fflush(stdout);
	close(before);
	prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT);
	syscall(SYS_exit, 3);
	return 0;
}
""",
    # What it can see of itself; rights to be dumped taken away, so that only its tracer may read its memory.
    "seer": r"""
#define _GNU_SOURCE
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>
int main(void)
{
	sigset_t blocked;
	int nr = 0, fds = 0;
	DIR *dir = opendir("/proc/self/fd");

	while (readdir(dir) != NULL)
		fds++;
	closedir(dir);
	sigprocmask(SIG_BLOCK, NULL, &blocked);
	for (int i = 1; i < 64; i++)
		nr += sigismember(&blocked, i) == 1;
	prctl(PR_SET_DUMPABLE, 0);
	close(open("/etc/hostname", O_RDONLY));
	printf("%d fds, %d blocked, pid %d, dumpable %d, handler %d %d, session %d\n", fds, nr,
	       getpid() == syscall(SYS_gettid), prctl(PR_GET_DUMPABLE), signal(SIGPIPE, SIG_DFL) == SIG_DFL,
	       signal(SIGINT, SIG_DFL) == SIG_DFL, getsid(0) > 0);
	return 0;
}
""",
    "many": r"""
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
int main(int argc, char **argv)
{
	static char name[201], path[4200], arg[100001];
	char *args[] = { argv[0], arg, "", "a\nb", NULL };

	if (argc == 4)
		return strlen(argv[1]) == 100000 ? 5 : 6;
	memset(name, 'n', 200);
	for (int i = 0; i < 200; i++)	/* 40000 characters deep, step by step */
		if (mkdir(name, 0700) < 0 || chdir(name) < 0)
			return 2;
	close(open("deep", O_CREAT | O_WRONLY, 0600));
	rename("deep", "deeper");
	link("deeper", "linked");
	memset(path, '/', 4199);
	printf("%d\n", open(path, O_RDONLY));		/* ENAMETOOLONG */
	strcpy(path + 4080, "etc/passwd");
	close(open(path, O_RDONLY));
	for (int i = 0; i < 100000; i++)
		close(open("/dev/null", O_RDONLY));
	memset(arg, 'a', 100000);
	fflush(stdout);
	execv("/proc/self/exe", args);
	return 3;
}
""",
}

# A thread's first call without a free descriptor: a child of the runtime's asks the recorder for its ring.
NO_DESCRIPTOR = r"""
#define _GNU_SOURCE
#include <pthread.h>
#include <sys/resource.h>
#include <unistd.h>
static __attribute__((noinline)) int in_thread(void) { __asm__ volatile(""); return 1; }
static void *worker(void *arg) { return (void *)(long)in_thread(); }
int main(void)
{
	struct rlimit limit = { 3, 3 };
	pthread_t thread;

	close_range(3, ~0u, 0);
	setrlimit(RLIMIT_NOFILE, &limit);
	return pthread_create(&thread, 0, worker, 0) != 0 || pthread_join(thread, 0) != 0;
}
"""

# A daemon: two forks, a session of its own, its parent gone, its descriptors closed.
DAEMON = r"""
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>
int main(int argc, char **argv)
{
	if (fork() > 0)
		_exit(0);
	setsid();
	if (fork() > 0)
		_exit(0);
	for (int i = 0; i < 10; i++)
		close(i);
	usleep(500000);
	close(open(argv[1], O_CREAT | O_WRONLY, 0600));
	return 4;
}
"""

HIDDEN = r"""
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
static void open_and_close(const char *path)
{
	dup2(open(path, O_RDONLY), 9);
	close(9);
	close(77);
}
int main(void)
{
	char from[] = "/tmp/ftr-hidden-XXXXXX", to[sizeof(from) + 3];

	open_and_close("/etc/hostname");
	close(mkstemp(from));
	snprintf(to, sizeof(to), "%s.to", from);
	prctl(PR_SET_DUMPABLE, 0);
	open_and_close("/etc/passwd");
	rename(from, to);
	unlink(to);
	if (fork() == 0) {
		open_and_close("/etc/group");
		rename(from, to);
		_exit(0);
	}
	wait(0);
	return 3;
}
"""

IDS = r"""
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>
int main(void)
{
	uid_t real, effective, saved;

	getresuid(&real, &effective, &saved);
	printf("%d\n", (int)effective);
	close(open("/etc/hostname", O_RDONLY));
	return 0;
}
"""

NAMESPACES = r"""
#define _GNU_SOURCE
#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>
int main(int argc, char **argv)
{
	mkdir("root", 0755);
	close(open("root/inside", O_CREAT | O_WRONLY, 0600));
	if (unshare(CLONE_NEWNS) < 0 || mount(0, "/", 0, MS_REC | MS_PRIVATE, 0) < 0 ||
	    mount("none", "root", "tmpfs", 0, "") < 0)
		return 1;
	close(open("root/mounted", O_CREAT | O_WRONLY, 0600));
	umount2("root", 0);
	if (chroot("root") < 0 || chdir("/") < 0)
		return 2;
	close(open("/inside", O_RDONLY));
	close(open("inside", O_RDONLY));
	rename("/inside", "renamed");
	return 0;
}
"""


def build(name, source, *flags):
    path = os.path.abspath(name)
    subprocess.run(["gcc", "-w", "-O1", "-x", "c", "-", "-o", path, *flags], input=source, text=True, check=True)
    return path


def record_words():
    return [FTR, "record", "--syscalls", "--format=etrace", "-o", os.path.abspath("out.etrace")]


def read_until(fd, text, seconds=TIMEOUT):
    said, end = "", time.monotonic() + seconds
    while text not in said and select.select([fd], [], [], max(0, end - time.monotonic()))[0]:
        try:
            said += os.read(fd, 4096).decode("utf-8", "replace")
        except OSError:
            break
    return said


def has_terminal(fd, name):
    """Is this the program that keys go to?"""
    try:
        with open(f"/proc/{os.tcgetpgrp(fd)}/comm", encoding="ascii") as file:
            return file.read().strip() == name
    except OSError:
        return False


class UnfriendlyTest(harness.Test):
    """Each program runs without and with ftr."""

    @classmethod
    def set_up_class(cls):
        run_observed("record", "--syscalls", "--format=etrace", "-o", "/dev/null", "true")

    def text_of(self, path="out.etrace"):
        check = self.ftr("check", "--etrace", path)
        self.expect(check.returncode == 0, f"{path}: {check.stdout[:400]}")
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read()

    def run_in(self, words):
        """In an empty directory, as the leader of a session."""
        shutil.rmtree("cwd", ignore_errors=True)
        os.mkdir("cwd")
        return self.run_program(*words, cwd="cwd", stderr=subprocess.STDOUT, process_group=None,
                                start_new_session=True)

    def test_programs(self):
        for name, source in PROGRAMS.items():
            program = build(name, source)
            native = self.run_in([program])
            status = shell_status(native.returncode)
            done = self.run_in(record_words() + [program])
            self.expect((done.returncode, done.stdout) == (status, native.stdout),
                   f"{name}: {status} {native.stdout!r} without, {done.returncode} {done.stdout!r} with ftr")
            self.check_text(name, self.text_of())

    def check_text(self, name, text):
        if name == "many":
            self.expect(text.count("FO|/dev/null\n") == 100000, f"many: {text.count('FO|/dev/null')} opens of 100000")
            self.expect(re.search(r"!New_proc\|argsize=\d+,.*\n(.*\n)*.*!A\[1\]a{900}\n", text) is not None and
                   sum(len(part) for part in re.findall(r"!A\[1\](a+)\n", text)) == 100000,
                   "many: the long argument")
            for line in ("FN|deep", "FO|deep", "RF|deep", "RT|deeper", "LF|deeper", "LT|linked", "Exit|status=5"):
                self.expect(f"!{line}\n" in text, f"many: no {line} of the deep files")
            self.expect(text.count("FN|/etc/passwd\n") == 1, "many: the long path")
        if name == "seer":
            self.expect("FO|/etc/hostname\n" in text, "seer: a file opened while it was not dumpable")
        if name == "traps":
            self.expect(text.count("/fifo\n") == 4, "traps: the fifo")

    def test_daemon(self):
        """The recording ends with the last process, and all of it is there."""
        program = build("daemon", DAEMON)
        made = os.path.join(self.dir, "made-by-daemon")
        done = self.run_in(record_words() + [program, made])
        text = self.text_of()
        self.expect(done.returncode == 0 and os.path.exists(made), f"daemon: {done}")
        self.expect("Exit|status=4" in text and text.count("!Exit|") == 3 and made in text, "daemon: its records")

    def test_killed_recorder(self):
        """Without an observer filtered calls would fail, so the tree ends with it; the recorder is not the observer."""
        slow = "echo $$; sleep 0.2; while :; do cat /dev/null; sleep 0.05; [ ! -e stop ] || exit 0; done"
        with subprocess.Popen([*record_words(), "sh", "-c", slow], stdout=subprocess.PIPE, text=True) as recorder:
            pid = int(recorder.stdout.readline())
            recorder.kill()
            recorder.wait()
            self.wait_for(lambda: not is_alive(pid))
        data = "killed"
        with subprocess.Popen([FTR, "record", "--syscalls", "-d", data, "sh", "-c", slow], stdout=subprocess.PIPE,
                              text=True) as recorder:
            pid = int(recorder.stdout.readline())
            recorder.kill()
            recorder.wait()
            time.sleep(0.5)
            self.expect(is_alive(pid), "killed recorder: the program is gone, too")
            with open("stop", "w", encoding="ascii"):
                pass
            self.wait_for(lambda: not is_alive(pid))
        log = os.path.join(data, "syscalls.etrace")
        self.wait_for(lambda: os.path.getsize(log) > 0)
        check = subprocess.run([FTR, "check", "--etrace", log], stdout=subprocess.PIPE, text=True, check=False)
        self.expect(check.returncode == 0, f"killed recorder: {check.stdout[:300]}")

    def test_signals(self):
        """A signal for ftr alone is the program's; those of a terminal come to it anyway."""
        script = "trap 'echo got INT; exit 7' INT; trap 'echo got TERM; exit 8' TERM; echo $$; while :; do sleep 0.05; done"
        for words in (record_words(), [FTR, "record", "--syscalls", "-d", "signalled"]):
            for number, said, status in ((signal.SIGINT, "got INT\n", 7), (signal.SIGTERM, "got TERM\n", 8)):
                with subprocess.Popen([*words, "bash", "-c", script], stdout=subprocess.PIPE, text=True,
                                      start_new_session=True) as recorder:
                    recorder.stdout.readline()
                    time.sleep(0.2)
                    recorder.send_signal(number)
                    output = recorder.stdout.read()
                    self.expect((output, recorder.wait(timeout=TIMEOUT)) == (said, status),
                           f"{number.name} to ftr: {output!r} {recorder.returncode} {words}")
        self.text_of()

    def test_third_signal(self):
        """A program that ignores signals is ended with the recording by the third one."""
        script = "trap '' TERM; echo $$; while :; do sleep 0.05; done"
        with subprocess.Popen([*record_words(), "sh", "-c", script], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True) as recorder:
            pid = int(recorder.stdout.readline())
            for _ in range(3):
                time.sleep(0.3)
                self.expect(recorder.poll() is None and is_alive(pid), "ended before the third signal")
                recorder.send_signal(signal.SIGTERM)
            status, said = recorder.wait(timeout=TIMEOUT), recorder.stderr.read()
        self.expect(status == 137 and "were killed" in said, f"third signal: {status} {said}")
        self.wait_for(lambda: not is_alive(pid))
        self.text_of()

    def test_job_control(self):
        """A shell on a terminal of its own: stop a job, continue it, end it, all from the keyboard."""
        child, fd = pty.fork()
        if child == 0:
            os.environ.update(PS1="ready> ", ENV="", TERM="dumb")
            os.execv(FTR, [*record_words(), "bash", "--norc", "--noediting", "-i"])
        said = read_until(fd, "ready> ")
        for name, keys, answer in (("bash", b"sleep 1000\n", "sleep 1000"), ("sleep", b"\x1a", "Stopped"),
                                   ("bash", b"jobs\n", "Stopped"), ("bash", b"fg\n", "sleep 1000"),
                                   ("sleep", b"\x03", "ready> "), ("bash", b"cat\n", "cat"),
                                   ("cat", b"\x04", "ready> "), ("bash", b"echo status $?\n", "status 0")):
            self.wait_for(lambda name=name: has_terminal(fd, name))
            os.write(fd, keys)
            got = read_until(fd, answer)
            said += got
            self.expect(answer in got, f"terminal: after {keys} no {answer!r} in {said[-300:]!r}")
            if self.problems:
                break
        os.write(fd, b"exit 3\n")
        read_until(fd, "never said", 5 if self.problems else TIMEOUT)
        if self.problems:
            os.kill(child, signal.SIGKILL)
        self.expect(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 3 or self.problems, "terminal: exit status")
        os.close(fd)
        self.text_of()

    def test_setuid(self):
        """As root it is followed with its privileges; else it runs without, with a warning."""
        if not IS_ROOT:
            self.skipTest("needs root")
        os.chmod(".", 0o755)
        program = build("ids", IDS)
        os.chown(program, 65534, 65534)
        os.chmod(program, 0o4755)
        done = self.run_in(record_words() + [program])
        self.expect((done.returncode, done.stdout) == (0, "65534\n"), f"set-uid as root: {done}")
        self.expect("FO|/etc/hostname" in self.text_of(), "set-uid as root: what it opened")
        os.chown(program, 0, 0)
        os.chmod(program, 0o4755)
        open_dir = os.path.join(self.dir, "anyone")
        os.mkdir(open_dir)
        os.chmod(open_dir, 0o777)
        own = os.path.join(open_dir, "ftr")
        shutil.copy(FTR, own)
        done = self.run_in(["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", own, "record", "--syscalls",
                    "--format=etrace", "-o", open_dir + "/out.etrace", program])
        lines = done.stdout.splitlines()
        self.expect(done.returncode == 0 and "65534" in lines and "runs unprivileged" in done.stdout,
               f"set-uid as nobody: {done}")
        self.expect("FO|/etc/hostname" in self.text_of("anyone/out.etrace"), "set-uid as nobody: what it opened")

    def test_hidden(self):
        """A program that is not dumpable runs as it does, and paths that only root could read are reported missing."""
        if not IS_ROOT:
            self.skipTest("needs root")
        os.chmod(".", 0o755)
        program = build("hidden", HIDDEN)
        os.mkdir("anyone")
        os.chmod("anyone", 0o777)
        own = shutil.copy(FTR, os.path.join(self.dir, "anyone/ftr"))
        words = ["record", "--syscalls", "--format=etrace", "-o", self.dir + "/anyone/out.etrace", program]
        as_nobody = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", own]
        os.chmod(program, 0o755)
        done = self.run_in([FTR, *words])
        text = self.text_of("anyone/out.etrace")
        self.expect(done.returncode == 3 and "dumpable" not in done.stdout, f"hidden, as root: {done}")
        self.expect("FN|/etc/group" in text, "hidden, as root: what its child opened")
        os.remove("anyone/out.etrace")
        done = self.run_in([*as_nobody, *words])
        text = self.text_of("anyone/out.etrace")
        self.expect(done.returncode == 3 and done.stdout.count("is not dumpable") == 1, f"hidden: {done}")
        self.expect("FO|/etc/passwd" in text and "RF|/tmp/" in text, f"hidden: what it opened and renamed: {text}")
        self.expect("/etc/group" not in text and "FO|\n" in text, "hidden: its child's path")
        self.expect(text.count("!Close|fd=9\n") == 3 and "Close|fd=77" not in text, f"hidden: its closes: {text}")
        os.chmod(program, 0o711)        # not readable: never dumpable
        done = self.run_in([*as_nobody, *words])
        self.expect(done.returncode == 3 and done.stdout.count("is not dumpable") >= 1, f"unreadable: {done}")
        self.text_of("anyone/out.etrace")

    def test_namespaces(self):
        """Paths as the observer sees them: those of a directory made root lie in that directory."""
        if not IS_ROOT or subprocess.run(["unshare", "-m", "true"], stderr=subprocess.DEVNULL,
                                               check=False).returncode != 0:
            self.skipTest("needs root and mount namespaces")
        program = build("namespaces", NAMESPACES)
        done = self.run_in(record_words() + ["--mount", program])
        text = self.text_of()
        root = os.path.join(self.dir, "cwd", "root")
        self.expect(done.returncode == 0, f"namespaces: {done}")
        for line in (f"FN|{root}/mounted", f"MT|{root}", "FO|/inside", f"FN|{root}/inside", f"FO|{root}/inside",
                     f"RF|{root}/inside", f"RT|{root}/renamed"):
            self.expect("!" + line + "\n" in text, f"namespaces: no {line}")

    def test_nesting(self):
        """Other tracers fail inside as they do under strace; an emptied environment changes nothing."""
        done = self.run_in(record_words() + ["env", "-i", "/bin/sh", "-c", "/bin/cat /etc/hostname >/dev/null"])
        self.expect(done.returncode == 0 and "FO|/etc/hostname" in self.text_of(), f"env -i: {done}")
        if shutil.which("strace") is None:
            self.skipTest("strace is not installed")
        native = self.run_in(["strace", "-f", "-o", "/dev/null", "strace", "-o", "/dev/null", "true"])
        done = self.run_in(record_words() + ["strace", "-o", "/dev/null", "true"])
        self.expect(native.returncode == done.returncode != 0,
               f"strace inside: {done.returncode} {done.stdout[-200:]}, in strace {native.returncode}")

    def test_own_calls(self):
        """What the runtime does in the program's name is not the program's."""
        program = build("descriptors", NO_DESCRIPTOR, "-pg", "-pthread")
        data = os.path.join(self.dir, "descriptors.data")
        done = self.run_in([FTR, "record", "--syscalls", "-d", data, program])
        calls = self.run_in([FTR, "report", "-d", data, "-f", "call"]).stdout
        text = self.text_of(data + "/syscalls.etrace")
        self.expect(done.returncode == 0 and "in_thread" in calls, f"own calls: {done} {calls}")
        self.expect((text.count("!SysClone|"), text.count("!Exit|")) == (1, 2), f"own calls: a child is seen: {text}")
        self.expect("call=close_range" not in text, f"own calls: closes are seen: {text}")


if __name__ == "__main__":
    harness.main()
