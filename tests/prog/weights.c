/* SPDX-License-Identifier: MIT */
/*
 * Two threads that ask for memory and wait, each time in a function of its own, by way of others:
 *
 *	main    load() of 3 blocks of 1000 bytes, of which drop() gives back two; store() of one of
 *		200, grown to 700; and it waits for the threads
 *	thread  store() of one of 200, grown to 700, which main gives back; meet() the other one
 *
 * Not traced by itself, but by tests/e2e/weights.py; tests/data/weights is a recording of it.
 */
#include <pthread.h>
#include <stdlib.h>

#define NOINLINE __attribute__((noinline))

static pthread_barrier_t barrier;
static void *volatile kept[3];

NOINLINE void *get(size_t bytes)
{
	void *block = malloc(bytes);

	kept[0] = block;		/* no tail call */
	return block;
}

NOINLINE void load(void)
{
	void *blocks[3];

	for (int i = 0; i < 3; i++)
		blocks[i] = get(1000);
	for (int i = 0; i < 3; i++)
		kept[i] = blocks[i];
}

NOINLINE void drop(void)
{
	free(kept[0]);
	free(kept[1]);
	kept[0] = kept[1] = NULL;
}

NOINLINE void *store(void)
{
	void *block = get(200);

	block = realloc(block, 700);
	kept[1] = block;
	return block;
}

NOINLINE void meet(void)
{
	pthread_barrier_wait(&barrier);
	kept[0] = NULL;
}

static void *thread(void *arg)
{
	void *block = store();

	meet();
	return block;
}

int main(void)
{
	pthread_t threads[2];
	void *block;

	load();
	drop();
	if (pthread_barrier_init(&barrier, NULL, 2) != 0)
		return 1;
	for (int i = 0; i < 2; i++) {
		if (pthread_create(&threads[i], NULL, thread, NULL) != 0)
			return 1;
	}
	store();
	for (int i = 0; i < 2; i++) {
		if (pthread_join(threads[i], &block) != 0)
			return 1;
		free(block);
	}
	return 0;
}
