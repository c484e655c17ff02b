/* SPDX-License-Identifier: MIT */
/* One that was found in use is shown again when others come and go, and is not patched then either.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>

static int (*volatile one)(int);
static volatile int stop;

static void *run(void *arg)
{
	while (!stop)
		one(1);
	return arg;
}

static void *wait_for(void *arg)
{
	while (one == NULL && !stop)
		sched_yield();
	return run(arg);
}

int main(void)
{
	pthread_t threads[2];
	int i, sum = 0;

	/* With another thread there, and without an _init: too late. */
	pthread_create(&threads[0], NULL, wait_for, NULL);
	one = (int (*)(int))dlsym(dlopen("./libone.so", RTLD_NOW), "one_run");
	pthread_create(&threads[1], NULL, run, NULL);
	for (i = 0; i < 30; i++) {
		void *other = dlopen("./libtwo.so", RTLD_NOW);
		int (*two)(int) = (int (*)(int))dlsym(other, "two_run");

		sum += two(1);
		dlclose(other);
	}
	stop = 1;
	for (i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	printf("%d\n", sum);
	return 0;
}
