/* SPDX-License-Identifier: MIT */
/*
 * storm CREATOR ENDER STORMS SEED: each storm is a process that creates tasks without end until it
 * is ended, in one of the ways that there are, at a random moment of its first millisecond.
 * STORMS 0: the process itself is one.
 */
#include "tests/prog/older_calls.h"

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
	if (OLDER_FORK() == 0)
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
	{ "thread", thread }, { "fork", by_fork }, { "raw_fork", by_raw_fork },
	{ "vfork", by_vfork }, { "sibling", sibling }, { "all", all },
}, enders[] = {
	{ "return", by_return }, { "exit_group", by_exit_group }, { "exec", by_exec },
	{ "kill", by_kill }, { "fault", by_fault }, { "parent", by_parent },
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
