/* SPDX-License-Identifier: MIT */
/*
 * Threads that start within a limit of data that the program sets itself, with 4 MB to spare: what
 * the runtime needs for each of them, and had before the limit was there, does not count.
 *
 * not: clang-xray-O2
 * cflags: -pthread
 * expect-calls: in_thread 6
 */
#include <pthread.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline, noclone))
#ifndef THREADS
#define THREADS 6
#endif
#define STACK_BYTES (8ul << 20)

static pthread_barrier_t all_alive;

NOINLINE int in_thread(int n)
{
	__asm__ volatile("" : "+r"(n));
	return n;
}

static void *run(void *arg)
{
	in_thread(1);
	pthread_barrier_wait(&all_alive);
	return arg;
}

int main(void)
{
	struct rlimit limit = { THREADS * STACK_BYTES + (4ul << 20),
				THREADS * STACK_BYTES + (4ul << 20) };
	pthread_t threads[THREADS];
	pthread_attr_t attr;
	int i, ret = 0;

	setrlimit(RLIMIT_DATA, &limit);
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK_BYTES);
	pthread_barrier_init(&all_alive, NULL, THREADS);
	for (i = 0; i < THREADS && ret == 0; i++)
		ret = pthread_create(&threads[i], &attr, run, NULL);
	printf("%d threads\n", i);
	fflush(stdout);
	if (ret != 0)
		_exit(ret);
	for (i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
