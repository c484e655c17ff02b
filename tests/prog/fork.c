/* SPDX-License-Identifier: MIT */
/*
 * Forked children return through frames they inherited and record calls of their own.
 *
 * again: --no-libcall --estimate-return
 * again: --nest-libcall
 * expect-calls: in_child 6
 * expect-calls: much 2000
 * expect-calls: in_parent 3
 * record: --no-libcall -b 4K
 */
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline, noclone))

NOINLINE int in_child(int n)
{
	__asm__ volatile("" : "+r"(n));
	return n + 1;
}

NOINLINE int much(int n)
{
	__asm__ volatile("" : "+r"(n));
	return n + 1;
}

NOINLINE int in_parent(int n)
{
	__asm__ volatile("" : "+r"(n));
	return n + 2;
}

NOINLINE int spawn(int n)
{
	pid_t pid = fork();
	int status;

	if (pid == 0)
		return in_child(in_child(n));	/* returns through main, too */
	waitpid(pid, &status, 0);
	printf("child %d: %d\n", n, WEXITSTATUS(status));
	fflush(stdout);
	in_parent(n);
	return -1;
}

int main(void)
{
	if (fork() == 0) {		/* more than a small ring holds */
		for (int i = 0, n = 0; i < 2000; i++)
			n = much(n);
		return 0;
	}
	wait(NULL);
	for (int i = 0; i < 3; i++) {
		int ret = spawn(i);

		if (ret >= 0)
			return ret;
	}
	return 0;
}
