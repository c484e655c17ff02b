/* SPDX-License-Identifier: MIT */
/*
 * Two threads and a forked child that make enough calls for an index, with much of what makes
 * reading from the middle hard: they are deep in calls that began long before, jump out of them,
 * sleep, and the child begins in calls of its parent and returns from them.
 *
 * expect-calls: story 3
 * expect-calls: step 27000
 * expect-calls: leaf 27000
 * expect-calls: leaper 9
 * expect-calls: dive 9
 * expect-calls: outer 1
 */
#include <pthread.h>
#include <setjmp.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline, noclone))
#define STEPS 9000

NOINLINE long leaf(long n)
{
	__asm__ volatile("" : "+r"(n));
	return n + 1;
}

NOINLINE long step(long n)
{
	n = leaf(n);
	__asm__ volatile("" : "+r"(n));
	return n;
}

NOINLINE void leaper(jmp_buf *to)
{
	__asm__ volatile("" : "+r"(to));
	longjmp(*to, 1);
}

/* Left by a jump. */
NOINLINE void dive(jmp_buf *to)
{
	leaper(to);
	__asm__ volatile("");
}

NOINLINE long story(long id)
{
	volatile long n = 0;

	while (n < STEPS) {
		jmp_buf out;

		n = step(n);
		if (n % 1000 == 0)
			usleep(200);
		if (n % 3000 == 1000 && setjmp(out) == 0)
			dive(&out);
	}
	__asm__ volatile("" : "+r"(id));
	return n;
}

static void *start(void *arg)
{
	return (void *)story((long)arg);
}

NOINLINE int outer(void)
{
	int pid = fork();

	if (pid == 0)
		return 1;
	waitpid(pid, NULL, 0);
	return 0;
}

int main(void)
{
	pthread_t threads[2];
	long i;

	for (i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, start, (void *)i);
	for (i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	if (outer() == 1) {
		story(2);
		_exit(0);
	}
	puts("told");
	return 0;
}
