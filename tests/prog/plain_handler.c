/* SPDX-License-Identifier: MIT */
/* A handler that looks at the stack in the middle of a patched function. */
#include <execinfo.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define NOINLINE __attribute__((noinline, noclone))
static int depth;
static void look(int sig)
{
	void *list[100];

	depth = backtrace(list, 100);
}
NOINLINE int inner(int n) { raise(SIGUSR1); return n + 1; }
NOINLINE int outer(int n) { return inner(n) * 2; }
int main(void)
{
	void *list[2];

	backtrace(list, 2);
	signal(SIGUSR1, look);
	printf("%d\n", outer(3));
	return depth < 3;
}
