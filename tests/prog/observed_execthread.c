/* SPDX-License-Identifier: MIT */
/* A thread that is not the first execs. */
#include <pthread.h>
#include <semaphore.h>
#include <unistd.h>

/* Before the exec ends its thread: else strace does not see it return. */
static sem_t has_clone_returned;

static void *other(void *arg)
{
	pause();
	return arg;
}

static void *runner(void *arg)
{
	sem_wait(&has_clone_returned);
	execl("/bin/sh", "sh", "-c", "exit 6", (char *)0);
	return arg;
}

int main(void)
{
	pthread_t a, b;

	pthread_create(&a, 0, other, 0);
	pthread_create(&b, 0, runner, 0);
	sem_post(&has_clone_returned);
	pthread_join(a, 0);
	return 1;
}
