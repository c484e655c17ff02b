/* SPDX-License-Identifier: MIT */
/* Threads that open and close at the same time. */
#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

static void *opener(void *arg)
{
	for (int i = 0; i < 200; i++)
		close(open("/etc/passwd", O_RDONLY));
	return arg;
}

int main(void)
{
	pthread_t threads[8];

	for (int i = 0; i < 8; i++)
		pthread_create(&threads[i], 0, opener, 0);
	for (int i = 0; i < 8; i++)
		pthread_join(threads[i], 0);
	return 0;
}
