/* SPDX-License-Identifier: MIT */
/* A library without _init is seen when one of its functions is asked for. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

static void *run(void *arg)
{
	pause();
	return arg;
}

int main(int argc, char **argv)
{
	pthread_t thread;
	void *library;
	int (*fn)(int);

	if (argc > 1)
		pthread_create(&thread, NULL, run, NULL);
	library = dlopen("./libone.so", RTLD_NOW);
	fn = library ? (int (*)(int))dlsym(library, "one_run") : NULL;
	printf("%d\n", fn ? fn(1) : -1);
	return 0;
}
