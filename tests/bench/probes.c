/* SPDX-License-Identifier: MIT */
/*
 * What calls cost that probes record, in nanoseconds of CPU time each, the least of many rounds:
 *
 *	gcc -O2 -I libmcount tests/bench/probes.c -o probes -pthread
 *	./probes; ftr record --no-libcall --no-event --probe=file,memory,sync,net ./probes
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include <ftr.h>

#define ROUNDS 25
#define CALLS 20000

static double now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static int zero_fd;
static FILE *null_file;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void read_bytes(int i)
{
	char bytes[8];

	if (read(zero_fd, bytes, sizeof(bytes)) < 0)
		exit(1);
}

static void take_block(int i)
{
	void *volatile block = malloc(32);

	free(block);
}

static void take_mutex(int i)
{
	pthread_mutex_lock(&mutex);
	pthread_mutex_unlock(&mutex);
}

static void put_character(int i)
{
	fputc('x', null_file);
}

static void count(int i)
{
	ftr_counter("queue", i);
}

static const struct {
	const char *name;
	void (*call)(int i);
} rows[] = {
	{ "read of 8 bytes", read_bytes },
	{ "malloc and free", take_block },
	{ "mutex that is free", take_mutex },
	{ "fputc", put_character },
	{ "ftr_counter", count },
};

int main(void)
{
	zero_fd = open("/dev/zero", O_RDONLY);
	null_file = fopen("/dev/null", "w");
	for (size_t row = 0; row < sizeof(rows) / sizeof(rows[0]); row++) {
		double least = 1e9;

		for (int round = 0; round < ROUNDS; round++) {
			double start = now_ns(), each;

			for (int i = 0; i < CALLS; i++)
				rows[row].call(i);
			each = (now_ns() - start) / CALLS;
			least = each < least ? each : least;
		}
		printf("%-20s %6.1f\n", rows[row].name, least);
	}
	return 0;
}
