/* SPDX-License-Identifier: MIT */
/* Threads go through patched entries of the program while others load, run and unload libraries. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#ifndef ROUNDS
#define ROUNDS 20
#endif
static atomic_int stop;
static atomic_long calls;

__attribute__((noinline)) int work(int n)
{
	__asm__ volatile("" : "+r"(n));
	return n + 1;
}

static void *run(void *arg)
{
	long n = 0;

	do {
		work(1);
		n++;
	} while (!stop);
	calls += n;
	return arg;
}

__attribute__((noinline)) int use(const char *path, const char *name)
{
	void *library = dlopen(path, RTLD_NOW);
	int (*fn)(int) = library ? (int (*)(int))dlsym(library, name) : NULL;
	int ret = fn ? fn(1) : -1;

	if (library)
		dlclose(library);
	return ret;
}

int main(void)
{
	pthread_t threads[3];
	int i, sum = 0;

	for (i = 0; i < 3; i++)
		pthread_create(&threads[i], NULL, run, NULL);
	for (i = 0; i < ROUNDS; i++)
		sum += use("./libone.so", "one_run") + use("./libtwo.so", "two_run");
	stop = 1;
	for (i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	printf("%d\n", sum);
	fprintf(stderr, "%ld\n", calls > 0 ? 1L : 0L);
	return 0;
}
