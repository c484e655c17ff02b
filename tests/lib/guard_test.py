# SPDX-License-Identifier: MIT
"""Nothing survives tests/lib/guard, and nothing under it fills the disk."""
import os
import signal
import subprocess
import time

import harness
from harness import GUARD, TIMEOUT, is_alive

# Survives whatever can be survived: every signal ignored, two forks, a session of its own; writes for ever.
SURVIVOR = r"""
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>
int main(int argc, char **argv)
{
	static char block[1 << 16];
	char name[4096];
	FILE *pid;
	int fd = -1;

	for (int i = 1; i < 65; i++)
		signal(i, SIG_IGN);
	if (argc > 2 && strcmp(argv[2], "attached") != 0) {
		if (fork() > 0)
			_exit(0);
		setsid();
		if (fork() > 0)
			_exit(0);
	}
	pid = fopen("pid.new", "w");
	fprintf(pid, "%d\n", getpid());
	fclose(pid);
	rename("pid.new", argv[1]);
	for (long i = 0; ; i++) {
		if (i % 64 == 0) {
			close(fd);
			snprintf(name, sizeof(name), "%s/%ld", argc > 3 ? argv[3] : ".", i);
			fd = open(name, O_CREAT | O_WRONLY, 0600);
		}
		if (argc <= 3 || write(fd, block, sizeof(block)) < 0)
			usleep(10000);
	}
}
"""
STATES = r"""
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>
#include <fcntl.h>
int main(void)
{
	sigset_t mask;
	struct rlimit limit;

	sigprocmask(SIG_SETMASK, NULL, &mask);
	for (int i = 1; i < 32; i++)
		if (i != SIGKILL && i != SIGSTOP && (signal(i, SIG_DFL) != SIG_DFL || sigismember(&mask, i)))
			printf("signal %d\n", i);
	getrlimit(RLIMIT_FSIZE, &limit);
	printf("%s %s %s\n", open("/dev/tty", O_RDWR) < 0 ? "no terminal" : "a terminal",
	       limit.rlim_cur == 1 << 20 ? "limited" : "unlimited",
	       getpgrp() == getpid() ? "leads a group" : "in a group");
	return 0;
}
"""


class GuardTest(harness.Test):
    @classmethod
    def set_up_class(cls):
        for name, source in (("survivor", SURVIVOR), ("states", STATES)):
            subprocess.run([*harness.CC, "-D_GNU_SOURCE", "-x", "c", "-", "-o", name], input=source, text=True,
                           check=True)

    def start(self, *words, options=(), **more):
        return self.start_program(GUARD, *options, *words, env={**os.environ, "TMPDIR": self.dir}, **more)

    def survivor(self):
        self.wait_for(lambda: os.path.exists("pid"))
        with open("pid", encoding="ascii") as file:
            return int(file.read())

    def check_gone(self, pid):
        self.wait_for(lambda: not is_alive(pid))
        self.wait_for(lambda: not [name for name in os.listdir(".") if name.startswith("ftr-test.")])

    def test_exit_status(self):
        for script, status in (("exit 7", 7), ("exit 77", 77), ("kill -9 $$", 137)):
            self.assertEqual(self.run_program(GUARD, "sh", "-c", script).returncode, status)
        self.assertEqual(self.run_program(GUARD, "./nowhere").returncode, 99)

    def test_end_of_the_test(self):
        guard = self.start("sh", "-c", "./survivor pid detached; while ! [ -e pid ]; do sleep 0.01; done; exit 3")
        self.assertEqual(guard.wait(timeout=TIMEOUT), 3)
        self.check_gone(self.survivor())
        self.assertIn("kills survivor", guard.stderr.read())

    def test_time_limit(self):
        guard = self.start("./survivor", "pid", "attached", options=["-t", "1"])
        self.assertEqual(guard.wait(timeout=TIMEOUT), 124)
        self.check_gone(self.survivor())
        self.assertIn("took too long", guard.stderr.read())

    def test_disk_limit(self):
        guard = self.start("sh", "-c", "./survivor pid detached $TMPDIR; sleep 1000", options=["-d", "16"])
        self.assertEqual(guard.wait(timeout=TIMEOUT), 124)
        self.check_gone(self.survivor())
        self.assertIn("wrote too much", guard.stderr.read())

    def test_file_limit(self):
        done = self.run_program(GUARD, "-f", "1", "sh", "-c", "exec cat /dev/zero >$TMPDIR/x")
        self.assertEqual(done.returncode, 128 + signal.SIGXFSZ)

    def test_processor_limit(self):
        done = self.run_program(GUARD, "-c", "1", "sh", "-c", "while :; do :; done")
        self.assertEqual(done.returncode, 128 + signal.SIGXCPU)

    def test_signals_to_the_guard(self):
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT):
            guard = self.start("sh", "-c", "./survivor pid detached; sleep 1000")
            pid = self.survivor()
            guard.send_signal(number)
            self.assertEqual(guard.wait(timeout=TIMEOUT), 128 + signal.SIGTERM)
            self.check_gone(pid)
            os.unlink("pid")

    def test_guard_killed(self):
        guard = self.start("sh", "-c", "./survivor pid detached; sleep 1000")
        pid = self.survivor()
        guard.kill()
        guard.wait(timeout=TIMEOUT)
        self.check_gone(pid)

    def test_inner_guard_killed(self):
        guard = self.start("sh", "-c", "./survivor pid detached; sleep 1000")
        pid = self.survivor()
        with open(f"/proc/{guard.pid}/task/{guard.pid}/children", encoding="ascii") as file:
            os.kill(int(file.read()), signal.SIGKILL)
        self.assertEqual(guard.wait(timeout=TIMEOUT), 128 + signal.SIGKILL)
        self.check_gone(pid)

    def test_group_killed(self):
        guard = self.start("sh", "-c", "./survivor pid detached; sleep 1000")
        pid = self.survivor()
        os.killpg(guard.pid, signal.SIGKILL)
        guard.wait(timeout=TIMEOUT)
        self.check_gone(pid)

    def test_surroundings_of_the_command(self):
        """Signals that nohup and shells in the background ignore are not ignored for the test."""
        def ignore():
            for number in (signal.SIGINT, signal.SIGQUIT, signal.SIGHUP, signal.SIGTERM, signal.SIGCHLD):
                signal.signal(number, signal.SIG_IGN)
            signal.pthread_sigmask(signal.SIG_BLOCK, (signal.SIGUSR1, signal.SIGTERM))
        done = self.run_program(GUARD, "-f", "1", "./states", preexec_fn=ignore)
        self.assertEqual(done.stdout, "no terminal limited leads a group\n")

    def test_harness_kills_what_a_test_left(self):
        child = self.start_program("./survivor", "pid", "detached")
        child.wait(timeout=TIMEOUT)
        pid = self.survivor()
        begin = time.monotonic()
        harness.kill_descendants()
        self.assertFalse(is_alive(pid))
        self.assertLess(time.monotonic() - begin, TIMEOUT)


if __name__ == "__main__":
    harness.main()
