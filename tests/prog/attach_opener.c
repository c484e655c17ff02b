/* SPDX-License-Identifier: MIT */
/*
 * A program that opens a library (attach_library.c) while it is attached to: attach_opener PATH HOW
 * THREADS.  It opens and calls it once for each SIGUSR1 and closes it at the next one; HOW is
 * "sym" (calls what dlsym finds), "version" (... dlvsym) or "table" (calls what a constructor of
 * the library has stored).  So many other threads call what is open all the time, and one sleeps
 * for as long as it wants to.  It ends at SIGTERM with "wrong N": results that are not right.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

typedef long call_fn(long x);

/* For constructors of libraries. */
call_fn *stored_call;

static call_fn *_Atomic called;
static _Atomic unsigned long wrong, users;
static volatile sig_atomic_t is_over, is_asked;

__attribute__((noinline)) static void use(void)
{
	call_fn *call;

	users++;
	call = called;
	if (call != NULL)
		wrong += call(3) != (33 ^ 26);
	users--;
}

static void *use_main(void *arg)
{
	for (; !is_over; usleep(20))
		use();
	return NULL;
}

static void *sleep_main(void *arg)
{
	const struct timespec time = { .tv_nsec = 300000000 };
	sigset_t all;

	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, NULL);
	while (!is_over)
		wrong += nanosleep(&time, NULL) != 0;
	return NULL;
}

static call_fn *find(void *library, const char *how)
{
	void *found = NULL;

	if (strcmp(how, "sym") == 0)
		found = dlsym(library, "library_call");
	else if (strcmp(how, "version") == 0)
		found = dlvsym(library, "library_call", "ONE");
	else
		return stored_call;
	return (call_fn *)found;
}

__attribute__((noinline)) static void *library_open(const char *path, const char *how)
{
	void *library = dlopen(path, RTLD_NOW);

	called = library != NULL ? find(library, how) : NULL;
	if (called == NULL)
		fprintf(stderr, "%s\n", dlerror());
	wrong += called == NULL;
	return library;
}

__attribute__((noinline)) static void library_close(void *library)
{
	called = NULL;
	while (users != 0)
		usleep(100);
	dlclose(library);
}

static void on_signal(int signo)
{
	if (signo == SIGTERM)
		is_over = 1;
	else
		is_asked = 1;
}

int main(int argc, char **argv)
{
	int nr = argc > 3 ? atoi(argv[3]) : 0;
	struct sigaction action = { .sa_handler = on_signal };
	pthread_t threads[8], sleeper;
	void *library = NULL;

	sigaction(SIGTERM, &action, NULL);
	sigaction(SIGUSR1, &action, NULL);
	for (int i = 0; i < nr; i++)
		pthread_create(&threads[i], NULL, use_main, NULL);
	pthread_create(&sleeper, NULL, sleep_main, NULL);
	puts("ready");
	fflush(stdout);
	for (; !is_over; usleep(1000)) {
		use();
		if (!is_asked)
			continue;
		is_asked = 0;
		if (library != NULL)
			library_close(library);
		library = library != NULL ? NULL : library_open(argv[1], argv[2]);
		puts(library != NULL ? "opened" : "closed");
		fflush(stdout);
	}
	for (int i = 0; i < nr; i++)
		pthread_join(threads[i], NULL);
	pthread_join(sleeper, NULL);
	printf("wrong %lu\n", wrong);
	return wrong != 0;
}
