/* SPDX-License-Identifier: MIT */
/*
 * Threads that end in every way: they return, are detached, exit in nested calls, are cancelled
 * while traced calls are open; and what runs after them: destructors of their data, which call
 * traced functions.
 *
 * again: --no-libcall --estimate-return
 * again: --nest-libcall
 * expect-calls: start_exit 8
 * expect-calls: deep 64
 * expect-calls: start_cancelled 8
 * expect-calls: blocked 8
 * expect-calls: cleanup 8
 * expect-calls: start_detached 8
 * expect-calls: start_with_data 8
 * expect-calls: key_destructor 24
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline, noclone))
#define NR 8

static sem_t ready;
static pthread_key_t key;
static long sum;

NOINLINE int deep(int n)
{
	int ret = 0;

	if (n == 0)
		pthread_exit((void *)7L);
	ret = deep(n - 1) + 1;
	__asm__ volatile("" : "+r"(ret));
	return ret;
}

NOINLINE void *start_exit(void *arg)
{
	return (void *)(long)(deep(7) + (long)arg);
}

NOINLINE void cleanup(void *arg)
{
	__atomic_fetch_add(&sum, (long)arg, __ATOMIC_RELAXED);
}

NOINLINE void blocked(void)
{
	sem_post(&ready);
	for (;;)
		pause();
}

NOINLINE void *start_cancelled(void *arg)
{
	pthread_cleanup_push(cleanup, (void *)100L);
	blocked();
	pthread_cleanup_pop(0);
	return arg;
}

NOINLINE void *start_detached(void *arg)
{
	__atomic_fetch_add(&sum, 1, __ATOMIC_RELAXED);
	sem_post(&ready);
	return arg;
}

/* Sets the data anew twice: it is called again. */
NOINLINE void key_destructor(void *data)
{
	__atomic_fetch_add(&sum, 10000, __ATOMIC_RELAXED);
	if ((long)data > 1)
		pthread_setspecific(key, (void *)((long)data - 1));
}

NOINLINE void *start_with_data(void *arg)
{
	pthread_setspecific(key, (void *)3L);
	return arg;
}

int main(void)
{
	pthread_attr_t detached, small;
	pthread_t thread;
	void *ret;

	sem_init(&ready, 0, 0);
	pthread_key_create(&key, key_destructor);
	pthread_attr_init(&detached);
	pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
	pthread_attr_init(&small);
	pthread_attr_setstacksize(&small, 16384);
	for (long i = 0; i < NR; i++) {
		pthread_create(&thread, &small, start_exit, (void *)i);
		pthread_join(thread, &ret);
		sum += (long)ret * 1000000;
		pthread_create(&thread, NULL, start_cancelled, (void *)i);
		sem_wait(&ready);
		pthread_cancel(thread);
		pthread_join(thread, &ret);
		sum += (ret == PTHREAD_CANCELED) * 100000000;
		pthread_create(&thread, NULL, start_with_data, (void *)i);
		pthread_join(thread, &ret);
		pthread_create(&thread, &detached, start_detached, (void *)i);
		sem_wait(&ready);
	}
	printf("%ld\n", sum);
	pthread_exit(NULL);	/* the detached ones may still be ending */
}
