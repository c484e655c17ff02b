/* SPDX-License-Identifier: MIT */
/*
 * Each line on standard input is a step of the first thread, and then of all others, as many as the
 * argument says: outer calls middle, which calls leaf twice.  Then the line comes back.  (atoi
 * would be one call more where headers have it inline.)
 */
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>

#define THREADS_MAX 64

static sem_t go[THREADS_MAX], done;
static volatile int sink;

__attribute__((noinline)) int leaf(int n, const char *text)
{
	sink++;
	return n + text[0];
}

__attribute__((noinline)) void middle(void)
{
	sink += leaf(1, "one");
	sink -= leaf(2, "two");
	sink--;
}

__attribute__((noinline)) void outer(void)
{
	middle();
	sink--;
}

__attribute__((noinline)) void *thread(void *arg)
{
	for (;;) {
		while (sem_wait(arg) != 0)
			;
		outer();
		sem_post(&done);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	int threads = argc > 1 ? (int)strtol(argv[1], NULL, 10) : 0, i;
	pthread_t id;
	char line[80];

	sem_init(&done, 0, 0);
	for (i = 0; i < threads && i < THREADS_MAX; i++) {
		sem_init(&go[i], 0, 0);
		pthread_create(&id, NULL, thread, &go[i]);
	}
	while (fgets(line, sizeof(line), stdin) != NULL) {
		outer();
		for (i = 0; i < threads; i++)
			sem_post(&go[i]);
		for (i = 0; i < threads; i++)
			while (sem_wait(&done) != 0)
				;
		fputs(line, stdout);
		fflush(stdout);
	}
	return 0;
}
