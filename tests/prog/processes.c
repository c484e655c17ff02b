/* SPDX-License-Identifier: MIT */
/*
 * Every way to make a process and to run a program in it, also after the environment is gone.
 *
 * expect-calls: main 10
 * expect-calls: in_child 8
 * expect-warning: not recorded: thread-local storage was shared
 * expect-calls: in_new_image 9
 */
#define _GNU_SOURCE
#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline, noclone))
#define SELF "/proc/self/exe"

static char path[4096];			/* of this program, for shells */

NOINLINE int in_child(int n)
{
	__asm__ volatile("" : "+r"(n));
	return n;
}

NOINLINE int in_new_image(const char *word)
{
	puts(word);
	fflush(stdout);
	return (int)strlen(word);
}

static void say_end(const char *what)
{
	int status = -1;

	wait(&status);
	printf("%s: %x\n", what, (unsigned)status);
	fflush(stdout);
}

static int cloned(void *arg)
{
	_exit(in_child((int)(long)arg));
}

static void by_fork(void)
{
	static char stack[1 << 16] __attribute__((aligned(16)));
	struct clone_args args = { .exit_signal = SIGCHLD };

	if (fork() == 0)
		_exit(in_child(1));
	say_end("fork");
	if (syscall(SYS_fork) == 0)
		_exit(in_child(2));
	say_end("raw fork");
	if (syscall(SYS_clone3, &args, sizeof(args)) == 0)
		_exit(in_child(3));
	say_end("raw clone3");
	clone(cloned, stack + sizeof(stack), SIGCHLD, (void *)4L);
	say_end("clone");
	clone(cloned, stack + sizeof(stack), CLONE_VM | CLONE_VFORK | SIGCHLD, (void *)5L);
	say_end("clone, memory shared, parent waits");
	if (fork() == 0) {		/* and once more: its parent is init or who stands for it */
		int fds[2];
		char byte;

		(void)!pipe(fds);
		if (fork() == 0) {
			(void)!write(fds[1], "", in_child(6) == 6);
			_exit(0);
		}
		close(fds[1]);
		(void)!read(fds[0], &byte, 1);
		_exit(in_child(7));
	}
	say_end("double fork");
}

static volatile int is_cloned;

static int cloned_beside(void *arg)
{
	long sum = 0;

	is_cloned = 1;
	for (int i = 0; i < 100000; i++)
		sum += in_child(i);
	_exit(sum != 4999950000);
}

/* Both run at the same time with one thread-local storage: they are left alone. */
static void by_shared_memory(void)
{
	static char stack[1 << 16] __attribute__((aligned(16)));
	long sum = 0;

	if (fork() == 0) {
		in_child(8);
		clone(cloned_beside, stack + sizeof(stack), CLONE_VM | SIGCHLD, NULL);
		while (!is_cloned)
			;
		for (int i = 0; i < 100000; i++)
			sum += in_child(i);
		say_end("clone, memory shared");
		_exit(sum != 4999950000);
	}
	say_end("with it");
}

static void by_vfork(void)
{
	if (vfork() == 0) {
		execl(SELF, path, "vfork", (char *)NULL);
		_exit(99);
	}
	say_end("vfork");
}

static void by_spawn(const char *word)
{
	char *args[] = { path, (char *)word, NULL };
	char *none[] = { NULL };
	pid_t pid;

	posix_spawn(&pid, SELF, NULL, NULL, args, none);
	say_end("spawn");
	posix_spawnp(&pid, path, NULL, NULL, args, environ);
	say_end("spawnp");
}

static void by_shell(const char *word)
{
	char command[5000], line[64] = "";
	FILE *pipe;

	snprintf(command, sizeof(command), "%s '%s, by system'", path, word);
	printf("system: %x\n", (unsigned)system(command));
	fflush(stdout);
	snprintf(command, sizeof(command), "%s '%s, by popen'", path, word);
	pipe = popen(command, "r");
	if (pipe != NULL && fgets(line, sizeof(line), pipe) != NULL)
		printf("popen: %s", line);
	printf("popen: %x\n", (unsigned)pclose(pipe));
	fflush(stdout);
}

int main(int argc, char **argv)
{
	if (argc > 1)
		return in_new_image(argv[1]) & 31;
	(void)!readlink(SELF, path, sizeof(path) - 1);
	by_fork();
	by_shared_memory();
	by_vfork();
	by_spawn("spawned");
	by_shell("as it is");
	clearenv();
	by_shell("cleared");
	setenv("OTHER", "value", 1);
	by_shell("other");
	printf("%s %s\n", getenv("LD_PRELOAD") != NULL ? "there" : "gone", getenv("OTHER"));
	return 0;
}
