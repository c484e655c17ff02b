/* SPDX-License-Identifier: MIT */
/*
 * Many children, which find rings made ahead: of threads, of children, of those whose parent has
 * ended; some are killed, and some have more to say than such a ring holds, with handlers that
 * interrupt them, and fork.
 *
 * cflags: -pthread
 * not: cyg-O0 cyg-O2 clang-cyg-O2
 * record: --no-libcall -b 256K
 * again: --no-libcall -b 256K -R in_child@retval,retval/s -R in_much@retval
 * again: --no-libcall -b 4K
 * expect-calls: in_child 150
 * expect-calls: in_much 140000
 * expect-calls: in_thread 80
 * expect-calls: in_killed 100
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline, noclone))
#define UNTRACED __attribute__((no_instrument_function))

static volatile sig_atomic_t handled;
static volatile sig_atomic_t forks_left;

NOINLINE int in_child(const char *text)
{
	__asm__ volatile("" : "+r"(text));
	return text[0];
}

NOINLINE long in_much(long n)
{
	__asm__ volatile("" : "+r"(n));
	return n + 1;
}

/* As much, and a child of a handler may have one of them open. */
NOINLINE long in_between(long n)
{
	__asm__ volatile("" : "+r"(n));
	return n + 1;
}

NOINLINE int in_thread(int n)
{
	__asm__ volatile("" : "+r"(n));
	return n + 1;
}

NOINLINE int in_killed(int n)
{
	__asm__ volatile("" : "+r"(n));
	return n + 1;
}

NOINLINE int in_handler(int n)
{
	__asm__ volatile("" : "+r"(n));
	return n + 1;
}

UNTRACED static void ended(pid_t pid, int wanted)
{
	int status = -1;

	if (pid < 0 || waitpid(pid, &status, 0) != pid || status != wanted)
		printf("a child ended with %#x\n", (unsigned)status);
}

UNTRACED static void few(int nr)
{
	for (int i = 0; i < nr; i++)
		in_child("said by a child, and longer than a unit of a payload has room for");
}

UNTRACED static void much(long nr)
{
	for (long n = 0; n < nr;)
		n = in_much(n);
}

UNTRACED static void child_of_few(int nr)
{
	pid_t pid = fork();

	if (pid == 0) {
		few(nr);
		_exit(0);
	}
	ended(pid, 0);
}

UNTRACED static void child_of_much(void)
{
	pid_t pid = fork();

	if (pid == 0) {
		much(100000);
		child_of_few(2);
		_exit(0);
	}
	ended(pid, 0);
}

UNTRACED static void killed(void)
{
	pid_t pid = fork();

	if (pid == 0) {
		for (int i = 0; i < 10; i++)
			in_killed(i);
		kill(getpid(), SIGKILL);
	}
	ended(pid, SIGKILL);
}

/* Also in the middle of a hook: there the child goes on in it, with a ring of its own. */
static void handler(int signal)
{
	pid_t pid;

	(void)signal;
	handled = in_handler(handled);
	if (forks_left == 0)
		return;
	forks_left--;
	pid = fork();
	if (pid == 0) {
		few(1);
		_exit(0);
	}
	ended(pid, 0);
}

UNTRACED static void child_interrupted(int forks)
{
	struct itimerval often = { { 0, 300 }, { 0, 300 } }, never = { 0 };
	pid_t pid = fork();

	if (pid == 0) {
		struct sigaction action = { .sa_handler = handler, .sa_flags = SA_RESTART };

		forks_left = forks;
		sigaction(SIGALRM, &action, NULL);
		setitimer(ITIMER_REAL, &often, NULL);
		for (long n = 0; n < 100000 || forks_left > 0;)
			n = in_between(n);
		setitimer(ITIMER_REAL, &never, NULL);
		_exit(0);
	}
	ended(pid, 0);
}

UNTRACED static void *thread(void *arg)
{
	for (int i = 0; i < 10; i++)
		in_thread(i);
	return arg;
}

UNTRACED static void threads(int nr)
{
	pthread_t id;

	for (int i = 0; i < nr; i++) {
		pthread_create(&id, NULL, thread, NULL);
		pthread_join(id, NULL);
	}
}

/* A child of a thread has that one's stack, and threads of its own, one in the ring of another. */
UNTRACED static void *forking_thread(void *arg)
{
	pid_t pid;

	thread(NULL);
	pid = fork();
	if (pid == 0) {
		few(4);
		threads(3);
		_exit(0);
	}
	ended(pid, 0);
	return arg;
}

UNTRACED static void thread_forks(void)
{
	pthread_t id;

	for (int i = 0; i < 2; i++) {
		pthread_create(&id, NULL, forking_thread, NULL);
		pthread_join(id, NULL);
	}
}

/* Its parent ends at once, and with it what that had asked for. */
UNTRACED static void orphan(void)
{
	int ends[2];
	char byte;
	pid_t pid;

	if (pipe(ends) < 0)
		abort();
	pid = fork();
	if (pid == 0) {
		for (int i = 0; i < 4; i++)
			child_of_few(1);
		if (fork() == 0) {
			close(ends[0]);
			usleep(50000);
			for (int i = 0; i < 8; i++)
				child_of_few(1);
			much(40000);
			_exit(0);
		}
		few(2);
		_exit(0);
	}
	ended(pid, 0);
	close(ends[1]);
	if (read(ends[0], &byte, 1) != 0)
		abort();
	close(ends[0]);
}

int main(void)
{
	setvbuf(stdout, NULL, _IONBF, 0);
	for (int i = 0; i < 40; i++)
		child_of_few(3);
	for (int i = 0; i < 10; i++)
		killed();
	child_of_much();
	child_interrupted(0);
	child_interrupted(6);
	thread_forks();
	orphan();
	puts("done");
	return 0;
}
