/* SPDX-License-Identifier: MIT */
/* Two threads that use a processor each for a while, 40 MiB, and perhaps a child after them. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define BYTES ((size_t)40 << 20)

static long now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void spin(long ms)
{
	long end = now_ms() + ms;

	while (now_ms() < end)
		;
}

static void *thread(void *arg)
{
	spin(200);
	return arg;
}

int main(int argc, char **argv)
{
	volatile char *memory = malloc(BYTES);
	pthread_t id;
	pid_t pid;

	memset((char *)memory, 1, BYTES);
	pthread_create(&id, NULL, thread, NULL);
	spin(350);
	pthread_join(id, NULL);
	pid = argc > 1 ? fork() : -1;
	if (pid == 0) {
		spin(150);
		_exit(0);
	}
	if (pid > 0)
		waitpid(pid, NULL, 0);
	free((char *)memory);
	return 0;
}
