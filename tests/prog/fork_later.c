/* SPDX-License-Identifier: MIT */
/*
 * Children that call nothing until their parent has gone on: they inherited what was open when they
 * were forked, not what is open by then.
 *
 * again: --no-libcall --clock=mono
 * expect-calls: late 40
 * expect-told: 10 [1] by_fork
 * expect-told: 10 [1] by_clone
 * expect-told: 20 [1] by_child
 * expect-told: 0 [1] other
 */
#define _GNU_SOURCE
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline, noclone))
#define ROUNDS 10
#define NAP_NS 2000000
#define BARRIER() __asm__ volatile("" ::: "memory")

static char stack[65536] __attribute__((aligned(16)));

NOINLINE void late(void)
{
	BARRIER();
}

static void nap(void)
{
	const struct timespec time = { .tv_nsec = NAP_NS };

	nanosleep(&time, NULL);
}

static int child(void *arg)
{
	(void)arg;
	nap();
	late();
	_exit(0);
}

NOINLINE void by_fork(void)
{
	if (fork() == 0)
		child(NULL);
	BARRIER();
}

NOINLINE void by_clone(void)
{
	if (clone(child, stack + sizeof(stack), SIGCHLD, NULL) < 0)
		exit(1);
	BARRIER();
}

/* A child that has called nothing itself when it forks. */
NOINLINE void by_child(void)
{
	if (fork() == 0) {
		if (fork() == 0)
			child(NULL);
		nap();
		late();
		while (wait(NULL) > 0)
			;
		_exit(0);
	}
	BARRIER();
}

NOINLINE void other(void)
{
	nap();
}

int main(void)
{
	for (int i = 0; i < ROUNDS; i++) {
		by_fork();
		by_clone();
		by_child();
		other();
	}
	while (wait(NULL) > 0)
		;
	return 0;
}
