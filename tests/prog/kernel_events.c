/* SPDX-License-Identifier: MIT */
/*
 * A program whose system calls the kernel's events tell of.  kernel_events MODE N: ask N times, in
 * one task, or in N threads or child processes, or ask and wait to be killed.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline, noclone))

/* One call, one event sys_enter_getsid. */
NOINLINE int ask(void)
{
	return syscall(SYS_getsid, 0) >= 0;
}

static void *thread(void *arg)
{
	ask();
	return arg;
}

static void threads(int n)
{
	pthread_t ids[n];

	for (int i = 0; i < n; i++)
		pthread_create(&ids[i], NULL, thread, NULL);
	for (int i = 0; i < n; i++)
		pthread_join(ids[i], NULL);
}

static void children(int n)
{
	for (int i = 0; i < n; i++) {
		if (fork() == 0) {
			ask();
			exit(0);
		}
	}
	while (wait(NULL) > 0)
		;
}

int main(int argc, char **argv)
{
	int n = argc > 2 ? atoi(argv[2]) : 1;

	if (argc < 2)
		return 2;
	if (strcmp(argv[1], "threads") == 0)
		threads(n);
	else if (strcmp(argv[1], "children") == 0)
		children(n);
	else
		for (int i = 0; i < n; i++)
			ask();
	if (strcmp(argv[1], "wait") == 0) {
		puts("ready");
		fflush(stdout);
		pause();
	}
	return 0;
}
