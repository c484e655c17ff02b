/* SPDX-License-Identifier: MIT */
/*
 * What libc sets up before main is there: the runtime's constructor runs before libc's own.  The
 * program takes the addresses of functions, which without PIE are those of its PLT.
 *
 * record: --no-randomize-addr
 * again: --nest-libcall
 * again: --estimate-return
 * expect-calls: setlocale 1
 * expect-calls: main 1
 */
#include <errno.h>
#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

extern char **environ;
extern char *program_invocation_name, *program_invocation_short_name;

static int strings(char **list)
{
	int nr = 0;

	while (list != NULL && list[nr] != NULL)
		nr++;
	return nr;
}

static int before_main;

static __attribute__((constructor)) void start(int argc, char **argv, char **envp)
{
	before_main = argc == strings(argv) && envp == environ && getenv("PATH") != NULL &&
		      errno == 0;
}

int main(int argc, char **argv)
{
	pid_t (*volatile get)(void) = getppid;
	int (*volatile run)(const char *, char *const *, char *const *) = execve;
	void (*volatile leave)(int) = exit;
	char *none[] = { NULL };
	int first = errno;

	printf("%d ", first);
	printf("%d %d %d\n", before_main, argc == strings(argv), strings(environ));
	printf("%s %s\n", program_invocation_name, program_invocation_short_name);
	printf("%s\n", setlocale(LC_ALL, ""));
	printf("%s\n", getenv("PATH"));
	printf("%d %d\n", get() == getppid(),
	       run("/nonexistent", none, none) < 0 && errno == ENOENT);
	leave(0);
}
