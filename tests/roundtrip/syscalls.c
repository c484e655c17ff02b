/* SPDX-License-Identifier: MIT */
/*
 * Observed system calls: in calls of functions, in a thread, in a child, and in programs that are
 * not traced.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* What fails is to fail. */
__attribute__((noinline)) int files(const char *name)
{
	int pipes[2], sum, fd = open(name, O_RDWR | O_CREAT, 0644);

	sum = close(dup(fd)) + close(fd);
	sum += rename(name, "a \"name\" of its own");
	sum += link("a \"name\" of its own", "two\nlines");
	sum += unlink("two\nlines") + unlink("a \"name\" of its own");
	sum += symlink("nowhere", name) + open(name, O_RDONLY) + unlink(name);
	sum += rename("nowhere", "anywhere") + open("nowhere", O_RDONLY | O_DIRECTORY);
	sum += pipe(pipes) + close(pipes[0]) + close(pipes[1]);
	return sum;
}

static void *start(void *arg)
{
	prctl(PR_SET_NAME, "helper");
	return (void *)(long)files(arg);
}

int main(void)
{
	pthread_t thread;
	int status;
	pid_t child;

	files("first");
	if (pthread_create(&thread, NULL, start, "second") == 0)
		pthread_join(thread, NULL);
	child = fork();
	if (child == 0) {
		files("third");
		execl("/bin/sh", "sh", "-c", ": an argument; exit 3", (char *)NULL);
		_exit(127);
	}
	waitpid(child, &status, 0);
	return system("true") != 0;
}
