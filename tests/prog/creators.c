/* SPDX-License-Identifier: MIT */
/*
 * Two threads that make threads at the same time.  tests/roundtrip/fxt_threads.py wants to know
 * each child's maker.
 *
 * expect-calls: creator_a 1
 * expect-calls: creator_b 1
 * expect-calls: child_of_a 40
 * expect-calls: child_of_b 40
 */
#include <pthread.h>
#include <stdio.h>

#define NOINLINE __attribute__((noinline, noclone))
#define CHILDREN 40

static pthread_barrier_t both;

NOINLINE void *child_of_a(void *arg)
{
	__asm__ volatile("" ::: "memory");
	return arg;
}

NOINLINE void *child_of_b(void *arg)
{
	__asm__ volatile("" ::: "memory");
	return arg;
}

static void create(void *(*start)(void *))
{
	pthread_t threads[CHILDREN];

	pthread_barrier_wait(&both);
	for (int i = 0; i < CHILDREN; i++)
		pthread_create(&threads[i], NULL, start, NULL);
	for (int i = 0; i < CHILDREN; i++)
		pthread_join(threads[i], NULL);
}

NOINLINE void *creator_a(void *arg)
{
	create(child_of_a);
	return arg;
}

NOINLINE void *creator_b(void *arg)
{
	create(child_of_b);
	return arg;
}

int main(void)
{
	pthread_t a, b;

	pthread_barrier_init(&both, NULL, 2);
	pthread_create(&a, NULL, creator_a, NULL);
	pthread_create(&b, NULL, creator_b, NULL);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	puts("80");
	return 0;
}
