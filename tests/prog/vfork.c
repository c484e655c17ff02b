/* SPDX-License-Identifier: MIT */
/*
 * Children that run in their parent's memory while it waits: each is a task of its own, also one
 * on a stack of its own, or one made by such a child.
 *
 * again: --no-libcall --estimate-return
 * again: --nest-libcall
 * again: -b 4K
 * expect-calls: in_child 2018
 * expect-calls: in_parent 26
 */
#define _GNU_SOURCE
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline, noclone))

NOINLINE int in_child(int n)
{
	__asm__ volatile("" : "+r"(n));
	return n;
}

NOINLINE int in_parent(int n)
{
	__asm__ volatile("" : "+r"(n));
	return n;
}

static int status_of(pid_t pid)
{
	int status = -1;

	waitpid(pid, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

NOINLINE int directly(int n)
{
	pid_t pid = vfork();

	if (pid == 0)
		_exit(in_child(n));
	return in_parent(status_of(pid));
}

NOINLINE int deeper(int n)
{
	pid_t pid = vfork();

	if (pid == 0) {
		for (int i = 0; i < 2000; i++)
			in_child(i);
		execl("/nowhere", "nowhere", (char *)NULL);
		_exit(n);
	}
	return in_parent(status_of(pid));
}

#ifdef TAIL_CALL		/* to be compiled as such: child and parent return from it */
static pid_t (*volatile hidden)(void) = vfork;

NOINLINE pid_t fork_it(void)
{
	return hidden();
}

#else
#define fork_it vfork
#endif

NOINLINE int by_tail(int n)
{
	pid_t pid = fork_it();

	if (pid == 0)
		_exit(in_child(n));
	return in_parent(status_of(pid));
}

NOINLINE int nested(int n)
{
	pid_t pid = vfork();

	if (pid == 0) {
		pid_t inner = vfork();

		if (inner == 0)
			_exit(in_child(n));
		_exit(in_child(status_of(inner)) + 1);
	}
	return in_parent(status_of(pid));
}

static int cloned(void *arg)
{
	return in_child((int)(long)arg);
}

NOINLINE int on_its_stack(int n)
{
	char *stack = aligned_alloc(16, 1 << 16);
	pid_t pid = clone(cloned, stack + (1 << 16), CLONE_VM | CLONE_VFORK | SIGCHLD,
			  (void *)(long)n);
	int status = in_parent(status_of(pid));

	free(stack);
	return status;
}

/* The child ends here, and its parent's calls go on. */
NOINLINE int killed(void)
{
	pid_t pid = vfork();
	int status;

	if (pid == 0) {
		in_child(0);
		raise(SIGKILL);
	}
	waitpid(pid, &status, 0);
	return in_parent(WTERMSIG(status));
}

NOINLINE int forks_in_child(int n)
{
	pid_t pid = vfork();

	if (pid == 0) {
		pid_t inner = fork();

		if (inner == 0)
			_exit(in_child(n));
		_exit(in_child(status_of(inner)));
	}
	return in_parent(status_of(pid));
}

int main(void)
{
	printf("%d %d %d\n", directly(1), directly(2), deeper(3));
	printf("%d %d %d\n", by_tail(4), nested(5), on_its_stack(6));
	printf("%d %d\n", killed(), forks_in_child(7));
	for (int i = 0; i < 9; i++)
		in_parent(directly(i));
	return 0;
}
