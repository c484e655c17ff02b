/* SPDX-License-Identifier: MIT */
/*
 * New images are traced also when the program hands on an environment of its own, or none.
 *
 * expect-calls: in_new_image 8
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <limits.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <wordexp.h>

#define SELF "/proc/self/exe"

__attribute__((noinline, noclone)) int in_new_image(const char *word)
{
	puts(word);
	fflush(stdout);
	return 0;
}

static void by_shell(const char *program)
{
	char command[PATH_MAX];
	wordexp_t words;

	snprintf(command, sizeof(command), "$(%s word)", program);
	if (wordexp(command, &words, 0) == 0)
		puts(words.we_wordv[0]);
	wordfree(&words);
}

int main(int argc, char **argv)
{
	char *none[] = { NULL };
	char *other[] = { "LD_PRELOAD=", "A=b", NULL };
	char *args[] = { argv[0], "by vector", NULL };
	pid_t pid;

	if (argc > 1)
		return in_new_image(argv[1]);
	if (fork() == 0)
		execve(SELF, args, none);
	wait(NULL);
	if (fork() == 0)
		execle(SELF, argv[0], "by list", (char *)NULL, other);
	wait(NULL);
	if (vfork() == 0)
		execve(SELF, args, NULL);
	wait(NULL);
	if (fork() == 0)
		syscall(SYS_execve, SELF, args, none);
	wait(NULL);
	if (fork() == 0)
		syscall(SYS_execveat, AT_FDCWD, SELF, args, other, 0);
	wait(NULL);
	posix_spawn(&pid, SELF, NULL, NULL, args, none);
	wait(NULL);
	by_shell(argv[0]);
	clearenv();
	if (fork() == 0)
		execlp(SELF, argv[0], "by name", (char *)NULL);
	wait(NULL);
	return 0;
}
