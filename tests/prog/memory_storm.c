/* SPDX-License-Identifier: MIT */
/* Threads whose blocks become each other's. */
#include <pthread.h>
#include <stdlib.h>
static void *work(void *arg)
{
	for (int i = 0; i < 5000; i++) {
		void *block = malloc(24 + i % 5 * 16);

		block = realloc(block, 600 + i % 7 * 100);
		block = realloc(block, 30);
		free(block);
	}
	return NULL;
}
int main(void)
{
	pthread_t threads[4];

	for (int i = 0; i < 4; i++)
		pthread_create(&threads[i], NULL, work, NULL);
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
