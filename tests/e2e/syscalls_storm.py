# SPDX-License-Identifier: MIT
"""Storms of tasks that are created while their creators end: nothing hangs, and each task is announced and ends.

FTR_STORMS is the number of storms of each kind (default 150).
"""
import os
import random
import re
import shutil
import signal
import subprocess
import time
import unittest

from recording import FTR, TIMEOUT, harness, run_observed

STORMS = os.environ.get("FTR_STORMS", "150")
SECONDS = TIMEOUT + int(STORMS) // 5

# storm CREATOR ENDER STORMS SEED: each storm is a process that creates tasks without end until it is ended, in one
# of the ways that there are, at a random moment of its first millisecond.  STORMS 0: the process itself is one.
STORM = r"""
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
static pthread_attr_t attr;
static long pause_ns;
static void rest(long ns)
{
	struct timespec time = { 0, ns };

	nanosleep(&time, 0);
}
static void *nothing(void *arg) { return arg; }
static void thread(void)
{
	pthread_t thread;

	pthread_create(&thread, &attr, nothing, 0);
}
static void by_fork(void)
{
	if (fork() == 0)
		_exit(0);
}
static void by_raw_fork(void)
{
	if (syscall(SYS_fork) == 0)
		syscall(SYS_exit_group, 0);
}
static void by_vfork(void)
{
	if (vfork() == 0)
		_exit(0);
}
static void sibling(void)
{
	if (syscall(SYS_clone, CLONE_PARENT | SIGCHLD, 0, 0, 0, 0) == 0)
		syscall(SYS_exit_group, 0);
}
static void all(void)
{
	void (*const creators[])(void) = { thread, by_fork, by_raw_fork, by_vfork };

	creators[random() % 4]();
}
static void by_return(void) { exit(0); }
static void by_exit_group(void) { _exit(0); }
static void by_exec(void) { execl("/bin/true", "true", (char *)0); }
static void by_kill(void) { kill(getpid(), SIGKILL); }
static void by_fault(void) { raise(SIGSEGV); }
static void by_parent(void) { rest(999999999); }
static const struct way {
	const char *name;
	void (*go)(void);
} creators[] = {
	{ "thread", thread }, { "fork", by_fork }, { "raw_fork", by_raw_fork }, { "vfork", by_vfork },
	{ "sibling", sibling }, { "all", all },
}, enders[] = {
	{ "return", by_return }, { "exit_group", by_exit_group }, { "exec", by_exec }, { "kill", by_kill },
	{ "fault", by_fault }, { "parent", by_parent },
};
static const struct way *find(const struct way *way, const char *name)
{
	while (strcmp(way->name, name) != 0)
		way++;
	return way;
}
static const struct way *creator, *ender;
static void *create(void *arg)
{
	for (int i = 0; i < 1000; i++) {
		creator->go();
		while (waitpid(-1, 0, WNOHANG) > 0)
			;
	}
	return arg;
}
static void *end(void *arg)
{
	rest(pause_ns);
	ender->go();
	return arg;
}
static void storm(void)
{
	pthread_t thread;

	signal(SIGSEGV, SIG_DFL);
	pthread_attr_init(&attr);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	pthread_attr_setstacksize(&attr, 65536);
	pthread_create(&thread, &attr, end, 0);
	pthread_create(&thread, &attr, create, 0);
	create(0);
	rest(999999999);
}
int main(int argc, char **argv)
{
	int nr = atoi(argv[3]);

	prctl(PR_SET_CHILD_SUBREAPER, 1);	/* a storm leaves children behind: reap them here */
	creator = find(creators, argv[1]);
	ender = find(enders, argv[2]);
	srandom(atoi(argv[4]));
	for (int i = 0; nr == 0 || i < nr; i++) {
		pid_t child;

		pause_ns = random() % 1000000;
		if (nr == 0)
			storm();
		child = fork();
		if (child == 0)
			storm();
		if (ender->go == by_parent) {
			rest(pause_ns);
			kill(child, SIGKILL);
			kill(child, SIGKILL);
		}
		while (waitpid(-1, 0, 0) != child)
			;
	}
	while (wait(0) > 0)
		;
	return 0;
}
"""

CREATORS = ("thread", "fork", "raw_fork", "vfork", "sibling", "all")
ENDERS = ("return", "exit_group", "exec", "kill", "fault", "parent")


class StormTest(harness.Test):

    @classmethod
    def set_up_class(cls):
        run_observed("record", "--syscalls", "--format=etrace", "-o", "/dev/null", "true")
        subprocess.run(["gcc", "-w", "-O1", "-x", "c", "-", "-o", "storm", "-lpthread"], input=STORM, text=True,
                       check=True)

    def check_text(self, name, what):
        """Every task is announced before its first line, and has an Exit."""
        check = self.ftr("check", "--etrace", name)
        self.expect(check.returncode == 0, f"{what}: {check.stdout[:400]}")
        with open(name, encoding="ascii") as file:
            text = file.read()
        tasks = {line.partition(",")[0] for line in text.splitlines()}
        announced = re.findall(r"!SchedFork\|pid=(\d+)$", text, re.M)
        exits = re.findall(r"^(\d+),.*!Exit\|", text, re.M)
        self.expect(len(set(announced)) == len(announced), f"{what}: a task was announced twice")
        self.expect(len(tasks) == len(announced) + 1, f"{what}: {len(tasks)} tasks, {len(announced)} SchedFork")
        self.expect(len(exits) == len(tasks), f"{what}: {len(tasks)} tasks, {len(exits)} Exit")
        return len(tasks)

    def storm(self, creator, ender, seed):
        # Its parent waits for it, as a shell does: that one must come back, too.
        script = f"./storm {creator} {ender} {STORMS} {seed}; exit 7"
        done = self.ftr("record", "--syscalls", "--format=etrace", "-o", "text", "sh", "-c", script, timeout=SECONDS)
        self.expect(done.returncode == 7, f"{creator} {ender}: exit status {done.returncode}: {done.stderr}")
        self.expect(self.check_text("text", f"{creator} {ender}") > int(STORMS), f"{creator} {ender}: no storms")

    def test_threads(self):
        for seed, ender in enumerate(ENDERS):
            self.storm("thread", ender, seed)

    def test_processes(self):
        for seed, creator in enumerate(CREATORS[1:]):
            for ender in ("exec", "parent", ENDERS[seed % len(ENDERS)]):
                self.storm(creator, ender, seed)

    def test_root(self):
        """The program itself ends so: its end is as without the observer."""
        for seed in range(min(int(STORMS), 1000) // 5):
            ender, status = (("return", 0), ("kill", 137), ("exec", 0), ("exit_group", 0))[seed % 4]
            done = self.ftr("record", "--syscalls", "--format=etrace", "-o", "text", "./storm", "thread", ender, "0",
                            str(seed))
            self.expect(done.returncode == status, f"root {ender}: exit status {done.returncode}: {done.stderr}")
            self.check_text("text", f"root {ender} {seed}")

    def test_requests(self):
        """Three signals end ftr at whatever moment they come, and what it observes with it."""
        random.seed(1)
        for _ in range(10):
            child = self.start_program(FTR, "record", "--syscalls", "--format=etrace", "-o", "text", "sh", "-c",
                                       "trap '' TERM; echo go; while :; do /bin/true; done")
            child.stdout.readline()
            for _ in range(3):
                time.sleep(random.random() / 50)
                child.send_signal(signal.SIGTERM)
                time.sleep(0.02)        # two at one moment would be one
            child.communicate(timeout=TIMEOUT)
            self.expect(child.returncode == 137, f"exit status {child.returncode}")

    @unittest.skipUnless(shutil.which("strace"), "strace is not installed")
    def test_calls(self):
        """A stop costs two waits at most, and signals cost none."""
        script = "i=0; while [ $i -lt 100 ]; do /bin/true; i=$((i + 1)); done"
        done = self.run_program("strace", "-c", "-o", "calls", FTR, "record", "--syscalls", "--format=etrace", "-o",
                                "text", "sh", "-c", script)
        if done.returncode != 0:
            self.skipTest("strace cannot trace ftr here")
        with open("calls", encoding="ascii") as file:
            calls = {words[-1]: int(words[3]) for words in map(str.split, file)
                     if len(words) > 4 and words[3].isdigit()}
        self.expect(calls["wait4"] < calls["ptrace"], f"{calls}")
        self.expect(calls.get("rt_sigtimedwait", 0) < 10, f"{calls}")

    def test_directory(self):
        """The same, with a recorder beside the observer, and its data read."""
        script = f"./storm thread exec {STORMS} 1; ./storm all parent {STORMS} 2; exit 7"
        done = self.ftr("record", "--syscalls", "-d", "data", "sh", "-c", script, timeout=SECONDS)
        self.expect(done.returncode == 7, f"directory: exit status {done.returncode}: {done.stderr}")
        self.check_text("data/syscalls.etrace", "directory")


if __name__ == "__main__":
    harness.main()
