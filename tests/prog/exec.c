/* SPDX-License-Identifier: MIT */
/*
 * exec of an instrumented program, from the first task and from a child.
 *
 * again: --no-libcall --estimate-return
 * expect-calls: before_exec 1
 * expect-calls: after_exec 2
 * expect-calls: main 3
 */
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline, noclone))

NOINLINE void before_exec(void)
{
	__asm__ volatile("");
}

NOINLINE int after_exec(const char *word)
{
	puts(word);
	return (int)strlen(word);
}

int main(int argc, char **argv)
{
	pid_t pid;

	if (argc > 1)
		return after_exec(argv[1]) == 0;
	before_exec();
	pid = fork();
	if (pid == 0)
		execl("/proc/self/exe", argv[0], "child", (char *)NULL);
	waitpid(pid, NULL, 0);
	execl("/proc/self/exe", argv[0], "self", (char *)NULL);
	return 1;
}
