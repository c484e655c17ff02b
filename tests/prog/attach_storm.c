/* SPDX-License-Identifier: MIT */
/*
 * A program that opens and closes libraries (attach_library.c) all the time: attach_storm PATH...
 * Threads open them in turn, so that one comes to lie where another one was, call them, and look
 * for what is not there.  It ends at SIGTERM with "wrong N".
 */
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define THREADS 4
#define CALLS 50

typedef long call_fn(long x);

/* For constructors of libraries. */
call_fn *stored_call;

static char **paths;
static _Atomic unsigned long wrong;
static volatile sig_atomic_t is_over;

static void check(int is_right)
{
	wrong += !is_right;
}

static void library_use(const char *path)
{
	void *library = dlopen(path, RTLD_NOW), *found;
	call_fn *call;

	check(library != NULL);
	if (library == NULL)
		return;
	found = dlsym(library, "library_call");
	call = (call_fn *)found;
	for (int i = 0; i < CALLS && call != NULL; i++)
		check(call(3) == (33 ^ 26));
	check(call != NULL && dlsym(library, "no_such_call") == NULL);
	check(strstr(dlerror(), "no_such_call") != NULL);
	dlclose(library);
}

static void *use_main(void *arg)
{
	size_t nr = 0, at = (size_t)arg;

	while (paths[nr] != NULL)
		nr++;
	for (; !is_over; usleep(100 * (unsigned)(at % 7)))
		library_use(paths[at++ % nr]);
	return NULL;
}

/* What says why is not lost on the way. */
static void *fail_main(void *arg)
{
	for (; !is_over; usleep(300)) {
		const char *error;

		check(dlopen("/no/such/library", RTLD_NOW) == NULL);
		error = dlerror();
		check(error != NULL && strstr(error, "/no/such/library") != NULL);
		check(dlerror() == NULL && dlsym(RTLD_DEFAULT, "getpid") != NULL);
	}
	return NULL;
}

static void on_signal(int signo)
{
	is_over = 1;
}

int main(int argc, char **argv)
{
	struct sigaction action = { .sa_handler = on_signal };
	pthread_t threads[THREADS + 1];

	paths = argv + 1;
	sigaction(SIGTERM, &action, NULL);
	for (size_t i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, use_main, (void *)i);
	pthread_create(&threads[THREADS], NULL, fail_main, NULL);
	puts("ready");
	fflush(stdout);
	for (size_t i = 0; i <= THREADS; i++)
		pthread_join(threads[i], NULL);
	printf("wrong %lu\n", wrong);
	return wrong != 0;
}
