/* SPDX-License-Identifier: MIT */
/*
 * A program that starts others while it runs, for tests of record -p: each line that it reads, WAY
 * PROGRAM WORD, is done.  It says with which status the other one has ended, and whether its own
 * environment is what it was.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define LINE 4096
#define SLOW_S 3
#define NOINLINE __attribute__((noinline, noclone))

extern char **environ;
static int (*volatile kept_execve)(const char *, char *const[], char *const[]);
static char *own[] = { "OWN=1", "LD_PRELOAD=", NULL };

/* What this calls is in the trace. */
NOINLINE int before_exec(const char *way)
{
	__asm__ volatile("");
	return (int)strlen(way);
}

static void run(const char *way, const char *path, char **argv)
{
	const char *base = strrchr(path, '/') != NULL ? strrchr(path, '/') + 1 : path;
	char *none[] = { NULL };

	if (strcmp(way, "execv") == 0)
		execv(path, argv);
	else if (strcmp(way, "execve") == 0)
		execve(path, argv, environ);
	else if (strcmp(way, "own") == 0)
		execve(path, argv, own);
	else if (strcmp(way, "none") == 0)
		execve(path, argv, none);
	else if (strcmp(way, "null") == 0)
		execve(path, argv, NULL);
	else if (strcmp(way, "execvp") == 0)
		execvp(base, argv);
	else if (strcmp(way, "execvpe") == 0)
		execvpe(base, argv, own);
	else if (strcmp(way, "execl") == 0)
		execl(path, argv[0], argv[1], (char *)NULL);
	else if (strcmp(way, "execlp") == 0)
		execlp(base, argv[0], argv[1], (char *)NULL);
	else if (strcmp(way, "execle") == 0)
		execle(path, argv[0], argv[1], (char *)NULL, own);
	else if (strcmp(way, "fexecve") == 0)
		fexecve(open(path, O_RDONLY | O_CLOEXEC), argv, environ);
	else if (strcmp(way, "execveat") == 0)
		execveat(AT_FDCWD, path, argv, environ, 0);
	else if (strcmp(way, "number") == 0)
		syscall(SYS_execve, path, argv, environ);
	else if (strcmp(way, "kept") == 0)
		kept_execve(path, argv, environ);
	_exit(errno == ENOENT ? 127 : 126);
}

static pid_t start(const char *way, const char *path, char **argv)
{
	static const char vforking[] = "vfork-", slow[] = "slow-";
	const char *base = strrchr(path, '/') + 1;
	pid_t pid = -1;

	if (strcmp(way, "spawn") == 0)
		return posix_spawn(&pid, path, NULL, NULL, argv, environ) == 0 ? pid : -1;
	if (strcmp(way, "spawnp") == 0)
		return posix_spawnp(&pid, base, NULL, NULL, argv, own) == 0 ? pid : -1;
	if (strncmp(way, vforking, strlen(vforking)) == 0) {
		pid = vfork();
		if (pid == 0)
			run(way + strlen(vforking), path, argv);
		return pid;
	}
	pid = fork();
	if (pid == 0 && strncmp(way, slow, strlen(slow)) == 0) {
		before_exec(way);
		puts("forked");
		fflush(stdout);
		sleep(SLOW_S);
		way += strlen(slow);
	}
	if (pid == 0)
		run(way, path, argv);
	return pid;
}

static void *start_in_thread(void *line)
{
	char *way = strtok(line, " "), *path = strtok(NULL, " "), *word = strtok(NULL, " ");
	char *argv[] = { path, word, NULL };
	pid_t pid;
	int status = -1;

	before_exec(way);
	if (strcmp(way, "keep") == 0)
		return (void *)(long)((kept_execve = execve) == NULL);
	if (strcmp(way, "self") == 0)
		run("execv", path, argv);
	if (strcmp(way, "system") == 0)
		return (void *)(long)system(path);
	pid = start(way, path, argv);
	while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return (void *)(long)(pid > 0 && WIFEXITED(status) ? WEXITSTATUS(status) : 255);
}

static unsigned long environ_sum(void)
{
	unsigned long sum = 0;
	char **at, *c;

	for (at = environ; *at != NULL; at++) {
		for (c = *at; *c != '\0'; c++)
			sum = sum * 31 + (unsigned char)*c;
		sum = sum * 31 + (unsigned long)(at - environ);
	}
	return sum;
}

int main(void)
{
	unsigned long sum = environ_sum();
	char line[LINE];

	puts("ready");
	fflush(stdout);
	while (fgets(line, sizeof(line), stdin) != NULL) {
		char *text;
		void *status = NULL;
		pthread_t thread;
		int is_threaded;

		line[strcspn(line, "\n")] = '\0';
		is_threaded = strncmp(line, "thread-", strlen("thread-")) == 0;
		text = line + (is_threaded ? strlen("thread-") : 0);
		if (!is_threaded)
			status = start_in_thread(text);
		else if (pthread_create(&thread, NULL, start_in_thread, text) == 0)
			pthread_join(thread, &status);
		printf("%ld %s\n", (long)status, environ_sum() == sum ? "same" : "changed");
		fflush(stdout);
	}
	return 0;
}
