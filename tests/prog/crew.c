/* SPDX-License-Identifier: MIT */
/* Threads that compute, wait, read and ask for memory: what a picture of a trace can show. */
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CREW_NR	 3
#define ROUND_NR 8

static pthread_mutex_t desk = PTHREAD_MUTEX_INITIALIZER;

__attribute__((noinline)) static void compute(long n)
{
	for (volatile long i = 0; i < n; i++)
		;
}

__attribute__((noinline)) static char *gather(size_t bytes)
{
	char *heap = malloc(bytes);

	if (heap != NULL)
		memset(heap, 1, bytes);
	return heap;
}

__attribute__((noinline)) static void look_up(void)
{
	char text[64];
	int fd = open("/proc/self/stat", O_RDONLY | O_CLOEXEC);

	if (fd >= 0 && read(fd, text, sizeof(text)) > 0)
		compute(20000);
	if (fd >= 0)
		close(fd);
}

__attribute__((noinline)) static void write_down(void)
{
	pthread_mutex_lock(&desk);
	compute(150000);
	usleep(1500);
	pthread_mutex_unlock(&desk);
}

__attribute__((noinline)) static void *work(void *arg)
{
	for (size_t i = 1; i <= ROUND_NR; i++) {
		char *heap = gather(i * 20000);

		compute(400000);
		look_up();
		write_down();
		if (i % 2 == 0)
			free(heap);
	}
	return arg;
}

int main(void)
{
	pthread_t crew[CREW_NR];
	int nr = 0;

	while (nr < CREW_NR && pthread_create(&crew[nr], NULL, work, NULL) == 0)
		nr++;
	while (nr > 0)
		pthread_join(crew[--nr], NULL);
	return 0;
}
