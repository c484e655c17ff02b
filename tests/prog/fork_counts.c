/* SPDX-License-Identifier: MIT */
/*
 * Each call counts once, however many children were forked in it, and however these leave it: by
 * _exit, exit, exec, a return or a jump to what their parent called.
 *
 * again: --no-libcall --estimate-return
 * expect-calls: main 1
 * expect-calls: work 10
 * expect-calls: leaf 22
 */
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline, noclone))

static jmp_buf top;

NOINLINE void leaf(void)
{
	__asm__ volatile("");
}

NOINLINE int leave(int how)
{
	leaf();
	switch (how) {
	case 0: _exit(0);
	case 1: exit(0);
	case 2: execl("/bin/true", "true", (char *)NULL); _exit(1);
	case 3: longjmp(top, 1);
	default: leaf(); return 1;
	}
}

/* 1 in a child that returns. */
NOINLINE int work(int how)
{
	int status = -1;
	pid_t pid;

	leaf();
	pid = fork();
	if (pid == 0)
		return leave(how);
	waitpid(pid, &status, 0);
	return status == 0 ? 0 : 2;
}

int main(void)
{
	int i, ret;

	if (setjmp(top) != 0)
		return 0;
	for (i = 0; i < 10; i++) {
		ret = work(i % 5);
		if (ret != 0)
			return ret - 1;
	}
	return 0;
}
