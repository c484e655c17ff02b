/* SPDX-License-Identifier: MIT */
/*
 * A program that is attached to while a child of vfork runs in one of its threads: the child makes
 * calls at SIGUSR1, and starts another program.  It ends at SIGTERM with "wrong N", the number of
 * results of the parent that are not what they have to be.
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define CALLS 20

static int told[2];
static volatile sig_atomic_t is_over;
static unsigned wrong;

__attribute__((noinline)) static int child_call(int n)
{
	__asm__ volatile("" ::: "memory");
	return n == 0 ? abs(-1) : child_call(n - 1) + 1;
}

__attribute__((noinline)) static int parent_call(int n)
{
	__asm__ volatile("" ::: "memory");
	return n == 0 ? abs(-2) : parent_call(n - 1) + 1;
}

static void child_run(void)
{
	char told_byte;

	while (read(told[0], &told_byte, 1) != 1)
		;
	for (int i = 0; i < CALLS; i++)
		child_call(i);
	execl("/bin/true", "true", (char *)NULL);
	_exit(1);
}

static void *parent_run(void *arg)
{
	pid_t child = vfork();
	int status = 1;

	if (child == 0)
		child_run();
	wrong += child <= 0 || waitpid(child, &status, 0) != child || status != 0;
	puts("done");
	fflush(stdout);
	for (; !is_over; usleep(1000))
		wrong += parent_call(CALLS) != CALLS + 2;
	return arg;
}

static void on_usr1(int signo)
{
	wrong += write(told[1], "x", 1) != 1;
}

static void on_term(int signo)
{
	is_over = 1;
}

int main(void)
{
	struct sigaction usr1 = { .sa_handler = on_usr1 }, term = { .sa_handler = on_term };
	pthread_t thread;
	sigset_t set, old;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigaddset(&set, SIGTERM);
	sigaction(SIGUSR1, &usr1, NULL);
	sigaction(SIGTERM, &term, NULL);
	if (pipe(told) < 0)
		return 1;
	pthread_sigmask(SIG_BLOCK, &set, &old);		/* the main thread gets them */
	pthread_create(&thread, NULL, parent_run, NULL);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	puts("ready");
	fflush(stdout);
	while (!is_over)
		pause();
	pthread_join(thread, NULL);
	printf("wrong %u\n", wrong);
	return wrong != 0;
}
