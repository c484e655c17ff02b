/* SPDX-License-Identifier: MIT */
/*
 * Children of several threads that run in their memory, while each waits for its own.
 *
 * cflags: -pthread
 * again: --no-libcall --estimate-return
 * again: --nest-libcall
 * again: -b 4K
 * expect-calls: in_child 40
 * expect-calls: in_parent 40
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline, noclone))
#define THREADS 4
#define ROUNDS 10

NOINLINE int in_child(int n)
{
	__asm__ volatile("" : "+r"(n));
	return n;
}

NOINLINE int in_parent(int n)
{
	__asm__ volatile("" : "+r"(n));
	return n;
}

NOINLINE int forks(int n)
{
	pid_t pid = vfork();
	int status;

	if (pid == 0)
		_exit(in_child(n));
	waitpid(pid, &status, 0);
	return in_parent(WEXITSTATUS(status));
}

static void *in_thread(void *arg)
{
	long n = (long)arg, sum = 0;

	for (int i = 0; i < ROUNDS; i++)
		sum += forks((int)n + i);
	return (void *)sum;
}

int main(void)
{
	pthread_t threads[THREADS];
	long total = 0;
	void *sum;

	for (long i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, in_thread, (void *)i);
	for (int i = 0; i < THREADS; i++) {
		pthread_join(threads[i], &sum);
		total += (long)sum;
	}
	printf("%ld\n", total);
	return 0;
}
