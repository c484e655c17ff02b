/* SPDX-License-Identifier: MIT */
/*
 * A forked child makes more calls than a ring holds, and so does its own child; none of them waits
 * longer than the recorder takes.
 *
 * record: -b 16K
 * expect-calls: in_child 20000
 * expect-calls: in_grandchild 20000
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

NOINLINE int in_grandchild(int n)
{
	__asm__ volatile("" : "+r"(n));
	return n + 1;
}

int main(void)
{
	int n = 0, status = 0;

	if (fork() == 0) {
		while (n < 20000)
			n = in_child(n);
		if (fork() == 0) {
			for (n = 0; n < 20000;)
				n = in_grandchild(n);
			_exit(n == 20000 ? 3 : 1);
		}
		wait(&status);
		_exit(WEXITSTATUS(status) + 1);
	}
	wait(&status);
	printf("%d\n", WEXITSTATUS(status));
	return 0;
}
