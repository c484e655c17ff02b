/* SPDX-License-Identifier: MIT */
/*
 * memcpy FILE - print the CPU nanoseconds that copying its bytes takes, from memory to memory.
 *
 * Both sides are in memory before: it is the least that anything can take that moves so many bytes
 * once.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static long long cpu_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return now.tv_sec * 1000000000LL + now.tv_nsec;
}

/* Its bytes, with as much room behind them; NULL and errno where that fails. */
static char *file_load(const char *path, size_t *len)
{
	FILE *file = fopen(path, "r");
	char *bytes = NULL;
	long end;

	if (file == NULL)
		return NULL;
	if (fseek(file, 0, SEEK_END) == 0 && (end = ftell(file)) > 0) {
		*len = (size_t)end;
		bytes = malloc(2 * *len);
	}
	rewind(file);
	if (bytes != NULL && fread(bytes, 1, *len, file) != *len) {
		free(bytes);
		bytes = NULL;
	}
	fclose(file);
	return bytes;
}

int main(int argc, char **argv)
{
	long long before_ns;
	size_t len;
	char *bytes;

	if (argc != 2)
		return 2;
	bytes = file_load(argv[1], &len);
	if (bytes == NULL) {
		perror(argv[1]);
		return 1;
	}
	memset(bytes + len, 1, len);	/* its pages are there */
	before_ns = cpu_ns();
	memcpy(bytes + len, bytes, len);
	__asm__ volatile("" : : "r"(bytes) : "memory");
	printf("%lld\n", cpu_ns() - before_ns);
	free(bytes);
	return 0;
}
