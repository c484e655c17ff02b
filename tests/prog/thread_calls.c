/* SPDX-License-Identifier: MIT */
/* What --probe=thread records, in functions by their names. */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline, noclone))

static int failures;

static void expect(long got, long wanted, const char *what)
{
	if (got != wanted) {
		fprintf(stderr, "%s: %ld, not %ld\n", what, got, wanted);
		failures++;
	}
}

static void (*volatile leave)(void *) = pthread_exit;

/* What it calls might return, so its return address is in here. */
NOINLINE void *leaves(void *arg)
{
	leave(arg);
	return arg;
}

NOINLINE void *sleeps(void *arg)
{
	for (;;)
		pause();
	return arg;
}

NOINLINE void *returns(void *arg)
{
	return arg;
}

NOINLINE void joined(void)
{
	pthread_t thread;
	void *answer = NULL;

	expect(pthread_create(&thread, NULL, leaves, (void *)7), 0, "create");
	expect(pthread_join(thread, &answer), 0, "join");
	expect((long)answer, 7, "answer");
}

NOINLINE void cancelled(void)
{
	pthread_t thread;
	void *answer = NULL;

	expect(pthread_create(&thread, NULL, sleeps, NULL), 0, "create");
	expect(pthread_cancel(thread), 0, "cancel");
	expect(pthread_join(thread, &answer), 0, "join");
	expect(answer == PTHREAD_CANCELED, 1, "answer");
}

NOINLINE void detached(void)
{
	pthread_attr_t attributes;
	pthread_t thread;

	expect(pthread_create(&thread, NULL, returns, NULL), 0, "create");
	expect(pthread_detach(thread), 0, "detach");
	pthread_attr_init(&attributes);
	pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	expect(pthread_create(&thread, &attributes, returns, NULL), 0, "create");
	expect(pthread_join(pthread_self(), NULL), EDEADLK, "join");
}

int main(void)
{
	joined();
	cancelled();
	detached();
	usleep(50000);
	return failures != 0;
}
