/* SPDX-License-Identifier: MIT */
/* Calls of known work, for counters, by several threads, and one that two processes return from. */
#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define THREADS 3
#define KEEP __attribute__((noinline, noclone))

static volatile long sum;

KEEP void work(long n)
{
	while (n-- > 0)
		sum += n;
}

KEEP pid_t halve(void)
{
	pid_t child = fork();

	sum++;
	return child;
}

static void *thread(void *arg)
{
	(void)arg;
	work(10);
	work(200000);
	return NULL;
}

int main(void)
{
	pthread_t threads[THREADS];
	pid_t child = halve();

	if (child == 0) {
		work(10);
		_exit(0);
	}
	waitpid(child, NULL, 0);
	/* The second round takes the places of the first. */
	for (int round = 0; round < 2; round++) {
		for (int i = 0; i < THREADS; i++)
			if (pthread_create(&threads[i], NULL, thread, NULL) != 0)
				return 1;
		for (int i = 0; i < THREADS; i++)
			pthread_join(threads[i], NULL);
	}
	return 0;
}
