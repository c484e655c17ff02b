/* SPDX-License-Identifier: MIT */
/*
 * Thousands of threads at a time: all of 5,000 are recorded, and more start as they do untraced.
 *
 * cflags: -pthread
 * only: pg-O2 cyg-O2
 * args: 5000
 * expect-calls: leaf 10000
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define NOINLINE __attribute__((noinline))

static pthread_barrier_t barrier;

NOINLINE int leaf(int n)
{
	__asm__ volatile("" : "+r"(n));
	return n;
}

NOINLINE void *run(void *arg)
{
	leaf(1);
	pthread_barrier_wait(&barrier);
	leaf(2);
	return arg;
}

int main(int argc, char **argv)
{
	size_t nr = argc > 1 ? (size_t)atol(argv[1]) : 1, i, started = 0;
	pthread_t *threads = calloc(nr, sizeof(*threads));
	pthread_attr_t attr;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 64 << 10);
	pthread_barrier_init(&barrier, NULL, (unsigned)nr);
	for (i = 0; i < nr; i++)
		started += pthread_create(&threads[i], &attr, run, NULL) == 0;
	if (started != nr) {
		printf("started %zu of %zu\n", started, nr);
		exit(1);
	}
	for (i = 0; i < nr; i++)
		pthread_join(threads[i], NULL);
	free(threads);
	puts("ended");
	return 0;
}
