/* SPDX-License-Identifier: MIT */
/*
 * exec takes as many bytes of arguments as it does untraced, to the last 8 of them.
 *
 * only: pg-O2 cyg-O2
 * expect-calls: start 102
 * expect-warning: leave no room for ftr's; what it starts runs untraced; raise ulimit -s
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline, noclone))
#define FILE_NAME "/bin/true"
#define ARG_BYTES 1000u
#define TOO_MANY_BYTES (1u << 20)
#define STEP_BYTES 8u

static char *args[TOO_MANY_BYTES / ARG_BYTES + 3];
static char *no_environment[] = { NULL };

static void args_make(size_t bytes)
{
	size_t nr = 0;

	args[nr++] = strdup("true");
	for (; bytes > 0; bytes -= bytes < ARG_BYTES ? bytes : ARG_BYTES) {
		size_t len = bytes < ARG_BYTES ? bytes : ARG_BYTES;

		args[nr] = memset(malloc(len), 'x', len);
		args[nr++][len - 1] = '\0';
	}
	args[nr] = NULL;
}

/* The error; 0 = it was started. */
NOINLINE int start(int way)
{
	pid_t pid;
	int ret;

	switch (way) {
	case 0: execve(FILE_NAME, args, no_environment); return errno;
	case 1: execvpe("true", args, no_environment); return errno;
	case 2: fexecve(open(FILE_NAME, O_RDONLY), args, no_environment); return errno;
	case 3: execveat(AT_FDCWD, FILE_NAME, args, no_environment, 0); return errno;
	case 4: ret = posix_spawn(&pid, FILE_NAME, NULL, NULL, args, no_environment); break;
	default: ret = posix_spawnp(&pid, "true", NULL, NULL, args, no_environment);
	}
	return ret;
}

#define WAYS 6

static int error_of(int way, size_t bytes)
{
	int status = 0;

	if (fork() == 0) {
		args_make(bytes);
		_exit(start(way));
	}
	wait(&status);
	return WEXITSTATUS(status);
}

int main(void)
{
	struct rlimit limit = { 512 << 10, 512 << 10 };

	setrlimit(RLIMIT_STACK, &limit);
	for (int way = 0; way < WAYS; way++) {
		size_t fits = 0, too_many = TOO_MANY_BYTES, tries = 0;

		while (too_many - fits > STEP_BYTES) {
			size_t bytes = (fits + too_many) / 2;
			int error = error_of(way, bytes);

			if (error == 0)
				fits = bytes;
			else
				too_many = bytes;
			if (error != 0 && error != E2BIG)
				printf("error %d\n", error);
			tries++;
		}
		printf("%d: %zu bytes, %zu tries\n", way, fits, tries);
		fflush(stdout);
	}
	return 0;
}
