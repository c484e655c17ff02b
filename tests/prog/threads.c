/* SPDX-License-Identifier: MIT */
/*
 * Threads that run at the same time, and more threads one after another than rings.
 *
 * again: --no-libcall --estimate-return
 * again: --nest-libcall
 * expect-calls: work 4000
 * expect-calls: brief 64
 * expect-calls: start_work 4
 * expect-calls: start_brief 64
 */
#include <pthread.h>
#include <stdio.h>

#define NOINLINE __attribute__((noinline, noclone))

NOINLINE long work(long n)
{
	__asm__ volatile("" : "+r"(n));
	return n + 1;
}

NOINLINE long brief(long n)
{
	__asm__ volatile("" : "+r"(n));
	return n * 2;
}

static void *start_work(void *arg)
{
	long sum = (long)arg;

	for (int i = 0; i < 1000; i++)
		sum = work(sum);
	return (void *)sum;
}

static void *start_brief(void *arg)
{
	return (void *)brief((long)arg);
}

int main(void)
{
	pthread_t threads[4], thread;
	long total = 0;
	void *ret;

	for (long i = 0; i < 4; i++)
		pthread_create(&threads[i], NULL, start_work, (void *)i);
	for (int i = 0; i < 4; i++) {
		pthread_join(threads[i], &ret);
		total += (long)ret;
	}
	for (long i = 0; i < 64; i++) {
		pthread_create(&thread, NULL, start_brief, (void *)i);
		pthread_join(thread, &ret);
		total += (long)ret;
	}
	printf("%ld\n", total);
	return 0;
}
