/* SPDX-License-Identifier: MIT */
/*
 * Two threads that use the processor: main in heavy() and light(), the other one in heavy(), each
 * by way of spin(), and heavy() three times as long as light().  Nothing else takes time.
 * Arguments: millions of turns of light() (default 10).
 */
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>

static volatile uint64_t result;

__attribute__((noinline)) void spin(uint64_t turns)
{
	uint64_t x = 1, i;

	for (i = 0; i < turns; i++)
		x = x * UINT64_C(6364136223846793005) + i;
	result = x;
}

__attribute__((noinline)) void heavy(uint64_t turns)
{
	spin(3 * turns);
	result++;			/* no tail call */
}

__attribute__((noinline)) void light(uint64_t turns)
{
	spin(turns);
	result++;
}

static void *thread(void *turns)
{
	heavy(*(uint64_t *)turns);
	return NULL;
}

int main(int argc, char **argv)
{
	uint64_t turns = (argc > 1 ? strtoull(argv[1], NULL, 10) : 10) * 1000000;
	pthread_t other;

	if (pthread_create(&other, NULL, thread, &turns) != 0)
		return 1;
	heavy(turns);
	light(turns);
	return pthread_join(other, NULL);
}
