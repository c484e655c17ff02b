/* SPDX-License-Identifier: MIT */
/* Four threads allocate, by the allocator that is preloaded, if any is. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define NR 2000

static void *work(void *arg)
{
	static __thread char *blocks[NR];
	long sum = 0;

	for (int i = 0; i < NR; i++) {
		blocks[i] = malloc(i % 300 + 1);
		memset(blocks[i], i, i % 300 + 1);
	}
	for (int i = 0; i < NR; i += 2)
		blocks[i] = realloc(blocks[i], i % 700 + 301);
	for (int i = 0; i < NR; i++) {
		sum += (unsigned char)blocks[i][0];
		free(blocks[i]);
	}
	return (void *)sum;
}

int main(void)
{
	int (*control)(const char *, void *, size_t *, void *,
		       size_t) = (int (*)(const char *, void *, size_t *, void *,
					  size_t))dlsym(RTLD_DEFAULT, "mallctl");
	unsigned arenas = 0;
	size_t bytes = sizeof(arenas);
	pthread_t threads[4];
	void *sum;

	if (control != NULL)
		control("opt.narenas", &arenas, &bytes, NULL, 0);
	printf("arenas %u\n", arenas); /* of MALLOC_CONF, which jemalloc reads at its first call */
	for (int i = 0; i < 4; i++)
		pthread_create(&threads[i], NULL, work, NULL);
	for (int i = 0; i < 4; i++) {
		pthread_join(threads[i], &sum);
		printf("%ld\n", (long)sum);
	}
	return 0;
}
