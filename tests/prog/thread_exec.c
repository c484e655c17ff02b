/* SPDX-License-Identifier: MIT */
/*
 * exec from a thread that is not the first: it becomes the first, and all others are gone.
 *
 * expect-calls: start_waiting 2
 * expect-calls: start_exec 1
 * expect-calls: in_new_image 1
 * expect-calls: main 2
 * expect-status: 5
 */
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline, noclone))

static sem_t ready;
static char *name;

NOINLINE int in_new_image(const char *word)
{
	puts(word);
	return 5;
}

NOINLINE void *start_waiting(void *arg)
{
	sem_post(&ready);
	for (;;)
		pause();
	return arg;
}

NOINLINE void *start_exec(void *arg)
{
	execl("/proc/self/exe", name, "again", (char *)NULL);
	return arg;
}

int main(int argc, char **argv)
{
	pthread_t thread;

	if (argc > 1)
		return in_new_image(argv[1]);
	name = argv[0];
	sem_init(&ready, 0, 0);
	pthread_create(&thread, NULL, start_waiting, NULL);
	pthread_create(&thread, NULL, start_waiting, NULL);
	sem_wait(&ready);
	sem_wait(&ready);
	pthread_create(&thread, NULL, start_exec, NULL);
	pthread_join(thread, NULL);
	return 1;
}
