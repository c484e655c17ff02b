/* SPDX-License-Identifier: MIT */
/*
 * Library calls that fail, in both threads, and ones that do not; whether errno is what they
 * left it (tests/e2e/actions.py).
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

static int failures;

static void check(int wanted)
{
	if (errno != wanted)
		failures++;
}

static void *in_thread(void *arg)
{
	close(-1);
	check(EBADF);
	return NULL;
}

int main(void)
{
	pthread_t thread;

	check(0);
	close(-1);
	check(EBADF);
	close(-1);		/* the same again */
	check(EBADF);
	getppid();		/* sets nothing */
	check(EBADF);
	open("/nonexistent", O_RDONLY);
	check(ENOENT);
	errno = 0;
	getppid();
	check(0);
	pthread_create(&thread, NULL, in_thread, NULL);
	pthread_join(thread, NULL);
	check(0);
	return failures;
}
