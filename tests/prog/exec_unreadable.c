/* SPDX-License-Identifier: MIT */
/*
 * What exec and its kin are given may be no memory, or end where memory ends: they fail as they do
 * untraced, and what is readable to its last byte is run.
 *
 * only: pg-O2 cyg-O2
 * expect-calls: fails 36
 * expect-calls: runs 4
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline, noclone))
#define FILE_NAME "/bin/true"
#define NOWHERE ((void *)8)

static char *args[] = { "true", NULL };
static char *no_environment[] = { NULL };
static char *page;	/* behind which there is no memory */
static size_t page_bytes;

struct given {
	const char *path;
	char **argv, **envp;
};

enum way { EXECVE, EXECVEAT, EXECVEAT_FROM, FEXECVE, SPAWN, WAYS };

/* The error. */
static int start(enum way way, const struct given *given)
{
	int dir = open("/bin", O_RDONLY | O_DIRECTORY), file = open(FILE_NAME, O_RDONLY), ret;
	pid_t pid;

	switch (way) {
	case EXECVE: execve(given->path, given->argv, given->envp); break;
	case EXECVEAT: execveat(AT_FDCWD, given->path, given->argv, given->envp, 0); break;
	case EXECVEAT_FROM: execveat(dir, given->path, given->argv, given->envp, 0); break;
	case FEXECVE: fexecve(file, given->argv, given->envp); break;
	default: errno = posix_spawn(&pid, given->path, NULL, NULL, given->argv, given->envp);
	}
	ret = errno;
	close(dir);
	close(file);
	return ret;
}

NOINLINE void fails(int line, enum way way, struct given given)
{
	int ret = start(way, &given);

	if (ret != EFAULT) {
		printf("line %d, way %d: %s\n", line, way, strerror(ret));
		exit(1);
	}
}

NOINLINE void runs(enum way way, struct given given)
{
	pid_t pid = fork();
	int status;

	if (pid == 0) {
		start(way, &given);
		_exit(7);
	}
	if (waitpid(pid, &status, 0) != pid || status != 0) {
		printf("way %d: %#x\n", way, status);
		exit(1);
	}
}

/* @text at the end of the page, with @bytes of it. */
static char *at_end(const char *text, size_t bytes)
{
	return memcpy(page + page_bytes - bytes, text, bytes);
}

static char **list_at_end(char **list, size_t nr)
{
	return memcpy(page + page_bytes - nr * sizeof(*list), list, nr * sizeof(*list));
}

#define FAILS(way, ...) fails(__LINE__, way, (struct given){ __VA_ARGS__ })

int main(void)
{
	char *nowhere[] = { NOWHERE, NULL }, *late[] = { "ONE=1", NOWHERE, NULL };
	char *many[] = { "ONE=1", "TWO=2", NULL };
	enum way way;

	page_bytes = (size_t)sysconf(_SC_PAGESIZE);
	page = mmap(NULL, 2 * page_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
		    0);
	munmap(page + page_bytes, page_bytes);
	for (way = EXECVE; way < WAYS; way++) {
		if (way != FEXECVE) {
			FAILS(way, NULL, args, no_environment);
			FAILS(way, NOWHERE, args, no_environment);
			FAILS(way, at_end(FILE_NAME, strlen(FILE_NAME)), args, no_environment);
		}
		if (way != SPAWN)	/* libc counts them */
			FAILS(way, FILE_NAME, NOWHERE, no_environment);
		FAILS(way, FILE_NAME, args, NOWHERE);
		FAILS(way, FILE_NAME, args, nowhere);
		FAILS(way, FILE_NAME, args, late);
		FAILS(way, FILE_NAME, args, list_at_end(many, 2));
	}
	if (system(NOWHERE) != 127 << 8 || popen(NOWHERE, "r") != NULL)
		return 1;
	if (prctl(PR_SET_NAME, NOWHERE) != -1 || errno != EFAULT ||
	    sigaltstack(NOWHERE, NULL) != -1 || errno != EFAULT)
		return 1;
	for (way = EXECVE; way < WAYS - 1; way++) {
		many[1] = at_end("TWO=2", sizeof("TWO=2"));
		runs(way, (struct given){ FILE_NAME, args, many });
	}
	return 0;
}
