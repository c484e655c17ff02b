/* SPDX-License-Identifier: MIT */
/*
 * A program that is executed with little room for its stack: it runs as it does untraced, and all
 * of its calls are recorded.  Untraced it needs 16 KB, which are spent before main.
 *
 * again: -F work
 * expect-calls: work 270
 */
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define KB_MIN 24
#define KB_MAX 128

static volatile int sum;

__attribute__((noinline)) void work(int n)
{
	sum += n;
}

static int run_with(char *path, unsigned kb)
{
	char *argv[] = { path, "executed", NULL }, *envp[] = { NULL };
	struct rlimit limit;
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		if (getrlimit(RLIMIT_STACK, &limit) < 0)
			_exit(8);
		limit.rlim_cur = kb * 1024;
		if (setrlimit(RLIMIT_STACK, &limit) < 0)
			_exit(9);
		execve(path, argv, envp);
		_exit(10);
	}
	return pid > 0 && waitpid(pid, &status, 0) == pid ? status : -1;
}

int main(int argc, char **argv)
{
	if (argc > 1 && strcmp(argv[1], "executed") == 0) {
		for (int i = 0; i < 10; i++)
			work(i);
		return 0;
	}
	for (unsigned kb = KB_MIN; kb <= KB_MAX; kb += 4)
		printf("%u KB: %d\n", kb, run_with(argv[0], kb));
	return 0;
}
